//! Another user than root: files that everybody may read are all that is left of them.

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::Path;

use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, capabilities, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

/// Changes from root to the user `nobody`, who may write in `directory`; says why not if that is impossible.
///
/// It comes before the process has other threads, or is another program.
pub(super) fn leave_root(directory: Option<&Path>) -> Result<(), String> {
    let held = capabilities(None).map_err(|error| error.to_string())?;
    // Without the first, garner could not end the program any more.
    for (power, name) in [
        (CapabilitySet::KILL, "CAP_KILL"),
        (CapabilitySet::CHOWN, "CAP_CHOWN"),
        (CapabilitySet::SETGID, "CAP_SETGID"),
        (CapabilitySet::SETUID, "CAP_SETUID"),
    ] {
        if !held.effective.contains(power) {
            return Err(format!("{name} is missing"));
        }
    }
    try_leave(directory).map_err(|error| error.to_string())
}

fn try_leave(directory: Option<&Path>) -> std::io::Result<()> {
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    if let Some(directory) = directory {
        // It stays root's, who empties it, and the group may write there.
        let directory = File::open(directory)?;
        fchown(&directory, None, Some(NOBODY))?;
        directory.set_permissions(Permissions::from_mode(0o770))?;
    }
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    Ok(())
}

/// Who has this number owns nothing, on every Linux.
pub(super) const NOBODY: u32 = 65534;
