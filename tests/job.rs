//! Jobs: shown, cancelled, tried again; hooks after them; quiet times.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use test_support::{Fault, Misbehaving, Script, wait_until};

use crate::command_line::{stderr, stdout};
use crate::managed::{Managed, Process};

/// A repository that is silent for a minute after its first page.
fn silent() -> Misbehaving {
    let silence = Fault::Slow {
        page: 1,
        pause: 60_000,
    };
    Misbehaving::start(Script::new(30, 10).with(silence))
}

#[test]
fn a_running_harvest_is_cancelled_within_seconds_and_keeps_what_it_has() {
    let (managed, repository) = (Managed::new(), silent());
    managed.schedule(&repository, &["--every", "1 day"]);
    let _up = managed.up(&[]);
    let jobs = managed.wait_for_jobs("a page was committed", |jobs| {
        jobs.iter().any(|job| job["done"] == 10)
    });

    let began = Instant::now();
    let cancelled = managed.json(&["job", "cancel", &jobs[0]["id"].to_string()]);

    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(cancelled["state"], "cancelled");
    assert_eq!(managed.live().len(), 9);
    let entry = &managed.history()[0];
    assert_eq!(entry["state"], "cancelled");
    assert!(
        entry["failure_reason"]
            .as_str()
            .unwrap()
            .starts_with("cancelled")
    );
    let log = managed.log_of(&jobs[0]);
    assert!(log.contains("cancelled by (command line"), "{log}");
    assert!(log.ends_with("cancelled\n"), "{log}");
    managed.wait_for_jobs("the next is planned", |jobs| {
        jobs.iter().any(|job| job["state"] == "scheduled")
    });
}

#[test]
fn a_waiting_job_is_withdrawn_and_the_run_after_it_comes() {
    let (managed, repository) = (Managed::new(), silent());
    let number = managed.schedule(&repository, &["--cron", "0 3 * * *"]);
    let _up = managed.up(&[]);
    let jobs = managed.wait_for_jobs("it waits", |jobs| jobs.len() == 1);
    let due = jobs[0]["run_at"].clone();

    let withdrawn = managed.json(&["job", "cancel", &jobs[0]["id"].to_string()]);

    assert_eq!(withdrawn["state"], "cancelled");
    managed.wait_for_jobs("the next waits", |jobs| {
        jobs.iter()
            .any(|job| job["state"] == "scheduled" && job["run_at"].as_str() > due.as_str())
    });
    let schedule = managed.json(&["schedule", "show", &number]);
    assert_eq!(schedule["state"], "recurring");
    assert!(managed.history().is_empty());
}

#[test]
fn a_job_that_fails_is_tried_again_and_then_failed_with_its_reason() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    managed.schedule(&repository, &["--once"]);
    repository.change(|script| {
        script.faults = vec![Fault::WebPage {
            page: 0,
            times: 9999,
        }];
    });
    let config = "[jobs]\nattempts = 3\nretry_seconds = 1\n[network]\nattempts = 1\n";
    let config = managed.write("garner.toml", config);
    let _up = managed.up(&["--config", config.to_str().unwrap()]);

    let jobs = managed.wait_for_jobs("it failed", |jobs| {
        jobs.first().is_some_and(|job| job["state"] == "failed")
    });

    let job = &jobs[0];
    assert_eq!(job["attempt"], 3);
    let reason = job["error"].as_str().unwrap();
    assert!(
        reason.contains("web page") || reason.contains("HTML"),
        "{reason}"
    );
    let log = managed.log_of(job);
    assert!(log.contains("next attempt in 1 s"), "{log}");
    assert!(log.contains("next attempt in 2 s"), "{log}");
    assert!(log.contains("attempt 3 of 3"), "{log}");

    repository.change(|script| script.faults.clear());
    let number = job["id"].to_string();
    let again = managed.json(&["job", "retry", &number]);
    assert_eq!(again["state"], "scheduled");
    let followed = managed.output(&["job", "show", &number, "--follow"]);
    assert!(followed.status.success(), "{}", stderr(&followed));
    assert!(
        stdout(&followed).ends_with("finished\n"),
        "{}",
        stdout(&followed)
    );
    assert_eq!(managed.live().len(), 27);
    let refused = managed.output(&["job", "retry", &number]);
    assert!(
        stderr(&refused).contains("finished"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn a_format_that_the_repository_does_not_have_is_refused_before_there_is_a_job() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    let url = repository.base_url();

    let refused = managed.output(&["schedule", "add", &url, "--once", "--prefix", "marc21"]);

    assert_eq!(refused.status.code(), Some(1));
    let reason = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(reason.contains("has no format `marc21`"), "{reason}");
    assert!(managed.lines(&["schedule", "list"]).is_empty());
}

#[test]
fn while_a_repository_is_kept_quiet_its_harvests_wait() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    let number = managed.schedule(&repository, &["--cron", "0 3 * * *"]);
    let _up = managed.up(&[]);
    let url = repository.base_url();
    let mut quiet = Process::start(
        managed.command(&[
            "with-quiet",
            &url,
            "--",
            "sh",
            "-c",
            "echo begun >&2; sleep 60",
        ]),
        "begun",
    );

    managed.garner(&["schedule", "run", &number]);

    // Somebody who harvests by hand is told, and the schedule waits.
    let by_hand = managed.output(&["harvest", &url]);
    assert!(
        stderr(&by_hand).contains("kept quiet"),
        "{}",
        stderr(&by_hand)
    );
    std::thread::sleep(Duration::from_secs(2));
    assert!(managed.history().is_empty());
    quiet.signal(Signal::TERM);
    assert_eq!(quiet.wait().code(), Some(128 + 15));
    managed.wait_for_jobs("it ran", |jobs| {
        jobs.iter()
            .any(|job| job["kind"] == "harvest" && job["state"] == "finished")
    });
}

