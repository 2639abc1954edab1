//! Why nothing moves: what holds a job that waits, and what one that runs does and waits for.

use catalog::{JobKind, JobState, QueueStanding, Worker};
use serde::Serialize;
use utoipa::ToSchema;

use super::Job;
use crate::{Context, Refusal, Time};

/// Why a job that waits has not begun, or what one that runs does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Why {
    /// The reason.
    pub code: WhyCode,
    /// The reason in words, as of now.
    pub text: String,
    /// The jobs that it waits for.
    pub jobs: Vec<i64>,
    /// When it goes on, if that is known.
    pub until: Option<Time>,
    /// Whether somebody should look at it: it is stuck or failing, or nobody can run it.
    pub is_trouble: bool,
}

/// The reason why a job that waits has not begun, or the state of one that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhyCode {
    /// It is due later.
    NotDue,
    /// It failed, and is tried again later.
    Retry,
    /// It was put back into the queue without having failed: the server asked to wait, or a store is away.
    PutOff,
    /// The repository is kept quiet.
    Quiet,
    /// Another harvest of the same repository runs.
    RepositoryBusy,
    /// All slots of its host are in use.
    HostLimit,
    /// No worker is alive that runs such jobs.
    NoWorker,
    /// No worker is alive that has the tags that it needs.
    NoTag,
    /// All workers are busy.
    WorkersBusy,
    /// A worker takes it next.
    Next,
    /// It runs.
    Working,
    /// It runs, and waits for the next attempt at a request.
    Waiting,
    /// It runs, and was asked to stop.
    Stopping,
}

/// The last activity of a running job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JobActivity {
    /// The current step.
    pub step: Option<String>,
    /// The last request.
    pub request: Option<String>,
    /// When it was sent.
    pub requested: Option<Time>,
    /// The answer to that request, or why there was none; absent while it is awaited.
    pub answer: Option<String>,
    /// When it came.
    pub answered: Option<Time>,
    /// Why the last attempt that failed did so, whichever request it was.
    pub refusal: Option<String>,
    /// When it failed.
    pub refused: Option<Time>,
    /// How many attempts failed since the last page of a list that could be read as a whole.
    pub refusals: u64,
    /// How many attempts failed since the job was begun.
    pub all_refusals: u64,
    /// When the next attempt is made.
    pub next_attempt: Option<Time>,
}

impl JobActivity {
    /// The last request with its answer, if there was a request.
    pub fn request_in_words(&self) -> Option<String> {
        let request = self.request.as_ref()?;
        let answer = self.answer.as_deref().unwrap_or("no answer yet");
        Some(format!("{request} → {answer}"))
    }
}

impl From<catalog::Activity> for JobActivity {
    fn from(activity: catalog::Activity) -> Self {
        Self {
            step: activity.step,
            request: activity.request,
            requested: activity.requested.map(Time),
            answer: activity.answer,
            answered: activity.answered.map(Time),
            refusal: activity.refusal,
            refused: activity.refused.map(Time),
            refusals: activity.refusals,
            all_refusals: activity.all_refusals,
            next_attempt: activity.next_attempt.map(Time),
        }
    }
}

/// Jobs with their reasons. The queue is only looked at if one of them waits or runs.
pub async fn explained(context: &Context, jobs: Vec<catalog::Job>) -> Result<Vec<Job>, Refusal> {
    if jobs.iter().all(|job| job.state.is_over()) {
        return Ok(jobs.into_iter().map(Job::from).collect());
    }
    let standing = context.catalog().queue_standing().await?;
    let explain = |job: catalog::Job| {
        let why = why(&job, &standing);
        Job {
            why,
            ..Job::from(job)
        }
    };
    Ok(jobs.into_iter().map(explain).collect())
}

/// The reason of one job, as the queue stands.
pub fn why(job: &catalog::Job, standing: &QueueStanding) -> Option<Why> {
    match job.state {
        JobState::Scheduled => Some(waiting(job, standing)),
        JobState::Running => Some(working(job, standing.now)),
        _ => None,
    }
}

