//! Imports started and scheduled: by admins from anywhere, by operators from where the configuration lets them.

use std::path::{Path, PathBuf};

use axum::http::{Method, StatusCode};
use catalog::{JobKind, JobQuery, Role, Scheduled};
use console::ConsoleConfig;
use flows::ImportOrder;
use operations::{ImportRules, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::browser::{Browser, TestConsole};

/// A console whose operators may import from `crawls`, beside which is something else.
struct Places {
    test: TestConsole,
    directory: TempDir,
}

impl Places {
    fn new() -> Self {
        Self::with(None)
    }

    /// With a folder that the configuration wants documents in, if there is one.
    fn with(no_database: Option<&str>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["crawls", "secret"] {
            let place = directory.path().join(name);
            std::fs::create_dir(&place).unwrap();
            std::fs::write(place.join("a.warc"), "WARC/1.0").unwrap();
        }
        let secret = directory.path().join("secret");
        std::os::unix::fs::symlink(secret, directory.path().join("crawls/link")).unwrap();
        let imports = ImportRules {
            roots: vec![directory.path().join("crawls")],
            default: ImportOrder {
                crawler: Some("our crawler".to_owned()),
                no_database: no_database.map(PathBuf::from),
                ..ImportOrder::default()
            },
        };
        let config = ConsoleConfig {
            operations: Settings {
                imports,
                ..Settings::default()
            },
            ..ConsoleConfig::default()
        };
        let test = TestConsole::with(config);
        Self { test, directory }
    }

    fn path(&self, name: &str) -> String {
        let path = self.directory.path().join(name);
        path.to_str().unwrap().to_owned()
    }

    /// The orders of all import jobs, the newest first.
    fn orders(&self) -> Vec<ImportOrder> {
        let query = JobQuery {
            kinds: vec![JobKind::Import],
            ..JobQuery::default()
        };
        let jobs = self.test.holdings.catalog().jobs(&query);
        let mut jobs = self.test.holdings.wait(jobs).unwrap();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.id));
        let orders = jobs.iter().map(|job| ImportOrder::parse(&job.parameters));
        orders.map(Result::unwrap).collect()
    }
}

/// The form as a browser sends it, with some fields filled in otherwise.
fn form<'a>(paths: &'a str, other: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("paths", paths),
        ("types", "application/pdf"),
        ("open", "gzip"),
        ("versions", "replace"),
        ("log", ""),
        ("log_format", ""),
        ("root", ""),
        ("base_url", ""),
        ("crawler", "mine"),
        ("blacklist", ""),
        ("max_url_length", "2048"),
    ];
    for (name, value) in other {
        fields.retain(|(field, _)| field != name);
        fields.push((name, value));
    }
    fields
}

fn scheduled<'a>(paths: &'a str, other: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = form(
        paths,
        &[
            ("name", "Crawls"),
            ("frequency", "cron"),
            ("cron", "0 3 * * *"),
            ("number", "1"),
            ("unit", "day"),
            ("starts", ""),
            ("ends", ""),
            ("do", "save"),
        ],
    );
    for (name, value) in other {
        fields.retain(|(field, _)| field != name);
        fields.push((name, value));
    }
    fields
}

fn posted(browser: &Browser<'_>, import: &Value) -> (StatusCode, Value) {
    let wanted = json!({ "import": import });
    let answer = browser.call(Method::POST, "/api/v1/imports", &wanted);
    (answer.status, answer.json())
}

