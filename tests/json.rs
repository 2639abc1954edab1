//! The JSON of the command line and of the API: the same objects, whole against whole, for every entity.

use std::path::Path;

use serde_json::Value;
use test_support::{Fault, Misbehaving, Script, fetch};

use crate::console::{Console, account, token};
use crate::managed::Managed;

/// One data directory, asked by the command line and by the API.
pub(crate) struct Faces {
    console: Console,
    token: String,
}

impl Faces {
    /// Starts the console on what is there.
    pub(crate) fn start(managed: Managed) -> Self {
        account(&managed, "root", "admin");
        let console = Console::start(managed, "");
        let token = token(&console, "root").1;
        Self { console, token }
    }

    /// The answer of the API.
    pub(crate) fn api(&self, path: &str) -> Value {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("Authorization", bearer.as_str())];
        let answer = fetch("GET", &self.console.at(path), &headers, b"");
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// The lines of a command, each an object.
    pub(crate) fn command(&self, arguments: &[&str]) -> Vec<Value> {
        let arguments = [arguments, &["--json"]].concat();
        let text = self.console.managed.garner(&arguments);
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    }

    /// A command and an operation of the API show the same object.
    pub(crate) fn show_the_same(&self, arguments: &[&str], path: &str) {
        assert_eq!(self.command(arguments), [self.api(path)], "{arguments:?}");
    }

    /// A command and an operation of the API list the same objects, at least `least` of them.
    pub(crate) fn list_the_same(&self, arguments: &[&str], path: &str, least: usize) {
        let lines = self.command(arguments);
        assert!(lines.len() >= least, "{arguments:?}: {lines:?}");
        let items = self.api(path)["items"].take();
        assert_eq!(Value::Array(lines), items, "{arguments:?}");
    }
}

#[test]
fn harvests_and_records_are_the_same_by_command_and_api() {
    let managed = Managed::new();
    let script = Script::new(30, 10)
        .with(Fault::MismatchedTags(7))
        .with(Fault::LeadingWhitespace);
    let repository = Misbehaving::start(script);
    for options in [&[][..], &["--set", "odd"]] {
        let arguments = ["harvest", &repository.base_url(), "--quiet"];
        managed.output(&[&arguments, options].concat());
    }
    let faces = Faces::start(managed);

    faces.list_the_same(&["history"], "/api/v1/history", 2);
    faces.show_the_same(&["history", "1"], "/api/v1/history/1");
    let warnings = ["history", "1", "--warnings"];
    faces.list_the_same(&warnings, "/api/v1/history/1/warnings", 1);
    faces.list_the_same(&["run", "list"], "/api/v1/runs", 2);
    faces.show_the_same(&["run", "show", "1"], "/api/v1/runs/1");
    faces.list_the_same(&["run", "problems", "1"], "/api/v1/runs/1/problems", 1);
    let compare = "/api/v1/history/compare?one=1&other=2";
    faces.show_the_same(&["history", "compare", "1", "2"], compare);
    faces.list_the_same(&["records"], "/api/v1/records?after=0", 29);
    faces.show_the_same(&["records", "show", "3"], "/api/v1/records/3");
    faces.show_the_same(&["statistics"], "/api/v1/statistics");
    faces.show_the_same(&["search", "http"], "/api/v1/search?text=http");
}

#[test]
fn imports_and_documents_are_the_same_by_command_and_api() {
    let managed = Managed::new();
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
    managed.garner(&["import", crawl.to_str().unwrap(), "--text", "--quiet"]);
    let damaged = managed.write("damaged.warc", "no record is in here\r\n");
    managed.output(&["import", damaged.to_str().unwrap(), "--quiet"]);
    managed.garner(&["documents", "correct", "1", "--reject"]);
    let faces = Faces::start(managed);

    faces.list_the_same(&["history", "--imports"], "/api/v1/imports", 2);
    faces.show_the_same(&["history", "--imports", "1"], "/api/v1/imports/1");
    let warnings = ["history", "--imports", "2", "--warnings"];
    faces.list_the_same(&warnings, "/api/v1/imports/2/skipped", 1);
    faces.show_the_same(&["run", "show", "1"], "/api/v1/runs/1");
    faces.list_the_same(&["run", "problems", "2"], "/api/v1/runs/2/problems", 1);
    faces.list_the_same(&["documents", "list"], "/api/v1/documents", 1);
    faces.show_the_same(&["documents", "show", "1"], "/api/v1/documents/1");
    let document = faces.api("/api/v1/documents/1");
    assert_eq!(document["decision"], "reject", "{document:#}");
    assert_eq!(document["state"], "set_aside", "{document:#}");
}

#[test]
fn schedules_and_jobs_are_the_same_by_command_and_api() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    let number = managed.schedule(&repository, &["--every", "1 day"]);
    let faces = Faces::start(managed);
    let jobs = faces
        .console
        .managed
        .wait_for_jobs("one is over and the next is planned", |jobs| {
            let is = |state: &str| jobs.iter().any(|job| job["state"] == state);
            is("finished") && is("scheduled")
        });

    let schedule = format!("/api/v1/schedules/{number}");
    faces.show_the_same(&["schedule", "show", &number], &schedule);
    faces.list_the_same(&["schedule", "list"], "/api/v1/schedules", 1);
    for job in jobs {
        let (id, path) = (job["id"].to_string(), format!("/api/v1/jobs/{}", job["id"]));
        faces.show_the_same(&["job", "show", &id], &path);
    }
    faces.list_the_same(&["job", "list", "--all"], "/api/v1/jobs", 2);
    faces.list_the_same(&["job", "log", "1"], "/api/v1/jobs/1/log", 1);
}

/// Issue 19: the command line checks as the API does, in the same words, and leaves entries in the audit trail.
#[test]
fn commands_are_refused_as_the_api_refuses_and_are_audited() {
    let managed = Managed::new();
    let repository = Misbehaving::start(Script::new(30, 10));
    managed.garner(&["harvest", &repository.base_url(), "--quiet"]);
    managed.garner(&["harvest", &repository.base_url(), "--set", "odd", "--quiet"]);
    let faces = Faces::start(managed);
    let managed = &faces.console.managed;

    let bearer = format!("Bearer {}", faces.token);
    let headers = [("Authorization", bearer.as_str())];
    for (command, method, path) in [
        (vec!["history", "99"], "GET", "/api/v1/history/99"),
        (
            vec!["history", "remove", "1"],
            "DELETE",
            "/api/v1/history/1",
        ),
        (vec!["records", "show", "99"], "GET", "/api/v1/records/99"),
        (
            vec!["history", "--imports", "9"],
            "GET",
            "/api/v1/imports/9",
        ),
        (
            vec!["history", "remove", "--imports", "9"],
            "DELETE",
            "/api/v1/imports/9",
        ),
    ] {
        let output = managed.output(&[&command[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let answer = fetch(method, &faces.console.at(path), &headers, b"");
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(printed["error"], answer["error"], "{command:?}");
    }

    managed.garner(&["history", "remove", "2", "--force"]);
    let entry = &faces.api("/api/v1/audit")["items"][0];
    assert_eq!(entry["action"], "history.remove", "{entry:#}");
    assert_eq!(entry["subject"], "harvest 2", "{entry:#}");
    let account = entry["account"].as_str().unwrap();
    assert!(account.starts_with("(command line: "), "{account}");
}