fn waiting(job: &catalog::Job, standing: &QueueStanding) -> Why {
    let now = standing.now;
    if job.run_at > now {
        return later(job, now);
    }
    let late = match now - job.run_at {
        seconds if seconds < LATE => String::new(),
        seconds => format!("Overdue by {}: ", span(seconds)),
    };
    let held = |code, text: String, jobs| Why {
        code,
        text: sentence(format!("{late}{text}")),
        jobs,
        until: None,
        is_trouble: matches!(code, WhyCode::NoWorker | WhyCode::NoTag)
            || now - job.run_at >= TROUBLE,
    };
    let same = |key: &&str| {
        standing
            .running
            .iter()
            .find(|other| other.exclusive.as_deref() == Some(*key))
    };
    if let Some(other) = job.exclusive.as_deref().as_ref().and_then(same) {
        let (id, doing, holder) = (other.id, &other.doing, &other.holder);
        return match other.kind {
            JobKind::Quiet => {
                let text = format!("the repository is {doing}, by {holder}");
                held(WhyCode::Quiet, text, vec![id])
            }
            _ => {
                let text = format!("waiting for run {id}: the repository is {doing}");
                held(WhyCode::RepositoryBusy, text, vec![id])
            }
        };
    }
    let command = standing
        .commands
        .iter()
        .find(|command| job.exclusive.is_some() && job.repository == Some(command.repository));
    if let Some(command) = command {
        let text = format!(
            "waiting for harvest {} of {}",
            command.harvest, command.holder
        );
        return held(WhyCode::RepositoryBusy, text, Vec::new());
    }
    let runs_kind = |worker: &&Worker| worker.kinds.contains(&job.kind);
    let has_tags = |worker: &&Worker| job.needs.iter().all(|tag| worker.tags.contains(tag));
    let mut workers = standing.workers.iter().filter(runs_kind).peekable();
    let is_any = workers.peek().is_some();
    let threads: u64 = workers.filter(has_tags).map(|worker| worker.threads).sum();
    if threads == 0 && is_any {
        let text = format!(
            "no worker is alive that has what it needs: {}; start garner worker --tags {}",
            job.needs.join(", "),
            job.needs.join(",")
        );
        return held(WhyCode::NoTag, text, Vec::new());
    }
    if threads == 0 {
        let text = format!(
            "no worker is alive that runs {}; start garner up or garner worker",
            several(job.kind)
        );
        return held(WhyCode::NoWorker, text, Vec::new());
    }
    if let Some(host) = &job.host
        && standing.per_host > 0
    {
        let at_host = standing
            .running
            .iter()
            .filter(|other| other.host.as_ref() == Some(host));
        let jobs: Vec<i64> = at_host.map(|other| other.id).collect();
        if jobs.len() as u64 >= standing.per_host {
            let numbers = numbers(&jobs);
            let text = format!(
                "waiting for a slot at {host} ({} of {} in use by {numbers})",
                jobs.len(),
                standing.per_host
            );
            return held(WhyCode::HostLimit, text, jobs);
        }
    }
    let busy = standing
        .running
        .iter()
        .filter(|other| other.kind != JobKind::Quiet)
        .count() as u64;
    match busy >= threads {
        true => held(
            WhyCode::WorkersBusy,
            format!("all {threads} workers are busy"),
            Vec::new(),
        ),
        false => held(
            WhyCode::Next,
            "a worker takes it next".to_owned(),
            Vec::new(),
        ),
    }
}

/// Why a job is not due yet.
fn later(job: &catalog::Job, now: i64) -> Why {
    let wait = span(job.run_at - now);
    let (code, text) = match (&job.put_off, &job.error) {
        (Some(reason), _) => (WhyCode::PutOff, format!("Put off for {wait}: {reason}")),
        (None, Some(error)) => {
            let (next, most) = (job.attempt + 1, job.max_attempts);
            (
                WhyCode::Retry,
                format!("Attempt {next} of {most} in {wait}. The last one failed: {error}"),
            )
        }
        (None, None) => (WhyCode::NotDue, format!("Due in {wait}")),
    };
    Why {
        code,
        text,
        jobs: Vec::new(),
        until: Some(Time(job.run_at)),
        is_trouble: code != WhyCode::NotDue,
    }
}

