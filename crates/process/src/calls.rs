//! System calls that a program which reads documents has no use for: those that lead to a socket or to another process,
//! those that change files it did not open, and those that leave something behind when it ends.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter, sock_filter,
};

/// Answers calls with numbers above [`LAST_KNOWN`] as kernels do that do not have them: those of x32, which are others
/// once more, and those that later kernels add, of which nobody has judged yet what they can change.
///
/// Libraries then take older calls. Calls for another processor (i386) end the process: [`forbid`] checks that.
pub(super) fn forbid_unknown() -> Result<(), Error> {
    let instruction = |code: u32, jf: u8, k: u32| sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    };
    let answer = |action: SeccompAction| instruction(libc::BPF_RET | libc::BPF_K, 0, action.into());
    apply_filter(&[
        // The number is the first thing in the data that the kernel shows.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 1, LAST_KNOWN),
        answer(SeccompAction::Errno(libc::ENOSYS.unsigned_abs())),
        answer(SeccompAction::Allow),
    ])
}

/// Takes calls from the process `own` and whatever it becomes. New privileges are forbidden with it. Unless it
/// `may_write`, it can open no file for writing either, which counts where Landlock does not hold. Unless it
/// `may_fork`, it stays one process.
pub(super) fn forbid(own: i32, may_write: bool, may_fork: bool) -> Result<(), Error> {
    // Libraries that are told that these are not there take older ones, whose arguments can be looked at.
    filter(ABSENT.iter().map(|call| (*call, vec![])), libc::ENOSYS)?;
    let never = FORBIDDEN.iter().chain(OLDER).map(|call| (*call, vec![]));
    let sometimes = sometimes(own, may_write)?;
    let forking = match may_fork {
        true => Vec::new(),
        false => forking()?,
    };
    filter(never.chain(sometimes).chain(forking), libc::EACCES)
}

/// Calls that are forbidden with some arguments.
fn sometimes(own: i32, may_write: bool) -> Result<Vec<(i64, Vec<SeccompRule>)>, Error> {
    let own = u64::from(own.unsigned_abs());
    let opening = |flags: u8| -> Result<Vec<SeccompRule>, Error> {
        let accmode = libc::O_ACCMODE;
        let mut rules = vec![
            // It truncates a file that was only to be read, which Landlock knows since Linux 6.2.
            rule([masked(flags, accmode | libc::O_TRUNC, libc::O_TRUNC)?])?,
            // Neither reading nor writing, to which older kernels apply no rule of Landlock.
            rule([masked(flags, accmode, accmode)?])?,
            // A file without a name would be missing from the sum of its directory.
            rule([masked(flags, TMPFILE, TMPFILE)?])?,
        ];
        if !may_write {
            rules.push(rule([masked(flags, accmode, libc::O_WRONLY)?])?);
            rules.push(rule([masked(flags, accmode, libc::O_RDWR)?])?);
        }
        Ok(rules)
    };
    let of_others = || rule([unless(0, own)?]);
    let of_others_by_number = || rule([unless(0, own)?, unless(0, 0)?]);
    let other_ioctl = IOCTLS.iter().map(|request| unless(1, *request));
    let other_ioctl = SeccompRule::new(other_ioctl.collect::<Result<_, _>>()?)?;
    let signals_and_leases = FCNTLS.iter().map(|command| rule([only(1, *command)?]));

    let mut rules = vec![
        (libc::SYS_openat, opening(2)?),
        (libc::SYS_kill, vec![of_others()?]),
        (libc::SYS_tkill, vec![of_others()?]),
        (libc::SYS_tgkill, vec![of_others()?]),
        (libc::SYS_prlimit64, vec![of_others_by_number()?]),
        (libc::SYS_sched_setaffinity, vec![of_others_by_number()?]),
        (libc::SYS_ioctl, vec![other_ioctl]),
        (
            libc::SYS_fcntl,
            signals_and_leases.collect::<Result<_, _>>()?,
        ),
        // It dies with garner.
        (
            libc::SYS_prctl,
            vec![rule([only(0, libc::PR_SET_PDEATHSIG.unsigned_abs())?])?],
        ),
    ];
    #[cfg(target_arch = "x86_64")]
    {
        rules.push((libc::SYS_open, opening(1)?));
        if !may_write {
            rules.push((libc::SYS_creat, vec![]));
        }
    }
    Ok(rules)
}

