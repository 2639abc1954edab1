//! The dashboard, and the figures in the API.

use axum::http::{Method, StatusCode};
use catalog::Role;
use serde_json::Value;

use crate::browser::TestConsole;

#[test]
fn somebody_who_begins_is_led_to_the_first_repository_and_the_first_schedule() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let page = operator.get("/");
    page.shows(StatusCode::OK, r#"href="/repositories/new""#);
    assert!(
        !page.body.contains(r#"href="/schedules/new""#),
        "{}",
        page.body
    );

    test.repository_called("Alpha");
    operator
        .get("/")
        .shows(StatusCode::OK, r#"href="/schedules/new""#);

    let viewer = test.with_session("vic", Role::Viewer);
    let page = viewer.get("/");
    page.shows(StatusCode::OK, "an operator or an admin takes these steps");
    assert!(!page.body.contains("/repositories/new"), "{}", page.body);
}

#[test]
fn what_runs_failed_and_waits_is_shown_without_reloading() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let (alpha, beta) = (
        test.repository_called("Alpha"),
        test.repository_called("Beta <b>"),
    );
    test.failed(&beta, "it answers with a web page instead of XML");
    let claim = test.running(&alpha);
    test.beat(&claim, 1200, 4800);
    test.waiting(&beta);

    for path in ["/", "/dashboard/live"] {
        let page = operator.get(path);
        page.shows(StatusCode::OK, r#"max="4800" value="1200""#);
        page.shows(StatusCode::OK, "1\u{202f}200 of 4\u{202f}800");
        page.shows(StatusCode::OK, "12 new, 3 updated");
        page.shows(StatusCode::OK, "It answers with a web page");
        page.shows(StatusCode::OK, "action=\"/runs/retry?back=/\"");
        page.shows(
            StatusCode::OK,
            r#"<a href="/runs/queued">Queued runs</a></dt><dd>1</dd>"#,
        );
        page.shows(StatusCode::OK, "Beta &#60;b&#62;");
        page.shows(StatusCode::OK, r#"href="/repositories?health=never""#);
    }
    let whole = operator.get("/");
    assert!(whole.body.contains(r#"data-live="/dashboard/live""#));
    let viewer = test.with_session("vic", Role::Viewer).get("/");
    assert!(!viewer.body.contains("<form method=\"post\" action=\"/runs"));
}

#[test]
fn the_chart_is_drawn_for_a_day_a_month_and_a_year_and_has_a_table() {
    let test = TestConsole::new();
    let viewer = test.with_session("vic", Role::Viewer);
    for (span, bars) in [("day", 24), ("month", 30), ("year", 52), ("nonsense", 30)] {
        for measure in ["records", "harvests", "bytes", "nonsense"] {
            let page = viewer.get(&format!("/?span={span}&measure={measure}"));
            page.shows(StatusCode::OK, "As a table");
            // Each bar has a row of the table, and both lead to its runs.
            let rows = page.body.matches(r#"<tr><th scope="row">"#).count();
            assert_eq!(rows, bars, "{span}");
            assert_eq!(page.body.matches("since=").count(), 2 * bars, "{span}");
        }
        let part = viewer.get(&format!("/dashboard/charts?span={span}"));
        assert!(!part.body.contains("<html"), "{}", part.body);
    }
}

#[test]
fn failures_of_one_cause_are_one_thing_to_look_at() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    for name in ["Alpha", "Beta", "Gamma"] {
        let repository = test.repository_called(name);
        let reason = format!("{}: the server answers 503", repository.base_url);
        test.failed(&repository, &reason);
    }

    let page = operator.get("/");
    page.shows(StatusCode::OK, "The server answers 503</strong>");
    page.shows(StatusCode::OK, "3 runs");
    page.shows(StatusCode::OK, "3 repositories");
    let overview = operator
        .call(Method::GET, "/api/v1/overview", &Value::Null)
        .json();
    let groups = overview["attention"]["failures"]["groups"]
        .as_array()
        .unwrap();
    assert_eq!(groups.len(), 1, "{overview:#}");
    assert_eq!(groups[0]["count"], 3);
    assert_eq!(groups[0]["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn somebody_who_knows_the_first_steps_hides_them() {
    let test = TestConsole::new();
    let viewer = test.with_session("vic", Role::Viewer);
    viewer.get("/").shows(StatusCode::OK, "First steps");
    viewer.post("/first-steps/hide", &[]).leads_to("/");
    assert!(!viewer.get("/").body.contains("First steps"));
}

#[test]
fn programs_get_the_same_figures() {
    let test = TestConsole::new();
    let alpha = test.repository_called("Alpha");
    test.failed(&alpha, "nobody is there");
    test.waiting(&alpha);
    let viewer = test.with_session("vic", Role::Viewer);

    let figures = viewer.call(Method::GET, "/api/v1/statistics", &Value::Null);
    let figures = figures.json();
    assert_eq!(figures["repositories"], 1);
    assert_eq!(figures["jobs"]["failed"], 1);
    assert_eq!(figures["jobs"]["scheduled"], 1);
    assert_eq!(figures["health"]["never"], 1);
    let path = "/api/v1/statistics/activity?step=3600";
    let steps = viewer.call(Method::GET, path, &Value::Null).json();
    assert_eq!(steps["items"].as_array().unwrap().len(), 25);
    let path = "/api/v1/statistics/activity?since=yesterday";
    let answer = viewer.call(Method::GET, path, &Value::Null);
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}
