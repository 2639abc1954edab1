//! The flow of a harvest: read, validate, filter, normalise, store, catalogue.

mod checkpoint;
mod digest;
mod lease;
mod order;
mod queue;
mod reading;
mod resources;
mod slices;
mod storing;
mod treatment;
mod urls;

use std::sync::mpsc;
use std::time::SystemTime;

use anyhow::{Context, bail};
use catalog::{Counts, Finish, HistoryEntry, NewRun, Repository, Run, State};
use harvester::{Client, ErrorKind, Incompatibility, LeftOut, Plan, Quirks, ResumeState};
use oai::Datestamp;

use self::checkpoint::{Checkpoint, Stand};
use self::lease::Lease;
use self::order::Parameters;
pub use self::order::{Deleted, HarvestRepository};
use self::queue::Queue;
use self::reading::News;
use self::resources::Resources;
use self::storing::Storing;
use self::treatment::Treatment;
pub use self::urls::write_urls;
use crate::{Holdings, base_directory, introduce, message};

/// How far a harvest is, after each page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The slice that the page belongs to.
    pub slice: usize,
    /// How many records of the slice came so far.
    pub records: u64,
    /// How long the slice's list is, as far as the repository tells.
    pub complete_list_size: Option<u64>,
    /// What was counted so far, in all slices.
    pub counts: Counts,
}

/// Harvests a repository into the holdings and returns the entry of the history, also of a harvest that failed.
///
/// Whatever keeps it from being begun is an error: rules that cannot be read, a new repository that does not answer,
/// another process that harvests the same. A harvest that was interrupted goes on where it was. `told` hears what
/// somebody who waits for the end would want to know.
pub fn harvest(
    holdings: &Holdings,
    client: &Client,
    order: &HarvestRepository,
    told: &dyn Fn(&str),
    progress: &dyn Fn(Progress),
) -> anyhow::Result<HistoryEntry> {
    for date in [&order.from, &order.until].into_iter().flatten() {
        if Datestamp::parse(date).is_none() {
            bail!("`{date}` is not a date; write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ");
        }
    }
    let treatment = Treatment::load(order)?;
    let parameters = order.parameters()?;
    let remote = client.repository(&order.base_url)?;
    let known = holdings.wait(holdings.catalog().repository_at(&remote.base_url()))?;
    let is_new = known.is_none();
    if let (Some(known), Some(directory)) = (&known, &order.base_directory) {
        base_directory::wanted(holdings, &known.base_url, directory)?;
    }
    let repository = match known {
        Some(repository) => repository,
        None => introduce(&remote)?.keep(holdings, order.base_directory.as_deref())?,
    };
    let Begun { run, quirks, start } = begin(holdings, order, &repository, &parameters, told)?;

    let lease = Lease::new(run);
    let worked = Work {
        holdings,
        client,
        order,
        remote: &remote,
        repository: &repository,
        is_new,
        treatment: &treatment,
        lease: &lease,
        progress,
    }
    .run(start, quirks);
    finish(holdings, order, lease.into_run(), worked)
}

/// A harvest that the catalog has an entry of.
struct Begun {
    run: Run,
    quirks: Quirks,
    start: Start,
}

/// Where a harvest starts.
enum Start {
    /// Where it was interrupted.
    GoOn(Checkpoint),
    /// At a date, or at the beginning.
    At {
        beginning: Beginning,
        /// How far WARC files are safe that an interrupted harvest left which is not gone on with.
        warc: Option<(String, u64)>,
    },
}

/// What a harvest builds upon.
#[derive(Default)]
struct Beginning {
    /// Since when records are asked for.
    from: Option<String>,
    /// What the last harvest could not have.
    lost: Vec<String>,
}

/// Begins a harvest: goes on with one that was interrupted, builds upon the last one, or takes everything.
fn begin(
    holdings: &Holdings,
    order: &HarvestRepository,
    repository: &Repository,
    parameters: &Parameters,
    told: &dyn Fn(&str),
) -> anyhow::Result<Begun> {
    let catalog = holdings.catalog();
    let (prefix, set) = (&order.metadata_prefix, order.set.as_deref());
    let unfinished = holdings.wait(catalog.unfinished(repository.id, prefix, set))?;
    let interrupted = unfinished.and_then(|entry| {
        let checkpoint = Checkpoint::parse(entry.resume_state.as_deref()?)?;
        Some((entry, checkpoint))
    });
    let mut run = NewRun {
        set: order.set.clone(),
        parameters: serde_json::to_string(parameters)?,
        ..NewRun::new(repository.id, prefix)
    };
    let warc = match interrupted {
        Some((entry, checkpoint)) if has_same_parameters(&entry, parameters) => {
            run.resume = Some(entry.id);
            let run = holdings.wait(catalog.begin(&run))?;
            told(&format!(
                "going on with harvest {}, which was interrupted",
                entry.id
            ));
            let quirks = entry.quirks.as_deref().map(serde_json::from_str);
            return Ok(Begun {
                run,
                quirks: quirks.transpose().ok().flatten().unwrap_or_default(),
                start: Start::GoOn(checkpoint),
            });
        }
        Some((_, checkpoint)) => checkpoint.warc,
        None => None,
    };
    let beginning = beginning(holdings, order, repository, parameters, told)?;
    Ok(Begun {
        run: holdings.wait(catalog.begin(&run))?,
        quirks: Quirks::default(),
        start: Start::At { beginning, warc },
    })
}

