//! `garner harvest`: harvests a repository into files and a catalog.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use catalog::{Counts, HistoryEntry, State};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flows::{Access, HarvestOrder, Holdings, Progress, Rejected};
use harvester::{Client, ClientEvent, ClientOptions, Listener, Stop};
use indicatif::ProgressBar;
use operations::{HarvestPatch, Refusal, Setting};
use rules::validation::Level;
use store::UrlList;

use crate::commands::LEFT_OUT;
use crate::commands::history::HarvestReport;
use crate::commands::holdings_options::HoldingsOptions;
use crate::human::style;
use crate::output::{to_stdout, write_json};
use crate::text::{duration, plain};

/// Harvest a repository into files and a catalog
///
/// The first time everything is harvested, from then on what has changed. A harvest that was interrupted goes on where
/// it was. Each record becomes an XML file below DIR/records, and a row of the catalog DIR/catalog.sqlite.
///
/// With --unpack or --warc the resources themselves are harvested, in the format oai_didl: a mirror of a web site that
/// is brought up to date by calling the same again. A site without OAI-PMH is harvested with --via resourcesync or
/// --via sitemap; --via auto looks for what there is.
///
/// Exits with 0 if all was harvested, with 3 if something had to be left out, and with 1 if the harvest failed.
#[derive(Debug, Args)]
pub(crate) struct Harvest {
    /// Where the repository answers
    base_url: String,
    #[command(flatten)]
    holdings: HoldingsOptions,
    /// The format of the records; can be given several times [default: oai_dc; oai_didl with --unpack or --warc]
    #[arg(long, value_name = "PREFIX", value_parser = NonEmptyStringValueParser::new())]
    prefix: Vec<String>,
    /// Only records of this set; can be given several times
    #[arg(long, value_name = "SET", value_parser = NonEmptyStringValueParser::new())]
    set: Vec<String>,
    /// Print the entry of the history as JSON
    #[arg(long)]
    json: bool,
    /// Say nothing unless something is wrong
    #[arg(long, short)]
    quiet: bool,
    /// The directory for the files of this repository, if it is new [default: DIR/records/ and a name made of the URL]
    #[arg(long, value_name = "DIR")]
    base_directory: Option<PathBuf>,
    /// Do not wait until files have reached the disk: faster, and a loss of power can cost some
    #[arg(long)]
    no_sync: bool,
    /// Write the URLs that are new or changed to FILE, or to stdout: seeds for a crawler
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    urls: Option<Option<PathBuf>>,
    #[command(flatten)]
    patch: HarvestPatch,
}

impl Harvest {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let order = match self.order() {
            Ok(order) => order,
            Err(error) => return Ok(crate::commands::usage("harvest", &error)),
        };
        // A place that cannot be written to is found out now, and not when there is something to be written.
        drop(self.url_list()?);
        let mut options = ClientOptions::default();
        let mut access = Access::default();
        self.patch.apply_access(&mut access);
        access.apply(&mut options);
        order.apply_network(&mut options);
        let stop = Stop::default();
        options.stop = stop.clone();
        let waits = Waits::default();
        let told = waits.clone();
        options.listener = Listener::new(move |event| told.tell(event));
        let client = Client::new(options)?;
        let order = flows::settle_way(&client, &order, &|told| {
            if !self.quiet {
                eprintln!("{}", plain(told));
            }
        })?;
        let holdings = self.holdings.create()?;
        stop_on_signal(&holdings, stop);

