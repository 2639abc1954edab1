//! In and out, and passwords that are tried.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, SET_COOKIE};
use axum::http::{Method, StatusCode};
use catalog::Role;
use console::ConsoleConfig;

use crate::browser::{PASSWORD, TestConsole, request};

#[test]
fn a_session_begins_and_ends() {
    let test = TestConsole::new();
    let browser = test.logged_in("ann", Role::Viewer);
    browser.get("/").shows(StatusCode::OK, "ann");
    let cookie = browser.cookie_header();

    browser.post("/logout", &[]).leads_to("/login");
    browser
        .get("/login")
        .shows(StatusCode::OK, "You are logged out.");
    browser.get("/").leads_to("/login");

    // The cookie of before is worth nothing, wherever it was kept.
    let mut again = request(Method::GET, "/");
    again
        .headers_mut()
        .insert("cookie", cookie.parse().unwrap());
    test.send(again).leads_to("/login");
}

#[test]
fn sessions_are_over_after_their_time() {
    let test = TestConsole::new();
    let browser = test.with_session_for("ann", Role::Viewer, Duration::from_secs(1));
    assert_eq!(browser.get("/me").status, StatusCode::OK);
    std::thread::sleep(Duration::from_millis(2100));
    browser.get("/me").leads_to("/login?next=/me");
}

#[test]
fn cookies_are_for_this_site_and_for_https_where_there_is_https() {
    let config = ConsoleConfig {
        public_url: Some("https://harvest.example.org".to_owned()),
        ..ConsoleConfig::default()
    };
    for (test, name, secure) in [
        (TestConsole::new(), "garner=", false),
        (TestConsole::with(config), "__Host-garner=", true),
    ] {
        test.account("ann", Role::Viewer);
        let answer = test.browser().log_in("ann", PASSWORD);
        let cookie = answer.headers[SET_COOKIE].to_str().unwrap();
        assert!(cookie.starts_with(name), "{cookie}");
        assert!(cookie.contains("; HttpOnly"), "{cookie}");
        assert!(cookie.contains("; SameSite=Lax"), "{cookie}");
        assert!(cookie.contains("; Path=/;"), "{cookie}");
        assert_eq!(cookie.contains("; Secure"), secure, "{cookie}");
    }
}

#[test]
fn wrong_names_and_wrong_passwords_look_alike() {
    let test = TestConsole::new();
    test.account("ann", Role::Viewer);
    let browser = test.browser();
    let known = browser.log_in("ann", "not the password");
    let unknown = browser.log_in("eva", "not the password");
    known.shows(StatusCode::UNPROCESSABLE_ENTITY, "Wrong name or password");
    assert_eq!(known.body.replace("ann", "eva"), unknown.body);
    assert_eq!(browser.cookie_header(), "");
}

/// Issue 18: the audit trail had logins only.
#[test]
fn logouts_failed_logins_and_refused_actions_are_in_the_audit_trail() {
    let test = TestConsole::new();
    let ann = test.logged_in("ann", Role::Viewer);
    test.browser().log_in("ann", "not the password");
    test.browser().log_in("e\u{202e}va", "not the password");
    for _ in 0..3 {
        let refused = ann.get("/accounts");
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
    }
    let refused = ann.post("/accounts", &[("name", "eva")]);
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    ann.post("/logout", &[]).leads_to("/login");

    let trail = test.audit_trail();

    let entries: Vec<_> = trail
        .iter()
        .rev()
        .map(|row| {
            let entry = &row.entry;
            [
                entry.account.as_str(),
                entry.action.as_str(),
                entry.subject.as_str(),
            ]
        })
        .collect();
    assert_eq!(
        entries,
        [
            ["ann", "session.begin", "account ann"],
            ["(nobody)", "session.refuse", "account ann"],
            ["(nobody)", "session.refuse", "account e\u{fffd}va"],
            ["ann", "refuse", "GET /accounts"],
            ["ann", "refuse", "POST /accounts"],
            ["ann", "session.end", "account ann"],
        ]
    );
    let details = trail[3].entry.details.as_deref().unwrap_or_default();
    assert!(details.contains("from "), "{details}");
}

