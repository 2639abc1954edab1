//! Documents retrieved: as directories, archives and lines, by command and by job; sampled, damaged, killed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use test_support::{Postgres, fetch, wait_until};

use crate::command_line::{stderr, stdout};
use crate::console::{Console, account, token};
use crate::import::{Warc, date, many, pdf};
use crate::managed::Managed;

/// A data directory with the documents of a made-up crawl.
fn imported(managed: Managed, papers: usize) -> Managed {
    import(managed, papers, &["--text"])
}

fn import(managed: Managed, papers: usize, options: &[&str]) -> Managed {
    let warc = managed.beside("crawl.warc.gz");
    std::fs::write(&warc, many(papers).bytes).unwrap();
    let types = "application/pdf,text/html";
    let arguments = [
        "import",
        warc.to_str().unwrap(),
        "--types",
        types,
        "--quiet",
    ];
    managed.garner(&[&arguments[..], options].concat());
    managed
}

fn on_both(test: fn(Managed)) {
    test(imported(Managed::new(), 60));
    test(imported(Managed::on(Postgres::shared().database()), 60));
}

/// Retrieves, and gives the outcome as JSON.
fn retrieve(managed: &Managed, output: &str, arguments: &[&str]) -> Value {
    let path = managed.beside(output);
    let fixed = ["retrieve", "--output", path.to_str().unwrap()];
    managed.json(&[&fixed, arguments].concat())
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn bytes(managed: &Managed, name: &str) -> Vec<u8> {
    std::fs::read(managed.beside(name)).unwrap()
}

#[test]
fn the_same_selection_and_seed_give_the_same_bytes_in_every_format() {
    on_both(|managed| {
        for (format, name) in [
            ("tar", "a.tar"),
            ("zip", "a.zip"),
            ("warc", "a.warc"),
            ("warc", "a.warc.gz"),
            ("csv", "a.csv"),
            ("jsonl", "a.jsonl"),
        ] {
            let again = format!("b-{name}");
            for output in [name, &again] {
                let arguments = [
                    "--format",
                    format,
                    "--sample",
                    "20",
                    "--seed",
                    "7",
                    "--text",
                    "--type",
                    "application/pdf",
                ];
                let outcome = retrieve(&managed, output, &arguments);
                assert_eq!(outcome["documents"], 20, "{format}: {outcome}");
                assert_eq!(outcome["seed"], "7");
            }
            assert!(bytes(&managed, name) == bytes(&managed, &again), "{format}");
            let other = format!("c-{name}");
            retrieve(
                &managed,
                &other,
                &["--format", format, "--sample", "20", "--seed", "8"],
            );
            assert!(bytes(&managed, name) != bytes(&managed, &other), "{format}");
        }
    });
}

#[test]
fn both_databases_draw_the_same_sample() {
    let managed = [
        imported(Managed::new(), 60),
        imported(Managed::on(Postgres::shared().database()), 60),
    ];
    let samples = managed.map(|managed| {
        retrieve(&managed, "a.jsonl", &["--sample", "9", "--seed", "x"]);
        let sample = lines(&managed.beside("a.jsonl")).into_iter();
        sample
            .map(|line| line["id"].as_i64().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(samples[0].len(), 9);
    assert_eq!(samples[0], samples[1]);
}

#[test]
fn archives_hold_the_documents_and_say_where_they_are_from() {
    let managed = imported(Managed::new(), 30);
    let files = |line: &Value| line["file"].as_str().unwrap().to_owned();

    retrieve(&managed, "directory", &["--type", "application/*"]);
    let directory = managed.beside("directory");
    let told = lines(&directory.join("documents.jsonl"));
    assert_eq!(told.len(), 30);
    for line in &told {
        let shown = managed.json(&["documents", "show", &line["id"].to_string()]);
        let original = std::fs::read(shown["path"].as_str().unwrap()).unwrap();
        assert!(std::fs::read(directory.join(files(line))).unwrap() == original);
        assert_eq!(line["url"], shown["url"]);
        assert_eq!(line.get("path"), None);
    }

    for (archive, unpack) in [
        ("a.tar", &["tar", "-xf"][..]),
        ("a.zip", &["python3", "-m", "zipfile", "-e"][..]),
    ] {
        retrieve(&managed, archive, &["--type", "application/*"]);
        let target = managed.beside(&format!("{archive}.d"));
        std::fs::create_dir(&target).unwrap();
        let mut command = Command::new(unpack[0]);
        command.args(&unpack[1..]).arg(managed.beside(archive));
        match archive {
            "a.tar" => command.arg("-C").arg(&target),
            _ => command.arg(&target),
        };
        let output = command.output().unwrap();
        assert!(output.status.success(), "{archive}: {}", stderr(&output));
        assert_eq!(lines(&target.join("documents.jsonl")), told, "{archive}");
        for line in &told {
            let [one, other] =
                [&target, &directory].map(|place| std::fs::read(place.join(files(line))).unwrap());
            assert!(one == other, "{archive}: {line}");
        }
    }
}

/// Another garner imports a WARC file of `retrieve`, with the same URLs and bytes.
#[test]
fn a_warc_file_can_be_imported_again() {
    for name in ["a.warc", "a.warc.gz"] {
        let managed = imported(Managed::new(), 20);
        retrieve(&managed, name, &["--type", "application/pdf", "--text"]);
        let other = Managed::new();
        let warc = managed.beside(name);
        other.garner(&[
            "import",
            warc.to_str().unwrap(),
            "--types",
            "application/pdf",
            "--quiet",
        ]);
        let known = |managed: &Managed| -> BTreeSet<String> {
            let documents = managed.lines(&["documents", "list", "--type", "application/pdf"]);
            let documents = documents.into_iter();
            documents
                .map(|document| {
                    format!(
                        "{} {} {}",
                        document["url"], document["content_sha1"], document["crawl_date"]
                    )
                })
                .collect()
        };
        assert_eq!(known(&managed), known(&other), "{name}");
    }
}

#[test]
fn conditions_select_and_the_command_line_and_the_api_count_alike() {
    on_both(|managed| {
        let number = |arguments: &[&str]| {
            let output = managed.beside("n.jsonl");
            let fixed = [
                "retrieve",
                "--replace",
                "--output",
                output.to_str().unwrap(),
            ];
            managed.json(&[&fixed, arguments].concat())["documents"]
                .as_u64()
                .unwrap()
        };
        managed.garner(&["documents", "state", "ingested", "2", "4"]);
        assert_eq!(number(&["--type", "application/pdf"]), 60);
        assert_eq!(number(&["--type", "text/html"]), 7);
        assert_eq!(
            number(&["--type", "text/*", "--type", "application/pdf"]),
            67
        );
        assert_eq!(number(&["--type", "*/*"]), 67);
        assert_eq!(
            number(&["--host", "HOST-1.example", "--host", "host-2.example"]),
            20
        );
        assert_eq!(number(&["--state", "ingested"]), 2);
        assert_eq!(
            number(&["--state", "ingested", "--state", "not-ingested"]),
            67
        );
        assert_eq!(number(&["--parent", "http://host-1.example/"]), 9);
        assert_eq!(number(&["--in-url", "PAPERS/3"]), 11);
        assert_eq!(number(&["--import", "1", "--limit", "5"]), 5);
        assert_eq!(number(&["--until", "2001-01-01"]), 0);
        assert_eq!(number(&["--sample", "1000"]), 67);
    });
}

#[test]
fn wrong_selections_are_refused_with_the_remedy() {
    let managed = imported(Managed::new(), 5);
    for (arguments, words) in [
        (&["--type", "pdf"][..], "application/pdf"),
        (&["--kind", "novel"], "thesis"),
        (&["--decision", "maybe"], "unsure"),
        (
            &["--parent", "http://nowhere.example/"],
            "no document is linked to",
        ),
        (
            &["--since", "2026-02-01", "--until", "2026-01-01"],
            "before",
        ),
        (&["--sample", "0"], "from 1"),
        (&["--min-probability", "2"], "from 0 to 1"),
        (&["--saved", "nothing"], "no retrieval is saved"),
    ] {
        let output = managed.beside("wrong.zip");
        let fixed = ["retrieve", "--output", output.to_str().unwrap()];
        let failed = managed.output(&[&fixed, arguments].concat());
        assert_eq!(failed.status.code(), Some(1), "{arguments:?}");
        assert!(
            stderr(&failed).contains(words),
            "{arguments:?}: {}",
            stderr(&failed)
        );
        assert!(!output.exists());
    }
    let usage = managed.output(&[
        "retrieve", "--output", "x.zip", "--sample", "3", "--limit", "3",
    ]);
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn nothing_that_exists_is_overwritten_unless_it_is_meant() {
    let managed = imported(Managed::new(), 5);
    let there = managed.write("there.zip", "mine");
    let (there, full) = (there.to_str().unwrap(), managed.beside("full"));
    std::fs::create_dir_all(full.join("of")).unwrap();
    std::fs::create_dir(managed.beside("empty")).unwrap();

    for output in [there, full.to_str().unwrap()] {
        let refused = managed.output(&["retrieve", "--output", output]);
        assert_eq!(refused.status.code(), Some(1), "{output}");
    }
    assert_eq!(std::fs::read_to_string(there).unwrap(), "mine");
    managed.garner(&["retrieve", "--output", there, "--replace"]);
    assert!(std::fs::read(there).unwrap().starts_with(b"PK"));
    retrieve(&managed, "empty", &[]);
    assert!(managed.beside("empty/documents.jsonl").exists());
}

#[test]
fn missing_and_damaged_files_are_named_and_counted() {
    let managed = imported(Managed::new(), 10);
    let of = |id: &str| {
        managed.json(&["documents", "show", id])["path"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let mut pdfs: Vec<_> = managed.lines(&["documents", "list", "--type", "application/pdf"]);
    // Some share their bytes, and so their file.
    pdfs.retain(|pdf| pdf["shared_with"].is_null());
    let [missing, cut, changed] = [0, 1, 2].map(|n: usize| pdfs[n]["id"].to_string());
    std::fs::remove_file(of(&missing)).unwrap();
    std::fs::write(of(&cut), "%PDF").unwrap();
    let mut other = std::fs::read(of(&changed)).unwrap();
    *other.last_mut().unwrap() ^= 1;
    std::fs::write(of(&changed), other).unwrap();

    for name in ["a.zip", "a.tar", "a.warc", "directory"] {
        let output = managed.beside(name);
        let output = managed.output(&["retrieve", "--json", "--output", output.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(3), "{name}: {}", stderr(&output));
        let outcome: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert!(outcome["missing"].as_u64() >= Some(1), "{outcome}");
        assert!(outcome["damaged"].as_u64() >= Some(2), "{outcome}");
        for id in [&missing, &cut, &changed] {
            assert!(
                stderr(&output).contains(&format!("document {id} (")),
                "{}",
                stderr(&output)
            );
        }
    }
    let told = lines(&managed.beside("directory/documents.jsonl"));
    let lost = told
        .iter()
        .find(|line| line["id"] == json!(missing.parse::<i64>().unwrap()))
        .unwrap();
    assert_eq!(
        (&lost["file"], &lost["problem"]),
        (&Value::Null, &json!("its file is missing"))
    );
}

/// Texts leave garner as UTF-8 without control characters, in whatever encoding the documents are.
#[test]
fn texts_that_are_not_utf_8_are_decoded_wherever_they_leave() {
    let managed = Managed::new();
    account(&managed, "root", "admin");
    let line = "Die Bücher über die schönen Künste gehören zur Überlieferung. ".repeat(9);
    let text = line.trim_end();
    let latin: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    let wide = |text: &str| {
        text.encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>()
    };
    let documents = [
        latin,
        wide(&format!("\u{feff}{text}")),
        format!("\u{feff}{text}\u{1b}\u{7}").into_bytes(),
    ];
    let mut warc = Warc::default();
    for (number, document) in documents.iter().enumerate() {
        let url = format!("http://lat.example/{number}.txt");
        warc.response(&url, &date(number + 1), "text/plain", document);
    }
    let crawl = managed.beside("crawl.warc.gz");
    std::fs::write(&crawl, warc.bytes).unwrap();
    let crawl = crawl.to_str().unwrap();
    managed.garner(&["import", crawl, "--types", "text/*", "--text", "--quiet"]);

    retrieve(&managed, "a.jsonl", &["--text"]);
    retrieve(&managed, "a.csv", &["--text"]);
    retrieve(&managed, "a.warc", &["--text"]);

    let lines = lines(&managed.beside("a.jsonl"));
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line["text"] == text), "{lines:#?}");
    for name in ["a.csv", "a.warc"] {
        let written = bytes(&managed, name);
        let texts = written
            .windows(text.len())
            .filter(|part| *part == text.as_bytes());
        // The WARC file has the bytes of the last document as well, which are UTF-8.
        assert!(texts.count() >= 3, "{name}");
    }
    let changes = managed.lines(&["feed", "changes", "--text"]);
    assert!(
        changes.iter().all(|change| change["text"] == text),
        "{changes:#?}"
    );
    let console = Console::start(managed, "");
    let bearer = format!("Bearer {}", token(&console, "root").1);
    for line in &lines {
        let path = format!("/api/v1/documents/{}/text", line["id"]);
        let answer = fetch(
            "GET",
            &console.at(&path),
            &[("Authorization", &bearer)],
            b"",
        );
        assert_eq!(answer.text(), text, "{path}");
        let header = |name| answer.header(name).unwrap_or_default();
        assert_eq!(header("content-type"), "text/plain; charset=utf-8");
        assert_eq!(header("content-length"), text.len().to_string());
    }
}

#[test]
fn a_text_that_is_missing_is_named_and_counted() {
    let managed = import(Managed::new(), 5, &["--types", "text/html", "--text"]);
    let one = managed.lines(&["documents", "list"]).remove(0);
    std::fs::remove_file(Path::new(one["path"].as_str().unwrap()).with_extension("txt")).unwrap();

    for name in ["a.zip", "a.warc", "a.jsonl", "a.csv"] {
        let output = managed.beside(name);
        let output = output.to_str().unwrap();
        let retrieved = managed.output(&["retrieve", "--text", "--json", "--output", output]);
        let said = stderr(&retrieved);
        assert_eq!(retrieved.status.code(), Some(3), "{name}: {said}");
        assert!(
            said.contains(&format!("document {} (", one["id"])),
            "{said}"
        );
        assert!(said.contains("its text is missing"), "{said}");
        let outcome: Value = serde_json::from_str(&stdout(&retrieved)).unwrap();
        assert!(outcome["missing_texts"].as_u64() >= Some(1), "{outcome}");
        // The document itself is there.
        assert_eq!(
            (&outcome["missing"], &outcome["damaged"]),
            (&json!(0), &json!(0))
        );
    }
    let told = lines(&managed.beside("a.jsonl"));
    let line = told.iter().find(|line| line["id"] == one["id"]).unwrap();
    assert_eq!(line["problem"], "its text is missing");
    let table = std::fs::read_to_string(managed.beside("a.csv")).unwrap();
    assert!(
        table.lines().next().unwrap().ends_with("text,problem"),
        "{table}"
    );
    assert!(table.contains("its text is missing"), "{table}");
}

#[test]
fn names_that_hardly_mean_a_directory_are_refused() {
    let managed = imported(Managed::new(), 5);
    for (output, words) in [
        ("sample.zipp", "`zipp` is no format"),
        ("nowhere/a.zip", "is no directory; make it first"),
    ] {
        let path = managed.beside(output);
        let refused = managed.output(&["retrieve", "--output", path.to_str().unwrap()]);
        assert_eq!(refused.status.code(), Some(1), "{output}");
        assert!(stderr(&refused).contains(words), "{}", stderr(&refused));
        assert!(!path.exists());
    }
    let refused = managed.output(&["retrieve", "--output", "-"]);
    assert!(stderr(&refused).contains("./-"), "{}", stderr(&refused));
    retrieve(&managed, "papers.2024", &["--format", "directory"]);
    let lines = managed.beside("a.csv");
    let told = managed.output(&["retrieve", "--output", lines.to_str().unwrap()]);
    assert_eq!(stderr(&told).trim(), "10 documents");
    let wrong = managed.output(&["retrieve", "--output", "x.zip", "--kind", "novel"]);
    assert!(
        stderr(&wrong).contains("kinds: there is no kind `novel`"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn a_retrieval_that_is_killed_leaves_nothing_under_its_name_and_is_done_again() {
    let managed = import(Managed::new(), 400, &[]);
    let output = managed.beside("a.zip");
    let arguments = ["retrieve", "--output", output.to_str().unwrap()];
    let part = managed.beside(".a.zip.part");
    let mut killed = 0;
    for _ in 0..10 {
        let mut command = managed.command(&arguments);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        wait_until("it writes", || part.exists() || output.exists());
        child.kill().unwrap();
        child.wait().unwrap();
        if !output.exists() {
            killed += 1;
            break;
        }
        std::fs::remove_file(&output).unwrap();
    }
    assert_eq!(killed, 1, "it was always through before it was killed");

    managed.garner(&arguments);
    assert!(output.exists() && !part.exists());
    retrieve(&managed, "b.zip", &[]);
    assert!(bytes(&managed, "a.zip") == bytes(&managed, "b.zip"));
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let managed = Managed::new();
    let mut warc = Warc::default();
    let long = [pdf(1), vec![b' '; 6 << 20]].concat();
    warc.response(
        "http://a.example/long.pdf",
        &date(1),
        "application/pdf",
        &long,
    );
    let crawl = managed.beside("crawl.warc.gz");
    std::fs::write(&crawl, warc.bytes).unwrap();
    managed.garner(&["import", crawl.to_str().unwrap(), "--quiet"]);
    // Files of this process may not grow beyond 4 MiB, which is what a full disk is to it; the catalog is shorter.
    let program = env!("CARGO_BIN_EXE_garner");
    for name in ["a.zip", "a.tar", "a.warc"] {
        let (output, data) = (managed.beside(name), managed.data());
        let line = format!(
            "trap '' XFSZ; ulimit -f 4096; exec {program} retrieve --output {} --data {}",
            output.display(),
            data.display()
        );
        let failed = Command::new("bash").args(["-c", &line]).output().unwrap();
        assert_eq!(failed.status.code(), Some(1), "{name}");
        let said = stderr(&failed);
        assert!(said.contains("nothing is left of it"), "{name}: {said}");
        assert!(!output.exists(), "{name}");
        assert!(!managed.beside(&format!(".{name}.part")).exists(), "{name}");
    }
}

#[test]
fn what_is_saved_is_retrieved_again() {
    let managed = imported(Managed::new(), 20);
    let save = [
        "retrieve",
        "--save",
        "pdf sample",
        "--type",
        "application/pdf",
        "--sample",
        "5",
        "--seed",
        "s",
    ];
    managed.garner(&[&save[..], &["--format", "jsonl"]].concat());

    retrieve(&managed, "a.jsonl", &["--saved", "pdf sample"]);
    retrieve(
        &managed,
        "b.jsonl",
        &["--type", "application/pdf", "--sample", "5", "--seed", "s"],
    );
    assert!(bytes(&managed, "a.jsonl") == bytes(&managed, "b.jsonl"));
    retrieve(
        &managed,
        "c.zip",
        &["--saved", "pdf sample", "--sample", "7", "--format", "zip"],
    );
    let listed = managed.lines(&["retrieve", "--list"]);
    assert_eq!(listed[0]["name"], "pdf sample");
    assert_eq!(listed[0]["order"]["selection"]["sample"], 5);
    managed.garner(&["retrieve", "--remove", "pdf sample"]);
    assert_eq!(managed.lines(&["retrieve", "--list"]), [Value::Null; 0]);
}

#[test]
fn a_job_retrieves_a_file_that_the_api_gives() {
    for managed in [Managed::new(), Managed::on(Postgres::shared().database())] {
        let managed = imported(managed, 20);
        account(&managed, "root", "admin");
        let console = Console::start(managed, "");
        let secret = token(&console, "root").1;
        let bearer = format!("Bearer {secret}");
        let ask = |method: &str, path: &str, body: &Value| {
            let headers = [
                ("Authorization", bearer.as_str()),
                ("Content-Type", "application/json"),
            ];
            let body = match body {
                Value::Null => Vec::new(),
                body => serde_json::to_vec(body).unwrap(),
            };
            fetch(method, &console.at(path), &headers, &body)
        };
        let selection = json!({ "media_types": ["application/pdf"], "sample": 5, "seed": "7" });
        let order = json!({ "selection": selection, "format": "zip" });

        let counted = ask(
            "POST",
            "/api/v1/retrievals/count",
            &json!({ "media_types": ["*/*"] }),
        );
        let counted: Value = serde_json::from_slice(&counted.body).unwrap();
        assert_eq!(
            counted,
            json!({ "documents": 27, "is_capped": false, "unindexed": 0 })
        );
        let added = ask("POST", "/api/v1/retrievals", &order);
        assert_eq!(added.status, 201, "{}", added.text());
        let job: Value = serde_json::from_slice(&added.body).unwrap();
        let job = console.managed.wait_for(&job, "finished");
        assert!(
            job["note"].as_str().unwrap().starts_with("5 documents, "),
            "{job}"
        );
        let path = format!("/api/v1/retrievals/{}/file", job["id"]);
        let file = ask("GET", &path, &Value::Null);
        assert_eq!(file.status, 200);

        let arguments = ["--type", "application/pdf", "--sample", "5", "--seed", "7"];
        retrieve(&console.managed, "a.zip", &arguments);
        assert!(file.body == bytes(&console.managed, "a.zip"));
        let wrong = json!({ "selection": { "kinds": ["novel"] }, "format": "zip" });
        assert_eq!(ask("POST", "/api/v1/retrievals", &wrong).status, 422);
        let unknown = ask("GET", "/api/v1/retrievals/99/file", &Value::Null);
        assert_eq!(unknown.status, 404);

        let saved = ask("PUT", "/api/v1/retrievals/saved/five%20papers", &order);
        assert_eq!(saved.status, 200, "{}", saved.text());
        let listed = ask("GET", "/api/v1/retrievals/saved", &Value::Null);
        let listed: Value = serde_json::from_slice(&listed.body).unwrap();
        let lines = console.managed.lines(&["retrieve", "--list"]);
        assert_eq!(listed["items"], json!(lines));
        let removed = ask(
            "DELETE",
            "/api/v1/retrievals/saved/five%20papers",
            &Value::Null,
        );
        assert_eq!(removed.status, 204);
    }
}