fn working(job: &catalog::Job, now: i64) -> Why {
    let activity = job.progress.activity.clone().unwrap_or_default();
    let mut sentences = Vec::new();
    let mut is_trouble = false;
    if activity.refusals > 0 {
        let reason = activity.refusal.as_deref().or(activity.answer.as_deref());
        let ago = span(now - activity.refused.or(activity.answered).unwrap_or(now));
        let times = match activity.refusals {
            1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        let reason = capital(reason.unwrap_or("no answer"));
        sentences.push(format!("{reason} ({times}, last {ago} ago)"));
        is_trouble = activity.refusals >= REFUSED;
    }
    if let Some((silence, seconds)) = silence(&activity, now) {
        sentences.push(silence);
        is_trouble |= seconds >= TROUBLE;
    }
    let next = activity.next_attempt.filter(|next| *next > now);
    if let Some(next) = next {
        sentences.push(format!("Next attempt in {}", span(next - now)));
    }
    sentences.extend(activity.step.as_deref().map(capital));
    if sentences.is_empty() {
        let since = span(now - job.started.unwrap_or(now));
        let doing = match job.kind {
            JobKind::Quiet => "Kept quiet",
            _ => "Running",
        };
        sentences.push(match &job.worker {
            Some(worker) => format!("{doing} for {since}, by {worker}"),
            None => format!("{doing} for {since}"),
        });
    }
    let code = match next {
        _ if job.cancel_requested => WhyCode::Stopping,
        Some(_) => WhyCode::Waiting,
        None => WhyCode::Working,
    };
    if code == WhyCode::Stopping {
        sentences.insert(0, "Asked to stop".to_owned());
    }
    Why {
        code,
        text: sentences.join(". "),
        jobs: Vec::new(),
        until: next.map(Time),
        is_trouble,
    }
}

/// The answer that an activity waits for, if the wait is long enough to be told, and its seconds.
fn silence(activity: &catalog::Activity, now: i64) -> Option<(String, i64)> {
    let request = subject(activity.request.as_deref()?);
    let (verb, since) = match activity.answered {
        None => ("Waiting for an answer to", activity.requested?),
        Some(answered) if activity.is_reading => ("Reading the answer to", answered),
        Some(_) => return None,
    };
    let seconds = now - since;
    let is_long = seconds >= SILENT && activity.next_attempt.is_none();
    is_long.then(|| (format!("{verb} {request} for {}", span(seconds)), seconds))
}

/// A request in a word: its verb, or else its URL.
fn subject(request: &str) -> &str {
    let query = request.split_once('?').map_or("", |(_, query)| query);
    let mut arguments = query.split(['&', ' ']);
    let verb = arguments.find_map(|argument| argument.strip_prefix("verb="));
    verb.filter(|verb| !verb.is_empty()).unwrap_or(request)
}

fn several(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Harvest => "harvests",
        JobKind::Hook => "hooks",
        JobKind::Import => "imports",
        JobKind::Classify => "classifications",
        JobKind::Retrieve => "retrievals",
        JobKind::Feed => "feeds",
        JobKind::Clean => "cleanings",
        JobKind::Quiet => "quiet times",
    }
}

fn numbers(jobs: &[i64]) -> String {
    let numbers: Vec<_> = jobs.iter().map(ToString::to_string).collect();
    match numbers.len() {
        1 => format!("run {}", numbers[0]),
        _ => format!("runs {}", numbers.join(", ")),
    }
}

fn sentence(text: String) -> String {
    capital(&text)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().collect::<String>() + letters.as_str(),
        None => String::new(),
    }
}

/// A time in words, in its greatest unit and the next one if that matters.
pub(crate) fn span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    match (
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    ) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, 0) => format!("{minutes} min"),
        (0, 0, minutes, seconds) if minutes < 10 => format!("{minutes} min {seconds} s"),
        (0, 0, minutes, _) => format!("{minutes} min"),
        (0, hours, 0, _) => format!("{hours} h"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (1, ..) => "1 day".to_owned(),
        (days, ..) => format!("{days} days"),
    }
}

/// A job that is late for less is not called overdue.
const LATE: i64 = 60;
/// A longer wait needs attention.
const TROUBLE: i64 = 600;
/// A server that is silent for longer is worth a word.
const SILENT: i64 = 10;
/// After as many refusals in a row somebody should look.
const REFUSED: u64 = 3;

#[cfg(test)]
mod tests {
    use catalog::{JobAtWork, JobProgress};

    use super::*;

    fn job(state: JobState) -> catalog::Job {
        catalog::Job {
            id: 7,
            kind: JobKind::Harvest,
            repository: Some(1),
            base_url: Some("http://a.example/oai".to_owned()),
            repository_name: None,
            schedule: None,
            metadata_prefix: "oai_dc".to_owned(),
            set: None,
            parameters: "{}".to_owned(),
            state,
            priority: 0,
            run_at: 1000,
            attempt: 1,
            max_attempts: 5,
            exclusive: Some("repository 1".to_owned()),
            host: Some("a.example".to_owned()),
            needs: Vec::new(),
            put_off: None,
            worker: None,
            cancel_requested: false,
            progress: JobProgress::default(),
            error: None,
            created: 900,
            created_by: None,
            started: Some(1000),
            finished: None,
            harvest: None,
            import: None,
        }
    }

    fn at_work(id: i64, kind: JobKind, exclusive: &str, host: &str) -> JobAtWork {
        JobAtWork {
            id,
            kind,
            exclusive: Some(exclusive.to_owned()),
            host: Some(host.to_owned()),
            doing: "being harvested".to_owned(),
            holder: "worker".to_owned(),
        }
    }

    fn standing(running: Vec<JobAtWork>) -> QueueStanding {
        QueueStanding {
            now: 2380,
            per_host: 2,
            running,
            commands: Vec::new(),
            workers: vec![Worker {
                machine: "host".to_owned(),
                version: None,
                jobs: Vec::new(),
                name: "worker".to_owned(),
                kinds: vec![JobKind::Harvest],
                tags: vec!["crawl-store".to_owned()],
                threads: 3,
                started: 0,
                seen: 2380,
            }],
        }
    }

