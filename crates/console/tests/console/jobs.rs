//! Jobs: seen, stopped, tried again, by people and by programs.

use axum::http::{Method, StatusCode};
use catalog::{JobEnd, JobState, LogLevel, Role};
use serde_json::{Value, json};

use crate::browser::TestConsole;

fn state(test: &TestConsole, id: i64) -> JobState {
    let job = test.holdings.wait(test.holdings.catalog().job(id));
    job.unwrap().unwrap().state
}

#[test]
fn a_queued_run_is_skipped_and_can_be_wanted_again() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let job = test.waiting(&test.repository_called("Alpha"));
    let queue = operator.get("/runs/queued");
    queue.shows(StatusCode::OK, "Skip this run");
    queue.shows(StatusCode::OK, "No worker is alive that runs harvests");

    let path = format!("/runs/{}/stop?was=queued&back=/runs/queued", job.id);
    let answer = operator.post(&path, &[]);
    answer.leads_to("/runs/queued");
    operator
        .get("/runs/queued")
        .shows(StatusCode::OK, &format!("Run {} is skipped.", job.id));
    assert_eq!(state(&test, job.id), JobState::Cancelled);

    let answer = operator.post(&format!("/runs/{}/retry", job.id), &[]);
    answer.leads_to(&format!("/runs/{}", job.id));
    assert_eq!(state(&test, job.id), JobState::Scheduled);
    let trail = test.audit_trail();
    assert_eq!(trail[0].entry.action, "job.retry");
    assert_eq!(trail[1].entry.action, "job.cancel");
    assert_eq!(trail[1].entry.account, "ann");
}

#[test]
fn a_running_job_says_that_it_stops_until_it_has() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let claim = test.running(&test.repository_called("Alpha"));
    let place = format!("/runs/{}", claim.job.id);
    operator.get(&place).shows(StatusCode::OK, ">Stop<");

    operator
        .post(&format!("{place}/stop?was=running"), &[])
        .leads_to(&place);
    let live = operator.get(&format!("{place}/live"));
    live.shows(StatusCode::OK, "stopping…");
    assert!(!live.body.contains(">Stop<"), "{}", live.body);
    assert!(!live.headers.contains_key("x-garner-over"));
    operator
        .get(&place)
        .shows(StatusCode::OK, "cancelled by ann while it ran");

    test.end(&claim, &JobEnd::Cancelled);
    let live = operator.get(&format!("{place}/live"));
    live.shows(StatusCode::OK, ">Retry<");
    live.shows(StatusCode::OK, ">Run in full<");
    assert!(live.headers.contains_key("x-garner-over"));
}

#[test]
fn a_job_that_begins_or_ends_while_it_is_deleted_is_told_plainly() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let alpha = test.repository_called("Alpha");
    let begun = test.running(&alpha);
    let place = format!("/runs/{}", begun.job.id);
    operator.post(&format!("{place}/stop?was=queued"), &[]);
    operator
        .get(&place)
        .shows(StatusCode::OK, "had begun in the meantime");

    test.end(&begun, &JobEnd::Finished);
    operator.post(&format!("{place}/stop?was=running"), &[]);
    operator
        .get(&place)
        .shows(StatusCode::OK, "over before it could be stopped");
    operator.post(&format!("{place}/retry"), &[]);
    operator
        .get(&place)
        .shows(StatusCode::OK, "Nothing was done");
    let again = operator.post(&format!("{place}/again"), &[("full", "true")]);
    let page = operator.get(again.location());
    page.shows(StatusCode::OK, "<dt>Full harvest</dt><dd>yes</dd>");
    page.shows(StatusCode::OK, "Queued as run");

    let answer = operator.post("/runs/999999/stop", &[]);
    answer.shows(StatusCode::NOT_FOUND, "there is no run 999999");
}

#[test]
fn viewers_see_jobs_and_steer_none() {
    let test = TestConsole::new();
    let viewer = test.with_session("vic", Role::Viewer);
    let job = test.waiting(&test.repository_called("Alpha"));
    let page = viewer.get("/runs/queued");
    page.shows(StatusCode::OK, "Alpha");
    assert!(!page.body.contains("Skip this run"), "{}", page.body);
    for action in ["stop", "retry", "again"] {
        let answer = viewer.post(&format!("/runs/{}/{action}", job.id), &[]);
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
    }
    for action in ["cancel", "retry"] {
        let path = format!("/api/v1/jobs/{}/{action}", job.id);
        let answer = viewer.call(Method::POST, &path, &json!({}));
        assert_eq!(answer.code(), "forbidden");
    }
    assert_eq!(state(&test, job.id), JobState::Scheduled);
}

