//! Failures of runs, grouped by their cause: forty repositories behind one broken proxy are one thing to look at.

use std::collections::HashMap;
use std::sync::LazyLock;

use catalog::{JobKind, JobQuery, JobState};
use regex::Regex;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{Context, Refusal, Time};

/// Runs that failed for one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailureGroup {
    /// The reason without what differs from run to run: addresses and long numbers are `…`.
    pub cause: String,
    /// The reason of the last one, in full.
    pub reason: String,
    /// How many runs failed.
    pub count: u64,
    /// How many repositories they are about.
    pub repositories: u64,
    /// When the first of them failed.
    pub first: Time,
    /// When the last of them failed.
    pub last: Time,
    /// The last runs, the latest first.
    pub runs: Vec<FailedRun>,
}

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailedRun {
    /// Its number.
    pub id: i64,
    /// `harvest`, `hook`, `import` or `classify`.
    #[schema(value_type = String, example = "harvest")]
    pub kind: JobKind,
    /// The number of its repository.
    pub repository: Option<i64>,
    /// The name of the repository, or else its base URL.
    pub repository_name: Option<String>,
    /// When it failed.
    pub at: Time,
}

/// The groups of recent failures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Failures {
    /// The groups, the one that failed last first.
    pub groups: Vec<FailureGroup>,
    /// How many runs failed in all of them.
    pub count: u64,
    /// Whether only the latest failures were looked at.
    pub is_cut: bool,
}

/// The failures of the last seven days, by their causes.
pub async fn recent(context: &Context) -> Result<Failures, Refusal> {
    let catalog = context.catalog();
    let since = catalog.now().await? - RECENT;
    let query = JobQuery {
        states: vec![JobState::Failed],
        limit: MAX_FAILURES + 1,
        ..JobQuery::default()
    };
    let mut jobs = catalog.jobs(&query).await?;
    let is_cut = jobs.len() as u64 > MAX_FAILURES;
    jobs.retain(|job| job.finished.is_some_and(|finished| finished >= since));
    let failed = jobs.into_iter().map(|job| {
        let name = job.repository_name.filter(|name| !name.is_empty());
        let run = FailedRun {
            id: job.id,
            kind: job.kind,
            repository: job.repository,
            repository_name: name.or(job.base_url),
            at: Time(job.finished.unwrap_or(job.run_at)),
        };
        (run, job.error.unwrap_or_default())
    });
    Ok(group(failed, is_cut))
}

/// Groups runs by the causes of their failures. Each comes with its reason.
pub fn group(failed: impl IntoIterator<Item = (FailedRun, String)>, is_cut: bool) -> Failures {
    let mut groups: HashMap<String, (FailureGroup, Vec<i64>)> = HashMap::new();
    let mut count = 0;
    for (run, reason) in failed {
        count += 1;
        let cause = cause(&reason);
        let (group, repositories) = groups.entry(cause.clone()).or_insert_with(|| {
            let group = FailureGroup {
                cause,
                reason: String::new(),
                count: 0,
                repositories: 0,
                first: run.at,
                last: run.at,
                runs: Vec::new(),
            };
            (group, Vec::new())
        });
        if group.count == 0 || run.at >= group.last {
            group.reason = reason;
        }
        group.count += 1;
        group.first = group.first.min(run.at);
        group.last = group.last.max(run.at);
        repositories.extend(run.repository);
        group.runs.push(run);
    }
    let finish = |(mut group, mut repositories): (FailureGroup, Vec<i64>)| {
        repositories.sort_unstable();
        repositories.dedup();
        group.repositories = repositories.len() as u64;
        group
            .runs
            .sort_by_key(|run| std::cmp::Reverse((run.at, run.id)));
        group.runs.truncate(SHOWN_RUNS);
        group
    };
    let mut groups: Vec<_> = groups.into_values().map(finish).collect();
    groups.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.cause.cmp(&b.cause)));
    Failures {
        groups,
        count,
        is_cut,
    }
}

/// The part of a reason that runs with the same cause share.
fn cause(reason: &str) -> String {
    let reason = reason.lines().next().unwrap_or_default();
    let cause = VARYING.replace_all(reason, "…");
    let cause = REPEATED.replace_all(&cause, "…");
    let cause = cause.replace(" (…)", "");
    let cause = cause.trim_matches(|c: char| c.is_whitespace() || ":…,;".contains(c));
    match cause {
        "" => "no reason is known".to_owned(),
        cause => cause.chars().take(MAX_CAUSE).collect(),
    }
}

/// Addresses, paths, numbers of four digits and more, and numbers with points or colons in them.
static VARYING: LazyLock<Regex> = LazyLock::new(|| {
    let varying = r#"(?x)
        [a-z][a-z0-9+.-]*://[^\s`'"<>()]*[^\s`'"<>().,;:]
        | (?:^|\s|[`'"(])(?:/[^\s/`'"]+){2,}
        | \b\d+(?:[.:-]\d+)+\b
        | \b\d{4,}\b
    "#;
    Regex::new(varying).expect("the expression is well formed")
});
static REPEATED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("…(?:[^…a-zA-Z]{0,3}…)+").expect("the expression is well formed"));
const RECENT: i64 = 7 * 86_400;
/// More than these are not read: the latest say what goes on.
const MAX_FAILURES: u64 = 2000;
const SHOWN_RUNS: usize = 5;
const MAX_CAUSE: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: i64, repository: i64, at: i64) -> FailedRun {
        FailedRun {
            id,
            kind: JobKind::Harvest,
            repository: Some(repository),
            repository_name: None,
            at: Time(at),
        }
    }

    #[test]
    fn a_cause_has_no_addresses_and_no_long_numbers() {
        for (reason, expected) in [
            (
                "http://a.example:8080/oai?verb=ListRecords: the server answers 503 Service Unavailable",
                "the server answers 503 Service Unavailable",
            ),
            (
                "record 123456 of http://b.example/oai cannot be read",
                "record … of … cannot be read",
            ),
            (
                "connection to 10.0.0.17:443 refused",
                "connection to … refused",
            ),
            (
                "it answers with a web page (http://a.example/oai?verb=Identify)",
                "it answers with a web page",
            ),
            ("no space left in /srv/garner/data", "no space left in"),
            ("", "no reason is known"),
            ("one line\nand another", "one line"),
        ] {
            assert_eq!(cause(reason), expected, "{reason}");
        }
    }

    #[test]
    fn failures_are_grouped_with_their_first_and_last_time() {
        let at = |host: &str| format!("http://{host}/oai: it answers with a web page");
        let failed = [
            (run(4, 2, 400), at("b.example")),
            (run(3, 1, 300), "nobody is there".to_owned()),
            (run(2, 1, 200), at("a.example")),
            (run(1, 1, 100), at("a.example")),
        ];

        let failures = group(failed, false);

        assert_eq!(failures.count, 4);
        let [pages, nobody] = &failures.groups[..] else {
            panic!("{failures:#?}");
        };
        assert_eq!(pages.cause, "it answers with a web page");
        assert_eq!(pages.reason, at("b.example"));
        assert_eq!((pages.count, pages.repositories), (3, 2));
        assert_eq!((pages.first, pages.last), (Time(100), Time(400)));
        let runs: Vec<_> = pages.runs.iter().map(|run| run.id).collect();
        assert_eq!(runs, [4, 2, 1]);
        assert_eq!(nobody.count, 1);
    }
}
