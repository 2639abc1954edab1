//! Quiet: no harvest of a repository while somebody else reads all that is held of it, an indexer for instance.

use std::time::Duration;

use serde_json::Value;

use crate::database::{Transaction, is_conflict};
use crate::harvests::begin::{HARVESTED, make_way};
use crate::queue::jobs::{exclusive_key, lock_queue};
use crate::queue::lease::seconds;
use crate::queue::owner;
use crate::{Catalog, Error, JobLease};

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

/// Puts a job that runs already into the queue, after way was made for it. Only its holder can go on with it.
pub(crate) async fn insert(
    transaction: &mut Transaction,
    repository: i64,
    why: &str,
    lease: Duration,
    owner: String,
) -> Result<JobLease, Error> {
    let parameters = serde_json::json!({ "why": why }).to_string();
    let sql =
        "INSERT INTO job (kind, repository_id, exclusive, state, run_at, attempt, max_attempts, lease_owner,
             lease_token, lease_until, parameters, created, started)
         SELECT 'quiet', id, $5, 'running', {now}, 1, 0, $2, 1, {now} + $3, $4, {now}, {now}
         FROM repository WHERE id = $1 RETURNING id";
    let values = [
        repository.into(),
        owner.into(),
        seconds(lease).into(),
        parameters.into(),
        exclusive_key(repository).into(),
    ];
    let row = match transaction.row(sql, values).await {
        // A worker claimed a job of the repository since way was made.
        Err(error) if is_conflict(&error) => {
            return Err(Error::Busy {
                what: format!("repository {repository}"),
                doing: HARVESTED.to_owned(),
                owner: "another process".to_owned(),
            });
        }
        row => row?.ok_or(Error::UnknownRepository { id: repository })?,
    };
    let job = row.integer("id")?;
    Ok(JobLease { job, token: 1 })
}

/// The reason for the quiet time, from the parameters of the job, in words.
pub(crate) fn in_words(parameters: &str) -> String {
    let parameters: Value = serde_json::from_str(parameters).unwrap_or_default();
    match parameters["why"].as_str() {
        Some(why) if !why.is_empty() => format!("kept quiet ({why})"),
        _ => "kept quiet".to_owned(),
    }
}
