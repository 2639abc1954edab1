//! Prepares records to be stored. New ones are prepared ahead, on a thread of their own: all that can be written of them is
//! written, and only gets its name when it is their turn.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::Scope;

use anyhow::Context;
use harvester::unpack::{self, Resource};
use store::{NewFile, RecordFiles};

use crate::harvest::digest;
use crate::harvest::resources::{Bodies, Missing, NewBody};

/// A record as it is stored.
pub(super) struct Prepared<'r> {
    /// The files that it speaks of, with their bytes as far as those are written already.
    pub(super) resources: Vec<(Resource<'r>, Option<Result<NewBody, Missing>>)>,
    /// Why nobody knows which files it speaks of.
    pub(super) damage: Option<unpack::Error>,
    /// Without the bytes of these files.
    pub(super) xml: Cow<'r, [u8]>,
    pub(super) digest: String,
    /// Its own file, if that is written already.
    pub(super) file: Option<Result<NewFile, store::Error>>,
}

impl<'r> Prepared<'r> {
    /// Nothing is written yet.
    pub(super) fn of(xml: &'r [u8], unpack: bool) -> Self {
        let found = match unpack {
            true => unpack::resources(xml),
            false => Ok(Vec::new()),
        };
        let (found, damage) = match found {
            Ok(found) => (found, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        // The bytes are in the mirror or in the WARC file; here they would only be there twice. Where the record tells
        // no digests of them, only they themselves tell whether they are the same.
        let told = |resource: &Resource| resource.value.is_none() || !resource.digests.is_empty();
        let whole = (!found.iter().all(told)).then(|| digest::of_record(xml));
        let xml = unpack::without_values(xml, &found);
        Self {
            digest: whole.unwrap_or_else(|| digest::of_record(&xml)),
            resources: found.into_iter().map(|resource| (resource, None)).collect(),
            damage,
            xml,
            file: None,
        }
    }

    /// Writes its file, and the bytes that it has of others.
    fn write(&mut self, identifier: &str, files: &RecordFiles, bodies: Option<&Bodies>) {
        self.file = Some(files.fill(identifier, &self.xml));
        if let Some(bodies) = bodies {
            for (resource, body) in &mut self.resources {
                *body = bodies.of_value(resource);
            }
        }
    }
}

/// New records, in their order.
pub(super) struct Ahead<'r> {
    groups: Receiver<Vec<Prepared<'r>>>,
    group: std::vec::IntoIter<Prepared<'r>>,
}

impl<'r> Ahead<'r> {
    /// Begins with records, by identifier and content; `bodies` are there if they are to be unpacked.
    pub(super) fn begin<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        records: Vec<(&'r str, &'r [u8])>,
        files: Arc<RecordFiles>,
        bodies: Option<Bodies>,
    ) -> Self
    where
        'r: 'scope,
    {
        let (give, groups) = mpsc::sync_channel(AHEAD);
        if !records.is_empty() {
            scope.spawn(move || {
                let (mut group, mut bytes) = (Vec::new(), 0);
                for (identifier, xml) in records {
                    let mut prepared = Prepared::of(xml, bodies.is_some());
                    prepared.write(identifier, &files, bodies.as_ref());
                    group.push(prepared);
                    bytes += xml.len();
                    if group.len() < GROUP && bytes < GROUP_BYTES {
                        continue;
                    }
                    bytes = 0;
                    // Whoever has stopped taking them has a reason of its own.
                    if give.send(std::mem::take(&mut group)).is_err() {
                        return;
                    }
                }
                let _ = give.send(group);
            });
        }
        Self {
            groups,
            group: Vec::new().into_iter(),
        }
    }

    /// The next record.
    pub(super) fn next(&mut self) -> anyhow::Result<Prepared<'r>> {
        if self.group.as_slice().is_empty() {
            let group = self.groups.recv();
            self.group = group
                .context("nobody prepares records any more")?
                .into_iter();
        }
        self.group.next().context("a record is missing")
    }
}

/// So many records are handed over at once: each time somebody has to be woken.
const GROUP: usize = 16;
const GROUP_BYTES: usize = 256 << 10;
/// So many groups wait, with their files open.
const AHEAD: usize = 2;
