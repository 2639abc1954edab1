//! Politeness towards a host: how many requests are open at once, and how soon one follows another.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, SystemTime};

use super::ClientOptions;

/// The gates of all hosts.
#[derive(Debug, Default)]
pub(super) struct Gates {
    hosts: Mutex<HashMap<String, Arc<Gate>>>,
}

#[derive(Debug, Default)]
struct Gate {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    open: Vec<(ThreadId, Line)>,
    last: Option<SystemTime>,
}

/// The purpose of a request. Resources have a line of their own: the requester of one may be the one that a list, held open,
/// waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    Verbs,
    Resources,
}

/// The right to have a request open; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    gate: Arc<Gate>,
    held: (ThreadId, Line),
}

impl Gates {
    /// Waits until a request to a host may begin. `None` if it was asked to stop meanwhile.
    ///
    /// A thread that has a request open already is let through: it would wait for itself.
    pub(super) fn enter(&self, host: &str, line: Line, options: &ClientOptions) -> Option<Permit> {
        let gate = {
            let mut hosts = lock(&self.hosts);
            Arc::clone(hosts.entry(host.to_owned()).or_default())
        };
        let held = (std::thread::current().id(), line);
        let mut state = lock(&gate.state);
        let most = match line {
            Line::Verbs => options.connections.max(1),
            Line::Resources => options.resource_connections.max(1),
        };
        while state.is_full(line, most) && !state.open.contains(&held) {
            if options.stop.is_set() {
                return None;
            }
            let waited = gate.freed.wait_timeout(state, Duration::from_millis(200));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.open.push(held);
        // The place in the line is taken before the wait, so that threads keep their distance.
        let now = options.pace.now();
        let start = match state.last {
            Some(last) => now.max(last + options.interval),
            None => now,
        };
        state.last = Some(start);
        drop(state);
        let permit = Permit { gate, held };
        if let Ok(wait) = start.duration_since(now)
            && !wait.is_zero()
        {
            options.pace.sleep(wait, &options.stop);
        }
        (!options.stop.is_set()).then_some(permit)
    }
}

impl State {
    fn is_full(&self, line: Line, most: usize) -> bool {
        self.open.iter().filter(|(_, open)| *open == line).count() >= most
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = lock(&self.gate.state);
        if let Some(at) = state.open.iter().position(|held| *held == self.held) {
            state.open.swap_remove(at);
        }
        drop(state);
        self.gate.freed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