#[test]
fn a_quiet_time_waits_for_a_harvest_and_passes_the_exit_code_on() {
    let (managed, repository) = (Managed::new(), silent());
    managed.schedule(&repository, &["--once"]);
    let up = managed.up(&[]);
    managed.wait_for_jobs("it runs", |jobs| {
        jobs.iter().any(|job| job["state"] == "running")
    });
    let url = repository.base_url();

    let refused = managed.output(&["with-quiet", &url, "--wait", "1", "--", "true"]);

    assert_eq!(refused.status.code(), Some(125));
    assert!(
        stderr(&refused).contains("being harvested"),
        "{}",
        stderr(&refused)
    );
    up.stop();
    let passed_on = managed.output(&["with-quiet", &url, "--", "sh", "-c", "exit 7"]);
    assert_eq!(passed_on.status.code(), Some(7));
    let missing = managed.output(&["with-quiet", &url, "--", "/no/such/program"]);
    assert_eq!(missing.status.code(), Some(125));
    let jobs = managed.jobs();
    let quiet = jobs.iter().filter(|job| job["kind"] == "quiet");
    assert!(
        quiet.clone().all(|job| job["state"] != "running"),
        "{jobs:#?}"
    );
    assert_eq!(quiet.count(), 2);
}

#[test]
fn a_quiet_time_that_is_killed_is_over() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    let number = managed.schedule(&repository, &["--cron", "0 3 * * *"]);
    let command = [
        "with-quiet",
        "1",
        "--",
        "sh",
        "-c",
        "echo begun >&2; sleep 3",
    ];
    let quiet = Process::start(managed.command(&command), "begun");
    quiet.kill();
    let _up = managed.up(&[]);

    managed.garner(&["schedule", "run", &number]);

    managed.wait_for_jobs("it ran", |jobs| {
        jobs.iter()
            .any(|job| job["kind"] == "harvest" && job["state"] == "finished")
    });
}

#[test]
fn hooks_are_told_once_what_a_harvest_did() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    let told = managed.beside("told");
    let config = format!(
        "[[hook]]\nname = 'index'\non = ['finished']\n\
         command = ['sh', '-c', 'cat >> \"$1\"; echo \" $GARNER_STATE $GARNER_NEW\" >> \"$1\"', 'sh', '{}']\n\
         [[hook]]\nname = 'alarm'\non = ['failed']\ncommand = ['false']\n",
        told.display()
    );
    let config = managed.write("garner.toml", &config);
    managed.schedule(&repository, &["--once"]);
    let _up = managed.up(&["--config", config.to_str().unwrap()]);

    managed.wait_for_jobs("the hook ran", |jobs| {
        jobs.iter()
            .any(|job| job["kind"] == "hook" && job["state"] == "finished")
    });

    wait_until("it was told", || told.exists());
    let told = std::fs::read_to_string(told).unwrap();
    let mut lines = told.lines();
    let facts: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(facts["base_url"], repository.base_url());
    assert_eq!(facts["state"], "finished");
    assert_eq!(facts["deleted"], 3);
    assert_eq!(lines.collect::<Vec<_>>(), [" finished 27"]);
    assert_eq!(managed.jobs().len(), 2);
}

