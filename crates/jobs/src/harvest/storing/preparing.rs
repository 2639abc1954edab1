//! Prepares records to be stored, ahead of their turn and on a thread of their own: all that can be written of those that are
//! new or have changed is written, and only gets its name when it is their turn.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::{Builder, Scope};

use anyhow::Context;
use harvester::unpack::{self, Resource};
use store::{NewFile, RecordFiles};

use crate::harvest::digest;
use crate::harvest::resources::{Bodies, Missing, NewBody, is_url};

/// A record as it came.
#[derive(Clone, Copy)]
pub(super) struct Content<'r> {
    pub(super) identifier: &'r str,
    pub(super) xml: &'r [u8],
    /// The digest of it that everything is there of, if there is one.
    pub(super) held: Option<&'r str>,
}

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

    /// Writes its file, and the bytes that it has of some others; returns how many files are open now.
    fn write(&mut self, identifier: &str, files: &RecordFiles, bodies: Option<&Bodies>) -> usize {
        self.file = Some(files.fill(identifier, &self.xml));
        let mut open = 1;
        // In memory they would be too much at once.
        let bodies = bodies.filter(|bodies| bodies.are_files());
        if let Some(bodies) = bodies {
            let placeable = |(resource, _): &&mut (Resource<'_>, _)| is_url(&resource.url);
            for (resource, body) in self.resources.iter_mut().filter(placeable).take(GROUP) {
                *body = bodies.of_value(resource);
                open += 1;
            }
        }
        open
    }
}

/// Records in their order.
pub(super) struct Ahead<'r> {
    groups: Receiver<Vec<Prepared<'r>>>,
    group: std::vec::IntoIter<Prepared<'r>>,
}

impl<'r> Ahead<'r> {
    /// Begins with records; `bodies` are there if they are to be unpacked.
    pub(super) fn begin<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        records: Vec<Content<'r>>,
        files: Arc<RecordFiles>,
        bodies: Option<Bodies>,
    ) -> anyhow::Result<Self>
    where
        'r: 'scope,
    {
        let (give, groups) = mpsc::sync_channel(AHEAD);
        if !records.is_empty() {
            let prepare = move || {
                let (mut group, mut open, mut bytes) = (Vec::new(), 0, 0);
                for record in records {
                    let mut prepared = Prepared::of(record.xml, bodies.is_some());
                    if record.held != Some(&*prepared.digest) {
                        open += prepared.write(record.identifier, &files, bodies.as_ref());
                    }
                    bytes += record.xml.len();
                    group.push(prepared);
                    if open < GROUP && bytes < GROUP_BYTES {
                        continue;
                    }
                    (open, bytes) = (0, 0);
                    // Whoever has stopped taking them has a reason of its own.
                    if give.send(std::mem::take(&mut group)).is_err() {
                        return;
                    }
                }
                let _ = give.send(group);
            };
            Builder::new()
                .spawn_scoped(scope, prepare)
                .context("no thread can be had that prepares records")?;
        }
        Ok(Self {
            groups,
            group: Vec::new().into_iter(),
        })
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

/// So many files, or twice as many, are handed over at once: each time somebody has to be woken.
const GROUP: usize = 16;
const GROUP_BYTES: usize = 256 << 10;
/// So many groups wait, with their files open.
const AHEAD: usize = 2;

#[cfg(test)]
mod tests {
    use store::{Durability, Layout, Mirror};

    use super::*;

    #[test]
    fn a_record_of_many_files_does_not_open_them_all_at_once() {
        let component = |number: usize| {
            format!(
                "<Component><Resource encoding=\"base64\">aGVsbG8=</Resource>\
                 <Resource ref=\"http://a.example/{number}\"/></Component>"
            )
        };
        let components: String = (0..1000).map(component).collect();
        let xml = format!(
            "<record><DIDL xmlns=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><Item>{components}</Item></DIDL></record>"
        );
        let folder = tempfile::tempdir().unwrap();
        let place = |name| folder.path().join(name);
        let (layout, durability) = (Layout::default(), Durability::None);
        let files = RecordFiles::open(&place("records"), layout, durability).unwrap();
        let mirror = Mirror::open(&place("mirror"), None, durability).unwrap();
        let open = |mirror| {
            let bodies = Bodies::new(mirror, 1000);
            let mut prepared = Prepared::of(xml.as_bytes(), true);
            let open = prepared.write("oai:a:1", &files, Some(&bodies));
            let bodies = prepared.resources.iter();
            assert_eq!(bodies.filter(|(_, body)| body.is_some()).count(), open - 1);
            assert_eq!(prepared.resources.len(), 1000);
            open
        };

        assert_eq!(open(Some(Arc::new(mirror))), 1 + GROUP);
        // Without a mirror they would lie in memory.
        assert_eq!(open(None), 1);
    }
}
