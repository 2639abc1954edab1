//! `garner classify`: whether documents are academic, which kind they are of, and why.

mod collection;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use classifier::Reason;
use document::media_type;
use flows::{Assessment, RECOGNISED_PAGES, assess, extract_options, reasons};
use serde_json::{Value, json};
use text::{Extracted, Extractor, Outcome};

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
    /// A language to recognise, by the names of tesseract; can be given several times [default: those of the script of the
    /// first page that are installed]
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
                let judged = reader.read(path).and_then(|extracted| {
                    let assessment = assess(&classifier, &policy, &extracted)
                        .with_context(|| without_text(path, &extracted))?;
                    let reasons = self.explain.then(|| reasons(&classifier, &extracted));
                    let probability = policy.at_base_rate(assessment.answer.probability);
                    Ok(Judged {
                        assessment,
                        probability,
                        reasons,
                    })
                });
                match judged {
                    Ok(judged) => self.tell(out, path, &judged)?,
                    Err(error) => {
                        // One file that cannot be read keeps nobody from knowing about the others.
                        let message = flows::message(&error);
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
        let Assessment {
            answer, decision, ..
        } = &judged.assessment;
        writeln!(
            out,
            "{:<7} {:.3}  {:<14} {}",
            decision.name(),
            judged.probability,
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
    assessment: Assessment,
    /// At the base rate.
    probability: f64,
    reasons: Option<Vec<Reason>>,
}

impl Judged {
    fn json(&self, path: &Path) -> Value {
        let Assessment {
            answer,
            decision,
            model,
        } = &self.assessment;
        let mut value = json!({
            "path": path.to_string_lossy(),
            "probability": self.probability,
            "decision": decision,
            "kind": answer.kind,
            "model": model,
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

/// Reads documents of all types, as an import does.
struct Reader {
    extractor: Extractor,
    ocr: bool,
}

impl Reader {
    fn new(ocr: bool, languages: &[String]) -> Self {
        Self {
            extractor: Extractor::new(extract_options(confiner(), 1, languages)),
            ocr,
        }
    }

    fn read(&self, path: &Path) -> anyhow::Result<Extracted> {
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
        let extracted = self.extractor.extract(path, &media_type);
        Ok(match self.ocr && extracted.outcome == Outcome::ImageOnly {
            true => self
                .extractor
                .recognise(path, &media_type, Some(RECOGNISED_PAGES)),
            false => extracted,
        })
    }
}

/// The reason that a file cannot be judged.
fn without_text(path: &Path, extracted: &Extracted) -> String {
    let Extracted { outcome, note, .. } = extracted;
    let note = note.iter().map(|note| format!(": {note}"));
    let note: String = note.collect();
    format!("{} has no text: {outcome}{note}", path.display())
}

/// The number of reasons that are shown of each side.
const SHOWN: usize = 12;