#[test]
fn a_hook_does_not_outlive_a_garner_that_is_killed() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(3, 10));
    let told = managed.beside("told");
    let config = format!(
        "[[hook]]\nname = 'index'\n\
         command = ['sh', '-c', 'echo $$ > \"$1\"; exec sleep 300', 'sh', '{}']\n",
        told.display()
    );
    let config = managed.write("garner.toml", &config);
    managed.schedule(&repository, &["--once"]);
    let up = managed.up(&["--config", config.to_str().unwrap()]);
    let process = || std::fs::read_to_string(&told).unwrap_or_default();
    let sleeps = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", process().trim()));
        status.is_ok_and(|status| {
            status.starts_with("Name:\tsleep\n") && !status.contains("State:\tZ")
        })
    };
    wait_until("the hook runs", || process().ends_with('\n') && sleeps());

    up.kill();

    wait_until("the hook is gone", || !sleeps());
}

#[test]
fn a_job_says_why_nothing_moves() {
    let (managed, repository) = (Managed::new(), Misbehaving::start(Script::new(30, 10)));
    repository.change(|script| {
        script.faults = vec![Fault::Status {
            page: 1,
            status: 503,
            retry_after: None,
            times: u32::MAX,
        }];
    });
    managed.schedule(&repository, &["--every", "1 day"]);
    let _up = managed.up(&[]);

    let jobs = managed.wait_for_jobs("it waits for the next attempt", |jobs| {
        jobs.iter().any(|job| job["why"]["code"] == "waiting")
    });
    let waiting = &jobs[0];
    let text = waiting["why"]["text"].as_str().unwrap();
    assert!(text.starts_with("The server answers 503"), "{text}");
    assert!(text.contains("Next attempt in"), "{text}");
    let request = waiting["activity"]["request"].as_str().unwrap();
    assert!(request.contains("resumptionToken="), "{request}");

    managed.schedule(&repository, &["--once", "--set", "even"]);
    let jobs = managed.wait_for_jobs("the other waits for the first", |jobs| {
        jobs.iter()
            .any(|job| job["why"]["code"] == "repository_busy")
    });
    let held = jobs.iter().find(|job| job["state"] == "scheduled").unwrap();
    assert_eq!(held["why"]["jobs"][0], waiting["id"]);
    let shown = managed.garner(&["job", "show", &held["id"].to_string()]);
    let reason = format!(
        "Waiting for run {}: the repository is being harvested",
        waiting["id"]
    );
    assert!(shown.contains(&reason), "{shown}");
    let log = managed.lines(&["job", "log", &waiting["id"].to_string()]);
    let is_told = |line: &Value| {
        let message = line["message"].as_str().unwrap();
        line["level"] == "warning" && message.starts_with("attempt 2 of 6 in")
    };
    assert!(log.iter().any(is_told), "{log:#?}");
}

#[test]
fn a_job_that_nobody_can_run_says_so() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(3, 10));
    managed.garner(&["harvest", &repository.base_url(), "--quiet"]);
    let job = managed.json(&["classify", "--collection", "--queue"]);
    let shown = managed.garner(&["job", "show", &job["id"].to_string()]);
    assert!(
        shown.contains("No worker is alive that runs classifications"),
        "{shown}"
    );
}

#[test]
fn a_harvest_whose_first_page_never_comes_fails_after_the_attempts_at_one_request() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    managed.schedule(&repository, &["--once"]);
    repository.change(|script| script.faults = vec![Fault::VerbStatus("ListRecords", 503)]);
    let config = "[jobs]\nattempts = 1\n[network]\nattempts = 2\n";
    let config = managed.write("garner.toml", config);
    let _up = managed.up(&["--config", config.to_str().unwrap()]);

    let jobs = managed.wait_for_jobs("it failed", |jobs| {
        jobs.first().is_some_and(|job| job["state"] == "failed")
    });

    let asked = repository.requests();
    let lists = asked.iter().filter(|asked| asked.contains("ListRecords"));
    assert_eq!(lists.count(), 2, "{asked:?}");
    let log = managed.log_of(&jobs[0]);
    assert!(
        log.contains("the first page of the list never came"),
        "{log}"
    );

    managed.schedule(&repository, &["--once", "--first-page-parts", "3"]);
    managed.wait_for_jobs("the other failed too", |jobs| {
        jobs.iter().filter(|job| job["state"] == "failed").count() == 2
    });
    let narrowed = repository.requests().len() - asked.len();
    assert!(narrowed > 6, "{:?}", repository.requests());
}
