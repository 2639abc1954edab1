//! Bodies: whole ones, files, and streams that a blocking thread writes a few blocks ahead of the client.

use std::fs::File;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    Stream(StreamBody),
    /// A part of a file.
    File(FileBody),
}

/// Blocks from a [`BodyWriter`].
///
/// It ends well only if the writer says so. A writer that goes away without a word, because its thread panicked
/// or the program ends, leaves a body that is broken off for all to see.
#[derive(Debug)]
pub(crate) struct StreamBody {
    blocks: mpsc::Receiver<io::Result<Bytes>>,
    finished: Arc<AtomicBool>,
}

/// Bytes of a file, read when the client is ready for them: a client that does not read occupies no thread.
#[derive(Debug)]
pub(crate) struct FileBody {
    file: Option<File>,
    left: u64,
    reading: Option<JoinHandle<io::Result<(File, Bytes)>>>,
}

/// Blocks of a stream that may wait for a client.
const AHEAD: usize = 8;
/// The size of a block of a stream. A larger one would be new memory each time, which the system has to provide.
pub(crate) const BLOCK: usize = 120 * 1024;
/// So much of a file is read at once: each time a thread has to be woken.
const FILE_BLOCK: usize = 256 * 1024;

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

impl StreamBody {
    fn poll_block(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let block = ready!(self.blocks.poll_recv(cx));
        if block.is_none() && !self.finished.load(Ordering::Acquire) {
            return Poll::Ready(Some(Err(io::Error::other("the answer was broken off"))));
        }
        Poll::Ready(block)
    }
}

impl FileBody {
    fn poll_block(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        if let Some(file) = self.file.take() {
            let size = usize::try_from(self.left).map_or(FILE_BLOCK, |left| left.min(FILE_BLOCK));
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
            Self::Stream(stream) => stream
                .poll_block(cx)
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
    finished: Arc<AtomicBool>,
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
            finished: Arc::new(AtomicBool::new(false)),
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
            None => {
                self.send_block()?;
                self.finished.store(true, Ordering::Release);
            }
        }
        Ok(self.written)
    }

    /// Breaks the body off, so that the client can tell that it is not complete.
    pub(crate) fn abort(self, error: &dyn std::fmt::Display) {
        if let Some(blocks) = self.blocks {
            // Where there is no room for the reason, the body is broken off without one.
            let _ = blocks.try_send(Err(io::Error::other(error.to_string())));
        }
    }

    fn send_block(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if let Some(begin) = self.begin.take() {
            let (sender, blocks) = mpsc::channel(AHEAD);
            let finished = Arc::clone(&self.finished);
            begin
                .send(Body::Stream(StreamBody { blocks, finished }))
                .map_err(|_| gone())?;
            self.blocks = Some(sender);
        }
        let next = Vec::with_capacity(BLOCK);
        let block = Bytes::from(std::mem::replace(&mut self.buffer, next));
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
        let room = BLOCK - self.buffer.len();
        let taken = bytes.len().min(room);
        self.buffer.extend_from_slice(&bytes[..taken]);
        self.written += taken as u64;
        if taken == room {
            self.send_block()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone")
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use http_body::Body as _;

    use super::*;

    /// The bytes that come out of a body whose writer does this after two blocks, and how it ends.
    fn written(end: fn(BodyWriter)) -> (usize, io::Result<()>) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .unwrap();
        let (begin, body) = oneshot::channel();
        let stall = Duration::from_secs(10);
        let mut writer = BodyWriter::new(begin, stall, runtime.handle().clone());
        runtime.spawn_blocking(move || {
            writer.write_all(&vec![b'x'; BLOCK]).unwrap();
            writer.write_all(&vec![b'x'; BLOCK + 1]).unwrap();
            end(writer);
        });
        runtime.block_on(async {
            let mut body = body.await.unwrap();
            let mut bytes = 0;
            loop {
                match poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
                    Some(Ok(frame)) => bytes += frame.into_data().unwrap().len(),
                    Some(Err(error)) => return (bytes, Err(error)),
                    None => return (bytes, Ok(())),
                }
            }
        })
    }

    #[test]
    fn a_finished_body_ends_well() {
        let (bytes, end) = written(|writer| {
            writer.finish().unwrap();
        });

        assert_eq!(bytes, 2 * BLOCK + 1);
        assert!(end.is_ok());
    }

    #[test]
    fn a_panic_breaks_the_body_off() {
        let (bytes, end) = written(|_writer| panic!("in the middle of a record"));

        // A part that does not fill a block has not gone out.
        assert_eq!(bytes, 2 * BLOCK);
        assert!(end.is_err());
    }

    #[test]
    fn an_aborted_body_tells_why() {
        let (_, end) = written(|writer| writer.abort(&"the disk is gone"));

        assert_eq!(end.unwrap_err().to_string(), "the disk is gone");
    }
}
