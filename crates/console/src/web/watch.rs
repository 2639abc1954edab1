//! For monitoring: `/metrics`, `/health` and `/ready`. They are answered before everything else, because what asks is no
//! browser and has no account.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode};
use connection::{Limits, RequestBody};
use operations::monitoring::Monitoring;
use tokio::net::TcpListener;

/// Answers monitoring.
#[derive(Clone)]
pub struct Watch {
    monitoring: Monitoring,
    /// The token that opens `/metrics` to other machines.
    token: Option<String>,
    /// Whether clients of other machines need the token. An address for operators alone is open if there is none.
    is_guarded: bool,
    /// Counters of this process.
    counters: Arc<dyn Fn() -> String + Send + Sync>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

impl Watch {
    /// For an address that others reach as well: metrics are for this machine, and for those who have the token.
    pub fn guarded(
        monitoring: Monitoring,
        token: Option<String>,
        counters: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            monitoring,
            token,
            is_guarded: true,
            counters: Arc::new(counters),
        }
    }

    /// For an address of operators: metrics ask for the token only if there is one.
    #[must_use]
    pub fn for_operators(self) -> Self {
        Self {
            is_guarded: self.token.is_some(),
            ..self
        }
    }

    /// The answer to a request for one of its paths.
    pub(crate) async fn answer<B>(
        &self,
        request: &Request<B>,
        peer: SocketAddr,
    ) -> Option<Response<Body>> {
        let path = request.uri().path();
        if !matches!(path, "/metrics" | "/health" | "/ready") {
            return None;
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Some(text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n"));
        }
        Some(match path {
            "/health" => text(StatusCode::OK, "ok\n"),
            "/ready" => match self.monitoring.ready().await {
                Ok(()) => text(StatusCode::OK, "ready\n"),
                // The reason may name hosts and users: it is in the log.
                Err(reason) => {
                    tracing::warn!("not ready: {reason}");
                    text(
                        StatusCode::SERVICE_UNAVAILABLE,
                        "the catalog cannot be used\n",
                    )
                }
            },
            _ if self.is_allowed(request.headers(), peer) => {
                let page = self.monitoring.metrics().await + &(self.counters)();
                let mut response = text(StatusCode::OK, page);
                let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, format);
                response
            }
            _ => refusal(),
        })
    }

    /// A proxy on this machine speaks for others, and says so.
    fn is_allowed(&self, headers: &HeaderMap, peer: SocketAddr) -> bool {
        if !self.is_guarded {
            return true;
        }
        let is_forwarded = FORWARDED.iter().any(|name| headers.contains_key(name));
        if peer.ip().to_canonical().is_loopback() && !is_forwarded {
            return true;
        }
        let given = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer "));
        match (given, &self.token) {
            (Some(given), Some(token)) => defence::is_same(given.as_bytes(), token.as_bytes()),
            _ => false,
        }
    }
}

/// Serves an address that is for monitoring alone, until `stop` is ready.
pub async fn serve_watch(listener: TcpListener, watch: Watch, stop: impl Future<Output = ()>) {
    let limits = Limits {
        connections: 64,
        per_client: 16,
        stall: Duration::from_secs(30),
        head: 16 * 1024,
        last_words: Duration::from_secs(1),
    };
    let handler = move |request: Request<RequestBody>, peer: SocketAddr| {
        let watch = watch.clone();
        async move {
            let answer = watch.answer(&request, peer).await;
            answer.unwrap_or_else(|| {
                text(
                    StatusCode::NOT_FOUND,
                    "there are /metrics, /health and /ready here\n",
                )
            })
        }
    };
    connection::serve(listener, limits, |_| false, handler, stop).await;
}

fn refusal() -> Response<Body> {
    let mut response = text(
        StatusCode::UNAUTHORIZED,
        "metrics are for clients on this machine, and for those with the token of admin.token_file\n",
    );
    let challenge = HeaderValue::from_static("Bearer");
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

fn text(status: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

const FORWARDED: [HeaderName; 3] = [
    HeaderName::from_static("forwarded"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-real-ip"),
];
