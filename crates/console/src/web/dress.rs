//! Around every handler: who asks is found out before, and what went wrong is put into words after, as a page or as
//! JSON.

use askama::Template;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{
    CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, REFRESH, RETRY_AFTER, SET_COOKIE,
};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde_json::json;

use crate::client::Client;
use crate::clock::Clock;
use crate::cookies::{self, Name};
use crate::parts::escaped;
use crate::problem::Problem;
use crate::state::{ConsoleState, NOBODY};
use crate::who::{Asking, LIVE, Visit, Who, bearer, is_api, strip_browser_headers, way_back};

/// A message that the next page shows; in the extensions of a response.
#[derive(Debug, Clone)]
pub(crate) struct Flash(pub(crate) String);

/// The page of a problem for somebody who is logged in.
#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    who: Who,
    problem: Problem,
}

/// The page of a problem for everybody else.
#[derive(Template)]
#[template(path = "problem_outside.html")]
struct OutsideProblemPage {
    who: Visit,
    problem: Problem,
}

/// The layer.
pub(crate) async fn dress(
    State(state): State<ConsoleState>,
    mut request: Request,
    next: Next,
) -> Response {
    if !state.hosts().accept(request.uri(), request.headers()) {
        return misdirected();
    }
    if request.uri().path().starts_with("/assets/") {
        return next.run(request).await;
    }
    strip_browser_headers(&mut request);
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let is_live = request.headers().contains_key(LIVE);
    let client = Client::of(request.extensions(), request.headers(), &state);
    let has_token = bearer(request.headers()).is_some();
    let identified = Asking::identify(&state, &uri, request.headers()).await;
    let clock = Clock::new(zone(identified.as_ref()), &uri);
    // Pages that refuse unknown parameters know nothing of the clock.
    if let Some(plain) = clock.without_wish().filter(|_| !is_api(&uri)) {
        *request.uri_mut() = plain;
    }
    let (asking, mut response) = match identified {
        Ok(asking) => {
            request.extensions_mut().insert(asking.clone());
            (asking, clock.clone().scope(next.run(request)).await)
        }
        Err(problem) => (Asking::default(), problem.into_response()),
    };
    if let Some(problem) = problem_of(&mut response) {
        let action = format!("{method} {}", uri.path());
        audit_refusal(&state, &asking, client, has_token, &action, &problem).await;
        let headers = response.headers().clone();
        let render = async { render(&method, &uri, &asking, problem, &headers) };
        response = clock.scope(render).await;
    }
    return_to_list(&asking.visit, &mut response);
    pass_message_on(&state, &asking.visit, is_live, &mut response);
    response
}

/// The time zone of the account; UTC for everybody else.
fn zone<'a>(identified: Result<&'a Asking, &Problem>) -> &'a str {
    let account = identified.ok().and_then(|asking| asking.account.as_ref());
    let zone = account.and_then(|(account, _)| account.time_zone.as_deref());
    zone.unwrap_or_default()
}

/// Refused actions are in the audit trail: those of people who may not do them, and those with a token that is none.
async fn audit_refusal(
    state: &ConsoleState,
    asking: &Asking,
    Client(from): Client,
    has_token: bool,
    action: &str,
    problem: &Problem,
) {
    let details = || format!("from {from}: {}", problem.message);
    match (problem.status, &asking.account) {
        (StatusCode::FORBIDDEN, Some((account, _))) => {
            state
                .audit_refusal(&account.name, "refuse", action, &details())
                .await;
        }
        (StatusCode::UNAUTHORIZED, None) if has_token => {
            let details = format!("from {from}");
            state
                .audit_refusal(NOBODY, "token.refuse", "an unknown token", &details)
                .await;
        }
        _ => {}
    }
}

/// The answer with a page.
pub(crate) fn page(template: &impl Template) -> Result<Response, Problem> {
    Ok(Html(template.render()?).into_response())
}

/// The answer to a form with mistakes in it: the form again.
pub(crate) fn form_again(template: &impl Template) -> Result<Response, Problem> {
    let mut response = page(template)?;
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    Ok(response)
}

