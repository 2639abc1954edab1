//! The collection: documents that imports brought are found, read and told apart, and a search engine says what became
//! of them.

use axum::http::{Method, StatusCode};
use catalog::{
    CaptureRow, ContentRow, FinishImport, GroupCommit, ImportCounters, ImportState, ImportWarning,
    JudgementRow, NewImport, ParentRow, Probability, Role,
};
use serde_json::json;

use crate::browser::{TestConsole, request};

const HOSTILE: &str = "http://a.example/<script>alert(1)</script>.pdf";

/// A console on a collection of three documents, two of which have the same content.
fn console() -> TestConsole {
    let test = TestConsole::new();
    let (holdings, catalog) = (&test.holdings, test.holdings.catalog());
    let new = NewImport::new("{}", vec!["crawl.warc.gz".to_owned()]);
    let mut import = holdings.wait(catalog.begin_import(&new)).unwrap();
    let rows = [
        capture("http://a.example/one.pdf", "a.example", "1", 1_000),
        capture("http://b.example/copy.pdf", "b.example", "1", 2_000),
        capture(HOSTILE, "a.example", "2", 3_000),
    ];
    let placements = holdings.wait(catalog.reserve(&mut import, &rows)).unwrap();
    let group = GroupCommit {
        rows: &rows,
        placements: &placements,
        source: 0,
        position: 4_096,
        source_done: true,
        counters: ImportCounters::default(),
        warnings: &[ImportWarning {
            file: "crawl.warc.gz".to_owned(),
            offset: Some(77),
            reason: "the gzip member is damaged".to_owned(),
            kind: "record".to_owned(),
        }],
        judgements: &[],
    };
    holdings
        .wait(catalog.commit_group(&mut import, group))
        .unwrap();
    let finish = FinishImport::new(ImportState::Incomplete);
    holdings
        .wait(catalog.finish_import(import, &finish))
        .unwrap();
    test
}

fn capture(url: &str, host: &str, digit: &str, crawled: i64) -> CaptureRow {
    CaptureRow {
        url: url.to_owned(),
        md5: format!("{crawled:032x}"),
        host: host.to_owned(),
        parent: Some(ParentRow {
            url: "http://a.example/".to_owned(),
            md5: "f".repeat(32),
            host: "a.example".to_owned(),
        }),
        depth: Some(2),
        is_seed: Some(false),
        crawled,
        content: ContentRow::Bytes {
            sha1: digit.repeat(40),
            sha256: digit.repeat(64),
            size: 1_234,
            extension: "pdf".to_owned(),
        },
        declared_type: Some("text/plain".to_owned()),
        sniffed_type: Some("application/pdf".to_owned()),
        media_type: "application/pdf".to_owned(),
        member: None,
        source: "crawl.warc.gz at offset 0".to_owned(),
        digest_mismatch: None,
    }
}

#[test]
fn documents_are_found_by_what_is_known_of_them() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);
    let listed = |query: &str| {
        let answer = vic.call(
            Method::GET,
            &format!("/api/v1/documents?{query}"),
            &json!(null),
        );
        let items = answer.json()["items"].as_array().unwrap().clone();
        let urls = items.iter().map(|item| item["url"].as_str().unwrap());
        urls.map(|url| url.rsplit('/').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };

    assert_eq!(listed("").len(), 3);
    assert_eq!(listed("host=b.example"), ["copy.pdf"]);
    assert_eq!(listed("text=one"), ["one.pdf"]);
    assert_eq!(listed("state=ingested").len(), 0);
    assert_eq!(listed("since=1970-01-01T00:30:00Z").len(), 2);
    let page = vic.get("/documents?host=b.example");
    page.shows(StatusCode::OK, "http://b.example/copy.pdf");
    assert!(!page.body.contains("one.pdf"), "{}", page.body);
    vic.get("/documents?since=x")
        .shows(StatusCode::OK, "is not a date");
}

#[test]
fn lists_and_searches_are_sorted_and_downloaded() {
    let test = console();
    let reader = test.with_session("ann", Role::Viewer);

    let list = reader.get("/documents");
    for sort in ["title", "host", "type", "-size", "-updated", "state"] {
        let link = format!("sort={sort}");
        assert!(list.body.contains(&link), "{link} is not in {}", list.body);
        reader
            .get(&format!("/documents?sort={sort}"))
            .shows(StatusCode::OK, "3 documents");
    }
    let by_host = reader.get("/documents?sort=host&format=json");
    let hosts: Vec<_> = serde_json::from_str::<serde_json::Value>(&by_host.body)
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["host"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(hosts, ["a.example", "a.example", "b.example"]);
    let found = reader.get("/documents/search?query=type:application/*&sort=host");
    found.shows(StatusCode::OK, "sort=title");
    found.shows(StatusCode::OK, "year%3A1970");
    let csv = reader.get("/documents/search?query=type:application/*&sort=host&format=csv");
    assert_eq!(csv.body.lines().count(), 4, "{}", csv.body);
    assert!(csv.body.starts_with("id,score,title,url"), "{}", csv.body);
    let statistics = reader.get("/documents/statistics");
    statistics.shows(StatusCode::OK, "Documents by the month of the last crawl");
    statistics.shows(StatusCode::OK, "since=1970-01-01");
}

#[test]
fn a_document_shows_where_it_is_from_and_where_its_content_is_met_too() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    let page = vic.get("/documents/1");

    page.shows(StatusCode::OK, "000/000/001/000.000.001.pdf");
    page.shows(StatusCode::OK, "http://b.example/copy.pdf");
    page.shows(StatusCode::OK, "http://a.example/");
    assert!(!page.body.contains("/documents/1/state"), "{}", page.body);
    let hostile = vic.get("/documents?text=script");
    assert!(!hostile.body.contains("<script>alert"), "{}", hostile.body);
    vic.get("/documents/999")
        .shows(StatusCode::NOT_FOUND, "999");
}