    fn said(job: &catalog::Job, standing: &QueueStanding) -> (WhyCode, String) {
        let why = why(job, standing).unwrap();
        (why.code, why.text)
    }

    #[test]
    fn a_job_that_waits_names_what_holds_it() {
        let due = job(JobState::Scheduled);
        let slots = vec![
            at_work(49, JobKind::Harvest, "repository 2", "a.example"),
            at_work(53, JobKind::Harvest, "repository 3", "a.example"),
        ];
        let (code, text) = said(&due, &standing(slots));
        assert_eq!(code, WhyCode::HostLimit);
        assert_eq!(
            text,
            "Overdue by 23 min: waiting for a slot at a.example (2 of 2 in use by runs 49, 53)"
        );

        let same = vec![at_work(9, JobKind::Harvest, "repository 1", "b.example")];
        assert_eq!(said(&due, &standing(same)).0, WhyCode::RepositoryBusy);
        let quiet = vec![at_work(9, JobKind::Quiet, "repository 1", "b.example")];
        assert_eq!(said(&due, &standing(quiet)).0, WhyCode::Quiet);
        let others = |id| at_work(id, JobKind::Harvest, "repository 4", "b.example");
        let busy = standing(vec![others(1), others(2), others(3)]);
        assert_eq!(said(&due, &busy).0, WhyCode::WorkersBusy);
        let alone = QueueStanding {
            workers: Vec::new(),
            ..standing(Vec::new())
        };
        assert_eq!(said(&due, &alone).0, WhyCode::NoWorker);
        let needing = |tags: &[&str]| catalog::Job {
            needs: tags.iter().map(ToString::to_string).collect(),
            ..due.clone()
        };
        let next = said(&needing(&["crawl-store"]), &standing(Vec::new()));
        assert_eq!(next.0, WhyCode::Next);
        let (code, text) = said(&needing(&["crawl-store", "gpu"]), &standing(Vec::new()));
        assert_eq!(code, WhyCode::NoTag);
        assert!(
            text.ends_with("start garner worker --tags crawl-store,gpu"),
            "{text}"
        );
        assert_eq!(said(&due, &standing(Vec::new())).0, WhyCode::Next);
    }

    #[test]
    fn a_job_that_is_put_off_says_until_when_and_why() {
        let put_off = catalog::Job {
            run_at: 2380 + 2400,
            put_off: Some("the repository asks to wait 40 min".to_owned()),
            ..job(JobState::Scheduled)
        };
        assert_eq!(
            said(&put_off, &standing(Vec::new())),
            (
                WhyCode::PutOff,
                "Put off for 40 min: the repository asks to wait 40 min".to_owned()
            )
        );
    }

    #[test]
    fn a_server_that_is_silent_is_named_with_the_request_it_does_not_answer() {
        let mut running = job(JobState::Running);
        let mut activity = catalog::Activity::default();
        activity.ask(2348, "http://a.example/oai?verb=Identify");
        activity.answer(2348, "200 OK");
        activity.ask(
            2348,
            "http://a.example/oai?verb=ListRecords&metadataPrefix=oai_dc",
        );
        assert_eq!(activity.answer, None);
        running.progress.activity = Some(activity.clone());

        let (code, text) = said(&running, &standing(Vec::new()));
        assert_eq!(code, WhyCode::Working);
        assert_eq!(text, "Waiting for an answer to ListRecords for 32 s");

        activity.answer(2360, "200 OK");
        activity.is_reading = true;
        running.progress.activity = Some(activity);
        let (_, text) = said(&running, &standing(Vec::new()));
        assert_eq!(text, "Reading the answer to ListRecords for 20 s");
    }

    #[test]
    fn a_job_that_runs_tells_of_refusals_and_its_step() {
        let mut running = job(JobState::Running);
        running.progress.activity = Some(catalog::Activity {
            step: Some("narrowing to 1-second spans, step 26 of 28".to_owned()),
            answer: Some("the server answers 503 Service Unavailable".to_owned()),
            answered: Some(2368),
            refusals: 180,
            next_attempt: Some(2420),
            ..catalog::Activity::default()
        });

        let why = why(&running, &standing(Vec::new())).unwrap();

        assert!(why.is_trouble);
        assert_eq!(why.code, WhyCode::Waiting);
        assert_eq!(
            why.text,
            "The server answers 503 Service Unavailable (180 times, last 12 s ago). Next attempt in 40 s. \
             Narrowing to 1-second spans, step 26 of 28"
        );
    }
}
