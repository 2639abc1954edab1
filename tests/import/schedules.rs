//! Imports that run by themselves: what came since is taken, by `garner up` with its manager and workers.

use std::path::Path;

use serde_json::{Value, json};
use test_support::Postgres;

use super::crawl::{Warc, date, many, pdf, stored_zip};
use super::logs::line;
use crate::command_line::stderr;
use crate::managed::Managed;

/// An archive of papers with these numbers.
fn papers(numbers: std::ops::Range<usize>) -> Warc {
    let mut warc = Warc::default();
    for number in numbers {
        let url = format!("http://a.example/{number}.pdf");
        let when = date(number);
        warc.response(&url, &when, "application/pdf", &pdf(number));
    }
    warc
}

fn with_crawl(managed: Managed) -> Managed {
    std::fs::create_dir(managed.beside("in")).unwrap();
    std::fs::write(managed.beside("in/a.warc.gz"), papers(0..10).bytes).unwrap();
    managed
}

/// The next run of a schedule, to its end.
fn run(managed: &Managed, schedule: &str) -> Value {
    let job = managed.json(&["schedule", "run", schedule]);
    let job = managed.wait_for(&job, "finished");
    let import = job["import"].to_string();
    managed.json(&["history", "--imports", &import])
}

fn documents(managed: &Managed) -> usize {
    managed
        .lines(&["documents", "list", "--limit", "1000"])
        .len()
}

#[test]
fn each_run_takes_what_came_since_the_last() {
    each_run(with_crawl(Managed::new()));
}

#[test]
fn each_run_takes_what_came_since_the_last_on_postgresql() {
    let database = Postgres::shared().database();
    each_run(with_crawl(Managed::on(database)));
}

fn each_run(managed: Managed) {
    let options = ["schedule", "add", "--import", "in", "--every", "1 day"];
    let added = managed.json(&[&options[..], &["--types", "application/pdf"]].concat());
    assert_eq!(added["kind"], "import");
    assert_eq!(added["repository"], Value::Null);
    let schedule = added["id"].to_string();
    let up = managed.up(&[]);
    managed.wait_for_jobs("the first has run", |jobs| {
        jobs.iter().any(|job| job["state"] == "finished")
    });
    assert_eq!(documents(&managed), 10);

    // Nothing came.
    let again = run(&managed, &schedule);
    assert_eq!(again["state"], "ok");
    assert_eq!(again["counters"]["all"], 0, "{again:#}");
    // One archive is new, another has grown, and something else lies there too.
    std::fs::write(managed.beside("in/0.warc.gz"), papers(10..13).bytes).unwrap();
    let mut grown = papers(0..10).bytes;
    grown.extend(papers(20..25).bytes);
    std::fs::write(managed.beside("in/a.warc.gz"), grown).unwrap();
    std::fs::write(managed.beside("in/README"), "crawls").unwrap();
    let third = run(&managed, &schedule);
    assert_eq!(third["counters"]["all"], 8, "{third:#}");
    assert_eq!(third["counters"]["saved_New"], 8);
    assert_eq!(third["schedule"].to_string(), schedule);
    assert_eq!(documents(&managed), 18);
    // Another file under an old name is another file.
    std::fs::write(managed.beside("in/0.warc.gz"), papers(30..32).bytes).unwrap();
    let fourth = run(&managed, &schedule);
    assert_eq!(fourth["counters"]["saved_New"], 2, "{fourth:#}");
    // Another setting has everything read again.
    let types = ["--types", "application/pdf,text/html"];
    managed.json(&[&["schedule", "edit", schedule.as_str()], &types[..]].concat());
    let fifth = run(&managed, &schedule);
    assert_eq!(fifth["counters"]["saved_Duplicate"], 17, "{fifth:#}");
    up.stop();
    managed.garner(&["verify"]);
    assert_eq!(managed.lines(&["history", "--imports"]).len(), 5);
}