/// Whether a harvest was begun with the same parameters.
fn has_same_parameters(entry: &HistoryEntry, parameters: &Parameters) -> bool {
    serde_json::from_str(&entry.parameters).ok().as_ref() == Some(parameters)
}

/// What a harvest builds upon: what it is told, or the last one.
fn beginning(
    holdings: &Holdings,
    order: &HarvestRepository,
    repository: &Repository,
    parameters: &Parameters,
    told: &dyn Fn(&str),
) -> anyhow::Result<Beginning> {
    if order.full || order.from.is_some() || order.until.is_some() {
        return Ok(Beginning {
            from: order.from.clone(),
            lost: Vec::new(),
        });
    }
    let (prefix, set) = (&order.metadata_prefix, order.set.as_deref());
    let last = holdings.catalog().last_finished(repository.id, prefix, set);
    let Some(last) = holdings.wait(last)? else {
        return Ok(Beginning::default());
    };
    let before: Option<Parameters> = serde_json::from_str(&last.parameters).ok();
    let difference = match &before {
        Some(before) => parameters.making.difference(&before.making),
        None => Some("the last harvest was made by another version"),
    };
    if let Some(difference) = difference {
        told(&format!("{difference}, so everything is harvested again"));
        return Ok(Beginning::default());
    }
    Ok(Beginning {
        from: last.next_from,
        lost: holdings.wait(holdings.catalog().lost(last.id, MOST_LOST))?,
    })
}

/// The harvest itself, with all that takes part in it.
struct Work<'a> {
    holdings: &'a Holdings,
    client: &'a Client,
    order: &'a HarvestRepository,
    remote: &'a harvester::Repository,
    repository: &'a Repository,
    is_new: bool,
    treatment: &'a Treatment,
    lease: &'a Lease,
    progress: &'a dyn Fn(Progress),
}

