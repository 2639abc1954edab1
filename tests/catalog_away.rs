//! The catalog locked, full or gone for a while in the middle of a harvest: it is waited for, and nothing is lost.

use std::fs;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value;
use test_support::{Fault, Misbehaving, Postgres, Script};

use crate::crashes::{Mounted, fill};
use crate::managed::Managed;

/// A repository whose pages take their time.
fn slow(records: usize, pause: u64) -> Misbehaving {
    let pages = records / 10;
    let script = (0..pages).fold(Script::new(records, 10), |script, page| {
        script.with(Fault::Slow { page, pause })
    });
    Misbehaving::start(script)
}

fn wait_for_pages(managed: &Managed) -> Value {
    let jobs = managed.wait_for_jobs("pages were committed", |jobs| {
        jobs.iter().any(|job| job["done"].as_u64() >= Some(20))
    });
    jobs[0].clone()
}

/// Expects that all is there, each record counted once by however many harvests.
fn expect_all(managed: &Managed, live: u64) {
    assert_eq!(managed.live().len() as u64, live);
    let sum = |name: &str| {
        let entries = managed.history().into_iter();
        entries
            .map(|entry| entry["counts"][name].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!([sum("new"), sum("updated")], [live, 0]);
}

#[test]
fn a_lock_that_another_process_holds_is_waited_for() {
    let (managed, repository) = (Managed::new(), slow(100, 300));
    managed.schedule(&repository, &["--once"]);
    let up = managed.up(&[]);
    let job = wait_for_pages(&managed);

    let other = Connection::open(managed.data().join("catalog.sqlite")).unwrap();
    other.busy_timeout(Duration::from_secs(10)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::sleep(Duration::from_secs(20));
    // Reading stays possible.
    let held = managed.live().len();
    assert!((9..90).contains(&held), "{held}");
    other.execute_batch("ROLLBACK").unwrap();

    let job = managed.wait_for(&job, "finished");
    assert_eq!(job["attempt"], 1);
    assert_eq!(managed.history().len(), 1);
    expect_all(&managed, 90);
    up.stop();
}

#[test]
fn a_database_that_is_killed_and_away_for_longer_than_the_lease_loses_nothing() {
    let postgres = Postgres::start();
    let managed = Managed::on(postgres.database());
    // The rest takes longer than the lease, so the worker that resumes has to renew it.
    let repository = slow(300, 300);
    managed.schedule(&repository, &["--once"]);
    let up = managed.up(&["--workers", "2", "--lease", "5"]);
    let job = wait_for_pages(&managed);

    postgres.kill(Duration::from_secs(20));

    let job = managed.wait_for(&job, "finished");
    assert!(job["attempt"].as_u64() <= Some(2), "{job:#}");
    assert_eq!(managed.history().len(), 1);
    expect_all(&managed, 270);
    up.stop();
}

#[test]
fn a_disk_that_fills_up_is_told_and_the_harvest_goes_on_when_there_is_room() {
    let managed = Managed::new();
    let Some(disk) = Mounted::small(&managed.data()) else {
        return;
    };
    let repository = slow(200, 300);
    managed.schedule(&repository, &["--once"]);
    let config = managed.write(
        "garner.toml",
        "[jobs]\nattempts = 100\nretry_seconds = 1\nlongest_retry_seconds = 1\n",
    );
    let up = managed.up(&["--config", config.to_str().unwrap()]);
    wait_for_pages(&managed);

    let filler = disk.0.join("filler");
    fill(&filler);
    let began = Instant::now();
    let is_told = |log: &str| log.contains("full") || log.contains("No space");
    while !is_told(&up.log()) {
        assert!(began.elapsed() < Duration::from_secs(20), "{}", up.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(Duration::from_secs(3));
    fs::remove_file(&filler).unwrap();

    // It does not wait for the lease to be over, which is a minute.
    let room = Instant::now();
    managed.wait_for_jobs("it finished", |jobs| {
        jobs.iter().all(|job| job["state"] == "finished")
    });
    assert!(room.elapsed() < Duration::from_secs(40), "{}", up.log());
    expect_all(&managed, 180);
    up.stop();
}