#[test]
fn what_is_no_crawl_is_named_in_every_run() {
    let managed = with_crawl(Managed::new());
    managed.write("notes.txt", "crawls of March");
    let options = ["--import", "in", "notes.txt", "--every", "1 day"];
    let added = managed.json(&[&["schedule", "add", "--paused"], &options[..]].concat());
    let schedule = added["id"].to_string();
    let up = managed.up(&[]);

    let runs = [(); 2].map(|()| run(&managed, &schedule));
    up.stop();

    assert_eq!(runs[0]["counters"]["all"], 10);
    assert_eq!(runs[1]["counters"]["all"], 0);
    for run in &runs {
        assert_eq!(run["counters"]["skipped_Records"], 1, "{run:#}");
        assert_eq!(run["state"], "incomplete");
        let id = run["id"].to_string();
        let warnings = managed.garner(&["history", "--imports", &id, "--warnings"]);
        assert!(warnings.contains("notes.txt"), "{warnings}");
    }
}

#[test]
fn a_wacz_that_is_written_anew_is_read_from_its_beginning() {
    let managed = Managed::new();
    // It begins with the same bytes, however much changes behind them.
    let pages = "{\"url\": \"http://a.example/\"}\n".repeat(100);
    let wacz = |numbers| {
        let members = [
            ("pages/pages.jsonl", pages.as_bytes()),
            ("archive/data.warc.gz", &papers(numbers).bytes),
        ];
        std::fs::write(managed.beside("a.wacz"), stored_zip(&members)).unwrap();
    };
    wacz(0..10);
    let options = ["--paused", "--import", "a.wacz", "--every", "1 day"];
    let added = managed.json(&[&["schedule", "add"], &options[..]].concat());
    let schedule = added["id"].to_string();
    let up = managed.up(&[]);
    run(&managed, &schedule);
    assert_eq!(documents(&managed), 10);

    wacz(20..40);
    let second = run(&managed, &schedule);
    up.stop();

    assert_eq!(second["counters"]["saved_New"], 20, "{second:#}");
    assert_eq!(documents(&managed), 30);
}

#[test]
fn what_a_log_says_later_is_added_to_what_was_imported_before() {
    with_a_log(Managed::new());
}

#[test]
fn what_a_log_says_later_is_added_to_what_was_imported_before_on_postgresql() {
    with_a_log(Managed::on(Postgres::shared().database()));
}

fn with_a_log(managed: Managed) {
    let managed = with_crawl(managed);
    let page = "http://a.example/";
    let paper = |number: usize| format!("{page}{number}.pdf");
    let told = |number: usize, media_type: &str| {
        let url = paper(number);
        line(200, 9, &url, "LL", page, media_type)
    };
    let seed = line(200, 28, page, "-", "-", "text/html");
    let log = format!("{seed}{}", told(0, "application/pdf"));
    managed.write("crawl.log", &log);
    let options = ["--import", "in", "--log", "crawl.log", "--every", "1 day"];
    let added = managed.json(&[&["schedule", "add", "--paused"], &options[..]].concat());
    let schedule = added["id"].to_string();
    let up = managed.up(&[]);
    let parents = || {
        let documents = managed.lines(&["documents", "list", "--limit", "1000"]);
        let known = |document: &&Value| document["parent_url"] == page && document["depth"] == 2;
        let known = documents.iter().filter(known);
        let mut urls: Vec<_> = known.map(|document| document["url"].clone()).collect();
        urls.sort_by_key(Value::to_string);
        urls
    };
    run(&managed, &schedule);
    assert_eq!(parents(), [json!(paper(0))]);

    // It goes on to tell of a paper that is known, of one that is not, and of a picture.
    let gone = line(404, 9, &paper(7), "LLL", "http://b.example/", "text/html");
    let more = [told(3, "application/pdf"), told(99, "image/png"), gone];
    managed.write("crawl.log", &format!("{log}{}", more.concat()));
    let second = run(&managed, &schedule);
    assert_eq!(second["counters"]["all"], 0, "{second:#}");
    assert_eq!(parents(), [json!(paper(0)), json!(paper(3))]);
    let document = managed.json(&["documents", "show", &paper(3)]);
    assert_eq!(document["update_date"], json!(date(3)));
    assert_eq!(documents(&managed), 10);
    // Another log under its name, and it is shorter.
    managed.write("crawl.log", &told(5, "application/pdf"));
    let third = run(&managed, &schedule);
    assert_eq!(third["counters"]["all"], 0, "{third:#}");
    assert_eq!(parents().len(), 3);
    // The same beginning, and it has lost its end.
    managed.write("crawl.log", &log);
    run(&managed, &schedule);
    up.stop();
    assert_eq!(documents(&managed), 10);
    let imports = managed.lines(&["history", "--imports"]);
    assert!(
        imports.iter().all(|import| import["state"] == "ok"),
        "{imports:#?}"
    );
}

