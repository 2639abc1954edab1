//! Changes are made as a whole: whoever hangs up, or has waited for too long, stops the answer and not the change.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::clock::Clock;
use crate::problem::Problem;

/// The layer. What came with a request is read before, so that a client that sends slowly keeps nothing busy once it is
/// given up; the change itself, with its entry in the audit trail, then goes on to its end.
pub(crate) async fn whole(request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let request = Request::from_parts(parts.clone(), body);
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(rejection) => return rejection.into_response(),
    };
    let request = Request::from_parts(parts, Body::from(body));
    match tokio::spawn(Clock::current().scope(next.run(request))).await {
        Ok(response) => response,
        Err(error) => Problem::from(error).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use axum::Router;
    use axum::http::Method;
    use axum::middleware::from_fn;
    use axum::routing::any;
    use tokio::sync::Notify;
    use tower_service::Service as _;

    use super::*;

    /// Whether a request goes on to its end although the one who sent it hangs up in the middle.
    async fn goes_on(method: Method) -> bool {
        let [begun, go_on, done] = [(); 3].map(|()| Arc::new(Notify::new()));
        let signals = (begun.clone(), go_on.clone(), done.clone());
        let handler = any(move |body: String| async move {
            let (begun, go_on, done) = signals;
            begun.notify_one();
            go_on.notified().await;
            if body == "form" {
                done.notify_one();
            }
        });
        let mut router = Router::new().route("/", handler).layer(from_fn(whole));
        let request = Request::builder().method(method).uri("/");
        let request = request.body(Body::from("form")).unwrap();
        let asking = tokio::spawn(async move { router.call(request).await });
        begun.notified().await;
        asking.abort();
        assert!(asking.await.unwrap_err().is_cancelled());
        go_on.notify_one();
        let patience = Duration::from_millis(500);
        tokio::time::timeout(patience, done.notified())
            .await
            .is_ok()
    }

    #[tokio::test]
    async fn only_what_changes_something_goes_on_without_its_client() {
        assert!(goes_on(Method::POST).await);
        assert!(goes_on(Method::DELETE).await);
        assert!(!goes_on(Method::GET).await);
    }
}
