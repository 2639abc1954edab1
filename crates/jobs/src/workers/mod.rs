//! Workers: threads that claim jobs and run them, and one more that tells the catalog that they are alive.
//!
//! Several processes may have workers on one catalog. What one that is killed leaves is claimed by another.

mod bell;
mod classify;
mod ends;
mod harvest;
mod heartbeat;
mod hook;
mod import;
mod log;
mod retry;
mod running;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use catalog::{Claim, ClaimOptions, JobKind};
use document::confine::Confiner;
use harvester::{Client, ClientOptions};
use remote::Access;

pub use self::bell::Bell;
use self::ends::is_lost;
use self::log::Log;
pub use self::retry::Backoff;
use self::running::{Running, Why};
use crate::harvest::said;
use crate::hook::Hook;
use crate::pulse::Moment;
use crate::{Holdings, message};

/// How workers work.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// What they are called in logs, beside their process.
    pub name: String,
    /// How many jobs run at once.
    pub threads: usize,
    /// How long nobody else takes a job over without hearing of this process.
    pub lease: Duration,
    /// How many harvests may run at one host; 0 is no limit.
    pub per_host: u32,
    /// How repositories are asked.
    pub client: ClientOptions,
    /// What opens the servers that sources of imports are fetched from.
    pub access: Access,
    /// Where those may import from today who may not name any file, whatever held when they ordered it.
    pub import_roots: Vec<PathBuf>,
    /// How long a job that failed waits before it is tried again.
    pub backoff: Backoff,
    /// What is to be done after harvests.
    pub hooks: Vec<Hook>,
    /// How this program executes itself so that a hook's command ends with it, also if it is killed; none: such a command
    /// goes on.
    pub confiner: Option<Confiner>,
}

/// Workers that are at work until they are stopped.
#[derive(Debug)]
pub struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    heartbeat: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    holdings: Arc<Holdings>,
    options: WorkerOptions,
    running: Mutex<HashMap<i64, Arc<Running>>>,
    /// One thread looks for work at a time: the others would find the same.
    turn: Mutex<()>,
    bell: Bell,
    stopping: AtomicBool,
    /// Whether the jobs are all over, so that nobody needs to be told any more.
    ended: Bell,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            name: "worker".to_owned(),
            threads: 4,
            lease: Duration::from_secs(60),
            per_host: 1,
            client: ClientOptions::default(),
            access: Access::of_environment(),
            import_roots: Vec::new(),
            backoff: Backoff::default(),
            hooks: Vec::new(),
            confiner: None,
        }
    }
}

