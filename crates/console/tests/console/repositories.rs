//! Repositories: found, added by a base URL alone, asked, corrected, harvested, removed.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use axum::http::{Method, StatusCode};
use catalog::{JobEnd, Role};
use console::Outside;
use serde_json::{Value, json};
use test_support::{Misbehaving, Script};

use crate::browser::{Browser, TestConsole};
use crate::holdings::TestHarvest;

#[test]
fn known_repositories_are_there_to_choose_from_and_a_list_that_is_away_does_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    let list = directory.path().join("friends.txt");
    std::fs::write(&list, "http://a.example/oai Library <A>\n").unwrap();
    for (source, is_read) in [(list.as_path(), true), (directory.path(), false)] {
        let test = TestConsole::with_outside(Outside {
            friends: Some(source.to_string_lossy().into_owned()),
            ..Outside::default()
        });
        let operator = test.with_session("ann", Role::Operator);
        let has_it = || {
            let page = operator.get("/repositories/new");
            assert_eq!(page.status, StatusCode::OK);
            page.body
                .contains(r#"<option value="http://a.example/oai">Library &#60;A&#62;"#)
        };
        // The page does not wait for the list; it is there soon after.
        let is_there = (0..50).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(if is_read {
                100
            } else {
                5
            }));
            has_it()
        });
        assert_eq!(is_there, is_read);
    }
}

/// A server that answers every request with the same bytes, until the test ends.
fn place(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/oai")
}

/// The value of a hidden field.
fn hidden(body: &str, name: &str) -> String {
    let start = format!(r#"name="{name}" value=""#);
    let rest = body
        .split(&start)
        .nth(1)
        .unwrap_or_else(|| panic!("{name}: {body}"));
    rest.split('"').next().unwrap().to_owned()
}

fn add(browser: &Browser<'_>, base_url: &str) -> String {
    let answer = browser.post("/repositories", &[("base_url", base_url)]);
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{answer:?}");
    answer.location().to_owned()
}

#[test]
fn a_repository_is_asked_shown_and_added() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let remote = Misbehaving::start(Script::new(10, 5));

    let asked = operator.post("/repositories/new", &[("base_url", &remote.base_url())]);
    asked.shows(StatusCode::OK, "Repository found");
    asked.shows(StatusCode::OK, "oai_dc");
    let requests = remote.requests().len();
    let fields = [
        ("base_url", hidden(&asked.body, "base_url")),
        ("preview", hidden(&asked.body, "preview")),
    ];
    let fields = fields
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let added = operator.post("/repositories", &fields);
    // The repository is added as it was shown, without another request.
    assert_eq!(remote.requests().len(), requests);
    let page = operator.get(added.location());
    page.shows(StatusCode::OK, "Repository added.");
    page.shows(StatusCode::OK, "/schedules/new?repository=");
    page.shows(StatusCode::OK, "never");
    assert_eq!(test.audit_trail()[0].entry.action, "repository.add");

    let again = operator.post("/repositories/new", &[("base_url", &remote.base_url())]);
    again.shows(StatusCode::OK, "Already added");
}

#[test]
fn what_is_no_repository_is_told_in_plain_words() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let page = place(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<!DOCTYPE html><html><body>Hello</body></html>",
    );
    let feed = place("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<rss version=\"2.0\"></rss>");
    let nothing = place("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let other = place("SSH-2.0-OpenSSH_9.6\r\n");
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/oai", listener.local_addr().unwrap())
    };
    for (base_url, words) in [
        (page.as_str(), "There is a web page at this address"),
        (&feed, "speaks another language than OAI-PMH"),
        (&nothing, "There is nothing at this address"),
        (&other, "It cannot be reached"),
        (&closed, "It cannot be reached"),
        (
            "repository.example/oai",
            "was tried with https:// and http://",
        ),
        ("ftp://repository.example/oai", "http:// or https://"),
        ("", "Type in where the repository answers"),
    ] {
        let answer = operator.post("/repositories/new", &[("base_url", base_url)]);
        answer.shows(StatusCode::UNPROCESSABLE_ENTITY, words);
        if !base_url.is_empty() {
            // The typed text stays in the form.
            answer.shows(
                StatusCode::UNPROCESSABLE_ENTITY,
                &format!(r#"value="{base_url}""#),
            );
            let body = json!({ "base_url": base_url });
            let answer = operator.call(Method::POST, "/api/v1/repositories/identify", &body);
            assert_eq!(answer.code(), "no_repository");
        }
    }
    assert!(
        operator
            .get("/repositories")
            .body
            .contains("No repositories yet")
    );
}

