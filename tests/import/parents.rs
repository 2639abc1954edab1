//! Parents cleaned, their links checked, and whitelists made of them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::{Postgres, free_port};

use super::crawl::{Crawl, Warc, date, pdf};
use crate::command_line::{stderr, stdout};

/// A web server that answers what it is told, and remembers what it was asked.
struct Web {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Web {
    fn start(answers: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answers = answers.iter().map(|(line, answer)| {
            let answer = answer.replace("PORT", &port.to_string());
            ((*line).to_owned(), answer)
        });
        let answers: BTreeMap<_, _> = answers.collect();
        let told = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let Some(Ok(line)) = lines.next() else {
                    continue;
                };
                lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
                let line = line.trim_end_matches(" HTTP/1.1").to_owned();
                let answer = answers.get(&line).cloned();
                told.lock().unwrap().push(line);
                let answer = answer.unwrap_or_else(|| "404\r\n\r\n".to_owned());
                let (head, body) = answer.split_once("\r\n\r\n").unwrap();
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
            }
        });
        Self { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

/// A collection with a document for each parent.
fn linked(parents: &[&str]) -> Vec<u8> {
    let mut warc = Warc::default();
    for (number, parent) in parents.iter().enumerate() {
        let url = format!("http://docs.example/{number}.pdf");
        warc.response(&url, &date(number), "application/pdf", &pdf(number));
        warc.metadata(&url, &date(number), parent, "L");
    }
    warc.bytes
}

fn run(crawl: &Crawl, code: i32, arguments: &[&str]) -> (String, String) {
    let output = crawl.garner(arguments).output();
    let told = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told:?}");
    told
}

#[test]
fn links_are_checked_politely_and_dead_ones_are_left_out() {
    let web = Web::start(&[
        (
            "GET /robots.txt",
            "200\r\n\r\nUser-agent: garner\nDisallow: /private\n",
        ),
        ("HEAD /good", "200\r\n\r\n"),
        ("HEAD /no-head", "405\r\n\r\n"),
        ("GET /no-head", "200\r\n\r\npage"),
        ("HEAD /moved", "301\r\nLocation: /good\r\n\r\n"),
        ("HEAD /round", "302\r\nLocation: /round\r\n\r\n"),
        (
            "HEAD /out",
            "302\r\nLocation: http://127.0.0.2:PORT/good\r\n\r\n",
        ),
        ("HEAD /broken", "500\r\n\r\n"),
        ("GET /broken", "500\r\n\r\n"),
    ]);
    let paths = [
        "/good",
        "/no-head",
        "/moved",
        "/round",
        "/out",
        "/gone",
        "/broken",
        "/private/x",
    ];
    let mut parents: Vec<_> = paths.iter().map(|path| web.url(path)).collect();
    parents.push(format!("http://127.0.0.1:{}/", free_port()));
    parents.push("http://spam.example/".to_owned());
    parents.push("ftp://127.0.0.1/pub/".to_owned());
    let crawl = Crawl::new();
    let named: Vec<_> = parents.iter().map(String::as_str).collect();
    crawl.write("a.warc.gz", linked(&named));
    crawl.write("black.txt", "spam.example\n");
    crawl.import(0, &["a.warc.gz"]);
    let clean = [
        "parents",
        "clean",
        "--blacklist",
        "black.txt",
        "--output",
        "parenturl.revised.csv",
        "--removed",
        "removed.csv",
        "--check-links",
        "--interval",
        "0",
        "--allow",
        "127.0.0.1",
        "--json",
    ];

    let (printed, said) = run(&crawl, 3, &clean);

    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["blacklisted"], 1, "{printed:#} {said}");
    assert_eq!(printed["dead"], 3, "{printed:#}");
    assert_eq!(printed["kept"], 7, "{printed:#}");
    assert_eq!(printed["unknown"], 4, "{printed:#}");
    let asked = web.asked();
    assert_eq!(
        asked.iter().filter(|line| line.contains("robots")).count(),
        1
    );
    assert!(
        !asked.iter().any(|line| line.contains("private")),
        "{asked:?}"
    );
    assert!(asked.contains(&"GET /no-head".to_owned()), "{asked:?}");
    assert!(!asked.contains(&"GET /good".to_owned()), "{asked:?}");
    let revised = std::fs::read_to_string(crawl.path("parenturl.revised.csv")).unwrap();
    assert!(revised.starts_with("url,host,documents,ingested,first_crawl,last_crawl,status\r\n"));
    assert!(
        revised.contains("alive (200)")
            && revised.contains("unknown (links over FTP are not checked)")
            && revised.contains("disallowed (robots.txt)"),
        "{revised}"
    );
    let removed = std::fs::read_to_string(crawl.path("removed.csv")).unwrap();
    assert_eq!(removed.lines().count(), 5, "{removed}");
    assert!(
        removed.contains("dead (404)") && removed.contains("refused"),
        "{removed}"
    );
    let listed = run(&crawl, 0, &["parents", "list", "--json", "--text", "moved"]).0;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (&listed["link"], &listed["final_url"]),
        (&json!("alive"), &json!(web.url("/good")))
    );

    // Known links are not checked again, except those whose server failed to answer.
    run(&crawl, 3, &clean);
    let again = web.asked();
    assert!(
        !again
            .iter()
            .any(|line| line.contains("good") || line.contains("gone")),
        "{again:?}"
    );
    assert!(again.contains(&"GET /broken".to_owned()), "{again:?}");
}