/// Calls that make another process.
fn forking() -> Result<Vec<(i64, Vec<SeccompRule>)>, Error> {
    // Without the flag it is a process, and no thread.
    let process = rule([masked(0, libc::CLONE_THREAD, 0)?])?;
    let mut rules = vec![(libc::SYS_clone, vec![process])];
    #[cfg(target_arch = "x86_64")]
    rules.extend([(libc::SYS_fork, vec![]), (libc::SYS_vfork, vec![])]);
    Ok(rules)
}

fn rule<const N: usize>(conditions: [SeccompCondition; N]) -> Result<SeccompRule, Error> {
    Ok(SeccompRule::new(conditions.into())?)
}

/// The kernel takes the lower half of these arguments alone.
fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

fn only(argument: u8, value: u32) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::Eq, value.into())
}

fn unless(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::Ne, value)
}

fn masked(argument: u8, mask: i32, value: i32) -> Result<SeccompCondition, BackendError> {
    let operator = SeccompCmpOp::MaskedEq(mask.unsigned_abs().into());
    condition(argument, operator, value.unsigned_abs().into())
}

/// Answers calls with an error. It takes less time than name spaces, of which there would be some for every document.
fn filter(
    rules: impl IntoIterator<Item = (i64, Vec<SeccompRule>)>,
    error: i32,
) -> Result<(), Error> {
    let filter = SeccompFilter::new(
        rules.into_iter().collect::<BTreeMap<_, _>>(),
        SeccompAction::Allow,
        SeccompAction::Errno(error.unsigned_abs()),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    apply_filter(&BpfProgram::try_from(filter)?)
}

/// `mseal`, of Linux 6.10. New calls have the same number on every processor.
const LAST_KNOWN: u32 = 462;
const FCHMODAT2: i64 = 452;
/// `O_TMPFILE` without `O_DIRECTORY`, which is a part of it.
const TMPFILE: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Calls whose arguments lie in memory, where a filter does not look, and files that only memory holds, which no limit
/// adds up.
const ABSENT: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
];

/// Calls that are forbidden whatever their arguments are.
const FORBIDDEN: &[i64] = &[
    // Sockets, also those that others of this user have open.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_io_uring_setup,
    libc::SYS_pidfd_getfd,
    // Other processes: what they hold, their end, their priority.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // The group that is killed with it.
    libc::SYS_setpgid,
    libc::SYS_setsid,
    // Modes, owners, attributes and times of files, for which Landlock has no rule.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_utimensat,
    // Names of files. Its directory is removed by garner; until then the sum of what lies there is the sum of what it wrote.
    libc::SYS_truncate,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_open_by_handle_at,
    libc::SYS_inotify_init1,
    libc::SYS_fanotify_init,
    // Memory, messages and keys that stay when a process ends.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Name spaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Doors into the kernel that exploits like to take.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
];

/// Calls that newer processors have in a more general form alone.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_unlink,
    libc::SYS_rmdir,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_inotify_init,
];
#[cfg(target_arch = "aarch64")]
const OLDER: &[i64] = &[libc::SYS_renameat];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OLDER: &[i64] = &[];

/// The only requests of `ioctl`: whether a file is a terminal, and how it is read. Others change flags of files that are
/// open for reading alone, type into terminals, or send signals.
const IOCTLS: &[u64] = &[
    libc::TCGETS,
    libc::TCGETS2,
    libc::TIOCGWINSZ,
    libc::FIONREAD,
    libc::FIONBIO,
    libc::FIOCLEX,
    libc::FIONCLEX,
];

/// The commands of `fcntl` that send signals to others, or let them wait.
const FCNTLS: &[u32] = &[
    libc::F_SETOWN.unsigned_abs(),
    F_SETSIG,
    F_SETOWN_EX,
    libc::F_SETLEASE.unsigned_abs(),
    libc::F_NOTIFY.unsigned_abs(),
];
const F_SETSIG: u32 = 10;
const F_SETOWN_EX: u32 = 15;
