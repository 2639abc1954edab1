//! Bodies: whole ones, and streams that a blocking thread writes a few blocks ahead of the client.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Body {
    /// All of it at once.
    Whole(Option<Bytes>),
    /// Block by block.
    Stream {
        blocks: mpsc::Receiver<io::Result<Bytes>>,
        /// What is left, if the length is known.
        left: Option<u64>,
    },
}

/// Blocks that may wait for a client.
const AHEAD: usize = 4;
/// The size of a block.
pub(crate) const BLOCK: usize = 128 * 1024;

impl Body {
    pub(crate) fn empty() -> Self {
        Self::Whole(None)
    }

    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream { blocks, left } => blocks.poll_recv(cx).map(|block| {
                if let (Some(left), Some(Ok(block))) = (left, &block) {
                    *left = left.saturating_sub(block.len() as u64);
                }
                block.map(|block| block.map(Frame::data))
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Stream {
                left: Some(left), ..
            } => SizeHint::with_exact(*left),
            Self::Stream { left: None, .. } => SizeHint::default(),
        }
    }
}

/// Writes a body from a blocking thread.
///
/// The response begins with the first full block; an answer that fits into one goes out whole.
pub(crate) struct BodyWriter {
    buffer: Vec<u8>,
    begin: Option<oneshot::Sender<Body>>,
    blocks: Option<mpsc::Sender<io::Result<Bytes>>>,
    /// Known from the start for files.
    length: Option<u64>,
    stall: Duration,
    runtime: Handle,
    written: u64,
}

impl BodyWriter {
    pub(crate) fn new(
        begin: oneshot::Sender<Body>,
        length: Option<u64>,
        stall: Duration,
        runtime: Handle,
    ) -> Self {
        Self {
            buffer: Vec::new(),
            begin: Some(begin),
            blocks: None,
            length,
            stall,
            runtime,
            written: 0,
        }
    }

    /// Whether nothing has gone out yet, so that another response can take this one's place.
    pub(crate) fn is_unsent(&self) -> bool {
        self.begin.is_some()
    }

    /// Ends the body in good order.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        match self.begin.take() {
            Some(begin) => {
                let body = Body::whole(std::mem::take(&mut self.buffer));
                begin.send(body).map_err(|_| gone())?;
            }
            None => self.send_block()?,
        }
        Ok(self.written)
    }

    /// Breaks the body off, so that the client can tell that it is not complete.
    pub(crate) fn abort(self, error: &dyn std::fmt::Display) {
        if let Some(blocks) = self.blocks {
            let error = io::Error::other(error.to_string());
            let stall = self.stall;
            self.runtime.block_on(async move {
                let _ = tokio::time::timeout(stall, blocks.send(Err(error))).await;
            });
        }
    }

    fn send_block(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if let Some(begin) = self.begin.take() {
            let (sender, blocks) = mpsc::channel(AHEAD);
            let left = self.length;
            begin
                .send(Body::Stream { blocks, left })
                .map_err(|_| gone())?;
            self.blocks = Some(sender);
        }
        let block = Bytes::from(std::mem::replace(
            &mut self.buffer,
            Vec::with_capacity(BLOCK + BLOCK / 2),
        ));
        let blocks = self.blocks.as_ref().ok_or_else(gone)?;
        match blocks.try_send(Ok(block)) {
            Ok(()) => Ok(()),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(gone()),
            Err(mpsc::error::TrySendError::Full(block)) => {
                let stall = self.stall;
                let sent = self
                    .runtime
                    .block_on(async { tokio::time::timeout(stall, blocks.send(block)).await });
                match sent {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(_)) => Err(gone()),
                    Err(_) => Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "the client does not read",
                    )),
                }
            }
        }
    }
}

impl Write for BodyWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.written += bytes.len() as u64;
        if self.buffer.len() >= BLOCK {
            self.send_block()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone")
}
