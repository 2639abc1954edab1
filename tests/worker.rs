//! Workers in several processes on one catalog: taken over, fenced, a database that goes away.

use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use test_support::{Fault, Misbehaving, Postgres, Script};

use crate::command_line::stderr;
use crate::managed::Managed;

/// A repository whose pages take their time.
fn slow(records: usize, pause: u64) -> Misbehaving {
    let pages = records / 10;
    let script = (0..pages).fold(Script::new(records, 10), |script, page| {
        script.with(Fault::Slow { page, pause })
    });
    Misbehaving::start(script)
}

#[test]
fn a_worker_that_is_stopped_past_its_lease_loses_its_job_and_is_fenced() {
    let managed = Managed::on(Postgres::shared().database());
    let repository = slow(100, 300);
    managed.schedule(&repository, &["--once"]);
    let manager = managed.up(&["--workers", "1", "--lease", "3"]);
    let jobs = managed.wait_for_jobs("pages were committed", |jobs| {
        jobs.iter().any(|job| job["done"].as_u64() >= Some(20))
    });

    manager.signal(Signal::STOP);
    let _other = managed.worker(&["--name", "other", "--lease", "3"]);
    let job = managed.wait_for(&jobs[0], "finished");

    assert!(
        job["worker"].as_str().unwrap().starts_with("other"),
        "{job:#}"
    );
    assert_eq!(managed.live().len(), 90);
    manager.signal(Signal::CONT);
    managed.wait_for_jobs("the first says that it was fenced", |_| {
        managed.log_of(&job).contains("was fenced")
    });
    let log = managed.log_of(&job);
    assert!(log.contains("took over from"), "{log}");
    let history = managed.history();
    assert_eq!(history.len(), 1, "{history:#?}");
    assert_eq!(history[0]["state"], "ok");
    assert_eq!(history[0]["counts"]["new"], 90);
    // It goes on with other jobs.
    managed.schedule(&repository, &["--once"]);
    managed.wait_for_jobs("another ran", |jobs| {
        jobs.len() == 2 && jobs.iter().all(|job| job["state"] == "finished")
    });
    manager.stop();
}

