//! Reads slices of a repository's list, each on a thread of its own, ahead of what is being stored.

use harvester::{Harvest, LeftOut, PageEnd, Plan, Record, Repository, ResumeState, Step};

use super::checkpoint::Stand;
use super::queue::Queue;
use super::storing::OPEN_FILE;

/// What comes out of a slice: records as they came, or as they were prepared.
pub(super) enum News<R> {
    Record(R),
    LeftOut(LeftOut),
    /// The end of a page, and where the next harvest should begin.
    Page(Box<PageEnd>, Option<String>),
    /// The slice has failed.
    Failed(harvester::Error),
}

/// News of one slice, as many as fit together well.
pub(super) struct Bundle {
    pub(super) slice: usize,
    pub(super) news: Vec<News<Record>>,
}

/// Reads a slice and puts what it gives into the queue.
pub(super) fn read(
    repository: &Repository,
    plan: Plan,
    (slice, stand): (usize, &Stand),
    distrusts_sizes: bool,
    queue: &Queue<Bundle>,
) {
    let begun = match stand {
        Stand::Done => return,
        Stand::Ahead => None,
        Stand::Begun(state) => Some(ResumeState::clone(state)),
    };
    let mut out = Out {
        slice,
        news: Vec::new(),
        size: 0,
        queue,
    };
    let mut harvest = match Harvest::new(repository, plan, begun) {
        Ok(harvest) => harvest,
        Err(error) => {
            out.put(News::Failed(error), 0);
            out.send();
            return;
        }
    };
    if distrusts_sizes {
        harvest.distrust_sizes();
    }
    while let Some(step) = harvest.next() {
        let wanted = match step {
            Ok(Step::Record(record)) => {
                let size = record.xml.len() + record.values.len() * OPEN_FILE;
                out.put(News::Record(record), size)
            }
            Ok(Step::LeftOut(left_out)) => out.put(News::LeftOut(left_out), 0),
            Ok(Step::Page(page)) => {
                let next_from = harvest.outcome().next_from;
                out.put(News::Page(page, next_from), 0) && out.send()
            }
            Err(error) => out.put(News::Failed(error), 0),
        };
        if !wanted {
            return;
        }
    }
    out.send();
}

/// Bundles news: a thread that is woken for every record does little else.
struct Out<'a> {
    slice: usize,
    news: Vec<News<Record>>,
    size: usize,
    queue: &'a Queue<Bundle>,
}

impl Out<'_> {
    fn put(&mut self, news: News<Record>, size: usize) -> bool {
        self.news.push(news);
        self.size += size;
        self.size < BUNDLE || self.send()
    }

    fn send(&mut self) -> bool {
        if self.news.is_empty() {
            return true;
        }
        let bundle = Bundle {
            slice: self.slice,
            news: std::mem::take(&mut self.news),
        };
        self.queue.push(bundle, std::mem::take(&mut self.size))
    }
}

const BUNDLE: usize = 128 * 1024;