impl Work<'_> {
    /// Harvests, while another thread keeps the lease alive. Returns where the next harvest should begin.
    fn run(self, start: Start, quirks: Quirks) -> anyhow::Result<Option<String>> {
        let (holdings, lease) = (self.holdings, self.lease);
        let stop = &self.client.options().stop;
        std::thread::scope(|scope| {
            let (done, ended) = mpsc::channel();
            scope.spawn(move || lease.beat(holdings, &ended, stop));
            let worked = self.work(start, quirks);
            drop(done);
            worked
        })
    }

    fn work(&self, start: Start, quirks: Quirks) -> anyhow::Result<Option<String>> {
        let (checkpoint, lost) = match start {
            Start::GoOn(checkpoint) => (checkpoint, None),
            Start::At { beginning, warc } => {
                let plan = self.plan(beginning.from)?;
                (Checkpoint { warc, ..plan }, Some(beginning.lost))
            }
        };
        let committed = checkpoint.position();
        let resources = Resources::open(self.order, self.remote, committed.as_ref())?;
        let mut storing = Storing::new(
            self.holdings,
            self.order,
            self.repository,
            self.client,
            self.treatment,
            resources,
            self.lease,
            checkpoint,
            quirks,
            self.progress,
        )?;
        if let Some(lost) = lost {
            storing.begin()?;
            self.ask_for(&lost, &mut storing)?;
        }
        let next_from = self.read(&mut storing)?;
        self.ask_for_unseen(&mut storing)?;
        storing.finish()?;
        Ok(next_from)
    }

    /// After a harvest of everything, asks for each record that was not listed: it may be gone, and not every
    /// repository tells of deletions by itself. A list alone is no proof, because lists can be cut short.
    fn ask_for_unseen(&self, storing: &mut Storing) -> anyhow::Result<()> {
        let order = self.order;
        let everything = order.full && order.set.is_none() && order.until.is_none();
        let tells = self.repository.identity.deleted_record.as_deref() == Some("persistent");
        if !everything || tells {
            return Ok(());
        }
        let mut after = 0;
        while let Some((identifiers, last)) = storing.unseen(after)? {
            self.ask_for(&identifiers, storing)?;
            after = last;
        }
        Ok(())
    }

    /// What is to be read, from the beginning.
    fn plan(&self, from: Option<String>) -> anyhow::Result<Checkpoint> {
        if !self.is_new && now() - self.repository.identified > A_DAY {
            introduce(self.remote)?.keep(self.holdings, None)?;
        }
        let anew = from.is_none();
        let span = (from, self.order.until.clone());
        if self.order.slices < 2 {
            return Ok(Checkpoint::new(vec![span], anew));
        }
        let identity = self.remote.identify()?;
        let spans = slices::cut(span, self.order.slices, Some(&identity), now());
        Ok(Checkpoint::new(spans, anew))
    }

    /// Asks for records one by one. What cannot be had is left out, and what the repository does not know is gone.
    fn ask_for(&self, identifiers: &[String], storing: &mut Storing) -> anyhow::Result<()> {
        for identifier in identifiers {
            let prefix = &self.order.metadata_prefix;
            let error = match self.remote.get_record(identifier, prefix) {
                Ok(record) => {
                    storing.take(FIRST, record)?;
                    continue;
                }
                Err(error) => error,
            };
            match error.kind() {
                ErrorKind::RepositoryIncompatible(Incompatibility::Identifier(_)) => {
                    storing.gone(FIRST, identifier);
                }
                ErrorKind::Stopped | ErrorKind::Busy(_) => return Err(error.into()),
                ErrorKind::Transport(_) if self.remote.identify().is_err() => {
                    return Err(error.into());
                }
                _ => storing.leave_out(
                    FIRST,
                    LeftOut {
                        identifier: Some(identifier.clone()),
                        dates: None,
                        reason: error.to_string(),
                    },
                ),
            }
        }
        match identifiers.is_empty() {
            true => Ok(()),
            false => storing.end_part(FIRST),
        }
    }

    /// Reads all slices, each on a thread of its own, and stores what comes.
    fn read(&self, storing: &mut Storing) -> anyhow::Result<Option<String>> {
        let slices = storing.checkpoint.slices.clone();
        let (queue, remote) = (Queue::new(slices.len()), self.remote);
        let failure = std::thread::scope(|scope| {
            let _closing = queue.closing();
            for (index, slice) in slices.iter().enumerate() {
                let plan = self.plan_of(slice);
                let queue = &queue;
                scope.spawn(move || {
                    let _leaving = queue.leaving();
                    reading::read(remote, plan, &slice.stand, index, queue);
                });
            }
            take_all(&queue, storing)
        })?;
        match failure {
            Some(error) => Err(error.into()),
            None => Ok(storing.checkpoint.next_from()),
        }
    }

    fn plan_of(&self, slice: &checkpoint::Slice) -> Plan {
        if let Stand::Begun(state) = &slice.stand {
            return ResumeState::plan(state).clone();
        }
        Plan {
            method: self.order.method,
            metadata_prefix: self.order.metadata_prefix.clone(),
            set: self.order.set.clone(),
            from: slice.from.clone(),
            until: slice.until.clone(),
        }
    }
}

/// Stores what comes until nothing more does. Returns the first failure of a slice; the others go on to their ends.
fn take_all(
    queue: &Queue<reading::Bundle>,
    storing: &mut Storing,
) -> anyhow::Result<Option<harvester::Error>> {
    let mut failure = None;
    while let Some(bundle) = queue.pop() {
        for news in bundle.news {
            match news {
                News::Record(record) => storing.take(bundle.slice, record)?,
                News::LeftOut(left_out) => storing.leave_out(bundle.slice, left_out),
                News::Page(page, next_from) => {
                    storing.end_page(bundle.slice, *page, next_from)?;
                }
                News::Failed(error) => drop(failure.get_or_insert(error)),
            }
        }
        if queue.is_empty() {
            storing.rest()?;
        }
    }
    storing.rest()?;
    Ok(failure)
}

/// Writes down how the harvest ended.
fn finish(
    holdings: &Holdings,
    order: &HarvestRepository,
    run: Run,
    worked: anyhow::Result<Option<String>>,
) -> anyhow::Result<HistoryEntry> {
    let counts = run.counts();
    let left_out = counts.skipped + counts.failed;
    let (state, reason, next_from) = match worked {
        Ok(next_from) if left_out == 0 => (State::Ok, None, next_from),
        Ok(next_from) => {
            let reason = format!("{left_out} records or resources had to be left out");
            (State::Incomplete, Some(reason), next_from)
        }
        Err(error) => (State::Failed, Some(message(&error)), None),
    };
    // What was asked for by dates says nothing about the rest.
    let is_whole = order.from.is_none() && order.until.is_none();
    let finish = Finish {
        state,
        reason,
        next_from: next_from.filter(|_| is_whole),
        quirks: None,
        counts: Counts::default(),
    };
    holdings
        .wait(holdings.catalog().finish(run, &finish))
        .context("the end of the harvest cannot be written down")
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

const A_DAY: i64 = 86_400;
/// The slice that is always there.
const FIRST: usize = 0;
/// Of as many records it is tried whether they can be had this time.
const MOST_LOST: u64 = 100_000;
