//! `garner feed solr`: changes of documents sent to Solr.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use flows::Access;
use harvester::Stop;
use indicatif::ProgressBar;
use operations::Actor;
use operations::documents;
use operations::feed::{self, SolrEvent, SolrOrder};

use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::network_options::NetworkOptions;
use crate::commands::{LEFT_OUT, stop_signal};
use crate::output::{to_stdout, write_json};
use crate::text::plain;

/// Send new, updated and removed documents to a core or collection of Solr
///
/// Goes on where the last time ended, which the catalog keeps for each URL. Documents that Solr takes are marked as ingested,
/// those that it refuses as failed. Requests are repeated while Solr is busy or away; it can be stopped at any time.
///
/// Exits with 3 if Solr refused documents, or if texts of documents are missing; they are named.
#[derive(Debug, Args)]
pub(super) struct Solr {
    /// The core or collection, such as http://solr.example:8983/solr/papers
    #[arg(value_name = "URL")]
    url: String,
    /// Begin behind this change instead; 0 sends everything again
    #[arg(long, value_name = "SEQ")]
    since: Option<String>,
    /// Send no texts
    #[arg(long)]
    without_text: bool,
    /// Leave the states of documents as they are
    #[arg(long)]
    leave_states: bool,
    /// Leave it to garner up or garner worker
    #[arg(long)]
    queue: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: NetworkOptions,
    #[command(flatten)]
    holdings: HoldingsOptions,
}

impl Solr {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (context, actor) = (self.holdings.context()?, Actor::command_line());
        let order = SolrOrder {
            url: self.url.clone(),
            text: !self.without_text,
            mark: !self.leave_states,
            since: self.since.clone(),
            access: None,
        };
        let options = self.network.client_options()?;
        if self.queue {
            let access = Access {
                credentials: options.credentials,
                proxy: options.proxy,
                ..Access::default()
            };
            let job = context.wait(feed::queue(&context, &actor, order, Some(access)))?;
            let said = self.holdings.said();
            eprintln!(
                "job {0} waits for a worker; garner job show {0}{said} --follow",
                job.id
            );
            return to_stdout(|out| {
                if self.json {
                    write_json(out, &job)?;
                }
                Ok(ExitCode::SUCCESS)
            });
        }
        let stop = Stop::default();
        let stopped = stop.clone();
        context.holdings().spawn(async move {
            stop_signal().await;
            stopped.set();
            eprintln!("stopping after the documents that are on their way");
        });
        let bar = match std::io::stderr().is_terminal() {
            true => ProgressBar::new_spinner(),
            false => ProgressBar::hidden(),
        };
        let mut tell = |event: SolrEvent<'_>| match event {
            SolrEvent::Progress(pushed) => {
                bar.set_position(pushed.added + pushed.removed);
                bar.set_message(pushed.said());
            }
            SolrEvent::Refused { id, url, reason } => bar.suspend(|| {
                eprintln!(
                    "document {id} ({}) is refused: {}",
                    plain(url),
                    plain(reason)
                );
            }),
            SolrEvent::Incomplete { id, url, problem } => bar.suspend(|| {
                eprintln!("document {id} ({}): {}", plain(url), plain(problem));
            }),
        };
        let pushed = feed::push(&context, &actor, &order, &options, &stop, &mut tell);
        bar.finish_and_clear();
        if let Err(refusal) = context.wait(documents::update_metadata(&context)) {
            eprintln!("the .met files will be written by the next import or repair: {refusal}");
        }
        let pushed = pushed?;
        eprintln!("{}", pushed.said());
        if pushed.stopped {
            eprintln!("stopped; the same command resumes");
        }
        to_stdout(|out| {
            if self.json {
                write_json(out, &pushed)?;
            }
            Ok(
                match (pushed.stopped, pushed.refused + pushed.without_text) {
                    (true, _) => ExitCode::FAILURE,
                    (false, 0) => ExitCode::SUCCESS,
                    (false, _) => ExitCode::from(LEFT_OUT),
                },
            )
        })
    }
}
