//! The state directories: made for the workers at the start, and refused where they would be served.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, lchown};
use std::path::Path;

use crate::config::Space;
use crate::servers::{self, hosts};
use crate::{log, sys};

/// In the parent, as the user who started httpd: makes those that are missing, and says which cannot be used.
pub(crate) fn prepare_all() {
    for (server, config) in hosts().filter(|(_, config)| config.offers) {
        let directory = config.state_dir();
        if let Err(error) = prepare(&directory) {
            let reason = format!(
                "the state directory {} cannot be made: {error}; make one that the worker user can write, and name it \
                 with OaiStateDir",
                directory.display()
            );
            log::about_server(server, log::WARNING, &reason);
        }
    }
}

/// Whether no state directory lies in what any host serves, else why one must not be used.
pub(crate) fn check_all() -> Result<(), String> {
    let offering = hosts().filter(|(_, config)| config.offers);
    let mut directories: Vec<_> = offering.map(|(_, config)| config.state_dir()).collect();
    // Most often it is one for all.
    directories.sort();
    directories.dedup();
    hosts().try_for_each(|(server, config)| {
        // SAFETY: the server belongs to the present configuration.
        let root = unsafe { servers::document_root(server) };
        let space = Space::without_users(config, root);
        let mut directories = directories.iter();
        directories.try_for_each(|directory| space.check_state_dir(directory))
    })
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
