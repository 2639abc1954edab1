//! No network where system calls cannot be forbidden: a name space without any device.

use rustix::thread::UnshareFlags;

/// Leaves the network that this process shares with others; says why not if that is impossible.
pub(super) fn leave() -> Result<(), String> {
    // A process that is not root needs a user name space. A container may forbid the one and allow the other.
    unshare(UnshareFlags::NEWNET)
        .or_else(|_| unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET))
        .map_err(|error| error.to_string())
}

#[expect(
    deprecated,
    reason = "it is safe as long as the table of open files is not unshared, and its successor cannot be called here"
)]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}
