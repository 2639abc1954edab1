//! Schedules: added, listed, edited, paused and removed; and how they become harvests.

use serde_json::Value;
use test_support::{Fault, Fixture, Misbehaving, Script, files_below, free_port, wait_until};

use crate::command_line::stderr;
use crate::garner;
use crate::managed::Managed;

const FILTERS: &str = "<filters match='any'>\
    <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>\
    <filter invert='false' xpath='//dc:title' regexp='Record [0-9]*[02468]:' ignoreCase='true'/></filters>";

fn repository() -> Misbehaving {
    Misbehaving::start(Script::new(30, 10))
}

fn is_over(job: &Value) -> bool {
    ["finished", "failed", "cancelled"].contains(&job["state"].as_str().unwrap())
}

#[test]
fn a_schedule_is_added_listed_edited_paused_and_removed() {
    let (managed, repository) = (Managed::new(), repository());

    let number = managed.schedule(
        &repository,
        &["--cron", "0 3 * * *", "--set", "even", "--name", "nightly"],
    );

    let added = managed.json(&["schedule", "show", &number]);
    assert_eq!(added["state"], "new");
    assert_eq!(added["described"], "every day at 03:00 UTC");
    assert_eq!(added["set"], "even");
    assert_eq!(added["metadata_prefix"], "oai_dc");
    assert_eq!(managed.lines(&["repository", "list"]).len(), 1);
    let edited = managed.json(&[
        "schedule",
        "edit",
        &number,
        "--every",
        "2 weeks",
        "--set",
        "",
        "--full",
        "--ends",
        "2099-01-01",
    ]);
    assert_eq!(edited["frequency"], "every 2 weeks");
    assert_eq!(edited["set"], Value::Null);
    assert_eq!(edited["parameters"]["full"], true);
    assert_eq!(edited["ends"], "2099-01-01T00:00:00Z");
    assert_eq!(edited["name"], "nightly");
    let paused = managed.json(&["schedule", "pause", &number]);
    assert_eq!(paused["state"], "paused");
    let listed = managed.lines(&["schedule", "list", "--state", "paused"]);
    assert_eq!(listed.len(), 1);
    let resumed = managed.json(&["schedule", "resume", &number]);
    assert_eq!(resumed["state"], "new");
    let text = managed.garner(&["schedule", "list"]);
    assert!(
        text.contains("every 2 weeks") && text.contains("nightly"),
        "{text}"
    );
    managed.garner(&["schedule", "remove", &number]);
    assert!(managed.lines(&["schedule", "list"]).is_empty());
}

