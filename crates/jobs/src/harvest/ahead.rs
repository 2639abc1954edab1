//! Between those who read and the one who stores: what was read is prepared on threads of its own.

use std::sync::mpsc::{self, SyncSender};

use harvester::Record;

use super::queue::{Next, Queue};
use super::reading::{Bundle, News};
use super::storing::{Knowledge, Preparer, Ready};

/// News with the slices they come from, as many as fit together well.
pub(super) type Helping = Vec<(usize, News<Ready>)>;

/// Prepares what comes until nothing more does, or nothing more is wanted. The catalog is asked for the next records while
/// some are prepared.
pub(super) fn prepare_all(
    bundles: &Queue<Bundle>,
    preparer: &Preparer,
    ready: &Queue<Helping>,
) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let (hand_over, batches) = mpsc::sync_channel(0);
        scope.spawn(move || {
            let mut batches = batches.into_iter();
            batches.all(|batch| prepare(batch, preparer, ready))
        });
        let mut gathering = Gathering {
            preparer,
            hand_over,
            waiting: Vec::new(),
            bytes: 0,
        };
        while let Next::Thing(bundle) = bundles.pop(None) {
            for news in bundle.news {
                if !gathering.take(bundle.slice, news)? {
                    return Ok(());
                }
            }
        }
        gathering.send()?;
        Ok(())
    })
}

/// What came, and what the catalog knows of it.
type Batch = (Vec<(usize, News<Record>)>, Knowledge);

/// Gathers records, so that the catalog is asked for many at once.
struct Gathering<'a> {
    preparer: &'a Preparer<'a>,
    hand_over: SyncSender<Batch>,
    waiting: Vec<(usize, News<Record>)>,
    bytes: usize,
}

impl Gathering<'_> {
    /// Takes what came. Whether more is wanted.
    fn take(&mut self, slice: usize, news: News<Record>) -> anyhow::Result<bool> {
        let goes_on = match &news {
            News::Record(record) => {
                self.bytes += record.xml.len();
                true
            }
            News::LeftOut(_) => true,
            News::Page(..) | News::Failed(_) => false,
        };
        self.waiting.push((slice, news));
        match goes_on && self.waiting.len() < MOST_WAITING && self.bytes < MOST_BYTES {
            true => Ok(true),
            false => self.send(),
        }
    }

    /// Asks the catalog for what waits, and hands it over.
    fn send(&mut self) -> anyhow::Result<bool> {
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let identifiers: Vec<_> = waiting.iter().filter_map(identifier).collect();
        let knowledge = self.preparer.look_up(&identifiers)?;
        Ok(self.hand_over.send((waiting, knowledge)).is_ok())
    }
}

/// Prepares what came, and hands it over in helpings. Whether more is wanted.
fn prepare((waiting, knowledge): Batch, preparer: &Preparer, ready: &Queue<Helping>) -> bool {
    let (mut helping, mut weight) = (Vec::new(), 0);
    for (slice, news) in waiting {
        let news = match news {
            News::Record(record) => {
                let record = preparer.prepare(record, &knowledge);
                weight += record.weight();
                News::Record(record)
            }
            News::LeftOut(left_out) => News::LeftOut(left_out),
            News::Page(page, next_from) => News::Page(page, next_from),
            News::Failed(error) => News::Failed(error),
        };
        helping.push((slice, news));
        if weight < HELPING {
            continue;
        }
        if !ready.push(std::mem::take(&mut helping), weight) {
            return false;
        }
        weight = 0;
    }
    helping.is_empty() || ready.push(helping, weight)
}

fn identifier((_, news): &(usize, News<Record>)) -> Option<&str> {
    match news {
        News::Record(record) => Some(&record.header.identifier),
        _ => None,
    }
}

/// As many records are looked up in the catalog at once.
const MOST_WAITING: usize = 500;
const MOST_BYTES: usize = 1 << 20;
/// So much is handed over at once: each time somebody has to be woken.
const HELPING: usize = 2 << 20;
