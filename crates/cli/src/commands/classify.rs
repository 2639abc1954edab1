//! `garner classify`: whether documents are academic, which kind they are of, and why.

mod collection;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use document::classify::{Answer, Classifier, Decision, Policy, Reason};
use document::media_type;
use document::text::{ExtractOptions, Extractor, Outcome};
use serde_json::{Value, json};

use crate::commands::classifier::model::ModelOptions;
use crate::commands::confine::confiner;
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// Say whether documents are academic, and of which kind
///
/// Reads PDF, PostScript, HTML and Office documents as garner text does, and files of plain text, in which form feeds end
/// pages.
///
/// With --collection, the documents that were imported are judged again, by another model or with other thresholds, from
/// their stored texts. What is not wanted any more is set aside, nothing is removed, and corrections stay. It can be
/// stopped at any time; the same command goes on.
///
/// Exits with 0 if all files were judged, and with 1 if some could not be read or have no text. With --json these have a
/// line too, in which probability, decision and kind are null and error says why.
#[derive(Debug, Args)]
pub(crate) struct Classify {
    /// The documents
    #[arg(required_unless_present = "collection")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    model: ModelOptions,
    /// Recognise the first pages of documents that consist of images
    #[arg(long)]
    ocr: bool,
    /// A language to recognise, by the names of tesseract; can be given several times [default: eng]
    #[arg(long, value_name = "LANGUAGE", requires = "ocr")]
    language: Vec<String>,
    /// Say what spoke for and against
    #[arg(long)]
    explain: bool,
    /// Print a line of JSON for each file, and with --collection what came of it
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "The documents of a collection")]
    collection: collection::CollectionOptions,
}

impl Classify {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        if self.collection.is_meant() {
            return self.collection.run(&self.model, self.json);
        }
        let classifier = self.model.classifier()?;
        let policy = self.model.policy()?;
        let reader = Reader::new(self.ocr, &self.language);
        to_stdout(|out| {
            let mut code = ExitCode::SUCCESS;
            for path in &self.files {
                match reader.read(path) {
                    Ok(text) => self.tell(
                        out,
                        path,
                        &Judged::new(&classifier, &policy, &text, self.explain),
                    )?,
                    Err(error) => {
                        // One file that cannot be read keeps nobody from knowing about the others.
                        let message = jobs::message(&error);
                        if self.json {
                            write_json(out, &unjudged(path, &message, classifier.version()))?;
                        }
                        out.flush()?;
                        eprintln!("garner: {}", plain(&message));
                        code = ExitCode::FAILURE;
                    }
                }
            }
            Ok(code)
        })
    }

    fn tell(&self, out: &mut Out, path: &Path, judged: &Judged) -> anyhow::Result<()> {
        if self.json {
            return Ok(write_json(out, &judged.json(path))?);
        }
        let answer = &judged.answer;
        writeln!(
            out,
            "{:<7} {:.3}  {:<14} {}",
            judged.decision.name(),
            answer.probability,
            answer.kind,
            plain(&path.to_string_lossy())
        )?;
        if let Some(reasons) = &judged.reasons {
            explain(out, reasons)?;
        }
        Ok(())
    }
}

/// A document, judged.
struct Judged {
    answer: Answer,
    decision: Decision,
    model: String,
    reasons: Option<Vec<Reason>>,
}

impl Judged {
    fn new(classifier: &Classifier, policy: &Policy, text: &Text, explain: bool) -> Self {
        let answer = classifier.classify(&text.text, text.pages);
        Self {
            decision: policy.decide(&answer),
            answer,
            model: classifier.version().to_owned(),
            reasons: explain.then(|| classifier.explain(&text.text, text.pages)),
        }
    }

    fn json(&self, path: &Path) -> Value {
        let mut value = json!({
            "path": path.to_string_lossy(),
            "probability": self.answer.probability,
            "decision": self.decision,
            "kind": self.answer.kind,
            "model": self.model,
        });
        if let Some(reasons) = &self.reasons {
            let (spoke_for, against) = sides(reasons);
            value["for"] = json!(spoke_for);
            value["against"] = json!(against);
        }
        value
    }
}

