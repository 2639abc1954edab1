//! Threads beside those that answer: they walk over the site, and they read, digest and encode files while what was
//! made before is being sent.
//!
//! A thread is started when it is first needed, and waits for the next answer when one is done. It is handed all that
//! it works on, so that it never touches what belongs to a request.

use std::cell::OnceCell;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use process::Stop;

/// The work of a thread.
pub type Work = Box<dyn FnOnce() + Send>;

/// Starts a thread. A web server that a site is in may have its own conditions for threads.
pub type StartThread = fn(Work) -> io::Result<JoinHandle<()>>;

/// Starts a thread as any program does.
pub(crate) fn start_thread(work: Work) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("helper".to_owned()).spawn(work)
}

/// The helpers of a site that have nothing to do.
#[derive(Debug)]
pub(crate) struct Helpers {
    start: StartThread,
    idle: Mutex<Vec<Helper>>,
}

impl Helpers {
    pub(crate) fn new(start: StartThread) -> Self {
        Self {
            start,
            idle: Mutex::default(),
        }
    }

    /// One that has nothing to do, or a new one; none if no thread can be started.
    fn take(&self) -> Option<Helper> {
        let idle = self.idle().pop();
        idle.or_else(|| Helper::start(self.start).ok())
    }

    fn give_back(&self, helper: Helper) {
        let mut idle = self.idle();
        if idle.len() < MOST_IDLE {
            idle.push(helper);
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Helper>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that does one thing after the other. Dropped, it ends when all is done.
#[derive(Debug)]
struct Helper {
    works: Sender<Work>,
}

impl Helper {
    fn start(start: StartThread) -> io::Result<Self> {
        let (works, to_do) = mpsc::channel::<Work>();
        start(Box::new(move || to_do.into_iter().for_each(|work| work())))?;
        Ok(Self { works })
    }
}

/// The helper of one answer, if it needs one.
#[derive(Debug)]
pub(crate) struct Assistance<'a> {
    helpers: &'a Helpers,
    helper: OnceCell<Option<Helper>>,
    stop: Stop,
}

impl<'a> Assistance<'a> {
    pub(crate) fn new(helpers: &'a Helpers) -> Self {
        Self {
            helpers,
            helper: OnceCell::new(),
            stop: Stop::default(),
        }
    }

    /// Whether there is a helper: not where no thread can be started.
    pub(crate) fn is_at_hand(&self) -> bool {
        self.helper().is_some()
    }

    /// Lets the helper do something, behind what it was given before. Where there is none it is done here and now. Long
    /// work should look from time to time whether it is still wanted.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Pending<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let stop = self.stop.clone();
        let work: Work = Box::new(move || {
            let done = panic::catch_unwind(AssertUnwindSafe(|| work(&stop)));
            // Nobody may want it any more.
            let _ = sender.send(done);
        });
        match self.helper() {
            Some(helper) => helper.works.send(work).unwrap_or_else(|unsent| unsent.0()),
            None => work(),
        }
        Pending(receiver)
    }

    fn helper(&self) -> Option<&Helper> {
        self.helper.get_or_init(|| self.helpers.take()).as_ref()
    }
}

impl Drop for Assistance<'_> {
    fn drop(&mut self) {
        self.stop.set();
        if let Some(helper) = self.helper.take().flatten() {
            self.helpers.give_back(helper);
        }
    }
}

/// Work that a helper has begun.
#[derive(Debug)]
pub(crate) struct Pending<T>(Receiver<thread::Result<T>>);

impl<T> Pending<T> {
    /// Waits until it is done. A panic of the helper's goes on here.
    pub(crate) fn wait(self) -> T {
        let done = self.0.recv().expect("a helper does all that it was given");
        done.unwrap_or_else(|panic| panic::resume_unwind(panic))
    }
}

/// More helpers than this end when they have nothing to do.
const MOST_IDLE: usize = 4;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn work_is_done_in_order_and_by_one_thread_for_many_answers() {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let helpers = Helpers::new(|work| {
            STARTED.fetch_add(1, Ordering::Relaxed);
            start_thread(work)
        });

        for _ in 0..10 {
            let assistance = Assistance::new(&helpers);
            let (sender, receiver) = mpsc::channel();
            for number in 0..5 {
                let sender = sender.clone();
                assistance.begin(move |_| sender.send(number));
            }
            drop(sender);
            assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        }

        assert_eq!(STARTED.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_panic_goes_on_with_whoever_waits_and_the_helper_lives() {
        let helpers = Helpers::new(start_thread);
        let assistance = Assistance::new(&helpers);
        let bad = assistance.begin(|_| -> u8 { panic!("as requested") });
        let good = assistance.begin(|_| 7);

        let panic = panic::catch_unwind(AssertUnwindSafe(|| bad.wait())).unwrap_err();

        assert_eq!(panic.downcast_ref::<&str>(), Some(&"as requested"));
        assert_eq!(good.wait(), 7);
    }

    #[test]
    fn work_that_nobody_wants_any_more_is_told_to_stop() {
        let helpers = Helpers::new(start_thread);
        let assistance = Assistance::new(&helpers);
        let stopped = assistance.begin(|stop| {
            while !stop.is_set() {
                thread::yield_now();
            }
        });

        drop(assistance);

        stopped.wait();
    }

    #[test]
    fn where_no_thread_can_be_started_the_work_is_done_at_once() {
        let helpers = Helpers::new(|_| Err(io::ErrorKind::WouldBlock.into()));
        let assistance = Assistance::new(&helpers);

        let here = thread::current().id();
        let there = assistance.begin(|_| thread::current().id()).wait();

        assert!(!assistance.is_at_hand());
        assert_eq!(here, there);
    }
}
