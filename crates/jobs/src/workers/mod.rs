//! Workers: threads that claim jobs and run them, and one more that tells the catalog that they are alive.
//!
//! Several processes may have workers on one catalog. What one that is killed leaves is claimed by another.

mod bell;
mod heartbeat;
mod kinds;
mod log;
mod retry;
mod running;
mod work;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;
use catalog::{Claim, ClaimOptions, JobKind};
use harvester::{Client, ClientOptions, Stop};
use process::Confiner;
use remote::Access;

pub use self::bell::Bell;
use self::kinds::{Job, KINDS, Ran};
use self::log::Log;
pub use self::retry::Backoff;
use self::running::{Running, Why};
use self::work::{Work, is_lost};
use crate::hook::Hook;
use flows::Moment;
use flows::index_harvest;
use flows::panic_message;
use flows::{Holdings, message};

/// How workers work.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// The name in logs, beside the process.
    pub name: String,
    /// Which jobs they run.
    pub kinds: Vec<JobKind>,
    /// Names of things that they have and other workers lack: jobs that need a tag are run where it is.
    pub tags: Vec<String>,
    /// How many jobs run at once.
    pub threads: usize,
    /// How long nobody else takes a job over without hearing of this process.
    pub lease: Duration,
    /// How many harvests may run at one host, for all workers of the catalog; 0 is no limit, none leaves it as it is.
    pub per_host: Option<u32>,
    /// How repositories are asked.
    pub client: ClientOptions,
    /// Credentials of the servers that sources of imports are fetched from.
    pub access: Access,
    /// Where those may import from today who may not name any file, whatever held when they ordered it.
    pub import_roots: Vec<PathBuf>,
    /// How long a job that failed waits before it is tried again.
    pub backoff: Backoff,
    /// Hooks that run after harvests.
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
    index: Option<JoinHandle<()>>,
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
    /// Jobs that are left to workers which see other files: until when, and how often that was so.
    refused: Mutex<HashMap<i64, (Instant, u32)>>,
    /// Where the numbers of harvests go whose words are to be read.
    harvested: Mutex<Option<Sender<i64>>>,
    /// Stops the reading of words.
    index_stop: Stop,
    /// Whether the jobs are all over, so that nobody needs to be told any more.
    ended: Bell,
}

impl WorkerOptions {
    /// Leaves jobs to others that need the data directory of the catalog. Harvests are among those that it runs: one whose
    /// files are to lie there is given back.
    pub fn without_directory(self) -> Self {
        let mut options = self.imports_only();
        options.kinds.push(JobKind::Harvest);
        options
    }

