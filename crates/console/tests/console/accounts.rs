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

#[test]
fn an_invited_person_sets_the_password_by_a_link_that_works_once() {
    let test = TestConsole::new();
    let admin = test.logged_in("root", Role::Admin);
    let invited = [
        ("name", "ann"),
        ("role", "operator"),
        ("email", "ann@example.org"),
        ("password", ""),
        ("again", ""),
    ];
    let id = {
        let added = admin.post("/accounts", &invited);
        let place = added.location().to_owned();
        place.rsplit('/').next().unwrap().parse::<i64>().unwrap()
    };
    let place = format!("/accounts/{id}");
    admin.get(&place).shows(StatusCode::OK, "invited");
    // Nobody logs in before that, with the empty password either.
    for password in ["", PASSWORD] {
        let refused = test.browser().log_in("ann", password);
        assert_ne!(refused.status, StatusCode::SEE_OTHER, "{password:?}");
    }
    let link = |answer: &str| {
        let at = answer.find("/password/").expect("the link is shown");
        answer[at..at + "/password/".len() + 64].to_owned()
    };
    let replaced = link(&admin.post(&format!("{place}/link"), &[]).body);
    let shown = link(&admin.post(&format!("{place}/link"), &[]).body);
    assert_ne!(replaced, shown);

    let ann = test.browser();
    assert_eq!(ann.get(&replaced).status, StatusCode::NOT_FOUND);
    ann.get(&shown).shows(StatusCode::OK, "Welcome, ann");
    let slip = [("password", PASSWORD), ("again", "something else")];
    ann.post(&shown, &slip)
        .shows(StatusCode::UNPROCESSABLE_ENTITY, "not the same");
    let right = [("password", PASSWORD), ("again", PASSWORD)];
    ann.post(&shown, &right).leads_to("/");
    ann.post(&shown, &right)
        .shows(StatusCode::NOT_FOUND, "ask an admin for another");
    test.browser().log_in("ann", PASSWORD).leads_to("/");

    // Another link replaces a forgotten password, and ends what the old one began.
    let reset = link(&admin.post(&format!("{place}/link"), &[]).body);
    test.browser().log_in("ann", PASSWORD).leads_to("/");
    let another = [
        ("password", "another long password"),
        ("again", "another long password"),
    ];
    test.browser().post(&reset, &another).leads_to("/");
    assert_ne!(
        test.browser().log_in("ann", PASSWORD).status,
        StatusCode::SEE_OTHER
    );
    let trail = test.audit_trail();
    let links = trail
        .iter()
        .filter(|row| row.entry.action == "account.link");
    assert_eq!(links.count(), 3);
    let secret = shown.rsplit('/').next().unwrap();
    let said = |row: &catalog::AuditRow| row.entry.details.clone().unwrap_or_default();
    assert!(!trail.iter().any(|row| said(row).contains(secret)));
}

#[test]
fn an_invited_admin_does_not_replace_the_last_one() {
    let test = TestConsole::new();
    let admin = test.logged_in("root", Role::Admin);
    let invited = [("name", "ann"), ("role", "admin")];
    admin.post("/accounts", &invited);
    let root = test.account_id("root");

    let answer = admin.post(&format!("/accounts/{root}"), &[("role", "viewer")]);

    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "root");
    let own = [("email", "not an address")];
    admin
        .post("/me/email", &own)
        .shows(StatusCode::UNPROCESSABLE_ENTITY, "no e-mail address");
}
