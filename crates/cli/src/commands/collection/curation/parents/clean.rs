//! `garner parents clean`: the list of parents that are worth another crawl.

use std::io::{BufWriter, IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use harvester::{AddressPolicy, ClientOptions, Network, Stop};
use indicatif::ProgressBar;
use operations::parents::{self, CleanParents, CleanRun, CleanedParents, replace_file};
use operations::{Actor, Context, Refusal};

use crate::commands::blacklist_options::BlacklistOptions;
use crate::commands::holdings_options::HoldingsOptions;
use crate::commands::{LEFT_OUT, stop_signal};
use crate::output::{to_stdout, write_json};

/// Write the parents that are worth another crawl as CSV: parenturl.revised.csv
///
/// A parent is left out if a blacklist names its host or the beginning of its URL, if no document has it, or, with
/// --check-links, if its link is dead. The columns are url, host, documents, ingested, first_crawl, last_crawl and status.
/// Nothing is removed from the catalog.
///
/// A link is checked with HEAD, and with GET if the answer is not good, as the robots.txt of its host allows, one host at
/// a time and many hosts at once. What was found is kept in the catalog: a check that was interrupted is continued, and a
/// link is checked again after 30 days. A link is dead if its host does not exist or refuses connections, or if the
/// server answers 404, 410 or another error of the client; passwords, limits and failures of the server are none. Only
/// public addresses are asked, and those of --allow and of network.allow in the configuration.
///
/// Exits with 3 if links were to be checked and it is not known of all that are in the list whether they are alive.
#[derive(Debug, Args)]
pub(super) struct Clean {
    #[command(flatten)]
    blacklist: BlacklistOptions,
    /// Check links, and leave dead ones out
    #[arg(long)]
    check_links: bool,
    /// File for the list; - is stdout
    #[arg(long, value_name = "FILE", required_unless_present = "queue")]
    output: Option<PathBuf>,
    /// File for the parents that are left out, with the reason as their status
    #[arg(long, value_name = "FILE")]
    removed: Option<PathBuf>,
    /// Check links again after so many days [default: 30]
    #[arg(long, value_name = "DAYS", requires = "check_links")]
    recheck_days: Option<u32>,
    /// Seconds between two requests to a host [default: 1]
    #[arg(long, value_name = "SECONDS", requires = "check_links", value_parser = interval)]
    interval: Option<u32>,
    /// An address, a network or a host that may be asked although it is not public: 127.0.0.1, 10.0.0.0/8
    #[arg(long, value_name = "NETWORK", requires = "check_links")]
    allow: Vec<Network>,
    /// Whom servers may write to about the requests: sent in the header From
    #[arg(long, value_name = "E-MAIL", requires = "check_links")]
    contact: Option<String>,
    /// A proxy for all requests, such as http://HOST:3128
    #[arg(long, value_name = "URL", requires = "check_links")]
    proxy: Option<String>,
    /// Leave it to garner up or garner worker; the list is then reports/parenturl.revised.csv in the data directory
    #[arg(long, conflicts_with_all = ["output", "removed", "allow", "contact", "proxy", "json"])]
    queue: bool,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Clean {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let order = CleanParents {
            lists: self.blacklist.lists.clone(),
            blacklist: self.blacklist.text()?,
            check_links: self.check_links,
            recheck_days: self.recheck_days,
            interval_seconds: self.interval,
        };
        let (context, actor) = (self.holdings.context()?, Actor::command_line());
        if self.queue {
            let job = context.wait(parents::queue_clean(&context, &actor, &order))?;
            let said = self.holdings.said();
            eprintln!(
                "job {} waits for a worker; garner job show {}{said} --follow",
                job.id, job.id
            );
            return Ok(ExitCode::SUCCESS);
        }
        let cleaned = self.clean(&context, &actor, &order)?;
        if cleaned.stopped {
            eprintln!("stopped, and nothing is written; the same command continues");
            return Ok(ExitCode::FAILURE);
        }
        if let Some(links) = &cleaned.links {
            eprintln!("{}", links.said());
        }
        eprintln!("{}", cleaned.said());
        if self.json {
            to_stdout(|out| {
                write_json(out, &cleaned)?;
                Ok(ExitCode::SUCCESS)
            })?;
        }
        Ok(match cleaned.unknown {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::from(LEFT_OUT),
        })
    }

    /// The client of the configuration; options of the command win, and --allow adds to network.allow.
    fn client(&self) -> anyhow::Result<ClientOptions> {
        let mut client = self.holdings.configuration()?.network.client_options()?;
        if let AddressPolicy::Public { allowed } = &mut client.allow {
            allowed.extend(self.allow.iter().cloned());
        }
        client.from = self.contact.clone().or(client.from);
        client.proxy = self.proxy.clone().or(client.proxy);
        Ok(client)
    }

    fn clean(
        &self,
        context: &Context,
        actor: &Actor,
        order: &CleanParents,
    ) -> anyhow::Result<CleanedParents> {
        let stop = Stop::default();
        let stopped = stop.clone();
        context.holdings().spawn(async move {
            stop_signal().await;
            stopped.set();
            eprintln!("stopping");
        });
        let client = self.client()?;
        let bar = match stderr().is_terminal() {
            true => ProgressBar::new_spinner(),
            false => ProgressBar::hidden(),
        };
        let tell = |_: u64, said: String| bar.set_message(said);
        let run = CleanRun {
            client: &client,
            stop: &stop,
            tell: &tell,
        };
        let write = |out: &mut dyn Write| {
            let cleaned = match &self.removed {
                None => parents::clean(context, actor, order, run, out, None)?,
                Some(path) => replace_file(path, |removed| {
                    let cleaned = parents::clean(context, actor, order, run, out, Some(removed))?;
                    Ok((!cleaned.stopped, cleaned))
                })?,
            };
            Ok::<_, Refusal>((!cleaned.stopped, cleaned))
        };
        let path = self.output.as_deref().unwrap_or(Path::new("-"));
        let cleaned = match path.as_os_str() == "-" {
            true => {
                let mut out = BufWriter::new(std::io::stdout().lock());
                let (_, cleaned) = write(&mut out)?;
                out.flush().context("stdout cannot be written")?;
                cleaned
            }
            false => replace_file(path, write)?,
        };
        bar.finish_and_clear();
        Ok(cleaned)
    }
}

fn interval(text: &str) -> Result<u32, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds <= 3600);
    seconds.ok_or_else(|| "write whole seconds, 0 to 3600".to_owned())
}