/// The line of a file that could not be judged.
fn unjudged(path: &Path, error: &str, model: &str) -> Value {
    json!({
        "path": path.to_string_lossy(),
        "probability": null,
        "decision": null,
        "kind": null,
        "model": model,
        "error": error,
    })
}

fn explain(out: &mut Out, reasons: &[Reason]) -> std::io::Result<()> {
    let (spoke_for, against) = sides(reasons);
    for (name, reasons) in [("for", spoke_for), ("against", against)] {
        writeln!(out, "  {name}")?;
        for reason in reasons {
            writeln!(
                out,
                "    {:>+6.2}  {}: {}",
                reason.weight,
                reason.said,
                plain(&reason.value)
            )?;
        }
    }
    Ok(())
}

/// The weightiest reasons of both sides.
fn sides(reasons: &[Reason]) -> (Vec<&Reason>, Vec<&Reason>) {
    let (spoke_for, against): (Vec<&Reason>, Vec<&Reason>) = reasons
        .iter()
        .filter(|reason| reason.weight.abs() >= 0.005)
        .partition(|reason| reason.weight > 0.0);
    let first = |reasons: Vec<_>| reasons.into_iter().take(SHOWN).collect();
    (first(spoke_for), first(against))
}

/// What is judged.
struct Text {
    text: String,
    pages: Option<usize>,
}

/// Reads documents of all types.
struct Reader {
    extractor: Extractor,
    ocr: bool,
}

impl Reader {
    fn new(ocr: bool, languages: &[String]) -> Self {
        let mut options = ExtractOptions::new(confiner());
        options.office = true;
        if !languages.is_empty() {
            options.ocr.languages = languages.to_vec();
        }
        Self {
            extractor: Extractor::new(options),
            ocr,
        }
    }

    fn read(&self, path: &Path) -> anyhow::Result<Text> {
        let name = path.display();
        let unreadable = || format!("cannot read {name}");
        if !path.metadata().with_context(unreadable)?.is_file() {
            bail!("cannot read {name}: it is not a file");
        }
        let mut head = Vec::new();
        let file = File::open(path).with_context(unreadable)?;
        let read = file.take(media_type::HEAD as u64).read_to_end(&mut head);
        read.with_context(unreadable)?;
        let media_type = media_type::decide_named(&head);
        // Texts are taken as they are, for their form feeds and for whoever has made them with care.
        if media_type == "text/plain" {
            let text = text_of(path)?;
            if text.trim().is_empty() {
                bail!("{name} has no text: empty");
            }
            return Ok(Text { text, pages: None });
        }
        let mut extracted = self.extractor.extract(path, &media_type);
        if self.ocr && extracted.outcome == Outcome::ImageOnly {
            let recognised = self.extractor.recognise(path, &media_type, Some(PAGES));
            extracted = recognised;
            // These are not all of its pages.
            extracted.pages = None;
        }
        if extracted.outcome != Outcome::Text {
            let note = extracted.note.iter().map(|note| format!(": {note}"));
            let note: String = note.collect();
            bail!("{name} has no text: {}{note}", extracted.outcome);
        }
        let pages = extracted.pages.and_then(|pages| pages.try_into().ok());
        Ok(Text {
            text: extracted.text,
            pages: pages.filter(|pages| *pages > 0),
        })
    }
}

/// The text of a file. Of a huge one the beginning and the end are read, since no more is looked at.
fn text_of(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let mut bytes = Vec::new();
        (&mut file).take(LARGEST).read_to_end(&mut bytes)?;
        let length = file.metadata()?.len();
        if length > LARGEST {
            file.seek(SeekFrom::Start((length - TAIL).max(LARGEST)))?;
            file.take(TAIL).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    let bytes = read().with_context(|| format!("cannot read {name}"))?;
    Ok(match String::from_utf8_lossy(&bytes) {
        std::borrow::Cow::Borrowed(text) => text.to_owned(),
        std::borrow::Cow::Owned(text) => text,
    })
}

/// The first pages tell what a document is.
const PAGES: u32 = 3;
/// So many reasons are shown of each side.
const SHOWN: usize = 12;
const LARGEST: u64 = 64 * 1024 * 1024;
const TAIL: u64 = 1024 * 1024;
