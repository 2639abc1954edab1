//! Several threads read one archive: each takes a segment, looks for the first record in it that can be believed, and
//! reads up to the first that begins behind it. Whoever puts the segments together knows where the last one ended; if
//! that is not where the next one began, it is read again. So what is found does not depend on guesses.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::input::Input;
use super::join::Join;
use super::open::layout::Codec;
use super::record::Keys;
use super::walk::{Halt, Signal, Walk};
use super::{Opened, Work, search};
use crate::ReadOptions;

/// Reads an archive from an offset to its end on several threads.
pub(super) fn read<T: Send>(
    archive: &Opened,
    from: u64,
    options: &ReadOptions,
    work: &Work<'_, T>,
    join: &mut Join<'_, T>,
) -> io::Result<Halt> {
    let keys = Keys::default();
    let segments = Segments::new(archive, from, options);
    std::thread::scope(|scope| {
        // If whoever takes what is found panics, the others must not wait for it.
        let _end = Ending(&segments);
        for _ in 0..options.threads.min(segments.count()) {
            scope.spawn(|| {
                // If this thread panics, nobody must wait for it.
                let _end = Ending(&segments);
                let mut walk = Walk::new(archive, options, &keys, work);
                while let Some(segment) = segments.claim() {
                    segment.read(archive, options, &mut walk);
                }
            });
        }
        let mut again = Walk::new(archive, options, &keys, work);
        let halt = put_together(from, &segments, &mut again, join);
        segments.end();
        halt
    })
}

fn put_together<T: Send>(
    from: u64,
    segments: &Segments<T>,
    again: &mut Walk<'_, T>,
    join: &mut Join<'_, T>,
) -> io::Result<Halt> {
    let mut at = from;
    while at < segments.end {
        let next = segments.next(at);
        let is_last = matches!(next, Next::None);
        let halt = match next {
            Next::Over => return Ok(Halt::Stopped),
            // No thread reads the bytes behind the last segment, so they are read here.
            Next::None => again.span(at, segments.end, &mut |signal| join.signal(signal))?,
            Next::Segment(mut pending) => match pending.begin() {
                Some(begin) if begin == at => pending.drain(join)?,
                Some(_) | None => {
                    let until = pending.until;
                    drop(pending);
                    again.span(at, until, &mut |signal| join.signal(signal))?
                }
            },
        };
        match halt {
            // Each round takes a segment, or comes nearer to the end.
            Halt::At(next) if !segments.is_stream && (!is_last || next > at) => at = next,
            halt => return Ok(halt),
        }
    }
    Ok(Halt::At(at))
}

/// A message of a thread about its segment.
enum Message<T> {
    /// The first record that was found.
    Begin(Option<u64>),
    /// Some of what was found: to send each alone would cost more than to read it.
    Signals(Vec<Signal<T>>),
    End(io::Result<Halt>),
}

/// A segment that a thread has taken.
struct Segment<T> {
    from: u64,
    until: u64,
    is_first: bool,
    sender: SyncSender<Message<T>>,
}

impl<T: Send> Segment<T> {
    fn read(self, archive: &Opened, options: &ReadOptions, walk: &mut Walk<'_, T>) {
        let begin = match self.is_first {
            true => Ok(Some(self.from)),
            false => find(archive, self.from, self.until, options),
        };
        let begin = match begin {
            Ok(begin) => begin,
            Err(error) => {
                let _ = self.sender.send(Message::Begin(Some(self.from)));
                let _ = self.sender.send(Message::End(Err(error)));
                return;
            }
        };
        if self.sender.send(Message::Begin(begin)).is_err() {
            return;
        }
        let Some(begin) = begin else {
            return;
        };
        let mut batch = Vec::with_capacity(BATCH);
        let mut weight = 0;
        let halt = walk.span(begin, self.until, &mut |signal| {
            weight += signal.weight();
            batch.push(signal);
            if batch.len() < BATCH && weight < HEAVY {
                return ControlFlow::Continue(());
            }
            weight = 0;
            self.send(&mut batch)
        });
        if self.send(&mut batch).is_break() {
            return;
        }
        let _ = self.sender.send(Message::End(halt));
    }
}

