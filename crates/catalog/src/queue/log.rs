//! The log of a job: what happened, line by line, to be read while it runs and afterwards.

use serde::{Deserialize, Serialize};

use crate::database::{Row, Transaction};
use crate::{Catalog, Error};

/// How much a line of a log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// It went as it should.
    Info,
    /// Something was odd.
    Warning,
    /// Something failed.
    Error,
}

/// A line of a job's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogLine {
    /// Its number; later lines have greater ones.
    pub id: i64,
    /// When it was written, in seconds.
    pub at: i64,
    /// How much it matters.
    pub level: LogLevel,
    /// The event, in words.
    pub message: String,
}

/// A line is at most this long: it may quote what a repository sent.
const LONGEST: usize = 4000;

impl Catalog {
    /// Adds a line to the log of a job. A job that is gone has none.
    pub async fn log_job(&self, job: i64, level: LogLevel, message: &str) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        log(&mut transaction, job, level, message).await?;
        transaction.commit().await
    }

    /// The lines of a job's log after the one with this number, 0 for all, the oldest first.
    pub async fn job_log(&self, job: i64, after: i64, limit: u64) -> Result<Vec<LogLine>, Error> {
        let sql = "SELECT id, at, level, message FROM job_log
             WHERE job_id = $1 AND id > $2 ORDER BY id LIMIT $3";
        let values = [job.into(), after.into(), limit.into()];
        let rows = self.database.list().await?.rows(sql, values).await?;
        rows.iter().map(line).collect()
    }

    /// The last lines of a job's log, the oldest of them first.
    ///
    /// Only those that matter as much as `least`, or more.
    pub async fn job_log_end(
        &self,
        job: i64,
        least: LogLevel,
        limit: u64,
    ) -> Result<Vec<LogLine>, Error> {
        let levels = match least {
            LogLevel::Info => "",
            LogLevel::Warning => "AND level IN ('warning', 'error')",
            LogLevel::Error => "AND level = 'error'",
        };
        let sql = &format!(
            "SELECT id, at, level, message FROM job_log
             WHERE job_id = $1 {levels} ORDER BY id DESC LIMIT $2"
        );
        let values = [job.into(), limit.into()];
        let rows = self.database.read().await?.rows(sql, values).await?;
        rows.iter().rev().map(line).collect()
    }
}

fn line(row: &Row) -> Result<LogLine, Error> {
    Ok(LogLine {
        id: row.integer("id")?,
        at: row.integer("at")?,
        level: LogLevel::parse(&row.text("level")?),
        message: row.text("message")?,
    })
}

pub(crate) async fn log(
    transaction: &mut Transaction,
    job: i64,
    level: LogLevel,
    message: &str,
) -> Result<(), Error> {
    let sql = "INSERT INTO job_log (job_id, at, level, message)
         SELECT id, {now}, $2, $3 FROM job WHERE id = $1";
    let message = &message[..message.floor_char_boundary(LONGEST)];
    transaction
        .execute(sql, [job.into(), level.name().into(), message.into()])
        .await?;
    Ok(())
}

impl LogLevel {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    fn parse(name: &str) -> Self {
        match name {
            "warning" => Self::Warning,
            "error" => Self::Error,
            _ => Self::Info,
        }
    }
}
