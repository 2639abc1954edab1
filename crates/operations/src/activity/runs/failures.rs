//! Failures grouped by their cause: how many runs failed alike, where, since when, and until when.

use std::collections::{BTreeSet, HashMap};

use catalog::JobKind;
use serde::Serialize;
use utoipa::ToSchema;

use super::acknowledge::{Acknowledged, note};
use crate::{Context, Refusal, Time};

/// Failures of the last days without a later run of the same that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailuresByCause {
    /// The groups, the one with the latest failure first.
    pub groups: Vec<FailureCause>,
    /// How many runs failed, in all groups.
    pub count: u64,
    /// Whether there are more failures than were looked at.
    pub is_cut: bool,
}

/// Runs that failed for the same cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailureCause {
    /// The cause: the reason without addresses and numbers. It names the group.
    pub cause: String,
    /// The reason of the latest of them, in full.
    pub example: String,
    /// How many runs failed so.
    pub count: u64,
    /// How many repositories, schedules or imports they are about.
    pub targets: u64,
    /// The names of some of the repositories.
    pub names: Vec<String>,
    /// When the first of them failed.
    pub first: Time,
    /// When the last of them failed.
    pub last: Time,
    /// The last of them, at most 20.
    pub runs: Vec<FailureOfCause>,
    /// How many of the targets can be retried.
    pub retryable: u64,
    /// That somebody has taken note of it, so that the overview leaves it out.
    pub acknowledged: Option<Acknowledged>,
}

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailureOfCause {
    /// Its number.
    pub id: i64,
    /// `harvest`, `import`, `hook`, `classify` or `quiet`.
    #[schema(value_type = String)]
    pub kind: JobKind,
    /// The number of its repository.
    pub repository: Option<i64>,
    /// The name of its repository.
    pub repository_name: Option<String>,
    /// When it failed.
    pub at: Time,
}

/// Failures of the last `days` by their causes.
pub async fn failures(context: &Context, days: u32) -> Result<FailuresByCause, Refusal> {
    let failed = context.catalog().failed_runs(seconds(days), MOST).await?;
    let mut groups: Vec<FailureCause> = Vec::new();
    let mut targets: Vec<BTreeSet<String>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for run in failed.runs {
        let cause = cause(&run.reason);
        let at = *known.entry(cause.clone()).or_insert_with(|| {
            targets.push(BTreeSet::new());
            groups.push(FailureCause {
                cause,
                example: run.reason.clone(),
                count: 0,
                targets: 0,
                names: Vec::new(),
                first: Time(run.at),
                last: Time(run.at),
                runs: Vec::new(),
                retryable: 0,
                acknowledged: None,
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.count += 1;
        group.first = group.first.min(Time(run.at));
        if targets[at].insert(target(&run)) {
            group.targets += 1;
            group.retryable += u64::from(run.is_job);
            let name = run.repository_name.as_ref();
            group.names.extend(
                name.filter(|name| group.names.len() < NAMES && !group.names.contains(*name))
                    .cloned(),
            );
        }
        if group.runs.len() < SHOWN {
            group.runs.push(FailureOfCause {
                id: run.id,
                kind: run.kind,
                repository: run.repository,
                repository_name: run.repository_name,
                at: Time(run.at),
            });
        }
    }
    let mut failures = FailuresByCause {
        count: groups.iter().map(|group| group.count).sum(),
        groups,
        is_cut: failed.is_cut,
    };
    note(context, &mut failures).await?;
    Ok(failures)
}

/// The failures of the last days that nobody has taken note of, and how many groups somebody has.
pub(crate) async fn open_failures(
    context: &Context,
    days: u32,
) -> Result<(FailuresByCause, u64), Refusal> {
    let mut failures = failures(context, days).await?;
    let all = failures.groups.len() as u64;
    failures.groups.retain(|group| group.acknowledged.is_none());
    failures.count = failures.groups.iter().map(|group| group.count).sum();
    let acknowledged = all - failures.groups.len() as u64;
    Ok((failures, acknowledged))
}

/// The runs of one cause, the latest first; `None` for all causes.
pub async fn runs_of_cause(
    context: &Context,
    days: u32,
    wanted: Option<&str>,
) -> Result<Vec<catalog::FailedRun>, Refusal> {
    let failed = context.catalog().failed_runs(seconds(days), MOST).await?;
    let mut runs = failed.runs;
    runs.retain(|run| wanted.is_none_or(|wanted| cause(&run.reason) == wanted));
    Ok(runs)
}

/// The target that runs share.
pub(super) fn target(run: &catalog::FailedRun) -> String {
    match (run.schedule, run.repository) {
        (Some(schedule), _) => format!("schedule {schedule}"),
        (None, Some(repository)) => format!("repository {repository} {}", run.target),
        (None, None) => format!("{} {}", run.kind.name(), run.id),
    }
}

fn seconds(days: u32) -> i64 {
    i64::from(days) * 86_400
}

/// The cause in a reason: without what stands in parentheses or backticks, without addresses, and without numbers but for
/// the status of an answer.
pub(super) fn cause(reason: &str) -> String {
    let mut plain = String::with_capacity(reason.len());
    let (mut depth, mut is_quoted) = (0_u32, false);
    for letter in reason.chars() {
        match letter {
            '`' => {
                is_quoted = !is_quoted;
                if is_quoted {
                    plain.push('…');
                }
            }
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted && depth > 0 => depth -= 1,
            _ if is_quoted || depth > 0 => {}
            letter => plain.push(letter),
        }
    }
    let mut words: Vec<String> = Vec::new();
    for word in plain.split_whitespace() {
        let is_status = words.last().is_some_and(|before| before == "answers");
        let is_address = word.contains("://");
        let has_digits = word.chars().any(|letter| letter.is_ascii_digit());
        words.push(match (is_address, has_digits && !is_status) {
            (true, _) => "…".to_owned(),
            (false, true) => numberless(word),
            (false, false) => word.to_owned(),
        });
    }
    // An address at its beginning says where, and not why.
    if words.len() > 1 && words[0] == "…" {
        words.remove(0);
    }
    let mut cause = words.join(" ");
    while cause.ends_with([';', ',', ':', ' ']) {
        cause.pop();
    }
    if cause.is_empty() {
        return "no reason is known".to_owned();
    }
    cause.truncate(cause.floor_char_boundary(LONGEST));
    cause
}

fn numberless(word: &str) -> String {
    let mut text = String::new();
    for letter in word.chars() {
        match letter.is_ascii_digit() {
            true if text.ends_with('N') => {}
            true => text.push('N'),
            false => text.push(letter),
        }
    }
    text
}

/// As many failures are looked at.
const MOST: u64 = 5000;
const SHOWN: usize = 20;
const NAMES: usize = 5;
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_cause_at_two_servers_is_one() {
        for (reason, expected) in [
            (
                "the repository cannot be reached: the server answers 503 Service Unavailable (6 attempts over 62 s) \
                 (http://a.example/oai?verb=ListRecords)",
                "the repository cannot be reached: the server answers 503 Service Unavailable",
            ),
            (
                "unknown metadata prefix `marc`; this repository offers oai_dc",
                "unknown metadata prefix …; this repository offers oai_dc",
            ),
            (
                "its answer ends in the middle, at byte 4711",
                "its answer ends in the middle, at byte N",
            ),
            (
                "http://a.example/oai: the server answers 503",
                "the server answers 503",
            ),
            ("", "no reason is known"),
        ] {
            assert_eq!(cause(reason), expected);
        }
    }
}
