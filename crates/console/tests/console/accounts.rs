//! Accounts: made, changed, removed, and never the last admin.

use axum::http::StatusCode;
use catalog::Role;

use crate::browser::{PASSWORD, TestConsole};

#[test]
fn admins_make_change_and_remove_accounts() {
    let test = TestConsole::new();
    let admin = test.logged_in("root", Role::Admin);
    let fields = [
        ("name", "ann"),
        ("role", "operator"),
        ("password", PASSWORD),
        ("again", PASSWORD),
    ];
    admin.post("/accounts", &fields).leads_to("/accounts");
    admin
        .get("/accounts")
        .shows(StatusCode::OK, "Account ann added.");
    let ann = test.account_id("ann");
    test.browser().log_in("ann", PASSWORD).leads_to("/");

    let place = format!("/accounts/{ann}");
    admin
        .post(&place, &[("role", "viewer")])
        .leads_to("/accounts");
    let another = [
        ("password", "another long password"),
        ("again", "another long password"),
    ];
    admin
        .post(&format!("{place}/password"), &another)
        .leads_to("/accounts");
    test.browser()
        .log_in("ann", "another long password")
        .leads_to("/");

    let question = admin.get(&format!("{place}/remove"));
    question.shows(StatusCode::OK, "ann cannot log in any more");
    admin
        .post(&format!("{place}/remove"), &[])
        .leads_to("/accounts");
    assert_eq!(admin.get(&place).status, StatusCode::NOT_FOUND);

    let trail = test.audit_trail();
    let actions: Vec<_> = trail.iter().map(|row| row.entry.action.as_str()).collect();
    assert_eq!(
        actions,
        [
            "account.remove",
            "session.begin",
            "account.password",
            "account.change",
            "session.begin",
            "account.add",
            "session.begin"
        ]
    );
    assert!(trail.iter().all(|row| {
        !row.entry
            .details
            .as_deref()
            .unwrap_or("")
            .contains("password")
    }));
    assert_eq!(
        trail[3].entry.details.as_deref(),
        Some("from operator to viewer")
    );
    assert_eq!(trail[0].entry.account, "root");
    admin
        .get("/audit?account=root")
        .shows(StatusCode::OK, "account.remove");
    assert!(
        !admin
            .get("/audit?account=nobody")
            .body
            .contains("account.remove")
    );
}

#[test]
fn the_last_admin_stays() {
    let test = TestConsole::new();
    let admin = test.logged_in("root", Role::Admin);
    let place = format!("/accounts/{}", test.account_id("root"));

    for settings in [
        &[("role", "viewer")][..],
        &[("role", "admin"), ("disabled", "true")],
    ] {
        let answer = admin.post(&place, settings);
        answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "the only admin");
    }
    let answer = admin.post(&format!("{place}/remove"), &[]);
    answer.shows(StatusCode::CONFLICT, "the only admin");
    assert_eq!(admin.get("/accounts").status, StatusCode::OK);

    test.account("second", Role::Admin);
    admin.post(&place, &[("role", "viewer")]).leads_to("/");
    assert_eq!(admin.get("/accounts").status, StatusCode::FORBIDDEN);
}

#[test]
fn a_name_belongs_to_one() {
    let test = TestConsole::new();
    let admin = test.logged_in("root", Role::Admin);
    let fields = [
        ("name", " root "),
        ("role", "viewer"),
        ("password", PASSWORD),
        ("again", PASSWORD),
    ];
    let answer = admin.post("/accounts", &fields);
    answer.shows(
        StatusCode::UNPROCESSABLE_ENTITY,
        "`root` is taken; choose another name",
    );
}

#[test]
fn a_role_that_is_none_is_refused() {
    let test = TestConsole::new();
    let admin = test.logged_in("root", Role::Admin);
    let ann = test.account("ann", Role::Viewer);
    let answer = admin.post(&format!("/accounts/{ann}"), &[("role", "owner")]);
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let answer = admin.post(&format!("/accounts/{ann}"), &[]);
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[test]
fn tokens_are_shown_once_and_removed() {
    let test = TestConsole::new();
    let ann = test.logged_in("ann", Role::Operator);
    let page = ann.get("/tokens");
    assert!(
        !page.body.contains(r#"<option value="admin""#),
        "{}",
        page.body
    );
    let answer = ann.post(
        "/tokens",
        &[("name", "indexer"), ("role", "viewer"), ("days", "30")],
    );
    answer.shows(StatusCode::OK, "garner_");
    let page = ann.get("/tokens");
    page.shows(StatusCode::OK, "indexer");
    assert!(!page.body.contains("garner_"));

    let fields = [("name", "more"), ("role", "admin"), ("days", "")];
    assert_eq!(ann.post("/tokens", &fields).status, StatusCode::FORBIDDEN);
    let eve = test.logged_in("eve", Role::Operator);
    assert_eq!(
        eve.post("/tokens/1/remove", &[]).status,
        StatusCode::NOT_FOUND
    );
    ann.get("/tokens/1/remove")
        .shows(StatusCode::OK, "Remove the token indexer?");
    ann.post("/tokens/1/remove", &[]).leads_to("/tokens");
    ann.get("/tokens")
        .shows(StatusCode::OK, "Token indexer removed.");
}
