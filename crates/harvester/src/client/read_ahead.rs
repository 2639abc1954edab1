//! Reads a long body on a thread of its own, some blocks ahead of who uses it: neither has the server to wait until they
//! are used, nor they for the server.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{Builder, JoinHandle};

use bytes::{Buf, Bytes};

use super::Stop;
use super::body::Body;

/// A body of which a part is there before it is asked for.
pub(crate) struct ReadAhead {
    source: Source,
    /// What came and was not asked for yet.
    rest: Bytes,
}

enum Source {
    /// A short body is read where it is used.
    Here {
        body: Box<Body>,
        bytes: usize,
    },
    Ahead(Ahead),
    Ended,
}

/// The thread that reads a body.
struct Ahead {
    blocks: Option<Receiver<io::Result<Bytes>>>,
    unwanted: Stop,
    thread: Option<JoinHandle<()>>,
}

impl ReadAhead {
    pub(crate) fn new(body: Body) -> Self {
        Self {
            source: Source::Here {
                body: Box::new(body),
                bytes: 0,
            },
            rest: Bytes::new(),
        }
    }

    /// Waits until there is something to give, or nothing will come any more.
    fn fill(&mut self) -> io::Result<()> {
        let block = match &mut self.source {
            Source::Ended => return Ok(()),
            Source::Here { body, bytes } => {
                let block = body.block()?;
                *bytes += block.len();
                block
            }
            Source::Ahead(ahead) => ahead.block()?,
        };
        self.source = match std::mem::replace(&mut self.source, Source::Ended) {
            _ if block.is_empty() => Source::Ended,
            Source::Here { body, bytes } if bytes >= SHORT => Source::Ahead(Ahead::begin(body)?),
            source => source,
        };
        self.rest = block;
        Ok(())
    }
}

impl Ahead {
    fn begin(mut body: Box<Body>) -> io::Result<Self> {
        let unwanted = body.unwanted();
        let (give, blocks) = mpsc::sync_channel(BLOCKS);
        let thread = Builder::new()
            .name("read ahead".to_owned())
            .spawn(move || read(&mut body, &give))?;
        Ok(Self {
            blocks: Some(blocks),
            unwanted,
            thread: Some(thread),
        })
    }

    /// The next block; an empty one at the end.
    fn block(&mut self) -> io::Result<Bytes> {
        let block = self.blocks.as_ref().and_then(|blocks| blocks.recv().ok());
        block.unwrap_or_else(|| Err(io::Error::other("nobody reads the answer any more")))
    }
}

/// Reads to the end, or until nobody wants any more.
fn read(body: &mut Body, give: &SyncSender<io::Result<Bytes>>) {
    loop {
        let block = body.block();
        let goes_on = block.as_ref().is_ok_and(|block| !block.is_empty());
        if give.send(block).is_err() || !goes_on {
            return;
        }
    }
}

impl Read for ReadAhead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(out)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for ReadAhead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.rest.is_empty() {
            self.fill()?;
        }
        Ok(&self.rest)
    }

    fn consume(&mut self, length: usize) {
        self.rest.advance(length);
    }
}

impl Drop for Ahead {
    /// The request is over when this returns, and the next one may begin.
    fn drop(&mut self) {
        self.unwanted.set();
        drop(self.blocks.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A body that is longer is read ahead. With more, pages of some hundred kilobytes from nginx were held up for 40 ms once a
/// connection, most likely by small segments that wait for a delayed acknowledgement.
const SHORT: usize = 64 << 10;
/// So many blocks wait, each of at most some hundred kilobytes.
const BLOCKS: usize = 8;