impl<T> Segment<T> {
    /// The other side hangs up when it knows better.
    fn send(&self, batch: &mut Vec<Signal<T>>) -> ControlFlow<()> {
        let full = std::mem::replace(batch, Vec::with_capacity(BATCH));
        match self.sender.send(Message::Signals(full)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

fn find(archive: &Opened, from: u64, until: u64, options: &ReadOptions) -> io::Result<Option<u64>> {
    let (extent, layout) = (&archive.extent, &archive.layout);
    if layout.codec == Codec::Plain {
        return search::next_record(extent, layout.format, from, until, options);
    }
    let mut input = Input::new(extent);
    input.seek(from);
    search::next_member(&mut input, layout, until, false, options)
}

/// A segment as it is seen by who puts them together.
struct Pending<T> {
    until: u64,
    receiver: Receiver<Message<T>>,
}

impl<T> Pending<T> {
    fn begin(&mut self) -> Option<u64> {
        match self.receiver.recv() {
            Ok(Message::Begin(begin)) => begin,
            _ => None,
        }
    }

    fn drain(self, join: &mut Join<'_, T>) -> io::Result<Halt> {
        loop {
            match self.receiver.recv() {
                Ok(Message::Signals(signals)) => {
                    for signal in signals {
                        if join.signal(signal).is_break() {
                            return Ok(Halt::Stopped);
                        }
                    }
                }
                Ok(Message::End(halt)) => return halt,
                // The thread panicked; so will the scope.
                Ok(Message::Begin(_)) | Err(_) => return Ok(Halt::Stopped),
            }
        }
    }
}

/// The next step of the joining thread.
enum Next<T> {
    Segment(Pending<T>),
    /// All of them were taken.
    None,
    /// Nobody reads any more.
    Over,
}

/// The segments of an archive, given out in order.
struct Segments<T> {
    from: u64,
    end: u64,
    size: u64,
    /// There is one segment, and offsets count something else than its length.
    is_stream: bool,
    ahead: usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    next: u64,
    pending: VecDeque<Pending<T>>,
    is_over: bool,
}

impl<T> Segments<T> {
    fn new(archive: &Opened, from: u64, options: &ReadOptions) -> Self {
        let is_stream = archive.layout.whole;
        // A stream cannot be entered but at its beginning; one thread still reads it while this one hands over.
        let size = match is_stream || archive.extent.part.deflated.is_some() {
            true => u64::MAX,
            false => options.limits.segment.max(1),
        };
        let end = match is_stream {
            true => u64::MAX,
            false => archive.extent.size(),
        };
        Self {
            from,
            end,
            size,
            is_stream,
            ahead: options.threads + 1,
            state: Mutex::new(State {
                next: 0,
                pending: VecDeque::new(),
                is_over: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn count(&self) -> usize {
        let count = (self.end - self.from.min(self.end)).div_ceil(self.size);
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    /// The next segment, once that is not too far ahead.
    fn claim(&self) -> Option<Segment<T>> {
        let mut state = self.lock();
        loop {
            if state.is_over || state.next >= self.count() as u64 {
                return None;
            }
            if state.pending.len() < self.ahead {
                break;
            }
            state = self.wait(state);
        }
        let number = state.next;
        let (sender, receiver) = sync_channel(CAPACITY);
        let from = self.from.saturating_add(number.saturating_mul(self.size));
        let until = from.saturating_add(self.size).min(self.end);
        state.next += 1;
        state.pending.push_back(Pending { until, receiver });
        self.changed.notify_all();
        Some(Segment {
            from,
            until,
            is_first: number == 0,
            sender,
        })
    }

    /// The segment that an offset is in. Those before it are nobody's concern any more.
    fn next(&self, at: u64) -> Next<T> {
        let mut state = self.lock();
        let first = (at - self.from) / self.size;
        state.next = state.next.max(first);
        loop {
            while let Some(pending) = state.pending.pop_front() {
                self.changed.notify_all();
                if pending.until > at {
                    return Next::Segment(pending);
                }
            }
            if state.is_over {
                return Next::Over;
            }
            if state.next >= self.count() as u64 {
                return Next::None;
            }
            state = self.wait(state);
        }
    }

    fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.pending.clear();
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(&self, guard: MutexGuard<'g, State<T>>) -> MutexGuard<'g, State<T>> {
        self.changed
            .wait(guard)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends all if its thread panics.
struct Ending<'s, T>(&'s Segments<T>);

impl<T> Drop for Ending<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

/// The number of batches of a segment that may wait to be handed over.
const CAPACITY: usize = 64;
const BATCH: usize = 64;

/// The bytes of memory with which a batch is full in any case.
const HEAVY: usize = 64 * 1024;