#[test]
fn the_log_is_shown_as_it_happens_and_takes_no_markup_from_repositories() {
    let test = TestConsole::new();
    let viewer = test.with_session("vic", Role::Viewer);
    let claim = test.running(&test.repository_called("Alpha"));
    let id = claim.job.id;
    viewer
        .get(&format!("/runs/{id}"))
        .shows(StatusCode::OK, r#"data-live="/runs/"#);
    test.log(id, LogLevel::Info, "page 1: 100 records");
    test.log(id, LogLevel::Warning, "<script>alert(1)</script>");

    let live = viewer.get(&format!("/runs/{id}/live"));
    live.shows(StatusCode::OK, "page 1: 100 records");
    live.shows(StatusCode::OK, "&#60;script&#62;alert(1)");
    live.shows(StatusCode::OK, "<b>warning:</b>");
    assert!(!live.body.contains("<script>"), "{}", live.body);

    let warnings = viewer.get(&format!("/runs/{id}/live?level=warning"));
    warnings.shows(StatusCode::OK, "alert(1)");
    assert!(!warnings.body.contains("page 1: 100 records"));

    for number in 0..600 {
        test.log(id, LogLevel::Info, &format!("line {number}."));
    }
    let live = viewer.get(&format!("/runs/{id}/live"));
    live.shows(StatusCode::OK, "line 599.");
    live.shows(StatusCode::OK, "The last lines");
    assert!(!live.body.contains("line 10."));
    let path = format!("/api/v1/jobs/{id}/log?limit=2");
    let first = viewer.call(Method::GET, &path, &Value::Null).json();
    assert_eq!(first["items"][0]["message"], "page 1: 100 records");
    let path = format!("/api/v1/jobs/{id}/log?limit=1&after={}", first["next"]);
    let next = viewer.call(Method::GET, &path, &Value::Null).json();
    assert_eq!(next["items"][0]["message"], "line 0.");
}

#[test]
fn runs_that_are_over_are_filtered_paged_and_grouped_by_their_cause() {
    let test = TestConsole::new();
    let viewer = test.with_session("vic", Role::Viewer);
    let (alpha, beta) = (
        test.repository_called("Alpha"),
        test.repository_called("Beta"),
    );
    for number in 0..51 {
        test.failed(&alpha, &format!("reason {number}."));
    }
    test.end(&test.running(&beta), &JobEnd::Finished);

    let page = viewer.get("/runs/all");
    page.shows(StatusCode::OK, "reason 50.");
    assert!(!page.body.contains("reason 1."), "{}", page.body);
    let next = page.body.split(r#"rel="next" href=""#).nth(1).unwrap();
    let next = next.split('"').next().unwrap().replace("&#38;", "&");
    viewer.get(&next).shows(StatusCode::OK, "reason 1.");

    let path = format!("/runs/all?state=ok&repository={}", beta.id);
    let page = viewer.get(&path);
    page.shows(StatusCode::OK, "Beta");
    assert!(!page.body.contains("reason 50."), "{}", page.body);
    viewer
        .get("/runs/all?state=nonsense&repository=x")
        .shows(StatusCode::OK, "reason 50.");
    viewer
        .get("/runs/all?kind=nonsense")
        .shows(StatusCode::OK, "reason 50.");

    let groups = viewer.get("/runs/failed");
    groups.shows(StatusCode::OK, "Reason N.");
    groups.shows(StatusCode::OK, ">51 runs</a>");
    assert!(!groups.body.contains("Retry all"));
    let failures = viewer.call(Method::GET, "/api/v1/runs/failures", &Value::Null);
    assert_eq!(failures.json()["groups"][0]["cause"], "reason N.");
    assert_eq!(failures.json()["groups"][0]["targets"], 1);
    let of_cause = viewer.get("/runs/failed?cause=reason+N.");
    of_cause.shows(StatusCode::OK, "1–50 of 51");
    let operator = test.with_session("ann", Role::Operator);
    let retry = json!({ "cause": "reason N." });
    let retried = operator
        .call(Method::POST, "/api/v1/runs/retry", &retry)
        .json();
    assert_eq!(retried["retried"].as_array().unwrap().len(), 1);
}

#[test]
fn programs_put_harvests_into_the_queue_and_stop_them() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let alpha = test.repository_called("Alpha");
    let post = |path: &str, body: &Value| operator.call(Method::POST, path, body);

    let wanted = json!({ "repository": alpha.id, "set": "maps", "parameters": { "full": true } });
    let made = post("/api/v1/jobs", &wanted);
    assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
    let job = made.json();
    assert_eq!(job["metadata_prefix"], "oai_dc");
    assert_eq!(job["parameters"]["full"], true);
    assert_eq!(job["created_by"], "ann");
    let path = format!(
        "/api/v1/jobs?state=running,scheduled&repository={}",
        alpha.id
    );
    let list = operator.call(Method::GET, &path, &Value::Null).json();
    assert_eq!(list["items"][0]["id"], job["id"]);

    let stopped = post(&format!("/api/v1/jobs/{}/cancel", job["id"]), &json!({}));
    assert_eq!(stopped.json()["asked"], false);
    assert_eq!(stopped.json()["job"]["state"], "cancelled");
    let again = post(&format!("/api/v1/jobs/{}/cancel", job["id"]), &json!({}));
    assert_eq!(
        (again.status, again.code().as_str()),
        (StatusCode::CONFLICT, "conflict")
    );
    let again = post(&format!("/api/v1/jobs/{}/retry", job["id"]), &json!({}));
    assert_eq!(again.json()["state"], "scheduled");

    for (wanted, status) in [
        (json!({ "repository": 999 }), StatusCode::NOT_FOUND),
        (
            json!({ "repository": alpha.id, "parameters": { "from": "soon" } }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            json!({ "repository": alpha.id, "parameters": { "base_directory": "/etc" } }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            json!({ "repository": alpha.id, "metadata_prefix": "a b" }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            json!({ "repository": alpha.id, "set": "a&b" }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            json!({ "repository": alpha.id, "parameters": { "filter": 77 } }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
    ] {
        assert_eq!(post("/api/v1/jobs", &wanted).status, status, "{wanted}");
    }
    let mirror = json!({ "repository": alpha.id, "parameters": { "unpack": "mirror" } });
    let refused = post("/api/v1/jobs", &mirror);
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.body.contains("has no format `oai_didl`"),
        "{}",
        refused.body
    );

    let path = "/api/v1/jobs?state=nonsense";
    let answer = operator.call(Method::GET, path, &Value::Null);
    assert_eq!(answer.code(), "invalid");
}
