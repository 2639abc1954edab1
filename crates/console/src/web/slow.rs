//! Slow pages get a line in the log.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use catalog::slow_limit;

/// The layer. The line has the route and not the address, which may contain a secret.
pub(crate) async fn slow(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let elapsed = began.elapsed();
    if elapsed >= slow_limit() {
        let route = route
            .as_ref()
            .map_or("a path without a route", MatchedPath::as_str);
        let elapsed_ms = elapsed.as_millis();
        let status = response.status().as_u16();
        tracing::warn!(%elapsed_ms, status, "slow page: {method} {route}");
    }
    response
}
