//! Connections: accepted up to a limit, given up when a client neither reads nor writes, closed in good order.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep};

use crate::body::Body;
use crate::request_line;

/// Limits of connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) stall: Duration,
}

/// How long open requests may go on after the order to stop.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// The longest head of a request.
const LONGEST_HEAD: usize = 256 * 1024;

/// Serves connections until told to stop, then lets open requests end.
pub(crate) async fn serve<H, F>(
    listener: TcpListener,
    limits: Limits,
    handler: H,
    stop: impl Future<Output = ()>,
) where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let slots = Arc::new(Semaphore::new(limits.connections));
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
            tracing::warn!(
                "{peer} is turned away: all {} connections are in use",
                limits.connections
            );
            continue;
        };
        let handler = handler.clone();
        let service = service_fn(move |request| {
            let answer = handler(request, peer);
            async move { Ok::<_, Infallible>(answer.await) }
        });
        let _ = stream.set_nodelay(true);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.stall)
            .max_buf_size(LONGEST_HEAD)
            .title_case_headers(true)
            .serve_connection(TokioIo::new(Patient::new(stream, limits.stall)), service);
        let connection = graceful.watch(connection);
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

/// A stream whose writes fail when the client has not taken anything for a while, and whose requests are
/// mended where that helps.
struct Patient {
    stream: TcpStream,
    stall: Duration,
    deadline: Pin<Box<Sleep>>,
    waiting: bool,
    request_expected: bool,
    /// What was read and is still to be handed on.
    mended: Vec<u8>,
}

impl Patient {
    fn new(stream: TcpStream, stall: Duration) -> Self {
        Self {
            stream,
            stall,
            deadline: Box::pin(tokio::time::sleep(stall)),
            waiting: false,
            request_expected: true,
            mended: Vec::new(),
        }
    }

    fn watched<T>(
        &mut self,
        cx: &mut Context<'_>,
        progress: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.waiting = false;
            return progress;
        }
        if !self.waiting {
            self.waiting = true;
            self.deadline.as_mut().reset(Instant::now() + self.stall);
        }
        ready!(self.deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client does not read",
        )))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.mended.is_empty() {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
            // A request begins where a connection does, or after an answer.
            if std::mem::take(&mut this.request_expected)
                && let Some(mended) = request_line::mend(&buffer.filled()[before..])
            {
                buffer.set_filled(before);
                this.mended = mended;
            }
        }
        let length = this.mended.len().min(buffer.remaining());
        buffer.put_slice(&this.mended[..length]);
        this.mended.drain(..length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.request_expected = true;
        let progress = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watched(cx, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.request_expected = true;
        let progress = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watched(cx, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_flush(cx);
        self.watched(cx, progress)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