    /// Leaves harvests to others, so that no data directory has to be shared with them.
    pub fn imports_only(self) -> Self {
        let kinds = KINDS.iter().filter(|job| !job.needs_data_directory());
        Self {
            kinds: kinds.map(|job| job.kind()).collect(),
            ..self
        }
    }
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            name: "worker".to_owned(),
            kinds: KINDS.iter().map(|job| job.kind()).collect(),
            tags: Vec::new(),
            threads: 4,
            lease: Duration::from_secs(60),
            per_host: None,
            client: ClientOptions {
                longest_wait: LONGEST_WAIT,
                ..ClientOptions::default()
            },
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
        // Mistakes in the options are found now, not by every job.
        Client::new(options.client.clone())?;
        if let Some(per_host) = options.per_host {
            holdings.wait(holdings.catalog().set_per_host(per_host))?;
        }
        let (sender, harvested) = mpsc::channel();
        let shared = Arc::new(Shared {
            holdings,
            running: Mutex::default(),
            turn: Mutex::default(),
            bell: Bell::default(),
            stopping: AtomicBool::new(false),
            ended: Bell::default(),
            refused: Mutex::default(),
            harvested: Mutex::new(Some(sender)),
            index_stop: Stop::default(),
            options,
        });
        let mut workers = Self {
            shared: Arc::clone(&shared),
            threads: Vec::new(),
            heartbeat: None,
            index: None,
        };
        let beating = Arc::clone(&shared);
        workers.heartbeat = Some(spawn("heartbeat", move || beating.beat_until_ended())?);
        let indexing = Arc::clone(&shared);
        workers.index = Some(spawn("index", move || indexing.index(&harvested))?);
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
        self.shared.index_stop.set();
        for thread in self.threads.drain(..) {
            // Panics of jobs are caught; one beside them has been told on stderr.
            let _ = thread.join();
        }
        let harvested = &self.shared.harvested;
        drop(
            harvested
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        if let Some(index) = self.index.take() {
            let _ = index.join();
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
            kinds: &self.options.kinds,
            tags: &self.options.tags,
            worker: &self.options.name,
        };
        let mut away = false;
        while !self.is_stopping() {
            let moment = Moment::now();
            let refused = self.refused();
            let claim = self.holdings.catalog().claim_except(&options, &refused);
            match self.holdings.wait(claim) {
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

    /// The jobs that are left to other workers for now.
    fn refused(&self) -> Vec<i64> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let kept = refused.iter().filter(|(_, (until, _))| *until > now);
        kept.map(|(id, _)| *id).collect()
    }

    /// Leaves a job to other workers for a while, longer each time. Whether it is the first time.
    fn refuse(&self, job: i64) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        // So long after they were refused for the last time, jobs are done or forgotten.
        refused.retain(|_, (until, _)| now.saturating_duration_since(*until) < AN_HOUR);
        let times = refused.get(&job).map_or(0, |(_, times)| *times);
        let wait = (REFUSED * (1 << times.min(4))).min(LONGEST_REFUSED);
        refused.insert(job, (now + wait, times + 1));
        times == 0
    }

    fn run(&self, claim: &Claim, running: &Arc<Running>) {
        let work = Work {
            shared: self,
            claim,
            running,
            log: Log::new(&self.holdings, claim.job.id),
        };
        work.log.begun(claim);
        let job = KINDS.into_iter().find(|job| job.kind() == claim.job.kind);
        let job = job.expect("workers claim jobs of their kinds");
        let ran = catch_unwind(AssertUnwindSafe(|| job.run(&work)));
        let ended = match ran {
            Ok(ran) => self.end(&work, job, ran),
            Err(panic) => {
                let bug = anyhow::anyhow!("a bug in garner: {}", panic_message(&*panic));
                let end = work.failed(&bug);
                let follow_ups = job.follow_ups(&work, &end);
                work.end(end, &follow_ups)
            }
        };
        match ended {
            Ok(()) => {}
            Err(error) if is_lost(&error) => work.log.fenced(claim),
            Err(error) => work.log.error(&format!(
                "the end of the job cannot be written down: {}",
                message(&error)
            )),
        }
    }

    fn end(&self, work: &Work<'_>, job: &dyn Job, ran: anyhow::Result<Ran>) -> anyhow::Result<()> {
        let end = match ran {
            Ok(Ran::Ends(end)) => end,
            Ok(Ran::Ended(end)) => {
                end.iter().for_each(|end| work.log.ended(end));
                return Ok(());
            }
            Err(error) if is_lost(&error) && work.is_over() => return Ok(()),
            Err(error) if is_lost(&error) => return Err(error),
            Err(error) => job.decide(work, &error),
        };
        let follow_ups = job.follow_ups(work, &end);
        work.end(end, &follow_ups)
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

    /// Makes the words of what was harvested here known to the search, until the workers stop. Words that cannot be
    /// handed over are left to the manager.
    fn index(&self, harvested: &Receiver<i64>) {
        for harvest in harvested {
            let indexed = catch_unwind(AssertUnwindSafe(|| {
                index_harvest(&self.holdings, harvest, &self.index_stop)
            }));
            match indexed {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::warn!(
                    harvest.id = harvest,
                    "harvest {harvest} cannot be indexed now, and is later: {}",
                    message(&error)
                ),
                // It is told on stderr.
                Err(_) => {}
            }
        }
    }

    /// Has the words of a harvest read.
    fn index_later(&self, harvest: i64) {
        let sender = self
            .harvested
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*sender {
            // Nobody receives it if that thread panicked; the manager reads it then.
            let _ = sender.send(harvest);
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

/// A harvest that is asked to wait for longer goes back into the queue, so that it holds no slot of its host meanwhile.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How long a job is left to other workers before this one looks again.
const REFUSED: Duration = Duration::from_secs(60);
const LONGEST_REFUSED: Duration = Duration::from_secs(600);
const AN_HOUR: Duration = Duration::from_secs(3600);
/// How often the queue is polled for jobs of others.
const POLL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use catalog::{Identity, JobEnd, NewJob};
    use test_support::{Misbehaving, Script};

    use super::*;

    fn shared() -> (tempfile::TempDir, Shared) {
        let directory = tempfile::tempdir().unwrap();
        let shared = Shared {
            holdings: Arc::new(Holdings::create(directory.path(), None).unwrap()),
            options: WorkerOptions::default(),
            running: Mutex::default(),
            turn: Mutex::default(),
            bell: Bell::default(),
            stopping: AtomicBool::new(false),
            ended: Bell::default(),
            refused: Mutex::default(),
            harvested: Mutex::default(),
            index_stop: Stop::default(),
        };
        (directory, shared)
    }

    #[test]
    fn who_has_a_job_from_itself_stops_the_thread_that_had_it_and_stays_heard_of() {
        let (_directory, shared) = shared();
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

    #[test]
    fn a_store_that_is_away_uses_up_no_attempt() {
        let (_directory, shared) = shared();
        let claim = claimed(&shared);
        let away = store::Error::Io {
            action: "read",
            path: "s3://papers/1".into(),
            source: std::io::ErrorKind::TimedOut.into(),
        };
        let away = anyhow::Error::from(away).context("a page");

        let running = Running::new(&claim, Moment::now(), shared.options.lease);
        let work = Work {
            shared: &shared,
            claim: &claim,
            running: &Arc::new(running),
            log: Log::new(&shared.holdings, claim.job.id),
        };
        let put_off = work.failed(&away);
        let failed = work.failed(&anyhow::anyhow!("it rains"));

        assert!(matches!(put_off, JobEnd::PutOff { .. }), "{put_off:?}");
        assert!(matches!(failed, JobEnd::Failed { .. }), "{failed:?}");
    }

    /// Issue 18: only the machine of the manager read the words of records.
    #[test]
    fn the_worker_that_harvested_makes_the_words_known() {
        let directory = tempfile::tempdir().unwrap();
        let holdings = Arc::new(Holdings::create(directory.path(), None).unwrap());
        let repository = Misbehaving::start(Script::new(20, 10));
        let (base_url, identity) = (repository.base_url(), Identity::default());
        let catalog = holdings.catalog();
        let known = catalog.add_repository(&base_url, "a", &identity);
        let known = holdings.wait(known).unwrap();
        let job = NewJob::harvest(known.id, "oai_dc");
        holdings.wait(catalog.add_job(&job)).unwrap();
        let options = WorkerOptions::default();
        let workers = Workers::start(Arc::clone(&holdings), options).unwrap();

        let query = catalog::RecordQuery {
            text: Some("record 17".to_owned()),
            ..catalog::RecordQuery::default()
        };
        test_support::wait_until("a record is found by its words", || {
            holdings.wait(catalog.records(&query)).unwrap().len() == 1
        });
        workers.stop();
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
