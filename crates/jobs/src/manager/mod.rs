//! The manager: makes jobs of schedules when their time has come, and clears away what is too old.
//!
//! It runs no jobs; workers do. Two managers on one catalog do no harm: each job is planned by the first who does.

mod retention;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use catalog::{Schedule, ScheduleQuery, ScheduleState};
use harvester::{Pace, RealPace, Stop};

pub use self::retention::Retention;
use crate::alert::{AlertOptions, Alerting};
use crate::workers::Bell;
use flows::panic_message;
use flows::{Holdings, message};
use operations::schedules::{Next, next, waits_too_long};
use operations::{Frequency, Settings};

/// How the manager works.
#[derive(Debug, Clone)]
pub struct ManagerOptions {
    /// How often a job is tried.
    pub attempts: i64,
    /// How long ended things are kept.
    pub retention: Retention,
    /// Rung when a job is due, if the workers are in this process.
    pub bell: Option<Bell>,
    /// The alerts.
    pub alerts: AlertOptions,
}

/// A manager that is at work until it is stopped.
#[derive(Debug)]
pub struct Manager {
    stop: Stop,
    ended: Vec<Bell>,
    threads: Vec<JoinHandle<()>>,
}

impl Default for ManagerOptions {
    fn default() -> Self {
        Self {
            attempts: Settings::ATTEMPTS,
            retention: Retention::default(),
            bell: None,
            alerts: AlertOptions::default(),
        }
    }
}

impl Manager {
    /// Starts its threads: one that plans, two that make the words of records and of documents known to the
    /// search, one that takes figures, and one that tells beside documents what was said of them in the console.
    pub fn start(holdings: Arc<Holdings>, options: ManagerOptions) -> anyhow::Result<Self> {
        let stop = Stop::default();
        let ended = Bell::default();
        let alerts_ended = Bell::default();
        let mut manager = Self {
            stop: stop.clone(),
            // A bell wakes one of those who wait for it.
            ended: vec![ended.clone(), alerts_ended.clone()],
            threads: Vec::new(),
        };
        let alerting = Alerting::new(Arc::clone(&holdings), options.alerts.clone(), stop.clone());
        let mut planner = Planner {
            holdings: Arc::clone(&holdings),
            options,
            latest: None,
            cleared: None,
            away: false,
        };
        manager.spawn("manager", move || {
            while !ended.wait(A_SECOND) {
                planner.round();
            }
        })?;
        manager.spawn("alerts", move || {
            let mut wait = A_SECOND;
            while !alerts_ended.wait(wait) {
                // A bug in one round must not end the others; it is told on stderr.
                let _ = catch_unwind(AssertUnwindSafe(|| alerting.round()));
                wait = A_MINUTE;
            }
        })?;
        let (beside, stopped) = (Arc::clone(&holdings), stop.clone());
        manager.spawn("metadata", move || update_metadata(&beside, &stopped))?;
        let (texts, stopped) = (Arc::clone(&holdings), stop.clone());
        manager.spawn("texts", move || index_texts(&texts, &stopped))?;
        let (figures, stopped) = (Arc::clone(&holdings), stop.clone());
        manager.spawn("figures", move || take_figures(&figures, &stopped))?;
        manager.spawn("index", move || index(&holdings, &stop))?;
        Ok(manager)
    }

    /// Stops. Nothing is lost by it: the next manager plans what this one did not.
    pub fn stop(mut self) {
        self.end();
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        self.threads
            .push(thread.context("no thread can be started")?);
        Ok(())
    }

    fn end(&mut self) {
        self.stop.set();
        for bell in &self.ended {
            bell.ring();
        }
        for thread in self.threads.drain(..) {
            // A panic has been told on stderr.
            let _ = thread.join();
        }
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        self.end();
    }
}

/// The thread that plans.
struct Planner {
    holdings: Arc<Holdings>,
    options: ManagerOptions,
    /// The latest time that the database told.
    latest: Option<i64>,
    /// When it was last cleared away what is too old.
    cleared: Option<Instant>,
    away: bool,
}

impl Planner {
    fn round(&mut self) {
        let round = catch_unwind(AssertUnwindSafe(|| self.try_round()));
        // A bug that one schedule brings to light must not end the planning of all others; it is told on stderr.
        let Ok(round) = round else { return };
        match round {
            Ok(()) => self.away = false,
            // Once is enough; it is tried every second.
            Err(_) if self.away => {}
            Err(error) => {
                self.away = true;
                tracing::warn!("no job can be planned: {error}");
            }
        }
    }

    fn try_round(&mut self) -> Result<(), catalog::Error> {
        let catalog = self.holdings.catalog();
        let (now, schedules) = self.holdings.wait(catalog.to_plan(MOST_AT_ONCE))?;
        for schedule in &schedules {
            self.plan(schedule, now)?;
        }
        // Clocks of databases are set back now and then, and once while no manager was there to see it.
        let jumped = self.latest.is_none_or(|latest| now < latest - TOLERANCE);
        if jumped {
            self.plan_anew(now)?;
            self.holdings.wait(catalog.replan_others())?;
        }
        // Only now: what could not be repaired is tried again.
        self.latest = Some(now);
        if self.cleared.is_none_or(|at| at.elapsed() >= AN_HOUR) {
            self.cleared = Some(Instant::now());
            self.options.retention.apply(&self.holdings)?;
        }
        Ok(())
    }

