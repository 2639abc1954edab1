//! A job as pages show it: what it is about, how far it is, what can be done with it.

use catalog::{Job, JobKind, JobState, QueueStanding};
use flows::ImportOrder;
use operations::CleanOrder;
use operations::jobs::{Why, why};
use serde_json::Value;

use crate::imports::described;

/// A job as pages show it.
#[derive(Debug, Clone)]
pub(crate) struct JobLine {
    pub(crate) job: Job,
    now: i64,
}

impl JobLine {
    pub(crate) fn new(job: Job, now: i64) -> Self {
        Self { job, now }
    }

    /// The activity of a running job and the reason it waits.
    pub(crate) fn why(&self) -> Option<Why> {
        let standing = QueueStanding {
            now: self.now,
            ..QueueStanding::default()
        };
        why(&self.job, &standing).filter(|_| self.is_running())
    }

    /// The name of the repository, or else its base URL.
    pub(crate) fn title(&self) -> &str {
        let Job {
            repository_name,
            base_url,
            kind,
            ..
        } = &self.job;
        let name = repository_name.as_deref().filter(|name| !name.is_empty());
        name.or(base_url.as_deref()).unwrap_or(match kind {
            JobKind::Harvest => "a repository that was removed",
            JobKind::Hook => "hook",
            JobKind::Import => "import",
            JobKind::Classify | JobKind::Clean | JobKind::Retrieve | JobKind::Feed => "collection",
            JobKind::Quiet => "quiet",
        })
    }

    /// The action, in words.
    pub(crate) fn what(&self) -> String {
        match (self.job.kind, &self.job.set) {
            (JobKind::Harvest, None) => format!("harvest of {}", self.job.metadata_prefix),
            (JobKind::Harvest, Some(set)) => {
                format!("harvest of {}, set {set}", self.job.metadata_prefix)
            }
            (JobKind::Hook, _) => "hook after a harvest".to_owned(),
            (JobKind::Import, _) => match ImportOrder::parse(&self.job.parameters) {
                Ok(order) => format!("import of {}", described(&order)),
                Err(_) => "import of a crawl".to_owned(),
            },
            (JobKind::Classify, _) => "documents judged again".to_owned(),
            (JobKind::Retrieve, _) => "documents retrieved".to_owned(),
            (JobKind::Feed, _) => "changes sent to a search engine".to_owned(),
            (JobKind::Clean, _) => match CleanOrder::parse(&self.job.parameters) {
                Ok(CleanOrder::Documents(_)) => "cleaning of documents".to_owned(),
                Ok(CleanOrder::Parents(_)) => "cleaning of parents".to_owned(),
                Err(_) => "cleaning".to_owned(),
            },
            (JobKind::Quiet, _) => match self.reason() {
                Some(why) => format!("kept quiet: {why}"),
                None => "kept quiet".to_owned(),
            },
        }
    }

    /// The word for how it stands.
    pub(crate) fn state(&self) -> &'static str {
        match self.is_stopping() {
            true => "stopping",
            false => self.job.state.name(),
        }
    }

    /// Whether it was asked to stop and has not done so.
    pub(crate) fn is_stopping(&self) -> bool {
        self.job.state == JobState::Running && self.job.cancel_requested
    }

    pub(crate) fn is_running(&self) -> bool {
        self.job.state == JobState::Running
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.job.state == JobState::Scheduled
    }

    pub(crate) fn is_over(&self) -> bool {
        self.job.state.is_over()
    }

    /// Whether it waits for a second or later attempt.
    pub(crate) fn is_retried(&self) -> bool {
        self.is_waiting() && self.job.error.is_some()
    }

    /// Whether it is told how far it is: in records, or in bytes for an import.
    pub(crate) fn is_counted(&self) -> bool {
        self.job.kind == JobKind::Harvest || self.is_import()
    }

    pub(crate) fn is_import(&self) -> bool {
        self.job.kind == JobKind::Import
    }

    /// The total, 0 if unknown.
    pub(crate) fn total(&self) -> u64 {
        self.job.progress.total.unwrap_or(0)
    }

    /// For how long it runs, or ran, in seconds.
    pub(crate) fn lasted(&self) -> Option<i64> {
        let started = self.job.started?;
        let end = match self.job.state {
            JobState::Running => self.now,
            _ => self.job.finished?,
        };
        Some((end - started).max(0))
    }

    /// Records per second since it was begun.
    pub(crate) fn rate(&self) -> Option<String> {
        let done = self.job.progress.done;
        let seconds = self.lasted().filter(|seconds| *seconds > 0)?;
        if done == 0 || self.job.kind != JobKind::Harvest {
            return None;
        }
        let rate = done as f64 / seconds as f64;
        let places = usize::from(rate < 10.0);
        Some(format!("{rate:.places$}"))
    }

    /// How long it may still take, in seconds, if it goes on as it did.
    pub(crate) fn left(&self) -> Option<i64> {
        let (done, total) = (self.job.progress.done, self.job.progress.total?);
        let seconds = self.lasted()?;
        if !self.is_running() || done == 0 || total <= done || seconds < SOON {
            return None;
        }
        let left = seconds as f64 * (total - done) as f64 / done as f64;
        Some(left as i64)
    }

    /// Why a repository is kept quiet.
    fn reason(&self) -> Option<String> {
        let parameters: Value = serde_json::from_str(&self.job.parameters).ok()?;
        let why = parameters["why"].as_str()?;
        Some(why.to_owned()).filter(|why| !why.is_empty())
    }
}

/// Less elapsed time than this gives no estimate of the rest.
const SOON: i64 = 3;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use catalog::JobProgress;

    pub(crate) fn job(state: JobState) -> Job {
        Job {
            id: 7,
            kind: JobKind::Harvest,
            repository: Some(1),
            base_url: Some("http://a.example/oai".to_owned()),
            repository_name: None,
            schedule: None,
            metadata_prefix: "oai_dc".to_owned(),
            set: None,
            parameters: r#"{"full":true,"from":null,"within":[]}"#.to_owned(),
            state,
            priority: 0,
            run_at: 900,
            attempt: 1,
            max_attempts: 5,
            exclusive: None,
            host: None,
            needs: Vec::new(),
            put_off: None,
            worker: None,
            cancel_requested: false,
            progress: JobProgress {
                done: 500,
                total: Some(1500),
                note: None,
                activity: None,
            },
            error: None,
            created: 800,
            created_by: None,
            started: Some(1000),
            finished: None,
            harvest: None,
            import: None,
        }
    }

    #[test]
    fn tells_how_fast_it_is_and_what_is_left() {
        let line = JobLine::new(job(JobState::Running), 1100);
        assert_eq!(line.rate().as_deref(), Some("5.0"));
        assert_eq!(line.left(), Some(200));
    }

    #[test]
    fn a_clock_that_was_set_back_does_no_harm() {
        let line = JobLine::new(job(JobState::Running), 500);
        assert_eq!(line.lasted(), Some(0));
        assert_eq!(line.rate(), None);
        assert_eq!(line.left(), None);
    }

    #[test]
    fn says_that_it_stops_only_while_it_runs() {
        let mut stopped = job(JobState::Running);
        stopped.cancel_requested = true;
        assert_eq!(JobLine::new(stopped.clone(), 1100).state(), "stopping");
        stopped.state = JobState::Cancelled;
        let line = JobLine::new(stopped, 1100);
        assert_eq!(line.state(), "cancelled");
    }
}
