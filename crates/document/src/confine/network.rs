//! No network: a name space of its own, in which there is no device.

use rustix::thread::UnshareFlags;

/// Leaves the network that this process shares with others; says why not if that is impossible.
///
/// Who is not root needs a user name space for that. Root gets one as well, for in it root's powers are gone.
pub(super) fn leave() -> Result<(), String> {
    let both = UnshareFlags::NEWUSER | UnshareFlags::NEWNET;
    unshare(both)
        // A container may forbid the one and allow the other.
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
