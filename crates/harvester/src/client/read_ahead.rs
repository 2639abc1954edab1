//! Reads a long body on a thread of its own, some blocks ahead of who uses it: neither has the server to wait until they
//! are used, nor they for the server. The thread of one page serves for the next.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use bytes::{Buf, Bytes};

use super::Stop;
use super::body::Body;

/// Threads that read bodies, and end when nobody has this any more. Clones share those that are idle.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readers {
    idle: Arc<Mutex<Vec<Sender<Task>>>>,
}

/// A body to be read. What is dropped last tells that the request is over.
struct Task {
    body: Box<Body>,
    give: SyncSender<io::Result<Bytes>>,
    _over: Sender<()>,
}

/// A body of which a part is there before it is asked for.
pub(crate) struct ReadAhead {
    source: Source,
    readers: Readers,
    /// The bytes that came and were not asked for yet.
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

/// A body that a thread reads.
struct Ahead {
    blocks: Option<Receiver<io::Result<Bytes>>>,
    unwanted: Stop,
    over: Receiver<()>,
    thread: Sender<Task>,
    readers: Readers,
}

impl Readers {
    /// Has a body read.
    fn read(&self, body: Box<Body>) -> io::Result<Ahead> {
        let unwanted = body.unwanted();
        let (give, blocks) = mpsc::sync_channel(BLOCKS);
        let (_over, over) = mpsc::channel();
        let idle = self.lock().pop();
        let mut thread = idle.map_or_else(begin, Ok)?;
        if let Err(unsent) = thread.send(Task { body, give, _over }) {
            // One that panicked is gone.
            thread = begin()?;
            let _ = thread.send(unsent.0);
        }
        Ok(Ahead {
            blocks: Some(blocks),
            unwanted,
            over,
            thread,
            readers: self.clone(),
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Sender<Task>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a thread that does one task after the other.
fn begin() -> io::Result<Sender<Task>> {
    let (thread, tasks) = mpsc::channel();
    let work = move || tasks.into_iter().for_each(read);
    Builder::new().name("read ahead".to_owned()).spawn(work)?;
    Ok(thread)
}

/// Reads to the end, or until nobody wants any more.
fn read(mut task: Task) {
    loop {
        let block = task.body.block();
        let goes_on = block.as_ref().is_ok_and(|block| !block.is_empty());
        if task.give.send(block).is_err() || !goes_on {
            return;
        }
    }
}

impl ReadAhead {
    pub(crate) fn new(body: Body, readers: Readers) -> Self {
        Self {
            readers,
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
            Source::Here { body, bytes } if bytes >= SHORT => {
                Source::Ahead(self.readers.read(body)?)
            }
            source => source,
        };
        self.rest = block;
        Ok(())
    }
}

impl Ahead {
    /// The next block; an empty one at the end.
    fn block(&mut self) -> io::Result<Bytes> {
        let block = self.blocks.as_ref().and_then(|blocks| blocks.recv().ok());
        block.unwrap_or_else(|| Err(io::Error::other("nobody reads the answer any more")))
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
        // An error tells that the other end is gone, which is what is waited for.
        let _ = self.over.recv();
        self.readers.lock().push(self.thread.clone());
    }
}

/// A body that is longer is read ahead.
const SHORT: usize = 64 << 10;
/// The number of blocks that wait, each of at most some hundred kilobytes.
const BLOCKS: usize = 8;