/// The answer after a change: another page, which says what was done.
pub(crate) fn done(path: &str, message: impl Into<String>) -> Response {
    let mut response = Redirect::to(path).into_response();
    response.extensions_mut().insert(Flash(message.into()));
    response
}

/// An action returns to the list it came from, with the same filters and page.
fn return_to_list(visit: &Visit, response: &mut Response) {
    let is_done =
        response.status().is_redirection() && response.extensions().get::<Flash>().is_some();
    let back = visit.back.as_deref().filter(|_| is_done);
    if let Some(back) = back.and_then(|back| HeaderValue::from_str(back).ok()) {
        response.headers_mut().insert(LOCATION, back);
    }
}

/// A problem of a handler, or of what stands between it and us.
fn problem_of(response: &mut Response) -> Option<Problem> {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return Some(problem);
    }
    let status = response.status();
    let is_dressed = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| !kind.as_bytes().starts_with(b"text/plain"));
    if is_dressed || !(status.is_client_error() || status.is_server_error()) {
        return None;
    }
    let (code, message) = match status {
        StatusCode::METHOD_NOT_ALLOWED => ("method_not_allowed", "this method is not allowed here"),
        StatusCode::PAYLOAD_TOO_LARGE => ("too_large", "the request is too large"),
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => {
            ("timeout", "this took too long; try again with less")
        }
        StatusCode::FORBIDDEN => (
            "cross_origin",
            "another site sent this, so nothing was done; go to the console and try there",
        ),
        _ => ("unreadable", "the request cannot be read"),
    };
    Some(Problem::new(status, code, message))
}

fn render(
    method: &Method,
    uri: &Uri,
    asking: &Asking,
    problem: Problem,
    headers: &HeaderMap,
) -> Response {
    let (status, retry_after) = (problem.status, problem.retry_after);
    let mut response = match (is_api(uri), status) {
        (true, _) => {
            let error = json!({ "code": problem.code, "message": problem.message });
            Json(json!({ "error": error })).into_response()
        }
        (false, StatusCode::UNAUTHORIZED) => return to_login(method, uri),
        (false, _) => problem_page(asking, problem),
    };
    *response.status_mut() = status;
    if let Some(allow) = headers.get(axum::http::header::ALLOW) {
        response
            .headers_mut()
            .insert(axum::http::header::ALLOW, allow.clone());
    }
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(axum::http::header::WWW_AUTHENTICATE, challenge);
    }
    if let Some(wait) = retry_after {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
        // The page tries again by itself; a form is not sent twice.
        if status == StatusCode::SERVICE_UNAVAILABLE && method == Method::GET && !is_api(uri) {
            response
                .headers_mut()
                .insert(REFRESH, HeaderValue::from(seconds));
        }
    }
    response
}

fn problem_page(asking: &Asking, problem: Problem) -> Response {
    let message = problem.message.clone();
    let page = match asking.who() {
        Some(who) => ProblemPage { who, problem }.render(),
        None => {
            let who = asking.visit.clone();
            OutsideProblemPage { who, problem }.render()
        }
    };
    match page {
        Ok(page) => Html(page).into_response(),
        Err(_) => message.into_response(),
    }
}

fn to_login(method: &Method, uri: &Uri) -> Response {
    let place = match way_back(method, uri) {
        Some(back) => format!("/login?next={}", escaped(&back)),
        None => "/login".to_owned(),
    };
    Redirect::to(&place).into_response()
}

/// A message is kept for the page that follows, and forgotten when a page has shown it.
fn pass_message_on(state: &ConsoleState, visit: &Visit, is_live: bool, response: &mut Response) {
    let cookies = state.cookies();
    let value = match response.extensions_mut().remove::<Flash>() {
        Some(Flash(message)) => cookies.set(Name::Flash, &cookies::encode(&message), 60),
        None if visit.flash.is_some() && !is_live && is_page(response) => {
            cookies.set(Name::Flash, "", 0)
        }
        None => None,
    };
    if let Some(value) = value {
        response.headers_mut().append(SET_COOKIE, value);
    }
}

fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

fn misdirected() -> Response {
    let message =
        "this console is not known by that name; add it to console.hosts in the configuration\n";
    (StatusCode::MISDIRECTED_REQUEST, message).into_response()
}
