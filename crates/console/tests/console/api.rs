//! The API: tokens, errors, and its description.

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use catalog::{AuditRow, Role};
use serde_json::{Value, json};

use crate::browser::{Answer, PASSWORD, TestConsole, request};

/// Calls an operation with a token.
fn call(test: &TestConsole, token: &str, method: Method, path: &str, body: &Value) -> Answer {
    let mut request = request(method, path);
    let bearer = format!("Bearer {token}").parse().unwrap();
    request.headers_mut().insert(AUTHORIZATION, bearer);
    // Programs in browsers of other sites may use tokens too.
    request
        .headers_mut()
        .insert("origin", "https://app.example".parse().unwrap());
    if !body.is_null() {
        let json = "application/json".parse().unwrap();
        request.headers_mut().insert(CONTENT_TYPE, json);
        request = request.map(|_| Body::from(body.to_string()));
    }
    test.send(request)
}

fn token(test: &TestConsole, name: &str, role: Role) -> String {
    let browser = test.with_session(name, role);
    let wanted = json!({ "name": "test", "role": role.name() });
    let made = browser.call(Method::POST, "/api/v1/tokens", &wanted);
    assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
    made.json()["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_token_opens_the_api_and_nothing_else() {
    let test = TestConsole::new();
    let token = token(&test, "ann", Role::Operator);
    let me = call(&test, &token, Method::GET, "/api/v1/me", &Value::Null);
    assert_eq!(me.json()["name"], "ann");
    assert_eq!(me.json()["role"], "operator");
    call(&test, &token, Method::GET, "/me", &Value::Null).leads_to("/login?next=/me");
    let wrong = call(
        &test,
        "garner_wrong",
        Method::GET,
        "/api/v1/me",
        &Value::Null,
    );
    assert_eq!(wrong.code(), "unauthenticated");
    assert_eq!(wrong.headers["www-authenticate"], "Bearer");
}

#[test]
fn a_token_is_never_more_than_its_account() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Operator);
    let path = "/api/v1/tokens";
    let more = json!({ "name": "more", "role": "admin" });
    let answer = ann.call(Method::POST, path, &more);
    assert_eq!(answer.code(), "forbidden");

    let less = json!({ "name": "less", "role": "viewer", "days": 1 });
    let made = ann.call(Method::POST, path, &less).json();
    let viewer = made["token"].as_str().unwrap();
    assert!(made["expires"].as_str().unwrap().ends_with('Z'));
    let job = json!({ "repository": 1 });
    let answer = call(&test, viewer, Method::POST, "/api/v1/jobs", &job);
    assert_eq!(answer.code(), "forbidden");

    let catalog = test.holdings.catalog();
    let id = test.account_id("ann");
    test.account("root", Role::Admin);
    let disabled = catalog.change_account(id, Role::Operator, true);
    test.holdings.wait(disabled).unwrap();
    let answer = call(&test, viewer, Method::GET, "/api/v1/me", &Value::Null);
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[test]
fn a_token_neither_makes_nor_removes_tokens() {
    let test = TestConsole::new();
    let token = token(&test, "root", Role::Admin);
    let another = json!({ "name": "another", "role": "viewer" });
    for (method, path, body) in [
        (Method::POST, "/api/v1/tokens", &another),
        (Method::DELETE, "/api/v1/tokens/1", &Value::Null),
    ] {
        let answer = call(&test, &token, method, path, body);
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.body.contains("log in to do that"), "{answer:?}");
    }
    let known = call(&test, &token, Method::GET, "/api/v1/tokens", &Value::Null);
    assert_eq!(known.json()["items"].as_array().unwrap().len(), 1);
}