#[test]
fn an_admin_has_anything_imported_and_an_operator_what_lies_below_the_roots() {
    let places = Places::new();
    let ann = places.test.with_session("ann", Role::Operator);
    let root = places.test.with_session("root", Role::Admin);
    let (inside, outside) = (places.path("crawls/a.warc"), places.path("secret/a.warc"));

    ann.get("/imports").shows(StatusCode::OK, "New import");
    ann.get("/imports/new").shows(StatusCode::OK, "our crawler");
    let added = ann.post("/imports", &form(&inside, &[]));
    assert!(added.location().starts_with("/runs/"), "{added:?}");
    let within = &places.orders()[0].within;
    assert_eq!(within, &[PathBuf::from(places.path("crawls"))]);
    for path in [
        outside.as_str(),
        &places.path("crawls/link/a.warc"),
        &places.path("crawls/../secret/a.warc"),
        "/nothing-is-here",
        "crawls/a.warc",
    ] {
        let answer = ann.post("/imports", &form(path, &[]));
        answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "is nothing that lies in");
        assert!(answer.body.contains(path), "{path} is lost");
    }
    for field in ["log", "root", "blacklist", "log_format"] {
        let answer = ann.post("/imports", &form(&inside, &[(field, &outside)]));
        answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "is nothing that lies in");
    }
    assert_eq!(places.orders().len(), 1);

    root.post("/imports", &form(&outside, &[]));
    let order = &places.orders()[0];
    assert_eq!(order.paths, [Path::new(&outside)]);
    assert!(order.within.is_empty());
    assert_eq!(order.crawler.as_deref(), Some("mine"));
    let trail = places.test.audit_trail();
    assert_eq!(trail[0].entry.action, "job.add");
    assert_eq!(trail[0].entry.details.as_ref(), Some(&outside));
    assert_eq!((trail.len(), trail[1].entry.account.as_str()), (2, "ann"));
}

#[test]
fn without_roots_only_admins_import() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Operator);
    let root = test.with_session("root", Role::Admin);

    for path in ["/imports/new", "/schedules/import"] {
        ann.get(path).shows(StatusCode::OK, "import.roots");
        assert!(!root.get(path).body.contains("import.roots"));
    }
    assert!(!ann.get("/imports").body.contains("/imports/new"));
    let answer = ann.post("/imports", &form("/", &[]));
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let answer = ann.post("/schedules/import", &scheduled("/", &[]));
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let (status, failure) = posted(&ann, &json!({ "paths": ["/"] }));
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(failure.to_string().contains("import.roots"), "{failure}");
    let vic = test.with_session("vic", Role::Viewer);
    assert_eq!(vic.get("/imports/new").status, StatusCode::FORBIDDEN);
}

#[test]
fn what_is_wrong_is_told_at_its_field() {
    let places = Places::new();
    let root = places.test.with_session("root", Role::Admin);
    let inside = places.path("crawls/a.warc");

    for (field, value, said) in [
        ("paths", "", "nothing to import"),
        ("paths", "http://a.example/b.warc", "is a URL"),
        ("paths", "/nothing-is-here", "cannot be read"),
        ("paths", "crawls", "is not a whole path"),
        ("types", "pdf", "is not a media type"),
        ("open", "rar", "no container"),
        ("max_url_length", "long", "whole number"),
        ("max_url_length", "3", "from 16 to"),
        ("log", "/nothing-is-here", "cannot be read"),
    ] {
        let answer = root.post("/imports", &form(&inside, &[(field, value)]));
        answer.shows(StatusCode::UNPROCESSABLE_ENTITY, said);
        let place = format!("id=\"{field}-error\">");
        let (_, error) = answer.body.split_once(&place).unwrap();
        assert!(!error.starts_with("</p>"), "{field}={value}");
    }
    assert!(places.orders().is_empty());
}

#[test]
fn programs_import_too() {
    let places = Places::new();
    let ann = places.test.with_session("ann", Role::Operator);
    let inside = places.path("crawls");

    let wanted = json!({ "paths": [inside], "types": ["Text/HTML"], "open": [], "keep_versions": true, "content_filter": true });
    let (status, job) = posted(&ann, &wanted);

    assert_eq!(status, StatusCode::CREATED, "{job}");
    assert_eq!(
        (&job["kind"], &job["created_by"]),
        (&json!("import"), &json!("ann"))
    );
    let order = &places.orders()[0];
    assert_eq!(order.types, ["text/html"]);
    assert!(order.keep_versions && !order.open.gzip && order.texts.content_filter);
    assert_eq!(order.crawler.as_deref(), Some("our crawler"));
    for wrong in [
        json!({}),
        json!({ "paths": [places.path("secret")] }),
        json!({ "paths": [inside], "collection": "/tmp/elsewhere" }),
        json!({ "paths": [inside], "within": [] }),
        json!({ "paths": [inside], "threads": 0 }),
        json!({ "paths": [inside], "accept": 2 }),
        json!({ "paths": [inside], "open": ["rar"] }),
        json!({ "paths": [inside], "blacklist": "/etc/passwd" }),
    ] {
        let (status, failure) = posted(&ann, &wrong);
        assert!(status.is_client_error(), "{wrong}: {failure}");
    }
    let later = json!({ "import": { "paths": [inside] }, "run_at": "2099-01-01T00:00:00Z" });
    let job = ann.call(Method::POST, "/api/v1/imports", &later).json();
    assert_eq!(job["run_at"], "2099-01-01T00:00:00Z");
    assert_eq!(places.orders().len(), 2);
}

