//! The content filter in imports: which documents are kept, what is remembered of them, and what librarians say.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::crawl::{Crawl, Warc, date};
use super::papers::{blank, encrypted, printed, printed_as_postscript, sample, scanned};
use crate::command_line::{fails, stderr, stdout};

const ON: [&str; 2] = ["--content-filter", "on"];

/// A crawl of documents, each with its name.
fn crawl_of(documents: &[(&str, Vec<u8>)]) -> Crawl {
    let mut warc = Warc::default();
    for (number, (name, bytes)) in documents.iter().enumerate() {
        let url = format!("http://www.example.edu/{name}.pdf");
        warc.response(&url, &date(number), "application/pdf", bytes);
    }
    let crawl = Crawl::new();
    crawl.write("crawl.warc.gz", &warc.bytes);
    crawl
}

fn mixed() -> Crawl {
    crawl_of(&[
        ("paper", printed(&sample("paper.txt"), 1)),
        ("manual", printed(&sample("manual.txt"), 2)),
        ("form", printed(&sample("form.txt"), 3)),
        ("encrypted", encrypted()),
        (
            "damaged",
            b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\n".to_vec(),
        ),
        ("blank", blank()),
        ("scan", scanned(&printed(&sample("paper.txt"), 4))),
    ])
}

fn names(crawl: &Crawl) -> Vec<String> {
    let documents = crawl.documents().into_iter();
    let name = |url: &str| url.rsplit('/').next().unwrap().to_owned();
    documents
        .map(|document| name(document["url"].as_str().unwrap()))
        .collect()
}

#[test]
fn papers_are_kept_with_their_text_and_others_are_counted_for_what_they_are() {
    let crawl = mixed();

    let counted = crawl.import(0, &[&ON[..], &["crawl.warc.gz"]].concat());

    assert_eq!(names(&crawl), ["paper.pdf"]);
    for (name, count) in [
        ("all", 7),
        ("saved_New", 1),
        ("filtered", 2),
        ("filtered_DCF", 2),
        ("failed_TextExtract", 4),
        ("text_Encrypted", 1),
        ("text_Damaged", 1),
        ("text_Empty", 1),
        ("text_ImageOnly", 1),
        ("text_Failed", 0),
    ] {
        assert_eq!(counted[name], count, "{name}: {counted}");
    }
    let judgement = &crawl.documents()[0]["judgement"];
    assert_eq!(judgement["outcome"], "text");
    assert_eq!(
        (&judgement["decision"], &judgement["kind"]),
        (&json!("accept"), &json!("short_paper"))
    );
    assert!(judgement["probability"].as_f64().unwrap() > 0.6);
    assert!(
        judgement["engine"]
            .as_str()
            .unwrap()
            .starts_with("pdftotext ")
    );
    let files = crawl.files();
    let text = &files[&b"000/000/001/000.000.001.txt".to_vec()];
    assert!(String::from_utf8_lossy(text).contains("Growth of Lichens"));
    let met = &files[&b"000/000/001/000.000.001.pdf.met".to_vec()];
    let met = String::from_utf8_lossy(met);
    for line in [
        "<textOutcome>text</textOutcome>",
        "<decision>accept</decision>",
        "<kind>short_paper</kind>",
        "<model>",
    ] {
        assert!(met.contains(line), "{met}");
    }
    let report = std::fs::read_to_string(counted["report"].as_str().unwrap()).unwrap();
    assert!(
        report.contains("manual.pdf: content filter: reject"),
        "{report}"
    );
    assert!(
        report.contains("encrypted.pdf: no text: encrypted"),
        "{report}"
    );
}

#[test]
fn what_was_judged_once_is_not_read_again() {
    let crawl = mixed();
    let import = [&ON[..], &["crawl.warc.gz"]].concat();
    let first = crawl.import(0, &import);
    let left = crawl.left();

    // Without any program that could read a document.
    let again = crawl
        .garner(&["import", "--json"])
        .args(&import)
        .env("PATH", "")
        .output();

    assert!(again.status.success(), "{}", stderr(&again));
    let again: Value = serde_json::from_str(&stdout(&again)).unwrap();
    for name in [
        "filtered_DCF",
        "failed_TextExtract",
        "text_Encrypted",
        "text_ImageOnly",
    ] {
        assert_eq!(again[name], first[name], "{name}");
    }
    assert_eq!(
        (&again["saved_New"], &again["saved_Duplicate"]),
        (&json!(0), &json!(1))
    );
    crawl.left().assert_is(&left);
}

