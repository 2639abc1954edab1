//! Lists of runs, the newest first; those that wait in the order of their times.
//!
//! A run is in up to three tables. Each is asked for the numbers of a page along an index of its own, and the page is put
//! together from these: however many runs there are, no more rows are read.

use super::load::load;
use super::sorted::{RunOrder, sorted};
use super::{RunRow, RunState};
use crate::database::conditions::{Conditions, containing};
use crate::database::rows::batch;
use crate::database::{Transaction, Value};
use crate::{Catalog, Error, JobKind};

/// Which runs are wanted.
#[derive(Debug, Clone)]
pub struct RunQuery {
    /// Those in one of these states; all if none is named.
    pub states: Vec<RunState>,
    /// Those of these kinds; all if none is named.
    pub kinds: Vec<JobKind>,
    /// Those about one repository.
    pub repository: Option<i64>,
    /// Those of one schedule.
    pub schedule: Option<i64>,
    /// Those that began then or later, in seconds.
    pub since: Option<i64>,
    /// Those that began then or earlier, in seconds.
    pub until: Option<i64>,
    /// Those with this text in the name or URL of their repository, in their sources, or in the reason of a failure.
    pub text: Option<String>,
    /// Those with a smaller number, for the next page.
    pub before: Option<i64>,
    /// The order, if it is not that of their numbers.
    pub order: Option<RunOrder>,
    /// Whether the largest come first in that order.
    pub descending: bool,
    /// How many are skipped, where they are not in the order of their numbers: those that wait, and those with an order.
    pub offset: u64,
    /// How many at most.
    pub limit: u64,
}

impl Default for RunQuery {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            kinds: Vec::new(),
            repository: None,
            schedule: None,
            since: None,
            until: None,
            text: None,
            before: None,
            order: None,
            descending: false,
            offset: 0,
            limit: 100,
        }
    }
}

/// A table with runs, and what its columns are called.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) from: &'static str,
    pub(super) id: &'static str,
    kind: Option<JobKind>,
    pub(super) started: &'static str,
    texts: &'static str,
    pub(super) has_repository: bool,
}

const JOBS: Source = Source {
    from: "job",
    id: "job.id",
    kind: None,
    started: "COALESCE(job.started, job.finished, job.created)",
    texts: "lower(job.error) LIKE $n ESCAPE '!' OR (job.kind = 'import' AND lower(job.parameters) LIKE $n ESCAPE '!')",
    has_repository: true,
};
const HARVESTS: Source = Source {
    from: "history",
    id: "history.run_id",
    kind: Some(JobKind::Harvest),
    started: "history.started",
    texts: "lower(history.failure_reason) LIKE $n ESCAPE '!'",
    has_repository: true,
};
const IMPORTS: Source = Source {
    from: "import",
    id: "import.run_id",
    kind: Some(JobKind::Import),
    started: "import.started",
    texts: "lower(import.reason) LIKE $n ESCAPE '!' OR lower(import.parameters) LIKE $n ESCAPE '!'",
    has_repository: false,
};
/// Those of commands, and those whose jobs are removed.
const ALONE: &str = "job_id IS NULL";

impl Catalog {
    /// Runs, the newest first. Those that wait are in the order of their times if no others are asked for.
    ///
    /// Gives the number of the last one that was looked at too, if there may be more behind it.
    pub async fn runs(&self, query: &RunQuery) -> Result<(Vec<RunRow>, Option<i64>), Error> {
        let mut transaction = self.database.list().await?;
        if let Some(order) = query.order {
            return sorted(&mut transaction, query, order).await;
        }
        if query.states == [RunState::Queued] {
            return queued(&mut transaction, query).await;
        }
        let mut ids = Vec::new();
        for (source, condition) in query.parts() {
            let (sql, values) = source.statement(query, &condition);
            for row in transaction.rows(&sql, values).await? {
                ids.push(row.integer("number")?);
            }
        }
        ids.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        ids.dedup();
        let most = usize::try_from(query.limit).unwrap_or(usize::MAX);
        let is_more = ids.len() > most;
        ids.truncate(most);
        let next = ids.last().copied().filter(|_| is_more);
        let mut runs = load(&mut transaction, &ids).await?;
        // An earlier attempt may have ended in another way than the last one.
        runs.retain(|run| query.wants(run.state()));
        Ok((runs, next))
    }

    /// How many runs wait.
    pub async fn count_queued(&self) -> Result<u64, Error> {
        let sql = "SELECT count(*) AS number FROM job WHERE state = 'scheduled'";
        let row = self.database.list().await?.row(sql, []).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }
}

