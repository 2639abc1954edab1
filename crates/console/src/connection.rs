//! Connections: accepted up to a limit, given up when no request comes, closed in good order.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower_service::Service as _;

/// Serves connections until told to stop, then lets open requests end.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    connections: usize,
    stop: impl Future<Output = ()>,
) {
    let slots = Arc::new(Semaphore::new(connections));
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
        let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
            tracing::warn!("{peer} is turned away: all {connections} connections are in use");
            continue;
        };
        let _ = stream.set_nodelay(true);
        let connection = graceful.watch(connection(stream, peer, router.clone()));
        tokio::spawn(async move {
            let _slot = slot;
            if let Err(error) = connection.await {
                tracing::debug!("connection of {peer}: {error}");
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(LAST_WORDS, graceful.shutdown()).await;
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().call(request)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service)
}

/// How long open requests may go on after the order to stop.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How long the head of a request may take; connections that are kept open wait as long for the next.
const HEAD_WITHIN: Duration = Duration::from_secs(30);
const LONGEST_HEAD: usize = 64 * 1024;
