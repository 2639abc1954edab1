//! Notes that an answer beside an origin leaves in the index: who was given what, and what was missed.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::follow::sweep::retyping;
use crate::index::{Index, Row, State};
use crate::{Error, Look, Origin, SitePath};

/// Notes of one batch.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Items that were given to this requester and are not known to be for all.
    seen: Vec<i64>,
    /// Items that were left out because the origin did not serve them just then.
    missed: Vec<i64>,
    /// Items that were missed once and are served again.
    back: Vec<SitePath>,
    /// Items whose media type is another one for the origin.
    retyped: Vec<(SitePath, String)>,
}

impl Notes {
    /// Takes down what the origin says of a row.
    pub(crate) fn add(&mut self, index: &Index, origin: &dyn Origin, row: &Row, look: &Look) {
        if row.state != State::Live {
            return;
        }
        match look {
            Look::Served(served) => {
                self.retyped.extend(retyping(index, origin, row, served));
                if row.shown != Some(true) {
                    self.seen.push(row.id);
                }
                if row.missed {
                    self.back.push(row.path.clone());
                }
            }
            Look::NotServed(_) if !row.missed => self.missed.push(row.id),
            _ => {}
        }
    }

    /// Remembers who was given what is not for all, and what was missed because the origin did not serve it
    /// just then: that is stamped anew when it is served again.
    ///
    /// An index that cannot be written, on a full disk or by this process at all, can still be read: then the
    /// answer is given without notes, and the log says so once until they can be written again.
    pub(crate) fn keep(&self, index: &Index, who: i64, failing: &AtomicBool) {
        match self.write(index, who) {
            Ok(()) => failing.store(false, Ordering::Relaxed),
            Err(error) if !failing.swap(true, Ordering::Relaxed) => {
                tracing::error!("it is not remembered what harvesters were given: {error}");
            }
            Err(_) => {}
        }
    }

    /// Whether there is nothing to keep.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
            && self.missed.is_empty()
            && self.back.is_empty()
            && self.retyped.is_empty()
    }

    fn write(&self, index: &Index, who: i64) -> Result<(), Error> {
        index.note_seen(&self.seen, who)?;
        index.note_missed(&self.missed)?;
        index.retype(&self.retyped)?;
        index.restamp_missed(&self.back)
    }
}