#[test]
fn a_search_engine_says_what_became_of_documents() {
    let test = console();
    let engine = test.with_session("engine", Role::Operator);
    let new = json!({"documents": [1, 2, 999], "state": "ingested"});

    let answer = engine.call(Method::POST, "/api/v1/documents/state", &new);

    assert_eq!(answer.json(), json!({"changed": 2, "set_aside": 0}));
    let document = engine.call(Method::GET, "/api/v1/documents/2", &json!(null));
    assert_eq!(document.json()["state"], "ingested");
    let answer = engine.post("/documents/1/state", &[("state", "failed")]);
    answer.leads_to("/documents/1");
    engine
        .get("/documents?state=failed")
        .shows(StatusCode::OK, "one.pdf");
    assert_eq!(test.audit_trail()[0].entry.action, "document.state");
    let wrong = engine.post("/documents/1/state", &[("state", "eaten")]);
    wrong.shows(StatusCode::UNPROCESSABLE_ENTITY, "eaten");
    let many = json!({"documents": vec![1; 10_001], "state": "failed"});
    let answer = engine.call(Method::POST, "/api/v1/documents/state", &many);
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[test]
fn a_document_shows_what_it_says_and_a_librarian_corrects_it() {
    let test = console();
    let olga = test.with_session("olga", Role::Operator);
    let vic = test.with_session("vic", Role::Viewer);
    let judgement = JudgementRow {
        sha1: olga
            .call(Method::GET, "/api/v1/documents/1", &json!(null))
            .json()["content_sha1"]
            .as_str()
            .unwrap()
            .to_owned(),
        outcome: "text".to_owned(),
        engine: Some("pdftotext 22.12.0 <script>".to_owned()),
        decision: Some("unsure".to_owned()),
        probability: Some(Probability::new(0.512)),
        kind: Some("paper".to_owned()),
        model: Some("m0del".to_owned()),
        is_aside: true,
        ..JudgementRow::default()
    };
    let holdings = &test.holdings;
    holdings
        .wait(holdings.catalog().judge(&[judgement]))
        .unwrap();
    let text = holdings
        .directory()
        .join("documents/000/000/001/000.000.001.txt");
    std::fs::create_dir_all(text.parent().unwrap()).unwrap();
    std::fs::write(
        text,
        "Abstract\nIn this paper we show results [1].\nReferences\n",
    )
    .unwrap();

    let page = vic.get("/documents/1");

    for shown in ["unsure", "51.2 %", "m0del", "set aside", "Signs of a paper"] {
        page.shows(StatusCode::OK, shown);
    }
    assert!(!page.body.contains("<script>"), "{}", page.body);
    assert!(
        !page.body.contains("/documents/1/correction"),
        "{}",
        page.body
    );
    let correction = [("decision", "accept"), ("kind", "thesis")];
    vic.post("/documents/1/correction", &correction)
        .shows(StatusCode::FORBIDDEN, "");
    olga.post("/documents/1/correction", &correction)
        .leads_to("/documents/1");
    assert_eq!(test.audit_trail()[0].entry.action, "document.correct");
    olga.get("/documents?decision=accept")
        .shows(StatusCode::OK, "one.pdf");
    let corrected = olga
        .call(Method::GET, "/api/v1/documents/1", &json!(null))
        .json();
    assert_eq!(corrected["state"], "not_ingested");
    assert_eq!(corrected["judgement"]["corrected"]["by"], "olga");
    let wrong = olga.post(
        "/documents/1/correction",
        &[("decision", "eat"), ("kind", "")],
    );
    wrong.shows(StatusCode::UNPROCESSABLE_ENTITY, "eat");
    let kind = json!({"decision": "accept", "kind": "poem"});
    let answer = olga.call(Method::POST, "/api/v1/documents/1/correction", &kind);
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let none = olga.call(
        Method::POST,
        "/api/v1/documents/999/correction",
        &json!({"decision": "accept"}),
    );
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}

#[test]
fn an_import_shows_what_it_counted_and_skipped() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    vic.get("/imports").shows(StatusCode::OK, "incomplete");
    let page = vic.get("/runs/1");
    vic.get("/imports/1").leads_to("/runs/1");
    page.shows(StatusCode::OK, "saved_New");
    page.shows(StatusCode::OK, "<b>3</b> new documents");
    page.shows(StatusCode::OK, "the gzip member is damaged");
    let import = vic.call(Method::GET, "/api/v1/imports/1", &json!(null));
    assert_eq!(import.json()["counters"]["saved_New"], 3);
    assert_eq!(import.json()["sources"][0]["position"], 4_096);
    let skipped = vic.call(Method::GET, "/api/v1/imports/1/skipped", &json!(null));
    assert_eq!(skipped.json()["items"][0]["offset"], 77);
    vic.get("/imports/999").shows(StatusCode::NOT_FOUND, "999");
}

