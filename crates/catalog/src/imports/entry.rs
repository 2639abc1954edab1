//! Entries of imports, like those of the history, and the records that they skipped.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{ImportCounters, SourcePosition};
use crate::database::conditions::{Conditions, containing};
use crate::database::rows::batch;
use crate::database::{Row, Transaction, Value};
use crate::queue::owner;
use crate::{Catalog, Error};

/// How an import stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportState {
    /// It has begun and not ended, or its process was killed.
    Running,
    /// All of its sources were read.
    Ok,
    /// It came to its end, but something had to be left out.
    Incomplete,
    /// It did not come to its end, and can be gone on with.
    Failed,
    /// Somebody ended it before its end. It can be resumed.
    Cancelled,
}

/// An import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportEntry {
    /// Its number.
    pub id: i64,
    /// The number of the job that it belongs to; a command has none.
    pub job: Option<i64>,
    /// The number of the schedule that it belongs to.
    pub schedule: Option<i64>,
    /// The process that has it, or had it last, in words.
    pub worker: String,
    /// Its parameters: JSON.
    pub parameters: String,
    /// How it stands.
    pub state: ImportState,
    /// When it began, in seconds.
    pub started: i64,
    /// When it ended, in seconds.
    pub ended: Option<i64>,
    /// How often it was begun: more than once if it was gone on with.
    pub attempts: i64,
    /// Its counts.
    pub counters: ImportCounters,
    /// Why it failed or what was left out.
    pub reason: Option<String>,
    /// Whether it skipped or repaired captures that its report tells of.
    pub has_warnings: bool,
    /// How far its sources were read.
    pub sources: Vec<SourcePosition>,
}

/// Which imports are wanted.
#[derive(Debug, Clone)]
pub struct ImportQuery {
    /// Those that stand so.
    pub state: Option<ImportState>,
    /// Those of one job.
    pub job: Option<i64>,
    /// Those of one schedule.
    pub schedule: Option<i64>,
    /// Those that began then or later, in seconds.
    pub since: Option<i64>,
    /// Those that began then or earlier, in seconds.
    pub until: Option<i64>,
    /// Those with this text in their reason.
    pub text: Option<String>,
    /// Those with a smaller number, for the next page.
    pub before: Option<i64>,
    /// How many at most.
    pub limit: u64,
}

/// Something that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportWarning {
    /// The file that it is in.
    pub file: String,
    /// Where in the file, if that is known.
    pub offset: Option<u64>,
    /// The event, in words.
    pub reason: String,
    /// The counter of the import that it is in; empty if none was noted.
    pub kind: String,
}

impl ImportWarning {
    /// The counters of most captures of a crawl. The first captures of each are kept, and listed where they are asked for.
    pub const USUAL: [&str; 2] = ["other_types", "status"];
    /// Captures of such a counter that are kept of an import.
    pub const MOST_USUAL: u64 = 1_000;

    /// Whether it is about a capture of the kind that most of a crawl is.
    pub fn is_usual(&self) -> bool {
        Self::USUAL.contains(&self.kind.as_str())
    }
}

impl Default for ImportQuery {
    fn default() -> Self {
        Self {
            state: None,
            job: None,
            schedule: None,
            since: None,
            until: None,
            text: None,
            before: None,
            limit: 100,
        }
    }
}

impl Catalog {
    /// Imports, the newest first.
    pub async fn imports(&self, query: &ImportQuery) -> Result<Vec<ImportEntry>, Error> {
        let (sql, values) = query.statement();
        let mut transaction = self.database.list().await?;
        let rows = transaction.rows(&sql, values).await?;
        let mut entries: Vec<_> = rows.iter().map(entry).collect::<Result<_, _>>()?;
        add_sources(&mut transaction, &mut entries).await?;
        Ok(entries)
    }

    /// One import.
    pub async fn import(&self, id: i64) -> Result<Option<ImportEntry>, Error> {
        find(&mut self.database.read().await?, id).await
    }

    /// A page of what an import skipped: those behind a number, each with its own. Usual ones are left out.
    pub async fn import_warnings(
        &self,
        import: i64,
        after: i64,
        limit: u64,
    ) -> Result<Vec<(i64, ImportWarning)>, Error> {
        self.import_warnings_of(import, None, after, limit).await
    }

