//! Writes the files of new records on a thread of its own, ahead of the one that gives them their names.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::Scope;

use anyhow::Context;
use store::{Error, NewFile, RecordFiles};

/// Files that are written and have no names yet, in the order of their records.
pub(super) struct Filled {
    groups: Receiver<Vec<Result<NewFile, Error>>>,
    group: std::vec::IntoIter<Result<NewFile, Error>>,
}

impl Filled {
    /// Begins with the records that are known to be new, by identifier and content.
    pub(super) fn begin<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        files: Arc<RecordFiles>,
        records: Vec<(&'env str, &'env [u8])>,
    ) -> Self {
        let (give, groups) = mpsc::sync_channel(AHEAD);
        if !records.is_empty() {
            scope.spawn(move || {
                for records in records.chunks(GROUP) {
                    let filled = records
                        .iter()
                        .map(|(identifier, xml)| files.fill(identifier, xml));
                    // Whoever has stopped taking them has a reason of its own.
                    if give.send(filled.collect()).is_err() {
                        return;
                    }
                }
            });
        }
        Self {
            groups,
            group: Vec::new().into_iter(),
        }
    }

    /// The file of the next record.
    pub(super) fn next(&mut self) -> anyhow::Result<NewFile> {
        if self.group.as_slice().is_empty() {
            let group = self.groups.recv();
            self.group = group.context("nobody writes files any more")?.into_iter();
        }
        Ok(self.group.next().context("a file is missing")??)
    }
}

/// So many files are handed over at once: each time somebody has to be woken.
const GROUP: usize = 16;
/// So many groups wait, with their files open.
const AHEAD: usize = 2;