#[test]
fn other_kinds_can_be_wanted_and_thresholds_moved() {
    let crawl = mixed();

    crawl.import(
        0,
        &[
            "crawl.warc.gz",
            "--content-filter",
            "on",
            "--kinds",
            "manual",
        ],
    );
    assert_eq!(names(&crawl), ["manual.pdf"]);

    // Remembered documents are decided on anew.
    crawl.import(
        0,
        &[
            "crawl.warc.gz",
            "--content-filter",
            "on",
            "--kinds",
            "manual,paper",
        ],
    );
    assert_eq!(names(&crawl), ["manual.pdf", "paper.pdf"]);
    let said = crawl.try_import(&["crawl.warc.gz", "--content-filter", "on", "--accept", "0.2"]);
    assert_eq!(said.status.code(), Some(2), "{}", stderr(&said));
    let none = crawl.try_import(&[
        "crawl.warc.gz",
        "--content-filter",
        "on",
        "--model",
        "none.model",
    ]);
    assert!(
        stderr(&none).contains("cannot read the model none.model"),
        "{}",
        stderr(&none)
    );
}

/// Issue 19: `garner classify` said of a text that a limit cut that there was none, and decided on other digits.
#[test]
fn a_document_is_judged_alike_by_an_import_by_classify_and_when_it_is_judged_again() {
    let text = sample("paper.txt").repeat(2);
    let paper = printed(&text, 1);
    let crawl = crawl_of(&[("paper", paper.clone())]);
    crawl.write("paper.pdf", &paper);
    // An engine that prints the text, and then takes more processor time than it may.
    let engines = tempfile::tempdir().unwrap();
    let engine = engines.path().join("pdftotext");
    let quoted = text.replace('\'', "'\\''");
    let script =
        format!("#!/bin/sh\nulimit -S -t 1\nprintf '%s' '{quoted}'\nwhile :; do :; done\n");
    std::fs::write(&engine, script).unwrap();
    std::fs::set_permissions(&engine, PermissionsExt::from_mode(0o755)).unwrap();

    let imported = crawl
        .garner(&["import", "--json", "crawl.warc.gz"])
        .args(ON)
        .env("PATH", engines.path())
        .output();
    let classified = crawl
        .garner(&["classify", "--json", "paper.pdf"])
        .env("PATH", engines.path())
        .output();

    assert!(imported.status.success(), "{}", stderr(&imported));
    let [document] = &crawl.documents()[..] else {
        panic!("{}", stderr(&imported));
    };
    let judgement = &document["judgement"];
    assert_eq!(judgement["outcome"], "limit-processor");
    assert!(classified.status.success(), "{}", stderr(&classified));
    let classified: Value = serde_json::from_str(&stdout(&classified)).unwrap();
    for field in ["probability", "decision", "kind", "model"] {
        assert_eq!(classified[field], judgement[field], "{field}");
    }

    // By another model and back, from the stored text.
    for model in ["--model=cdi-2012", "--accept=0.6"] {
        let again = crawl.garner(&["classify", "--collection", model]).output();
        assert!(again.status.success(), "{}", stderr(&again));
    }
    assert_eq!(crawl.documents()[0]["judgement"], *judgement);
}

/// Texts in the encoding of another time were judged as they are by an import, and as rubbish by `garner classify`.
#[test]
fn a_plain_text_is_decoded_before_it_is_judged_whoever_judges() {
    let text = sample("paper-de.txt").replace(['\u{2013}', '\u{201e}', '\u{201c}'], "-");
    let latin: Vec<u8> = text
        .chars()
        .map(|c| u8::try_from(c).unwrap_or(b'?'))
        .collect();
    let crawl = Crawl::new();
    crawl.write("utf-8.txt", text.as_bytes());
    crawl.write("latin-1.txt", &latin);

    let judged = crawl
        .garner(&["classify", "--json", "utf-8.txt", "latin-1.txt"])
        .output();

    let judged = stdout(&judged);
    let mut judged = judged.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["probability"].clone()
    });
    assert!(text.contains('\u{e4}'), "it has letters that differ");
    assert_eq!(judged.next(), judged.next());
}

