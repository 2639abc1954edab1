//! For operators, on an address of its own: `/metrics` for Prometheus and `/health`.

use std::sync::{Arc, Mutex, PoisonError};

use connection::RequestBody;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::body::Body;
use crate::router::{State, refuse_method, text};

/// Starts to count what this process does, and returns what gives the numbers in the format of Prometheus.
pub fn counters() -> anyhow::Result<impl Fn() -> String + Send + Sync + 'static> {
    let handle = install()?;
    Ok(move || handle.render())
}

/// Starts to count. Sites that are served by one process are counted together.
pub(crate) fn install() -> anyhow::Result<PrometheusHandle> {
    static HANDLE: Mutex<Option<PrometheusHandle>> = Mutex::new(None);
    let mut installed = HANDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let handle = match &*installed {
        Some(handle) => handle.clone(),
        None => start_to_count()?,
    };
    *installed = Some(handle.clone());
    Ok(handle)
}

fn start_to_count() -> anyhow::Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets(&[0.001, 0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0])?
        .install_recorder()?;
    metrics::describe_counter!(
        "garner_oai_requests_total",
        "OAI-PMH requests by verb and error code"
    );
    metrics::describe_counter!("garner_oai_records_total", "Records and headers given");
    metrics::describe_counter!(
        "garner_oai_bytes_total",
        "Bytes of OAI-PMH answers, as sent"
    );
    metrics::describe_counter!(
        "garner_oai_turned_away_total",
        "Lists refused by flow control"
    );
    metrics::describe_histogram!("garner_oai_request_seconds", "Time to write an answer");
    metrics::describe_gauge!("garner_oai_lists_running", "Lists being written");
    metrics::describe_counter!("garner_http_requests_total", "HTTP requests by status");
    metrics::describe_counter!(
        "garner_store_errors_total",
        "Jobs that were put off because a store could not be reached"
    );
    metrics::describe_counter!(
        "garner_catalog_errors_total",
        "Questions of monitoring that the catalog did not answer"
    );
    // They are told before the first of them happens.
    metrics::counter!("garner_store_errors_total").absolute(0);
    metrics::counter!("garner_catalog_errors_total").absolute(0);
    metrics::describe_gauge!("garner_items", "Items that are offered");
    metrics::describe_gauge!("garner_tombstones", "Items that were offered once");
    Ok(handle)
}

/// Answers one request.
pub(crate) async fn route(
    state: Arc<State>,
    handle: PrometheusHandle,
    request: Request<RequestBody>,
) -> Response<Body> {
    if let Some(refusal) = refuse_method(request.method(), &[Method::GET, Method::HEAD]) {
        return refusal;
    }
    if request.uri().path() == "/metrics" && !is_allowed(&state, request.headers()) {
        return text(
            StatusCode::UNAUTHORIZED,
            "send the token of admin.token: Authorization: Bearer TOKEN",
        );
    }
    let totals = tokio::task::spawn_blocking(move || state.site.totals()).await;
    let totals = match totals {
        Ok(Ok(totals)) => totals,
        Ok(Err(error)) => return text(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
        Err(_) => {
            return text(
                StatusCode::SERVICE_UNAVAILABLE,
                "the index could not be asked",
            );
        }
    };
    match request.uri().path() {
        "/health" => text(StatusCode::OK, "ok"),
        "/ready" => text(StatusCode::OK, "ready"),
        "/metrics" => {
            metrics::gauge!("garner_items").set(totals.0 as f64);
            metrics::gauge!("garner_tombstones").set(totals.1 as f64);
            let mut response = Response::new(Body::whole(handle.render()));
            let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, format);
            response
        }
        _ => text(
            StatusCode::NOT_FOUND,
            "there are /metrics, /health and /ready here",
        ),
    }
}

/// Whether a request has the token, if there is one.
fn is_allowed(state: &State, headers: &HeaderMap) -> bool {
    let Some(token) = &state.admin_token else {
        return true;
    };
    let given = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    let given = given.and_then(|value| value.strip_prefix(b"Bearer "));
    given.is_some_and(|given| defence::is_same(given, token.as_bytes()))
}
