//! Documents found by their words, their titles and languages, near-duplicates, and the review queue.

use std::process::Output;

use serde_json::{Value, json};

use super::crawl::{Crawl, Warc, date};
use super::papers::{printed, printed_as_postscript, sample};
use crate::command_line::{prints, stderr, stdout};

const ON: [&str; 3] = ["--content-filter", "on", "crawl.warc.gz"];

/// A paper as PDF and as PostScript, a manual and a form.
fn crawl() -> Crawl {
    let mut warc = Warc::default();
    let paper = sample("paper.txt");
    for (number, (url, media_type, bytes)) in [
        (
            "http://www.example.edu/lichens.pdf",
            "application/pdf",
            printed(&paper, 1),
        ),
        (
            "http://mirror.example.org/lichens.ps",
            "application/postscript",
            printed_as_postscript(&paper),
        ),
        (
            "http://www.example.edu/manual.pdf",
            "application/pdf",
            printed(&sample("manual.txt"), 2),
        ),
        (
            "http://forms.example.com/form.pdf",
            "application/pdf",
            printed(&sample("form.txt"), 3),
        ),
    ]
    .iter()
    .enumerate()
    {
        warc.response(url, &date(number), media_type, bytes);
    }
    let crawl = Crawl::new();
    crawl.write("crawl.warc.gz", &warc.bytes);
    crawl
}

