//! Changes of documents: as lines, over HTTP, and sent to a stand-in of Solr's update endpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::{Postgres, fetch, wait_until};

use crate::command_line::{stderr, stdout};
use crate::console::{Console, account, token};
use crate::import::many;
use crate::managed::Managed;

/// A stand-in of Solr's update endpoint that checks what Solr would: JSON, one `id` that is a text, known fields of the right
/// kind. What was not committed is not searched.
struct SolrServer {
    address: String,
    index: Arc<Mutex<Index>>,
}

#[derive(Default)]
struct Index {
    pending: BTreeMap<String, Value>,
    searched: BTreeMap<String, Value>,
    requests: usize,
    commits: usize,
    /// The answers to the next requests, the last first.
    faults: Vec<Fault>,
    /// Documents with this in their URL are refused.
    refused: Option<String>,
    authorization: Option<String>,
}

#[derive(Clone, Copy)]
enum Fault {
    Busy,
    /// The connection breaks after the documents were taken, before the answer.
    BreaksOff,
}

impl SolrServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let index = Arc::new(Mutex::new(Index::default()));
        let shared = Arc::clone(&index);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream.unwrap(), &shared));
            }
        });
        Self { address, index }
    }

    fn url(&self) -> String {
        format!("http://{}/solr/papers", self.address)
    }

    fn with<T>(&self, see: impl FnOnce(&mut Index) -> T) -> T {
        see(&mut self.index.lock().unwrap())
    }

    fn searched(&self) -> BTreeSet<String> {
        self.with(|index| index.searched.keys().cloned().collect())
    }
}

fn serve(stream: TcpStream, index: &Mutex<Index>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let (status, answer, breaks_off) = answer(&head, &body, &mut index.lock().unwrap());
        if breaks_off {
            return;
        }
        let answer = answer.to_string();
        let length = answer.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        if stream
            .write_all(format!("{head}{answer}").as_bytes())
            .is_err()
        {
            return;
        }
    }
}

fn answer(head: &str, body: &[u8], index: &mut Index) -> (u16, Value, bool) {
    let error = |status: u16, message: String| {
        let header = json!({ "status": status, "QTime": 1 });
        let error = json!({ "msg": message, "code": status });
        (
            status,
            json!({ "responseHeader": header, "error": error }),
            false,
        )
    };
    index.requests += 1;
    if !head.starts_with("POST /solr/papers/update ") {
        return error(404, "not found".to_owned());
    }
    let lower = head.to_ascii_lowercase();
    assert!(lower.contains("content-type: application/json"), "{head}");
    if let Some(wanted) = &index.authorization
        && !head.contains(wanted)
    {
        return error(401, "who are you?".to_owned());
    }
    let fault = index.faults.pop();
    if matches!(fault, Some(Fault::Busy)) {
        return error(503, "no servers hosting shard".to_owned());
    }
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return error(400, "Cannot parse provided JSON".to_owned());
    };
    let documents = body.as_array().cloned().unwrap_or_default();
    // As in Solr, those before the one that is refused are taken.
    for document in documents {
        let id = document["id"].as_str().map(str::to_owned);
        let Some(id) = id else {
            return error(
                400,
                "Document is missing mandatory uniqueKey field: id".to_owned(),
            );
        };
        for (name, value) in document.as_object().unwrap() {
            let is_date =
                name.ends_with("_date") && value.as_str().is_none_or(|date| !date.ends_with('Z'));
            if is_date || value.is_object() || value.is_null() {
                return error(
                    400,
                    format!("ERROR: [doc={id}] Error adding field '{name}'='{value}'"),
                );
            }
        }
        let url = document["url"].as_str().unwrap();
        if index
            .refused
            .as_ref()
            .is_some_and(|text| url.contains(text.as_str()))
        {
            return error(400, format!("ERROR: [doc={id}] immense term"));
        }
        index.pending.insert(id, document);
    }
    for id in body["delete"].as_array().into_iter().flatten() {
        index.pending.remove(id.as_str().unwrap());
    }
    if body.get("commit").is_some() {
        index.searched = index.pending.clone();
        index.commits += 1;
    }
    let header = json!({ "status": 0, "QTime": 1 });
    (
        200,
        json!({ "responseHeader": header }),
        matches!(fault, Some(Fault::BreaksOff)),
    )
}

fn imported(managed: Managed, papers: usize) -> Managed {
    import(&managed, "crawl.warc.gz", papers, &["--text"]);
    managed
}

fn import(managed: &Managed, name: &str, papers: usize, options: &[&str]) {
    let warc = managed.beside(name);
    std::fs::write(&warc, many(papers).bytes).unwrap();
    let arguments = ["import", warc.to_str().unwrap(), "--quiet"];
    managed.garner(&[&arguments[..], options].concat());
}

fn on_both(papers: usize, test: fn(Managed)) {
    test(imported(Managed::new(), papers));
    test(imported(Managed::on(Postgres::shared().database()), papers));
}

