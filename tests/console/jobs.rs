//! Runs, as an operator sees them: how far they are, why nothing moves, what failed alike, and what came of them.

use std::path::Path;

use test_support::{Fault, Misbehaving, Script};

use super::{Console, account, picture, slow};
use crate::managed::Managed;

#[test]
fn a_running_job_is_stopped_and_tried_again() {
    let (managed, repository) = (Managed::new(), slow(60, 1000));
    account(&managed, "olga", "operator");
    managed.schedule(&repository, &["--once"]);
    let console = Console::start(managed, "");
    let browser = console.browser("olga");

    browser.open(&console.at("/runs"));
    browser.wait("it runs", || browser.count("#rows tbody th a") == 1);
    browser.press_at("#rows tbody th a");
    browser.wait("it tells how far it is", || browser.count("progress") == 1);
    browser.wait("it is logged", || browser.count(".log tbody tr") > 0);
    let lines = browser.count(".log tbody tr");
    browser.picture(&picture("job-running"));
    browser.press("Stop");

    // The next job appears without a reload.
    browser.run("window.kept = true", &[]);
    browser.wait("it is stopped", || {
        browser.text_of(".state .badge") == "cancelled"
    });
    browser.wait("the log tells it", || {
        browser.count(".log tbody tr") > lines
    });
    assert!(!browser.offers("Stop"));
    browser.picture(&picture("job-stopped"));
    assert_eq!(console.managed.jobs()[0]["state"], "cancelled");

    browser.press("Retry");
    browser.wait("it runs again", || {
        browser.text_of(".state .badge") == "running"
    });
    browser.press("Stop");
    browser.wait("it is stopped again", || {
        browser.text_of(".state .badge") == "cancelled"
    });
    browser.open(&console.at("/runs"));
    browser.press("All");
    browser.wait_for("cancelled");
    browser.open(&console.at("/runs/all?state=failed"));
    browser.wait_for("No runs match these filters.");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_person_sees_why_nothing_moves() {
    let (managed, repository) = (Managed::new(), Misbehaving::start(Script::new(30, 10)));
    account(&managed, "olga", "operator");
    managed.schedule(&repository, &["--once"]);
    managed.schedule(&repository, &["--once", "--set", "even"]);
    repository.change(|script| {
        script.faults = vec![Fault::Status {
            page: 1,
            status: 503,
            retry_after: None,
            times: u32::MAX,
        }];
    });
    let console = Console::start(managed, "");
    let browser = console.browser("olga");

    browser.open(&console.at("/runs"));
    browser.wait_for("The server answers 503");
    browser.picture(&picture("runs-active"));
    browser.press_at("#rows tbody th a");
    browser.wait_for("Next attempt in");
    browser.wait_for("attempt 2 of 6 in");
    browser.picture(&picture("run-refused"));
    browser.press("Warnings and errors");
    browser.wait("only warnings are shown", || {
        browser.count(".log tbody tr") == browser.count(".log tbody tr.line-warning")
    });

    browser.open(&console.at("/runs/queued"));
    browser.wait_for("the repository is being harvested");
    browser.picture(&picture("runs-queued"));
    browser.set_width(390);
    browser.picture(&picture("runs-queued-phone"));
    browser.set_width(0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn failures_of_one_cause_are_retried_together() {
    let managed = Managed::new();
    account(&managed, "olga", "operator");
    let repositories = [1, 2].map(|_| Misbehaving::start(Script::new(30, 10)));
    for repository in &repositories {
        managed.schedule(repository, &["--once"]);
        repository.change(|script| script.faults = vec![Fault::VerbStatus("ListRecords", 500)]);
    }
    let console = Console::start(managed, "[jobs]\nattempts = 1\n[network]\nattempts = 1\n");
    console.managed.wait_for_jobs("both failed", |jobs| {
        jobs.iter().filter(|job| job["state"] == "failed").count() == 2
    });
    let browser = console.browser("olga");

    browser.open(&console.at("/runs/failed"));
    browser.wait_for("2 runs");
    assert_eq!(browser.count(".causes > li"), 1);
    browser.picture(&picture("runs-failed"));
    for repository in &repositories {
        repository.change(|script| script.faults.clear());
    }
    browser.press("Retry all 2");
    browser.wait_for("2 runs are in the queue again.");
    browser.wait_for("No unresolved failures in the last 7 days");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn what_a_command_imported_is_a_run_with_its_funnel() {
    let managed = Managed::new();
    account(&managed, "vic", "viewer");
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
    managed.garner(&["import", crawl.to_str().unwrap(), "--quiet"]);
    let runs = managed.lines(&["run", "list"]);
    let console = Console::start(managed, "");
    let browser = console.browser("vic");

    browser.open(&console.at("/imports"));
    browser.wait("it is listed", || browser.count("#rows tbody th a") == 1);
    browser.picture(&picture("imports"));
    browser.press_at("#rows tbody th a");
    browser.wait_for("Outcome");
    let all = runs[0]["counts"][0]["count"].as_u64().unwrap();
    let funnel = browser.text_of(".funnel");
    assert!(funnel.contains(&format!("{all} capture")), "{funnel}");
    assert!(browser.text().contains("a command:"), "{}", browser.text());
    browser.picture(&picture("run-import"));
    browser.set_width(390);
    browser.picture(&picture("run-import-phone"));
    browser.set_width(0);
    // Captures of other types are behind their count as well.
    browser.press_at(".funnel li:nth-child(2) a");
    browser.wait_for("Only those of one count");
    let other_types = runs[0]["counts"][1]["count"].as_u64().unwrap();
    assert_eq!(runs[0]["counts"][1]["code"], "other_types");
    assert_eq!(browser.count("#problems ~ .scroll tbody tr"), other_types);
    browser.picture(&picture("run-import-other-types"));
    browser.press_at(".funnel li:last-child a");
    browser.wait("its documents are shown", || browser.path() == "/documents");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
