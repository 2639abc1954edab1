//! Kill -9, stops, full disks, two at once: nothing is lost and nothing is there twice.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use test_support::{Fault, Fixture, Script, Server, wait_until};

use super::{Harvester, at, no_arguments, repository};
use crate::crashes::{Mounted, fill};
use crate::garner;

/// Harvests and is killed again and again, each time a little later, until a harvest comes to its end. Returns how often
/// it was begun.
fn killed_again_and_again(harvester: &Harvester, base_url: &str, arguments: &[&str]) -> u64 {
    for attempt in 1_u64.. {
        assert!(attempt < 200, "the harvest does not get on");
        let mut child = harvester
            .command(base_url, arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Moments that do not fall together with anything.
        std::thread::sleep(Duration::from_micros(
            40_000 + attempt * 4_000 + attempt * 7_919 % 90_000,
        ));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            return attempt;
        }
    }
    unreachable!()
}

/// New, updated and deleted records of all harvests together. One that is killed before its first page is another.
fn all_changes(harvester: &Harvester) -> [u64; 3] {
    let history = harvester.garner(&["history", "--json", "--limit", "1000"]);
    let mut changes = [0; 3];
    for line in history.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        for (sum, name) in changes.iter_mut().zip(["new", "updated", "deleted"]) {
            *sum += entry["counts"][name].as_u64().unwrap();
        }
    }
    changes
}

/// Pages that take their time, so that there is one to be killed in.
fn slowly(records: usize, page: usize) -> Script {
    let script = Script::new(records, page);
    let pages = records.div_ceil(page);
    (0..pages).step_by(3).fold(script, |script, page| {
        script.with(Fault::Slow { page, pause: 10 })
    })
}

#[test]
fn a_harvest_that_is_killed_at_any_moment_goes_on_and_loses_nothing() {
    for arguments in [
        &[][..],
        &["--slices", "3", "--connections", "2"],
        &["--method", "ListIdentifiers"],
    ] {
        let (repository, live) = repository(slowly(400, 10));
        let harvester = Harvester::new();

        let attempts = killed_again_and_again(&harvester, &repository.base_url(), arguments);

        assert!(attempts > 2, "it was never killed");
        assert_eq!(all_changes(&harvester), [360, 0, 40], "{arguments:?}");
        assert_eq!(harvester.live(), live);
        harvester.expect_consistent();
        let first = repository.requests().into_iter();
        let first = first.filter(|request| request.contains("metadataPrefix=oai_dc"));
        if arguments.is_empty() {
            assert!(
                (first.count() as u64) < attempts,
                "it begins anew each time"
            );
        }
    }
}

/// A site whose lists take many pages.
fn site_of_many_pages() -> (Fixture, Server) {
    let fixture = Fixture::small();
    for number in 0..150 {
        fixture.write(
            format!("pages/{number}.txt"),
            format!("page {number} ").repeat(2000),
        );
    }
    let server = garner().serve(&fixture, "[pages]\nbytes = 100000\n");
    (fixture, server)
}

#[test]
fn a_mirror_that_is_killed_at_any_moment_is_complete_in_the_end() {
    let (fixture, server) = site_of_many_pages();
    let harvester = Harvester::new();
    let mirror = harvester.path("mirror");

    killed_again_and_again(
        &harvester,
        &server.url("modoai"),
        &["--unpack", at(&mirror)],
    );

    super::resources::expect_same(&fixture.site(), &mirror);
}

#[test]
fn warc_files_of_a_harvest_that_was_killed_hold_each_resource_once() {
    let (_fixture, server) = site_of_many_pages();
    let mut all: Vec<_> = server
        .all()
        .into_iter()
        .map(|header| header.identifier)
        .collect();
    all.sort();
    for slices in ["1", "3"] {
        let harvester = Harvester::new();
        let warc = harvester.path("warc");

        let arguments = ["--warc", at(&warc), "--slices", slices];
        killed_again_and_again(&harvester, &server.url("modoai"), &arguments);

        let mut captured = super::resources::captured(&warc);
        captured.sort();
        assert_eq!(captured, all, "{slices}");
    }
}

#[test]
fn a_stopped_harvest_ends_in_good_order_and_goes_on_later() {
    let (repository, live) = repository(slowly(300, 10));
    let harvester = Harvester::new();
    let mut child = harvester
        .command(&repository.base_url(), &no_arguments())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("some pages are read", || repository.requests().len() > 8);

    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let began = Instant::now();
    let code = child.wait().unwrap().code();

    assert_eq!(code, Some(1));
    assert!(began.elapsed() < Duration::from_secs(5));
    let history = harvester.garner(&["history", "1"]);
    assert!(
        history.contains("cancelled") && history.contains("stopped as asked"),
        "{history}"
    );
    let rest = harvester.harvest(&repository.base_url(), &no_arguments());
    assert_eq!(rest.entry["attempts"], 2);
    assert_eq!(rest.changes(), [270, 0, 0, 30]);
    assert_eq!(harvester.live(), live);
    harvester.expect_consistent();
}

