//! The history: one entry for each harvest, with what it did and what it met.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::database::conditions::{Conditions, containing};
use crate::database::{Row, Value};
use crate::queue::owner;
use crate::{Catalog, Error};

/// How a harvest stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has begun and not ended, or its process was killed.
    Running,
    /// Everything was harvested.
    Ok,
    /// It came to its end, but something had to be left out.
    Incomplete,
    /// It did not come to its end.
    Failed,
    /// Somebody ended it before its end.
    Cancelled,
}

/// The counts of a harvest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Records that were not known.
    pub new: u64,
    /// Records that were known and are different now.
    pub updated: u64,
    /// Records that are as they were.
    pub unchanged: u64,
    /// Records that are deleted now and were not known to be.
    pub deleted: u64,
    /// Records that a filter left out.
    pub filtered: u64,
    /// Records that were mended.
    pub repaired: u64,
    /// Records that were left out because they could not be mended.
    pub skipped: u64,
    /// Records that could not be had.
    pub failed: u64,
    /// HTTP requests.
    pub requests: u64,
    /// Bytes of the answers.
    pub bytes: u64,
}

/// A harvest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryEntry {
    /// Its number.
    pub id: i64,
    /// The number of the repository.
    pub repository: i64,
    /// Where the repository answers.
    pub base_url: String,
    /// The number of the job that it belongs to; a command has none.
    pub job: Option<i64>,
    /// The number of the schedule that it belongs to.
    pub schedule: Option<i64>,
    /// The process that has it, or had it last, in words.
    pub worker: String,
    /// The format that was asked for.
    pub metadata_prefix: String,
    /// The set that was asked for.
    pub set: Option<String>,
    /// Its parameters: JSON.
    pub parameters: String,
    /// How it stands.
    pub state: State,
    /// When it began, in seconds.
    pub started: i64,
    /// When it ended, in seconds.
    pub ended: Option<i64>,
    /// How often it was begun: more than once if it was gone on with.
    pub attempts: i64,
    /// Where to go on if it did not end.
    #[serde(skip)]
    pub resume_state: Option<String>,
    /// The `from` of the next harvest.
    pub next_from: Option<String>,
    /// The counts of a harvest.
    pub counts: Counts,
    /// Why it failed or what was left out.
    pub failure_reason: Option<String>,
    /// The oddities that were tolerated: JSON.
    pub quirks: Option<String>,
}

/// Which entries are wanted.
#[derive(Debug, Clone)]
pub struct HistoryQuery {
    /// Those of one repository.
    pub repository: Option<i64>,
    /// Those that stand so.
    pub state: Option<State>,
    /// Those that began then or later, in seconds.
    pub since: Option<i64>,
    /// Those that began then or earlier, in seconds.
    pub until: Option<i64>,
    /// Those with this text in their reason.
    pub text: Option<String>,
    /// Those of one schedule.
    pub schedule: Option<i64>,
    /// Those of one job.
    pub job: Option<i64>,
    /// Those with a smaller number, for the next page.
    pub before: Option<i64>,
    /// How many at most.
    pub limit: u64,
}

/// Something that was left out or mended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Of which record, if that is known.
    pub identifier: Option<String>,
    /// The event, in words.
    pub reason: String,
    /// Whether something could not be had, and may be another time.
    pub lost: bool,
}

impl Default for HistoryQuery {
    fn default() -> Self {
        Self {
            repository: None,
            state: None,
            since: None,
            until: None,
            text: None,
            schedule: None,
            job: None,
            before: None,
            limit: 100,
        }
    }
}

impl Catalog {
    /// Entries of the history, the newest first.
    pub async fn history(&self, query: &HistoryQuery) -> Result<Vec<HistoryEntry>, Error> {
        let (sql, values) = query.statement();
        let rows = self.database.list().await?.rows(&sql, values).await?;
        rows.iter().map(entry).collect()
    }

    /// One entry of the history.
    pub async fn history_entry(&self, id: i64) -> Result<Option<HistoryEntry>, Error> {
        let sql = format!("{SELECT} WHERE history.id = $1");
        let row = self.database.read().await?.row(&sql, [id.into()]).await?;
        row.as_ref().map(entry).transpose()
    }

    /// The records that a harvest skipped or repaired, in the order it met them.
    pub async fn warnings(&self, run: i64, limit: u64) -> Result<Vec<Warning>, Error> {
        let sql = "SELECT identifier, reason, lost FROM warning WHERE history_id = $1 ORDER BY id LIMIT $2";
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [run.into(), limit.into()]).await?;
        rows.iter().map(warning).collect()
    }

    /// How much a harvest skipped, repaired or lost.
    pub async fn count_warnings(&self, run: i64) -> Result<u64, Error> {
        let sql = "SELECT count(*) AS number FROM warning WHERE history_id = $1";
        let row = self.database.list().await?.row(sql, [run.into()]).await?;
        row.map_or(Ok(0), |row| row.count("number"))
    }

    /// A page of what a harvest skipped, repaired or lost: those behind a number, each with its own.
    pub async fn warnings_after(
        &self,
        run: i64,
        after: i64,
        limit: u64,
    ) -> Result<Vec<(i64, Warning)>, Error> {
        let sql = "SELECT id, identifier, reason, lost FROM warning
             WHERE history_id = $1 AND id > $2 ORDER BY id LIMIT $3";
        let mut transaction = self.database.list().await?;
        let values = [run.into(), after.into(), limit.into()];
        let rows = transaction.rows(sql, values).await?;
        rows.iter()
            .map(|row| Ok((row.integer("id")?, warning(row)?)))
            .collect()
    }

    /// The identifiers of records that a harvest could not have, or not all of.
    pub async fn lost(&self, run: i64, limit: u64) -> Result<Vec<String>, Error> {
        let sql = "SELECT DISTINCT identifier FROM warning
             WHERE history_id = $1 AND lost = 1 AND identifier IS NOT NULL ORDER BY identifier LIMIT $2";
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [run.into(), limit.into()]).await?;
        rows.iter().map(|row| row.text("identifier")).collect()
    }

    /// Removes an entry that is not running from the history; records stay. Tells whether there was one.
    pub async fn remove_history_entry(&self, id: i64) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM history WHERE id = $1 AND state <> 'running'";
        let removed = transaction.execute(sql, [id.into()]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }
}

