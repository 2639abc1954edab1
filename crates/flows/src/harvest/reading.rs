//! The first stage of the pipeline: reads a slice of a repository's list.

use harvester::{Harvest, LeftOut, Plan, Quirks, Record, Repository, ResumeState, Step};

use super::checkpoint::SliceState;
use super::pipeline::Bundle;
use super::queue::Queue;
use super::storing::OPEN_FILE;

/// One step of a slice, with its record as it came or as it was prepared.
pub(super) enum Event<R> {
    Record(R),
    LeftOut(LeftOut),
    /// The record with an identifier is held as it is now.
    Unchanged(String),
    /// The record with an identifier does not exist any more.
    Gone(String),
    /// A resource that a rule skips, and why, if it is to be named.
    Skipped(String, Option<String>),
    /// Something for the history.
    Note(String),
    /// The end of a page.
    Page(Box<PageReport>),
    /// The slice has failed.
    Failed(anyhow::Error),
}

/// The end of a page.
pub(super) struct PageReport {
    /// Where the slice resumes.
    pub(super) state: SliceState,
    /// How many records the slice gave so far.
    pub(super) given: u64,
    /// How many records there are in its list, as far as the repository tells.
    pub(super) complete_list_size: Option<u64>,
    /// Whether the page could not be read to its end.
    pub(super) is_broken: bool,
    pub(super) quirks: Quirks,
    /// Where the next harvest should begin.
    pub(super) next_from: Option<String>,
}

/// Reads a slice and puts what it gives into the queue.
pub(super) fn read(
    repository: &Repository,
    plan: Plan,
    (slice, state): (usize, &SliceState),
    (distrusts_sizes, first_page_parts): (bool, u32),
    queue: &Queue<Bundle<Record>>,
) {
    let begun = match state {
        SliceState::Done => return,
        SliceState::Ahead => None,
        SliceState::Begun(state) => Some(ResumeState::clone(state)),
    };
    let mut out = Out::new(slice, queue);
    let mut harvest = match Harvest::new(repository, plan, begun) {
        Ok(harvest) => harvest,
        Err(error) => {
            out.put(Event::Failed(error.into()), 0);
            out.send();
            return;
        }
    };
    harvest.limit_first_page_parts(first_page_parts);
    if distrusts_sizes {
        harvest.distrust_sizes();
    }
    while let Some(step) = harvest.next() {
        let wanted = match step {
            Ok(Step::Record(record)) => {
                let size = record.xml.len() + record.values.len() * OPEN_FILE;
                out.put(Event::Record(record), size)
            }
            Ok(Step::LeftOut(left_out)) => out.put(Event::LeftOut(left_out), 0),
            Ok(Step::Page(page)) => {
                let report = PageReport {
                    state: match page.state {
                        Some(state) => SliceState::Begun(Box::new(state)),
                        None => SliceState::Done,
                    },
                    given: page.given,
                    complete_list_size: page.complete_list_size,
                    is_broken: page.broken.is_some(),
                    quirks: page.quirks,
                    next_from: harvest.outcome().next_from,
                };
                out.put(Event::Page(Box::new(report)), 0) && out.send()
            }
            Err(error) => out.put(Event::Failed(error.into()), 0),
        };
        if !wanted {
            return;
        }
    }
    out.send();
}

/// Bundles records: a thread that is woken for each of them does little else, and the catalog is asked for many at once.
pub(super) struct Out<'a> {
    slice: usize,
    events: Vec<Event<Record>>,
    size: usize,
    queue: &'a Queue<Bundle<Record>>,
}

impl<'a> Out<'a> {
    /// Bundles the events of a slice.
    pub(super) fn new(slice: usize, queue: &'a Queue<Bundle<Record>>) -> Self {
        Self {
            slice,
            events: Vec::new(),
            size: 0,
            queue,
        }
    }

    /// Adds an event of a size. `false` if nothing more is wanted.
    pub(super) fn put(&mut self, event: Event<Record>, size: usize) -> bool {
        self.events.push(event);
        self.size += size;
        let is_full = self.size >= MOST_BYTES || self.events.len() >= MOST_EVENTS;
        !is_full || self.send()
    }

    /// Hands over what is there.
    pub(super) fn send(&mut self) -> bool {
        if self.events.is_empty() {
            return true;
        }
        let bundle = Bundle {
            slice: self.slice,
            events: std::mem::take(&mut self.events),
        };
        self.queue.push(bundle, std::mem::take(&mut self.size))
    }
}

/// How many bytes and events a bundle has at most, but for its last record.
const MOST_BYTES: usize = 1 << 20;
const MOST_EVENTS: usize = 500;
