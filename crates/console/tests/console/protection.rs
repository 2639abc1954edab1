//! Protection against requests from other sites.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{Method, Request, StatusCode};
use catalog::Role;
use console::ConsoleConfig;

use crate::browser::{Browser, TestConsole, request};

fn change(headers: &[(&'static str, &str)]) -> Request<Body> {
    let mut request = request(Method::POST, "/me/sessions");
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    request
}

fn statuses(browser: &Browser<'_>, cases: &[&[(&'static str, &str)]]) -> Vec<StatusCode> {
    let answers = cases.iter().map(|headers| browser.send(change(headers)));
    answers.map(|answer| answer.status).collect()
}

#[test]
fn changes_that_another_site_sends_are_refused() {
    let test = TestConsole::new();
    let browser = test.with_session("ann", Role::Viewer);
    let refused = statuses(
        &browser,
        &[
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("origin", "https://evil.example")],
            &[("origin", "null")],
            &[("origin", "http://localhost:9999")],
        ],
    );
    assert_eq!(refused, [StatusCode::FORBIDDEN; 5]);
    let answer = browser.send(change(&[("sec-fetch-site", "cross-site")]));
    answer.shows(StatusCode::FORBIDDEN, "another site sent this");

    let taken = statuses(
        &browser,
        &[
            &[("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none")],
            &[("origin", "http://localhost:8080")],
        ],
    );
    assert_eq!(taken, [StatusCode::SEE_OTHER; 3]);
}

#[test]
fn the_address_that_the_proxy_has_is_our_own() {
    let test = TestConsole::with(ConsoleConfig {
        public_url: Some("https://harvest.example.org".to_owned()),
        ..ConsoleConfig::default()
    });
    let fields = Body::from("theme=dark");
    let mut request = request(Method::POST, "/theme").map(|_| fields);
    let kind = "application/x-www-form-urlencoded".parse().unwrap();
    request.headers_mut().insert(CONTENT_TYPE, kind);
    let origin = "https://harvest.example.org".parse().unwrap();
    request.headers_mut().insert("origin", origin);
    let answer = test.send(request);
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

#[test]
fn a_session_is_protected_in_the_api_too() {
    let test = TestConsole::new();
    let admin = test.with_session("root", Role::Admin);
    let mut request = request(Method::DELETE, "/api/v1/accounts/1");
    request
        .headers_mut()
        .insert("sec-fetch-site", "cross-site".parse().unwrap());
    let answer = admin.send(request);
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (StatusCode::FORBIDDEN, "cross_origin")
    );
}

#[test]
fn a_token_beside_a_session_counts_alone() {
    let test = TestConsole::new();
    let admin = test.with_session("root", Role::Admin);
    for (headers, status) in [
        // Another site may add a header to its own request, but has no token.
        (
            &[("authorization", "Bearer wrong")][..],
            StatusCode::UNAUTHORIZED,
        ),
        (
            &[
                ("authorization", "Bearer wrong"),
                ("sec-fetch-site", "cross-site"),
            ],
            StatusCode::UNAUTHORIZED,
        ),
    ] {
        let mut request = request(Method::DELETE, "/api/v1/accounts/1");
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        assert_eq!(admin.send(request).status, status);
    }
    // On pages a token is nothing, and protects from nothing.
    let refused = statuses(
        &admin,
        &[&[
            ("authorization", "Bearer x"),
            ("sec-fetch-site", "cross-site"),
        ]],
    );
    assert_eq!(refused, [StatusCode::FORBIDDEN]);
}

#[test]
fn names_that_lead_here_by_somebody_elses_will_are_turned_away() {
    let test = TestConsole::new();
    let browser = test.with_session("ann", Role::Viewer);
    for path in ["/", "/login", "/api/v1/me", "/assets/style.css"] {
        let mut request = request(Method::GET, path);
        request
            .headers_mut()
            .insert(HOST, "evil.example:8080".parse().unwrap());
        let answer = browser.send(request);
        answer.shows(StatusCode::MISDIRECTED_REQUEST, "console.hosts");
    }
}

#[test]
fn every_answer_tells_browsers_what_they_may_do_with_it() {
    let test = TestConsole::new();
    let browser = test.with_session("ann", Role::Viewer);
    let page = browser.get("/me");
    let style = asset(&page.body, ".css");
    for path in [
        "/me",
        "/accounts",
        "/nothing",
        "/api/v1/me",
        "/api/v1/accounts",
        "/login",
        &style,
    ] {
        let answer = browser.get(path);
        let header = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(
            header("cross-origin-opener-policy"),
            "same-origin",
            "{path}"
        );
        let kept = match path == style {
            true => "public, max-age=31536000, immutable",
            false => "no-store",
        };
        assert_eq!(header("cache-control"), kept, "{path}");
    }
}

#[test]
fn pages_have_nothing_that_the_policy_forbids() {
    let test = TestConsole::new();
    let admin = test.with_session("root", Role::Admin);
    let pages = test.console.routes().iter().filter(|route| {
        route.method == Method::GET && !route.path.contains('{') && !route.path.starts_with("/api/")
    });
    for route in pages {
        let body = admin.get(&route.path).body;
        for forbidden in [
            " style=",
            "<style",
            "javascript:",
            " onclick=",
            " onload=",
            "<base",
        ] {
            assert!(!body.contains(forbidden), "{}: {forbidden}", route.path);
        }
        let scripts = body.matches("<script").count();
        let ours = body.matches("<script src=\"/assets/").count();
        assert_eq!(scripts, ours, "{}", route.path);
    }
}

#[test]
fn assets_are_compressed_for_those_who_take_it() {
    let test = TestConsole::new();
    let style = asset(&test.browser().get("/login").body, ".css");
    let plain = test.browser().get(&style);
    assert!(plain.body.contains(":root"));
    let mut wanted = request(Method::GET, &style);
    wanted
        .headers_mut()
        .insert("accept-encoding", "gzip, br".parse().unwrap());
    let compressed = test.send(wanted);
    assert_eq!(compressed.headers["content-encoding"], "gzip");
    let older = test.browser().get("/assets/style.000000000000.css");
    assert_eq!(older.status, StatusCode::NOT_FOUND);
}

#[test]
fn forms_are_not_taken_in_any_size() {
    let test = TestConsole::new();
    let browser = test.browser();
    let long = "x".repeat(3 * 1024 * 1024);
    let answer = browser.log_in("ann", &long);
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}

/// The address of an asset that a page uses.
fn asset(page: &str, extension: &str) -> String {
    let start = page.find("/assets/").unwrap();
    let page = &page[start..];
    let end = page.find(extension).unwrap() + extension.len();
    page[..end].to_owned()
}
