//! No network: no socket can be made, and none taken from another process. Where the system cannot forbid that, there is a
//! name space without any device.

use std::collections::BTreeMap;

use rustix::thread::UnshareFlags;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

/// Leaves the network that this process shares with others; says why not if that is impossible. New privileges are
/// forbidden with it.
pub(super) fn leave() -> Result<(), String> {
    let Err(error) = forbid_sockets() else {
        return Ok(());
    };
    // Who is not root needs a user name space. A container may forbid the one and allow the other.
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET)
        .or_else(|_| unshare(UnshareFlags::NEWNET))
        .map_err(|spaces| {
            format!("they could reach the network: sockets cannot be forbidden ({error}), nor name spaces made ({spaces})")
        })
}

/// Takes from this process, and whatever it becomes, the system calls that lead to a socket, also to those that others of
/// this user have open. It takes less time than a name space, of which there would be one for every document.
fn forbid_sockets() -> Result<(), seccompiler::Error> {
    let calls = [
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_io_uring_setup,
        libc::SYS_pidfd_getfd,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
    ];
    // x86 has the same calls once more, for programs with short pointers. Those for another processor are killed.
    let short = calls.map(|call| call | X32);
    let rules: BTreeMap<_, _> = calls
        .into_iter()
        .chain(short)
        .map(|call| (call, vec![]))
        .collect();
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EACCES.unsigned_abs()),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    apply_filter(&BpfProgram::try_from(filter)?)
}

#[expect(
    deprecated,
    reason = "it is safe as long as the table of open files is not unshared, and its successor cannot be called here"
)]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

const X32: i64 = 0x4000_0000;
