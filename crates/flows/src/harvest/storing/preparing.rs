//! Prepares records to be stored, ahead of their turn: they are validated, filtered and normalised, the catalog is asked
//! what it knows of them, and all that can be written of those that are new or have changed is written. It only gets its
//! name when it is their turn.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use catalog::Known;
use harvester::unpack::{self, Handle, Resource, SpooledValue};
use harvester::{Header, Record};
use store::NewFile;

use crate::Holdings;
use crate::harvest::digest;
use crate::harvest::resources::{Bodies, Missing, is_url};
use crate::harvest::treatment::{Treated, Treatment};
use crate::records::RecordKeeper;

/// The threads that prepare records.
pub(in crate::harvest) struct Preparer<'a> {
    pub(super) holdings: &'a Holdings,
    pub(super) treatment: &'a Treatment,
    pub(super) repository: i64,
    pub(super) metadata_prefix: &'a str,
    pub(super) run: i64,
    /// Whether everything is written anew.
    pub(super) anew: bool,
    pub(super) files: Arc<RecordKeeper<'a>>,
    /// There if records are to be unpacked.
    pub(super) bodies: Option<Bodies>,
    /// How many batches were committed so far.
    pub(super) committed: Arc<AtomicU64>,
}

/// A record whose turn may come.
pub(in crate::harvest) struct Ready {
    pub(super) header: Header,
    pub(super) treated: Treated<Content>,
    /// The state in the catalog when `committed` batches were committed.
    pub(super) known: Option<Known>,
    pub(super) committed: u64,
}

/// The part of a record that is kept.
pub(in crate::harvest) enum Content {
    /// All files of it are written, or need not be.
    Prepared(Box<Prepared<'static>>),
    /// Nothing is written but the values that were taken out of it, because that may not be needed, or would be too much
    /// at once.
    Whole(Whole),
}

/// A record whose files are written when it is its turn.
pub(in crate::harvest) struct Whole {
    xml: Vec<u8>,
    /// The bytes of its resources, as far as they are written already.
    bodies: Vec<Option<Body>>,
    unowned: usize,
    digest: String,
    file: Option<Result<NewFile, store::Error>>,
}

/// The bytes of a resource, or why they are missing.
type Body = Result<Handle, Missing>;

/// A record as it is stored.
pub(super) struct Prepared<'r> {
    /// The files that it speaks of, with their bytes as far as those are written already.
    pub(super) resources: Vec<(Resource<'r>, Option<Body>)>,
    /// How many values belong to none of these files.
    pub(super) unowned: usize,
    /// Why nobody knows which files it speaks of.
    pub(super) damage: Option<unpack::Error>,
    /// Without the bytes of these files.
    pub(super) xml: Cow<'r, [u8]>,
    pub(super) digest: String,
    /// Its own file, if that is written already.
    pub(super) file: Option<Result<NewFile, store::Error>>,
}

/// The state of some records in the catalog at one moment.
pub(in crate::harvest) struct Knowledge {
    known: HashMap<String, Known>,
    committed: u64,
}

impl Knowledge {
    pub(super) fn of(&self, identifier: &str) -> Option<&Known> {
        self.known.get(identifier)
    }
}

impl Preparer<'_> {
    /// Asks the catalog for records.
    pub(in crate::harvest) fn look_up(&self, identifiers: &[&str]) -> anyhow::Result<Knowledge> {
        // Before the look: what is committed meanwhile may be in it or not.
        let committed = self.committed.load(Ordering::Acquire);
        let known = match identifiers.is_empty() {
            true => HashMap::new(),
            false => {
                let catalog = self.holdings.catalog();
                let known = catalog.known(self.repository, self.metadata_prefix, identifiers);
                self.holdings.wait(known)?
            }
        };
        Ok(Knowledge { known, committed })
    }

    /// Prepares a record as it came.
    pub(in crate::harvest) fn prepare(&self, record: Record, knowledge: &Knowledge) -> Ready {
        let header = record.header.clone();
        // A deleted record has nothing to be looked at, and filtering it would lose the deletion.
        let treated = match header.deleted {
            true => Treated::Deleted,
            false => self.treatment.apply(record),
        };
        let known = knowledge.known.get(&header.identifier).cloned();
        let treated =
            treated.map(|(xml, values)| self.content(&header, xml, values, known.as_ref()));
        Ready {
            header,
            treated,
            known,
            committed: knowledge.committed,
        }
    }

