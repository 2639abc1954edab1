//! Work on several threads, with results in the order of the jobs.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does the jobs that `next` gives on `threads` threads, and hands the results to `take` in order until it breaks. A few jobs
/// for each thread are done ahead of time.
pub(super) fn ordered<J: Send, R: Send>(
    threads: usize,
    mut next: impl FnMut() -> Option<J>,
    work: impl Fn(J) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    if threads <= 1 {
        while let Some(job) = next() {
            if take(work(job)).is_break() {
                return;
            }
        }
        return;
    }
    let ahead = threads * 2;
    let enough = AtomicBool::new(false);
    let (job_sender, jobs) = mpsc::sync_channel(ahead);
    let (result_sender, results) = mpsc::sync_channel(ahead);
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (jobs, results, work, enough) = (&jobs, result_sender.clone(), &work, &enough);
            scope.spawn(move || run(jobs, &results, work, enough));
        }
        // The last clone is gone when all threads are.
        drop(result_sender);
        lead(ahead, &mut next, job_sender, &results, &mut take);
        enough.store(true, Ordering::Relaxed);
    });
}

type Outcome<R> = Result<R, Box<dyn Any + Send>>;

/// Gives out jobs and puts results in order.
fn lead<J, R>(
    ahead: usize,
    next: &mut dyn FnMut() -> Option<J>,
    jobs: SyncSender<(u64, J)>,
    results: &Receiver<(u64, Outcome<R>)>,
    take: &mut dyn FnMut(R) -> ControlFlow<()>,
) {
    let (mut given, mut taken) = (0, 0);
    let mut ended = false;
    let mut early = BTreeMap::new();
    loop {
        while !ended && given - taken < ahead as u64 {
            match next().map(|job| jobs.send((given, job))) {
                Some(Ok(())) => given += 1,
                _ => ended = true,
            }
        }
        if given == taken {
            return;
        }
        let Ok((number, result)) = results.recv() else {
            return;
        };
        early.insert(number, result);
        while let Some(result) = early.remove(&taken) {
            taken += 1;
            let result = result.unwrap_or_else(|payload| panic::resume_unwind(payload));
            if take(result).is_break() {
                return;
            }
        }
    }
}

/// The loop of one thread.
fn run<J, R>(
    jobs: &Mutex<Receiver<(u64, J)>>,
    results: &SyncSender<(u64, Outcome<R>)>,
    work: &impl Fn(J) -> R,
    enough: &AtomicBool,
) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, job)) = job else {
            return;
        };
        if enough.load(Ordering::Relaxed) {
            return;
        }
        // A panic is the caller's to see; the one who waits for the result must not wait forever.
        let result = panic::catch_unwind(AssertUnwindSafe(|| work(job)));
        if results.send((number, result)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for threads in [0, 1, 2, 7] {
            let mut jobs = 0..1000u64;
            let mut taken = Vec::new();
            let work = |job: u64| {
                if job.is_multiple_of(7) {
                    thread::yield_now();
                }
                job * 2
            };

            ordered(
                threads,
                || jobs.next(),
                work,
                |result| {
                    taken.push(result);
                    ControlFlow::Continue(())
                },
            );

            assert!(taken.iter().copied().eq((0..1000).map(|job| job * 2)));
        }
    }

    #[test]
    fn whoever_has_enough_gets_no_more() {
        for threads in [1, 3] {
            let mut jobs = 0..;
            let mut taken = 0;

            ordered(
                threads,
                || jobs.next(),
                |job: u64| job,
                |_| {
                    taken += 1;
                    if taken == 10 {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                },
            );

            assert_eq!(taken, 10);
            assert!(jobs.next().unwrap() < 30);
        }
    }

    #[test]
    fn a_panic_is_passed_on() {
        let mut jobs = 0..100u64;
        let result = panic::catch_unwind(AssertUnwindSafe(|| {
            let work = |job: u64| assert!(job != 50, "fifty");
            ordered(2, || jobs.next(), work, |()| ControlFlow::Continue(()));
        }));

        assert!(result.is_err());
    }
}
