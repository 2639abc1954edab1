//! Names of temporary files that tell which process made them, so that those of a killed one can be removed at once.

use std::path::Path;
use std::process;

use document::digest::Digests;

/// How the names of temporary files of this process begin.
pub(super) fn prefix() -> String {
    format!(".tmp-{}-{}-", system(), process::id())
}

/// Whether the process that made a file is gone. Of processes of other systems nothing is known.
pub(super) fn is_abandoned(name: &str) -> bool {
    let mut parts = name.splitn(4, '-');
    if parts.next() != Some(".tmp") || parts.next() != Some(system().as_str()) {
        return false;
    }
    let process = parts.next().and_then(|process| process.parse::<u32>().ok());
    process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
}

/// This system since it was booted, as far as its processes see each other.
fn system() -> String {
    let boot = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let processes = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let names = [&boot[..], processes.to_string_lossy().as_bytes()].concat();
    Digests::of(&names).sha1_hex()[..8].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_processes_that_are_gone_are_told_from_others() {
        let mut gone = process::Command::new("true").spawn().unwrap();
        let number = gone.id();
        gone.wait().unwrap();
        let name = |system: &str, process: u32| format!(".tmp-{system}-{process}-x1");

        assert!(is_abandoned(&name(&system(), number)));
        assert!(!is_abandoned(&format!("{}x1", prefix())));
        assert!(!is_abandoned(&name("00000000", number)));
        assert!(!is_abandoned(".tmpx1"));
    }
}