impl HistoryQuery {
    fn statement(&self) -> (String, Vec<Value>) {
        let mut conditions = Conditions::default();
        conditions.only("history.repository_id = $n", self.repository);
        conditions.only("state = $n", self.state.map(State::name));
        conditions.only("started >= $n", self.since);
        conditions.only("started <= $n", self.until);
        conditions.only(
            "lower(failure_reason) LIKE $n ESCAPE '!'",
            self.text.as_deref().map(containing),
        );
        conditions.only("history.schedule_id = $n", self.schedule);
        conditions.only("history.job_id = $n", self.job);
        conditions.only("history.id < $n", self.before);
        conditions.some(SELECT, "ORDER BY history.id DESC", self.limit)
    }
}

pub(crate) const SELECT: &str = "SELECT history.id, history.repository_id, repository.base_url, history.job_id, \
     history.schedule_id, metadata_prefix, \
     set_spec, parameters, state, started, ended, lease_owner, lease_token, resume_state, next_from, new_records, \
     updated, unchanged, deleted, filtered, repaired, skipped, failed, requests, bytes, failure_reason, quirks, \
     lease_until - {now} AS lease_left \
     FROM history JOIN repository ON repository.id = history.repository_id";

pub(crate) fn entry(row: &Row) -> Result<HistoryEntry, Error> {
    Ok(HistoryEntry {
        id: row.integer("id")?,
        repository: row.integer("repository_id")?,
        base_url: row.text("base_url")?,
        job: row.maybe_integer("job_id")?,
        schedule: row.maybe_integer("schedule_id")?,
        worker: owner::described(&row.text("lease_owner")?),
        metadata_prefix: row.text("metadata_prefix")?,
        set: Some(row.text("set_spec")?).filter(|set| !set.is_empty()),
        parameters: row.text("parameters")?,
        state: State::parse(&row.text("state")?),
        started: row.integer("started")?,
        ended: row.maybe_integer("ended")?,
        attempts: row.integer("lease_token")?,
        resume_state: row.maybe_text("resume_state")?,
        next_from: row.maybe_text("next_from")?,
        counts: Counts {
            new: row.count("new_records")?,
            updated: row.count("updated")?,
            unchanged: row.count("unchanged")?,
            deleted: row.count("deleted")?,
            filtered: row.count("filtered")?,
            repaired: row.count("repaired")?,
            skipped: row.count("skipped")?,
            failed: row.count("failed")?,
            requests: row.count("requests")?,
            bytes: row.count("bytes")?,
        },
        failure_reason: row.maybe_text("failure_reason")?,
        quirks: row.maybe_text("quirks")?,
    })
}

fn warning(row: &Row) -> Result<Warning, Error> {
    Ok(Warning {
        identifier: row.maybe_text("identifier")?,
        reason: row.text("reason")?,
        lost: row.flag("lost")?,
    })
}

/// The target of a harvest, in words.
pub(crate) fn described(base_url: &str, prefix: &str, set: &str) -> String {
    if set.is_empty() {
        format!("`{base_url}` ({prefix})")
    } else {
        format!("`{base_url}` ({prefix}, set {set})")
    }
}

impl State {
    /// All there are.
    pub const ALL: [Self; 5] = [
        Self::Running,
        Self::Ok,
        Self::Incomplete,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Whether it ended before its end, so that it can be resumed.
    pub fn is_unfinished(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled)
    }

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

    pub(crate) fn parse(name: &str) -> Self {
        match name {
            "running" => Self::Running,
            "ok" => Self::Ok,
            "incomplete" => Self::Incomplete,
            "cancelled" => Self::Cancelled,
            _ => Self::Failed,
        }
    }
}

impl Counts {
    /// The records that came, whatever became of them.
    pub fn records(&self) -> u64 {
        self.new
            + self.updated
            + self.unchanged
            + self.deleted
            + self.filtered
            + self.skipped
            + self.failed
    }

    /// The counts of records that are held, in words.
    pub fn in_words(&self) -> String {
        let Self {
            new,
            updated,
            unchanged,
            deleted,
            ..
        } = self;
        format!("{new} new, {updated} updated, {unchanged} unchanged, {deleted} deleted")
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.new += other.new;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.deleted += other.deleted;
        self.filtered += other.filtered;
        self.repaired += other.repaired;
        self.skipped += other.skipped;
        self.failed += other.failed;
        self.requests += other.requests;
        self.bytes += other.bytes;
    }
}