#[test]
fn accounts_are_made_changed_and_removed() {
    let test = TestConsole::new();
    let root = test.logged_in("root", Role::Admin);
    let send = |method, path: &str, body: &Value| root.call(method, path, body);
    let new = json!({ "name": "ann", "role": "viewer", "password": PASSWORD });
    let made = send(Method::POST, "/api/v1/accounts", &new);
    assert_eq!(made.status, StatusCode::CREATED);
    let again = send(Method::POST, "/api/v1/accounts", &new);
    assert_eq!(
        (again.status, again.code().as_str()),
        (StatusCode::CONFLICT, "conflict")
    );

    let place = format!("/api/v1/accounts/{}", made.json()["id"]);
    let changed = send(Method::PUT, &place, &json!({ "role": "operator" }));
    assert_eq!(changed.json()["role"], "operator");
    let password = json!({ "password": "another long password" });
    let answer = send(Method::PUT, &format!("{place}/password"), &password);
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    test.browser()
        .log_in("ann", "another long password")
        .leads_to("/");
    assert_eq!(
        send(Method::GET, &place, &Value::Null).json()["name"],
        "ann"
    );
    assert_eq!(
        send(Method::DELETE, &place, &Value::Null).status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(send(Method::GET, &place, &Value::Null).code(), "not_found");

    let list = send(Method::GET, "/api/v1/accounts", &Value::Null).json();
    assert_eq!(list["total"], 1);
    let first = send(Method::GET, "/api/v1/audit?limit=1", &Value::Null).json();
    assert_eq!(first["items"][0]["action"], "account.remove");
    let further = format!("/api/v1/audit?limit=2&before={}", first["next"]);
    let further = send(Method::GET, &further, &Value::Null).json();
    assert_eq!(further["items"].as_array().unwrap().len(), 2);
    assert_eq!(further["items"][1]["action"], "account.password");
}

/// Issue 18: a token of an admin could make admins, who would outlive it.
#[test]
fn tokens_neither_make_nor_change_accounts() {
    let test = TestConsole::new();
    let token = token(&test, "root", Role::Admin);
    let ann = test.account("ann", Role::Viewer);
    let new = json!({ "name": "eva", "role": "admin", "password": PASSWORD });
    let place = format!("/api/v1/accounts/{ann}");
    for (method, path, body) in [
        (Method::POST, "/api/v1/accounts", &new),
        (Method::PUT, &place, &json!({ "role": "admin" })),
        (
            Method::PUT,
            &format!("{place}/password"),
            &json!({ "password": "another long password" }),
        ),
        (Method::DELETE, &place, &Value::Null),
    ] {
        let answer = call(&test, &token, method, path, body);
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
        assert!(answer.body.contains("log in to do that"), "{answer:?}");
    }
    let list = call(&test, &token, Method::GET, "/api/v1/accounts", &Value::Null);
    assert_eq!(list.json()["total"], 2);
    test.browser().log_in("ann", PASSWORD).leads_to("/");
}

/// Issue 18: tokens outlived the password that they were made under.
#[test]
fn tokens_end_with_the_password() {
    let test = TestConsole::new();
    let ann = test.logged_in("ann", Role::Operator);
    let wanted = json!({ "name": "indexer", "role": "viewer" });
    let made = ann.call(Method::POST, "/api/v1/tokens", &wanted).json();
    let token = made["token"].as_str().unwrap();
    let me = || call(&test, token, Method::GET, "/api/v1/me", &Value::Null);
    assert_eq!(me().status, StatusCode::OK);
    let fields = [
        ("current", PASSWORD),
        ("password", "another long password"),
        ("again", "another long password"),
    ];

    ann.post("/me/password", &fields).leads_to("/me");

    ann.get("/me")
        .shows(StatusCode::OK, "API tokens ended: indexer.");
    assert_eq!(me().status, StatusCode::UNAUTHORIZED);
    let trail = test.audit_trail();
    let ended = trail[1].entry.details.as_deref().unwrap_or_default();
    assert!(ended.starts_with("tokens ended: "), "{trail:?}");
    // A token that is none is in the trail as well, and fills it not.
    for _ in 0..5 {
        me();
    }
    let trail = test.audit_trail();
    let refused = |row: &&AuditRow| row.entry.action == "token.refuse";
    assert_eq!(trail.iter().filter(refused).count(), 1);
}

#[test]
fn bad_requests_are_told_in_json() {
    let test = TestConsole::new();
    let token = token(&test, "root", Role::Admin);
    let admin = test.with_session("ann", Role::Admin);
    for (body, message) in [
        (
            json!({ "name": "a", "role": "viewer", "password": "short" }),
            "at least 10",
        ),
        (
            json!({ "name": "a", "role": "owner", "password": PASSWORD }),
            "owner",
        ),
        (
            json!({ "name": "a", "role": "viewer", "password": PASSWORD, "x": 1 }),
            "unknown field `x`",
        ),
        (json!({ "name": "a" }), "missing field"),
        (json!("text"), "NewAccount"),
    ] {
        let answer = admin.call(Method::POST, "/api/v1/accounts", &body);
        assert!(answer.status.is_client_error(), "{answer:?}");
        let told = answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(told.contains(message), "{told}");
    }
    let answer = call(
        &test,
        &token,
        Method::GET,
        "/api/v1/audit?limit=many",
        &Value::Null,
    );
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (StatusCode::BAD_REQUEST, "unreadable")
    );
    let answer = call(
        &test,
        &token,
        Method::GET,
        "/api/v1/accounts/one",
        &Value::Null,
    );
    assert_eq!(answer.code(), "not_found");
}

#[test]
fn the_description_is_whole() {
    let test = TestConsole::new();
    let browser = test.with_session("ann", Role::Viewer);
    let description = browser.get("/api/v1/openapi.json").json();
    assert!(description["openapi"].as_str().unwrap().starts_with("3."));

    let mut references = Vec::new();
    collect(&description, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(
            description.pointer(pointer).is_some(),
            "{reference} leads nowhere"
        );
    }
    let mut ids = Vec::new();
    for item in description["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            ids.push(operation["operationId"].as_str().unwrap().to_owned());
            assert!(operation["summary"].is_string(), "{operation}");
            assert!(operation["responses"]["401"].is_object(), "{operation}");
            assert_eq!(operation["security"][0]["token"], json!([]));
        }
    }
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "operations have names of their own");
    browser
        .get("/api")
        .shows(StatusCode::OK, "/api/v1/accounts/{id}");
}

fn collect(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref") {
                references.push(reference.clone());
            }
            members
                .values()
                .for_each(|value| collect(value, references));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, references)),
        _ => {}
    }
}