#[test]
fn what_the_model_is_not_sure_of_is_set_aside_until_a_librarian_has_looked() {
    let crawl = mixed();
    let unsure = ["--accept", "1", "--reject", "0", "--unsure", "set-aside"];
    let import = [&ON[..], &unsure, &["crawl.warc.gz"]].concat();

    let counted = crawl.import(0, &import);

    assert_eq!(
        (&counted["saved_New"], &counted["saved_SetAside"]),
        (&json!(3), &json!(3))
    );
    let list = |state: &str| {
        stdout(
            &crawl
                .garner(&["documents", "list", "--state", state])
                .output(),
        )
    };
    assert_eq!(
        (
            list("set-aside").lines().count(),
            list("not-ingested").lines().count()
        ),
        (3, 0)
    );

    let accepted = crawl
        .garner(&["documents", "correct", "1", "--accept"])
        .output();
    assert!(accepted.status.success(), "{}", stderr(&accepted));
    assert!(list("not-ingested").contains("paper.pdf"));
    let rejected = crawl
        .garner(&["documents", "correct", "2", "--kind", "manual"])
        .output();
    assert!(
        stderr(&rejected).contains("rejected, and set aside"),
        "{}",
        stderr(&rejected)
    );

    // A librarian is right, whatever a model says.
    let again = crawl.import(0, &["crawl.warc.gz", "--content-filter", "on"]);
    assert_eq!(again["filtered_DCF"], 2);
    assert!(list("set-aside").contains("manual.pdf"));
    let none = crawl
        .garner(&["documents", "correct", "99", "--accept"])
        .output();
    assert!(fails(&none).contains("there is no document 99"));
}

#[test]
fn corrections_are_printed_as_training_data() {
    let crawl = mixed();
    crawl.import(0, &["crawl.warc.gz", "--text"]);
    let manual = crawl
        .documents()
        .into_iter()
        .find(|d| d["url"].as_str().unwrap().contains("manual"))
        .unwrap();
    let number = manual["id"].to_string();
    assert!(
        crawl
            .garner(&["documents", "correct", &number, "--kind", "manual"])
            .output()
            .status
            .success()
    );

    let printed = stdout(&crawl.garner(&["classifier", "corrections"]).output());

    let lines: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 1, "{printed}");
    assert_eq!(
        (&lines[0]["label"], &lines[0]["kind"]),
        (&json!("nonacademic"), &json!("manual"))
    );
    assert_eq!(lines[0]["source"], "www.example.edu");
    assert!(lines[0]["text"].as_str().unwrap().len() > 500);
}

#[test]
fn a_text_that_is_missing_is_read_when_the_collection_is_judged() {
    let crawl = mixed();
    crawl.import(0, &["crawl.warc.gz", "--content-filter", "on"]);
    // The manual was rejected and not kept; now it is, without its text.
    crawl.import(0, &["crawl.warc.gz"]);
    for (name, id) in crawl.documents().iter().map(|d| (&d["url"], &d["id"])) {
        let name = name.as_str().unwrap();
        if name.contains("manual") || name.contains("encrypted") {
            let number = id.to_string();
            let corrected = crawl.garner(&["documents", "correct", &number, "--accept"]);
            assert!(corrected.output().status.success());
        }
    }
    let corrections = || crawl.garner(&["classifier", "corrections"]).output();
    let said = stderr(&corrections());
    assert!(
        said.contains("has no stored text; garner classify --collection reads it"),
        "{said}"
    );
    assert!(said.contains("because it has no text: encrypted"), "{said}");

    let output = crawl
        .garner(&["classify", "--collection", "--json"])
        .output();

    let counted: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(counted["read"], 2, "the manual and the form");
    let after = corrections();
    assert!(
        !stderr(&after).contains("no stored text"),
        "{}",
        stderr(&after)
    );
    assert_eq!(stdout(&after).lines().count(), 1);
}

#[test]
fn texts_are_stored_without_the_filter_if_asked_for() {
    let crawl = mixed();

    let counted = crawl.import(0, &["crawl.warc.gz", "--text"]);

    assert_eq!(
        (&counted["saved_New"], &counted["failed_TextExtract"]),
        (&json!(7), &json!(0))
    );
    assert_eq!(
        (&counted["text_Encrypted"], &counted["text_ImageOnly"]),
        (&json!(1), &json!(1))
    );
    let texts = crawl
        .files()
        .into_keys()
        .filter(|path| path.ends_with(b".txt"));
    assert_eq!(texts.count(), 3);
    let decided = crawl
        .documents()
        .into_iter()
        .filter(|document| !document["judgement"]["decision"].is_null());
    assert_eq!(decided.count(), 0);
    let verified = crawl.garner(&["verify"]).output();
    assert!(verified.status.success(), "{}", stderr(&verified));
}

