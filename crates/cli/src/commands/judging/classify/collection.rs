//! `garner classify --collection`: imported documents, judged again.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use classifier::CDI_2012;
use flows::{Classified, ClassifyCollection, Unsure};
use harvester::Stop;
use indicatif::ProgressBar;
use operations::{Actor, Context, Setting, jobs};

use crate::commands::classifier::model::ModelOptions;
use crate::commands::confine::confiner;
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::stop_signal;
use crate::output::{to_stdout, write_json};

/// Which collection is judged again, and how.
#[derive(Debug, Args)]
pub(super) struct CollectionOptions {
    /// Judge the documents of the collection again
    #[arg(long, conflicts_with_all = ["files", "explain", "ocr"])]
    collection: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Treatment of documents that the model is not sure of: import or set-aside [default: import]
    #[arg(
        long,
        value_name = "import|set-aside",
        requires = "collection",
        hide_possible_values = true
    )]
    unsure: Option<Setting<Unsure>>,
    /// Leave it to garner up or garner worker
    #[arg(long, requires = "collection")]
    queue: bool,
}

impl CollectionOptions {
    pub(super) fn is_meant(&self) -> bool {
        self.collection
    }

    pub(super) fn run(&self, model: &ModelOptions, json: bool) -> anyhow::Result<ExitCode> {
        // A model that cannot be used is found before anything is done.
        model.classifier()?;
        let order = ClassifyCollection {
            model: model.name()?.map(absolute).transpose()?,
            policy: model.policy()?,
            unsure: self
                .unsure
                .as_ref()
                .and_then(Setting::value)
                .copied()
                .unwrap_or_default(),
            confiner: Some(confiner()),
            ..ClassifyCollection::default()
        };
        let holdings = self.holdings.open()?;
        if self.queue {
            let holdings = Arc::new(holdings);
            let context = Context::new(Arc::clone(&holdings));
            let actor = Actor::command_line();
            let job = holdings.wait(jobs::classify(&context, &actor, &order))?;
            if json {
                to_stdout(|out| {
                    write_json(out, &job)?;
                    Ok(ExitCode::SUCCESS)
                })?;
            }
            let said = self.holdings.said();
            eprintln!(
                "job {} waits for a worker; garner job show {}{said} --follow",
                job.id, job.id
            );
            return Ok(ExitCode::SUCCESS);
        }
        let stop = Stop::default();
        let stopped = stop.clone();
        holdings.spawn(async move {
            stop_signal().await;
            stopped.set();
            eprintln!("stopping after what is being judged");
        });
        let bar = bar(holdings.wait(holdings.catalog().count_contents())?);
        let mut tell = |classified: &Classified| bar.set_position(classified.documents);
        let classified = flows::classify_collection(&holdings, &order, &stop, &mut tell);
        bar.finish_and_clear();
        let classified = classified?;
        eprintln!("{}", classified.said());
        if classified.stopped {
            eprintln!("stopped; the same command resumes");
        }
        to_stdout(|out| {
            if json {
                write_json(out, &classified)?;
            }
            Ok(match classified.stopped {
                true => ExitCode::FAILURE,
                false => ExitCode::SUCCESS,
            })
        })
    }
}

/// How far it is, on a terminal.
fn bar(documents: u64) -> ProgressBar {
    match std::io::stderr().is_terminal() {
        true => ProgressBar::new(documents),
        false => ProgressBar::hidden(),
    }
}

/// The name of a model as a worker elsewhere finds it.
fn absolute(name: &str) -> anyhow::Result<String> {
    if name == CDI_2012 {
        return Ok(name.to_owned());
    }
    let path = std::path::absolute(Path::new(name))?;
    Ok(path.to_string_lossy().into_owned())
}