#[test]
fn those_who_try_passwords_have_to_wait() {
    let test = TestConsole::new();
    test.account("ann", Role::Viewer);
    test.account("bob", Role::Viewer);
    let browser = test.browser();
    std::thread::scope(|scope| {
        // Many at once are as slow as many in a row. Those that are let through take their time to fail; what is
        // looked at meanwhile does not wait for them.
        let (tell, told) = std::sync::mpsc::channel();
        for _ in 0..12 {
            let (tell, test) = (tell.clone(), &test);
            scope.spawn(move || {
                let answer = test.browser().log_in("ann", "not the password");
                let _ = tell.send(answer);
            });
        }
        let refused = told.recv().unwrap();
        refused.shows(StatusCode::TOO_MANY_REQUESTS, "wait for");
        assert!(refused.headers.contains_key(RETRY_AFTER));

        // Not even the right password is looked at, and not from elsewhere either.
        let answer = browser.log_in("ann", PASSWORD);
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
        let answer = log_in_from(&test, "ann", [198, 51, 100, 7]);
        assert_eq!(answer, StatusCode::TOO_MANY_REQUESTS);
        let answer = browser.log_in("bob", PASSWORD);
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    });
    // Others elsewhere are not concerned.
    let answer = log_in_from(&test, "bob", [198, 51, 100, 7]);
    assert_eq!(answer, StatusCode::SEE_OTHER);
}

fn log_in_from(test: &TestConsole, name: &str, address: [u8; 4]) -> StatusCode {
    let body = format!("name={name}&password={}", PASSWORD.replace(' ', "+"));
    let mut request = request(Method::POST, "/login").map(|_| Body::from(body));
    let kind = "application/x-www-form-urlencoded".parse().unwrap();
    request.headers_mut().insert(CONTENT_TYPE, kind);
    let peer = SocketAddr::from((address, 1));
    request.extensions_mut().insert(ConnectInfo(peer));
    test.send(request).status
}

#[test]
fn the_login_leads_back_and_never_to_another_site() {
    let test = TestConsole::new();
    test.account("ann", Role::Viewer);
    let browser = test.browser();
    browser.get("/me?x=1").leads_to("/login?next=/me%3Fx%3D1");
    let page = browser.get("/login?next=/me%3Fx%3D1");
    page.shows(StatusCode::OK, r#"name="next" value="/me?x=1""#);

    for (next, place) in [
        ("/me?x=1", "/me?x=1"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/%0d%0aevil", "/%0d%0aevil"),
        ("/a\r\nSet-Cookie: b=c", "/"),
    ] {
        let fields = [("name", "ann"), ("password", PASSWORD), ("next", next)];
        browser.post("/login", &fields).leads_to(place);
    }
    let page = browser.get("/login?next=//evil.example");
    assert!(!page.body.contains("evil"), "{}", page.body);
    let fields = [("theme", "dark"), ("next", "//evil.example")];
    browser.post("/theme", &fields).leads_to("/");
}

#[test]
fn disabled_accounts_are_out_at_once() {
    let test = TestConsole::new();
    let admin = test.logged_in("root", Role::Admin);
    let ann = test.logged_in("ann", Role::Operator);
    let id = test.account_id("ann");

    let settings = [("role", "operator"), ("disabled", "true")];
    admin
        .post(&format!("/accounts/{id}"), &settings)
        .leads_to("/accounts");
    ann.get("/").leads_to("/login");
    let answer = test.browser().log_in("ann", PASSWORD);
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[test]
fn a_new_password_needs_the_old_one_and_ends_other_sessions() {
    let test = TestConsole::new();
    let here = test.logged_in("ann", Role::Viewer);
    let elsewhere = test.browser();
    elsewhere.log_in("ann", PASSWORD);
    let fields = |current| {
        [
            ("current", current),
            ("password", "another long password"),
            ("again", "another long password"),
        ]
    };

    let answer = here.post("/me/password", &fields("wrong password"));
    answer.shows(StatusCode::UNPROCESSABLE_ENTITY, "wrong password");
    here.post("/me/password", &fields(PASSWORD)).leads_to("/me");
    here.get("/me")
        .shows(StatusCode::OK, "Your password is changed");
    elsewhere.get("/me").leads_to("/login?next=/me");
    let old = test.browser().log_in("ann", PASSWORD);
    assert_eq!(old.status, StatusCode::UNPROCESSABLE_ENTITY);
    test.browser()
        .log_in("ann", "another long password")
        .leads_to("/");
}

#[test]
fn all_other_sessions_can_be_ended() {
    let test = TestConsole::new();
    let here = test.logged_in("ann", Role::Viewer);
    let elsewhere = test.browser();
    elsewhere.log_in("ann", PASSWORD);
    here.post("/me/sessions", &[]).leads_to("/me");
    assert_eq!(here.get("/me").status, StatusCode::OK);
    elsewhere.get("/me").leads_to("/login?next=/me");
}

#[test]
fn light_and_dark_work_without_script() {
    let test = TestConsole::new();
    let browser = test.browser();
    browser
        .post("/theme", &[("theme", "dark"), ("next", "/login")])
        .leads_to("/login");
    browser
        .get("/login")
        .shows(StatusCode::OK, r#"data-theme="dark""#);
    browser.post("/theme", &[("theme", "\"><script>"), ("next", "/login")]);
    assert!(!browser.get("/login").body.contains("data-theme"));
}
