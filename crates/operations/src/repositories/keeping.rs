//! How the records of a repository are kept: as files, in packs, or in the database.

use catalog::{RecordWay, Role};
use flows::RecordMove;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{read, subject};
use crate::{Actor, Context, Refusal};

/// The records that are to be moved.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordsOrder {
    /// How records are kept from now on: `files`, `packs` or `database`.
    #[schema(example = "packs")]
    pub to: Option<String>,
    /// Whether packs are rewritten without what is not wanted any more.
    pub compact: bool,
}

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
    order: &RecordsOrder,
) -> Result<MovedRecords, Refusal> {
    actor.require(Role::Operator)?;
    let what = order.what()?;
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

impl RecordsOrder {
    fn what(&self) -> Result<RecordMove, Refusal> {
        let Some(to) = self.to.as_deref() else {
            let missing =
                || Refusal::invalid("to", "write files, packs or database, or compact packs");
            return self
                .compact
                .then_some(RecordMove::Compact)
                .ok_or_else(missing);
        };
        match RecordWay::parse(to) {
            _ if self.compact => Err(Refusal::invalid(
                "compact",
                "packs that are moved are compact; leave it out",
            )),
            Some(way) => Ok(RecordMove::To(way)),
            None => Err(Refusal::invalid(
                "to",
                format!("there is no `{to}`; write files, packs or database"),
            )),
        }
    }
}

/// How many records that cannot be read are named.
const MOST_NAMED: usize = 100;
