//! Other processes that have the index open, and the lock that shows them.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::FILE;
use super::state_file::{private_file, uninterrupted};
use crate::Error;

/// Whether several processes have one index open at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// One process has it, and all others are refused.
    #[default]
    Alone,
    /// Several processes have it. Each must open it by itself: what is open does not survive a fork.
    Shared {
        /// Grows with each reading of the configuration. Who has a lower one than another process answers,
        /// but does not write what it sees.
        generation: i64,
    },
}

impl Sharing {
    /// The reading of the configuration; 0 where there is only one.
    pub(crate) fn generation(self) -> i64 {
        match self {
            Self::Alone => 0,
            Self::Shared { generation } => generation,
        }
    }
}

/// The lock on `index.lock`, held as long as the index is open.
#[derive(Debug)]
pub(super) struct IndexLock {
    file: File,
    pub(super) sharing: Sharing,
    /// Whether nobody else has the index open.
    pub(super) sole: bool,
}

impl IndexLock {
    /// Takes the index: for this process alone, or beside others where there is one already.
    pub(super) fn take(data: &Path, sharing: Sharing) -> Result<Self, Error> {
        Self::take_within(PATIENCE, data, sharing)
    }

    pub(super) fn take_within(
        patience: Duration,
        data: &Path,
        sharing: Sharing,
    ) -> Result<Self, Error> {
        let error = |source| Error::Data {
            path: data.to_owned(),
            source,
        };
        let mut directory = DirBuilder::new();
        directory.recursive(true).mode(0o700);
        directory.create(data).map_err(error)?;
        let file = private_file(&data.join(LOCK_FILE)).map_err(error)?;
        let began = Instant::now();
        loop {
            if taken(file.try_lock()).map_err(error)? {
                let sole = true;
                return Ok(Self {
                    file,
                    sharing,
                    sole,
                });
            }
            let path = data.to_owned();
            if sharing == Sharing::Alone {
                return Err(Error::InUse { path });
            }
            if taken(file.try_lock_shared()).map_err(error)? {
                if data.join(FILE).exists() {
                    let sole = false;
                    return Ok(Self {
                        file,
                        sharing,
                        sole,
                    });
                }
                // The process that was making it is gone.
                file.unlock().map_err(error)?;
            }
            if began.elapsed() >= patience {
                return Err(Error::Building { path });
            }
            thread::sleep(PAUSE);
        }
    }

    /// Lets others in, if the index is to be shared.
    ///
    /// The kernel may give the lock to another process in between, which then is the sole one in its turn. So
    /// no other lock may be held here, and what a sole process does must do no harm to one that waits here.
    pub(super) fn relax(&mut self) -> std::io::Result<()> {
        if self.sole && self.sharing != Sharing::Alone {
            uninterrupted(|| self.file.lock_shared())?;
            self.sole = false;
        }
        Ok(())
    }

    pub(super) fn generation(&self) -> i64 {
        self.sharing.generation()
    }
}

fn taken(lock: Result<(), TryLockError>) -> std::io::Result<bool> {
    match lock {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(source),
    }
}

const LOCK_FILE: &str = "index.lock";

/// So long a process waits for another one that makes the index.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(50);
