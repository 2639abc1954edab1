//! The way of a record through a harvest:
//!
//! ```text
//! read ──► look up ──► prepare ──► store ──► commit
//! ```
//!
//! | stage | thread | file | does |
//! |---|---|---|---|
//! | read | one for each slice | `reading`, or `via` for lists | asks the repository for pages, and bundles their records |
//! | look up | one | here | asks the catalog for the records of a bundle, many at once |
//! | prepare | one | `storing::preparing` | validates, filters, normalises, unpacks; writes files that have no name yet |
//! | store | the caller's | `storing` | gives the files their names in the order of the list, and gathers rows |
//! | commit | one | `storing::committing` | syncs the files, then commits rows, counters and resumption token together |
//!
//! Each arrow is a [`Queue`] that is bounded in bytes, so that a slow stage stops those before it. A stage that fails or
//! panics closes the queues on both of its sides, so that none waits for it.

use std::thread::{Builder, Scope, ScopedJoinHandle};

use anyhow::Error;
use harvester::{Record, Repository};

use super::checkpoint::SliceState;
use super::queue::{Next, Queue};
use super::reading::{self, Event, Out};
use super::storing::{Knowledge, Preparer, Ready, Storing};
use super::via::SiteReader;
use super::work::Work;

/// Records of one slice and the ends of its pages, in order; as many as one wakes a thread for.
pub(super) struct Bundle<R> {
    pub(super) slice: usize,
    pub(super) events: Vec<Event<R>>,
}

/// Reads all slices to their ends, and stores them. Returns the first failure of a slice; the others are read to their ends.
pub(super) fn run(
    work: &Work<'_>,
    remote: &Repository,
    site: Option<&SiteReader<'_>>,
    storing: &mut Storing,
) -> anyhow::Result<Option<Error>> {
    let slices = storing.checkpoint.slices.clone();
    let limits = (
        storing.checkpoint.distrusts_sizes,
        work.order.first_page_parts,
    );
    let preparer = storing.preparer();
    let preparer = &*preparer;
    let read = &Queue::new(slices.len(), UNPREPARED);
    let looked_up = &Queue::new(1, LOOKED_UP);
    let ready = &Queue::new(1, PREPARED);
    std::thread::scope(|scope| {
        let _closing = ready.closing();
        for (index, slice) in slices.iter().enumerate() {
            let plan = work.plan_of(slice);
            scope.spawn(move || {
                let _leaving = read.leaving();
                match site {
                    Some(_) if slice.state == SliceState::Done => {}
                    Some(site) => site.read(slice.from.as_deref(), Out::new(index, read)),
                    None => reading::read(remote, plan, (index, &slice.state), limits, read),
                }
            });
        }
        let look_up = stage(scope, "look up", read, looked_up, |bundle, out| {
            look_up(bundle, preparer, out)
        })?;
        let prepare = stage(scope, "prepare", looked_up, ready, |bundle, out| {
            Ok(prepare(bundle, preparer, out))
        })?;
        let failure = store(ready, storing)?;
        for stage in [look_up, prepare] {
            let ended = stage.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(failure)
    })
}

/// Runs `f` for all that comes out of `input`, on a thread of its own, until nothing more comes or `f` returns `false`:
/// nothing more is wanted behind `output`.
fn stage<'scope, I: Send, O: Send>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    input: &'scope Queue<I>,
    output: &'scope Queue<O>,
    mut f: impl FnMut(I, &Queue<O>) -> anyhow::Result<bool> + Send + 'scope,
) -> anyhow::Result<ScopedJoinHandle<'scope, anyhow::Result<()>>> {
    // Before the thread begins, so that nobody waits for one that cannot.
    let ends = (input.closing(), output.leaving());
    let work = move || {
        let _ends = ends;
        while let Next::Thing(thing) = input.pop(None) {
            if !f(thing, output)? {
                break;
            }
        }
        Ok(())
    };
    Ok(Builder::new()
        .name(name.to_owned())
        .spawn_scoped(scope, work)?)
}

/// Asks the catalog for the records of a bundle. Whether more is wanted.
fn look_up(
    bundle: Bundle<Record>,
    preparer: &Preparer,
    out: &Queue<(Bundle<Record>, Knowledge)>,
) -> anyhow::Result<bool> {
    let identifiers: Vec<_> = bundle.events.iter().filter_map(identifier).collect();
    let knowledge = preparer.look_up(&identifiers)?;
    Ok(out.push((bundle, knowledge), 1))
}

/// Prepares the records of a bundle, and hands them over in parts of about [`PART`]. Whether more is wanted.
fn prepare(
    (bundle, knowledge): (Bundle<Record>, Knowledge),
    preparer: &Preparer,
    out: &Queue<Bundle<Ready>>,
) -> bool {
    let slice = bundle.slice;
    let (mut events, mut weight) = (Vec::new(), 0);
    for event in bundle.events {
        events.push(match event {
            Event::Record(record) => {
                let record = preparer.prepare(record, &knowledge);
                weight += record.weight();
                Event::Record(record)
            }
            Event::Unchanged(identifier) => {
                Event::Record(preparer.prepare_unchanged(&identifier, &knowledge))
            }
            Event::Gone(identifier) => {
                Event::Record(preparer.prepare_gone(&identifier, &knowledge))
            }
            Event::LeftOut(left_out) => Event::LeftOut(left_out),
            Event::Skipped(identifier, reason) => Event::Skipped(identifier, reason),
            Event::Note(reason) => Event::Note(reason),
            Event::Page(report) => Event::Page(report),
            Event::Failed(error) => Event::Failed(error),
        });
        if weight >= PART {
            let events = std::mem::take(&mut events);
            if !out.push(Bundle { slice, events }, std::mem::take(&mut weight)) {
                return false;
            }
        }
    }
    events.is_empty() || out.push(Bundle { slice, events }, weight)
}

/// Stores what comes until nothing more does. Returns the first failure of a slice.
fn store(ready: &Queue<Bundle<Ready>>, storing: &mut Storing) -> anyhow::Result<Option<Error>> {
    let mut failure = None;
    loop {
        let Bundle { slice, events } = match ready.pop(storing.deadline()) {
            Next::Thing(bundle) => bundle,
            Next::NotYet => {
                storing.rest()?;
                continue;
            }
            Next::End => break,
        };
        for event in events {
            match event {
                Event::Record(record) => storing.take(slice, record)?,
                Event::LeftOut(left_out) => storing.leave_out(slice, left_out),
                Event::Skipped(identifier, reason) => storing.skip(slice, &identifier, reason),
                Event::Note(reason) => storing.warn(slice, reason),
                Event::Page(report) => storing.end_page(slice, *report)?,
                // They were made records when they were prepared.
                Event::Unchanged(_) | Event::Gone(_) => {}
                Event::Failed(error) => drop(failure.get_or_insert(error)),
            }
        }
    }
    storing.end_reading()?;
    Ok(failure)
}

fn identifier(event: &Event<Record>) -> Option<&str> {
    match event {
        Event::Record(record) => Some(&record.header.identifier),
        Event::Unchanged(identifier) | Event::Gone(identifier) => Some(identifier),
        _ => None,
    }
}

/// How many bytes may wait for the catalog.
const UNPREPARED: usize = 4 << 20;
/// One bundle waits to be prepared, whatever its size.
const LOOKED_UP: usize = 1;
/// How much may wait to be stored, in bytes and the weight of open files.
const PREPARED: usize = 6 << 20;
/// How much is handed over to be stored at once: each time the thread that stores has to be woken.
const PART: usize = 2 << 20;