#[test]
fn an_import_is_scheduled_shown_changed_and_removed() {
    let places = Places::new();
    let ann = places.test.with_session("ann", Role::Operator);
    let inside = places.path("crawls");

    ann.get("/schedules/new")
        .shows(StatusCode::OK, "/schedules/import");
    let preview = ann.post(
        "/schedules/import",
        &scheduled(&inside, &[("do", "preview")]),
    );
    preview.shows(StatusCode::OK, "Runs every day at 03:00 UTC.");
    let wrong = ann.post("/schedules/import", &scheduled(&inside, &[("cron", "x")]));
    wrong.shows(StatusCode::UNPROCESSABLE_ENTITY, "is not a cron expression");
    ann.post("/schedules/import", &scheduled(&inside, &[]))
        .leads_to("/schedules/1");

    let page = ann.get("/schedules/1");
    page.shows(StatusCode::OK, "Crawls is scheduled.");
    page.shows(StatusCode::OK, &inside);
    page.shows(StatusCode::OK, "It has not imported anything yet.");
    ann.get("/schedules").shows(StatusCode::OK, &inside);
    ann.get(&format!("/schedules?text={inside}"))
        .shows(StatusCode::OK, "Crawls");
    ann.get("/schedules/1/edit")
        .shows(StatusCode::OK, "action=\"/schedules/1/import\"");
    let changed = scheduled(&inside, &[("version", "1"), ("types", "text/html")]);
    ann.post("/schedules/1/import", &changed)
        .leads_to("/schedules/1");
    let details = places.test.audit_trail()[0].entry.details.clone().unwrap();
    assert_eq!(details, "Types: application/pdf → text/html");
    let stale = ann.post("/schedules/1/import", &changed);
    stale.shows(StatusCode::CONFLICT, "Somebody else saved this schedule");
    // The form of a harvest is not for it.
    let harvest = [("version", "2"), ("metadata_prefix", "oai_dc")];
    assert_eq!(
        ann.post("/schedules/1", &harvest).status,
        StatusCode::CONFLICT
    );
    ann.post("/schedules/1/run", &[]);
    assert_eq!(places.orders()[0].types, ["text/html"]);
    ann.get("/schedules/1/remove")
        .shows(StatusCode::OK, "is not imported by it any more");
    ann.post("/schedules/1/remove", &[]).leads_to("/schedules");
}

#[test]
fn an_operator_changes_the_times_of_an_admins_schedule_and_not_its_paths() {
    let places = Places::new();
    let root = places.test.with_session("root", Role::Admin);
    let ann = places.test.with_session("ann", Role::Operator);
    let (inside, outside) = (places.path("crawls"), places.path("secret"));
    root.post("/schedules/import", &scheduled(&outside, &[]))
        .leads_to("/schedules/1");

    let times = scheduled(&outside, &[("version", "1"), ("cron", "0 4 * * *")]);
    ann.post("/schedules/1/import", &times)
        .leads_to("/schedules/1");
    let types = scheduled(&outside, &[("version", "2"), ("types", "text/html")]);
    ann.post("/schedules/1/import", &types)
        .shows(StatusCode::UNPROCESSABLE_ENTITY, "is nothing that lies in");
    let paths = scheduled(&inside, &[("version", "2")]);
    ann.post("/schedules/1/import", &paths)
        .leads_to("/schedules/1");
    let catalog = places.test.holdings.catalog();
    let schedule = places.test.holdings.wait(catalog.schedule(1));
    let settings = schedule.unwrap().unwrap().settings;
    assert_eq!(settings.what, Scheduled::Import);
    let order = ImportOrder::parse(&settings.parameters).unwrap();
    assert_eq!(order.within, [Path::new(&inside)]);
}

