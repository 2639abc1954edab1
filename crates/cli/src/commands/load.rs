//! `garner load`: takes what was extracted into a catalog.

use std::process::ExitCode;

use catalog::ImportState;
use clap::Args;
use flows::{ImportEvent, LoadOrder, Loaded};
use harvester::Stop;

use super::LEFT_OUT;
use super::holdings_options::HoldingsOptions;
use super::import::counted;
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Load results of garner extract into the catalog and the collection
///
/// Documents, parents, texts and judgements become what an import of the same archives would have made of them. An
/// archive counts once, however often it was extracted or loaded, and any number of loaders may work at the same time.
/// One that was interrupted goes on where it was. Sources are needed only if the bytes were not extracted.
///
/// Exits with 0 if all was loaded, with 3 if a result could not be loaded or is incomplete, and with 1 if loading failed.
#[derive(Debug, Args)]
pub(crate) struct Load {
    /// Where garner extract put its results
    #[arg(value_name = "DIR|s3://BUCKET/PREFIX", required = true)]
    places: Vec<String>,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// The older content of a document that changed: replace it, or keep both [default: replace]
    #[arg(long, value_name = "replace|keep", value_parser = ["replace", "keep"], hide_possible_values = true)]
    versions: Option<String>,
    /// Where documents go, if not to DIR/documents: a directory, or s3://BUCKET/PREFIX. The first import decides
    #[arg(long, value_name = "DIR|URL")]
    collection: Option<String>,
    /// The model that judged the documents, if it is not the built-in one
    #[arg(long, value_name = "PATH|cdi-2012")]
    model: Option<String>,
    /// Print what came of it as one JSON object
    #[arg(long)]
    json: bool,
    /// Say nothing while loading goes on
    #[arg(long, short)]
    quiet: bool,
}

impl Load {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.holdings.configuration()?;
        let mut order = LoadOrder::of(&config.import.order()?, self.places.clone());
        if let Some(versions) = &self.versions {
            order.keep_versions = versions == "keep";
        }
        order.collection = self.collection.clone().or(order.collection);
        order.model = self.model.clone().or(order.model);
        super::allow_many_files();
        let holdings = self.holdings.create()?;
        let stop = Stop::default();
        super::import::stop_on_signal(stop.clone())?;
        let tell = |event: ImportEvent<'_>| match event {
            ImportEvent::Note(note) if !self.quiet => eprintln!("{}", plain(note)),
            _ => {}
        };
        let loaded = flows::load(&holdings, &order, &stop, &tell)?;
        self.tell(&loaded)?;
        Ok(match loaded.state {
            ImportState::Ok => ExitCode::SUCCESS,
            ImportState::Incomplete => ExitCode::from(LEFT_OUT),
            ImportState::Failed | ImportState::Cancelled | ImportState::Running => {
                ExitCode::FAILURE
            }
        })
    }

    fn tell(&self, loaded: &Loaded) -> anyhow::Result<()> {
        if self.json {
            to_stdout(|out| {
                write_json(out, loaded)?;
                Ok(ExitCode::SUCCESS)
            })?;
        }
        for problem in &loaded.problems {
            eprintln!("{}", plain(problem));
        }
        if self.quiet && loaded.state == ImportState::Ok {
            return Ok(());
        }
        let Loaded {
            sources,
            loaded: new,
            known,
            refused,
            ..
        } = loaded;
        eprintln!(
            "{sources} sources: {new} loaded, {known} known, {refused} refused, in {:.1}s",
            loaded.seconds
        );
        for (name, count) in counted(&loaded.counters) {
            eprintln!("  {name:<22} {count:>14}");
        }
        if let Some(reason) = &loaded.reason {
            eprintln!("  {}", plain(reason));
        }
        Ok(())
    }
}