#[test]
fn nobody_reaches_the_own_network_by_typing_in_its_addresses() {
    let test = TestConsole::with_outside(Outside::default());
    let operator = test.with_session("ann", Role::Operator);
    let inside = Misbehaving::start(Script::new(3, 3));
    for base_url in [
        &inside.base_url(),
        "http://169.254.169.254/latest",
        "http://[::1]/oai",
    ] {
        let answer = operator.post("/repositories/new", &[("base_url", base_url)]);
        answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "is not public");
        let answer = operator.post("/repositories", &[("base_url", base_url)]);
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(inside.connections(), 0);
}

#[test]
fn the_list_is_searched_sorted_and_filtered_by_its_address() {
    let test = TestConsole::new();
    let viewer = test.with_session("vic", Role::Viewer);
    for number in 0..60 {
        test.repository_called(&format!("Library {number:02}"));
    }
    test.repository_called("Ärchive & more");

    let first = viewer.get("/repositories?text=library&sort=-name");
    first.shows(StatusCode::OK, "Library 59");
    first.shows(StatusCode::OK, "1–50 of 60");
    assert!(!first.body.contains("Library 09"), "{}", first.body);
    assert!(
        first.body.contains("sort=-name&#38;at=50"),
        "{}",
        first.body
    );
    let second = viewer.get("/repositories?text=library&sort=-name&at=50");
    second.shows(StatusCode::OK, "Library 09");
    viewer
        .get("/repositories?text=archive")
        .shows(StatusCode::OK, "Ärchive &#38; more");
    let failing = viewer.get("/repositories?health=failing");
    failing.shows(StatusCode::OK, "No repositories match these filters.");
    viewer.get("/repositories?sort=nonsense").shows(
        StatusCode::OK,
        "there is no order `nonsense`; choose one of name, health",
    );
    let page = viewer.get("/repositories?health=nonsense");
    page.shows(StatusCode::OK, "1–50 of 61");
    assert!(!page.body.contains("/repositories/new"));
    let csv = viewer.get("/repositories?text=library&sort=-name&format=csv");
    assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
    let lines: Vec<_> = csv.body.lines().collect();
    assert_eq!(lines.len(), 61, "all pages and a head: {csv:?}");
    assert!(lines[0].starts_with("id,name,base_url,") && lines[1].contains("Library 59"));
    let rows = viewer.get("/repositories?text=library&format=json").json();
    assert_eq!(rows.as_array().unwrap().len(), 60);
    assert_eq!(rows[0]["name"], "Library 00");

    let path = "/api/v1/repositories?text=library&limit=20&offset=40&sort=name";
    let list = viewer.call(Method::GET, path, &Value::Null).json();
    assert_eq!(list["items"][0]["name"], "Library 40");
    assert_eq!(list["total"], 60);
    assert!(list["next"].is_null());
}

#[test]
fn the_page_of_a_repository_has_its_formats_sets_and_jobs() {
    let test = TestConsole::new();
    let viewer = test.with_session("vic", Role::Viewer);
    let alpha = test.repository_called("Alpha");
    let sets: Vec<_> = (0..300)
        .map(|number| {
            (
                format!("top:part-{number:03}"),
                Some(format!("Part <{number}>")),
            )
        })
        .collect();
    let catalog = test.holdings.catalog();
    test.holdings
        .wait(catalog.replace_sets(alpha.id, &sets))
        .unwrap();
    let claim = test.running(&alpha);
    test.beat(&claim, 5, 10);

    let place = format!("/repositories/{}", alpha.id);
    let page = viewer.get(&place);
    page.shows(StatusCode::OK, "http://alpha.example/oai");
    page.shows(StatusCode::OK, "top:part-000");
    page.shows(StatusCode::OK, "Part &#60;0&#62;");
    page.shows(StatusCode::OK, "The first 200 sets as a tree");
    page.shows(StatusCode::OK, &format!("/runs/{}", claim.job.id));
    assert!(!page.body.contains("top:part-299"));
    assert!(
        !page.body.contains("Harvest now"),
        "viewers harvest nothing"
    );
    let found = viewer.get(&format!("{place}/sets?text=PART-299"));
    found.shows(StatusCode::OK, "top:part-299");
    assert!(!found.body.contains("top:part-000"));
    viewer
        .get(&format!("{place}/sets?text=%25"))
        .shows(StatusCode::OK, "No sets match these filters.");
    let all = viewer.get(&format!("{place}/sets?size=500"));
    all.shows(StatusCode::OK, "300 sets");
    let path = format!(
        "/api/v1/repositories/{}/sets?text=part-29&limit=3",
        alpha.id
    );
    let sets = viewer.call(Method::GET, &path, &Value::Null).json();
    assert_eq!(sets["items"][2]["set_spec"], "top:part-292");
    assert_eq!(sets["total"], 300);
    assert_eq!(
        viewer.get("/repositories/999").status,
        StatusCode::NOT_FOUND
    );
}