impl Workers {
    /// Starts the threads.
    pub fn start(holdings: Arc<Holdings>, options: WorkerOptions) -> anyhow::Result<Self> {
        // What is wrong with the options is found now, not by every job.
        Client::new(options.client.clone())?;
        let shared = Arc::new(Shared {
            holdings,
            running: Mutex::default(),
            turn: Mutex::default(),
            bell: Bell::default(),
            stopping: AtomicBool::new(false),
            ended: Bell::default(),
            options,
        });
        let mut workers = Self {
            shared: Arc::clone(&shared),
            threads: Vec::new(),
            heartbeat: None,
        };
        let beating = Arc::clone(&shared);
        workers.heartbeat = Some(spawn("heartbeat", move || beating.beat_until_ended())?);
        for number in 1..=shared.options.threads {
            let working = Arc::clone(&shared);
            let thread = spawn(&format!("worker {number}"), move || working.work())?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// A bell that makes workers look for jobs at once, for those who put some into the queue.
    pub fn bell(&self) -> Bell {
        self.shared.bell.clone()
    }

    /// How many jobs run here.
    pub fn busy(&self) -> usize {
        self.shared.running().len()
    }

    /// Stops: harvests end with what they have so far, and their jobs are given back to the queue.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        for running in self.shared.running().values() {
            running.stop(Why::GivenBack);
        }
        self.shared.bell.ring();
        for thread in self.threads.drain(..) {
            // Panics of jobs are caught; one beside them has been told on stderr.
            let _ = thread.join();
        }
        self.shared.ended.ring();
        if let Some(heartbeat) = self.heartbeat.take() {
            let _ = heartbeat.join();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// Runs one job after the other, until it is time to stop.
    fn work(&self) {
        while let Some((claim, moment)) = self.next() {
            let running = Arc::new(Running::new(&claim, moment, self.options.lease));
            self.enter(&running);
            // It may have been asked to stop between the claim and this.
            if self.is_stopping() {
                running.stop(Why::GivenBack);
            }
            self.run(&claim, &running);
            self.leave(&running);
            // Its host and its repository are free for another.
            self.bell.ring();
        }
    }

    /// Waits for a job.
    fn next(&self) -> Option<(Claim, Moment)> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let options = ClaimOptions {
            lease: self.options.lease,
            per_host: self.options.per_host,
            kinds: &[
                JobKind::Harvest,
                JobKind::Hook,
                JobKind::Import,
                JobKind::Classify,
            ],
            worker: &self.options.name,
        };
        let mut away = false;
        while !self.is_stopping() {
            let moment = Moment::now();
            match self.holdings.wait(self.holdings.catalog().claim(&options)) {
                Ok(Some(claim)) => return Some((claim, moment)),
                Ok(None) => away = false,
                // Once is enough; it is tried every second.
                Err(_) if away => {}
                Err(error) => {
                    away = true;
                    tracing::warn!("no job can be claimed: {error}");
                }
            }
            self.bell.wait(POLL);
        }
        None
    }

    fn run(&self, claim: &Claim, running: &Arc<Running>) {
        let log = Log::new(&self.holdings, claim.job.id);
        log.begun(claim);
        let ran = catch_unwind(AssertUnwindSafe(|| match claim.job.kind {
            JobKind::Hook => self.run_hook(claim, running, &log),
            JobKind::Import => self.run_import(claim, running, &log),
            JobKind::Classify => self.run_classify(claim, running, &log),
            // Workers do not ask for quiet times.
            JobKind::Harvest | JobKind::Quiet => self.run_harvest(claim, running, &log),
        }));
        let ran = ran.unwrap_or_else(|panic| {
            let bug = anyhow::anyhow!("a bug in garner: {}", said(&*panic));
            self.give_up(claim, running, &log, self.failed(claim, &bug))
        });
        match ran {
            Ok(()) => {}
            Err(error) if is_lost(&error) => log.fenced(claim),
            Err(error) => log.error(&format!(
                "the end of the job cannot be written down: {}",
                message(&error)
            )),
        }
    }

    /// Has the heartbeat tell of a job. If this process slept for longer than its lease and now has the job from itself,
    /// nobody else tells the thread that had it to stop.
    fn enter(&self, running: &Arc<Running>) {
        let before = self.running().insert(running.id(), Arc::clone(running));
        if let Some(before) = before {
            before.stop(Why::Fenced);
        }
    }

    /// Has the heartbeat forget a job, unless another thread has it now.
    fn leave(&self, running: &Arc<Running>) {
        let mut all = self.running();
        let now = all.get(&running.id());
        if now.is_some_and(|now| Arc::ptr_eq(now, running)) {
            all.remove(&running.id());
        }
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<i64, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> anyhow::Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.context("no thread can be started")
}

/// So often it is looked for jobs that others put into the queue.
const POLL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use catalog::{Identity, NewJob};

    use super::*;

    #[test]
    fn who_has_a_job_from_itself_stops_the_thread_that_had_it_and_stays_heard_of() {
        let directory = tempfile::tempdir().unwrap();
        let shared = Shared {
            holdings: Arc::new(Holdings::create(directory.path(), None).unwrap()),
            options: WorkerOptions::default(),
            running: Mutex::default(),
            turn: Mutex::default(),
            bell: Bell::default(),
            stopping: AtomicBool::new(false),
            ended: Bell::default(),
        };
        let first = claimed(&shared);
        let again = Claim {
            token: first.token + 1,
            ..first.clone()
        };
        let running = |claim| Arc::new(Running::new(claim, Moment::now(), shared.options.lease));
        let (first, again) = (running(&first), running(&again));

        shared.enter(&first);
        shared.enter(&again);

        assert_eq!(first.why(), Some(Why::Fenced));
        assert_eq!(again.why(), None);
        shared.leave(&first);
        assert!(Arc::ptr_eq(&shared.running()[&again.id()], &again));
        shared.leave(&again);
        assert!(shared.running().is_empty());
    }

    fn claimed(shared: &Shared) -> Claim {
        let (holdings, catalog) = (&shared.holdings, shared.holdings.catalog());
        let identity = Identity::default();
        let repository = catalog.add_repository("http://a.example/oai", "a", &identity);
        let repository = holdings.wait(repository).unwrap();
        let job = NewJob::harvest(repository.id, "oai_dc");
        holdings.wait(catalog.add_job(&job)).unwrap();
        let (claim, _) = shared.next().unwrap();
        claim
    }
}