fn lines(crawl: &Crawl, arguments: &[&str]) -> Vec<Value> {
    let printed = prints(crawl.garner(arguments).output());
    printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The output of a command that succeeds, whatever it says on stderr.
fn run(output: Output) -> String {
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

fn search(crawl: &Crawl, query: &str) -> Vec<Value> {
    lines(crawl, &["documents", "search", query, "--json"])
}

#[test]
fn an_imported_paper_is_found_by_its_words_with_its_title_language_and_passages() {
    let crawl = crawl();
    crawl.import(0, &ON);

    let found = search(&crawl, "\"growth of lichens\" lichen* host:example.edu");

    assert_eq!(found.len(), 1, "{found:#?}");
    let document = &found[0];
    assert_eq!(document["url"], "http://www.example.edu/lichens.pdf");
    assert!(
        document["title"].as_str().unwrap().contains("Lichens"),
        "{document:#}"
    );
    assert_eq!(document["language"], "en");
    let passages = serde_json::to_string(&document["passages"]).unwrap();
    assert!(passages.contains("\"match\":true"), "{passages}");
    assert_eq!(search(&crawl, "lichens").len(), 2);
    assert_eq!(search(&crawl, "lichens -growth").len(), 0);
    assert_eq!(
        search(
            &crawl,
            "kind:paper language:eng type:application/postscript"
        )
        .len(),
        1
    );
}

#[test]
fn documents_are_retrieved_by_their_words_their_language_and_any_kind() {
    let crawl = crawl();
    crawl.import(0, &ON);
    run(crawl
        .garner(&[
            "documents",
            "correct",
            "2",
            "--accept",
            "--kind",
            "lecture-notes",
        ])
        .output());
    let retrieved = |arguments: &[&str]| {
        let output = crawl.path("out.jsonl");
        let fixed = [
            "retrieve",
            "--replace",
            "--output",
            output.to_str().unwrap(),
        ];
        run(crawl.garner(&[&fixed, arguments].concat()).output());
        let text = std::fs::read_to_string(output).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines
            .map(|line: Value| line["id"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };

    assert_eq!(
        retrieved(&["--query", "\"growth of lichens\" lichen*"]),
        [1, 2]
    );
    assert_eq!(retrieved(&["--query", "lichens host:example.org"]), [2]);
    assert_eq!(retrieved(&["--query", "type:image/*"]), [0; 0]);
    assert_eq!(retrieved(&["--query", "-growth lichens"]), [0; 0]);
    assert_eq!(retrieved(&["--language", "eng"]), [1, 2]);
    assert_eq!(retrieved(&["--language", "de"]), [0; 0]);
    assert_eq!(retrieved(&["--kind", "lecture-notes"]), [2]);
    assert_eq!(retrieved(&["--kind", "syllabus"]), [0; 0]);
    for (arguments, part) in [
        (
            ["--query", "lichens \"open"],
            "the quotation mark is not closed",
        ),
        (["--language", "xx"], "there is no language `xx`"),
        (["--kind", "novel"], "there is no kind `novel`"),
    ] {
        let output = crawl
            .garner(&["retrieve", "--output", "x.zip"])
            .args(arguments);
        let output = output.output();
        assert!(!output.status.success());
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}

#[test]
fn lists_and_searches_are_sorted_and_take_families_of_types_and_years() {
    let crawl = crawl();
    crawl.import(0, &ON);
    let ids = |arguments: &[&str]| {
        let found = lines(&crawl, &[arguments, &["--json"]].concat());
        let ids = found.iter().map(|line| line["id"].as_i64().unwrap());
        ids.collect::<Vec<_>>()
    };

    for (sort, expected) in [
        (vec!["type"], [1, 2]),
        (vec!["type", "--descending"], [2, 1]),
        (vec!["host"], [1, 2]),
        (vec!["title"], [1, 2]),
        (vec!["newest"], [2, 1]),
    ] {
        let arguments = [&["documents", "list", "--sort"], &sort[..]].concat();
        assert_eq!(ids(&arguments), expected, "{sort:?}");
    }
    let sizes = lines(&crawl, &["documents", "list", "--sort", "size", "--json"]);
    assert!(
        sizes[0]["size"].as_u64() < sizes[1]["size"].as_u64(),
        "{sizes:#?}"
    );
    assert_eq!(
        ids(&["documents", "search", "lichens", "--sort", "newest"]),
        [2, 1]
    );
    assert_eq!(
        ids(&["documents", "search", "lichens", "--sort", "host"]),
        [1, 2]
    );
    assert_eq!(
        ids(&[
            "documents",
            "search",
            "type:application/*",
            "--sort",
            "host"
        ]),
        [1, 2]
    );
    assert_eq!(
        ids(&["documents", "list", "--type", "application/*"]),
        [1, 2]
    );
    assert_eq!(ids(&["documents", "list", "--type", "image/*"]), [0; 0]);
    let year = &date(0)[..4];
    assert_eq!(
        ids(&["documents", "search", &format!("lichens year:{year}")]).len(),
        2
    );
    assert_eq!(ids(&["documents", "search", "lichens year:1999"]), [0; 0]);
}

#[test]
fn a_restored_document_is_found_at_once() {
    let crawl = crawl();
    crawl.import(0, &ON);
    let remove = ["documents", "remove", "1", "--reason", "a test"];
    run(crawl.garner(&remove).output());
    assert_eq!(search(&crawl, "lichens").len(), 1);

    let restored = crawl
        .garner(&["documents", "restore", "1", "--json"])
        .output();

    let restored: Value = serde_json::from_str(&run(restored)).unwrap();
    assert_eq!(restored["unindexed"], 0, "{restored}");
    assert_eq!(search(&crawl, "lichens").len(), 2);
}

#[test]
fn a_kind_alone_leaves_what_a_person_decided() {
    let crawl = crawl();
    crawl.import(0, &ON);
    let correct = |arguments: &[&str]| {
        let fixed = ["documents", "correct", "1"];
        run(crawl.garner(&[&fixed, arguments].concat()).output());
        let shown = run(crawl.garner(&["documents", "show", "1", "--json"]).output());
        let shown: Value = serde_json::from_str(&shown).unwrap();
        (shown["decision"].clone(), shown["kind"].clone())
    };

    assert_eq!(correct(&["--accept"]).0, "accept");
    assert_eq!(
        correct(&["--kind", "form"]),
        (json!("accept"), json!("form"))
    );
    assert_eq!(correct(&["--reject"]).0, "reject");
    assert_eq!(
        correct(&["--kind", "paper"]),
        (json!("reject"), json!("paper"))
    );
}

#[test]
fn titles_with_a_year_are_titles() {
    let crawl = Crawl::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/crawl.warc.gz");

    crawl.import(0, &[example, "--text"]);

    let documents = crawl.documents();
    let lens = documents.iter().find(|document| {
        document["url"]
            .as_str()
            .unwrap()
            .ends_with("lens-of-1871.pdf")
    });
    assert_eq!(lens.unwrap()["title"], "The lens of 1871", "{documents:#?}");
}

#[test]
fn an_import_that_kept_nothing_says_so_everywhere() {
    let crawl = crawl();

    let counters = crawl.import(0, &["crawl.warc.gz", "--types", "image/png"]);

    assert_eq!(counters["state"], "ok");
    assert_eq!(counters["kept_nothing"], true);
    let history = run(crawl.garner(&["history", "--imports"]).output());
    assert!(
        history.contains("nothing was kept: 4 of 4 captures are of other"),
        "{history}"
    );
    let import = &lines(&crawl, &["history", "--imports", "--json"])[0];
    assert_eq!(import["kept_nothing"], true, "{import:#}");
    let of_run = &lines(&crawl, &["run", "list", "--json"])[0];
    assert!(
        of_run["reason"]
            .as_str()
            .unwrap()
            .contains("nothing was kept"),
        "{of_run:#}"
    );
    crawl.import(0, &["crawl.warc.gz"]);
    let import = &lines(&crawl, &["history", "--imports", "--json"])[0];
    assert_eq!(import["kept_nothing"], false, "{import:#}");
}

#[test]
fn a_broken_query_is_refused_with_the_place_of_the_mistake() {
    let crawl = crawl();
    crawl.import(0, &ON);
    for (query, part) in [
        (
            "lichens \"open",
            "character 9: the quotation mark is not closed",
        ),
        (
            "lichens colour:red",
            "character 9: there is no field `colour`",
        ),
        ("kind:novel", "there is no kind `novel`"),
        ("?!", "there is no word in it"),
    ] {
        let output = crawl.garner(&["documents", "search", query]).output();
        assert!(!output.status.success());
        assert!(
            stderr(&output).contains(part),
            "{query}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn a_paper_in_two_formats_is_a_near_duplicate_and_is_not_merged() {
    let crawl = crawl();
    crawl.import(0, &ON);

    let documents = lines(&crawl, &["documents", "list", "--json"]);

    assert_eq!(documents.len(), 2, "{documents:#?}");
    assert!(documents[0]["near"].is_i64(), "{documents:#?}");
    assert_eq!(documents[0]["near"], documents[1]["near"]);
    let shown = prints(crawl.garner(&["documents", "show", "1"]).output());
    assert!(
        shown.contains("% the same, http://mirror.example.org/lichens.ps"),
        "{shown}"
    );
    let figures = &lines(&crawl, &["statistics", "--collection", "--json"])[0];
    assert_eq!(
        (&figures["documents"], &figures["near_duplicates"]),
        (&json!(2), &json!(2)),
        "{figures:#}"
    );
}

#[test]
fn a_rejected_document_can_be_looked_at_and_accepted_and_is_rejected_no_more() {
    let crawl = crawl();
    crawl.import(0, &ON);
    let waiting = lines(&crawl, &["documents", "review", "--json"]);
    assert_eq!(waiting.len(), 2, "{waiting:#?}");
    let manual = waiting
        .iter()
        .find(|one| one["url"].as_str().unwrap().contains("manual"))
        .unwrap();
    assert_eq!(manual["decision"], "reject");
    let number = manual["id"].to_string();

    let decide = |arguments: &[&str]| {
        let arguments = [&["documents", "review"], arguments].concat();
        let output = crawl.garner(&arguments).output();
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    assert_eq!(
        decide(&["--accept", "--kind", "manual", &number]),
        "1 document accepted\n"
    );

    let documents = lines(&crawl, &["documents", "list", "--kind", "manual", "--json"]);
    assert_eq!(documents.len(), 1, "{documents:#?}");
    assert_eq!(documents[0]["decision"], "accept");
    assert_eq!(documents[0]["state"], "not_ingested");
    let path = documents[0]["path"].as_str().unwrap();
    assert!(std::path::Path::new(path).is_file(), "{path}");
    let met = std::fs::read_to_string(format!("{path}.met")).unwrap();
    for line in [
        "<correctedDecision>accept</correctedDecision>",
        "<correctedKind>manual</correctedKind>",
    ] {
        assert!(met.contains(line), "{met}");
    }
    assert_eq!(search(&crawl, "kind:manual").len(), 1);
    decide(&["--reject", "--host", "forms.example.com"]);
    assert_eq!(
        lines(&crawl, &["documents", "review", "--json"]),
        Vec::<Value>::new()
    );
    // Documents that a person rejected do not come back, and accepted ones stay.
    crawl.import(0, &ON);
    assert_eq!(
        lines(&crawl, &["documents", "review", "--json"]),
        Vec::<Value>::new()
    );
    assert_eq!(lines(&crawl, &["documents", "list", "--json"]).len(), 3);
}

#[test]
fn the_review_queue_begins_with_what_a_decision_would_teach_most() {
    let mut warc = Warc::default();
    let beginning: String = sample("paper.txt").chars().take(1500).collect();
    let between = format!("{beginning}\n{}", sample("manual.txt"));
    for (number, text) in [sample("manual.txt"), sample("form.txt"), between]
        .iter()
        .enumerate()
    {
        let url = format!("http://www{number}.example.edu/a.pdf");
        let bytes = printed(text, number);
        warc.response(&url, &date(number), "application/pdf", &bytes);
    }
    let crawl = Crawl::new();
    crawl.write("crawl.warc.gz", &warc.bytes);
    crawl.import(0, &ON);

    let waiting = lines(&crawl, &["documents", "review", "--uncertain", "--json"]);

    let doubt = |one: &Value| (one["probability"].as_f64().unwrap() - 0.5).abs();
    assert_eq!(waiting.len(), 3, "{waiting:#?}");
    assert_eq!(waiting[0]["host"], "www2.example.edu", "{waiting:#?}");
    assert!(doubt(&waiting[0]) < doubt(&waiting[1]), "{waiting:#?}");
    // Another order than that of the numbers, and page by page the same.
    let surest = [
        "documents",
        "review",
        "--uncertain",
        "--limit",
        "1",
        "--json",
    ];
    assert_eq!(lines(&crawl, &surest), waiting[..1]);
    let numbered = lines(&crawl, &["documents", "review", "--json"]);
    assert_eq!(numbered[2], waiting[0]);
}

#[test]
fn a_number_that_is_not_in_the_queue_is_named_and_in_the_exit_code() {
    let crawl = crawl();
    crawl.import(0, &ON);

    let output = crawl
        .garner(&["documents", "review", "--accept", "99"])
        .output();

    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("there is no document 99 in the review queue"));
}

#[test]
fn an_import_that_kept_nothing_says_so() {
    let mut warc = Warc::default();
    warc.response(
        "http://forms.example.com/form.pdf",
        &date(1),
        "application/pdf",
        &printed(&sample("form.txt"), 1),
    );
    let crawl = Crawl::new();
    crawl.write("crawl.warc.gz", &warc.bytes);

    let counted = crawl.import(0, &ON);

    let imported = &lines(&crawl, &["history", "--imports", "1", "--json"])[0];
    let reason = imported["reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("nothing was kept"),
        "{imported:#}\n{counted:#}"
    );
}
