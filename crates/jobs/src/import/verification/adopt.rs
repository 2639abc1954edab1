//! Documents that no row speaks of, taken into the catalog as their `.met` files tell.
//!
//! A kill at any moment leaves each of them whole somewhere in the collection, together with its `.met` file, for the
//! next repair to find.

use catalog::{
    CaptureRow, ContentEntry, ContentRow, GroupCommit, ImportCounters, ParentRow, Placement,
};
use document::url::{self, Normal};
use store::Collection;

use super::super::member::md5_of_member;
use super::super::met::Met;
use super::comparing::{self, digests, read_met, unreadable};
use super::path_of;
use super::repair::Verifying;

/// A document that no row speaks of.
pub(super) struct Orphan {
    pub(super) number: i64,
    pub(super) extension: String,
    pub(super) path: String,
    /// The path of its `.met` file, if it has one.
    pub(super) metadata: Option<String>,
}

/// What became of one.
pub(super) enum Adopted {
    /// The catalog has it now, under this number.
    Taken { number: i64 },
    /// Its bytes lie under this number too, which were read.
    Known { number: i64 },
    /// It is out of the collection now.
    SetAside { why: &'static str, to: String },
    /// It stays where it is.
    Unreadable { why: String },
}

impl Verifying<'_> {
    /// Imports a file again as its `.met` file says: under its own number, if nobody has that.
    pub(super) fn adopt(&self, orphan: &Orphan) -> anyhow::Result<Adopted> {
        let refused = |why| self.refuse(orphan, why);
        let Some(metadata) = &orphan.metadata else {
            return refused("it has no .met file");
        };
        let xml = match read_met(self.collection, metadata) {
            Ok(Some(xml)) => xml,
            Ok(None) => return refused("it has no .met file"),
            Err(why) => return Ok(Adopted::Unreadable { why }),
        };
        let Some(met) = Met::parse(&xml) else {
            return refused("its .met file cannot be understood");
        };
        let mut bytes = match self.collection.read(&orphan.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let why = error.to_string();
                return Ok(Adopted::Unreadable { why });
            }
        };
        let digests = match digests(&mut bytes) {
            Ok(digests) => digests,
            Err(error) => {
                let why = unreadable(&orphan.path, &error);
                return Ok(Adopted::Unreadable { why });
            }
        };
        if digests.sha1_hex() != met.sha1 || digests.sha256_hex() != met.sha256 {
            return refused("its .met file tells of other bytes");
        }
        let met = met.with_digests(&digests);
        match row(&met, &orphan.extension) {
            Some(row) => self.take_in(orphan, row, &met, &xml),
            None => refused("its .met file has no URL that can be used"),
        }
    }

    fn take_in(
        &self,
        orphan: &Orphan,
        row: CaptureRow,
        met: &Met,
        xml: &[u8],
    ) -> anyhow::Result<Adopted> {
        let sha1 = met.sha1.as_str();
        let repairing = self.repairing()?;
        let catalog = self.holdings.catalog();
        let known = self.holdings.wait(catalog.content_of(sha1))?;
        let mut import = repairing.lock();
        if known.is_none() && self.holdings.wait(catalog.is_free(orphan.number))? {
            import.prefer(sha1, orphan.number);
        }
        let rows = [row];
        let placements = self.holdings.wait(catalog.reserve(&mut import, &rows))?;
        let adopted = match (placements.first(), &known) {
            (Some(Placement::Store { number }), known) => {
                let extension = known.as_ref().map(|content| content.extension.as_str());
                let extension = extension.unwrap_or(&orphan.extension);
                if !self.bring(orphan, *number, extension, xml)? {
                    drop(import);
                    return self.refuse(orphan, "another file lies where it should go");
                }
                Adopted::Taken { number: *number }
            }
            (Some(Placement::Known { number }), Some(_)) => Adopted::Known { number: *number },
            _ => {
                drop(import);
                return self.refuse(orphan, "the catalog does not want it");
            }
        };
        // What the catalog knows of the text is newer than what the file says.
        let is_known = self.holdings.wait(catalog.known_content(sha1))?.is_some();
        let judgements: Vec<_> = met.judgement().filter(|_| !is_known).into_iter().collect();
        let commit = GroupCommit {
            rows: &rows,
            placements: &placements,
            source: 0,
            position: 0,
            source_done: false,
            counters: ImportCounters::default(),
            warnings: &[],
            judgements: &judgements,
        };
        // What it leaves without a document stays as a file without a row, and is judged as such.
        self.holdings
            .wait(catalog.commit_group(&mut import, commit))?;
        drop(import);
        match (adopted, known) {
            (Adopted::Known { number }, Some(content)) => self.forget(orphan, number, &content),
            (adopted, _) => self.tidy(orphan, adopted),
        }
    }

    /// Brings a document to the path of a number; whether there was room for it. The `.met` file is there first, so that
    /// the document is never without.
    fn bring(
        &self,
        orphan: &Orphan,
        number: i64,
        extension: &str,
        xml: &[u8],
    ) -> anyhow::Result<bool> {
        if orphan.path == Collection::relative_path(number, extension) {
            return Ok(true);
        }
        self.repairing()?.check()?;
        let to = Collection::relative_path(number, extension);
        match self.collection.read(&to) {
            Err(error) if error.is_missing() => {}
            _ => return Ok(false),
        }
        // Where lost bytes come back, theirs may have stayed.
        if read_met(self.collection, &format!("{to}.met")) == Ok(None) {
            self.collection.write_metadata(number, extension, xml)?;
        }
        let moved = self.collection.renumber(&orphan.path, number, extension)?;
        self.collection.sync()?;
        Ok(moved)
    }

    /// Removes the `.met` file that a document left where it was.
    fn tidy(&self, orphan: &Orphan, adopted: Adopted) -> anyhow::Result<Adopted> {
        if let (Adopted::Taken { number }, Some(metadata)) = (&adopted, &orphan.metadata)
            && *number != orphan.number
        {
            self.repairing()?.check()?;
            self.collection.remove_file(metadata)?;
        }
        Ok(adopted)
    }

    /// Removes a document whose bytes lie elsewhere as well, if they really do.
    fn forget(
        &self,
        orphan: &Orphan,
        number: i64,
        content: &ContentEntry,
    ) -> anyhow::Result<Adopted> {
        let is_elsewhere = orphan.path != path_of(content);
        if !is_elsewhere || comparing::problem(self.collection, content).is_some() {
            return self.refuse(orphan, "its other copy cannot be read");
        }
        self.repairing()?.check()?;
        for path in orphan.metadata.iter().chain([&orphan.path]) {
            self.collection.remove_file(path)?;
        }
        Ok(Adopted::Known { number })
    }

    /// Sets a document aside, with its `.met` file.
    fn refuse(&self, orphan: &Orphan, why: &'static str) -> anyhow::Result<Adopted> {
        self.repairing()?.check()?;
        let to = self.collection.set_aside(&orphan.path)?;
        if let Some(metadata) = &orphan.metadata {
            self.collection.set_aside(metadata)?;
        }
        Ok(Adopted::SetAside { why, to })
    }
}

/// The capture that a `.met` file tells of.
fn row(met: &Met, extension: &str) -> Option<CaptureRow> {
    let url = url::normalise(&met.url).ok()?;
    let parent = met.parent_url.as_deref().map(url::normalise);
    let md5 = match &met.member {
        Some(member) => md5_of_member(&url.url, member),
        None => url.md5.clone(),
    };
    Some(CaptureRow {
        md5,
        host: url.host,
        url: url.url,
        parent: parent.and_then(Result::ok).map(|parent: Normal| ParentRow {
            url: parent.url,
            md5: parent.md5,
            host: parent.host,
        }),
        depth: met.depth,
        is_seed: met.seed,
        crawled: met.crawl_date,
        content: ContentRow::Bytes {
            sha1: met.sha1.clone(),
            sha256: met.sha256.clone(),
            size: met.size,
            extension: extension.to_owned(),
        },
        declared_type: met.declared.clone(),
        sniffed_type: met.sniffed.clone(),
        media_type: met.media_type.clone(),
        member: met.member.clone(),
        source: met.source.clone(),
    })
}