#[test]
fn what_could_never_run_is_refused_before_anybody_is_asked() {
    let managed = Managed::new();
    for (options, said) in [
        (&["--cron", "0 0 30 2 *"][..], "never comes true"),
        (&["--cron", "every day"], "is not a cron expression"),
        (&["--every", "0 minutes"], "from 1 to"),
        (&["--every", "fortnight"], "is not an interval"),
        (&["--every", "day", "--from", "monday"], "is not a date"),
        (&["--every", "day", "--starts", "soon"], "is not a date"),
        (
            &["--every", "day", "--unpack", "/etc"],
            "below the data directory",
        ),
        (
            &[
                "--every",
                "day",
                "--starts",
                "2030-01-01",
                "--ends",
                "2029-01-01",
            ],
            "before the start",
        ),
        (&[], "how often"),
    ] {
        // Nobody answers there, and nobody has to.
        let arguments = [&["schedule", "add", "http://127.0.0.1:9/oai"], options].concat();
        let output = managed.output(&arguments);
        // A value that cannot be read is a mistake in the flags themselves.
        let code = if options.contains(&"soon") { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{options:?}");
        assert!(
            stderr(&output).contains(said),
            "{options:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_schedule_runs_by_itself_and_again() {
    let (managed, repository) = (Managed::new(), repository());
    let number = managed.schedule(&repository, &["--every", "1 hour"]);
    let up = managed.up(&[]);

    let jobs = managed.wait_for_jobs("the first is over and the next waits", |jobs| {
        jobs.len() == 2 && jobs.iter().filter(|job| is_over(job)).count() == 1
    });

    assert_eq!(managed.live().len(), 27);
    let first = jobs.iter().find(|job| is_over(job)).unwrap();
    assert_eq!(first["state"], "finished");
    let schedule = managed.json(&["schedule", "show", &number]);
    assert_eq!(schedule["state"], "recurring");
    assert!(schedule["next_run"].is_string());
    let history = managed.history();
    assert_eq!(history.len(), 1);
    assert_eq!(history[0]["state"], "ok");

    managed.garner(&["schedule", "run", &number]);
    managed.wait_for_jobs("it ran once more", |jobs| {
        jobs.iter().filter(|job| job["state"] == "finished").count() == 2
    });
    assert_eq!(managed.history().len(), 2);
    up.stop();
}

#[test]
fn once_is_once_and_at_its_time() {
    let (managed, repository) = (Managed::new(), repository());
    let now = managed.schedule(&repository, &["--once"]);
    let later = managed.schedule(&repository, &["--once", "--at", "2099-01-01"]);
    let _up = managed.up(&[]);

    managed.wait_for_jobs("one is over and one waits", |jobs| {
        jobs.len() == 2
            && jobs.iter().any(|job| job["state"] == "finished")
            && jobs
                .iter()
                .any(|job| job["run_at"] == "2099-01-01T00:00:00Z")
    });

    assert_eq!(managed.json(&["schedule", "show", &now])["state"], "ended");
    assert_eq!(managed.json(&["schedule", "show", &later])["state"], "once");
    let renamed = managed.json(&["schedule", "edit", &now, "--name", "done"]);
    assert_eq!(renamed["state"], "new");
    managed.wait_for_jobs("it ended again without a run", |_| {
        managed.json(&["schedule", "show", &now])["state"] == "ended"
    });
    assert_eq!(managed.history().len(), 1);
}

#[test]
fn what_was_missed_runs_once() {
    let (managed, repository) = (Managed::new(), repository());
    let number = managed.schedule(&repository, &["--every", "1 minute"]);
    let up = managed.up(&[]);
    managed.wait_for_jobs("the next waits", |jobs| {
        jobs.iter().any(is_over) && jobs.iter().any(|job| job["state"] == "scheduled")
    });
    up.stop();
    // As if all machines had been off for an hour.
    managed.set_due(&number, -3600);

    let _up = managed.up(&[]);
    let jobs = managed.wait_for_jobs("it ran and the next waits", |jobs| {
        jobs.iter().filter(|job| is_over(job)).count() == 2
            && jobs.iter().any(|job| job["state"] == "scheduled")
    });

    assert_eq!(jobs.len(), 3, "{jobs:#?}");
    assert_eq!(managed.history().len(), 2);
    assert_eq!(
        managed.json(&["schedule", "show", &number])["state"],
        "recurring"
    );
}

#[test]
fn what_waits_for_a_time_far_ahead_is_brought_forward_when_the_clock_was_set_back() {
    let (managed, repository) = (Managed::new(), repository());
    let number = managed.schedule(&repository, &["--every", "1 hour"]);
    let up = managed.up(&[]);
    managed.wait_for_jobs("the next waits", |jobs| {
        jobs.iter().any(is_over) && jobs.iter().any(|job| job["state"] == "scheduled")
    });
    up.stop();
    // As if it had been planned while the clock was ten days ahead.
    let catalog = rusqlite::Connection::open(managed.data().join("catalog.sqlite")).unwrap();
    let ahead = "UPDATE job SET run_at = run_at + 864000 WHERE state = 'scheduled'";
    assert_eq!(catalog.execute(ahead, []).unwrap(), 1);
    drop(catalog);
    let holdings = managed.holdings();
    let waits = || {
        let catalog = holdings.catalog();
        let schedule = holdings.wait(catalog.schedule(number.parse().unwrap()));
        let now = holdings.wait(catalog.now()).unwrap();
        schedule.unwrap().unwrap().next_run.unwrap() - now
    };
    assert!(waits() > 9 * 86_400);

    let up = managed.up(&[]);

    wait_until("it is planned anew", || waits() <= 3600);
    assert!(up.log().contains("the clock of the database was set back"));
    assert_eq!(managed.history().len(), 1);
}

#[test]
fn a_filter_file_is_kept_in_the_catalog_and_obeyed() {
    let (managed, repository) = (Managed::new(), repository());
    let file = managed.write("no-threes.xml", FILTERS);
    let file = file.to_str().unwrap();
    let number = managed.schedule(&repository, &["--once", "--filter", file]);
    let again = managed.schedule(&repository, &["--once", "--filter", file, "--paused"]);
    // It is read when the schedule is made.
    std::fs::remove_file(file).unwrap();
    let _up = managed.up(&[]);

    managed.wait_for_jobs("it ran", |jobs| {
        jobs.iter().any(|job| job["state"] == "finished")
    });

    assert!(managed.live().len() < 27, "{:?}", managed.live());
    assert!(managed.history()[0]["counts"]["filtered"].as_u64() > Some(0));
    let rules =
        |number: &str| managed.json(&["schedule", "show", number])["parameters"]["filter"].clone();
    assert_eq!(rules(&number), rules(&again));
    let output = managed.output(&["schedule", "edit", &number, "--filter", "7"]);
    assert!(stderr(&output).contains("no filter"), "{}", stderr(&output));
    let broken = managed.write("broken.xml", "<filters");
    let output = managed.output(&[
        "schedule",
        "edit",
        &number,
        "--filter",
        broken.to_str().unwrap(),
    ]);
    assert!(
        stderr(&output).contains("broken.xml"),
        "{}",
        stderr(&output)
    );
}

/// Issue 18: the schedule forgot its credentials, and later harvests asked for what was new only.
#[test]
fn a_schedule_keeps_its_credentials_and_nobody_sees_them() {
    const SECRET: &str = "open-sesame-417";
    let fixture = Fixture::empty();
    fixture.write("index.html", "<p>for all</p>");
    fixture.write("docs/inside.html", "<p>for some</p>");
    fixture.write_beside("passwords", "me:{SHA}/IrW9mmnEYexegzNgrDYRWhf7dc=\n");
    let config = format!(
        "[[area]]\npath = \"/docs\"\nhtpasswd = \"{}\"\n",
        fixture.beside("passwords").display()
    );
    let server = garner().serve_on(&fixture, &config, free_port());
    let (managed, base_url) = (Managed::new(), server.url("modoai"));
    managed.garner(&["harvest", &base_url]);
    let strangers = managed.live().len();
    let file = managed.write("credentials", &format!("me:{SECRET}\n"));

    let options = ["--once", "--credentials", file.to_str().unwrap()];
    let added = managed.json(&[&["schedule", "add", &base_url], &options[..]].concat());

    std::fs::remove_file(file).unwrap();
    let up = managed.up(&[]);
    let jobs = managed.wait_for_jobs("it has run", |jobs| jobs.iter().any(is_over));
    assert_eq!(jobs[0]["state"], "finished", "{}", managed.log_of(&jobs[0]));
    assert!(
        managed.live().len() > strangers,
        "what was hidden before is asked for too: {:?}",
        managed.history()
    );
    up.stop();
    let number = added["id"].to_string();
    for arguments in [
        &["schedule", "show", &number][..],
        &["schedule", "list", "--json"],
        &["schedule", "show", &number, "--json"],
        &["job", "list", "--all", "--json"],
        &["job", "show", &jobs[0]["id"].to_string(), "--json"],
        &["history", "--json"],
    ] {
        assert!(!managed.garner(arguments).contains(SECRET), "{arguments:?}");
    }
    let holders = |data: &std::path::Path| {
        let mut files = files_below(data);
        files.retain(|name| {
            let name = String::from_utf8_lossy(name).into_owned();
            let bytes = std::fs::read(data.join(name)).unwrap();
            bytes
                .windows(SECRET.len())
                .any(|part| part == SECRET.as_bytes())
        });
        files
    };
    let holding = holders(&managed.data());
    assert_eq!(holding.len(), 1, "{holding:?}");
    assert!(holding[0].starts_with(b"secrets/"));

    managed.garner(&["schedule", "remove", &number]);
    assert!(holders(&managed.data()).is_empty());
}

/// Issue 18.
#[test]
fn a_schedule_asks_as_it_was_told() {
    let (managed, repository) = (Managed::new(), repository());
    let base_url = "http://repository.invalid/oai";
    let proxy = repository.base_url().replace("/oai", "");
    let options = [
        "--once",
        "--proxy",
        &proxy,
        "--contact",
        "me@example.org",
        "--interval",
        "0.01",
    ];
    let added = managed.json(&[&["schedule", "add", base_url], &options[..]].concat());
    assert_eq!(added["parameters"]["interval_ms"], 10);
    let asked = repository.heads().len();
    let up = managed.up(&[]);

    let jobs = managed.wait_for_jobs("it has run", |jobs| jobs.iter().any(is_over));

    assert_eq!(jobs[0]["state"], "finished", "{}", managed.log_of(&jobs[0]));
    assert_eq!(managed.live().len(), 27);
    let heads = repository.heads().split_off(asked);
    let from = "from: me@example.org";
    assert!(
        heads
            .iter()
            .all(|head| head.to_ascii_lowercase().contains(from))
    );
    up.stop();
    // A removed setting is gone, and the others stay.
    let number = added["id"].to_string();
    let edited = managed.json(&["schedule", "edit", &number, "--proxy", ""]);
    assert_eq!(edited["parameters"]["access"], Value::Null);
    assert_eq!(edited["parameters"]["contact"], "me@example.org");
    let output = managed.output(&[
        "schedule",
        "edit",
        &number,
        "--proxy",
        "//u:hush@p",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!stderr(&output).contains("hush"), "{}", stderr(&output));
}

/// Issue 18: a worker was held for as long as the server liked.
#[test]
fn a_server_that_asks_for_hours_does_not_hold_a_worker() {
    let managed = Managed::new();
    let busy = Fault::Status {
        page: 1,
        status: 503,
        retry_after: Some("7200".to_owned()),
        times: u32::MAX,
    };
    let repository = Misbehaving::start(Script::new(30, 10).with(busy));
    let number = managed.schedule(&repository, &["--once"]);
    let _up = managed.up(&[]);

    let jobs = managed.wait_for_jobs("it is put off", |jobs| {
        jobs.iter()
            .any(|job| job["state"] == "scheduled" && !managed.history().is_empty())
    });

    // The line is written once the job is in the queue again.
    wait_until("the log says so", || {
        let log = managed.log_of(&jobs[0]);
        log.contains("asks to wait 2 h (Retry-After)")
            && log.contains("put back into the queue for 7200 s")
    });
    repository.change(|script| script.faults.clear());
    managed.set_due(&number, 0);
    managed.wait_for(&jobs[0], "finished");
    assert_eq!(managed.live().len(), 27);
    assert_eq!(managed.history().len(), 1, "it went on where it was");
}

/// Issue 18.
#[test]
fn several_sets_are_a_schedule_each() {
    let (managed, repository) = (Managed::new(), repository());
    let base_url = repository.base_url();
    let sets = ["--set", "even", "--set", "odd", "--set", "even"];
    let arguments = [&["schedule", "add", &base_url, "--once"], &sets[..]].concat();

    let added = managed.lines(&arguments);

    let sets: Vec<_> = added.iter().map(|schedule| &schedule["set"]).collect();
    assert_eq!(sets, ["even", "odd"]);
    assert_eq!(managed.lines(&["schedule", "list"]).len(), 2);
    let number = added[0]["id"].to_string();
    let edited = managed.output(&["schedule", "edit", &number, "--set", "a", "--set", "b"]);
    assert_eq!(edited.status.code(), Some(1));
    assert!(stderr(&edited).contains("one set"), "{}", stderr(&edited));
}
