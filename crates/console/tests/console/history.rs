//! The history: looked through, compared, taken away, and removed.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use catalog::{Role, State, Warning};
use serde_json::{Value, json};

use crate::browser::TestConsole;
use crate::holdings::TestHarvest;

/// A console with a good harvest (1), a failed one (2) and an incomplete one (3).
fn console() -> TestConsole {
    let test = TestConsole::new();
    let maps = test.repository("http://a.example/oai", "Maps");
    let plans = test.repository("http://b.example/oai", "Plans");
    test.harvest(
        &maps,
        &TestHarvest {
            records: vec![("oai:a:1", Some("<record/>")), ("oai:a:2", None)],
            next_from: Some("2024-01-01"),
            ..TestHarvest::default()
        },
    );
    test.harvest(
        &plans,
        &TestHarvest {
            state: State::Failed,
            reason: Some("=cmd|the repository answered with <b>HTML</b>, \"not\" XML"),
            ..TestHarvest::default()
        },
    );
    let warnings = (1..=150).map(|number| Warning {
        identifier: Some(format!("oai:a:{number}")),
        reason: "mended & kept".to_owned(),
        lost: number == 1,
    });
    test.harvest(
        &maps,
        &TestHarvest {
            state: State::Incomplete,
            reason: Some("1 record had to be left out"),
            parameters: r#"{"method":"ListRecords","full":true,"from":null}"#,
            quirks: Some(r#"{"leadingWhitespace":3}"#),
            warnings: warnings.collect(),
            ..TestHarvest::default()
        },
    );
    test
}

#[test]
fn harvests_are_listed_by_what_is_looked_for() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    let all = vic.get("/runs/all");
    all.shows(StatusCode::OK, "&#60;b&#62;HTML&#60;/b&#62;");
    for number in 1..=3 {
        assert!(all.body.contains(&format!("href=\"/runs/{number}\"")));
    }
    for (query, found) in [
        ("state=failed", vec![2]),
        ("repository=1", vec![1, 3]),
        ("text=LEFT+OUT", vec![3]),
        ("text=100%25", vec![]),
        ("since=2000-01-01", vec![1, 2, 3]),
        ("until=2000-01-01", vec![]),
        ("page=2", vec![1]),
        ("state=&repository=&since=&until=&text=", vec![1, 2, 3]),
    ] {
        let page = vic.get(&format!("/runs/all?{query}"));
        assert_eq!(page.status, StatusCode::OK, "{query}");
        let shown: Vec<_> = (1..=3)
            .filter(|number| page.body.contains(&format!("href=\"/runs/{number}\"")))
            .collect();
        assert_eq!(shown, found, "{query}");
    }
    vic.get("/runs/all?since=soon")
        .shows(StatusCode::OK, "is not a date");
    vic.get("/history?state=failed&repository=1")
        .leads_to("/runs/all?kind=harvest&state=failed&repository=1");
    vic.get("/history/2").leads_to("/runs/2");
}

#[test]
fn one_harvest_tells_counts_quirks_and_warnings_in_pages() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    let page = vic.get("/runs/3");

    page.shows(StatusCode::OK, "1 record had to be left out");
    page.shows(StatusCode::OK, "blank space before the XML declaration");
    page.shows(StatusCode::OK, "3 times");
    page.shows(StatusCode::OK, "mended &#38; kept");
    assert!(page.body.contains("oai:a:50<") && !page.body.contains("oai:a:51<"));
    let next = page.body.split("href=\"/runs/3?after=").nth(1).unwrap();
    let next = next.split(['"', '#']).next().unwrap();
    let page = vic.get(&format!("/runs/3?after={next}"));
    assert!(page.body.contains("oai:a:51<") && page.body.contains("oai:a:100<"));
    assert_eq!(vic.get("/history/99").status, StatusCode::NOT_FOUND);
}

#[test]
fn two_harvests_are_compared() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    vic.get("/history/compare?id=3&id=1")
        .leads_to("/runs/compare?id=1&id=3");
    let page = vic.get("/runs/compare?id=3&id=1");
    page.shows(StatusCode::OK, "Runs 1 and 3");
    page.shows(StatusCode::OK, "Settings that differ");
    page.shows(StatusCode::OK, "full");
    let answer = vic.get("/runs/compare?id=3");
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "choose two harvests");

    let json = vic.call(
        Method::GET,
        "/api/v1/history/compare?one=1&other=3",
        &Value::Null,
    );
    let parameters = json.json()["parameters"].clone();
    let expected = json!([{"name": "full", "one": "no", "other": "yes", "change": null}]);
    assert_eq!(parameters, expected);
}