#[test]
fn what_is_not_there_yet_is_tried_again_and_cancelled_runs_go_on() {
    let managed = with_crawl(Managed::new());
    let config = managed.write("garner.toml", "[jobs]\nretry_seconds = 1\n");
    let options = ["schedule", "add", "--import", "in", "--once"];
    managed.json(&options);
    std::fs::rename(managed.beside("in"), managed.beside("away")).unwrap();
    let up = managed.up(&["--config", config.to_str().unwrap()]);
    managed.wait_for_jobs("it failed once", |jobs| {
        jobs.iter().any(|job| !job["error"].is_null())
    });

    std::fs::rename(managed.beside("away"), managed.beside("in")).unwrap();

    let jobs = managed.wait_for_jobs("it has run", |jobs| jobs[0]["state"] == "finished");
    assert!(jobs[0]["attempt"].as_i64().unwrap() > 1, "{jobs:#?}");
    assert_eq!(documents(&managed), 10);
    let ended = managed.lines(&["schedule", "list"]);
    assert_eq!(ended[0]["state"], "ended");
    up.stop();
}

#[test]
fn a_scheduled_import_that_is_killed_is_gone_on_with() {
    let managed = with_crawl(Managed::new());
    std::fs::write(managed.beside("in/b.warc.gz"), many(1500).bytes).unwrap();
    managed.json(&["schedule", "add", "--import", "in", "--once"]);
    let first = managed.up(&["--lease", "2"]);
    // It may be through before anybody looks.
    managed.wait_for_jobs("it runs", |jobs| {
        jobs.first().is_some_and(|job| job["state"] != "scheduled")
    });
    std::thread::sleep(std::time::Duration::from_millis(300));
    first.kill();
    std::fs::write(managed.beside("in/c.warc.gz"), papers(2000..2010).bytes).unwrap();

    let second = managed.up(&["--lease", "2"]);
    managed.wait_for_jobs("it has run", |jobs| jobs[0]["state"] == "finished");
    second.stop();

    let undisturbed = with_crawl(Managed::new());
    for name in ["b", "c"] {
        let name = format!("in/{name}.warc.gz");
        std::fs::copy(managed.beside(&name), undisturbed.beside(&name)).unwrap();
    }
    undisturbed.garner(&["import", "in", "--quiet"]);
    let counters = |managed: &Managed| {
        let imports = managed.lines(&["history", "--imports"]);
        assert_eq!(imports.len(), 1, "{imports:#?}");
        imports[0]["counters"].clone()
    };
    assert_eq!(counters(&managed), counters(&undisturbed));
    let count = |managed: &Managed| {
        managed
            .lines(&["documents", "list", "--limit", "9999"])
            .len()
    };
    assert_eq!(count(&managed), count(&undisturbed));
    managed.garner(&["verify"]);
}