        let mut entries = Vec::new();
        for mut order in self.orders(&order) {
            self.settle_rejected(&holdings, &mut order)?;
            entries.push(self.harvest(&holdings, &client, &order, &waits)?);
            if client.options().stop.is_set() {
                break;
            }
        }
        self.urls(&holdings, &entries)?;
        let is = |state: State| entries.iter().any(|entry| entry.state == state);
        let unfinished = is(State::Failed) || is(State::Cancelled);
        Ok(match (unfinished, is(State::Incomplete)) {
            (true, _) => ExitCode::FAILURE,
            (false, true) => ExitCode::from(LEFT_OUT),
            (false, false) => ExitCode::SUCCESS,
        })
    }

    /// The order of the flags, without its target.
    fn order(&self) -> anyhow::Result<HarvestOrder> {
        harvester::canonical_base_url(&self.base_url)?;
        let mut order = HarvestOrder {
            base_directory: self.base_directory.clone(),
            ..HarvestOrder::new(&self.base_url, "")
        };
        self.patch.apply(&mut order);
        order.no_sync |= self.no_sync;
        for (flag, place) in [
            (&self.patch.unpack, &mut order.unpack),
            (&self.patch.warc, &mut order.warc),
        ] {
            let Some(directory) = place else { continue };
            let given = flag.as_ref().and_then(Setting::value);
            // As it was given: the order has the slashes of a URL folded already.
            given.map_or(Ok(()), |given| refuse_url(given))?;
            let is_default = given.is_some_and(|given| {
                DEFAULTS
                    .map(Path::new)
                    .iter()
                    .any(|name| name.as_os_str() == given.as_os_str())
            });
            if !is_default {
                *directory = std::path::absolute(&*directory)?;
            }
        }
        if let Some(Some(file)) = &self.urls {
            refuse_url(file)?;
        }
        if !order.schemas.is_empty() && order.validation != Level::VeryStrict {
            bail!("--schema is for --validation very-strict");
        }
        if self.json && matches!(self.urls, Some(None)) {
            bail!("--json and --urls cannot both write to stdout; give --urls a file");
        }
        Refusal::unless_empty(order.check())?;
        Ok(order)
    }

    /// The harvests that are asked for: one for each format and set.
    fn orders(&self, order: &HarvestOrder) -> Vec<HarvestOrder> {
        let prefixes = match self.prefix.is_empty() {
            false => self.prefix.clone(),
            true => vec![order.default_prefix().to_owned()],
        };
        let sets: Vec<_> = match self.set.is_empty() {
            true => vec![None],
            false => self.set.iter().cloned().map(Some).collect(),
        };
        let mut orders = Vec::new();
        for (at, prefix) in prefixes.iter().enumerate() {
            for (number, set) in sets.iter().enumerate() {
                if prefixes[..at].contains(prefix) || sets[..number].contains(set) {
                    continue;
                }
                let order = order.clone();
                let base_url = order.base_url.clone();
                orders.push(order.of(&base_url, prefix, set.as_deref()));
            }
        }
        orders
    }

    fn harvest(
        &self,
        holdings: &Holdings,
        client: &Client,
        order: &HarvestOrder,
        waits: &Waits,
    ) -> anyhow::Result<HistoryEntry> {
        let bar = Bar::new(self.quiet, order);
        waits.follow((!self.quiet).then(|| bar.bar.clone()));
        let told = |news: &str| bar.tell(news);
        let harvested = flows::harvest(holdings, client, order, &told, &|progress| {
            bar.show(progress);
        });
        waits.follow(None);
        bar.clear();
        let entry = harvested?;
        if self.json {
            let warnings = holdings.catalog().warnings_after(entry.id, 0, u64::MAX);
            let warnings = holdings.wait(warnings)?.into_iter();
            let report = HarvestReport {
                harvest: entry.clone().into(),
                warnings: warnings.map(Into::into).collect(),
            };
            to_stdout(|out| {
                write_json(out, &report)?;
                Ok(ExitCode::SUCCESS)
            })?;
        }
        self.summarise(holdings, order, &entry)?;
        Ok(entry)
    }

    /// Says how many records that are held the filter rejects, and asks on a terminal whether they are to go.
    fn settle_rejected(&self, holdings: &Holdings, order: &mut HarvestOrder) -> anyhow::Result<()> {
        let count = flows::count_rejected(holdings, order)?;
        if count.rejected == 0 {
            return Ok(());
        }
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if order.prune || self.quiet || !terminal {
            if !self.quiet {
                eprintln!("{}", count.said(order.prune));
            }
            return Ok(());
        }
        let Rejected { rejected, held } = count;
        eprint!(
            "the filter rejects {rejected} of {held} records that are held; remove them? [y/N] "
        );
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        order.prune = matches!(answer.trim(), "y" | "Y" | "yes");
        eprintln!("{}", count.said(order.prune));
        Ok(())
    }

    /// Begins the list of URLs, if there is to be one in a file.
    fn url_list(&self) -> anyhow::Result<Option<UrlList>> {
        match &self.urls {
            Some(Some(file)) if file != Path::new("-") => Ok(Some(UrlList::create(file)?)),
            _ => Ok(None),
        }
    }

    /// Tells the URLs that the harvests found to be new or changed. Those of one that failed come when it has gone on.
    fn urls(&self, holdings: &Holdings, entries: &[HistoryEntry]) -> anyhow::Result<()> {
        let ended = entries.iter().filter(|entry| !entry.state.is_unfinished());
        if let Some(mut list) = self.url_list()? {
            for entry in ended {
                flows::write_urls(holdings, entry, &mut |url| Ok(list.add(url)?))?;
            }
            return Ok(list.finish()?);
        }
        if self.urls.is_none() {
            return Ok(());
        }
        to_stdout(|out| {
            for entry in ended {
                let mut tell = |url: &str| Ok(writeln!(out, "{}", plain(url))?);
                flows::write_urls(holdings, entry, &mut tell)?;
            }
            Ok(ExitCode::SUCCESS)
        })
        .map(drop)
    }

    /// Prints the outcome for people.
    fn summarise(
        &self,
        holdings: &Holdings,
        order: &HarvestOrder,
        entry: &HistoryEntry,
    ) -> anyhow::Result<()> {
        let Counts {
            new,
            updated,
            unchanged,
            deleted,
            filtered,
            repaired,
            skipped,
            failed,
            ..
        } = entry.counts;
        if self.quiet && entry.state == State::Ok {
            return Ok(());
        }
        let what = match &entry.set {
            Some(set) => format!("{}, set {}", entry.metadata_prefix, plain(set)),
            None => entry.metadata_prefix.clone(),
        };
        let took = duration(entry.ended.unwrap_or(entry.started) - entry.started);
        let verdict = match entry.state {
            State::Ok => "harvested",
            State::Incomplete => "harvested, but not everything",
            State::Cancelled => "cancelled",
            State::Failed | State::Running => "not harvested to the end",
        };
        eprintln!("{} ({what}): {verdict}, in {took}", plain(&entry.base_url));
        eprintln!("  {new} new, {updated} updated, {unchanged} unchanged, {deleted} deleted");
        if filtered + repaired + skipped + failed > 0 {
            let rule = match order.via.reads_lists() {
                true => "skipped by robots.txt or on other hosts",
                false => "rejected by the filter",
            };
            eprintln!(
                "  {filtered} {rule}, {repaired} repaired, {skipped} skipped, {failed} failed"
            );
        }
        if let Some(reason) = &entry.failure_reason {
            eprintln!("  {}", plain(reason));
        }
        match entry.state {
            State::Failed | State::Cancelled | State::Running if entry.resume_state.is_some() => {
                eprintln!("  the same command resumes where this harvest ended");
            }
            State::Failed | State::Cancelled | State::Running => {}
            _ => self.say_where(holdings, order, entry)?,
        }
        if skipped + failed + repaired > 0 {
            eprintln!(
                "  which and why: garner history {}{}",
                entry.id,
                self.holdings.said()
            );
        }
        Ok(())
    }

    fn say_where(
        &self,
        holdings: &Holdings,
        order: &HarvestOrder,
        entry: &HistoryEntry,
    ) -> anyhow::Result<()> {
        let repository = holdings.wait(holdings.catalog().repository(entry.repository))?;
        let repository = repository.context("the repository was removed meanwhile")?;
        let records = holdings.record_directory(&repository, &entry.metadata_prefix);
        eprintln!("  records are in {}", records.display());
        let data = self.holdings.data()?;
        if let Some(mirror) = &order.unpack {
            eprintln!("  the mirror is in {}", data.join(mirror).display());
        }
        if let Some(warc) = &order.warc {
            eprintln!("  WARC files are in {}", data.join(warc).display());
        }
        Ok(())
    }
}