    /// Prepares the end of a record that the repository does not have any more.
    pub(in crate::harvest) fn prepare_gone(
        &self,
        identifier: &str,
        knowledge: &Knowledge,
    ) -> Ready {
        Ready {
            header: Header {
                identifier: identifier.to_owned(),
                deleted: true,
                ..Header::default()
            },
            treated: Treated::Gone,
            known: knowledge.known.get(identifier).cloned(),
            committed: knowledge.committed,
        }
    }

    /// Prepares a record that is held as it is now.
    pub(in crate::harvest) fn prepare_unchanged(
        &self,
        identifier: &str,
        knowledge: &Knowledge,
    ) -> Ready {
        Ready {
            header: Header {
                identifier: identifier.to_owned(),
                ..Header::default()
            },
            treated: Treated::Unchanged,
            known: knowledge.known.get(identifier).cloned(),
            committed: knowledge.committed,
        }
    }

    /// The digest of a record if all that belongs to it is there, unless it has changed.
    pub(super) fn held<'k>(&self, header: &Header, before: Option<&'k Known>) -> Option<&'k str> {
        let datestamp = header.moment().map(|moment| moment.seconds());
        let before = before.filter(|before| !before.deleted && before.datestamp == datestamp)?;
        // Files that this harvest has written already are there, also where everything is written anew.
        let is_there = !self.anew || before.run == self.run;
        before.sha256.as_deref().filter(|_| is_there)
    }

    fn content(
        &self,
        header: &Header,
        xml: Vec<u8>,
        values: Vec<SpooledValue>,
        known: Option<&Known>,
    ) -> Content {
        let mut prepared = Prepared::of(&xml, values, self.bodies.is_some());
        if self.held(header, known) != Some(&*prepared.digest) {
            prepared.write(&header.identifier, &self.files, self.bodies.as_ref());
        }
        if prepared.needs_record() {
            let bodies = prepared.bodies();
            let Prepared {
                unowned,
                digest,
                file,
                ..
            } = prepared;
            return Content::Whole(Whole {
                xml,
                bodies,
                unowned,
                digest,
                file,
            });
        }
        let is_uncut = matches!(prepared.xml, Cow::Borrowed(_));
        let mut prepared = prepared.detached();
        if is_uncut {
            prepared.xml = Cow::Owned(xml);
        }
        Content::Prepared(Box::new(prepared))
    }
}

impl Ready {
    /// How much of what there is little of it takes: memory, and open files.
    pub(in crate::harvest) fn weight(&self) -> usize {
        match &self.treated {
            Treated::Kept { content, .. } => content.weight(),
            _ => 0,
        }
    }
}

impl Content {
    fn weight(&self) -> usize {
        match self {
            Self::Whole(whole) => {
                let open =
                    usize::from(whole.file.is_some()) + whole.bodies.iter().flatten().count();
                whole.xml.len() + open * OPEN_FILE
            }
            Self::Prepared(prepared) => {
                let bodies = prepared.resources.iter().filter(|(_, body)| body.is_some());
                let open = usize::from(prepared.file.is_some()) + bodies.count();
                prepared.xml.len() + open * OPEN_FILE
            }
        }
    }
}

impl Whole {
    /// The record as it is stored.
    pub(super) fn prepared(&mut self, unpack: bool) -> Prepared<'_> {
        let bodies = std::mem::take(&mut self.bodies);
        let (resources, damage) = resources_of(&self.xml, unpack);
        let xml = unpack::without_values(&self.xml, &resources);
        Prepared {
            resources: resources.into_iter().zip(bodies).collect(),
            unowned: self.unowned,
            damage,
            xml,
            digest: std::mem::take(&mut self.digest),
            file: self.file.take(),
        }
    }
}

