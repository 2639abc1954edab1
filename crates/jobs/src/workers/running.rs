//! A job that runs in this process, as the heartbeat sees it.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use catalog::{Activity, Beat, Claim, JobLease, JobProgress};
use harvester::{ClientEvent, Stop};
use jiff::Timestamp;
use operations::feed::Pushed;

use flows::{Classified, FetchProgress, ImportProgress, Progress, Retrieved};
use flows::{Moment, Pulse};

/// A job, its way to stop, and how far it is.
#[derive(Debug)]
pub(super) struct Running {
    lease: JobLease,
    pub(super) stop: Stop,
    pub(super) pulse: Pulse,
    why: OnceLock<Why>,
    progress: Mutex<Tally>,
}

/// Why a job was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Somebody wants it to end.
    Cancelled,
    /// This process ends, and another goes on with it.
    GivenBack,
    /// Another process has it.
    Fenced,
}

/// How far each slice of a harvest is.
#[derive(Debug, Default)]
struct Tally {
    slices: Vec<(u64, Option<u64>)>,
    note: Option<String>,
    activity: Activity,
    /// The step by which a list is narrowed, for as long as that goes on.
    narrowing: Option<String>,
}

impl Running {
    pub(super) fn new(claim: &Claim, moment: Moment, lease: Duration) -> Self {
        Self {
            lease: claim.lease(),
            stop: Stop::default(),
            pulse: Pulse::new(moment, lease),
            why: OnceLock::new(),
            progress: Mutex::default(),
        }
    }

    pub(super) fn id(&self) -> i64 {
        self.lease.job
    }

    /// Stops the job; the first reason counts.
    pub(super) fn stop(&self, why: Why) {
        self.why.get_or_init(|| why);
        self.stop.set();
    }

    pub(super) fn why(&self) -> Option<Why> {
        self.why.get().copied()
    }

    /// Begins a harvest of so many slices.
    pub(super) fn expect(&self, slices: usize) {
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        tally.slices = vec![(0, None); slices.max(1)];
    }

    /// Notes how far one of them is.
    pub(super) fn advance(&self, progress: &Progress) {
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slice) = tally.slices.get_mut(progress.slice) {
            *slice = (progress.records, progress.complete_list_size.or(slice.1));
        }
        tally.note = Some(progress.counts.in_words());
        tally.activity.is_reading = false;
        tally.activity.next_attempt = None;
        if !progress.is_broken && tally.narrowing.is_none() {
            tally.activity.refusals = 0;
        }
        tally.activity.step = tally.narrowing.clone();
    }

    /// Notes what the client does.
    pub(super) fn hear(&self, event: &ClientEvent) {
        let now = Timestamp::now().as_second();
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let Tally {
            activity,
            narrowing: current,
            ..
        } = &mut *tally;
        match event {
            ClientEvent::Asking { request } => activity.ask(now, request),
            // Where several requests are on their way, the one that was sent last is told.
            ClientEvent::Answered { request, status }
                if activity.request.as_ref() == Some(request) =>
            {
                activity.answer(now, status_in_words(*status));
                activity.is_reading = (200..300).contains(status);
            }
            ClientEvent::Answered { .. } => {}
            ClientEvent::Waiting(waiting) => {
                activity.refuse(now, &waiting.reason);
                let seconds = i64::try_from(waiting.wait.as_secs()).unwrap_or(i64::MAX / 4);
                activity.next_attempt = Some(now + seconds);
            }
            ClientEvent::Refused { reason } => activity.refuse(now, reason),
            ClientEvent::Narrowing(narrowing) => {
                *current = Some(narrowing.step_in_words());
                activity.step.clone_from(current);
            }
            ClientEvent::Narrowed => {
                *current = None;
                activity.step = None;
                activity.refusals = 0;
            }
            ClientEvent::Decision(decision) => activity.step = Some(decision.clone()),
        }
    }

    /// Notes how far an import is with fetching its sources.
    pub(super) fn fetch(&self, progress: &FetchProgress<'_>) {
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        tally.slices = vec![(progress.done, Some(progress.total))];
        tally.activity.step = Some(format!("fetching {}", progress.file));
    }

    /// Notes how far an import is.
    pub(super) fn import(&self, progress: &ImportProgress<'_>) {
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        tally.slices = vec![(progress.done, Some(progress.total))];
        tally.note = Some(progress.counters.in_words());
        tally.activity.step = Some(format!("reading {}", progress.source));
    }

    /// Notes how far the collection is judged.
    pub(super) fn classify(&self, classified: &Classified, total: u64) {
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        tally.slices = vec![(classified.documents, Some(total))];
        tally.note = Some(classified.said());
    }

    /// Notes how far a retrieval is.
    pub(super) fn retrieve(&self, retrieved: &Retrieved, total: Option<u64>) {
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        tally.slices = vec![(retrieved.documents + retrieved.lost(), total)];
        tally.note = Some(retrieved.said());
    }

    /// Notes how much was sent to a search engine.
    pub(super) fn feed(&self, pushed: &Pushed) {
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        tally.slices = vec![(pushed.added + pushed.removed + pushed.refused, None)];
        tally.note = Some(pushed.said());
    }

    /// Notes what came of it in all.
    pub(super) fn conclude(&self, note: String) {
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        tally.note = Some(note);
    }

    /// Notes how far something is.
    pub(super) fn note(&self, done: u64, total: Option<u64>, note: String) {
        let mut tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        tally.slices = vec![(done, total)];
        tally.note = Some(note);
    }

    pub(super) fn beat(&self) -> Beat {
        let tally = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let slices = tally.slices.iter();
        // Some repositories tell less than they then give.
        let total: Option<u64> = slices
            .clone()
            .map(|(done, total)| total.map(|total| total.max(*done)))
            .sum();
        Beat {
            lease: self.lease,
            progress: JobProgress {
                done: slices.map(|(done, _)| done).sum(),
                total: total.filter(|total| *total > 0),
                note: tally.note.clone(),
                activity: Some(tally.activity.clone())
                    .filter(|activity| *activity != Activity::default()),
            },
        }
    }
}

/// A status with its usual reason: "503 Service Unavailable".
fn status_in_words(status: u16) -> String {
    http::StatusCode::from_u16(status)
        .map_or_else(|_| status.to_string(), |status| status.to_string())
}
