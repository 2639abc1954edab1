//! Access: every route by every role.

use axum::http::{Method, StatusCode};
use catalog::Role;
use console::Route;
use serde_json::Value;

use crate::browser::{Answer, Browser, TestConsole, request};

/// The address of something that is not there, so that nothing is done to what is.
fn path(route: &Route) -> String {
    let parts = route
        .path
        .split('/')
        .map(|part| match part.starts_with('{') {
            true => "999999",
            false => part,
        });
    parts.collect::<Vec<_>>().join("/")
}

fn is_api(route: &Route) -> bool {
    route.path.starts_with("/api/")
}

/// Whether the one who asked was turned away.
fn is_refused(answer: &Answer) -> bool {
    let to_login =
        answer.status == StatusCode::SEE_OTHER && answer.location().starts_with("/login");
    to_login
        || matches!(
            answer.status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
        )
}

fn ask(browser: &Browser<'_>, route: &Route) -> Answer {
    browser.send(request(route.method.clone(), &path(route)))
}

#[test]
fn nobody_gets_anywhere_without_a_login_but_to_what_comes_before_it() {
    let test = TestConsole::new();
    test.account("ann", Role::Admin);
    let anybody = test.browser();

    let mut open = Vec::new();
    for route in test.console.routes() {
        let answer = ask(&anybody, route);
        match (route.role, is_api(route)) {
            (None, _) => open.push(format!("{} {}", route.method, route.path)),
            (Some(_), true) => {
                assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{route:?}");
                assert_eq!(answer.code(), "unauthenticated", "{route:?}");
            }
            (Some(_), false) => {
                assert_eq!(answer.status, StatusCode::SEE_OTHER, "{route:?}");
                assert!(answer.location().starts_with("/login"), "{route:?}");
            }
        }
    }
    // Every addition to this list needs a second thought.
    assert_eq!(
        open,
        [
            "GET /assets/{name}",
            "GET /login",
            "POST /login",
            "GET /setup/{token}",
            "POST /setup/{token}",
            "GET /password/{token}",
            "POST /password/{token}",
            "POST /theme",
            "GET /api/v1/openapi.json",
        ]
    );
}

#[test]
fn every_role_gets_to_what_it_may_and_no_further() {
    let test = TestConsole::new();
    // Somebody is left to be admin, whatever is tried.
    test.account("root", Role::Admin);
    for role in Role::ALL {
        for route in test.console.routes() {
            let Some(needed) = route.role else { continue };
            // A session of its own each: one of the routes ends it.
            let name = format!("{} {} {}", role.name(), route.method, route.path);
            let browser = test.with_session(&name, role);
            let answer = ask(&browser, route);
            match role >= needed {
                // Some routes lead to the login on purpose: that of the logout.
                true if route.path == "/logout" => answer.leads_to("/login"),
                true => assert!(!is_refused(&answer), "{name}: {answer:?}"),
                false => assert_eq!(answer.status, StatusCode::FORBIDDEN, "{name}"),
            }
        }
    }
}

#[test]
fn what_is_not_there_is_told_to_those_who_are_logged_in_only() {
    let test = TestConsole::new();
    let viewer = test.logged_in("ann", Role::Viewer);
    viewer
        .get("/nothing")
        .shows(StatusCode::NOT_FOUND, "no page at this address");
    let answer = viewer.get("/api/v1/nothing");
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (StatusCode::NOT_FOUND, "not_found")
    );

    let anybody = test.browser();
    anybody
        .get("/nothing?a=b")
        .leads_to("/login?next=/nothing%3Fa%3Db");
    assert_eq!(
        anybody.get("/api/v1/nothing").status,
        StatusCode::UNAUTHORIZED
    );
}

#[test]
fn the_description_of_the_api_tells_the_role_of_each_operation() {
    let test = TestConsole::new();
    let viewer = test.logged_in("ann", Role::Viewer);
    let description = viewer.get("/api/v1/openapi.json").json();

    let described = |route: &Route| -> Value {
        let method = route.method.as_str().to_lowercase();
        description["paths"][&route.path][method]["x-role"].clone()
    };
    let routes = test.console.routes().iter().filter(|route| is_api(route));
    let mut operations = 0;
    for route in routes.filter(|route| route.path != "/api/v1/openapi.json") {
        let role = route.role.expect("an operation has a role");
        assert_eq!(described(route), role.name(), "{route:?}");
        operations += 1;
    }
    let paths = description["paths"].as_object().unwrap();
    let all: usize = paths
        .values()
        .map(|item| item.as_object().unwrap().len())
        .sum();
    assert_eq!(all, operations);
    assert!(operations > 10);
}

/// The link "Show seconds" stands at the foot of every page.
#[test]
fn every_page_shows_its_times_in_utc_with_seconds() {
    let test = TestConsole::new();
    let ann = test.with_session("ann", Role::Admin);
    let mut followed = 0;
    for route in test.console.routes() {
        if route.method != Method::GET || is_api(route) {
            continue;
        }
        let page = ask(&ann, route);
        let Some(link) = page.body.split("href=\"").find_map(|part| {
            let link = part.split('"').next()?;
            link.ends_with("utc=1").then(|| link.replace("&#38;", "&"))
        }) else {
            continue;
        };
        if page.status != StatusCode::OK {
            continue;
        }
        followed += 1;
        let switched = ann.get(&link);
        assert_eq!(switched.status, StatusCode::OK, "{link}: {}", switched.body);
        switched.shows(StatusCode::OK, "Times are in UTC.");
    }
    assert!(followed > 30, "{followed}");
}

#[test]
fn methods_that_are_not_meant_are_refused() {
    let test = TestConsole::new();
    let viewer = test.logged_in("ann", Role::Viewer);
    let answer = viewer.send(request(Method::DELETE, "/me"));
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    let answer = viewer.send(request(Method::PUT, "/api/v1/me"));
    assert_eq!(answer.code(), "method_not_allowed");
}
