//! Another user than root: files that everybody may read are all that is left of them.

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::Path;

use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set,
    set_capabilities, set_keep_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

/// Changes from root to the user `nobody`, who may write in `directory` and keeps, if `may_read` is set, the right to read
/// every file that Landlock leaves. The error says why that is impossible.
///
/// It comes before the process has other threads, or is another program.
pub(super) fn leave_root(directory: Option<&Path>, may_read: bool) -> Result<(), String> {
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
    try_leave(directory, may_read).map_err(|error| error.to_string())
}

fn try_leave(directory: Option<&Path>, may_read: bool) -> std::io::Result<()> {
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    if let Some(directory) = directory {
        // It stays root's, who empties it, and the group may write there.
        let directory = File::open(directory)?;
        fchown(&directory, None, Some(NOBODY))?;
        directory.set_permissions(Permissions::from_mode(0o770))?;
    }
    set_keep_capabilities(may_read)?;
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    Ok(())
}

/// Gives up what root may do beyond others, but for reading if `may_read` is set. The program that this process becomes does
/// not get that back, for new privileges are forbidden.
pub(super) fn give_up_powers(may_read: bool) -> std::io::Result<()> {
    let held = capabilities(None)?;
    let kept = match may_read {
        true => held.permitted & CapabilitySet::DAC_READ_SEARCH,
        false => CapabilitySet::empty(),
    };
    let left = CapabilitySets {
        effective: kept,
        permitted: kept,
        inheritable: kept,
    };
    // A process without any may not even be allowed to say so.
    if held != left {
        set_capabilities(None, left)?;
    }
    if !kept.is_empty() {
        // Or they would be lost when this process becomes another program.
        configure_capability_in_ambient_set(kept, true)?;
    }
    Ok(())
}

/// The number of a user that owns nothing, on every Linux.
pub(super) const NOBODY: u32 = 65534;