#[test]
fn a_missing_program_is_named_once_and_the_import_goes_on() {
    let paper = || printed_as_postscript(&sample("paper.txt"));
    let manual = printed_as_postscript(&sample("manual.txt"));
    let crawl = crawl_of(&[
        ("paper", printed(&sample("paper.txt"), 1)),
        ("paper-in-postscript", paper()),
        ("manual-in-postscript", manual),
    ]);

    let output = crawl
        .garner(&["import", "--json", "crawl.warc.gz"])
        .args(ON)
        .env("PATH", "")
        .output();

    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(said.matches("package poppler-utils").count(), 1, "{said}");
    assert_eq!(said.matches("package ghostscript").count(), 1, "{said}");
    let counted: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (
            &counted["text_EngineMissing"],
            &counted["failed_TextExtract"]
        ),
        (&json!(2), &json!(2))
    );
    let [read] = &crawl.documents()[..] else {
        panic!("PDF is read without any program");
    };
    let engine = read["judgement"]["engine"].as_str().unwrap();
    assert!(engine.starts_with("garner-pdf "), "{engine}");

    // It is tried again when it can be.
    let again = crawl.import(0, &["crawl.warc.gz", "--content-filter", "on"]);
    assert_eq!(again["saved_New"], 1);
}

#[test]
fn scans_are_recognised_when_all_else_is_done() {
    let crawl = crawl_of(&[
        ("scan", scanned(&printed(&sample("paper.txt"), 1))),
        ("scanned-form", scanned(&printed(&sample("form.txt"), 2))),
        ("paper", printed(&sample("paper.txt"), 3)),
    ]);

    let counted = crawl.import(0, &["crawl.warc.gz", "--content-filter", "on", "--ocr"]);

    assert_eq!(
        (&counted["saved_New"], &counted["saved_SetAside"]),
        (&json!(3), &json!(2))
    );
    let documents = crawl.documents();
    let of = |name: &str| {
        documents
            .iter()
            .find(|d| d["url"].as_str().unwrap().contains(name))
            .unwrap()
    };
    let scan = of("/scan.pdf");
    assert_eq!(
        (&scan["state"], &scan["judgement"]["decision"]),
        (&json!("not_ingested"), &json!("accept"))
    );
    assert!(
        scan["judgement"]["engine"]
            .as_str()
            .unwrap()
            .contains("tesseract")
    );
    assert_eq!(of("form")["state"], "set_aside");
    let texts: Vec<_> = crawl
        .files()
        .into_iter()
        .filter(|(path, _)| path.ends_with(b".txt"))
        .collect();
    assert_eq!(texts.len(), 3);
}

#[test]
fn scans_that_cannot_be_recognised_are_counted_and_tried_again() {
    let crawl = crawl_of(&[
        ("scan", scanned(&printed(&sample("paper.txt"), 1))),
        ("scanned-form", scanned(&printed(&sample("form.txt"), 2))),
    ]);
    let import = |options: &[&str], path: &str| {
        crawl
            .garner(&["import", "--json", "crawl.warc.gz", "--ocr"])
            .args(ON)
            .args(options)
            .env("PATH", path)
            .output()
    };
    let programs = std::env::var("PATH").unwrap();

    let output = import(&["--language", "zzz"], &programs);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("2 scans could not be recognised"), "{said}");
    assert_eq!(said.matches("tesseract-ocr-zzz").count(), 1, "{said}");
    let counted: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&counted["text_EngineMissing"], &counted["saved_SetAside"]),
        (&json!(2), &json!(2))
    );

    let folder = tempfile::tempdir().unwrap();
    for program in ["pdftotext", "pdfimages", "pdftoppm", "gs"] {
        let place = Path::new("/usr/bin").join(program);
        std::os::unix::fs::symlink(place, folder.path().join(program)).unwrap();
    }
    let output = import(&[], folder.path().to_str().unwrap());
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(said.matches("package tesseract-ocr;").count(), 1, "{said}");
    let counted: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(counted["text_EngineMissing"], 2);

    let output = import(&[], &programs);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let decided = |document: &Value| !document["judgement"]["decision"].is_null();
    assert!(crawl.documents().iter().all(decided));
}

