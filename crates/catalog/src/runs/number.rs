//! Numbers of runs: those of jobs, and others from the same sequence.

use crate::Error;
use crate::database::Transaction;

/// A number for the run of a command. A row of the queue takes it, and is gone before anybody sees it.
pub(crate) async fn new_number(transaction: &mut Transaction) -> Result<i64, Error> {
    let sql = "INSERT INTO job (kind, state, run_at, created) VALUES ('quiet', 'cancelled', 0, 0) RETURNING id";
    let row = transaction.row(sql, []).await?;
    let number = row.ok_or(Error::UnknownJob { id: 0 })?.integer("id")?;
    let sql = "DELETE FROM job WHERE id = $1";
    transaction.execute(sql, [number.into()]).await?;
    Ok(number)
}

/// Notes which run resumes the harvest or import of another, so that the page of that one leads on.
pub(crate) async fn note_resumed(
    transaction: &mut Transaction,
    before: i64,
    now: i64,
) -> Result<(), Error> {
    if before == now {
        return Ok(());
    }
    let sql = "INSERT INTO former_run (run_id, resumed_by) VALUES ($1, $2)
         ON CONFLICT (run_id) DO UPDATE SET resumed_by = excluded.resumed_by";
    transaction
        .execute(sql, [before.into(), now.into()])
        .await?;
    Ok(())
}
