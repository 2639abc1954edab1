//! The horizon for all threads of all processes: who chooses datestamps or takes the time of an answer holds it,
//! and nobody else does so meanwhile.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

use rusqlite::Connection;

use super::load::{put_in_place, remove};
use super::media_type_table::MediaTypeTable;
use super::opening::{ANSWERING_KEPT_EVERY, answered_before_loss, check, open_writer, recover};
use super::sharing::Sharing;
use super::state_file::{Agreed, StateFile, private_file};
use super::{Index, UNFINISHED_FILE, locked, rebuild, schema, set_meta};
use crate::Error;
use crate::follow::horizon::Horizon;

/// The agreement as this process knows it.
#[derive(Debug)]
pub(super) struct Agreement {
    pub(super) state: StateFile,
    /// As it was last seen.
    pub(super) last: Agreed,
    /// The number that stood for the media types when they were last read.
    pub(super) media_types: i64,
    /// The file that the connections are open on.
    pub(super) file: FileId,
    /// Whether that file was removed and could not be put back.
    pub(super) lost: bool,
}

/// The agreement, held. No other thread and no other process has it.
#[derive(Debug)]
pub(super) struct LockedAgreement<'a> {
    pub(super) agreement: MutexGuard<'a, Agreement>,
    pub(super) agreed: Agreed,
    /// Whether that could be read.
    certain: bool,
}

/// The file at the place of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The file that the connections are open on, or nothing to be done about.
    Same,
    /// Another file that has taken its place.
    Other,
    /// Nothing: somebody has removed it.
    Empty,
}