#[test]
fn schedules_of_imports_are_added_shown_edited_and_refused_in_plain_words() {
    let managed = with_crawl(Managed::new());
    let options = ["--paused", "--every", "2 hours", "--name", "crawls"];
    let added = managed.json(&[&["schedule", "add", "--import", "in"], &options[..]].concat());
    let number = added["id"].to_string();

    let path = managed.beside("in").to_str().unwrap().to_owned();
    assert_eq!(added["import"]["paths"], json!([path]));
    let shown = managed.garner(&["schedule", "show", &number]);
    assert!(
        shown.contains(&path) && shown.contains("every 2 hours"),
        "{shown}"
    );
    let listed = managed.garner(&["schedule", "list", "--text", "in"]);
    assert!(listed.contains(&format!("import {path}")), "{listed}");
    let edit = ["schedule", "edit", number.as_str()];
    let edited =
        managed.json(&[&edit[..], &["--cron", "0 3 * * *", "--versions", "keep"]].concat());
    assert_eq!(edited["import"]["keep_versions"], true);
    assert_eq!(edited["import"]["paths"], json!([path]));
    assert_eq!(edited["frequency"], "cron 0 3 * * *");

    // Settings of a configuration file need not be repeated.
    managed.write(
        "garner.toml",
        "[import]\npaths = ['in']\ncrawler = 'mine'\nversions = 'keep'\n",
    );
    let configured = ["schedule", "add", "--config", "garner.toml", "--once"];
    let configured =
        managed.json(&[&configured[..], &["--paused", "--versions", "replace"]].concat());
    assert_eq!(configured["import"]["paths"], json!([path]));
    assert_eq!(configured["import"]["crawler"], "mine");
    assert_eq!(configured["import"]["keep_versions"], false);
    managed.garner(&["schedule", "remove", &configured["id"].to_string()]);
    // Documents that are to stay out of the catalog go to their folder, whenever it is.
    managed.write(
        "separate.toml",
        "[import]\npaths = ['in']\nno_database = 'papers'\n",
    );
    let separate = ["schedule", "add", "--config", "separate.toml", "--once"];
    let separate = managed.json(&[&separate[..], &["--paused"]].concat());
    let papers = managed.beside("papers");
    assert_eq!(separate["import"]["no_database"], papers.to_str().unwrap());
    managed.garner(&["schedule", "remove", &separate["id"].to_string()]);

    for (arguments, said) in [
        (
            &["add", "--import", "nowhere", "--once"][..],
            "cannot be read",
        ),
        (&["add", "--import", "in"], "how often"),
        (&["add", "--once"], "--import PATH"),
        (
            &["add", "1", "--import", "in", "--once"],
            "give one of them",
        ),
        (
            &["add", "--import", "in", "--once", "--set", "a"],
            "no format",
        ),
        (
            &["add", "1", "--once", "--types", "text/html"],
            "--import PATH is missing",
        ),
        (
            &["add", "--import", "in", "--once", "--types", "pdf"],
            "not a media type",
        ),
        (&["edit", "1", "--full"], "imports a crawl"),
        (&["edit", "1", "--import", "nowhere"], "cannot be read"),
    ] {
        let refused = managed.output(&[&["schedule"], arguments].concat());
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}");
        let said_now = stderr(&refused);
        assert!(said_now.contains(said), "{arguments:?}: {said_now}");
    }
    assert_eq!(managed.lines(&["schedule", "list"]).len(), 1);
}

#[test]
fn who_edits_a_schedule_here_may_name_any_file_whoever_made_it() {
    let managed = with_crawl(Managed::new());
    std::fs::create_dir(managed.beside("elsewhere")).unwrap();
    std::fs::write(managed.beside("elsewhere/b.warc.gz"), papers(10..12).bytes).unwrap();
    let inside = managed.beside("in");
    let number = schedule_within(&managed, &inside, "in");

    let edit = ["schedule", "edit", number.as_str()];
    let within = || {
        let job = managed.json(&["schedule", "run", number.as_str()]);
        managed.garner(&["job", "cancel", &job["id"].to_string()]);
        job["parameters"]["within"].clone()
    };
    managed.json(&[&edit[..], &["--every", "2 days"]].concat());
    assert_eq!(within(), json!([inside]));
    managed.json(&[&edit[..], &["--import", "elsewhere"]].concat());
    assert_eq!(within(), json!([]));

    let up = managed.up(&[]);
    let imported = run(&managed, &number);
    up.stop();
    assert_eq!(imported["counters"]["saved_New"], 2, "{imported:#}");
}

/// A schedule as an operator makes it who may import from a directory.
fn schedule_within(managed: &Managed, path: &Path, within: &str) -> String {
    let parameters = json!({ "paths": [path], "within": [managed.beside(within)] });
    let settings = catalog::ScheduleSettings {
        what: catalog::Scheduled::Import,
        name: String::new(),
        parameters: parameters.to_string(),
        frequency: "every 1 day".to_owned(),
        starts: None,
        ends: None,
    };
    let holdings = managed.holdings();
    let added = holdings.catalog().add_schedule(&settings, true);
    holdings.wait(added).unwrap().id.to_string()
}