#[test]
fn a_harvest_is_begun_from_the_page() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let alpha = test.repository_called("Alpha");
    let fields = [
        ("metadata_prefix", "oai_dc"),
        ("set", " maps "),
        ("full", "true"),
    ];
    let answer = operator.post(&format!("/repositories/{}/harvest", alpha.id), &fields);
    assert!(answer.location().starts_with("/runs/"), "{answer:?}");
    let job = test.claimed().job;
    assert_eq!(job.set.as_deref(), Some("maps"));
    assert!(
        job.parameters.contains(r#""full":true"#),
        "{}",
        job.parameters
    );
    assert!(job.max_attempts > 1);
}

#[test]
fn a_repository_that_moved_is_corrected_and_keeps_its_number() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let (old, new) = (
        Misbehaving::start(Script::new(3, 3)),
        Misbehaving::start(Script::new(3, 3)),
    );
    let place = add(&operator, &old.base_url());
    let edit = format!("{place}/edit");

    let answer = operator.post(&edit, &[("base_url", "http://127.0.0.1:1/oai")]);
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "It cannot be reached");
    operator.get(&place).shows(StatusCode::OK, &old.base_url());
    operator
        .post(&edit, &[("base_url", &new.base_url())])
        .leads_to(&place);
    operator.get(&place).shows(StatusCode::OK, &new.base_url());

    let other = add(&operator, &old.base_url());
    assert_ne!(other, place);
    let answer = operator.post(&edit, &[("base_url", &old.base_url())]);
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "another repository");
    operator
        .post(&format!("{place}/identify"), &[])
        .leads_to(&place);
    drop(new);
    let answer = operator.post(&format!("{place}/identify"), &[]);
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "Refresh failed");
}

#[test]
fn a_repository_is_removed_after_it_was_said_what_is_lost() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let alpha = test.repository_called("Alpha");
    let claim = test.running(&alpha);
    let place = format!("/repositories/{}/remove", alpha.id);
    let page = operator.get(&place);
    page.shows(StatusCode::OK, "This will be lost");
    page.shows(StatusCode::OK, "Stop that first");

    let answer = operator.post(&place, &[("sure", "true")]);
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "being harvested");
    test.end(&claim, &JobEnd::Cancelled);
    let answer = operator.post(&place, &[]);
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "Tick this box");

    let files = test.holdings.base_directory(&alpha).join("oai_dc");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("mine.txt"), "kept").unwrap();
    operator
        .post(&place, &[("sure", "true")])
        .leads_to("/repositories");
    operator
        .get("/repositories")
        .shows(StatusCode::OK, "Alpha is removed. Its files stay");
    assert!(files.join("mine.txt").exists());
    // Somebody else had the page open.
    let answer = operator.post(&place, &[("sure", "true")]);
    answer.shows(StatusCode::NOT_FOUND, "it may have been removed");
    assert_eq!(test.audit_trail()[0].entry.action, "repository.remove");
}