#[test]
fn two_cannot_harvest_the_same_at_once() {
    let (repository, _) = repository(Script::new(20, 10).with(Fault::Slow {
        page: 0,
        pause: 3000,
    }));
    let harvester = Harvester::new();
    let mut first = harvester
        .command(&repository.base_url(), &no_arguments())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the first has begun", || {
        repository
            .requests()
            .iter()
            .any(|request| request.contains("ListRecords"))
    });

    let second = harvester.run(&repository.base_url(), &no_arguments());
    let other_set = harvester.run(&repository.base_url(), &["--set", "even"]);

    // Another set would be written into the same directories.
    for refused in [second, other_set] {
        assert_eq!(refused.code, 1);
        assert!(
            refused.stderr.contains("is being harvested by process"),
            "{}",
            refused.stderr
        );
    }
    assert!(first.wait().unwrap().success());
    harvester.expect_consistent();
}

#[test]
fn a_full_disk_is_told_and_the_harvest_goes_on_when_there_is_room() {
    let harvester = Harvester::new();
    let Some(disk) = Mounted::small(&harvester.path("data")) else {
        return;
    };
    let (repository, live) = repository(Script::new(400, 20));
    let filler = disk.0.join("filler");
    fs::write(&filler, vec![b'x'; 7 << 20]).unwrap();
    let mut full = harvester.run(&repository.base_url(), &no_arguments());
    if full.code == 0 {
        fill(&filler);
        full = harvester.run(&repository.base_url(), &["--full"]);
    }
    assert_eq!(full.code, 1, "{}", full.stderr);
    assert!(
        full.stderr.contains("full") || full.stderr.contains("No space"),
        "{}",
        full.stderr
    );

    fs::remove_file(&filler).unwrap();
    harvester.harvest(&repository.base_url(), &["--no-sync"]);

    assert_eq!(harvester.live(), live);
    harvester.expect_consistent();
}

#[test]
fn a_repository_that_goes_away_and_comes_back_is_harvested_to_the_end() {
    let (repository, live) = repository(Script::new(100, 10).with(Fault::Slow {
        page: 5,
        pause: 500,
    }));
    let base_url = repository.base_url();
    let harvester = Harvester::new();
    let failed = std::thread::scope(|scope| {
        let harvest = scope.spawn(|| harvester.run(&base_url, &["--attempts", "1"]));
        wait_until("the fifth page is asked for", || {
            repository.requests().len() > 3 + 1 + 5
        });
        let away = (0..100).map(|page| Fault::Status {
            page,
            status: 503,
            retry_after: None,
            times: 1000,
        });
        repository.change(|script| script.faults = away.collect());
        harvest.join().unwrap()
    });
    assert_eq!((failed.code, failed.state()), (1, "failed"));
    assert!(failed.stderr.contains("503"), "{}", failed.stderr);
    assert!(failed.count("new") >= 45, "{}", failed.entry);

    repository.change(|script| script.faults.clear());
    let rest = harvester.harvest(&base_url, &["--attempts", "1"]);

    assert_eq!(rest.changes(), [90, 0, 0, 10]);
    assert_eq!(harvester.live(), live);
}

/// Issue 18: killed between file and commit, then deleted at the source.
#[test]
fn what_a_killed_harvest_wrote_and_did_not_commit_is_cleared_by_the_next() {
    // The second page breaks off each time, so that it is written in part and never committed.
    let broken = Fault::Reset {
        page: 1,
        times: u32::MAX,
    };
    let (repository, _) = repository(Script::new(2000, 1000).with(broken));
    let harvester = Harvester::new();
    let mut child = harvester
        .command(&repository.base_url(), &no_arguments())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("some of the second page is written", || {
        harvester.path("data/records").is_dir() && harvester.record_files().len() > 900
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let strays = harvester.record_files().len() - harvester.live().len();
    assert!(strays > 0);

    repository.change(|script| {
        script.faults.clear();
        script.records = 1000;
    });
    harvester.run(&repository.base_url(), &no_arguments());

    assert_eq!(harvester.live().len(), 900);
    assert_eq!(harvester.record_files().len(), 900);
    harvester.expect_consistent();
}