#[test]
fn the_history_is_taken_away_as_a_table_that_is_safe_to_open() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);

    let csv = vic.get("/history.csv");
    assert_eq!(csv.status, StatusCode::OK);
    assert_eq!(csv.headers[CONTENT_TYPE], "text/csv; charset=utf-8");
    assert!(
        csv.headers[CONTENT_DISPOSITION]
            .to_str()
            .unwrap()
            .starts_with("attachment")
    );
    let lines: Vec<_> = csv.body.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("harvest,repository,base_url"));
    assert!(
        lines[2].contains(",\"'=cmd|the repository answered"),
        "{}",
        lines[2]
    );

    let failed = vic.get("/history.csv?state=failed&before=1");
    assert_eq!(failed.body.lines().count(), 2);
    let by_program = vic.call(
        Method::GET,
        "/api/v1/history.csv?repository=1",
        &Value::Null,
    );
    assert_eq!(by_program.body.lines().count(), 3);
}

#[test]
fn many_harvests_are_taken_away_whole() {
    let test = TestConsole::new();
    let maps = test.repository("http://a.example/oai", "Maps");
    for _ in 0..501 {
        test.harvest(&maps, &TestHarvest::default());
    }
    let vic = test.with_session("vic", Role::Viewer);
    assert_eq!(vic.get("/history.csv").body.lines().count(), 502);
}

#[test]
fn operators_remove_entries_after_they_were_told_what_is_lost() {
    let test = console();
    let ann = test.with_session("ann", Role::Operator);

    let question = ann.get("/history/remove?id=1&id=2");
    question.shows(StatusCode::OK, "would fetch everything anew");
    question.shows(StatusCode::OK, "Remove 2 entries from the history?");
    question.shows(StatusCode::OK, "/history/remove?ids=1%2C2");
    ann.post("/history/remove?ids=1%2C2", &[])
        .leads_to("/runs/all?kind=harvest");
    ann.get("/runs/all")
        .shows(StatusCode::OK, "2 entries are removed.");
    assert_eq!(ann.get("/history/2").status, StatusCode::NOT_FOUND);
    assert_eq!(test.audit_trail()[0].entry.subject, "harvest 1, 2");

    ann.get("/history/remove?days=30")
        .shows(StatusCode::OK, "more than 30 days ago");
    ann.post("/history/remove?days=30", &[])
        .leads_to("/runs/all?kind=harvest");
    assert_eq!(ann.get("/runs/3").status, StatusCode::OK);
    for query in ["", "?days=-1", "?days=x", "?days=36501"] {
        let answer = ann.get(&format!("/history/remove{query}"));
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}");
    }
}

#[test]
fn viewers_remove_nothing() {
    let test = console();
    let vic = test.with_session("vic", Role::Viewer);
    assert_eq!(
        vic.get("/history/remove?id=1").status,
        StatusCode::FORBIDDEN
    );
    let answer = vic.post("/history/remove?ids=1", &[]);
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let answer = vic.call(Method::DELETE, "/api/v1/history/1", &Value::Null);
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[test]
fn programs_read_and_remove_the_history() {
    let test = console();
    let ann = test.with_session("ann", Role::Operator);
    let get = |path: &str| ann.call(Method::GET, path, &Value::Null);

    let page = get("/api/v1/history?limit=2").json();
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    assert_eq!(page["next"], 2);
    let rest = get("/api/v1/history?limit=2&before=2").json();
    assert_eq!(rest["items"][0]["counts"]["new"], 1);
    let harvest = get("/api/v1/history/3").json();
    assert_eq!(harvest["quirks"][0]["count"], 3);
    assert_eq!(harvest["parameters"]["full"], true);
    let warnings = get("/api/v1/history/3/warnings?limit=100").json();
    let next = warnings["next"].as_i64().unwrap();
    let rest = get(&format!("/api/v1/history/3/warnings?after={next}")).json();
    assert_eq!(rest["items"].as_array().unwrap().len(), 50);
    assert_eq!(
        get("/api/v1/history?state=bad").status,
        StatusCode::BAD_REQUEST
    );

    let gone = ann.call(Method::DELETE, "/api/v1/history/2", &Value::Null);
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert_eq!(get("/api/v1/history/2").code(), "not_found");
    let old = json!({"older_than_days": 1});
    let removed = ann
        .call(Method::POST, "/api/v1/history/remove", &old)
        .json();
    assert_eq!(removed["removed"], 0);
}
