//! System calls that a program which reads documents has no use for: those that lead to a socket, also to one that others
//! of this user have open, and those that start another process, which could outlive it.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter,
};

/// Takes these calls from this process and whatever it becomes. New privileges are forbidden with it.
pub(super) fn forbid() -> Result<(), Error> {
    // Libraries that are told that it is not there take the older one, whose arguments can be looked at.
    filter([(libc::SYS_clone3, vec![])], libc::ENOSYS)?;
    let other_process = SeccompRule::new(vec![SeccompCondition::new(
        0,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(libc::CLONE_THREAD.unsigned_abs().into()),
        0,
    )?])?;
    let forbidden = SOCKETS.iter().chain(PROCESSES);
    let rules = forbidden.map(|call| (*call, vec![]));
    let threads_only = [(libc::SYS_clone, vec![other_process])];
    filter(rules.chain(threads_only), libc::EACCES)
}

/// Answers calls with an error. It takes less time than name spaces, of which there would be some for every document.
fn filter(
    rules: impl IntoIterator<Item = (i64, Vec<SeccompRule>)>,
    error: i32,
) -> Result<(), Error> {
    let mut both = BTreeMap::new();
    for (call, conditions) in rules {
        // x86 has the same calls once more, for programs with short pointers. Those for another processor are killed.
        both.insert(call | X32, vec![]);
        both.insert(call, conditions);
    }
    let filter = SeccompFilter::new(
        both,
        SeccompAction::Allow,
        SeccompAction::Errno(error.unsigned_abs()),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    apply_filter(&BpfProgram::try_from(filter)?)
}

const SOCKETS: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_io_uring_setup,
    libc::SYS_pidfd_getfd,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
];
/// Newer processors have `clone` alone.
#[cfg(target_arch = "x86_64")]
const PROCESSES: &[i64] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const PROCESSES: &[i64] = &[];
const X32: i64 = 0x4000_0000;
