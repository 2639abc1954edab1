//! A stream whose clients are given up when they do not read, and whose request lines are mended.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use crate::register::State;
use crate::request_line;

/// A stream whose writes fail when the client has not taken anything for a while, and whose requests are
/// mended where that helps.
pub(crate) struct Patient {
    stream: TcpStream,
    stall: Duration,
    deadline: Pin<Box<Sleep>>,
    waiting: bool,
    request_expected: bool,
    /// Bytes that were read and are still to be handed on.
    mended: Vec<u8>,
    state: Arc<State>,
}

impl Patient {
    pub(crate) fn new(stream: TcpStream, stall: Duration, state: Arc<State>) -> Self {
        Self {
            stream,
            stall,
            deadline: Box::pin(tokio::time::sleep(stall)),
            waiting: false,
            request_expected: true,
            mended: Vec::new(),
            state,
        }
    }

    fn watched<T>(
        &mut self,
        cx: &mut Context<'_>,
        progress: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            if std::mem::take(&mut self.waiting) {
                self.state.set_write_blocked(false);
            }
            return progress;
        }
        if !self.waiting {
            self.waiting = true;
            self.state.set_write_blocked(true);
            self.deadline.as_mut().reset(Instant::now() + self.stall);
        }
        ready!(self.deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client does not read",
        )))
    }

    fn written(
        &mut self,
        cx: &mut Context<'_>,
        progress: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.request_expected = true;
        if progress.is_ready() {
            self.state.note_progress();
        }
        self.watched(cx, progress)
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
            this.state.note_read();
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
        let progress = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(cx, progress)
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
