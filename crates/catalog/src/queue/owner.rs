//! Holders of leases: their names, and whether a process of this machine is gone.
//!
//! With a lease alone, a harvest whose process was killed would wait for a minute before it is resumed. The system knows
//! at once whether a process of this machine still runs.

use std::collections::HashMap;
use std::fs;
use std::process;
use std::sync::OnceLock;

/// The name of this process: host, number, start and machine, separated by spaces.
pub(crate) fn this_process() -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    let host = host.replace([' ', PERSON], "-");
    let id = process::id();
    let started = started(id).unwrap_or_default();
    format!("{host} {id} {started} {}", machine().unwrap_or_default())
}

/// The name of a worker in this process: that of the process, and its own.
pub(crate) fn this_worker(name: &str) -> String {
    format!("{} {name}", this_process()).trim_end().to_owned()
}

/// The first character of the name of a person, who is no process.
const PERSON: char = '@';

/// Somebody who is no process of any machine, and so cannot be gone with one.
pub(crate) fn person(name: &str) -> String {
    format!("{PERSON}{name}")
}

/// Whether it is somebody who hears of nothing before asking.
pub(crate) fn is_person(owner: &str) -> bool {
    owner.starts_with(PERSON)
}

/// Whether it is certain that the process does not run any more.
pub(crate) fn is_gone(owner: &str) -> bool {
    if is_person(owner) {
        return false;
    }
    let parts: Vec<&str> = owner.splitn(5, ' ').collect();
    let [_, id, start, place, ..] = parts[..] else {
        return false;
    };
    let (Ok(id), Ok(start)) = (id.parse(), start.parse::<u64>()) else {
        return false;
    };
    // Elsewhere the number belongs to another process, or to none that can be seen from here.
    if machine().as_deref() != Some(place) {
        return false;
    }
    started(id) != Some(start)
}

/// Asks for each process once, where many jobs are looked at.
#[derive(Default)]
pub(crate) struct Present(HashMap<String, bool>);

impl Present {
    /// Whether it is certain that the process does not run any more.
    pub(crate) fn is_gone(&mut self, owner: &str) -> bool {
        let mut spaces = owner.match_indices(' ');
        let process = spaces.nth(3).map_or(owner, |(at, _)| &owner[..at]);
        if let Some(gone) = self.0.get(process) {
            return *gone;
        }
        let gone = is_gone(process);
        self.0.insert(process.to_owned(), gone);
        gone
    }
}

/// The process or the person in words.
pub(crate) fn described(owner: &str) -> String {
    if let Some(name) = owner.strip_prefix(PERSON) {
        return name.to_owned();
    }
    let parts: Vec<&str> = owner.splitn(5, ' ').collect();
    match parts[..] {
        [host, id, _, _, worker] => format!("{worker} (process {id} on {host})"),
        [host, id, ..] => format!("process {id} on {host}"),
        _ => "another process".to_owned(),
    }
}

/// The machine of a process; empty for a person.
pub(crate) fn host(owner: &str) -> &str {
    match is_person(owner) {
        true => "",
        false => owner.split(' ').next().unwrap_or_default(),
    }
}

/// The start of the system and the space of its process numbers: containers have their own.
fn machine() -> Option<String> {
    static MACHINE: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let space = fs::read_link("/proc/self/ns/pid").ok()?;
        Some(format!("{}/{}", boot.trim(), space.display()))
    };
    MACHINE.get_or_init(read).clone()
}

/// When a process started, in ticks since the system did; `None` if it does not run.
fn started(id: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may hold anything; what follows the last one is numbers.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    // A process that was killed stays as a zombie until somebody asks how it ended.
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn this_process_is_not_gone() {
        assert!(!is_gone(&this_process()));
    }

    #[test]
    fn a_number_that_was_given_to_another_process_tells_that_the_first_is_gone() {
        let mut parts: Vec<String> = this_process().split(' ').map(Into::into).collect();
        parts[2] = "1".to_owned();

        assert!(is_gone(&parts.join(" ")));
    }

    #[test]
    fn a_killed_process_is_gone_even_before_its_end_was_noticed() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let start = started(child.id()).unwrap();
        let owner = format!("host {} {start} {}", child.id(), machine().unwrap());
        assert!(!is_gone(&owner));

        child.kill().unwrap();
        while started(child.id()).is_some() {
            std::thread::yield_now();
        }

        assert!(is_gone(&owner));
        child.wait().unwrap();
    }

    #[test]
    fn a_worker_is_gone_with_its_process_and_keeps_its_name() {
        let worker = this_worker("worker 2");
        let other = this_worker("worker 2").replacen(
            &format!(" {} ", started(process::id()).unwrap()),
            " 1 ",
            1,
        );

        let mut present = Present::default();
        for _ in 0..2 {
            assert!(!present.is_gone(&worker));
            assert!(present.is_gone(&other));
        }
        let words = format!("worker 2 (process {} on ", process::id());
        assert!(described(&worker).starts_with(&words));
        assert_eq!(this_worker(""), this_process());
    }

    #[test]
    fn somebody_who_is_no_process_is_never_gone_and_keeps_the_name() {
        let name = format!("ann 1 1 {}", machine().unwrap());

        assert!(!is_gone(&person(&name)));
        assert!(!Present::default().is_gone(&person(&name)));
        assert_eq!(described(&person(&name)), name);
    }

    #[test]
    fn nothing_is_said_of_processes_elsewhere() {
        assert!(!is_gone("host 1 1 another-machine"));
        assert!(!is_gone("nonsense"));
    }
}
