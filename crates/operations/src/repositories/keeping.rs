//! How the records of a repository are kept: as files, in packs, or in the database.

use catalog::Role;
use flows::RecordMove;
use serde::Serialize;
use utoipa::ToSchema;

use super::{read, subject};
use crate::{Actor, Context, Refusal};

/// The result of a move of records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MovedRecords {
    /// The number of the repository.
    pub repository: i64,
    /// Records that are kept elsewhere now.
    pub moved: u64,
    /// Records that were there already.
    pub unchanged: u64,
    /// Records that could not be read, and stay as they are.
    pub unreadable: u64,
    /// The first of these, with the reasons.
    pub unreadable_records: Vec<String>,
    /// Packs that nothing was left in, and that were removed.
    pub packs_removed: u64,
}

/// Moves the records of a repository to another way of keeping, which holds for those that come as well, or compacts its
/// packs. Refused while it is harvested.
pub async fn move_records(
    context: &Context,
    actor: &Actor,
    id: i64,
    what: RecordMove,
) -> Result<MovedRecords, Refusal> {
    actor.require(Role::Operator)?;
    let repository = read(context, id).await?;
    let about = subject(&repository);
    let moved = context.blocking(move |holdings| {
        let unreadable = std::cell::RefCell::new(Vec::new());
        let told = |line: &str| {
            let mut lines = unreadable.borrow_mut();
            if lines.len() < MOST_NAMED {
                lines.push(line.to_owned());
            }
        };
        let moved = flows::move_records(holdings, &repository, what, &told)?;
        Ok((moved, unreadable.into_inner()))
    });
    let (moved, unreadable_records) = moved.await?;
    let to = match what {
        RecordMove::To(way) => way.name(),
        RecordMove::Compact => "compacted packs",
    };
    let details = Some(format!("{} records to {to}", moved.moved));
    context
        .audit(actor, "repository.move_records", about, details)
        .await;
    Ok(MovedRecords {
        repository: id,
        moved: moved.moved,
        unchanged: moved.unchanged,
        unreadable: moved.unreadable,
        unreadable_records,
        packs_removed: moved.packs_removed,
    })
}

/// How many records that cannot be read are named.
const MOST_NAMED: usize = 100;
