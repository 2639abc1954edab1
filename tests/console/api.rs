//! The API keeps what its description promises: every operation is called, and nothing is there that is not described.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use test_support::{
    Fixture, Misbehaving, Response, Script, SmtpServer, SmtpSetup, fetch, wait_until,
};

use super::schema::Description;
use super::{Console, PASSWORD, account};
use crate::managed::Managed;

/// A program that uses the API with a token.
struct Program<'a> {
    console: &'a Console,
    token: String,
    /// The owner's session: only people make and remove tokens.
    cookie: String,
    description: Description,
    called: RefCell<BTreeSet<(String, String)>>,
}

impl<'a> Program<'a> {
    fn new(console: &'a Console, name: &str) -> Self {
        let (cookie, token) = token(console, name);
        let mut this = Self {
            console,
            token,
            cookie,
            description: Description(Value::Null),
            called: RefCell::default(),
        };
        let described = this.send("GET", "/api/v1/openapi.json", &Value::Null);
        this.description.0 = serde_json::from_slice(&described.body).unwrap();
        this
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Response {
        let bearer = format!("Bearer {}", self.token);
        // A token makes neither tokens nor accounts.
        let for_people = ["/api/v1/tokens", "/api/v1/accounts"];
        let by_hand = method != "GET" && for_people.iter().any(|start| path.starts_with(start));
        let mut headers = vec![match by_hand {
            true => ("Cookie", self.cookie.as_str()),
            false => ("Authorization", bearer.as_str()),
        }];
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        if !body.is_empty() {
            headers.push(("Content-Type", "application/json"));
        }
        fetch(method, &self.console.at(path), &headers, body.as_bytes())
    }

    /// Calls an operation; what is sent and what comes back has to be as described. `{}` stands for the number.
    fn call(&self, method: &str, template: &str, number: &Value, body: &Value) -> Value {
        let (place, query) = template.split_once('?').unwrap_or((template, ""));
        let described = format!("/api/v1{}", place.replace("{}", "{id}"));
        let operation = &self.description.0["paths"][&described][method.to_lowercase()];
        assert!(
            operation.is_object(),
            "{method} {described} is not described"
        );
        let wanted = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(wanted.is_null(), body.is_null(), "{method} {described}");
        if !wanted.is_null() {
            let wrong = self.description.wrong(wanted, body);
            assert!(wrong.is_empty(), "sent to {method} {described}: {wrong:#?}");
        }
        let place = place.replace("{}", &number.to_string());
        let place = place.replace("{name}", "some").replace("{format}", "jsonl");
        let path = format!("/api/v1{place}");
        let path = format!("{path}{}{query}", if query.is_empty() { "" } else { "?" });
        let response = self.send(method, &path, body);
        let answer = &operation["responses"][response.status.to_string()];
        assert!(
            response.status < 300 && answer.is_object(),
            "{method} {path}: {} is not described: {}",
            response.status,
            response.text()
        );
        self.called
            .borrow_mut()
            .insert((method.to_lowercase(), described.clone()));
        let Some((kind, content)) = answer["content"]
            .as_object()
            .and_then(|all| all.iter().next())
        else {
            assert!(
                response.body.is_empty(),
                "{method} {path}: {}",
                response.text()
            );
            return Value::Null;
        };
        let sent = response.header("content-type").unwrap_or_default();
        let is_described = kind == "*/*" || sent.starts_with(kind);
        assert!(is_described, "{method} {path}: {sent}");
        if kind != "application/json" {
            return response.text().into();
        }
        let value: Value = serde_json::from_slice(&response.body).unwrap();
        let wrong = self.description.wrong(&content["schema"], &value);
        assert!(wrong.is_empty(), "{method} {path}: {wrong:#?}\n{value:#}");
        value
    }

    fn get(&self, template: &str, number: &Value) -> Value {
        self.call("GET", template, number, &Value::Null)
    }

    fn post(&self, template: &str, number: &Value, body: &Value) -> Value {
        self.call("POST", template, number, body)
    }

    fn put(&self, template: &str, number: &Value, body: &Value) -> Value {
        self.call("PUT", template, number, body)
    }

    fn delete(&self, template: &str, number: &Value) -> Value {
        self.call("DELETE", template, number, &Value::Null)
    }

    /// A failure, told as described.
    fn fails(&self, response: &Response, status: u16) {
        assert_eq!(response.status, status, "{}", response.text());
        let value = serde_json::from_slice(&response.body).unwrap();
        let failure = json!({ "$ref": "#/components/schemas/Failure" });
        let wrong = self.description.wrong(&failure, &value);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    fn operations(&self) -> BTreeSet<(String, String)> {
        let paths = self.description.0["paths"].as_object().unwrap();
        let operations = paths.iter().flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().keys();
            let methods = methods.filter(|key| METHODS.contains(&key.to_uppercase().as_str()));
            methods.map(move |method| (method.clone(), path.clone()))
        });
        operations.collect()
    }
}

