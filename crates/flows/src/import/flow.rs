//! The reading side of an import and the keeping side, on threads of their own: while one group is committed, the next
//! is read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use catalog::ImportCounters;
use crawl::{Body, Capture, Family, Limits, Place, ReadOptions, Source};
use harvester::Stop;

use super::digests::Tally;
use super::events::{Fate, ImportEvent, ImportProgress};
use super::examine::{Examiner, Finding};
use super::group::Group;
use super::group::gather::Gatherer;
use super::judging::{Judging, Recognition};
use super::order::{DigestRule, ImportOrder};
use super::sources::Sources;

/// The parts of the reading side.
pub(super) struct Flow<'a> {
    pub(super) order: &'a ImportOrder,
    pub(super) sources: &'a Sources,
    pub(super) examiner: &'a Examiner<'a>,
    pub(super) judging: Option<&'a Judging<'a>>,
    /// Whether an import is gone on with that was interrupted.
    pub(super) is_resumed: bool,
    pub(super) stop: &'a Stop,
    pub(super) limits: Limits,
    /// Captures that are still read, if not all are.
    pub(super) left: Option<AtomicU64>,
    pub(super) tell: &'a (dyn Fn(ImportEvent<'_>) + Sync),
    /// The date of captures that have none; without it, when their file was written.
    pub(super) undated: Option<i64>,
    /// Whether groups are kept only when all of their documents are judged.
    pub(super) settles: bool,
}

/// Where a source is gone on with; `None` if it is done.
pub(super) type Start = Option<u64>;

/// How the reading ended.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Whether it was stopped before its end.
    pub(super) stopped: bool,
    /// Sources that a crawler still writes.
    pub(super) still_written: Vec<String>,
    /// Revisits whose original no import has brought.
    pub(super) unresolved: u64,
    /// The result for the scans.
    pub(super) recognition: Recognition,
}

/// The outcome of a group, and its counts.
pub(super) type Kept = (Vec<Fate>, ImportCounters);

