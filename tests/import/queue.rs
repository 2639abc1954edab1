//! Imports as jobs: done by workers, stopped, taken over.

use serde_json::Value;
use test_support::wait_until;

use super::crawl::{Warc, date, many, pdf};
use super::papers::{printed, sample};
use crate::managed::Managed;

/// A data directory with a crawl beside it.
fn managed(papers: usize) -> Managed {
    let managed = Managed::new();
    std::fs::create_dir(managed.beside("in")).unwrap();
    std::fs::write(managed.beside("in/a.warc.gz"), many(papers).bytes).unwrap();
    managed
}

fn documents(managed: &Managed) -> Vec<Value> {
    let here = managed.beside("").to_str().unwrap().to_owned();
    let mut documents = managed.lines(&["documents", "list"]);
    for document in &mut documents {
        // Numbers depend on how captures are grouped.
        for name in ["id", "import", "content", "parent", "file", "path"] {
            document[name] = Value::Null;
        }
        let source = document["source"].as_str().unwrap();
        document["source"] = source.replace(&here, "").into();
    }
    documents.sort_by_key(|document| document["url"].to_string());
    documents
}

#[test]
fn a_worker_does_what_is_in_the_queue() {
    let managed = managed(50);
    managed.garner(&["import", "in", "--queue", "--types", "application/pdf"]);

    let worker = managed.worker(&[]);
    let job = managed.wait_for(&managed.jobs()[0].clone(), "finished");

    assert_eq!(job["kind"], "import");
    let log = managed.log_of(&job);
    assert!(log.contains("50 new documents"), "{log}");
    assert_eq!(documents(&managed).len(), 50);
    worker.stop();
}

#[test]
fn a_worker_that_is_killed_is_taken_over_from() {
    let managed = managed(1500);
    managed.garner(&["import", "in", "--queue"]);
    let first = managed.worker(&["--lease", "2"]);
    // It may be through before anybody looks.
    managed.wait_for_jobs("it began", |jobs| jobs[0]["state"] != "scheduled");
    std::thread::sleep(std::time::Duration::from_millis(300));
    first.kill();

    let second = managed.worker(&["--lease", "2"]);
    managed.wait_for(&managed.jobs()[0].clone(), "finished");
    second.stop();

    let undisturbed = self::managed(1500);
    undisturbed.garner(&["import", "in", "--quiet"]);
    assert_eq!(documents(&managed), documents(&undisturbed));
    managed.garner(&["verify"]);
}

#[test]
fn a_cancelled_import_ends_and_keeps_what_it_has() {
    let managed = Managed::new();
    std::fs::create_dir(managed.beside("in")).unwrap();
    for archive in 0..64 {
        let mut warc = Warc::default();
        for number in archive * 4..archive * 4 + 4 {
            let url = format!("http://a.example/{number}.pdf");
            warc.response(&url, &date(number), "application/pdf", &pdf(number));
        }
        let name = format!("in/{archive}.warc.gz");
        std::fs::write(managed.beside(&name), warc.bytes).unwrap();
    }
    // Programs are started for the text of each, so that most is left to do when somebody has come to cancel it.
    let import = ["import", "in", "--text"];
    managed.garner(&[&import[..], &["--queue"]].concat());
    let worker = managed.worker(&[]);
    let first = managed.data().join("documents/000");
    wait_until("the first documents are there", || first.exists());
    let job = managed.jobs()[0]["id"].to_string();
    managed.garner(&["job", "cancel", &job]);

    let over = managed.wait_for_jobs("it is over", |jobs| jobs[0]["state"] != "running");
    worker.stop();

    assert_eq!(over[0]["state"], "cancelled", "{over:#?}");
    let before = documents(&managed).len();
    assert!(before < 256, "{before}");
    managed.garner(&["verify"]);
    managed.garner(&[&import[..], &["--quiet"]].concat());
    assert_eq!(documents(&managed).len(), 256);
    assert_eq!(managed.lines(&["history", "--imports"]).len(), 1);
}

