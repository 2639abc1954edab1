//! Between those who read and the one who stores: as much as may wait, so that both work at the same time.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A queue of things with their sizes.
pub(super) struct Queue<T> {
    room: usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

/// An item that comes out of a queue.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<T> {
    Thing(T),
    /// Nothing came in time.
    NotYet,
    /// All writers are done.
    End,
}

struct State<T> {
    waiting: VecDeque<(T, usize)>,
    size: usize,
    /// How many will still put something in.
    writers: usize,
    /// Whether nobody takes anything out any more.
    closed: bool,
}

impl<T> Queue<T> {
    /// A queue in which things of this size may wait, or one that is larger.
    pub(super) fn new(writers: usize, room: usize) -> Self {
        Self {
            room,
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                size: 0,
                writers,
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Puts a thing in, when there is room. Whether it was still wanted.
    pub(super) fn push(&self, thing: T, size: usize) -> bool {
        let full = |state: &mut State<T>| {
            let room = state.size + size <= self.room && state.waiting.len() < MOST_THINGS;
            !state.closed && !room && !state.waiting.is_empty()
        };
        let waited = self.changed.wait_while(self.lock(), full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return false;
        }
        state.waiting.push_back((thing, size));
        state.size += size;
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Takes the next thing out, if one comes before a deadline.
    pub(super) fn pop(&self, deadline: Option<Instant>) -> Next<T> {
        let left = match deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            None => Duration::MAX,
        };
        let empty = |state: &mut State<T>| state.waiting.is_empty() && state.writers > 0;
        let waited = self.changed.wait_timeout_while(self.lock(), left, empty);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let Some((thing, size)) = state.waiting.pop_front() else {
            return match state.writers {
                0 => Next::End,
                _ => Next::NotYet,
            };
        };
        state.size -= size;
        drop(state);
        self.changed.notify_all();
        Next::Thing(thing)
    }

    /// Tells that a writer is done, when it is dropped.
    pub(super) fn leaving(&self) -> impl Drop + '_ {
        OnDrop(|| {
            self.lock().writers -= 1;
            self.changed.notify_all();
        })
    }

    /// Tells the writers that nothing is wanted any more, when it is dropped.
    pub(super) fn closing(&self) -> impl Drop + '_ {
        OnDrop(|| {
            self.lock().closed = true;
            self.changed.notify_all();
        })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something at its end, also at the end of a panic: nobody must wait for one who is gone.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

const MOST_THINGS: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 4 << 20;

    #[test]
    fn things_come_out_in_order_until_all_writers_have_left() {
        let queue = Queue::new(1, ROOM);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _leaving = queue.leaving();
                for number in 0..10_000 {
                    assert!(queue.push(number, 100));
                }
            });
            let taken = std::iter::from_fn(|| match queue.pop(None) {
                Next::Thing(number) => Some(number),
                Next::NotYet | Next::End => None,
            });
            let taken: Vec<_> = taken.collect();
            assert_eq!(taken, (0..10_000).collect::<Vec<_>>());
        });
    }

    #[test]
    fn a_thing_that_is_larger_than_the_queue_passes_alone() {
        let queue = Queue::new(1, ROOM);
        assert!(queue.push("large", ROOM * 2));
        assert_eq!(queue.pop(None), Next::Thing("large"));
    }

    #[test]
    fn who_waits_for_a_while_is_told_that_nothing_came() {
        let queue = Queue::<()>::new(1, ROOM);
        assert_eq!(queue.pop(Some(Instant::now())), Next::NotYet);
        drop(queue.leaving());
        assert_eq!(queue.pop(Some(Instant::now())), Next::End);
    }

    #[test]
    fn writers_that_wait_are_released_when_nothing_is_wanted_any_more() {
        let queue = Queue::new(1, ROOM);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| while queue.push((), ROOM) {});
            std::thread::sleep(Duration::from_millis(20));
            drop(queue.closing());
            writer.join().unwrap();
        });
    }
}