#[test]
fn the_roots_of_today_decide_on_what_operators_scheduled() {
    let managed = with_crawl(Managed::new());
    std::fs::create_dir(managed.beside("other")).unwrap();
    std::fs::write(managed.beside("other/b.warc.gz"), papers(10..12).bytes).unwrap();
    let file = managed.beside("in/a.warc.gz");
    let limited = schedule_within(&managed, &file, "in");
    let own = managed.json(&["schedule", "add", "--paused", "--import", "in", "--once"]);
    let with_roots = |roots: &str| {
        let config = format!("[import]\nroots = {roots}\n");
        let config = managed.write("garner.toml", &config);
        managed.up(&["--config", config.to_str().unwrap()])
    };

    let up = with_roots("['in']");
    let first = run(&managed, &limited);
    assert_eq!(first["counters"]["saved_New"], 10, "{first:#}");
    up.stop();
    for (roots, named) in [("['other']", "other"), ("[]", "names no directory")] {
        let up = with_roots(roots);
        let job = managed.json(&["schedule", "run", &limited])["id"].clone();
        let failed = |jobs: &[Value]| {
            let job = jobs.iter().find(|known| known["id"] == job).cloned();
            job.filter(|job| job["error"].is_string())
        };
        let jobs = managed.wait_for_jobs("it failed", |jobs| failed(jobs).is_some());
        let failed = failed(&jobs).unwrap();
        let error = failed["error"].as_str().unwrap();
        let file = file.to_str().unwrap();
        for said in [file, named, "import.roots"] {
            assert!(error.contains(said), "`{said}` is not in {error}");
        }
        managed.output(&["job", "cancel", &job.to_string()]);
        // A user of the command line may name any file.
        let other = run(&managed, &own["id"].to_string());
        assert_eq!(other["state"], "ok", "{other:#}");
        up.stop();
    }
}

#[test]
fn the_history_tells_of_imports_and_is_forgotten_without_its_documents() {
    let managed = with_crawl(Managed::new());
    let mut damaged = papers(40..43).bytes;
    damaged.truncate(damaged.len() - 5);
    std::fs::write(managed.beside("in/damaged.warc.gz"), damaged).unwrap();
    let imported = managed.output(&["import", "in", "--quiet"]);
    assert_eq!(imported.status.code(), Some(3), "{}", stderr(&imported));

    let listed = managed.garner(&["history", "--imports"]);
    assert!(
        listed.contains("incomplete") && listed.contains("a.warc.gz"),
        "{listed}"
    );
    let one = managed.garner(&["history", "--imports", "1"]);
    for said in [
        "saved_New                           12",
        "failed_PDFFilenotFound               0",
        "reports/import-1.jsonl",
        "skipped or repaired",
        "damaged.warc.gz at ",
    ] {
        assert!(one.contains(said), "`{said}` is not in {one}");
    }
    let whole = managed.json(&["history", "--imports", "1"]);
    assert_eq!(whole["counters"]["saved_New"], 12);
    let warnings = managed.lines(&["history", "--imports", "1", "--warnings"]);
    assert_eq!(warnings.len(), 1);
    let report = whole["report"].as_str().unwrap().to_owned();
    assert!(Path::new(&report).is_file());
    let unknown = managed.output(&["history", "--imports", "9"]);
    assert!(stderr(&unknown).contains("there is no import 9"));
    let none = managed.output(&["history"]);
    assert!(stderr(&none).contains("--imports"), "{}", stderr(&none));

    // An import that ended in an earlier second is too old.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let config = managed.write("garner.toml", "[history]\nkeep_days = 0\n");
    let up = managed.up(&["--config", config.to_str().unwrap()]);
    test_support::wait_until("the entry is forgotten", || {
        managed.lines(&["history", "--imports"]).is_empty()
    });
    up.stop();
    assert_eq!(documents(&managed), 12);
    assert!(!Path::new(&report).exists());
    managed.garner(&["verify"]);
}
