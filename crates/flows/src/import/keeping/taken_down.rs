//! Captures of documents that were taken down: they are counted, told and left out.

use std::collections::HashMap;

use catalog::{CaptureRow, ContentRow, ImportWarning};

use super::unsaved::{leave_out, name};
use crate::Holdings;
use crate::import::events::FateKind;
use crate::import::group::Group;

/// Leaves out what a takedown keeps from the collection, by its URL or by its bytes.
pub(super) fn skip(holdings: &Holdings, group: &mut Group) -> anyhow::Result<()> {
    let captures: Vec<_> = group.rows.iter().map(CaptureRow::identity).collect();
    let reasons = holdings.wait(holdings.catalog().taken_down(&captures))?;
    if reasons.is_empty() {
        return Ok(());
    }
    let told = |(at, reason)| (at, format!("taken down: {reason}"));
    let reasons: HashMap<_, _> = reasons.into_iter().map(told).collect();
    for (at, row) in group.rows.iter().enumerate() {
        // A log only says more about what archives have.
        if let Some(reason) = reasons.get(&at)
            && row.content != ContentRow::EdgeOnly
        {
            group.counters.skipped_takedown += 1;
            let (file, offset) = match row.source.rsplit_once(" at offset ") {
                Some((file, offset)) => (file, offset.parse().ok()),
                None => (&*row.source, None),
            };
            group.warnings.push(ImportWarning {
                file: file.to_owned(),
                offset,
                reason: format!("{}: {reason}", name(row)),
                kind: "skipped_takedown".to_owned(),
            });
        }
    }
    let (rows, contents) = (&mut group.rows, &mut group.contents);
    leave_out(&reasons, FateKind::Skipped, rows, contents, &mut group.told);
    Ok(())
}