/// Puts the file of the first content, and its text, where the collection has them.
fn place_files(test: &TestConsole, bytes: &[u8]) -> std::path::PathBuf {
    let directory = test.holdings.directory().join("documents/000/000/001");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("000.000.001.pdf"), bytes).unwrap();
    std::fs::write(directory.join("000.000.001.txt"), "On Coasts").unwrap();
    directory
}

#[test]
fn a_document_and_its_text_are_sent_as_what_no_browser_runs() {
    let test = console();
    let bytes = "<script>".repeat(154) + "ab";
    place_files(&test, bytes.as_bytes());
    let vic = test.with_session("vic", Role::Viewer);

    for place in ["/documents/1", "/api/v1/documents/1"] {
        let file = vic.get(&format!("{place}/file"));
        assert_eq!((file.status, &file.body), (StatusCode::OK, &bytes));
        let text = vic.get(&format!("{place}/text"));
        assert_eq!(text.body, "On Coasts");
        let digest = format!("\"{}\"", "1".repeat(64));
        for (answer, name, value) in [
            (&file, "content-type", "application/pdf"),
            (&file, "content-length", "1234"),
            (&file, "etag", &digest),
            (
                &file,
                "content-disposition",
                "attachment; filename=\"000.000.001.pdf\"",
            ),
            (&text, "content-type", "text/plain; charset=utf-8"),
            (
                &text,
                "content-disposition",
                "attachment; filename=\"000.000.001.txt\"",
            ),
        ] {
            assert_eq!(answer.headers[name], value, "{answer:?}");
        }
        for answer in [&file, &text] {
            assert_eq!(answer.headers["x-content-type-options"], "nosniff");
            let policy = answer.headers["content-security-policy"].to_str().unwrap();
            assert!(
                policy.starts_with("sandbox; default-src 'none'"),
                "{policy}"
            );
        }
        let head = vic.send(request(Method::HEAD, &format!("{place}/file")));
        assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""));
        assert_eq!(head.headers["content-length"], "1234");
        assert_eq!(head.headers["etag"], digest.as_str());
        let mut again = request(Method::GET, &format!("{place}/file"));
        let tags = format!("\"other\", {digest}").parse().unwrap();
        again.headers_mut().insert("if-none-match", tags);
        let again = vic.send(again);
        assert_eq!(
            (again.status, again.body.as_str()),
            (StatusCode::NOT_MODIFIED, "")
        );
    }
    vic.get("/documents/1")
        .shows(StatusCode::OK, "href=\"/documents/1/file\"");
    // The same content under another URL is the same file.
    assert_eq!(vic.get("/documents/3/file").body, bytes);
    assert_eq!(
        test.browser().get("/documents/1/file").status,
        StatusCode::SEE_OTHER
    );
}

#[test]
fn a_file_that_is_gone_or_cut_off_is_not_sent() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);
    let gone = |path: &str, status: StatusCode, said: &str| {
        vic.get(&format!("/documents/{path}")).shows(status, said);
        let answer = vic.get(&format!("/api/v1/documents/{path}"));
        assert_eq!(answer.status, status, "{answer:?}");
        let head = request(Method::HEAD, &format!("/documents/{path}"));
        assert_eq!(vic.send(head).status, status);
    };

    // Not even the directory is there.
    gone("1/file", StatusCode::GONE, "garner verify");
    let directory = place_files(&test, b"cut off");
    gone("1/file", StatusCode::GONE, "garner verify");
    gone("2/file", StatusCode::GONE, "garner verify");
    gone(
        "2/text",
        StatusCode::NOT_FOUND,
        "no text of document 2 is stored",
    );
    gone("99/file", StatusCode::NOT_FOUND, "there is no document 99");
    // A link may lead anywhere.
    let secret = test.holdings.directory().join("secret");
    std::fs::write(&secret, "s".repeat(1234)).unwrap();
    let file = directory.join("000.000.001.pdf");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&secret, &file).unwrap();
    let answer = vic.get("/documents/1/file");
    assert!(!answer.status.is_success(), "{answer:?}");
}
