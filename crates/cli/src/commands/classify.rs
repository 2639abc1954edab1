//! `garner classify`: whether documents are academic, which kind they are of, and why.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use document::classify::{Answer, Classifier, Decision, Policy, Reason};
use serde_json::{Value, json};

use crate::commands::classifier::model::ModelOptions;
use crate::output::{Out, to_stdout, write_json};
use crate::text::plain;

/// Say whether documents are academic, and of which kind
///
/// Reads files of plain text, as pdftotext and others make them; form feeds end pages.
///
/// Exits with 0 if all files were judged, and with 1 if some could not be read.
#[derive(Debug, Args)]
pub(crate) struct Classify {
    /// The documents
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    model: ModelOptions,
    /// Say what spoke for and against
    #[arg(long)]
    explain: bool,
    /// Print a line of JSON for each file
    #[arg(long)]
    json: bool,
}

impl Classify {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let classifier = self.model.classifier()?;
        let policy = self.model.policy()?;
        to_stdout(|out| {
            let mut code = ExitCode::SUCCESS;
            for path in &self.files {
                match text_of(path) {
                    Ok(text) => self.tell(
                        out,
                        path,
                        &Judged::new(&classifier, &policy, &text, self.explain),
                    )?,
                    Err(error) => {
                        // One file that cannot be read keeps nobody from knowing about the others.
                        out.flush()?;
                        eprintln!("garner: {}", plain(&jobs::message(&error)));
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
    fn new(classifier: &Classifier, policy: &Policy, text: &str, explain: bool) -> Self {
        let answer = classifier.classify(text, None);
        Self {
            decision: policy.decide(&answer),
            answer,
            model: classifier.version().to_owned(),
            reasons: explain.then(|| classifier.explain(text, None)),
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
    if bytes.starts_with(b"%PDF-") || bytes.starts_with(b"%!PS") {
        bail!("{name} is not plain text; make it text first, for example with pdftotext");
    }
    Ok(match String::from_utf8_lossy(&bytes) {
        std::borrow::Cow::Borrowed(text) => text.to_owned(),
        std::borrow::Cow::Owned(text) => text,
    })
}

/// So many reasons are shown of each side.
const SHOWN: usize = 12;
const LARGEST: u64 = 64 * 1024 * 1024;
const TAIL: u64 = 1024 * 1024;
