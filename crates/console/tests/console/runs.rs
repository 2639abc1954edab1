//! Runs: lists that are sorted, causes that are acknowledged, runs that are deleted.

use axum::http::{Method, StatusCode};
use catalog::Role;
use serde_json::{Value, json};

use crate::browser::TestConsole;

/// The names of the runs on a page of the list, in their order.
fn titles(body: &Value) -> Vec<String> {
    let items = body["items"].as_array().unwrap().iter();
    items
        .map(|run| run["title"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn runs_are_sorted_and_counted_and_an_order_that_is_none_is_named() {
    let test = TestConsole::new();
    let vic = test.with_session("vic", Role::Viewer);
    for name in ["Beta", "alpha", "Gamma"] {
        let repository = test.repository_called(name);
        test.failed(&repository, "nobody is there");
    }
    let get = |query: &str| {
        let path = format!("/api/v1/runs?{query}");
        vic.call(Method::GET, &path, &Value::Null)
    };

    let newest = get("count=true").json();
    assert_eq!(
        (titles(&newest), &newest["total"]),
        (
            vec!["Gamma".to_owned(), "alpha".to_owned(), "Beta".to_owned()],
            &json!(3)
        )
    );
    let first = get("sort=title&limit=2").json();
    assert_eq!(
        (titles(&first), &first["next"]),
        (vec!["alpha".to_owned(), "Beta".to_owned()], &json!(2))
    );
    let second = get("sort=title&limit=2&offset=2").json();
    assert_eq!(
        (titles(&second), &second["next"]),
        (vec!["Gamma".to_owned()], &Value::Null)
    );
    assert_eq!(
        titles(&get("sort=title&descending=true").json())[0],
        "Gamma"
    );
    for order in ["started", "took", "due", "attempt"] {
        assert_eq!(
            titles(&get(&format!("sort={order}")).json()).len(),
            3,
            "{order}"
        );
    }
    let refused = get("sort=size");
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.body.contains("it is one of title, started"),
        "{}",
        refused.body
    );

    let page = vic.get("/runs/all?sort=title&size=25");
    page.shows(StatusCode::OK, "aria-sort=\"ascending\"");
    page.shows(StatusCode::OK, "3 runs");
    vic.get("/runs/all?sort=size").shows(
        StatusCode::OK,
        "there is no order `size`; choose one of title, started, took",
    );
    let ada = test.with_session("ada", Role::Admin);
    for path in ["/audit", "/parents", "/imports", "/accounts"] {
        ada.get(path).shows(StatusCode::OK, "<h1>");
        ada.get(&format!("{path}?sort=nonsense"))
            .shows(StatusCode::OK, "there is no order `nonsense`");
    }
}

#[test]
fn a_cause_that_is_muted_leaves_the_overview_until_somebody_shows_it_again() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Operator);
    let vic = test.with_session("vic", Role::Viewer);
    let repository = test.repository_called("Alpha");
    test.failed(&repository, "the server answers 503 (6 attempts over 69 s)");
    test.failed(&repository, "the server answers 503 (6 attempts over 71 s)");
    let cause = "the server answers 503";
    ann.get("/").shows(StatusCode::OK, "The server answers 503");

    let form = [("cause", cause), ("days", "7")];
    assert_eq!(
        vic.post("/runs/acknowledge", &form).status,
        StatusCode::FORBIDDEN
    );
    ann.post("/runs/acknowledge", &form)
        .leads_to("/runs/failed");
    test.failed(&repository, "the server answers 503 (6 attempts over 80 s)");

    let page = ann.get("/");
    assert!(
        !page.body.contains("The server answers 503"),
        "{}",
        page.body
    );
    page.shows(StatusCode::OK, "1 cause is acknowledged");
    ann.get("/runs/failed").shows(StatusCode::OK, "Muted until");
    assert_eq!(test.audit_trail()[0].entry.action, "failures.acknowledge");
    let unknown = json!({ "cause": "something else" });
    let unknown = ann.call(Method::POST, "/api/v1/runs/acknowledge", &unknown);
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);

    ann.post("/runs/acknowledge", &[("cause", cause), ("undo", "true")])
        .leads_to("/runs/failed");
    ann.get("/").shows(StatusCode::OK, "The server answers 503");
}

#[test]
fn runs_that_are_over_are_deleted_after_a_page_that_names_them() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Operator);
    let repository = test.repository_called("Alpha");
    let ended = test.failed(&repository, "nobody is there").id;
    let waiting = test.waiting(&repository).id;

    let page = ann.get(&format!("/runs/remove?id={ended}&id={waiting}"));
    page.shows(StatusCode::OK, &format!("Delete run {ended}?"));
    page.shows(
        StatusCode::OK,
        &format!("Run {waiting} is queued and stays"),
    );
    ann.post(&format!("/runs/remove?ids={ended}"), &[])
        .leads_to("/runs/all");

    let path = format!("/api/v1/runs/{ended}");
    let gone = ann.call(Method::GET, &path, &Value::Null);
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    let path = format!("/api/v1/runs/{waiting}");
    let refused = ann.call(Method::DELETE, &path, &Value::Null);
    assert_eq!(refused.status, StatusCode::CONFLICT, "{}", refused.body);
    ann.get("/runs/remove").leads_to("/runs/all");
}

#[test]
fn a_run_is_downloaded_as_files() {
    let test = TestConsole::new();
    let vic = test.with_session("vic", Role::Viewer);
    let repository = test.repository_called("Alpha");
    let run = test.failed(&repository, "nobody is there").id;

    for name in ["run.json", "log.jsonl", "problems.jsonl"] {
        let file = vic.get(&format!("/runs/{run}/{name}"));
        assert_eq!(file.status, StatusCode::OK, "{name}");
        let disposition = file.headers["content-disposition"].to_str().unwrap();
        assert!(
            disposition.starts_with("attachment; filename=\"run-"),
            "{disposition}"
        );
    }
}
