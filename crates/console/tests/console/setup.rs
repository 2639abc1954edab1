//! Create admin.

use axum::http::StatusCode;
use catalog::Role;

use crate::browser::{PASSWORD, TestConsole};

fn fields<'a>(name: &'a str, password: &'a str) -> [(&'a str, &'a str); 3] {
    [("name", name), ("password", password), ("again", password)]
}

#[test]
fn the_link_makes_the_first_admin_and_works_once() {
    let test = TestConsole::new();
    let link = test.setup_link().unwrap();
    let browser = test.browser();
    browser.get(&link).shows(StatusCode::OK, "Create admin");

    browser.post(&link, &fields("ann", PASSWORD)).leads_to("/");
    browser.get("/accounts").shows(StatusCode::OK, "ann");
    assert_eq!(test.setup_link(), None);
    let another = test.browser();
    another
        .get(&link)
        .shows(StatusCode::NOT_FOUND, "not good any more");
    let answer = another.post(&link, &fields("eve", PASSWORD));
    answer.shows(StatusCode::NOT_FOUND, "not good any more");
    let catalog = test.holdings.catalog();
    let accounts = test.holdings.wait(catalog.accounts()).unwrap();
    assert_eq!(accounts.len(), 1);
    assert_eq!(accounts[0].role, Role::Admin);
    assert_eq!(test.audit_trail()[0].entry.action, "account.add");
}

#[test]
fn another_link_opens_nothing() {
    let test = TestConsole::new();
    let browser = test.browser();
    let earlier = test.setup_link().unwrap();
    let link = test.setup_link().unwrap();
    assert_ne!(earlier, link);
    for wrong in [earlier.as_str(), "/setup/", "/setup/abc", "/setup/%00"] {
        let answer = browser.get(wrong);
        assert!(!answer.body.contains("Create admin"), "{wrong}");
        let answer = browser.post(wrong, &fields("eve", PASSWORD));
        assert!(!answer.status.is_success(), "{wrong}");
    }
    let catalog = test.holdings.catalog();
    assert!(test.holdings.wait(catalog.accounts()).unwrap().is_empty());
}

#[test]
fn an_account_that_came_from_elsewhere_closes_the_link() {
    let test = TestConsole::new();
    let link = test.setup_link().unwrap();
    test.account("ann", Role::Viewer);
    let answer = test.browser().post(&link, &fields("eve", PASSWORD));
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[test]
fn mistakes_are_told_at_their_fields_and_the_link_stays_good() {
    let test = TestConsole::new();
    let link = test.setup_link().unwrap();
    let browser = test.browser();

    let short = browser.post(&link, &fields("a<b", "short"));
    short.shows(StatusCode::UNPROCESSABLE_ENTITY, "at least 10 characters");
    short.shows(StatusCode::UNPROCESSABLE_ENTITY, "letters, digits");
    short.shows(StatusCode::UNPROCESSABLE_ENTITY, r#"value="a&#60;b""#);
    let different = [("name", "ann"), ("password", PASSWORD), ("again", "other")];
    let answer = browser.post(&link, &different);
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "not the same");
    browser.post(&link, &fields("ann", PASSWORD)).leads_to("/");
}

#[test]
fn the_login_says_what_to_do_before_there_is_an_account() {
    let test = TestConsole::new();
    test.browser()
        .get("/login")
        .shows(StatusCode::OK, "no account yet");
    test.account("ann", Role::Admin);
    assert!(!test.browser().get("/login").body.contains("no account yet"));
}
