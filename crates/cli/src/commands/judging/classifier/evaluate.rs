//! `garner classifier evaluate`: how good a model is, over labelled documents.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use classifier::{Example, Judged, Sample, Training, cross_validate, evaluate};

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
    /// Train on the data itself, and judge each document by a model that has seen none of its source
    #[arg(long, conflicts_with = "model")]
    cross_validate: bool,
    /// How the sources are divided for --cross-validate; another number divides otherwise
    #[arg(long, value_name = "NUMBER", default_value_t = Training::default().seed)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Evaluate {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let policy = self.model.policy()?;
        let judgement = match self.cross_validate {
            true => self.by_cross_validation()?,
            false => self.by_model()?,
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

    fn by_cross_validation(&self) -> anyhow::Result<Judgement> {
        let mut judgement = Judgement::new("cross-validation by source");
        let vocabulary = self.model.vocabulary()?;
        let (mut examples, mut samples) = (Vec::new(), Vec::new());
        for path in &self.data {
            super::read(path, |mut example: Example| {
                samples.push(Sample::measured(&example, &vocabulary));
                example.text = String::new();
                examples.push(example);
            })?;
        }
        let training = Training {
            seed: self.seed,
            ..Training::default()
        };
        let bar = train::bar();
        let answers = cross_validate(&training, &samples, &mut |done, of| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        let judged = examples.into_iter().zip(answers?);
        judgement.judged = judged
            .map(|(example, answer)| Judged::new(example, answer))
            .collect();
        Ok(judgement)
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
