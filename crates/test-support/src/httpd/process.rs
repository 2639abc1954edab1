//! The processes of a server: which there are, what they use, and their end.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, geteuid, kill_process};

/// All processes that run with a configuration file, whoever their parent is.
pub(super) fn processes_with(conf: &Path) -> Vec<u32> {
    let conf = conf.as_os_str().as_encoded_bytes();
    let entries = fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == conf)
    })
    .collect()
}

/// Sends a signal.
pub(super) fn kill(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended by itself just now.
        let _ = kill_process(pid, signal);
    }
}

/// The processor time of a process and of its children that ended, in seconds.
pub(super) fn cpu_seconds(pid: u32) -> f64 {
    // Fields 14 to 17 of proc_pid_stat(5), in ticks of a hundredth of a second.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let times = fields.split_whitespace().skip(11).take(4);
    let ticks: u64 = times.filter_map(|time| time.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

/// The most memory that a process has had, in bytes.
pub(super) fn peak_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// The user and the group that workers of a server started by root become.
pub(super) fn worker_ids() -> Option<(u32, u32)> {
    if !geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let worker = users
        .lines()
        .find(|line| line.starts_with(&format!("{WORKER}:")))?;
    let mut fields = worker.split(':').skip(2);
    let mut number = || fields.next()?.parse().ok();
    Some((number()?, number()?))
}

/// Debian's name for the user of web servers.
pub(super) const WORKER: &str = "www-data";