#[test]
fn addresses_that_are_not_public_are_not_asked() {
    let web = Web::start(&[]);
    let crawl = Crawl::new();
    let url = web.url("/admin");
    let names = [
        &*url,
        "http://localhost/x",
        "http://[::1]/y",
        "http://169.254.169.254/latest",
    ];
    crawl.write("a.warc.gz", linked(&names));
    crawl.import(0, &["a.warc.gz"]);

    let (printed, _) = run(
        &crawl,
        3,
        &[
            "parents",
            "clean",
            "--check-links",
            "--interval",
            "0",
            "--output",
            "r.csv",
            "--json",
        ],
    );

    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["links"]["inside"], 4, "{printed:#}");
    assert_eq!(printed["kept"], 4);
    assert_eq!(web.asked(), [""; 0]);

    // A refusal is not kept: it is no fact about the page, and a later run may allow the address.
    let missing = crawl
        .garner(&["parents", "clean", "--output", "nowhere/r.csv"])
        .output();
    assert!(
        stderr(&missing).contains("there is no directory `nowhere`"),
        "{}",
        stderr(&missing)
    );
    let allowed = [
        "parents",
        "clean",
        "--check-links",
        "--interval",
        "0",
        "--output",
        "r.csv",
    ];
    run(
        &crawl,
        3,
        &[&allowed[..], &["--allow", "127.0.0.1"]].concat(),
    );
    assert!(web.asked().iter().any(|line| line.contains("admin")));
    let mode = std::fs::metadata(crawl.path("r.csv"))
        .unwrap()
        .permissions();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&mode) & 0o044,
        0o044
    );
}

fn ranking(catalog: &[&str]) {
    let crawl = Crawl::new();
    let (a, b, c) = (
        "http://a.example/x/",
        "http://b.example/y",
        "http://c.example/z",
    );
    crawl.write("a.warc.gz", linked(&[a, a, b, c, "http://spam.example/"]));
    crawl.write("black.txt", "spam.example\n");
    let run = |code, arguments: &[&str]| run(&crawl, code, &[arguments, catalog].concat());
    run(0, &["import", "a.warc.gz"]);
    run(0, &["documents", "state", "ingested", "1", "2", "3", "5"]);
    run(
        0,
        &[
            "parents",
            "clean",
            "--blacklist",
            "black.txt",
            "--output",
            "parenturl.revised.csv",
        ],
    );

    let (all, _) = run(0, &["whitelist"]);
    assert_eq!(all, format!("{a}\n{b}\nhttp://spam.example/\n"));
    let (listed, _) = run(0, &["whitelist", "--from", "parenturl.revised.csv"]);
    assert_eq!(listed, format!("{a}\n{b}\n"));
    crawl.write(
        "cited.csv",
        "\u{feff}url;Citations\r\nhttp://docs.example/2.pdf;50\r\nhttp://docs.example/0.pdf;2\r\n",
    );
    let (listed, _) = run(
        0,
        &[
            "whitelist",
            "--from",
            "parenturl.revised.csv",
            "--citations",
            "cited.csv",
            "--by",
            "host",
            "--format",
            "csv",
        ],
    );
    assert_eq!(
        listed,
        "rank,url,host,documents,ingested,citations,citation_rate,score\r\n\
         1,http://b.example/,b.example,1,1,50,50.000,1.500000\r\n\
         2,http://a.example/,a.example,2,2,2,1.000,1.020000\r\n"
    );
    run(0, &["documents", "citations", "cited.csv"]);
    let (listed, said) = run(0, &["whitelist", "--limit", "1", "--save", "seeds"]);
    assert_eq!(listed, format!("{b}\n"), "{said}");
    let (kept, _) = run(0, &["lists", "show", "seeds"]);
    assert_eq!(kept, listed);

    for (text, reason) in [
        (
            "url,citations\nhttp://a/,x\n",
            "line 2, column citations: `x` is no number",
        ),
        ("address,citations\n", "document or url is missing"),
        ("document,citations\nseven,1\n", "line 2, column document"),
        ("url,citations\nhttp://a/,1,2\n", "line 2: it has 3 cells"),
    ] {
        crawl.write("cited.csv", text);
        let (_, said) = run(1, &["whitelist", "--citations", "cited.csv"]);
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn whitelists_rank_by_ingested_documents_and_citations_on_sqlite() {
    ranking(&[]);
}

#[test]
fn whitelists_rank_by_ingested_documents_and_citations_on_postgres() {
    let database = Postgres::shared().database();
    ranking(&["--catalog", &database]);
}