async fn queued(
    transaction: &mut Transaction,
    query: &RunQuery,
) -> Result<(Vec<RunRow>, Option<i64>), Error> {
    let (sql, values) = JOBS.conditions(query, "job.state = 'scheduled'").all(
        "SELECT job.id AS number FROM job",
        &format!(
            "ORDER BY job.run_at, job.id LIMIT {} OFFSET {}",
            query.limit.saturating_add(1).min(1 << 40),
            query.offset.min(1 << 40)
        ),
    );
    let mut ids = Vec::new();
    for row in transaction.rows(&sql, values).await? {
        ids.push(row.integer("number")?);
    }
    let most = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let is_more = ids.len() > most;
    ids.truncate(most);
    let next = ids.last().copied().filter(|_| is_more);
    Ok((load(transaction, &ids).await?, next))
}

impl RunQuery {
    pub(super) fn wants(&self, state: RunState) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }

    /// The tables that are asked, and how each state is found there.
    pub(super) fn parts(&self) -> Vec<(Source, String)> {
        let mut parts = Vec::new();
        let wants_all_results = self.wants(RunState::Ok) && self.wants(RunState::Incomplete);
        for state in RunState::ALL.into_iter().filter(|state| self.wants(*state)) {
            let name = state.name();
            let alone = |table: &str| format!("{table}.state = '{name}' AND {table}.{ALONE}");
            let by_result = |table: &str| format!("{table}.state = '{name}'");
            match state {
                RunState::Queued => parts.push((JOBS, "job.state = 'scheduled'".to_owned())),
                RunState::Ok if wants_all_results => {
                    parts.push((JOBS, "job.state = 'finished'".to_owned()));
                    parts.extend([(HARVESTS, alone("history")), (IMPORTS, alone("import"))]);
                }
                RunState::Incomplete if wants_all_results => {
                    parts.extend([(HARVESTS, alone("history")), (IMPORTS, alone("import"))]);
                }
                RunState::Ok => {
                    let others = "job.state = 'finished' AND job.kind NOT IN ('harvest', 'import')";
                    parts.push((JOBS, others.to_owned()));
                    parts.extend([
                        (HARVESTS, by_result("history")),
                        (IMPORTS, by_result("import")),
                    ]);
                }
                RunState::Incomplete => {
                    parts.extend([
                        (HARVESTS, by_result("history")),
                        (IMPORTS, by_result("import")),
                    ]);
                }
                RunState::Running | RunState::Failed | RunState::Cancelled => {
                    parts.push((JOBS, by_result("job")));
                    parts.extend([(HARVESTS, alone("history")), (IMPORTS, alone("import"))]);
                }
            }
        }
        parts.retain(|(source, _)| source.is_asked(self));
        parts
    }
}

impl Source {
    fn is_asked(&self, query: &RunQuery) -> bool {
        let has_kind = |kind| query.kinds.is_empty() || query.kinds.contains(&kind);
        self.kind.is_none_or(has_kind) && (self.has_repository || query.repository.is_none())
    }

    pub(super) fn conditions(&self, query: &RunQuery, condition: &str) -> Conditions {
        let Self { from, id, .. } = self;
        let mut conditions = Conditions::default();
        conditions.always(condition);
        conditions.only(&format!("{from}.repository_id = $n"), query.repository);
        conditions.only(&format!("{from}.schedule_id = $n"), query.schedule);
        conditions.only(&format!("{} >= $n", self.started), query.since);
        conditions.only(&format!("{} <= $n", self.started), query.until);
        conditions.only(&format!("{id} < $n"), query.before);
        if self.kind.is_none() && !query.kinds.is_empty() {
            let kinds: Vec<_> = query.kinds.iter().map(|kind| (kind.name(),)).collect();
            let kinds = conditions.parameter(batch(&kinds));
            conditions.always(&format!("job.kind {{texts({kinds})}}"));
        }
        let texts = match self.has_repository {
            true => format!(
                "({} OR {from}.repository_id IN (SELECT repository.id FROM repository
                     WHERE lower(repository.name) LIKE $n ESCAPE '!' OR lower(repository.base_url) LIKE $n ESCAPE '!'))",
                self.texts
            ),
            false => format!("({})", self.texts),
        };
        conditions.only(&texts, query.text.as_deref().map(containing));
        conditions
    }

    fn statement(&self, query: &RunQuery, condition: &str) -> (String, Vec<Value>) {
        let (from, id) = (self.from, self.id);
        self.conditions(query, condition).some(
            &format!("SELECT {id} AS number FROM {from}"),
            &format!("ORDER BY {id} DESC"),
            query.limit.saturating_add(1),
        )
    }
}
