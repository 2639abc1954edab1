//! No network where system calls cannot be forbidden: a name space without any device.

use rustix::thread::UnshareFlags;

/// Leaves the network that this process shares with others; says why not if that is impossible.
pub(super) fn leave() -> Result<(), String> {
    // Who is not root needs a user name space. A container may forbid the one and allow the other.
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET)
        .or_else(|_| unshare(UnshareFlags::NEWNET))
        .map_err(|error| {
            format!("they could reach the network: name spaces cannot be made ({error})")
        })
}

#[expect(
    deprecated,
    reason = "it is safe as long as the table of open files is not unshared, and its successor cannot be called here"
)]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}