fn changes(managed: &Managed, arguments: &[&str]) -> Vec<Value> {
    let printed = managed.garner(&[&["feed", "changes"], arguments].concat());
    printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn changes_come_once_in_their_order_and_go_on_where_one_was() {
    on_both(25, |managed| {
        let all = changes(&managed, &[]);
        assert_eq!(all.len(), 25);
        assert!(
            all.iter()
                .all(|change| change["document"]["id"] == change["id"])
        );
        let (first, rest) = all.split_at(10);
        let since = first[9]["seq"].as_str().unwrap();
        assert_eq!(changes(&managed, &["--since", since]), rest);
        assert_eq!(changes(&managed, &["--limit", "10"]), first);
        let last = all[24]["seq"].as_str().unwrap();
        assert_eq!(changes(&managed, &["--since", last]), [Value::Null; 0]);

        // Marking is no news, asking for it again is, and what is set aside is gone for search engines.
        managed.garner(&["documents", "state", "ingested", "3", "4"]);
        assert_eq!(changes(&managed, &["--since", last]), [Value::Null; 0]);
        managed.garner(&["documents", "state", "not-ingested", "4"]);
        let again = changes(&managed, &["--since", last]);
        assert_eq!(again.len(), 1);
        assert_eq!(again[0]["id"], 4);

        let ahead = managed.output(&["feed", "changes", "--since", "999999"]);
        assert_eq!(ahead.status.code(), Some(1));
        assert!(
            stderr(&ahead).contains("begin with 0"),
            "{}",
            stderr(&ahead)
        );
        let wrong = managed.output(&["feed", "changes", "--since", "yesterday"]);
        assert_eq!(wrong.status.code(), Some(1));
        assert!(stderr(&wrong).contains("12.345"), "{}", stderr(&wrong));
    });
}

#[test]
fn the_api_gives_the_same_lines_as_the_command() {
    let managed = imported(Managed::new(), 12);
    account(&managed, "root", "admin");
    let console = Console::start(managed, "");
    let bearer = format!("Bearer {}", token(&console, "root").1);
    let headers = [("Authorization", bearer.as_str())];
    for (query, arguments) in [
        ("", &[][..]),
        ("?limit=5&text=true", &["--limit", "5", "--text"]),
    ] {
        let answer = fetch(
            "GET",
            &console.at(&format!("/api/v1/feed{query}")),
            &headers,
            b"",
        );
        assert_eq!(answer.status, 200);
        let lines = console
            .managed
            .garner(&[&["feed", "changes"], arguments].concat());
        assert_eq!(answer.text(), lines);
    }
    let wrong = fetch("GET", &console.at("/api/v1/feed?since=x"), &headers, b"");
    assert_eq!(wrong.status, 422);
}

#[test]
fn solr_gets_what_changed_and_its_answer_is_the_state() {
    on_both(30, |managed| {
        let solr = SolrServer::start();
        let pushed = managed.json(&["feed", "solr", &solr.url()]);
        assert_eq!(
            (&pushed["added"], &pushed["refused"]),
            (&json!(30), &json!(0))
        );
        assert_eq!(solr.searched().len(), 30);
        let states = managed.lines(&["documents", "list", "--state", "ingested"]);
        assert_eq!(states.len(), 30);
        let requests = solr.with(|index| index.requests);

        // Nothing changed, so nothing is asked.
        managed.garner(&["feed", "solr", &solr.url()]);
        assert_eq!(solr.with(|index| index.requests), requests);

        managed.garner(&["documents", "correct", "5", "--reject"]);
        let pushed = managed.json(&["feed", "solr", &solr.url()]);
        assert!(pushed["removed"].as_u64() >= Some(1), "{pushed}");
        assert!(!solr.searched().contains("5"));
        let again = managed.json(&[
            "feed",
            "solr",
            &solr.url(),
            "--since",
            "0",
            "--without-text",
        ]);
        assert_eq!(
            again["added"].as_u64().unwrap() + again["removed"].as_u64().unwrap(),
            30
        );
    });
}

#[test]
fn a_text_that_is_missing_is_named_and_counted() {
    let managed = Managed::new();
    import(&managed, "texts", 5, &["--types", "text/html", "--text"]);
    let all = changes(&managed, &["--text"]);
    let with_text = |change: &&Value| change["text"].is_string();
    let one = all.iter().find(with_text).unwrap()["document"].clone();
    assert!(all.iter().all(|change| change.get("problem").is_none()));
    std::fs::remove_file(text_of(&one)).unwrap();

    let fed = managed.output(&["feed", "changes", "--text"]);

    assert_eq!(fed.status.code(), Some(3), "{}", stderr(&fed));
    let named = format!("document {}: its text is missing", one["id"]);
    assert!(stderr(&fed).contains(&named), "{}", stderr(&fed));
    let change = stdout(&fed)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|change| change["id"] == one["id"])
        .unwrap();
    assert_eq!(change["problem"], "its text is missing");
    assert_eq!(change.get("text"), None);
    let solr = SolrServer::start();
    let pushed = managed.output(&["feed", "solr", &solr.url(), "--json"]);
    assert_eq!(pushed.status.code(), Some(3), "{}", stderr(&pushed));
    assert!(stderr(&pushed).contains("its text is missing"));
    let counts: Value = serde_json::from_str(&stdout(&pushed)).unwrap();
    assert_eq!(counts["added"].as_u64().unwrap() as usize, all.len());
    assert!(counts["without_text"].as_u64().unwrap() >= 1, "{counts}");
}