/// How far the harvest is: on a terminal a bar, else a line now and then.
struct Bar {
    bar: ProgressBar,
    quiet: bool,
    /// The text of the bar while nothing waits.
    name: String,
    /// For each slice, how many records came and how many are said to come.
    slices: Mutex<Vec<(u64, Option<u64>)>>,
}

impl Bar {
    fn new(quiet: bool, order: &HarvestOrder) -> Self {
        let bar = match quiet || !std::io::stderr().is_terminal() {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner(),
        };
        bar.set_style(style(
            "{spinner} {msg}: {human_pos} records, {rate}, {elapsed}",
        ));
        bar.set_message(order.metadata_prefix.clone());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            quiet,
            name: order.metadata_prefix.clone(),
            slices: Mutex::new(vec![(0, None); usize::from(order.slices.max(1))]),
        }
    }

    fn show(&self, progress: Progress) {
        self.bar.set_message(self.name.clone());
        let Ok(mut slices) = self.slices.lock() else {
            return;
        };
        if let Some(slice) = slices.get_mut(progress.slice) {
            *slice = (progress.records, progress.complete_list_size.or(slice.1));
        }
        // Some repositories tell of fewer records than they then give.
        let total: Option<u64> = slices
            .iter()
            .map(|(records, total)| total.map(|total| total.max(*records)))
            .sum();
        let is_first = self.bar.length().is_none();
        if let Some(total) = total {
            self.bar.set_length(total);
        }
        if is_first && total.is_some() {
            self.bar.set_style(style(
                "{msg} {wide_bar} {human_pos} of {human_len} records, {rate}, {rest} left",
            ));
        }
        self.bar
            .set_position(slices.iter().map(|(records, _)| records).sum());
    }

    fn tell(&self, news: &str) {
        if !self.quiet {
            self.bar.suspend(|| eprintln!("{}", plain(news)));
        }
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Tells of waits: on the bar, or in a line of its own where there is none.
#[derive(Clone, Default)]
struct Waits(Arc<Mutex<Option<ProgressBar>>>);

impl Waits {
    /// Tells of waits on this bar from now on, or nowhere.
    fn follow(&self, bar: Option<ProgressBar>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }

    fn tell(&self, event: &ClientEvent) {
        let told = match event {
            ClientEvent::Waiting(waiting) => waiting.to_string(),
            ClientEvent::Narrowing(narrowing) => narrowing.to_string(),
            _ => return,
        };
        let bar = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*bar {
            None => {}
            Some(bar) if bar.is_hidden() => eprintln!("{}", plain(&told)),
            Some(bar) => bar.set_message(plain(&told).to_string()),
        }
    }
}

/// Refuses a URL where a file or directory is due.
fn refuse_url(place: &Path) -> anyhow::Result<()> {
    if place.to_string_lossy().contains("://") {
        let place = place.display();
        bail!("`{place}` is a URL where a file or directory is due");
    }
    Ok(())
}

/// The first signal ends the harvest in good order. A second one ends the program, and so does a server that keeps it
/// waiting: what is committed is safe, and the next harvest goes on from there.
fn stop_on_signal(holdings: &Holdings, stop: Stop) {
    holdings.spawn(async move {
        crate::commands::stop_signal().await;
        stop.set();
        eprintln!("stopping after what is being read; again to stop at once");
        let _ = tokio::time::timeout(LONGEST_STOP, crate::commands::stop_signal()).await;
        std::process::exit(130);
    });
}

/// Directories below the data directory, where a flag has no value.
const DEFAULTS: [&str; 2] = [HarvestPatch::MIRROR, HarvestPatch::WARC];
const LONGEST_STOP: Duration = Duration::from_secs(10);