impl Flow<'_> {
    /// Reads all sources and has `keep` take their groups, in order. `beat` is called now and then.
    pub(super) fn run(
        &self,
        starts: &[Start],
        keep: &mut (dyn FnMut(Group) -> anyhow::Result<Kept> + Send),
        beat: &(dyn Fn() + Sync),
    ) -> anyhow::Result<Read> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, groups) = mpsc::sync_channel(1);
        let (ended, over) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let stopping = Arc::clone(&stop);
            // Whatever happens on this side, nobody waits for more documents to judge.
            let _close = Closing(self.judging);
            let judging = self.judging.into_iter();
            for judging in judging.flat_map(|judging| vec![judging; judging.threads()]) {
                scope.spawn(move || judging.work());
            }
            scope.spawn(move || self.watch(&over, &stopping, beat));
            let keeping = scope.spawn(move || self.keep_all(&groups, keep));
            let read = self.read_all(starts, &stop, &sender);
            // Without a sender the other side ends, when it has taken what there is.
            drop(sender);
            let kept = keeping.join();
            // Documents that still wait to be judged are for nobody, unless all were kept.
            if !matches!(kept, Ok(Ok(true))) {
                self.judging.into_iter().for_each(Judging::stop);
            }
            drop(ended);
            let is_all = match kept {
                Ok(kept) => kept?,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            let mut read = read?;
            read.stopped |= !is_all;
            Ok(read)
        })
    }

    /// Passes the wish to stop on to the readers.
    fn watch(&self, over: &Receiver<()>, stopping: &AtomicBool, beat: &(dyn Fn() + Sync)) {
        while over.recv_timeout(A_MOMENT) == Err(RecvTimeoutError::Timeout) {
            if self.stop.is_set() {
                stopping.store(true, Ordering::Relaxed);
                self.judging.into_iter().for_each(Judging::stop);
            }
            beat();
        }
    }

    /// Keeps groups as they come; whether all that came were kept.
    fn keep_all(
        &self,
        groups: &Receiver<Group>,
        keep: &mut (dyn FnMut(Group) -> anyhow::Result<Kept> + Send),
    ) -> anyhow::Result<bool> {
        let total = self.sources.length();
        for group in groups {
            let source = &self.sources.all[group.source];
            let before = self.sources.all[..group.source].iter();
            let done = before.map(Source::length).sum::<u64>() + group.position;
            let group = match self.settles {
                true => group.resolve()?,
                false => Some(group),
            };
            let Some(group) = group else {
                return Ok(false);
            };
            let (fates, counters) = keep(group)?;
            (self.tell)(ImportEvent::Fates(&fates));
            (self.tell)(ImportEvent::Progress(ImportProgress {
                source: &source.name(),
                done: done.min(total),
                total,
                counters: &counters,
            }));
        }
        Ok(true)
    }

    fn read_all(
        &self,
        starts: &[Start],
        stop: &Arc<AtomicBool>,
        groups: &SyncSender<Group>,
    ) -> anyhow::Result<Read> {
        let mut read = Read::default();
        let family = Arc::new(Family::of(&self.sources.all));
        // A refusal is told once, at the beginning.
        let mut refused = self.sources.refused.as_slice();
        if self.is_resumed {
            refused = &[];
        }
        for (at, source) in self.sources.all.iter().enumerate() {
            let Some(from) = start(starts, at) else {
                continue;
            };
            let refused = std::mem::take(&mut refused);
            // One that has become shorter was written anew.
            let from = match source.only_tells() && from > source.length() {
                true => 0,
                false => from,
            };
            let mut gatherer = self.gatherer(Group::new(at, from), refused, groups);
            gatherer.group.only_tells = source.only_tells();
            // All lines of a log were in view for all that others have, unless some of that was read before.
            let is_in_view = || (0..at).all(|other| start(starts, other) == Some(0));
            if let Some(log) = &self.sources.log
                && source.only_tells()
                && is_in_view()
            {
                read.stopped |= gatherer.end(log.end()).is_break();
                continue;
            }
            if !self.read_one(source, gatherer, stop, &family, &mut read)? {
                read.stopped = true;
                break;
            }
        }
        Ok(read)
    }

    fn gatherer<'a>(
        &'a self,
        mut group: Group,
        refused: &[(PathBuf, String)],
        groups: &'a SyncSender<Group>,
    ) -> Gatherer<'a> {
        for (path, reason) in refused {
            let place = Place {
                file: path.clone(),
                ..Place::default()
            };
            group.skip(&place, reason);
        }
        Gatherer {
            rules: &self.examiner.rules,
            types: &self.examiner.types,
            sources: self.sources,
            crawler: self.order.crawler.as_deref(),
            undated: None,
            undated_as: self.undated,
            group,
            groups,
            fatal: None,
            stopped: false,
            rule: self.order.digests,
            tally: Tally::default(),
            left: self.left.as_ref(),
            is_enough: false,
            transferred: HashMap::new(),
        }
    }

    /// Reads one source; whether it came to its end.
    fn read_one(
        &self,
        source: &Source,
        mut gatherer: Gatherer<'_>,
        stop: &Arc<AtomicBool>,
        family: &Arc<Family>,
        read: &mut Read,
    ) -> anyhow::Result<bool> {
        let (name, from) = (source.name(), gatherer.group.position);
        let options = ReadOptions {
            threads: self.order.threads,
            stop: Arc::clone(stop),
            check_all: self.order.digests != DigestRule::Ignore,
            limits: self.limits.clone(),
            family: Arc::clone(family),
            ..ReadOptions::default()
        };
        let work = |capture: &Capture, body: &mut Body<'_>| self.examiner.examine(capture, body);
        let ended = source.read::<Finding>(from, &options, &work, &mut |news| gatherer.take(news));
        if let Some(error) = gatherer.fatal {
            return Err(error);
        }
        if gatherer.is_enough {
            let position = gatherer.group.position;
            let _ = gatherer.end(position);
            return Ok(false);
        }
        if gatherer.stopped {
            let _ = gatherer.stop(&name);
            return Ok(false);
        }
        let ended = match ended {
            Ok(ended) => ended,
            // One source that cannot be read does not cost the others.
            Err(error) => {
                gatherer.cannot_read(&name, &error.to_string());
                gatherer.end_digests(&name, true);
                let position = gatherer.group.position;
                return Ok(gatherer.end(position).is_continue());
            }
        };
        if ended.stopped || stop.load(Ordering::Relaxed) {
            let _ = gatherer.stop(&name);
            return Ok(false);
        }
        gatherer.end_digests(&name, true);
        if ended.still_written {
            read.still_written.push(name);
        }
        Ok(gatherer.end(ended.position).is_continue())
    }
}

/// Where the source at a place is begun with.
fn start(starts: &[Start], at: usize) -> Start {
    starts.get(at).copied().unwrap_or(Some(0))
}

/// Ends the judging, also if something panics.
struct Closing<'a>(Option<&'a Judging<'a>>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.into_iter().for_each(Judging::close);
    }
}

const A_MOMENT: Duration = Duration::from_millis(100);
