//! A queue between threads: so many wait at most, and whoever brings more waits for room.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub(super) struct Queue<T> {
    most: usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    is_closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                is_closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Adds one, once there is room. One that comes after the end is dropped.
    pub(super) fn push(&self, one: T) {
        let state = self.lock();
        let waited = self.changed.wait_while(state, |state| {
            !state.is_closed && state.waiting.len() >= self.most
        });
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.is_closed {
            state.waiting.push_back(one);
            self.changed.notify_all();
        }
    }

    /// Takes the next, once there is one; `None` after the end.
    pub(super) fn pop(&self) -> Option<T> {
        let state = self.lock();
        let waited = self
            .changed
            .wait_while(state, |state| !state.is_closed && state.waiting.is_empty());
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let next = state.waiting.pop_front();
        self.changed.notify_all();
        next
    }

    /// Ends it; what waits is still given out.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_comes_before_the_end_is_given_out_once() {
        let queue = Queue::new(2);
        let sum = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| std::iter::from_fn(|| queue.pop()).sum::<u32>()))
                .collect();
            (1..=100).for_each(|one| queue.push(one));
            queue.close();
            queue.push(1000);
            takers.into_iter().map(|t| t.join().unwrap()).sum::<u32>()
        });

        assert_eq!(sum, 5050);
        assert_eq!(queue.pop(), None);
    }
}
