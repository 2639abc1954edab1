//! Beside an origin: notices what the other server begins or ceases to show, although no file tells of it.
//!
//! It looks as somebody without credentials. What comes into sight is stamped anew, so that no harvester
//! misses it; what goes out of sight leaves a tombstone for those who cannot see it any longer.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::follow::public::nobody;
use crate::ground::media_types::essence;
use crate::ground::root::Sighting;
use crate::index::{Index, Row, State};
use crate::record::programs;
use crate::view::candidate;
use crate::{DynamicPolicy, Error, Ground, Look, Origin, Served, SharedOrigin, SitePath};

/// How many items are asked for at once.
const BATCH: usize = 256;

/// The thread that asks.
#[derive(Debug)]
pub(crate) struct Sweep {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sweep {
    pub(crate) fn start(
        ground: Arc<Ground>,
        index: Arc<Index>,
        origin: SharedOrigin,
        pause: Duration,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let sweeper = Sweeper {
            ground,
            index,
            origin,
            stopped,
        };
        let thread = thread::Builder::new()
            .name("sweep".to_owned())
            .spawn(move || sweeper.sweep_for_ever(pause))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Sweep {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Sweeper {
    ground: Arc<Ground>,
    index: Arc<Index>,
    origin: SharedOrigin,
    stopped: Receiver<()>,
}

impl Sweeper {
    fn sweep_for_ever(&self, pause: Duration) {
        loop {
            let began = Instant::now();
            if let Err(reason) = self.sweep() {
                tracing::warn!("the origin could not be swept: {reason}");
            }
            // A large site is swept in peace: most of the other server's time is for others.
            let pause = pause.max(began.elapsed() * 9);
            if self.stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    fn sweep(&self) -> Result<(), String> {
        let root = SitePath::root();
        let mut after = None;
        loop {
            let rows = self
                .index
                .reader()
                .and_then(|reader| reader.by_path(&root, after.as_ref(), BATCH))
                .map_err(|error| error.to_string())?;
            let Some(last) = rows.last() else {
                return Ok(());
            };
            after = Some(last.path.clone());
            let live: Vec<_> = rows
                .into_iter()
                .filter(|row| row.state == State::Live)
                .collect();
            let comparison = Comparison {
                ground: &self.ground,
                index: &self.index,
                origin: &*self.origin,
                restamp_dynamic: false,
            };
            comparison
                .compare(&live)
                .map_err(|error| error.to_string())?;
            if self.stopped.try_recv() == Err(TryRecvError::Disconnected) {
                return Ok(());
            }
        }
    }
}

/// Compares what an origin shows to all with what it showed before.
pub(crate) struct Comparison<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) index: &'a Index,
    pub(crate) origin: &'a dyn Origin,
    /// Whether what the server makes of programs may have changed.
    pub(crate) restamp_dynamic: bool,
}

impl Comparison<'_> {
    /// Asks about live rows, and makes what turned visible.
    pub(crate) fn compare(&self, rows: &[Row]) -> Result<(), Error> {
        let candidates: Vec<_> = rows.iter().map(candidate).collect();
        let looks = self
            .origin
            .look(&nobody(), &candidates)
            .map_err(Error::Origin)?;
        let (mut noted, mut turned, mut back) = (Vec::new(), Vec::new(), Vec::new());
        let mut retyped = Vec::new();
        let reader = self.index.reader()?;
        for (row, look) in rows.iter().zip(looks) {
            let look = match row.dynamic && self.ground.rules.hides_programs() {
                true => Look::Refused,
                false => programs::remembered(&reader, row, None, DynamicPolicy::Off, look)?,
            };
            let shown = matches!(look, Look::Served(_));
            if shown && row.missed {
                back.push(row.path.clone());
            }
            match row.shown {
                None => noted.push((row.id, shown)),
                Some(before) if before != shown && self.is_as_indexed(row) => {
                    turned.push((row.path.clone(), shown));
                }
                Some(_) => {}
            }
            if let Look::Served(served) = look {
                if self.restamp_dynamic && served.dynamic.is_some() {
                    self.index.touch(&row.path)?;
                }
                retyped.extend(retyping(self.index, self.origin, row, &served));
            }
        }
        drop(reader);
        if !turned.is_empty() {
            let items = turned.len();
            tracing::info!(items, "the origin shows other items than before");
        }
        self.index.note_shown(&noted)?;
        self.index.turn_shown(&turned)?;
        self.index.retype(&retyped)?;
        self.index.restamp_missed(&back)
    }

    /// A file that has just changed differs from the row for another reason.
    fn is_as_indexed(&self, row: &Row) -> bool {
        match self.ground.look(&row.path) {
            Sighting::File { facts, .. } => facts.mark == row.mark,
            _ => false,
        }
    }
}

/// The media type of a row, if it is another one for an origin that has the last word on it.
pub(crate) fn retyping(
    index: &Index,
    origin: &dyn Origin,
    row: &Row,
    served: &Served,
) -> Option<(SitePath, String)> {
    if !origin.fetches_files() {
        return None;
    }
    let media_type = essence(served.media_type.as_deref()?).to_ascii_lowercase();
    let types = index.media_types();
    let same = types
        .get(row.media_type)
        .is_some_and(|entry| entry.name == media_type);
    (!same).then(|| (row.path.clone(), media_type))
}
