//! `garner classifier evaluate`: how good a model is, over labelled documents.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::{Args, ValueEnum};
use classifier::{Example, Judged, Sample, Training, cross_validate, evaluate, hold_out};

use super::model::ModelOptions;
use super::{table, train};
use crate::output::{to_stdout, write_json};

/// Say how good a model is, over labelled documents
///
/// Documents marked as borderline stand apart from all other figures. A document counts as taken for academic from a
/// probability of 0.5 on, whatever the thresholds are.
#[derive(Debug, Args)]
pub(super) struct Evaluate {
    /// Files of labelled documents, as for garner classifier train
    #[arg(required = true)]
    data: Vec<PathBuf>,
    #[command(flatten)]
    model: ModelOptions,
    /// Train on the data itself, and judge each document by a model that has seen none of its source. BY says what is left out
    /// together: a tenth of the sources (parts, the default), each source alone (source), all documents of a language and their
    /// sources (language), or all documents of a file (file)
    #[arg(
        long,
        value_name = "BY",
        conflicts_with = "model",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "parts",
        hide_possible_values = true
    )]
    cross_validate: Option<LeftOut>,
    /// How the sources are divided for --cross-validate; another number divides otherwise
    #[arg(long, value_name = "NUMBER", default_value_t = Training::default().seed)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The documents that are left out together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LeftOut {
    Parts,
    Source,
    Language,
    File,
}

impl Evaluate {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let policy = self.model.policy()?;
        let judgement = match self.cross_validate {
            Some(left_out) => self.by_cross_validation(left_out)?,
            None => self.by_model()?,
        };
        if judgement.judged.is_empty() {
            let names: Vec<_> = self
                .data
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            bail!("there are no labelled documents in {}", names.join(", "));
        }
        let evaluation = evaluate(&judgement.judged, &policy);
        to_stdout(|out| {
            match self.json {
                true => {
                    let mut value = serde_json::to_value(&evaluation)?;
                    value["model"] = judgement.model.as_str().into();
                    value["microseconds_a_document"] = judgement.microseconds().into();
                    write_json(out, &value)?;
                }
                false => {
                    table::write(out, &judgement.model, judgement.microseconds(), &evaluation)?;
                }
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    fn by_model(&self) -> anyhow::Result<Judgement> {
        let classifier = self.model.classifier()?;
        let mut judgement = Judgement::new(classifier.version());
        for path in &self.data {
            super::read(path, |example| {
                let start = Instant::now();
                let answer = classifier.classify(&example.text, example.pages);
                *judgement.elapsed.get_or_insert_default() += start.elapsed();
                judgement.judged.push(Judged::new(example, answer));
            })?;
        }
        Ok(judgement)
    }

    fn by_cross_validation(&self, left_out: LeftOut) -> anyhow::Result<Judgement> {
        let mut judgement = Judgement::new(match left_out {
            LeftOut::Parts => "cross-validation by source",
            LeftOut::Source => "each source left out",
            LeftOut::Language => "each language left out",
            LeftOut::File => "each file left out",
        });
        let vocabulary = self.model.vocabulary()?;
        let (mut examples, mut samples, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for path in &self.data {
            let file = path.display().to_string();
            super::read(path, |mut example: Example| {
                samples.push(Sample::measured(&example, &vocabulary));
                example.text = String::new();
                examples.push(example);
                files.push(file.clone());
            })?;
        }
        let training = self.training(left_out, samples.len());
        let bar = train::bar();
        let mut progress = |done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        };
        let groups: Vec<&str> = match left_out {
            LeftOut::Language => {
                let languages = examples.iter().map(|example| match &*example.lang {
                    "" => "unknown",
                    language => language,
                });
                languages.collect()
            }
            LeftOut::Parts | LeftOut::Source | LeftOut::File => {
                files.iter().map(String::as_str).collect()
            }
        };
        let answers = match left_out {
            LeftOut::Parts | LeftOut::Source => cross_validate(&training, &samples, &mut progress),
            LeftOut::Language | LeftOut::File => {
                hold_out(&training, &samples, &groups, &mut progress)
            }
        };
        bar.finish_and_clear();
        let judged = examples.into_iter().zip(answers?);
        judgement.judged = judged
            .map(|(example, answer)| Judged::new(example, answer))
            .collect();
        Ok(judgement)
    }

    fn training(&self, left_out: LeftOut, documents: usize) -> Training {
        let usual = Training::default();
        Training {
            folds: match left_out {
                LeftOut::Parts => usual.folds,
                // No more sources than documents.
                LeftOut::Source => documents,
                // A model is learnt and calibrated for each group.
                LeftOut::Language | LeftOut::File => 5,
            },
            rounds: 1,
            seed: self.seed,
        }
    }
}

/// Answers, and what they took.
struct Judgement {
    model: String,
    judged: Vec<Judged>,
    elapsed: Option<Duration>,
}

impl Judgement {
    fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            judged: Vec::new(),
            elapsed: None,
        }
    }

    /// How long one document took. Cross-validation learns from each, so its time is not that of an answer.
    fn microseconds(&self) -> Option<u64> {
        let elapsed = self.elapsed.filter(|_| !self.judged.is_empty())?;
        u64::try_from(elapsed.as_micros() / self.judged.len() as u128).ok()
    }
}
