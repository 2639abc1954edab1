//! One resource of a list: what is to be done about it, after a look at what is held of it and, if need be, a request.

use catalog::Known;
use harvester::lists::{Entry, Fetch, Fetched, StoredState};
use harvester::{ErrorKind, LeftOut};

use super::site::SiteReader;
use crate::harvest::reading::Event;

/// Why a harvest cannot go on.
pub(super) type Failure = harvester::Error;

impl SiteReader<'_> {
    /// Visits the resource of an entry. `None` if there is nothing to be done.
    pub(super) fn visit(
        &self,
        entry: &Entry,
        known: Option<&Known>,
    ) -> Result<Option<Visited>, Failure> {
        let held = known.filter(|known| !known.deleted);
        if entry.metadata.change.as_deref() == Some("deleted") {
            return Ok(held.map(|_| Event::Record(entry.deletion())));
        }
        // A harvest that resumes reads its lists again.
        if known.is_some_and(|known| known.run == self.run) {
            return Ok(None);
        }
        let complete = held.filter(|held| held.sha256.is_some() && !self.anew);
        let stored = complete.and_then(|held| self.stored(held));
        let mut condition = stored.as_ref();
        if let (Some(held), Some(stored)) = (complete, &stored) {
            match unchanged(entry, held, stored) {
                Some(true) => return Ok(Some(Event::Unchanged(entry.url.clone()))),
                // The list knows better than the server's validators.
                Some(false) => condition = None,
                None => {}
            }
        }
        Ok(Some(self.ask(entry, held.is_some(), condition)?))
    }

    /// Visits a resource that no list names any more: it is deleted if the server says so.
    pub(super) fn revisit(&self, url: &str, known: &Known) -> Result<Option<Visited>, Failure> {
        let stored = self.stored(known);
        let entry = Entry {
            url: url.to_owned(),
            ..Entry::default()
        };
        match self.fetch().get(&entry, stored.as_ref()) {
            Ok(Fetched::Gone(_)) => Ok(Some(Event::Gone(url.to_owned()))),
            Ok(Fetched::Record(record)) => Ok(Some(Event::Record(*record))),
            Ok(Fetched::Unchanged) => Ok(Some(Event::Unchanged(url.to_owned()))),
            // It stays as it is held.
            Ok(Fetched::Unusable(_) | Fetched::Elsewhere(_) | Fetched::Forbidden(_)) => Ok(None),
            Err(error) if is_final(&error) => Err(error),
            Err(_) => Ok(None),
        }
    }

    fn ask(
        &self,
        entry: &Entry,
        is_held: bool,
        known: Option<&StoredState>,
    ) -> Result<Visited, Failure> {
        let lost = |reason: String| {
            Event::LeftOut(LeftOut {
                identifier: Some(entry.url.clone()),
                dates: None,
                reason,
            })
        };
        self.pause(&entry.url)?;
        let fetched = match self.fetch().get(entry, known) {
            Ok(fetched) => fetched,
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => {
                self.note_failure(&error)?;
                return Ok(lost(error.to_string()));
            }
        };
        self.note_answer();
        Ok(match fetched {
            Fetched::Unchanged => Event::Unchanged(entry.url.clone()),
            Fetched::Record(record) => Event::Record(*record),
            Fetched::Gone(_) if is_held => Event::Gone(entry.url.clone()),
            Fetched::Gone(status) => lost(format!(
                "the list names it, and the server answers {status}"
            )),
            Fetched::Unusable(reason) => lost(reason),
            Fetched::Elsewhere(host) => {
                let reason = format!("it is redirected to another host, {host}");
                Event::Skipped(entry.url.clone(), self.note_skipped(Some(host), reason))
            }
            Fetched::Forbidden(to) => {
                let reason = format!("it is redirected to {to}, which robots.txt does not allow");
                Event::Skipped(entry.url.clone(), self.note_forbidden(reason))
            }
        })
    }

    fn fetch(&self) -> Fetch<'_> {
        Fetch {
            lists: self.lists(),
            repository: self.remote,
            spool: self.bodies,
            admission: self.admission(),
        }
    }

    /// The state of a resource that its record tells.
    fn stored(&self, held: &Known) -> Option<StoredState> {
        let file = held.file.as_deref()?;
        let read = (self.holdings).read_record(self.repository, self.metadata_prefix, file);
        StoredState::of(&read.ok()?)
    }
}

/// The outcome of a visit.
pub(super) type Visited = Event<harvester::Record>;

/// Whether the server, or the person who waits, has said that nothing more is wanted now.
fn is_final(error: &harvester::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Stopped | ErrorKind::Busy(_) | ErrorKind::AskedToWait { .. }
    )
}

/// Whether a list says that a resource is as it is held. `None` if only the server can tell.
fn unchanged(entry: &Entry, held: &Known, stored: &StoredState) -> Option<bool> {
    if let Some(is_same) = stored.has_digests(&entry.metadata.digests) {
        return Some(is_same);
    }
    if entry
        .metadata
        .length
        .is_some_and(|listed| stored.length.is_some_and(|own| own != listed))
    {
        return Some(false);
    }
    let modified = entry.modified()?;
    if held.datestamp != Some(modified) {
        return None;
    }
    // A later change on the same day has the same date.
    let is_over = |fetched: i64| modified.saturating_add(A_DAY) <= fetched;
    (!entry.is_dated_by_day() || stored.fetched.is_some_and(is_over)).then_some(true)
}

const A_DAY: i64 = 86_400;