#[test]
fn a_trial_and_an_import_without_the_database_judge_alike() {
    let crawl = mixed();

    let trial = crawl.import(0, &["crawl.warc.gz", "--content-filter", "on", "--dry-run"]);
    let folder = crawl.path("folder");
    let separate = crawl.import(
        0,
        &[
            "crawl.warc.gz",
            "--content-filter",
            "on",
            "--no-database",
            folder.to_str().unwrap(),
        ],
    );

    assert!(!crawl.data().exists());
    assert_eq!(
        (&trial["saved_New"], &trial["filtered_DCF"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        (&separate["saved_Separate"], &separate["filtered_DCF"]),
        (&json!(1), &json!(2))
    );
    assert!(folder.join("000/000/001/000.000.001.txt").exists());
}

#[test]
fn killed_with_the_filter_on_equals_undisturbed() {
    let texts = [
        "paper.txt",
        "manual.txt",
        "slides.txt",
        "paper-de.txt",
        "cv.txt",
    ]
    .map(sample);
    let documents: Vec<_> = (0..90)
        .map(|number| printed(&texts[number % texts.len()], number - number % 2))
        .collect();
    let named: Vec<_> = documents
        .iter()
        .enumerate()
        .map(|(n, d)| (format!("d{n}"), d.clone()))
        .collect();
    let named: Vec<_> = named
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.clone()))
        .collect();
    let undisturbed = crawl_of(&named);
    let counted = undisturbed.import(0, &["crawl.warc.gz", "--content-filter", "on"]);

    let crawl = crawl_of(&named);
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garner"));
        let command = command
            .args([
                "import",
                "crawl.warc.gz",
                "--content-filter",
                "on",
                "--json",
                "--data",
            ])
            .arg(crawl.data())
            .current_dir(crawl.path(""));
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for wait in [300, 900, 1500, 2100] {
        let mut child = start();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        if child.wait_with_output().unwrap().status.success() {
            break;
        }
    }
    let output = start().wait_with_output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
    crawl.left().assert_is(&undisturbed.left());
    if stderr(&output).contains("resuming import") {
        let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
        for name in [
            "all",
            "saved_New",
            "saved_Duplicate",
            "filtered_DCF",
            "saved_KnownContent",
        ] {
            assert_eq!(printed[name], counted[name], "{name}");
        }
    }
    let verified = crawl.garner(&["verify"]).output();
    assert!(verified.status.success(), "{}", stdout(&verified));
}

#[test]
fn a_collection_whose_catalog_is_lost_keeps_its_judgements() {
    let crawl = mixed();
    crawl.import(0, &["crawl.warc.gz", "--content-filter", "on"]);
    let before = crawl.documents()[0]["judgement"].clone();
    for name in ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"] {
        let _ = std::fs::remove_file(crawl.data().join(name));
    }

    let repaired = crawl.garner(&["verify", "--repair"]).output();

    assert!(repaired.status.success(), "{}", stderr(&repaired));
    let after = &crawl.documents()[0]["judgement"];
    for name in [
        "outcome",
        "engine",
        "decision",
        "probability",
        "kind",
        "model",
    ] {
        assert_eq!(after[name], before[name], "{name}");
    }
}

#[test]
fn a_collection_is_judged_again_from_its_texts() {
    let crawl = mixed();
    crawl.import(0, &["crawl.warc.gz", "--text"]);
    let classify = |options: &[&str]| {
        let command = crawl
            .garner(&["classify", "--collection", "--json"])
            .args(options);
        // No program is needed: the texts are there.
        let output = command.env("PATH", "").output();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };

    let first = classify(&[]);

    assert_eq!(
        (&first["documents"], &first["judged"]),
        (&json!(7), &json!(3))
    );
    assert_eq!(
        (&first["read"], &first["without_text"]),
        (&json!(0), &json!(4))
    );
    let aside = || {
        stdout(
            &crawl
                .garner(&["documents", "list", "--state", "set-aside"])
                .output(),
        )
    };
    assert!(
        aside().contains("manual.pdf") && !aside().contains("paper.pdf"),
        "{}",
        aside()
    );
    let met = String::from_utf8_lossy(&crawl.files()[&b"000/000/001/000.000.001.pdf.met".to_vec()])
        .into_owned();
    assert!(met.contains("<decision>accept</decision>"), "{met}");

    // The same again has nothing to do; other kinds need no new judgement; another model judges all.
    assert_eq!(classify(&[])["judged"], 0);
    let kinds = classify(&["--kinds", "manual"]);
    assert_eq!(
        (&kinds["judged"], &kinds["changed"]),
        (&json!(0), &json!(2))
    );
    assert!(
        aside().contains("paper.pdf") && !aside().contains("manual.pdf"),
        "{}",
        aside()
    );
    assert_eq!(classify(&["--model", "cdi-2012"])["judged"], 3);
    let verified = crawl.garner(&["verify"]).output();
    assert!(verified.status.success(), "{}", stderr(&verified));
}

#[test]
fn the_example_crawl_has_papers_and_others() {
    let crawl = Crawl::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");

    let counted = crawl.import(0, &[&ON[..], &[example.to_str().unwrap()]].concat());

    assert_eq!(
        names(&crawl),
        ["lens-of-1871.pdf", "fog.pdf", "lens%20of%201871.PDF"]
    );
    assert_eq!(counted["filtered_DCF"], 4, "{counted}");
}
