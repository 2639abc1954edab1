//! Quiet: programs that read all of a repository keep harvests away meanwhile.

use axum::http::{Method, StatusCode};
use catalog::{JobEnd, Role};
use serde_json::{Value, json};

use crate::browser::TestConsole;

#[test]
fn a_quiet_time_is_taken_made_longer_and_given_back() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let alpha = test.repository_called("Alpha");
    let path = format!("/api/v1/repositories/{}/quiet", alpha.id);
    let send = |method, body: &Value| operator.call(method, &path, body);

    let taken = send(
        Method::POST,
        &json!({ "seconds": 60, "why": "index build" }),
    );
    assert_eq!(taken.status, StatusCode::CREATED, "{taken:?}");
    let (job, token) = (taken.json()["job"].clone(), taken.json()["token"].clone());
    assert_eq!(send(Method::GET, &Value::Null).json()["quiet"], true);
    let again = send(Method::POST, &json!({ "seconds": 60 }));
    assert_eq!(
        (again.status, again.code().as_str()),
        (StatusCode::CONFLICT, "busy")
    );
    operator
        .get("/runs")
        .shows(StatusCode::OK, "Quiet time: index build");

    let longer = json!({ "job": job, "token": token, "seconds": 120 });
    assert_eq!(send(Method::PUT, &longer).status, StatusCode::OK);
    let strange = json!({ "job": job, "token": 77, "seconds": 120 });
    assert_eq!(send(Method::PUT, &strange).code(), "conflict");
    let back = format!("{path}?job={job}&token={token}");
    let answer = operator.call(Method::DELETE, &back, &Value::Null);
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    let answer = operator.call(Method::DELETE, &back, &Value::Null);
    assert_eq!(answer.code(), "conflict");
    assert_eq!(send(Method::GET, &Value::Null).json()["quiet"], false);
}

#[test]
fn nobody_is_quiet_while_a_harvest_runs_and_no_job_is_taken_for_another() {
    let test = TestConsole::new();
    let operator = test.with_session("ann", Role::Operator);
    let (alpha, beta) = (
        test.repository_called("Alpha"),
        test.repository_called("Beta"),
    );
    let claim = test.running(&alpha);
    let path = |id: i64| format!("/api/v1/repositories/{id}/quiet");
    let wanted = json!({ "seconds": 60 });
    let busy = operator.call(Method::POST, &path(alpha.id), &wanted);
    assert_eq!(busy.code(), "busy");
    let state = operator.call(Method::GET, &path(alpha.id), &Value::Null);
    assert_eq!(state.json()["harvesting"], true);

    // The number and token of a harvest open nothing here.
    let harvest = format!(
        "{}?job={}&token={}",
        path(alpha.id),
        claim.job.id,
        claim.token
    );
    let answer = operator.call(Method::DELETE, &harvest, &Value::Null);
    assert_eq!(answer.code(), "not_found");
    test.end(&claim, &JobEnd::Finished);

    let taken = operator.call(Method::POST, &path(alpha.id), &wanted).json();
    let elsewhere = json!({ "job": taken["job"], "token": taken["token"], "seconds": 60 });
    let answer = operator.call(Method::PUT, &path(beta.id), &elsewhere);
    assert_eq!(answer.code(), "not_found");
    for seconds in [0, 4, 86_401] {
        let answer = operator.call(Method::POST, &path(beta.id), &json!({ "seconds": seconds }));
        assert_eq!(answer.code(), "invalid", "{seconds}");
    }
}