#[test]
fn a_process_that_slept_past_its_lease_and_has_its_jobs_from_itself_goes_on() {
    let managed = Managed::new();
    let repositories: Vec<_> = (0..3).map(|_| slow(100, 200)).collect();
    for repository in &repositories {
        managed.schedule(repository, &["--once"]);
    }
    let config = managed.write("garner.toml", "[jobs]\nattempts = 100\nlease_seconds = 2\n");
    let up = managed.up(&["--workers", "6", "--config", config.to_str().unwrap()]);
    managed.wait_for_jobs("all run", |jobs| {
        jobs.iter().filter(|job| job["state"] == "running").count() == 3
    });

    // Either the heartbeat is the first to wake, or a thread that looks for work.
    for _ in 0..3 {
        up.signal(Signal::STOP);
        std::thread::sleep(Duration::from_millis(3500));
        up.signal(Signal::CONT);
        std::thread::sleep(Duration::from_millis(500));
    }

    managed.wait_for_jobs("all are finished", |jobs| {
        jobs.iter().all(|job| job["state"] == "finished")
    });
    assert_eq!(managed.live().len(), 3 * 90);
    let history = managed.history();
    let new = history.iter().map(|entry| entry["counts"]["new"].as_u64());
    assert_eq!(new.sum::<Option<u64>>(), Some(3 * 90), "{history:#?}");
    let whole = history.iter().filter(|entry| entry["state"] == "ok");
    assert_eq!(whole.count(), 3, "{history:#?}");
    // No thread waits for a word that nobody has for it any more.
    let took = up.stop();
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn jobs_are_shared_by_processes_and_each_runs_once() {
    let managed = Managed::on(Postgres::shared().database());
    let repositories: Vec<_> = (0..6).map(|_| slow(20, 200)).collect();
    for repository in &repositories {
        managed.schedule(repository, &["--once"]);
    }
    let _manager = managed.up(&["--workers", "1"]);
    let _first = managed.worker(&["--workers", "2", "--name", "first"]);
    let _second = managed.worker(&["--workers", "2", "--name", "second"]);

    let jobs = managed.wait_for_jobs("all are finished", |jobs| {
        jobs.len() == 6 && jobs.iter().all(|job| job["state"] == "finished")
    });

    let mut workers: Vec<_> = jobs.iter().map(|job| job["worker"].to_string()).collect();
    workers.sort();
    workers.dedup();
    assert!(workers.len() > 1, "{workers:?}");
    assert_eq!(managed.live().len(), 6 * 18);
    assert_eq!(managed.history().len(), 6);
    for repository in &repositories {
        let lists = repository.requests().into_iter();
        let lists = lists.filter(|request| request.contains("ListRecords"));
        assert_eq!(lists.count(), 2);
    }
}

#[test]
fn a_database_that_is_away_for_a_while_costs_no_attempt() {
    let postgres = Postgres::start();
    let managed = Managed::on(postgres.database());
    let repository = slow(100, 200);
    managed.schedule(&repository, &["--once"]);
    // Leases run out meanwhile, and there is a worker that could take the job over.
    let up = managed.up(&["--workers", "2", "--lease", "4"]);
    let _other = managed.worker(&["--lease", "4"]);
    let jobs = managed.wait_for_jobs("pages were committed", |jobs| {
        jobs.iter().any(|job| job["done"].as_u64() >= Some(20))
    });

    postgres.restart(Duration::from_secs(8));

    let job = managed.wait_for(&jobs[0], "finished");
    assert_eq!(job["attempt"], 1);
    assert_eq!(managed.live().len(), 90);
    let history = managed.history();
    assert_eq!(history.len(), 1, "{history:#?}");
    assert_eq!(history[0]["counts"]["new"], 90);
    up.stop();
}

#[test]
fn a_file_that_is_locked_for_a_while_costs_no_attempt() {
    let managed = Managed::new();
    let repository = slow(100, 100);
    managed.schedule(&repository, &["--once"]);
    let up = managed.up(&["--workers", "2", "--lease", "4"]);
    let jobs = managed.wait_for_jobs("pages were committed", |jobs| {
        jobs.iter().any(|job| job["done"].as_u64() >= Some(20))
    });

    // The lease runs out meanwhile, and there is a thread that could take the job over.
    let lock = "import sqlite3, sys, time\n\
        held = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
        held.execute('PRAGMA busy_timeout = 30000')\n\
        held.execute('BEGIN IMMEDIATE')\n\
        time.sleep(10)\n";
    let catalog = managed.data().join("catalog.sqlite");
    let locked = Command::new("python3")
        .args(["-c", lock])
        .arg(catalog)
        .status();
    assert!(locked.unwrap().success());

    let job = managed.wait_for(&jobs[0], "finished");
    assert_eq!(job["attempt"], 1);
    assert_eq!(managed.live().len(), 90);
    assert_eq!(managed.history()[0]["counts"]["new"], 90);
    up.stop();
}

/// Issue 18: after a power cut the database may come up last.
#[test]
fn a_database_that_is_away_at_the_start_is_waited_for() {
    let postgres = Postgres::start();
    let managed = Managed::on(postgres.database());
    let repository = Misbehaving::start(Script::new(30, 10));
    managed.schedule(&repository, &["--once"]);
    postgres.stop();
    let waits = "waiting for the catalog";
    let up = managed.process(&["up", "--no-console", "--allow", "127.0.0.1"], waits);
    let worker = managed.process(&["worker", "--allow", "127.0.0.1"], waits);

    postgres.begin();

    managed.wait_for_jobs("the job is done", |jobs| {
        jobs.iter().any(|job| job["state"] == "finished")
    });
    test_support::wait_until("both are up", || {
        up.log().contains("garner is up") && worker.log().contains("garner works")
    });
    assert_eq!(up.log().matches(waits).count(), 1, "{}", up.log());
    up.stop();
    worker.stop();
}

/// Issue 18.
#[test]
fn a_worker_with_a_data_directory_of_its_own_is_refused() {
    let catalog = Postgres::shared().database();
    let (one, other) = (Managed::on(catalog.clone()), Managed::on(catalog));
    let up = one.up(&[]);

    let refused = other.output(&["worker", "--allow", "127.0.0.1"]);

    assert_eq!(refused.status.code(), Some(1));
    let said = stderr(&refused);
    assert!(said.contains("is not that of the catalog"), "{said}");
    assert!(said.contains(other.data().to_str().unwrap()), "{said}");
    let _worker = one.worker(&[]);
    up.stop();
}
