//! Threads of the module's own in the processes of the server.

use std::fs;

use test_support::Mpm;

use super::client::Client;
use super::records::records;
use super::site::Site;

#[test]
fn a_thread_that_reads_ahead_takes_no_signals_and_outlives_no_restart() {
    for mpm in Mpm::ALL {
        let site = Site::empty(mpm);
        for number in 0..20 {
            let path = format!("{number}.txt");
            site.fixture.write(&path, vec![b'x'; 1000 * number]);
        }
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        let answer = client.ask("verb=ListRecords&metadataPrefix=oai_didl");
        assert_eq!(records(&answer).len(), 20);
        assert_eq!(answer.xml.matches("<digest ").count(), 20);

        let blocked: Vec<_> = httpd.children().into_iter().flat_map(own_threads).collect();
        assert!(!blocked.is_empty(), "{mpm:?}");
        for mask in blocked {
            for signal in [HUP, INT, USR1, TERM, WINCH] {
                assert_ne!(mask & (1 << (signal - 1)), 0, "{mpm:?}: {mask:x}");
            }
        }

        assert_eq!(httpd.crashes(), [""; 0], "{mpm:?}");
        httpd.restart();
        let again = client.ask("verb=ListRecords&metadataPrefix=oai_didl");
        assert_eq!(records(&again).len(), 20);
        assert_eq!(httpd.crashes(), [""; 0], "{mpm:?}");
    }
}

/// The blocked signals of each thread of ours in a process.
fn own_threads(pid: u32) -> Vec<u64> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let statuses = tasks.filter_map(|task| {
        let directory = task.ok()?.path();
        let name = fs::read_to_string(directory.join("comm")).ok()?;
        (name.trim() == "mod_oai").then(|| fs::read_to_string(directory.join("status")).ok())?
    });
    let mask = |status: String| {
        let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
    };
    statuses.map(mask).collect()
}

const HUP: u32 = 1;
const INT: u32 = 2;
const USR1: u32 = 10;
const TERM: u32 = 15;
const WINCH: u32 = 28;