/// Tells one file from another that took its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl Index {
    /// Takes the time of an answer. Every change that is not visible yet will be stamped then or later.
    pub(crate) fn answer(&self) -> Result<i64, Error> {
        self.answer_at(i64::MIN)
    }

    /// Takes the time of an answer that shows items up to a datestamp, even if the clock is behind it.
    pub(crate) fn answer_at(&self, datestamp: i64) -> Result<i64, Error> {
        let mut held = self.agree()?;
        let now = Horizon::new(held.agreed.answered).answer(datestamp);
        let to_be_noted = now >= held.agreed.noted.saturating_add(ANSWERING_KEPT_EVERY);
        held.agreed.answered = now;
        if to_be_noted {
            held.agreed.noted = now;
        }
        held.keep().map_err(|source| self.data_error(source))?;
        drop(held);
        if to_be_noted && let Err(error) = self.note_answering(now) {
            tracing::warn!("{error}");
        }
        Ok(now)
    }

    /// Keeps, once a minute and before the answer is given, that answers are being given: should the machine
    /// crash and its clock come up behind, the next start knows how far they may have gone.
    fn note_answering(&self, now: i64) -> Result<(), Error> {
        let mut writer = locked(&self.writer);
        let _held = self.agree_with(&mut writer)?;
        let now = now.to_string();
        set_meta(&writer, "answering_since", &now).map_err(|source| self.error(source))
    }

    /// Takes the agreement, with everything in this process as the others have it.
    pub(super) fn agree(&self) -> Result<LockedAgreement<'_>, Error> {
        let held = self.hold()?;
        if self.is_current(&held) {
            return Ok(held);
        }
        // The writer comes before the agreement, always.
        drop(held);
        self.agree_with(&mut locked(&self.writer))
    }

    /// The same for who has the writer.
    pub(super) fn agree_with(&self, writer: &mut Connection) -> Result<LockedAgreement<'_>, Error> {
        let mut held = self.hold()?;
        if !self.is_current(&held) {
            self.catch_up(writer, &mut held)?;
        }
        Ok(held)
    }

    /// Mends damage while others may have the index open: they go on with the new file when they next agree.
    /// Until it is there nobody can answer, so that nothing is lost that is written meanwhile. Says whether
    /// this process has made a new one; another may have been faster.
    pub(crate) fn mend(&self) -> Result<bool, Error> {
        let mut writer = locked(&self.writer);
        let mut held = self.hold()?;
        let damaged = match self.look_for_damage() {
            Err(error) if error.is_damage() => {
                tracing::error!("{error}; it is rebuilt from what can be read of it");
                rebuild::rebuild(&self.data, Some(&self.secret))?;
                true
            }
            result => result.map(|()| false)?,
        };
        self.open_anew(&mut writer, &mut held)?;
        self.catch_up(&mut writer, &mut held)?;
        if damaged {
            held.agreed.answered = answered_before_loss(&held.agreed);
            held.keep().map_err(|source| self.data_error(source))?;
        }
        Ok(damaged)
    }

    fn look_for_damage(&self) -> Result<(), Error> {
        let connection = open_writer(&self.path, false)?;
        check(&connection, "PRAGMA integrity_check(1)").map_err(|source| self.error(source))
    }

    fn hold(&self) -> Result<LockedAgreement<'_>, Error> {
        let agreement = locked(&self.agreement);
        agreement
            .state
            .lock()
            .map_err(|source| self.data_error(source))?;
        let read = agreement.state.read();
        let mut agreed = read.unwrap_or(agreement.last);
        let own = self.lock.generation();
        agreed.generation = agreed.generation.max(own);
        self.latest.store(agreed.latest, Ordering::Release);
        self.superseded
            .store(own < agreed.generation, Ordering::Release);
        let mut held = LockedAgreement {
            agreement,
            agreed,
            certain: read.is_some(),
        };
        held.agreement.last = agreed;
        Ok(held)
    }

    fn is_current(&self, held: &LockedAgreement<'_>) -> bool {
        held.certain
            && held.agreed.media_types == held.agreement.media_types
            && self.place(held) == Place::Same
    }

    fn place(&self, held: &LockedAgreement<'_>) -> Place {
        match FileId::of(&self.path) {
            Ok(file) if file != held.agreement.file => Place::Other,
            // A process that is alone misses nothing until it ends.
            Err(error)
                if error.kind() == ErrorKind::NotFound
                    && self.lock.sharing != Sharing::Alone
                    && !held.agreement.lost =>
            {
                Place::Empty
            }
            _ => Place::Same,
        }
    }

    fn catch_up(
        &self,
        writer: &mut Connection,
        held: &mut LockedAgreement<'_>,
    ) -> Result<(), Error> {
        match self.place(held) {
            Place::Same => {}
            Place::Other => self.open_anew(writer, held)?,
            Place::Empty => match self.put_back(writer) {
                Ok(()) => self.open_anew(writer, held)?,
                Err(error) => {
                    tracing::error!("the index was removed and cannot be put back: {error}");
                    held.agreement.lost = true;
                }
            },
        }
        if !held.certain {
            tracing::warn!("what was agreed on with other processes is lost; it is made anew");
            let last = held.agreed;
            let recovered = recover(writer, None).map_err(|source| self.error(source))?;
            held.agreed = Agreed {
                answered: recovered.answered.max(last.answered),
                generation: last.generation,
                ..recovered
            };
            held.keep().map_err(|source| self.data_error(source))?;
            held.certain = true;
            self.latest.store(held.agreed.latest, Ordering::Release);
        }
        if held.agreed.media_types != held.agreement.media_types {
            let table = MediaTypeTable::read(writer).map_err(|source| self.error(source))?;
            self.set_media_types(table);
            held.agreement.media_types = held.agreed.media_types;
        }
        Ok(())
    }

    /// Writes the index to its place again, from the file that is removed but still open: processes that come later
    /// would find none, and could not make one beside those that have this one.
    fn put_back(&self, writer: &Connection) -> Result<(), Error> {
        let unfinished = self.data.join(UNFINISHED_FILE);
        let data_error = |source| self.data_error(source);
        remove(&unfinished).map_err(data_error)?;
        // SQLite would let everybody read it; a file that is empty will do.
        private_file(&unfinished).map_err(data_error)?;
        let target = unfinished.to_str().ok_or(ErrorKind::InvalidFilename);
        let target = target.map_err(|kind| data_error(kind.into()))?;
        writer
            .execute("VACUUM INTO ?1", [target])
            .map_err(|source| self.error(source))?;
        put_in_place(&unfinished, &self.path).map_err(data_error)?;
        tracing::warn!("the index was removed while it was open; it is put back");
        Ok(())
    }

    /// Opens all connections anew. Only who holds the agreement opens any: a file and the log that belongs to it
    /// are found by their names, and both must be of the same index.
    fn open_anew(
        &self,
        writer: &mut Connection,
        held: &mut LockedAgreement<'_>,
    ) -> Result<(), Error> {
        let error = |source| self.error(source);
        let new = open_writer(&self.path, false)?;
        let notes = schema::open(&self.path, 4).map_err(error)?;
        let table = MediaTypeTable::read(&new).map_err(error)?;
        let file = FileId::of(&self.path).map_err(|source| self.data_error(source))?;
        *writer = new;
        *locked(&self.notes) = notes;
        locked(&self.readers).start_over();
        self.set_media_types(table);
        held.agreement.file = file;
        Ok(())
    }
}

impl LockedAgreement<'_> {
    /// Tells all others.
    pub(super) fn keep(&mut self) -> std::io::Result<()> {
        self.agreement.state.write(&self.agreed)?;
        self.agreement.last = self.agreed;
        Ok(())
    }
}

impl Drop for LockedAgreement<'_> {
    fn drop(&mut self) {
        // It cannot fail for a lock that is held, and the end of the process would free it.
        let _ = self.agreement.state.unlock();
    }
}

impl FileId {
    pub(super) fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }
}
