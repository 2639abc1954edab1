//! A password file that is read again when it changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::htpasswd::{Htpasswd, HtpasswdError};

/// A password file that is read again when it changes.
#[derive(Debug)]
pub(crate) struct PasswordFile {
    path: PathBuf,
    read: Mutex<(Option<SystemTime>, Arc<Htpasswd>)>,
}

impl PasswordFile {
    /// Reads it for the first time; lines that cannot be used are told in the log.
    pub(crate) fn read(path: PathBuf) -> Result<Self, HtpasswdError> {
        let htpasswd = Htpasswd::read(&path)?;
        for warning in htpasswd.warnings() {
            tracing::warn!("`{}`: {warning}", path.display());
        }
        let version = modified(&path);
        Ok(Self {
            path,
            read: Mutex::new((version, Arc::new(htpasswd))),
        })
    }

    /// The passwords as they are now. A file that cannot be read for the moment keeps what it said before.
    pub(crate) fn current(&self) -> (Option<SystemTime>, Arc<Htpasswd>) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let version = modified(&self.path);
        if version != read.0 {
            match Htpasswd::read(&self.path) {
                Ok(htpasswd) => *read = (version, Arc::new(htpasswd)),
                Err(error) => tracing::error!("{error}; the passwords read before stay in force"),
            }
        }
        (read.0, Arc::clone(&read.1))
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .ok()
}