#[test]
fn a_worker_filters_and_judges_again() {
    let managed = Managed::new();
    std::fs::create_dir(managed.beside("in")).unwrap();
    let texts = ["paper.txt", "manual.txt", "form.txt"].map(sample);
    for (number, text) in texts.iter().enumerate() {
        let file = managed.beside(&format!("in/{number}.pdf"));
        std::fs::write(file, printed(text, number)).unwrap();
    }
    let url = "http://a.example/";
    managed.garner(&[
        "import",
        "in",
        "--base-url",
        url,
        "--queue",
        "--content-filter",
        "on",
    ]);
    let worker = managed.worker(&[]);
    managed.wait_for(&managed.jobs()[0].clone(), "finished");

    let documents = managed.lines(&["documents", "list"]);
    managed.garner(&["classify", "--collection", "--kinds", "manual", "--queue"]);
    let jobs = managed.wait_for_jobs("it is judged again", |jobs| {
        jobs.len() == 2 && jobs.iter().all(|job| job["state"] == "finished")
    });
    worker.stop();

    assert_eq!(documents.len(), 1);
    assert_eq!(documents[0]["judgement"]["decision"], "accept");
    let again = jobs.iter().find(|job| job["kind"] == "classify").unwrap();
    let log = managed.log_of(again);
    assert!(
        log.contains("1 documents, 0 judged, 1 decided on otherwise"),
        "{log}"
    );
    assert_eq!(
        managed.lines(&["documents", "list"])[0]["state"],
        "set_aside"
    );
}

#[test]
fn an_import_of_what_is_not_there_says_so_at_once() {
    let managed = managed(1);
    let refused = managed.output(&["import", "nowhere", "--queue"]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn settings_are_passed_on_to_the_queue_and_lists_that_are_not_kept_are_refused() {
    let managed = managed(1);
    managed.garner(&[
        "import",
        "in",
        "--queue",
        "--no-sync",
        "--no-database",
        "elsewhere",
    ]);
    let elsewhere = managed.beside("elsewhere");
    let job = &managed.jobs()[0];
    assert_eq!(job["parameters"]["no_sync"], true);
    assert_eq!(
        job["parameters"]["no_database"],
        elsewhere.to_str().unwrap()
    );
    let refused = managed.output(&["import", "in", "--queue", "--list", "nobody"]);
    let said = crate::command_line::stderr(&refused);
    assert!(said.contains("no blacklist `nobody` is kept"), "{said}");
}

/// Issue 18: a directory that another machine saw less of was imported as far as it went, and called finished.
#[test]
fn an_import_is_left_to_a_worker_that_sees_what_was_ordered() {
    let managed = Managed::new();
    std::fs::create_dir(managed.beside("in")).unwrap();
    for archive in 0..3 {
        let mut warc = Warc::default();
        let url = format!("http://a.example/{archive}.pdf");
        warc.response(&url, &date(archive), "application/pdf", &pdf(archive));
        let name = format!("in/{archive}.warc.gz");
        std::fs::write(managed.beside(&name), warc.bytes).unwrap();
    }
    managed.garner(&["import", "in", "--queue"]);
    let (one, away) = (managed.beside("in/1.warc.gz"), managed.beside("away"));
    std::fs::rename(&one, &away).unwrap();

    let first = managed.worker(&[]);
    let job = managed.jobs()[0].clone();
    wait_until("the worker leaves the job to another", || {
        let log = managed.log_of(&job);
        log.contains("is left to a worker that sees the same files")
    });
    let jobs = managed.wait_for_jobs("it waits", |jobs| jobs[0]["state"] == "scheduled");
    assert_eq!(jobs[0]["attempt"], 0, "{jobs:#?}");
    assert_eq!(documents(&managed).len(), 0);

    std::fs::rename(&away, &one).unwrap();
    let second = managed.worker(&["--name", "second"]);
    managed.wait_for(&job, "finished");
    assert_eq!(documents(&managed).len(), 3);
    first.stop();
    second.stop();
}