/// The file of the text of a document.
fn text_of(document: &Value) -> PathBuf {
    Path::new(document["path"].as_str().unwrap()).with_extension("txt")
}

#[test]
fn a_busy_solr_and_a_broken_connection_are_waited_for() {
    let managed = imported(Managed::new(), 20);
    let solr = SolrServer::start();
    solr.with(|index| index.faults = vec![Fault::BreaksOff, Fault::Busy]);
    let pushed = managed.json(&["feed", "solr", &solr.url()]);
    assert_eq!(pushed["added"], 20);
    assert_eq!(solr.searched().len(), 20);

    solr.with(|index| index.faults = vec![Fault::Busy; 9]);
    managed.garner(&["documents", "state", "not-ingested", "2"]);
    let failed = managed.output(&["feed", "solr", &solr.url(), "--attempts", "2"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(stderr(&failed).contains("503"), "{}", stderr(&failed));
    solr.with(|index| index.faults.clear());
    let pushed = managed.json(&["feed", "solr", &solr.url()]);
    assert_eq!(pushed["added"], 1, "it goes on where it ended: {pushed}");
}

#[test]
fn a_document_that_solr_refuses_is_named_and_keeps_no_other_back() {
    let managed = imported(Managed::new(), 20);
    let solr = SolrServer::start();
    solr.with(|index| index.refused = Some("papers/7.pdf".to_owned()));
    let output = managed.output(&["feed", "solr", &solr.url(), "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("immense term"),
        "{}",
        stderr(&output)
    );
    let pushed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&pushed["added"], &pushed["refused"]),
        (&json!(19), &json!(1))
    );
    assert_eq!(solr.searched().len(), 19);
    let failed = managed.lines(&["documents", "list", "--state", "failed"]);
    assert_eq!(failed.len(), 1);
    assert!(failed[0]["url"].as_str().unwrap().ends_with("papers/7.pdf"));
}

#[test]
fn a_wrong_url_and_missing_credentials_are_told_with_the_remedy() {
    let managed = imported(Managed::new(), 3);
    let solr = SolrServer::start();
    let password = managed.write("password", "anna:secret\n");
    let wrong = format!("http://{}/solr/other", solr.address);
    let with_password = format!("http://anna:secret@{}/solr/papers", solr.address);
    for (url, words) in [
        (wrong.as_str(), "core or collection"),
        (&with_password, "--credentials"),
        ("solr", "url"),
    ] {
        let failed = managed.output(&["feed", "solr", url]);
        assert_eq!(failed.status.code(), Some(1), "{url}");
        assert!(
            stderr(&failed).to_lowercase().contains(words),
            "{url}: {}",
            stderr(&failed)
        );
    }
    // anna:secret
    solr.with(|index| index.authorization = Some("Basic YW5uYTpzZWNyZXQ=".to_owned()));
    let failed = managed.output(&["feed", "solr", &solr.url()]);
    assert!(
        stderr(&failed).contains("--credentials"),
        "{}",
        stderr(&failed)
    );
    managed.garner(&[
        "feed",
        "solr",
        &solr.url(),
        "--credentials",
        password.to_str().unwrap(),
    ]);
    assert_eq!(solr.searched().len(), 3);
}

#[test]
fn a_feed_that_is_killed_goes_on_and_loses_nothing() {
    // Texts would take minutes, and it is the number of documents that matters here.
    let managed = Managed::new();
    import(&managed, "crawl.warc.gz", 1200, &[]);
    let solr = SolrServer::start();
    let url = solr.url();
    let mut command = managed.command(&["feed", "solr", &url]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    wait_until("something was sent", || {
        solr.with(|index| !index.pending.is_empty())
    });
    child.kill().unwrap();
    child.wait().unwrap();

    managed.garner(&["feed", "solr", &url]);
    let there = managed.lines(&["documents", "list"]);
    assert_eq!(solr.searched().len(), there.len());
}

#[test]
fn a_job_feeds_solr_with_credentials_that_nobody_sees() {
    for managed in [Managed::new(), Managed::on(Postgres::shared().database())] {
        let managed = imported(managed, 10);
        let solr = SolrServer::start();
        solr.with(|index| index.authorization = Some("Bearer hush".to_owned()));
        let secret = managed.write("secret", "bearer hush\n");
        managed.garner(&[
            "feed",
            "solr",
            &solr.url(),
            "--credentials",
            secret.to_str().unwrap(),
            "--queue",
        ]);
        assert!(!managed.jobs()[0].to_string().contains("hush"));
        let worker = managed.worker(&[]);
        let job = managed.wait_for(&managed.jobs()[0].clone(), "finished");
        assert_eq!(job["kind"], "feed");
        assert_eq!(solr.searched().len(), 10);
        worker.stop();
    }
}