    /// How much an import skipped, of one kind, or all but the usual ones.
    pub async fn count_import_warnings(
        &self,
        import: i64,
        kind: Option<&str>,
    ) -> Result<u64, Error> {
        let of_kind = of_kind(kind, "$2");
        let sql = format!(
            "SELECT count(*) AS number FROM import_warning WHERE import_id = $1 AND {of_kind}"
        );
        let values = [import.into(), kind.unwrap_or_default().into()];
        let row = self.database.list().await?.row(&sql, values).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// A page of what an import skipped, of one kind, or all but the usual ones.
    pub async fn import_warnings_of(
        &self,
        import: i64,
        kind: Option<&str>,
        after: i64,
        limit: u64,
    ) -> Result<Vec<(i64, ImportWarning)>, Error> {
        let of_kind = of_kind(kind, "$4");
        let sql = &format!(
            "SELECT id, file, file_offset, reason, kind FROM import_warning
             WHERE import_id = $1 AND {of_kind} AND id > $2 ORDER BY id LIMIT $3"
        );
        let kind = kind.unwrap_or_default();
        let values = [import.into(), after.into(), limit.into(), kind.into()];
        let rows = self.database.list().await?.rows(sql, values).await?;
        rows.iter()
            .map(|row| Ok((row.integer("id")?, warning(row)?)))
            .collect()
    }
}

/// The condition for one kind, or for all but the usual ones.
fn of_kind(kind: Option<&str>, parameter: &str) -> String {
    match kind {
        Some(_) => format!("kind = {parameter}"),
        None => {
            let [one, other] = ImportWarning::USUAL;
            format!("{parameter} = '' AND kind NOT IN ('{one}', '{other}')")
        }
    }
}

impl ImportQuery {
    fn statement(&self) -> (String, Vec<Value>) {
        let mut conditions = Conditions::default();
        conditions.only("state = $n", self.state.map(ImportState::name));
        conditions.only("job_id = $n", self.job);
        conditions.only("schedule_id = $n", self.schedule);
        conditions.only("started >= $n", self.since);
        conditions.only("started <= $n", self.until);
        conditions.only(
            "lower(reason) LIKE $n ESCAPE '!'",
            self.text.as_deref().map(containing),
        );
        conditions.only("id < $n", self.before);
        conditions.some(SELECT, "ORDER BY id DESC", self.limit)
    }
}

pub(super) const SELECT: &str = "SELECT id, job_id, schedule_id, parameters, state, started, ended, lease_owner, \
     lease_token, keep_versions, counters, reason, reserved, lease_until - {now} AS lease_left, \
     CAST(CASE WHEN EXISTS (SELECT 1 FROM import_warning WHERE import_warning.import_id = import.id \
     AND import_warning.kind NOT IN ('other_types', 'status')) THEN 1 ELSE 0 END AS BIGINT) AS has_warnings FROM import";

pub(super) async fn find(
    transaction: &mut Transaction,
    id: i64,
) -> Result<Option<ImportEntry>, Error> {
    let sql = format!("{SELECT} WHERE id = $1");
    let Some(row) = transaction.row(&sql, [id.into()]).await? else {
        return Ok(None);
    };
    let mut entries = [entry(&row)?];
    add_sources(transaction, &mut entries).await?;
    let [entry] = entries;
    Ok(Some(entry))
}

/// The last imports of the runs in `$1`, by their numbers.
pub(crate) async fn entries_of_runs(
    transaction: &mut Transaction,
    runs: [Value; 1],
) -> Result<HashMap<i64, ImportEntry>, Error> {
    let sql = SELECT.replacen("SELECT ", "SELECT run_id, ", 1);
    // The last attempt comes last, and takes the place of the ones before.
    let sql = format!("{sql} WHERE run_id {{integers($1)}} ORDER BY id");
    let mut found = HashMap::new();
    for row in transaction.rows(&sql, runs).await? {
        found.insert(row.integer("run_id")?, entry(&row)?);
    }
    let (runs, mut entries): (Vec<i64>, Vec<ImportEntry>) = found.into_iter().unzip();
    add_sources(transaction, &mut entries).await?;
    Ok(runs.into_iter().zip(entries).collect())
}

/// The number of the run that an import belongs to.
pub(crate) async fn run_of_import(
    transaction: &mut Transaction,
    import: i64,
) -> Result<Option<i64>, Error> {
    let sql = "SELECT run_id FROM import WHERE id = $1";
    let row = transaction.row(sql, [import.into()]).await?;
    row.map(|row| row.integer("run_id")).transpose()
}

fn entry(row: &Row) -> Result<ImportEntry, Error> {
    Ok(ImportEntry {
        id: row.integer("id")?,
        job: row.maybe_integer("job_id")?,
        schedule: row.maybe_integer("schedule_id")?,
        worker: owner::described(&row.text("lease_owner")?),
        parameters: row.text("parameters")?,
        state: ImportState::parse(&row.text("state")?),
        started: row.integer("started")?,
        ended: row.maybe_integer("ended")?,
        attempts: row.integer("lease_token")?,
        counters: serde_json::from_str(&row.text("counters")?).unwrap_or_default(),
        reason: row.maybe_text("reason")?,
        has_warnings: row.flag("has_warnings")?,
        sources: Vec::new(),
    })
}

async fn add_sources(
    transaction: &mut Transaction,
    entries: &mut [ImportEntry],
) -> Result<(), Error> {
    let ids: Vec<_> = entries.iter().map(|entry| (entry.id,)).collect();
    let sql = "SELECT import_id, source, position, done FROM import_source
         WHERE import_id {integers($1)} ORDER BY import_id, number";
    for row in transaction.rows(sql, [batch(&ids)]).await? {
        let import = row.integer("import_id")?;
        let source = SourcePosition {
            source: row.text("source")?,
            position: row.count("position")?,
            done: row.flag("done")?,
        };
        let entry = entries.iter_mut().find(|entry| entry.id == import);
        entry
            .into_iter()
            .for_each(|entry| entry.sources.push(source.clone()));
    }
    Ok(())
}

fn warning(row: &Row) -> Result<ImportWarning, Error> {
    let offset = row.maybe_integer("file_offset")?;
    Ok(ImportWarning {
        file: row.text("file")?,
        offset: offset.and_then(|offset| offset.try_into().ok()),
        reason: row.text("reason")?,
        kind: row.text("kind")?,
    })
}

impl ImportState {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::Running,
        Self::Ok,
        Self::Incomplete,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ok => "ok",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    fn parse(name: &str) -> Self {
        let found = Self::ALL.into_iter().find(|state| state.name() == name);
        found.unwrap_or(Self::Failed)
    }
}
