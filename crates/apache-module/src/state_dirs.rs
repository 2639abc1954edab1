//! The state directories: made for the workers at the start, and refused where they would be served.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, lchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::config::{ServerConfig, Space};
use crate::{log, servers, sys};

/// State directories that lie in what some host serves, with the reason why they are not used. The parent finds out
/// once a configuration, and its children know it from there.
static REFUSED: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// In the parent, as the user who started httpd: makes those that are missing, and says which cannot be used.
pub(crate) fn prepare_all() {
    *REFUSED.lock().unwrap_or_else(PoisonError::into_inner) = served();
    for (server, config) in hosts().filter(|(_, config)| config.offers) {
        let directory = config.state_dir();
        let prepared = check(&directory).and_then(|()| {
            prepare(&directory).map_err(|error| {
                format!(
                    "the state directory {} cannot be made: {error}; make one that the worker user can write, and \
                     name it with OaiStateDir",
                    directory.display()
                )
            })
        });
        if let Err(reason) = prepared {
            log::about_server(server, log::WARNING, &reason);
        }
    }
}

/// Whether a state directory may be used, else why not.
pub(crate) fn check(directory: &Path) -> Result<(), String> {
    let refused = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let reason = refused.get(directory).cloned();
    reason.map_or(Ok(()), Err)
}

/// The state directories that lie in what is served, by whichever host.
fn served() -> BTreeMap<PathBuf, String> {
    let offering = hosts().filter(|(_, config)| config.offers);
    let mut directories: Vec<_> = offering.map(|(_, config)| config.state_dir()).collect();
    // Most often it is one for all.
    directories.sort();
    directories.dedup();
    let mut served = BTreeMap::new();
    for (server, config) in hosts() {
        // SAFETY: the server belongs to the present configuration.
        let root = unsafe { servers::document_root(server) };
        let space = Space::without_users(config, root);
        for directory in &directories {
            if let Err(reason) = space.check_state_dir(directory) {
                served.entry(directory.clone()).or_insert(reason);
            }
        }
    }
    served
}

/// All hosts with their settings.
fn hosts() -> impl Iterator<Item = (*const sys::server_rec, &'static ServerConfig)> {
    // SAFETY: the servers belong to the present configuration, which outlives this look at them.
    servers::all().map(|server| (server, unsafe { ServerConfig::of(server) }))
}

/// Makes a state directory that is missing; one that is there is left as it is.
fn prepare(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    DirBuilder::new().mode(0o700).create(directory)?;
    if rustix::process::geteuid().is_root() {
        // SAFETY: httpd has read `User` and `Group` and does not write them any more.
        let (user, group) =
            unsafe { (sys::ap_unixd_config.user_id, sys::ap_unixd_config.group_id) };
        // Should somebody have put a link in its place, only the link is given away.
        lchown(directory, Some(user), Some(group))?;
    }
    Ok(())
}
