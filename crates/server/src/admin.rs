//! For operators, on an address of its own: `/metrics` for Prometheus and `/health`.

use std::sync::{Arc, Mutex, PoisonError};

use connection::RequestBody;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::body::Body;
use crate::router::{State, refuse_method, text};

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
        "/metrics" => {
            metrics::gauge!("garner_items").set(totals.0 as f64);
            metrics::gauge!("garner_tombstones").set(totals.1 as f64);
            let mut response = Response::new(Body::whole(handle.render()));
            let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, format);
            response
        }
        _ => text(StatusCode::NOT_FOUND, "there are /metrics and /health here"),
    }
}
