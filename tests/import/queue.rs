//! Imports as jobs: done by workers, stopped, taken over.

use serde_json::Value;

use super::crawl::many;
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
        for name in ["id", "import", "content", "file"] {
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
    managed.wait_for_jobs("it began", |jobs| jobs[0]["state"] == "running");
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
    // More than a worker can import before it is told to stop.
    const PAPERS: usize = 6000;
    let managed = managed(PAPERS);
    managed.garner(&["import", "in", "--queue"]);
    let worker = managed.worker(&["--lease", "2"]);
    let jobs = managed.wait_for_jobs("it runs", |jobs| jobs[0]["state"] == "running");
    managed.output(&["job", "cancel", &jobs[0]["id"].to_string()]);

    let over = managed.wait_for_jobs("it is over", |jobs| {
        ["cancelled", "finished"].contains(&jobs[0]["state"].as_str().unwrap())
    });
    worker.stop();

    let before = documents(&managed).len();
    if over[0]["state"] == "cancelled" {
        assert!(before < PAPERS);
    }
    managed.garner(&["verify"]);
    managed.garner(&["import", "in", "--quiet"]);
    assert_eq!(documents(&managed).len(), PAPERS);
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
fn what_the_queue_cannot_do_is_refused_and_what_it_can_is_passed_on() {
    let managed = managed(1);
    managed.write("garner.toml", "[import]\nno_database = 'elsewhere'\n");
    let refused = managed.output(&["import", "in", "--queue", "--config", "garner.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = crate::command_line::stderr(&refused);
    assert!(said.contains("import.no_database"), "{said}");
    assert!(!managed.data().exists());

    managed.garner(&["import", "in", "--queue", "--no-sync"]);

    assert_eq!(managed.jobs()[0]["parameters"]["no_sync"], true);
}