#[test]
fn programs_schedule_imports() {
    let places = Places::new();
    let ann = places.test.with_session("ann", Role::Operator);
    let wanted =
        json!({ "import": { "paths": [places.path("crawls")] }, "frequency": "every 6 hours" });

    let added = ann.call(Method::POST, "/api/v1/schedules", &wanted);

    assert_eq!(added.status, StatusCode::CREATED, "{added:?}");
    let known = added.json();
    assert_eq!(known["kind"], "import");
    assert_eq!(
        (&known["repository"], &known["parameters"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(known["import"]["paths"], wanted["import"]["paths"]);
    for (field, value, said) in [
        ("repository", json!(1), "either repository"),
        ("metadata_prefix", json!("oai_dc"), "about harvests"),
        ("parameters", json!({ "full": true }), "about harvests"),
        ("import", json!({ "paths": ["/etc"] }), "lies in"),
        ("import", Value::Null, "either repository"),
        ("frequency", json!("cron 0 0 30 2 *"), "never comes true"),
    ] {
        let mut wrong = wanted.clone();
        wrong[field] = value;
        let answer = ann.call(Method::POST, "/api/v1/schedules", &wrong);
        assert!(answer.status.is_client_error(), "{field}: {answer:?}");
        assert!(answer.body.contains(said), "{field}: {}", answer.body);
    }
    let mut changed = wanted.clone();
    changed["version"] = known["version"].clone();
    changed["name"] = json!("Crawls");
    let answer = ann.call(Method::PUT, "/api/v1/schedules/1", &changed);
    assert_eq!(answer.json()["name"], "Crawls", "{answer:?}");
}

#[test]
fn what_programs_do_not_say_of_a_schedule_stays_as_it_was() {
    let places = Places::new();
    let root = places.test.with_session("root", Role::Admin);
    let crawls = places.path("crawls");
    let blacklist = places.path("secret/a.warc");
    let before = json!({ "paths": [crawls], "blacklist": blacklist, "crawler": "theirs", "threads": 3,
        "texts": { "content_filter": true, "ocr": true, "languages": ["deu"] } });
    let settings = catalog::ScheduleSettings {
        what: Scheduled::Import,
        name: "Crawls".to_owned(),
        parameters: ImportOrder::parse(&before.to_string())
            .unwrap()
            .text()
            .unwrap(),
        frequency: "every 1 day".to_owned(),
        starts: None,
        ends: None,
    };
    let holdings = &places.test.holdings;
    let added = holdings.catalog().add_schedule(&settings, true);
    let known = holdings.wait(added).unwrap();
    let order = || {
        let schedule = holdings.wait(holdings.catalog().schedule(known.id));
        let settings = schedule.unwrap().unwrap().settings;
        ImportOrder::parse(&settings.parameters).unwrap()
    };
    let change = |version: i64, import: Value| {
        let wanted = json!({ "import": import, "frequency": "every 1 day", "version": version });
        let path = format!("/api/v1/schedules/{}", known.id);
        let answer = root.call(Method::PATCH, &path, &wanted);
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    };

    change(1, json!({ "paths": [crawls], "types": ["text/html"] }));
    let kept = order();
    change(
        2,
        json!({ "paths": [crawls], "content_filter": false, "crawler": "ours" }),
    );
    let given = order();

    assert_eq!(kept.types, ["text/html"]);
    assert_eq!(kept.blacklist.as_deref(), Some(Path::new(&blacklist)));
    assert_eq!(kept.crawler.as_deref(), Some("theirs"));
    assert_eq!(kept.threads, 3);
    assert!(kept.texts.content_filter && kept.texts.ocr);
    assert_eq!(given.crawler.as_deref(), Some("ours"));
    assert_eq!(given.blacklist, kept.blacklist);
    assert!(!given.texts.content_filter && given.texts.ocr);
    assert_eq!(given.texts.languages, ["deu"]);
}

#[test]
fn the_audit_trail_names_what_a_schedule_does_now_if_that_is_something_else() {
    let places = Places::new();
    let repository = places.test.repository("http://a.example/oai", "Maps of A");
    let ann = places.test.with_session("ann", Role::Operator);
    let harvest = json!({ "repository": repository.id, "metadata_prefix": "oai_dc", "frequency": "every 1 day" });
    let added = ann.call(Method::POST, "/api/v1/schedules", &harvest);
    assert_eq!(added.status, StatusCode::CREATED, "{added:?}");
    let details = || {
        let trail = places.test.audit_trail();
        assert_eq!(trail[0].entry.action, "schedule.change");
        trail[0].entry.details.clone().unwrap()
    };

    let crawls = places.path("crawls");
    let import =
        json!({ "import": { "paths": [crawls] }, "frequency": "every 1 day", "version": 1 });
    ann.call(Method::PUT, "/api/v1/schedules/1", &import);
    let to_import = details();
    let mut back = harvest.clone();
    back["version"] = json!(2);
    ann.call(Method::PUT, "/api/v1/schedules/1", &back);
    let to_harvest = details();

    for said in ["it does something else now", &crawls, "Types"] {
        assert!(to_import.contains(said), "`{said}` is not in {to_import}");
    }
    for said in ["it does something else now", "Format: oai_dc"] {
        assert!(to_harvest.contains(said), "`{said}` is not in {to_harvest}");
    }
}

#[test]
fn documents_go_to_the_folder_that_the_configuration_names_and_only_admins_choose_another() {
    let places = Places::with(Some("/papers"));
    let root = places.test.with_session("root", Role::Admin);
    let inside = places.path("crawls");

    for path in ["/imports/new", "/schedules/import"] {
        root.get(path).shows(StatusCode::OK, "value=\"/papers\"");
    }
    let (status, job) = posted(&root, &json!({ "paths": [inside] }));
    assert_eq!(status, StatusCode::CREATED, "{job}");
    assert_eq!(job["parameters"]["no_database"], "/papers", "{job}");
    let ann = places.test.with_session("ann", Role::Operator);
    let (status, failure) = posted(
        &ann,
        &json!({ "paths": [inside], "no_database": "/elsewhere" }),
    );
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{failure}");
    assert!(
        failure.to_string().contains("only admins choose"),
        "{failure}"
    );
}

#[test]
fn files_are_browsed_below_the_roots_and_first_captures_are_tried() {
    let places = Places::new();
    let ann = places.test.with_session("ann", Role::Operator);
    let (inside, secret) = (places.path("crawls"), places.path("secret"));

    ann.get("/imports/browse").shows(StatusCode::OK, &inside);
    let listed = ann.get(&format!("/imports/browse?path={inside}"));
    listed.shows(StatusCode::OK, "a.warc");
    assert!(!listed.body.contains("crawls/link"), "{}", listed.body);
    for path in [
        secret.clone(),
        format!("{inside}/link"),
        format!("{inside}/../secret"),
    ] {
        let refused = ann.get(&format!("/api/v1/imports/sources?path={path}"));
        assert_eq!(
            refused.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{path}: {refused:?}"
        );
    }
    let tried = json!({ "import": { "paths": [inside] }, "captures": 3 });
    let tried = ann.call(Method::POST, "/api/v1/imports/dry-run", &tried);
    assert_eq!(tried.status, StatusCode::OK, "{tried:?}");
    let refused = json!({ "import": { "paths": [secret] } });
    let refused = ann.call(Method::POST, "/api/v1/imports/dry-run", &refused);
    assert_eq!(
        refused.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{refused:?}"
    );
    assert!(places.orders().is_empty());
}

#[test]
fn settings_of_imports_are_kept_as_templates() {
    let places = Places::new();
    let ann = places.test.with_session("ann", Role::Operator);
    let template = json!({ "types": "image/*", "digests": "skip" });

    let saved = ann.call(Method::PUT, "/api/v1/imports/templates/images", &template);
    assert_eq!(saved.status, StatusCode::OK, "{saved:?}");
    ann.get("/imports/new?template=images")
        .shows(StatusCode::OK, "value=\"image/*\"");
    let wrong = ann.call(
        Method::PUT,
        "/api/v1/imports/templates/x",
        &json!({ "colour": "red" }),
    );
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
    let removed = ann.call(
        Method::DELETE,
        "/api/v1/imports/templates/images",
        &json!({}),
    );
    assert_eq!(removed.status, StatusCode::NO_CONTENT, "{removed:?}");
    let unknown = ann.get("/imports/new?template=images");
    assert_eq!(unknown.status, StatusCode::NOT_FOUND, "{unknown:?}");
}
