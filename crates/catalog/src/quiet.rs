//! Quiet: no harvest of a repository while somebody else reads all that is held of it, an indexer for instance.

use std::time::Duration;

use serde_json::Value;

use crate::begin::make_way;
use crate::database::Transaction;
use crate::jobs::lock_queue;
use crate::running::seconds;
use crate::{Catalog, Error, JobLease, owner};

impl Catalog {
    /// Keeps harvests of a repository away from now on; refused while one runs.
    ///
    /// It is a job like others: [`Catalog::beat`] keeps it, and [`Catalog::end_job`] ends it. It ends with this process,
    /// unless somebody else is named who holds it: then it lasts until its lease is over, or somebody cancels it.
    pub async fn quiet(
        &self,
        repository: i64,
        why: &str,
        lease: Duration,
        holder: Option<&str>,
    ) -> Result<JobLease, Error> {
        let mut transaction = self.database.write().await?;
        lock_queue(&mut transaction).await?;
        make_way(&mut transaction, repository, None).await?;
        let owner = holder.map_or_else(owner::this_process, owner::person);
        let lease = insert(&mut transaction, repository, why, lease, owner).await?;
        transaction.commit().await?;
        Ok(lease)
    }
}

/// Puts a job that runs already into the queue, after way was made for it.
pub(crate) async fn insert(
    transaction: &mut Transaction,
    repository: i64,
    why: &str,
    lease: Duration,
    owner: String,
) -> Result<JobLease, Error> {
    let parameters = serde_json::json!({ "why": why }).to_string();
    let sql =
        "INSERT INTO job (kind, repository_id, state, run_at, attempt, lease_owner, lease_token,
             lease_until, parameters, created, started)
         SELECT 'quiet', id, 'running', {now}, 1, $2, 1, {now} + $3, $4, {now}, {now}
         FROM repository WHERE id = $1 RETURNING id";
    let values = [
        repository.into(),
        owner.into(),
        seconds(lease).into(),
        parameters.into(),
    ];
    let row = transaction.row(sql, values).await?;
    let row = row.ok_or(Error::UnknownRepository { id: repository })?;
    let job = row.integer("id")?;
    Ok(JobLease { job, token: 1 })
}

/// What is done with the repository, by the parameters of the job.
pub(crate) fn in_words(parameters: &str) -> String {
    let parameters: Value = serde_json::from_str(parameters).unwrap_or_default();
    match parameters["why"].as_str() {
        Some(why) if !why.is_empty() => format!("kept quiet ({why})"),
        _ => "kept quiet".to_owned(),
    }
}