#[test]
fn programs_add_change_and_remove_repositories() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let remote = Misbehaving::start(Script::new(3, 3));
    let body = json!({ "base_url": remote.base_url() });
    let post = |path: &str| operator.call(Method::POST, path, &body);

    let preview = post("/api/v1/repositories/identify").json();
    assert_eq!(preview["protocol_version"], "2.0");
    assert!(preview["known"].is_null());
    let made = post("/api/v1/repositories");
    assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
    assert_eq!(made.json()["health"], "never");
    assert_eq!(post("/api/v1/repositories").status, StatusCode::OK);
    let place = format!("/api/v1/repositories/{}", made.json()["id"]);
    let formats = operator.call(Method::GET, &format!("{place}/formats"), &Value::Null);
    assert_eq!(formats.json()["items"][0]["metadata_prefix"], "oai_dc");
    let changed = operator.call(Method::PUT, &place, &body);
    assert_eq!(changed.status, StatusCode::OK, "{changed:?}");

    let viewer = test.with_session("vic", Role::Viewer);
    let answer = viewer.call(Method::DELETE, &place, &Value::Null);
    assert_eq!(answer.code(), "forbidden");
    let removed = operator.call(Method::DELETE, &format!("{place}?files=true"), &Value::Null);
    assert_eq!(removed.json()["files"], 0);
    let gone = operator.call(Method::GET, &place, &Value::Null);
    assert_eq!(gone.code(), "not_found");
}

#[test]
fn a_removal_that_stops_halfway_is_told_and_written_down() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let alpha = test.repository_called("Alpha");
    let harvest = TestHarvest {
        records: vec![("oai:a:1", Some("<a/>"))],
        ..TestHarvest::default()
    };
    test.harvest(&alpha, &harvest);
    // A file cannot be removed like a directory.
    let directory = test.holdings.record_directory(&alpha, "oai_dc");
    std::fs::remove_dir_all(&directory).unwrap();
    std::fs::write(&directory, "").unwrap();

    let place = format!("/repositories/{}/remove", alpha.id);
    let answer = operator.post(&place, &[("sure", "true"), ("files", "true")]);
    answer.shows(
        StatusCode::INTERNAL_SERVER_ERROR,
        "not all of its files are removed",
    );
    let entry = &test.audit_trail()[0].entry;
    assert_eq!(entry.action, "repository.remove");
    let details = entry.details.as_deref().unwrap();
    assert!(details.contains("not all of its files"), "{details}");
}

#[test]
fn repositories_are_tagged_filtered_and_steered_together() {
    let repository = Misbehaving::start(Script::new(30, 10));
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let address = json!({ "base_url": repository.base_url() });
    let added = operator.call(Method::POST, "/api/v1/repositories", &address);
    let id = added.json()["id"].to_string();

    let page = operator.get(&format!("/repositories/tags?id={id}"));
    page.shows(StatusCode::OK, "Tags group repositories");
    let wrong = [("id", id.as_str()), ("add", "<b>"), ("remove", "")];
    operator
        .post("/repositories/tags", &wrong)
        .shows(StatusCode::UNPROCESSABLE_ENTITY, "a tag has 1 to 40");
    let right = [
        ("id", id.as_str()),
        ("add", "Theses, germany"),
        ("remove", ""),
    ];
    operator
        .post("/repositories/tags", &right)
        .leads_to("/repositories");

    let tagged = |tag: &str| {
        let listed = operator.get(&format!("/repositories?tag={tag}"));
        listed.body.contains(&format!("/repositories/{id}\""))
    };
    assert!(tagged("theses") && tagged("GERMANY") && !tagged("france"));
    let remove = json!({ "remove": ["germany"] });
    let tags = operator.call(
        Method::PATCH,
        &format!("/api/v1/repositories/{id}/tags"),
        &remove,
    );
    assert_eq!(tags.json()["tags"], json!(["theses"]));
    let listed = operator.call(Method::GET, "/api/v1/tags", &Value::Null);
    assert_eq!(
        listed.json()["items"],
        json!([{ "tag": "theses", "repositories": 1 }])
    );
    let chosen = |action| [("action", action), ("id", id.as_str())];
    let refreshed = operator.post("/repositories/bulk", &chosen("refresh"));
    refreshed.leads_to("/repositories");
    operator
        .get("/repositories")
        .shows(StatusCode::OK, "1 repository refreshed.");
    operator.post("/repositories/bulk", &chosen("pause"));
    operator
        .get("/repositories")
        .shows(StatusCode::OK, "it has no active schedule");
    assert_eq!(
        operator.post("/repositories/bulk", &chosen("burn")).status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    let actions: Vec<_> = test
        .audit_trail()
        .into_iter()
        .map(|row| row.entry.action)
        .collect();
    assert_eq!(
        actions
            .iter()
            .filter(|action| *action == "repository.tags")
            .count(),
        2,
        "{actions:?}"
    );
}
