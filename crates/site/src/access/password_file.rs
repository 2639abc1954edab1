//! A password file that is read again when it changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Facts;
use crate::access::htpasswd::{Htpasswd, HtpasswdError};

/// A password file that is read again when it changes.
#[derive(Debug)]
pub(crate) struct PasswordFile {
    path: PathBuf,
    read: Mutex<(Option<i64>, Arc<Htpasswd>)>,
}

impl PasswordFile {
    /// Reads it for the first time; lines that cannot be used are told in the log.
    pub(crate) fn read(path: PathBuf) -> Result<Self, HtpasswdError> {
        // The mark first: what changes after it is noticed later.
        let mark = mark(&path);
        let htpasswd = Htpasswd::read(&path)?;
        for warning in htpasswd.warnings() {
            tracing::warn!("`{}`: {warning}", path.display());
        }
        Ok(Self {
            path,
            read: Mutex::new((mark, Arc::new(htpasswd))),
        })
    }

    /// The passwords as they are now. A file that cannot be read for the moment keeps what it said before.
    pub(crate) fn current(&self) -> Arc<Htpasswd> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = mark(&self.path);
        if mark != read.0 {
            match Htpasswd::read(&self.path) {
                Ok(htpasswd) => *read = (mark, Arc::new(htpasswd)),
                Err(error) => tracing::error!("{error}; the passwords read before stay in force"),
            }
        }
        Arc::clone(&read.1)
    }
}

/// A number that changes with the file.
fn mark(path: &Path) -> Option<i64> {
    let stat = rustix::fs::stat(path).ok()?;
    Some(Facts::of(&stat).mark)
}
