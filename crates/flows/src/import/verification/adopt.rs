//! Documents that no row speaks of, taken into the catalog as their `.met` files tell.
//!
//! A kill at any moment leaves each of them whole somewhere in the collection, together with its `.met` file, for the
//! next repair to find.

use std::collections::HashSet;

use catalog::{
    CaptureRow, ContentEntry, ContentRow, DocumentEntry, DocumentState, GroupCommit,
    ImportCounters, ParentRow, Placement,
};
use document::url::{self, Normal};
use store::Collection;

use super::super::met::{Met, MetDocument};
use super::comparing::{self, digests, read_met, unreadable};
use super::path_of;
use super::repair::Verifying;
use crate::import::examine::member::md5_of_member;

/// A document that no row speaks of.
pub(super) struct Orphan {
    pub(super) number: i64,
    pub(super) extension: String,
    pub(super) path: String,
    /// The path of its `.met` file, if it has one.
    pub(super) metadata: Option<String>,
}

/// The outcome for one.
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
        let documents = met.all_documents().into_iter();
        let told: Vec<_> = documents
            .filter_map(|document| MetEntry::of(&met, document, &orphan.extension))
            .collect();
        match told.is_empty() {
            false => self.take_in(orphan, &told, &met, &xml),
            true => refused("its .met file has no URL that can be used"),
        }
    }

    fn take_in(
        &self,
        orphan: &Orphan,
        told: &[MetEntry],
        met: &Met,
        xml: &[u8],
    ) -> anyhow::Result<Adopted> {
        let sha1 = met.sha1.as_str();
        let repairing = self.repairing()?;
        let catalog = self.holdings.catalog();
        let known = self.holdings.wait(catalog.content_of(sha1))?;
        self.raise_above(told)?;
        let mut import = repairing.lock();
        if known.is_none() && self.holdings.wait(catalog.is_content_free(orphan.number))? {
            import.prefer(sha1, orphan.number);
        }
        let mut given = HashSet::new();
        for one in told {
            // An old file tells no number: its first document had that of its bytes.
            let number = one.document.number.unwrap_or(orphan.number);
            if !given.contains(&number) && self.holdings.wait(catalog.is_document_free(number))? {
                given.insert(number);
                import.prefer_document(&one.md5, number);
            }
        }
        let rows: Vec<_> = told.iter().flat_map(|one| one.rows.clone()).collect();
        let placements = self.holdings.wait(catalog.reserve(&mut import, &rows))?;
        let stored = placements.iter().find_map(|placement| match placement {
            Placement::Store { number } => Some(*number),
            _ => None,
        });
        let adopted = match (stored, &known) {
            (Some(number), known) => {
                let extension = known.as_ref().map(|content| content.extension.as_str());
                let extension = extension.unwrap_or(&orphan.extension);
                if !self.bring(orphan, number, extension, xml)? {
                    drop(import);
                    return self.refuse(orphan, "another file lies where it should go");
                }
                Adopted::Taken { number }
            }
            (None, Some(content))
                if placements
                    .iter()
                    .any(|placement| placement.number().is_some()) =>
            {
                Adopted::Known {
                    number: content.number,
                }
            }
            _ => {
                drop(import);
                return self.refuse(orphan, "the catalog does not want it");
            }
        };
        // The catalog's knowledge of the text is newer than the file's.
        let is_known = self.holdings.wait(catalog.known_content(sha1))?.is_some();
        let judgements: Vec<_> = met.judgement().filter(|_| !is_known).into_iter().collect();
        let commit = GroupCommit {
            rows: &rows,
            placements: &placements,
            source: 0,
            position: import
                .positions()
                .first()
                .map_or(0, |source| source.position),
            source_done: false,
            counters: ImportCounters::default(),
            warnings: &[],
            judgements: &judgements,
        };
        // A content that is left without a document stays as a file without a row, and is judged as such.
        self.holdings
            .wait(catalog.commit_group(&mut import, commit))?;
        drop(import);
        if let Some(corrected) = met.text.as_ref().and_then(|text| text.corrected.as_ref()) {
            self.holdings
                .wait(catalog.restore_correction(sha1, corrected))?;
        }
        self.restore_states(told, sha1)?;
        match (adopted, known) {
            (Adopted::Known { number }, Some(content)) => self.forget(orphan, number, &content),
            (adopted, _) => self.tidy(orphan, adopted),
        }
    }

    /// Makes sure that no number is given out that a document had.
    fn raise_above(&self, told: &[MetEntry]) -> anyhow::Result<()> {
        let numbers = told.iter().filter_map(|one| one.document.number);
        if let Some(greatest) = numbers.max().filter(|number| *number < i64::MAX / 2) {
            let catalog = self.holdings.catalog();
            self.holdings.wait(catalog.raise_numbers(greatest))?;
        }
        Ok(())
    }

    /// Says again what became of documents in a search engine, unless they have other bytes or another state by now.
    fn restore_states(&self, told: &[MetEntry], sha1: &str) -> anyhow::Result<()> {
        let catalog = self.holdings.catalog();
        for one in told {
            let state = one.document.state;
            if state == DocumentState::default() {
                continue;
            }
            let document = self.holdings.wait(catalog.document_at(&one.md5))?;
            let is_unsaid = |document: &DocumentEntry| {
                document.content_sha1 == sha1
                    && matches!(
                        document.state,
                        DocumentState::NotIngested | DocumentState::SetAside
                    )
            };
            if let Some(document) = document.filter(is_unsaid) {
                self.holdings
                    .wait(catalog.set_state(&[document.id], state))?;
            }
        }
        Ok(())
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

/// A document that a `.met` file tells of, and the captures that make it what it was.
struct MetEntry {
    document: MetDocument,
    md5: String,
    rows: Vec<CaptureRow>,
}

impl MetEntry {
    /// `None` if its URL cannot be used.
    fn of(met: &Met, document: MetDocument, extension: &str) -> Option<Self> {
        let url = url::normalise(&document.url).ok()?;
        let parent = document.parent_url.as_deref().map(url::normalise);
        let parent = parent.and_then(Result::ok).map(|parent: Normal| ParentRow {
            url: parent.url,
            md5: parent.md5,
            host: parent.host,
        });
        let md5 = match &document.member {
            Some(member) => md5_of_member(&url.url, member),
            None => url.md5.clone(),
        };
        let bytes = CaptureRow {
            md5: md5.clone(),
            host: url.host,
            url: url.url,
            parent,
            depth: document.depth,
            is_seed: document.seed,
            crawled: document.crawl_date,
            content: ContentRow::Bytes {
                sha1: met.sha1.clone(),
                sha256: met.sha256.clone(),
                size: met.size,
                extension: extension.to_owned(),
            },
            declared_type: document.declared.clone(),
            sniffed_type: document.sniffed.clone(),
            media_type: document.media_type.clone(),
            member: document.member.clone(),
            source: document.source.clone(),
            digest_mismatch: document.digest_mismatch.clone(),
        };
        // It was seen before and after it was crawled with these bytes.
        let mut rows = vec![bytes.clone()];
        for crawled in [document.discover_date, document.update_date] {
            if crawled != document.crawl_date {
                rows.push(CaptureRow {
                    crawled,
                    content: ContentRow::EdgeOnly,
                    ..bytes.clone()
                });
            }
        }
        Some(Self {
            document,
            md5,
            rows,
        })
    }
}