#[test]
fn every_operation_is_as_it_is_described() {
    let managed = Managed::new();
    let (repository, other) = (
        Misbehaving::start(Script::new(30, 10)),
        Misbehaving::start(Script::new(30, 10)),
    );
    account(&managed, "root", "admin");
    for _ in 0..2 {
        managed.garner(&["harvest", &repository.base_url(), "--quiet"]);
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let examples = examples.canonicalize().unwrap();
    let site = Fixture::small();
    let mail = SmtpServer::start(&SmtpSetup::default());
    let config = format!(
        "[import]\nroots = ['{}']\n[[site]]\nroot = '{}'\nlisten = '127.0.0.1:0'\n\
         [mail]\nhost = '127.0.0.1'\nport = {}\nfrom = 'garner@example.org'\nsecurity = 'none'\n",
        examples.display(),
        site.site().display(),
        mail.port
    );
    let console = Console::start(managed, &config);
    let program = Program::new(&console, "root");
    let none = &Value::Null;

    people(&program);
    repositories(&program, &other);
    rules(&program);
    schedules_and_jobs(&program);
    documents(&program);
    sites(&program);
    alerts(&program);
    program.get("/overview", none);
    program.get("/aggregator", none);
    program.get("/system", none);
    program.post("/system/check", none, none);
    program.get("/alerts", none);
    program.get("/statistics", none);
    program.get("/search?text=http&limit=2", none);
    program.get("/statistics/activity", none);
    for list in [
        "/history?limit=1",
        "/history.csv",
        "/history/compare?one=1&other=2",
        "/records?limit=5",
        "/records/export/{format}",
    ] {
        program.get(list, none);
    }
    let records = program.get("/records?limit=50", none);
    let mut records = records["items"].as_array().unwrap().iter();
    let live = records.find(|record| record["deleted"] == false).unwrap();
    let identifier = live["identifier"].as_str().unwrap();
    program.get(
        &format!("/records/cat?identifier={identifier}&repository=1"),
        none,
    );
    for detail in [
        "/history/{}",
        "/history/{}/warnings",
        "/records/{}",
        "/records/{}/xml",
    ] {
        program.get(detail, &json!(2));
    }
    program.post("/history/remove", none, &json!({ "older_than_days": 3650 }));
    program.delete("/history/{}?force=true", &json!(1));

    let missing: Vec<_> = program
        .operations()
        .difference(&program.called.borrow())
        .cloned()
        .collect();
    assert_eq!(missing, [], "not called");
}

#[test]
fn nothing_is_there_that_is_not_described_and_failures_are() {
    let managed = Managed::new();
    account(&managed, "root", "admin");
    account(&managed, "vic", "viewer");
    let console = Console::start(managed, "");
    let program = Program::new(&console, "root");
    let none = &Value::Null;

    let operations = program.operations();
    let paths: BTreeSet<_> = operations.iter().map(|(_, path)| path.clone()).collect();
    for path in &paths {
        for method in METHODS {
            if operations.contains(&(method.to_lowercase(), path.clone())) {
                continue;
            }
            let response = program.send(method, &path.replace("{id}", "9"), none);
            assert!(
                matches!(response.status, 404 | 405),
                "{method} {path} is there: {} {}",
                response.status,
                response.text()
            );
        }
    }
    program.fails(&program.send("GET", "/api/v1/nothing", none), 404);
    program.fails(&program.send("GET", "/api/v1/repositories/9", none), 404);
    let viewer = Program::new(&console, "vic");
    program.fails(&viewer.send("GET", "/api/v1/accounts", none), 403);
    let nobody = Program {
        token: "garner_nothing".to_owned(),
        ..viewer
    };
    program.fails(&nobody.send("GET", "/api/v1/me", none), 401);
}

fn sites(program: &Program) {
    let site = &json!(1);
    wait_until("the site is served", || {
        program.get("/sites", &Value::Null)["items"][0]["is_served"] == true
    });
    for detail in ["", "/clients", "/hidden", "/explain?url=/index.html"] {
        program.get(&format!("/sites/{{}}{detail}"), site);
    }
    let check = program.post("/sites/{}/check", site, &Value::Null);
    assert_eq!(check["compliant"], true, "{check:#}");
}

fn alerts(program: &Program) {
    let none = &Value::Null;
    let rule = json!({ "name": "some", "when": "failing", "times": 2, "webhook": "https://a.example/x",
        "secret": "hush" });
    let saved = program.put("/alert-rules", none, &rule);
    assert!(
        saved["signed"] == true && saved["secret"].is_null(),
        "{saved}"
    );
    program.get("/alert-rules", none);
    program.delete("/alert-rules/{name}", none);
    let hook = json!({ "name": "some", "webhook": "https://a.example/x", "secret": "hush" });
    let saved = program.put("/webhooks", none, &hook);
    assert!(
        saved["signed"] == true && saved["secret"].is_null(),
        "{saved}"
    );
    program.get("/webhooks", none);
    program.delete("/webhooks/{name}", none);
}

fn people(program: &Program) {
    let none = &Value::Null;
    program.get("/me", none);
    program.call("PATCH", "/me", none, &json!({ "time_zone": "Asia/Tokyo" }));
    let token = json!({ "name": "indexer", "role": "viewer", "days": 1 });
    let token = program.post("/tokens", none, &token);
    program.get("/tokens", none);
    program.delete("/tokens/{}", &token["id"]);
    let account = json!({ "name": "ann", "role": "viewer", "password": PASSWORD });
    let account = &program.post("/accounts", none, &account)["id"];
    program.get("/accounts", none);
    program.get("/accounts/{}", account);
    let settings = json!({ "role": "operator", "disabled": false });
    program.put("/accounts/{}", account, &settings);
    let email = json!({ "email": "ann@example.org" });
    program.put("/accounts/{}/email", account, &email);
    let link = program.post("/accounts/{}/link", account, none);
    assert!(
        link["path"].as_str().unwrap().starts_with("/password/"),
        "{link}"
    );
    let mailed = program.post("/accounts/{}/link/mail", account, none);
    assert_eq!(mailed["email"], "ann@example.org");
    let password = json!({ "password": "another good password" });
    program.put("/accounts/{}/password", account, &password);
    program.delete("/accounts/{}", account);
    program.get("/audit", none);
}

fn repositories(program: &Program, other: &Misbehaving) {
    let (none, known) = (&Value::Null, &json!(1));
    let address = json!({ "base_url": other.base_url() });
    program.post("/repositories/identify", none, &address);
    program.post("/repositories/check", none, &address);
    let added = &program.post("/repositories", none, &address)["id"];
    program.get("/repositories", none);
    program.get("/repositories?recent=true&tag=theses", none);
    let tags = json!({ "add": ["theses"], "remove": [] });
    program.call("PATCH", "/repositories/{}/tags", known, &tags);
    program.get("/tags", none);
    program.get("/repositories/{}", known);
    program.post("/repositories/{}/identify", added, none);
    let moved = json!({ "base_url": format!("{}/moved", other.base_url()) });
    program.put("/repositories/{}", added, &moved);
    program.delete("/repositories/{}?files=true", added);
    let to_packs = json!({ "to": "packs" });
    program.post("/repositories/{}/records/move", known, &to_packs);
    program.get("/repositories/{}/formats", known);
    program.get("/repositories/{}/sets", known);
    let wanted = json!({ "why": "building an index", "seconds": 60 });
    let quiet = program.post("/repositories/{}/quiet", known, &wanted);
    program.get("/repositories/{}/quiet", known);
    let longer = json!({ "job": quiet["job"], "token": quiet["token"], "seconds": 90 });
    program.put("/repositories/{}/quiet", known, &longer);
    let held = format!("job={}&token={}", quiet["job"], quiet["token"]);
    program.delete(&format!("/repositories/{{}}/quiet?{held}"), known);
}

fn rules(program: &Program) {
    let none = &Value::Null;
    let content = r#"<filters match="any"><filter xpath="//a" regexp="b"/></filters>"#;
    let new = json!({ "kind": "filter", "name": "A", "content": content });
    let made = program.post("/rules", none, &new);
    program.get("/rules", none);
    program.get("/rules/{}", &made["id"]);
    let changed = json!({ "name": "B", "content": content, "version": made["version"] });
    program.put("/rules/{}", &made["id"], &changed);
    let trial = json!({ "kind": "filter", "content": content, "xml": "<r><a>b</a></r>" });
    let tried = program.post("/rules/try", none, &trial);
    assert_eq!(tried["accepted"], true, "{tried}");
    program.delete("/rules/{}", &made["id"]);
}

fn schedules_and_jobs(program: &Program) {
    let none = &Value::Null;
    let mut order = json!({ "repository": 1, "name": "Nightly", "metadata_prefix": "oai_dc",
        "frequency": "every 1 day", "paused": true });
    let made = program.post("/schedules", none, &order);
    let schedule = &made["id"];
    program.get("/schedules", none);
    program.get("/schedules/{}", schedule);
    program.get("/schedules/runs?frequency=every%206%20hours", none);
    order["version"] = made["version"].clone();
    order["parameters"] = json!({ "full": true });
    let changed = program.put("/schedules/{}", schedule, &order);
    let patch = json!({ "name": "Every night", "version": changed["version"] });
    let patched = program.call("PATCH", "/schedules/{}", schedule, &patch);
    assert_eq!(patched["name"], "Every night");
    assert_eq!(patched["parameters"]["full"], true);
    program.post("/schedules/{}/resume", schedule, none);
    program.post("/schedules/{}/pause", schedule, none);
    let job = &program.post("/schedules/{}/run", schedule, none)["job"];
    let managed = &program.console.managed;
    managed.wait_for(&json!({ "id": job }), "finished");
    program.get("/jobs", none);
    program.get("/jobs/{}", job);
    program.get("/jobs/{}/log", job);
    program.delete("/schedules/{}", schedule);

    let later = json!({ "repository": 1, "run_at": "2099-01-01T00:00:00Z" });
    let job = &program.post("/jobs", none, &later)["id"];
    program.post("/jobs/{}/cancel", job, none);
    program.post("/jobs/{}/retry", job, none);
    managed.wait_for(&json!({ "id": job }), "finished");

    program.get("/runs?limit=2", none);
    let run = program.get("/runs/{}", job);
    assert_eq!((&run["state"], &run["job"]["id"]), (&json!("ok"), job));
    program.get("/runs/{}/log", job);
    program.get("/runs/{}/problems", job);
    program.get("/runs/failures", none);
    program.post("/runs/retry", none, &json!({ "cause": "none like this" }));
    let shown = json!({ "cause": "none like this", "undo": true });
    program.post("/runs/acknowledge", none, &shown);
    let again = &program.post("/runs/{}/again", job, &json!({ "full": true }))["id"];
    let again = managed.wait_for(&json!({ "id": again }), "finished");
    assert_eq!(again["parameters"]["full"], true);
    let later = &program.post("/jobs", none, &later)["id"];
    program.post("/runs/{}/stop", later, none);
    program.post("/runs/{}/retry", later, none);
    managed.wait_for(&json!({ "id": later }), "finished");
    assert_eq!(program.delete("/runs/{}", later)["removed"], 1);
}

fn documents(program: &Program) {
    let none = &Value::Null;
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
    let managed = &program.console.managed;
    let filtered = ["--content-filter", "on", "--quiet"];
    managed.json(&[&["import", crawl.to_str().unwrap()], &filtered[..]].concat());
    reviews(program);
    let again = json!({ "import": { "paths": [crawl.canonicalize().unwrap()], "types": ["application/pdf"] } });
    let job = &program.post("/imports", none, &again)["id"];
    let done = managed.wait_for(&json!({ "id": job }), "finished");
    let import = &program.get("/imports", none)["items"][0]["id"];
    assert_eq!(done["import"], *import);
    let order = json!({ "import": again["import"], "name": "Crawls", "frequency": "every 1 day", "paused": true });
    let made = program.post("/schedules", none, &order);
    assert_eq!(made["kind"], "import");
    let job = &program.post("/schedules/{}/run", &made["id"], none)["job"];
    managed.wait_for(&json!({ "id": job }), "finished");
    program.get("/schedules/{}", &made["id"]);
    program.get("/imports/{}", import);
    program.get("/imports/{}/skipped", import);
    program.get("/imports/{}/report", import);
    let document = &program.get("/documents?limit=1", none)["items"][0]["id"];
    program.get("/documents/{}", document);
    let file = program.get("/documents/{}/file", document);
    assert!(file.as_str().unwrap().starts_with("%PDF-"), "{file}");
    program.get("/documents/{}/text", document);
    let ingested = json!({ "documents": [document], "state": "ingested" });
    let changed = program.post("/documents/state", none, &ingested);
    assert_eq!(changed["changed"], 1);
    let correction = json!({ "decision": "reject", "kind": "manual" });
    let corrected = program.post("/documents/{}/correction", document, &correction);
    assert_eq!(corrected["state"], "set_aside");
    assert_eq!(corrected["judgement"]["corrected"]["kind"], "manual");
    let trial = json!({ "import": again["import"], "captures": 5 });
    program.post("/imports/dry-run", none, &trial);
    program.get("/imports/sources", none);
    program.put("/imports/templates/{name}", none, &again["import"]);
    program.get("/imports/templates", none);
    program.get("/imports/templates/{name}", none);
    program.delete("/imports/templates/{name}", none);
    program.post("/imports/remove", none, &json!({ "older_than_days": 3650 }));
    program.delete("/imports/{}", import);
    retrievals(program, document);
    curation(program, document);
}

fn reviews(program: &Program) {
    let none = &Value::Null;
    let waiting = &program.get("/reviews?limit=1", none)["items"][0]["id"];
    program.get("/reviews/{}", waiting);
    let listed = program.get("/reviews?uncertain=true", none);
    let items = listed["items"].as_array().unwrap();
    let doubt = |review: &Value| (review["probability"].as_f64().unwrap() - 0.5).abs();
    assert!(
        !items.is_empty() && items.is_sorted_by_key(doubt),
        "{listed:#}"
    );
    let decision = json!({ "documents": [waiting], "decision": "accept" });
    assert_eq!(program.post("/reviews", none, &decision)["decided"], 1);
}

fn retrievals(program: &Program, document: &Value) {
    let none = &Value::Null;
    program.get("/documents/search?query=type:application/pdf", none);
    program.get("/documents/facets", none);
    program.get("/documents/{}/near-duplicates", document);
    program.get("/statistics/collection", none);
    program.get("/feed?limit=2", none);
    let solr = json!({ "url": "http://127.0.0.1:9/solr/papers" });
    program.post("/feed/solr", none, &solr);
    let selection = json!({ "media_types": ["application/pdf"] });
    let counted = program.post("/retrievals/count", none, &selection);
    assert!(counted["documents"].as_u64() >= Some(1), "{counted}");
    let order = json!({ "selection": selection, "format": "csv" });
    let job = &program.post("/retrievals", none, &order)["id"];
    let managed = &program.console.managed;
    managed.wait_for(&json!({ "id": job }), "finished");
    program.get("/retrievals/{}/file", job);
    program.put("/retrievals/saved/{name}", none, &order);
    program.get("/retrievals/saved", none);
    program.get("/retrievals/saved/{name}", none);
    program.delete("/retrievals/saved/{name}", none);
}

fn curation(program: &Program, document: &Value) {
    let none = &Value::Null;
    let managed = &program.console.managed;
    let list = json!({ "kind": "blacklist", "name": "spam", "content": "spam.example\n" });
    let list = &program.post("/lists", none, &list)["id"];
    program.get("/lists?kind=blacklist", none);
    program.get("/lists/{}", list);
    let changed = json!({ "version": 1, "add": ["more.example"] });
    let changed = program.call("PATCH", "/lists/{}", list, &changed);
    assert_eq!(changed["entries"], 2);
    let text = program.get("/lists/{}/text", list);
    assert_eq!(text, "spam.example\nmore.example\n");
    let compared = program.get(&format!("/lists/{{}}/comparison?with={list}"), list);
    assert_eq!(compared["common"], 2);
    let order = json!({ "lists": ["spam"] });
    let preview = program.post("/documents/clean/preview", none, &order);
    assert_eq!(preview["documents"], 0);
    let job = &program.post("/documents/clean", none, &order)["id"];
    managed.wait_for(&json!({ "id": job }), "finished");
    let job = &program.post("/parents/clean", none, &order)["id"];
    managed.wait_for(&json!({ "id": job }), "finished");
    let revised = program.get("/parents/revised.csv", none);
    assert!(
        revised.as_str().unwrap().starts_with("url,host,"),
        "{revised}"
    );
    let parent = &program.get("/parents?limit=1", none)["items"][0]["id"];
    program.get("/parents/{}", parent);
    let cited = json!({ "citations": [{ "document": document, "citations": 3 }] });
    assert_eq!(program.post("/citations", none, &cited)["kept"], 1);
    program.get("/whitelist?by=host&limit=5", none);
    let reason = json!({ "reason": "a test" });
    let taken = program.post("/documents/{}/removal", document, &reason);
    assert_eq!(taken["takedown"], true);
    assert_eq!(program.get("/trash", none)["items"][0]["id"], *document);
    let named = json!({ "documents": [document.to_string()] });
    assert_eq!(program.post("/trash/restore", none, &named)["restored"], 1);
    program.get("/documents/{}", document);
    program.delete("/lists/{}", list);
}

/// Logs in as people do, and makes a token.
pub(crate) fn token(console: &Console, name: &str) -> (String, String) {
    let form = format!("name={name}&password={}", PASSWORD.replace(' ', "+"));
    let kind = ("Content-Type", "application/x-www-form-urlencoded");
    let inside = fetch("POST", &console.at("/login"), &[kind], form.as_bytes());
    let cookie = inside.header("set-cookie").unwrap().to_owned();
    let cookie = cookie.split(';').next().unwrap();
    let role = if name == "root" { "admin" } else { "viewer" };
    let wanted = json!({ "name": "test", "role": role }).to_string();
    let headers = [("Content-Type", "application/json"), ("Cookie", cookie)];
    let made = fetch(
        "POST",
        &console.at("/api/v1/tokens"),
        &headers,
        wanted.as_bytes(),
    );
    let made: Value = serde_json::from_slice(&made.body).unwrap();
    let token = made["token"].as_str().unwrap();
    (cookie.to_owned(), token.to_owned())
}

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