    fn plan(&self, schedule: &Schedule, now: i64) -> Result<(), catalog::Error> {
        let catalog = self.holdings.catalog();
        let Some(frequency) = self.frequency(schedule)? else {
            return Ok(());
        };
        let last_end = match schedule.state {
            ScheduleState::New => None,
            // Runs that became due while no manager ran are made up for.
            _ => self.holdings.wait(catalog.last_end(schedule.id))?,
        };
        let (run_at, state) = match next(schedule, &frequency, last_end, now) {
            Next::At(time) if frequency.is_once() => (Some(time), ScheduleState::Once),
            Next::At(time) => (Some(time), ScheduleState::Recurring),
            Next::Never => (None, ScheduleState::Ended),
        };
        let planned = catalog.plan(schedule, run_at, state, self.options.attempts);
        let job = self.holdings.wait(planned)?;
        if let Some(bell) = &self.options.bell
            && job.is_some_and(|job| job.run_at <= now)
        {
            bell.ring();
        }
        Ok(())
    }

    /// Brings forward what waits for a time that is now far ahead.
    fn plan_anew(&self, now: i64) -> Result<(), catalog::Error> {
        let query = ScheduleQuery {
            state: Some(ScheduleState::Recurring),
            ..ScheduleQuery::default()
        };
        let catalog = self.holdings.catalog();
        for schedule in self.holdings.wait(catalog.schedules(&query))? {
            let Some(frequency) = self.frequency(&schedule)? else {
                continue;
            };
            if let Some(time) = waits_too_long(&schedule, &frequency, now)
                && self.holdings.wait(catalog.replan(&schedule, time))?
            {
                tracing::info!(
                    schedule.id,
                    "planned anew, because the clock of the database was set back"
                );
            }
        }
        Ok(())
    }

    /// How often a schedule runs. One that nobody can read, of a newer garner maybe, rests until somebody mends it.
    fn frequency(&self, schedule: &Schedule) -> Result<Option<Frequency>, catalog::Error> {
        match schedule.settings.frequency.parse() {
            Ok(frequency) => Ok(Some(frequency)),
            Err(error) => {
                tracing::error!(schedule.id, "schedule {} is paused: {error}", schedule.id);
                let paused = self.holdings.catalog().pause_schedule(schedule.id);
                self.holdings.wait(paused)?;
                Ok(None)
            }
        }
    }
}

/// Makes the words of what harvests brought known to the search, as they come.
fn index(holdings: &Holdings, stop: &Stop) {
    tend(stop, "records cannot be indexed", || {
        flows::index(holdings, stop).map(|_| ())
    });
}

/// Makes the texts of documents searchable that an import left, or an older catalog.
fn index_texts(holdings: &Holdings, stop: &Stop) {
    tend(stop, "the texts of documents cannot be indexed", || {
        flows::index_texts(holdings, stop).map(|_| ())
    });
}

/// Takes the figures on the collection some minutes after it changed.
fn take_figures(holdings: &Holdings, stop: &Stop) {
    while !stop.is_set() {
        if let Err(error) = holdings.wait(holdings.catalog().refresh_figures()) {
            tracing::warn!("the figures on the collection cannot be taken: {error}");
        }
        RealPace.sleep(FIGURES_PAUSE, stop);
    }
}

/// Tells beside documents what was said of them, and has the files of removed ones follow to the trash.
fn update_metadata(holdings: &Holdings, stop: &Stop) {
    tend(stop, ".met files cannot be written", || {
        while !stop.is_set() && flows::update_metadata(holdings, MOST_METS)? == MOST_METS {}
        flows::tidy_trash(holdings)?;
        Ok(())
    });
}

/// Does something every few seconds. That it fails is told once, until it works again.
fn tend(stop: &Stop, failure: &str, work: impl Fn() -> anyhow::Result<()>) {
    let mut away = false;
    while !stop.is_set() {
        let worked = catch_unwind(AssertUnwindSafe(&work));
        let worked =
            worked.unwrap_or_else(|panic| bail!("a bug in garner: {}", panic_message(&*panic)));
        match worked {
            Ok(()) => away = false,
            Err(_) if away => {}
            Err(error) => {
                away = true;
                tracing::warn!("{failure}: {}", message(&error));
            }
        }
        RealPace.sleep(INDEX_PAUSE, stop);
    }
}

/// A pass over a large collection takes seconds, which nobody is to notice.
const FIGURES_PAUSE: Duration = Duration::from_secs(300);
/// The time between two looks at the rules of alerts.
const A_MINUTE: Duration = Duration::from_secs(60);
const A_SECOND: Duration = Duration::from_secs(1);
const INDEX_PAUSE: Duration = Duration::from_secs(2);
/// As many `.met` files are written before it is asked whether to stop.
const MOST_METS: u64 = 100;
const AN_HOUR: Duration = Duration::from_secs(3600);
/// As many are planned in a round; the others follow in the next.
const MOST_AT_ONCE: u64 = 500;
/// By as many seconds a clock may be set back before anybody cares.
const TOLERANCE: i64 = 5;
