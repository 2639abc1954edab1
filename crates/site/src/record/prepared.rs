//! Records whose turn comes soon: their files are opened, and a helper reads them and makes their digests while the
//! records before them are sent.

use std::cell::{OnceCell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use oai::format::didl;

use super::Record;
use super::resource::{Resource, Wanted};
use crate::view::{SiteItem, SiteView};

/// Work begun ahead for an answer, in the order in which it is needed.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// Whether the digests of this answer's records are to be made. Where they are known, there is little to be gained.
    worthwhile: OnceCell<bool>,
    begun: RefCell<VecDeque<Begun>>,
}

/// A record that was begun, or was passed over.
#[derive(Debug)]
struct Begun {
    item: i64,
    since: Instant,
    /// About how many bytes it takes on the page.
    size: u64,
    /// How many bytes its file has.
    held: u64,
    resource: Option<Resource>,
}

impl Prepared {
    /// Begins with an item whose turn it is, if that was not done before, and with those that come next and fit into so
    /// many bytes.
    pub(crate) fn begin(
        &self,
        view: &SiteView<'_>,
        item: &SiteItem,
        coming: &[SiteItem],
        bytes: u64,
    ) {
        let worthwhile = || Record::new(view, item).lacks_digests() && view.assistance.is_at_hand();
        if !self.worthwhile.get_or_init(worthwhile) {
            return;
        }
        let mut begun = self.begun.borrow_mut();
        // Nobody took what turned out to be deleted.
        while begun
            .pop_front_if(|first| first.item != item.row.id)
            .is_some()
        {}
        // Several at once, so that the helper is seldom woken.
        if begun.len() > FEW {
            return;
        }
        // The item itself has its place on the page.
        let coming_size = begun.iter().skip(1).map(|begun| begun.size).sum();
        let mut room = bytes.saturating_sub(coming_size);
        let mut held = begun.iter().map(|begun| begun.held).sum::<u64>();
        let items = std::iter::once(item).chain(coming);
        for (number, item) in items.enumerate().take(MOST).skip(begun.len()) {
            let record = Record::new(view, item);
            let size = match number {
                0 => 0,
                _ => record.size(didl::PREFIX),
            };
            held += item.row.size;
            if size > room || held > MOST_HELD {
                return;
            }
            room -= size;
            let prepare = !item.header.deleted && item.dynamic.is_none() && record.lacks_digests();
            begun.push_back(Begun {
                item: item.row.id,
                since: Instant::now(),
                size,
                held: item.row.size,
                resource: prepare.then(|| record.resource_or_reference(Wanted::BytesSoon)),
            });
        }
    }

    /// The resource of an item whose turn it is, if it was begun. What was begun long ago may not be as a GET has it now,
    /// nor may the requester.
    pub(super) fn take(&self, item: i64) -> Option<Resource> {
        let mut begun = self.begun.borrow_mut();
        let next = begun.pop_front_if(|next| next.item == item)?;
        next.resource.filter(|_| next.since.elapsed() < LASTS)
    }
}

/// Number of records that are begun ahead of the one that is written.
const MOST: usize = 12;

/// As long as there are more than these, no others are begun.
const FEW: usize = 4;

/// The files of these have at most so many bytes altogether. A larger one waits for its turn.
const MOST_HELD: u64 = 2 * 1024 * 1024;

/// No longer than a client that reads may take for one record.
const LASTS: Duration = Duration::from_secs(1);
