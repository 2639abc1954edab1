//! Which part of the server answers a request.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use connection::RequestBody;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER, SERVER};
use http::{Method, Request, Response, StatusCode};
use provider::{Provider, assets};
use site::{Requester, Site, SitePath};

use crate::body::Body;
use crate::config::Config;
use crate::flow_control::FlowControl;
use crate::resource_sync::DocumentRequest;
use crate::{client, files, oai_pmh, robots};

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct State {
    /// The token that opens the metrics, unless they are open to everybody who reaches their address.
    pub(crate) admin_token: Option<String>,
    pub(crate) config: Config,
    pub(crate) site: Site,
    pub(crate) provider: Provider,
    pub(crate) flow_control: Arc<FlowControl>,
}

/// Answers one request.
pub(crate) async fn route(
    state: Arc<State>,
    request: Request<RequestBody>,
    peer: SocketAddr,
) -> Response<Body> {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let requester = client::requester(
        peer.ip(),
        request.headers(),
        &state.config.server.trusted_proxies,
    );
    let mut response = match state.site.access().begin_try(&requester) {
        Err(wait) => wait_for(requester.address, wait),
        Ok(attempt) => {
            let response = dispatch(&state, request, requester).await;
            if let Some(attempt) = attempt {
                state.site.access().end_try(&attempt);
            }
            response
        }
    };
    let server = HeaderValue::from_static(site::headers::SERVER);
    response.headers_mut().entry(SERVER).or_insert(server);
    let status = response.status().as_u16().to_string();
    tracing::debug!(%peer, %method, path, status, "requested");
    metrics::counter!("garner_http_requests_total", "status" => status).increment(1);
    response
}

async fn dispatch(
    state: &Arc<State>,
    request: Request<RequestBody>,
    requester: Requester,
) -> Response<Body> {
    let path = request.uri().path();
    let below = path.strip_prefix(state.config.server.base_path.as_str());
    match below {
        Some("" | "/") => oai_pmh::answer(state, request, requester).await,
        Some(rest) if rest.starts_with('/') => {
            match DocumentRequest::below_repository(&rest[1..], &request) {
                Some(asked) => asked.answer(state, requester).await,
                None => asset(request.method(), &rest[1..]),
            }
        }
        _ => {
            let response = match (state.config.origin.url.is_some(), state.site.records()) {
                (true, _) => elsewhere(state),
                (false, Some(_)) => records_only(state),
                (false, None) => files::answer(state, &request, requester.clone()).await,
            };
            if response.status() != StatusCode::NOT_FOUND {
                return response;
            }
            // Files of the site go before these.
            match DocumentRequest::below_root(path, &request) {
                Some(asked) => asked.answer(state, requester).await,
                None if path == "/robots.txt" && state.config.origin.url.is_none() => {
                    virtual_robots(state, request.method(), response)
                }
                None => response,
            }
        }
    }
}

/// Says where the records of files are told.
fn records_only(state: &State) -> Response<Body> {
    let message = format!(
        "records are told over OAI-PMH, at {}",
        state.provider.base_url
    );
    text(StatusCode::NOT_FOUND, &message)
}

/// Says where the site is, beside which this server stands.
fn elsewhere(state: &State) -> Response<Body> {
    text(
        StatusCode::NOT_FOUND,
        &format!(
            "this server only answers OAI-PMH, at {}; the site itself is at {}",
            state.provider.base_url,
            state.site.url_of(&SitePath::root())
        ),
    )
}

/// Refuses somebody who has tried too many passwords.
pub(crate) fn wait_for(client: IpAddr, wait: Duration) -> Response<Body> {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    tracing::warn!("{client} has tried too many passwords, and has to wait");
    let message = format!("too many passwords were tried; wait for {seconds} s");
    let mut response = text(StatusCode::TOO_MANY_REQUESTS, &message);
    let seconds = HeaderValue::from(seconds);
    response.headers_mut().insert(RETRY_AFTER, seconds);
    response
}

pub(crate) fn asset(method: &Method, name: &str) -> Response<Body> {
    let Some(asset) = assets::find(name) else {
        return text(
            StatusCode::NOT_FOUND,
            "there is nothing here; the repository answers one level up",
        );
    };
    if let Some(refusal) = refuse_method(method, &[Method::GET, Method::HEAD]) {
        return refusal;
    }
    let mut response = Response::new(Body::whole(asset.bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert("cache-control", HeaderValue::from_static("max-age=3600"));
    response
}

/// A site without a robots.txt gets one that tells where the repository is.
fn virtual_robots(state: &State, method: &Method, missing: Response<Body>) -> Response<Body> {
    let wanted = state.config.robots.advertise && (method == Method::GET || method == Method::HEAD);
    if !wanted {
        return missing;
    }
    text(
        StatusCode::OK,
        &robots::file(&state.provider.base_url, &state.config.robots),
    )
}

/// A 405, unless the method is one of those.
pub(crate) fn refuse_method(method: &Method, allowed: &[Method]) -> Option<Response<Body>> {
    if allowed.contains(method) {
        return None;
    }
    let names: Vec<_> = allowed.iter().map(Method::as_str).collect();
    let names = names.join(", ");
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, &format!("use {names} here"));
    if let Ok(value) = HeaderValue::from_str(&names) {
        response.headers_mut().insert(ALLOW, value);
    }
    Some(response)
}

/// A short response in words.
pub(crate) fn text(status: StatusCode, message: &str) -> Response<Body> {
    let mut body = message.to_owned();
    if !body.ends_with('\n') {
        body.push('\n');
    }
    let mut response = Response::new(Body::whole(body));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
