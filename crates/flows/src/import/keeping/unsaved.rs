//! Documents that could not be saved: they are counted, told and left out, and the others are saved.
//!
//! Where nothing could be saved, because the disk is full or gone, the import ends instead, and can be gone on with.

use std::collections::HashMap;
use std::io::ErrorKind;

use anyhow::bail;
use catalog::{CaptureRow, ContentRow, ImportCounters, ImportWarning};
use store::Collection;

use super::{extension, place};
use crate::import::events::{Fate, FateKind, Stage};
use crate::import::group::{Content, ReportLine, file};

/// The documents of a group that could not be saved, by the place of their rows.
#[derive(Debug, Default)]
pub(in crate::import) struct Unsaved {
    reasons: HashMap<usize, String>,
}

impl Unsaved {
    /// Puts a document in its place; whether that worked. An error is one that every other document would meet too.
    pub(in crate::import) fn save(
        &mut self,
        collection: &Collection,
        (at, row): (usize, &CaptureRow),
        number: i64,
        content: Content,
        warnings: &mut Vec<ImportWarning>,
    ) -> anyhow::Result<bool> {
        let source = content.place.clone();
        let Err(error) = place(collection, number, extension(row), content) else {
            return Ok(true);
        };
        if !is_its_own(&error) {
            return Err(error);
        }
        // A document may have been placed before what belongs to it could not be; what stays is found by a verification.
        let _ = collection.remove(number, extension(row));
        let reason = format!("it cannot be saved: {}", crate::message(&error));
        warnings.push(ImportWarning {
            file: file(&source),
            offset: Some(source.offset),
            reason: format!("{}: {reason}", name(row)),
            kind: "unsaved".to_owned(),
        });
        self.reasons.insert(at, reason);
        Ok(false)
    }

    pub(in crate::import) fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Leaves out what was to have the same bytes as something that could not be saved.
    pub(in crate::import) fn add_copies(&mut self, rows: &[CaptureRow]) {
        let mut bytes = HashMap::new();
        for (at, reason) in &self.reasons {
            if let Some(sha1) = sha1(&rows[*at]) {
                bytes.insert(sha1, reason.clone());
            }
        }
        for (at, row) in rows.iter().enumerate() {
            if let Some(reason) = sha1(row).and_then(|sha1| bytes.get(sha1)) {
                let reason = reason.clone();
                self.reasons.entry(at).or_insert(reason);
            }
        }
    }

    /// Counts what is left out. Too much of it is no misfortune of single documents any more.
    pub(in crate::import) fn count(
        &self,
        counters: &mut ImportCounters,
        before: u64,
    ) -> anyhow::Result<()> {
        let count = self.reasons.len() as u64;
        counters.failed_save += count;
        if before + counters.failed_save > MOST {
            let reason = self.reasons.values().next();
            bail!(
                "more than {MOST} documents could not be saved, the last one because {}",
                reason.map_or("", String::as_str)
            );
        }
        Ok(())
    }

    /// Takes what is left out from rows and contents, and says so where it is told what became of each.
    pub(in crate::import) fn leave_out(
        &self,
        rows: &mut Vec<CaptureRow>,
        contents: &mut Vec<Option<Content>>,
        told: &mut [ReportLine],
    ) {
        leave_out(&self.reasons, FateKind::Failed, rows, contents, told);
    }

    /// Says of each that it could not be saved.
    pub(in crate::import) fn tell(&self, rows: &[CaptureRow], told: &mut [ReportLine]) {
        tell(&self.reasons, FateKind::Failed, rows, told);
    }
}

/// Takes rows from a group, by their places, and says why where it is told what became of each.
pub(super) fn leave_out(
    reasons: &HashMap<usize, String>,
    kind: FateKind,
    rows: &mut Vec<CaptureRow>,
    contents: &mut Vec<Option<Content>>,
    told: &mut [ReportLine],
) {
    let mut places = Vec::with_capacity(rows.len());
    let mut next = 0;
    for at in 0..rows.len() {
        places.push(next);
        next += usize::from(!reasons.contains_key(&at));
    }
    tell(reasons, kind, rows, told);
    for told in told {
        if let ReportLine::Row(at) = told {
            *at = places[*at];
        }
    }
    let mut at = 0..;
    rows.retain(|_| at.next().is_some_and(|at| !reasons.contains_key(&at)));
    let mut at = 0..;
    contents.retain(|_| at.next().is_some_and(|at| !reasons.contains_key(&at)));
}

fn tell(
    reasons: &HashMap<usize, String>,
    kind: FateKind,
    rows: &[CaptureRow],
    told: &mut [ReportLine],
) {
    for told in told {
        if let ReportLine::Row(at) = told
            && let Some(reason) = reasons.get(at)
        {
            *told = ReportLine::Fate(Fate {
                kind,
                name: name(&rows[*at]),
                detail: reason.clone(),
                place: rows[*at].source.clone(),
                stage: Stage::Kept,
                number: None,
            });
        }
    }
}

/// Whether an error is about one document alone: something is in its way, or it is too long for the file system.
fn is_its_own(error: &anyhow::Error) -> bool {
    let of_system = |kind: ErrorKind| {
        matches!(
            kind,
            ErrorKind::AlreadyExists
                | ErrorKind::DirectoryNotEmpty
                | ErrorKind::FileTooLarge
                | ErrorKind::InvalidFilename
                | ErrorKind::IsADirectory
                | ErrorKind::NotADirectory
        )
    };
    error.chain().any(|cause| {
        let store = cause.downcast_ref::<store::Error>();
        let io = cause.downcast_ref::<std::io::Error>();
        match (store, io) {
            (Some(store::Error::InTheWay { .. }), _) => true,
            (Some(store::Error::Io { source, .. }), _) => of_system(source.kind()),
            (None, Some(io)) => of_system(io.kind()),
            _ => false,
        }
    })
}

pub(super) fn name(row: &CaptureRow) -> String {
    match &row.member {
        Some(member) => format!("{}#{member}", row.url),
        None => row.url.clone(),
    }
}

fn sha1(row: &CaptureRow) -> Option<&str> {
    match &row.content {
        ContentRow::Bytes { sha1, .. } => Some(sha1),
        ContentRow::Revisit { .. } | ContentRow::EdgeOnly => None,
    }
}

/// Maximum number of documents of an import that may not be saved before it ends.
const MOST: u64 = 1000;
