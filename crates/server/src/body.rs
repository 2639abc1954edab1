//! Bodies: whole ones, files, and streams that a blocking thread writes a few blocks ahead of the client.

use std::fs::File;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Body {
    /// All of it at once.
    Whole(Option<Bytes>),
    /// Block by block, of any length.
    Stream(mpsc::Receiver<io::Result<Bytes>>),
    /// A part of a file.
    File(FileBody),
}

/// Bytes of a file, read when the client is ready for them: a client that does not read occupies no thread.
#[derive(Debug)]
pub(crate) struct FileBody {
    file: Option<File>,
    left: u64,
    reading: Option<JoinHandle<io::Result<(File, Bytes)>>>,
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

    /// Exactly so many bytes of a file from where it stands, or an end for all to see.
    pub(crate) fn file(file: File, length: u64) -> Self {
        Self::File(FileBody {
            file: Some(file),
            left: length,
            reading: None,
        })
    }
}

impl FileBody {
    fn poll_block(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        if let Some(file) = self.file.take() {
            let size = usize::try_from(self.left).map_or(BLOCK, |left| left.min(BLOCK));
            self.reading = Some(tokio::task::spawn_blocking(move || read_block(file, size)));
        }
        let Some(reading) = &mut self.reading else {
            return Poll::Ready(None);
        };
        let read = ready!(Pin::new(reading).poll(cx));
        self.reading = None;
        let block = read.unwrap_or_else(|error| Err(io::Error::other(error)));
        Poll::Ready(Some(block.map(|(file, block)| {
            self.file = Some(file);
            self.left -= block.len() as u64;
            block
        })))
    }
}

fn read_block(mut file: File, size: usize) -> io::Result<(File, Bytes)> {
    let mut block = vec![0; size];
    file.read_exact(&mut block)?;
    Ok((file, block.into()))
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
            Self::Stream(blocks) => blocks
                .poll_recv(cx)
                .map(|block| block.map(|block| block.map(Frame::data))),
            Self::File(file) => file
                .poll_block(cx)
                .map(|block| block.map(|block| block.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Stream(_) => false,
            Self::File(file) => file.left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Stream(_) => SizeHint::default(),
            Self::File(file) => SizeHint::with_exact(file.left),
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
    stall: Duration,
    runtime: Handle,
    written: u64,
}

impl BodyWriter {
    pub(crate) fn new(begin: oneshot::Sender<Body>, stall: Duration, runtime: Handle) -> Self {
        Self {
            buffer: Vec::new(),
            begin: Some(begin),
            blocks: None,
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
            begin.send(Body::Stream(blocks)).map_err(|_| gone())?;
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
