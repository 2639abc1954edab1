//! Labelled documents: training data, evaluation data, and corrections made by librarians. All are lines of JSON.

use std::io::{BufRead, Read};

use serde::{Deserialize, Serialize};

use super::{Error, Kind};

/// A labelled document.
///
/// A correction is one as well: `label` and `kind` as they should be, the text, and in `corrects` what the classifier
/// had said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Its name among others.
    #[serde(default)]
    pub id: String,
    /// Whether it is academic.
    pub label: Label,
    /// What it is, more finely than a kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subtype: String,
    /// Its kind, where the subtype does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Whether reasonable people would differ about the label. The question "academic or not" is not learnt from
    /// these, the kind is.
    #[serde(default)]
    pub borderline: bool,
    /// The usual cue is missing or misleads.
    #[serde(default)]
    pub hard: bool,
    /// A field of research.
    #[serde(default)]
    pub bucket: String,
    /// Where it comes from: documents of one source never stand on both sides of a cross-validation.
    #[serde(default)]
    pub source: String,
    /// How many pages it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<usize>,
    /// Its text; form feeds end pages.
    pub text: String,
    /// What was said about it before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrects: Option<Corrected>,
}

/// What a classifier had said about a document that was corrected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Corrected {
    /// The version of the model.
    #[serde(default)]
    pub model: String,
    /// The probability that it gave.
    #[serde(default)]
    pub probability: f64,
    /// The kind that it gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// When it was corrected, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// Who did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Whether a document is academic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// It is.
    Academic,
    /// It is not.
    #[default]
    Nonacademic,
}

impl Example {
    /// The kind to learn.
    pub fn kind(&self) -> Kind {
        self.kind.unwrap_or_else(|| Kind::of_subtype(&self.subtype))
    }

    pub(crate) fn is_academic(&self) -> bool {
        self.label == Label::Academic
    }
}

/// Calls for each line of a file of labelled documents, which may be compressed with gzip.
pub fn read_examples(
    reader: impl Read,
    mut call: impl FnMut(Example) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = std::io::BufReader::with_capacity(64 * 1024, reader);
    let is_gzip = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let mut reader: Box<dyn BufRead> = match is_gzip {
        true => Box::new(std::io::BufReader::new(
            flate2::bufread::MultiGzDecoder::new(reader),
        )),
        false => Box::new(reader),
    };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = (&mut reader)
            .take(LONGEST + 1)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        if line.len() as u64 > LONGEST {
            let reason = format!("it is longer than {LONGEST} bytes");
            return Err(Error::Line {
                line: number,
                reason,
            });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let example = serde_json::from_slice(&line);
        let example = example.map_err(|error| Error::Line {
            line: number,
            reason: error.to_string(),
        })?;
        call(example)?;
    }
    Ok(())
}

/// A line may hold a whole book, escaped.
const LONGEST: u64 = 256 * 1024 * 1024;
