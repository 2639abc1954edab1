//! The content filter: documents are read for their text and judged by it, beside the reading of the crawl.
//!
//! The examining thread hands a document over and gets a [`Ticket`]; threads of their own read and judge it; whoever
//! commits the group waits for what came of it. So the order of the crawl is kept, all cores are busy with programs that
//! read documents, and one document that takes long keeps nobody from reading on.

mod judge;
mod order;
mod queue;
pub(crate) mod reclassify;
mod recognition;
pub(crate) mod review;
mod row;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use catalog::JudgementRow;

pub(super) use self::judge::{Judge, answered};
pub use self::order::{TextOrder, Unsure};
use self::queue::Queue;
pub(super) use self::recognition::{Recognition, recognise};
pub(super) use self::row::row;
use super::spool::Spooled;
use crate::harvest::panic_message;

/// Documents that wait to be judged, and who judges them.
pub(super) struct Judging<'a> {
    judge: Judge<'a>,
    queue: Queue<Task>,
    threads: usize,
}

/// A document that is to be judged.
pub(super) struct Document {
    pub(super) url: String,
    pub(super) media_type: String,
    /// In hexadecimal.
    pub(super) sha1: String,
    pub(super) held: Spooled,
}

struct Task {
    document: Document,
    answer: SyncSender<Judged>,
}

/// The purpose for which a document is handed over.
#[derive(Debug)]
pub(super) struct Ticket(Receiver<Judged>);

/// The result for a document.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    /// Its bytes, as they were handed over.
    pub(super) held: Spooled,
    /// Its text, if it is to be stored.
    pub(super) text: Option<Spooled>,
    /// The judgement that the catalog is to remember; nothing if nothing was found out.
    pub(super) row: Option<JudgementRow>,
}

/// Whether a document is kept.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is.
    Kept,
    /// It is not what is collected, and why.
    Refused(String),
    /// It has no text that could be judged, and why.
    NoText(String),
    /// Somebody wants the import to stop, and it was not judged.
    Stopped,
    /// A bug that it brought to light.
    Broken(String),
    /// Nothing can be kept any more.
    Fatal(anyhow::Error),
}

impl<'a> Judging<'a> {
    pub(super) fn new(judge: Judge<'a>, threads: usize) -> Self {
        let threads = threads.max(1);
        Self {
            judge,
            queue: Queue::new(threads * AHEAD),
            threads,
        }
    }

    pub(super) fn judge(&self) -> &Judge<'a> {
        &self.judge
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Hands a document over. Waits while too many wait.
    pub(super) fn hand_over(&self, document: Document) -> Ticket {
        let (answer, ticket) = sync_channel(1);
        // If nobody judges any more, the ticket says that nobody ever will.
        self.queue.push(Task { document, answer });
        Ticket(ticket)
    }

    /// Judges documents until no more will come.
    pub(super) fn work(&self) {
        while let Some(Task { document, answer }) = self.queue.pop() {
            let judged = catch_unwind(AssertUnwindSafe(|| self.judge.judge(document)));
            let judged = judged.unwrap_or_else(|panic| {
                let reason = format!("a bug in garner: {}", panic_message(&*panic));
                Judged::without(Verdict::Broken(reason), Spooled::Nothing)
            });
            // A receiver that is gone has forgotten the group.
            let _ = answer.send(judged);
        }
    }

    /// Ends programs that are running, because somebody wants the import to stop.
    pub(super) fn stop(&self) {
        self.judge.stop.store(true, Ordering::Relaxed);
    }

    /// Says that no more documents will come.
    pub(super) fn close(&self) {
        self.queue.close();
    }
}

impl Ticket {
    /// A ticket for a document that was judged elsewhere.
    pub(super) fn ready(judged: Judged) -> Self {
        let (answer, ticket) = sync_channel(1);
        // There is room for one.
        let _ = answer.send(judged);
        Self(ticket)
    }

    /// Waits for what came of the document.
    pub(super) fn wait(self) -> Judged {
        let judged = self.0.recv();
        judged.unwrap_or_else(|_| Judged::without(Verdict::Stopped, Spooled::Nothing))
    }
}

impl Judged {
    pub(super) fn without(verdict: Verdict, held: Spooled) -> Self {
        Self {
            verdict,
            held,
            text: None,
            row: None,
        }
    }
}

/// Maximum number of waiting documents for each thread: enough for a thread never to wait for one.
const AHEAD: usize = 4;
