//! Accepts connections, gives up those whose clients neither read nor write, closes them in good order.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;

use crate::body::{RequestBody, ResponseBody};
use crate::head;
use crate::patient::Patient;
use crate::register::Register;

/// Limits of connections.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections that may be open at a time.
    pub connections: usize,
    /// The same for one client: an address, or a network of 64 bits in version 6.
    pub per_client: usize,
    /// How long the head of a request may take, and how long a client may take nothing of its answer.
    pub stall: Duration,
    /// The longest head of a request in bytes.
    pub head: usize,
    /// How long open requests may take after the order to stop.
    pub last_words: Duration,
}

/// Serves connections until told to stop, then lets open requests end.
///
/// The limit for one client does not hold for addresses that `is_proxy` names.
pub async fn serve<H, F, B>(
    listener: TcpListener,
    limits: Limits,
    is_proxy: impl Fn(IpAddr) -> bool,
    handler: H,
    stop: impl Future<Output = ()>,
) where
    H: Fn(Request<RequestBody>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let register = Arc::new(Register::new(limits.connections, limits.per_client));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Most likely out of descriptors: give the open connections time to end.
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Some(place) = register.admit(peer.ip(), is_proxy(peer.ip())) else {
            continue;
        };
        let (handler, state) = (handler.clone(), Arc::clone(&place.state));
        let service = service_fn(move |request: Request<Incoming>| {
            let refusal = head::refuse(&request, limits.head);
            let answering = state.begin_answer();
            let request = request.map(|body| RequestBody::new(body, Arc::clone(&state)));
            let answer = match refusal {
                Some(refusal) => Err(refusal),
                None => Ok(handler(request, peer)),
            };
            async move {
                Ok::<_, Infallible>(match answer {
                    Ok(answer) => answer.await.map(|body| ResponseBody::Made {
                        body: Box::pin(body),
                        _answering: answering,
                    }),
                    Err((status, message)) => refused(status, message),
                })
            }
        });
        let _ = stream.set_nodelay(true);
        let stream = Patient::new(stream, limits.stall, Arc::clone(&place.state));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.stall)
            .max_buf_size(limits.head)
            .title_case_headers(true)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = connection => ended,
                () = place.lost() => return,
            };
            if let Err(error) = ended {
                tracing::debug!("connection of {peer}: {error}");
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.last_words, graceful.shutdown()).await;
}

fn refused<B>(status: StatusCode, message: &'static str) -> Response<ResponseBody<B>> {
    let text = Bytes::from_static(message.as_bytes());
    let mut response = Response::new(ResponseBody::Refusal(Some(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    headers.insert(CONTENT_TYPE, plain);
    // A client that names no host may not agree on the end of its request either.
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
