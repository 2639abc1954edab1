//! The queue as somebody who looks after it sees it: the jobs that are overdue, and those that come up.

use crate::queue::job::{SELECT, job};
use crate::{Catalog, Error, Job};

/// The jobs that wait, apart by whether they are due.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outlook {
    /// The number of jobs that wait although they have been due for a while.
    pub overdue: u64,
    /// When the first of them was due, in seconds.
    pub overdue_since: Option<i64>,
    /// When the first job was due that has not begun, in seconds.
    pub due_since: Option<i64>,
    /// The first of those that have been due for a while.
    pub first_overdue: Vec<Job>,
    /// The next jobs, which are not due yet.
    pub upcoming: Vec<Job>,
}

impl Catalog {
    /// At most `limit` jobs that have been due for `patience` seconds, and as many that are not due yet.
    pub async fn queue_outlook(&self, patience: i64, limit: u64) -> Result<Outlook, Error> {
        let mut transaction = self.database.list().await?;
        let mut outlook = Outlook::default();
        let sql = "SELECT count(*) AS number, min(run_at) AS first FROM job
             WHERE state = 'scheduled' AND run_at < {now} - $1";
        if let Some(row) = transaction.row(sql, [patience.into()]).await? {
            outlook.overdue = row.count("number")?;
            outlook.overdue_since = row.maybe_integer("first")?;
        }
        let sql =
            "SELECT min(run_at) AS first FROM job WHERE state = 'scheduled' AND run_at <= {now}";
        if let Some(row) = transaction.row(sql, []).await? {
            outlook.due_since = row.maybe_integer("first")?;
        }
        let overdue = "job.run_at < {now} - $1";
        for (condition, jobs) in [
            (overdue, &mut outlook.first_overdue),
            ("job.run_at > {now} AND $1 >= 0", &mut outlook.upcoming),
        ] {
            let sql = format!(
                "{SELECT} WHERE job.state = 'scheduled' AND {condition}
                 ORDER BY job.run_at, job.id LIMIT $2"
            );
            let rows = transaction
                .rows(&sql, [patience.into(), limit.into()])
                .await?;
            *jobs = rows.iter().map(job).collect::<Result<_, _>>()?;
        }
        Ok(outlook)
    }
}