impl<'r> Prepared<'r> {
    /// Nothing is written yet, but for the values that were spooled.
    pub(super) fn of(xml: &'r [u8], values: Vec<SpooledValue>, unpack: bool) -> Self {
        let (mut found, damage) = resources_of(xml, unpack);
        let cut = unpack::without_values(xml, &found);
        let digest = digest_of(xml, &cut, &found, &values);
        let unowned = unpack::attach(&mut found, values).len();
        let with_bodies = |mut resource: Resource<'r>| {
            let spooled = resource.take_spooled();
            let body = spooled.map(|spooled| spooled.map_err(Missing::from));
            (resource, body)
        };
        Self {
            resources: found.into_iter().map(with_bodies).collect(),
            unowned,
            damage,
            xml: cut,
            digest,
            file: None,
        }
    }

    /// Writes its file, and the bytes that it has of some others, unless these are many: each is an open file.
    fn write(&mut self, identifier: &str, files: &RecordKeeper<'_>, bodies: Option<&Bodies>) {
        self.file = files.fill(identifier, &self.xml);
        // In memory they would be too much at once.
        let bodies = bodies.filter(|bodies| bodies.are_files());
        let Some(bodies) = bodies.filter(|_| self.resources.len() <= MOST_FILES) else {
            return;
        };
        for (resource, body) in &mut self.resources {
            if is_url(&resource.url) && body.is_none() {
                *body = bodies.of_value(resource);
            }
        }
    }

    /// Whether the record holds bytes that are not written yet.
    fn needs_record(&self) -> bool {
        let mut each = self.resources.iter();
        each.any(|(resource, body)| resource.value.is_some() && body.is_none())
    }

    /// The bytes that are written already.
    fn bodies(&mut self) -> Vec<Option<Body>> {
        let each = self.resources.iter_mut();
        each.map(|(_, body)| body.take()).collect()
    }

    /// The same without the record it was made of, and without its XML where nothing was cut out of that.
    fn detached(self) -> Prepared<'static> {
        let detached = |(resource, body): (Resource<'_>, _)| (resource.without_value(), body);
        Prepared {
            resources: self.resources.into_iter().map(detached).collect(),
            unowned: self.unowned,
            damage: self.damage,
            xml: match self.xml {
                Cow::Borrowed(_) => Cow::default(),
                Cow::Owned(xml) => Cow::Owned(xml),
            },
            digest: self.digest,
            file: self.file,
        }
    }
}

/// The resources that a record speaks of, or why nobody knows them.
fn resources_of(xml: &[u8], unpack: bool) -> (Vec<Resource<'_>>, Option<unpack::Error>) {
    match unpack.then(|| unpack::resources(xml)) {
        None => (Vec::new(), None),
        Some(Ok(found)) => (found, None),
        Some(Err(error)) => (Vec::new(), Some(error)),
    }
}

/// The digest by which a record is known again. The bytes of its files are no part of it where the record tells digests of
/// them; where it tells none, only they themselves tell whether they are the same.
fn digest_of(
    xml: &[u8],
    cut: &[u8],
    resources: &[Resource<'_>],
    values: &[SpooledValue],
) -> String {
    let has_digest = |resource: &Resource| resource.value.is_none() || !resource.digests.is_empty();
    if resources.iter().all(has_digest) {
        return digest::of_record(cut);
    }
    if values.is_empty() {
        return digest::of_record(xml);
    }
    let mut record = xml.to_vec();
    for value in values {
        record.extend_from_slice(value.sha256().as_bytes());
    }
    digest::of_record(&record)
}

/// A record that brings more files has them written when it is its turn.
const MOST_FILES: usize = 16;
/// The weight of an open file, in bytes of memory.
pub(in crate::harvest) const OPEN_FILE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use store::{Durability, Layout, Mirror};

    use super::*;

    #[test]
    fn a_record_of_many_files_does_not_open_them_before_its_turn() {
        let component = |number: usize| {
            format!(
                "<Component><Resource encoding=\"base64\">aGVsbG8=</Resource>\
                 <Resource ref=\"http://a.example/{number}\"/></Component>"
            )
        };
        let record = |files| {
            let components: String = (0..files).map(component).collect();
            format!(
                "<record><DIDL xmlns=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><Item>{components}</Item></DIDL></record>"
            )
        };
        let folder = tempfile::tempdir().unwrap();
        let place = |name| folder.path().join(name);
        let (layout, durability) = (Layout::default(), Durability::None);
        let holdings = Holdings::create(&place("data"), None).unwrap();
        let added = holdings.catalog().add_repository(
            "http://a.example/oai",
            "records/a",
            &catalog::Identity::default(),
        );
        let repository = holdings.wait(added).unwrap();
        let form = (layout, durability);
        let files = RecordKeeper::open(&holdings, &repository, "oai_dc", form, "1-1").unwrap();
        let mirror = Arc::new(Mirror::open(&place("mirror"), None, durability).unwrap());
        let is_detached = |count, mirror: Option<&Arc<Mirror>>| {
            let bodies = Bodies::new(mirror.cloned(), 1000);
            let xml = record(count);
            let mut prepared = Prepared::of(xml.as_bytes(), Vec::new(), true);
            assert_eq!(prepared.resources.len(), count);
            prepared.write("oai:a:1", &files, Some(&bodies));
            !prepared.needs_record()
        };

        assert!(is_detached(MOST_FILES, Some(&mirror)));
        assert!(!is_detached(MOST_FILES + 1, Some(&mirror)));
        // Without a mirror they would lie in memory.
        assert!(!is_detached(1, None));
    }
}
