//! What is done about what is not in order. A document that is lost cannot be made again; the next import that meets its
//! bytes brings it back.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use catalog::{
    CaptureRow, ContentEntry, ContentRow, DocumentQuery, FinishImport, GroupCommit, ImportCounters,
    ImportState, NewImport, ParentRow, Placement,
};
use document::url::{self, Normal};
use store::{Collection, CollectionFile, FileKind};

use super::super::member::md5_of_member;
use super::super::met::Met;
use super::comparing::{Looked, digests, number};
use super::{MISSING, NO_METADATA, ORPHAN, UNUSED, Verification};
use crate::Holdings;

/// A verification that is going on.
pub(super) struct Verifying<'a> {
    pub(super) holdings: &'a Holdings,
    pub(super) collection: &'a Collection,
    pub(super) repair: bool,
    pub(super) result: Verification,
}

impl Verifying<'_> {
    /// Judges one content.
    pub(super) fn content(&mut self, content: &ContentEntry, looked: Looked) -> anyhow::Result<()> {
        self.result.contents += 1;
        let path = Collection::relative_path(content.number, &content.extension);
        if let Some(problem) = looked.problem {
            // It may have been replaced since the row was read.
            if self.is_gone(content)? {
                return Ok(());
            }
            match problem {
                MISSING => self.result.missing += 1,
                _ => self.result.damaged += 1,
            }
            let repair = self.lost(content)?;
            self.result.note(path, problem, None);
            if let (Some(repair), Some(finding)) = (repair, self.result.findings.last_mut()) {
                finding.repair = Some(repair);
            }
            return Ok(());
        }
        if !content.is_stored {
            self.holdings
                .wait(self.holdings.catalog().set_stored(&[content.number], true))?;
        }
        if looked.met.is_none() && content.documents > 0 {
            self.result.without_metadata += 1;
            let repair = self.describe_anew(content)?;
            self.result.note(format!("{path}.met"), NO_METADATA, repair);
        }
        Ok(())
    }

    /// Marks a content whose bytes are lost, so that an import that meets them again stores them.
    fn lost(&self, content: &ContentEntry) -> anyhow::Result<Option<String>> {
        if !self.repair {
            return Ok(None);
        }
        self.holdings
            .wait(self.holdings.catalog().set_stored(&[content.number], false))?;
        let repair = "marked as lost; an import that meets these bytes again brings them back";
        Ok(Some(repair.to_owned()))
    }

    fn is_gone(&self, content: &ContentEntry) -> anyhow::Result<bool> {
        let now = self.holdings.catalog().content(content.number);
        Ok(self.holdings.wait(now)?.is_none())
    }

    /// Writes the `.met` file of a content from what the catalog knows of its first document.
    fn describe_anew(&self, content: &ContentEntry) -> anyhow::Result<Option<String>> {
        if !self.repair {
            return Ok(None);
        }
        let query = DocumentQuery {
            content: Some(content.number),
            limit: 1,
            ..DocumentQuery::default()
        };
        let documents = self.holdings.wait(self.holdings.catalog().documents(&query))?;
        let Some(document) = documents.into_iter().next() else {
            return Ok(None);
        };
        let met = Met {
            crawler: None,
            crawl_date: document.crawl_date,
            last_modified: None,
            url: document.url,
            parent_url: document.parent_url,
            depth: document.depth,
            seed: document.is_seed,
            declared: document.declared_type,
            sniffed: document.sniffed_type,
            media_type: document.media_type,
            sha1: document.content_sha1,
            sha256: document.content_sha256,
            size: document.size,
            member: document.member,
            source: document.source.unwrap_or_default(),
        };
        let (number, extension) = (content.number, &content.extension);
        self.collection
            .write_metadata(number, extension, &met.to_xml())?;
        Ok(Some("written anew from the catalog".to_owned()))
    }

    /// Forgets contents that no document has, with their files.
    pub(super) fn unused(&mut self) -> anyhow::Result<()> {
        if !self.repair {
            return Ok(());
        }
        let removed = self.holdings.catalog().remove_unused_contents();
        for content in self.holdings.wait(removed)? {
            self.collection.remove(content.number, &content.extension)?;
            self.result.unused += 1;
            let path = Collection::relative_path(content.number, &content.extension);
            self.result.note(path, UNUSED, Some("removed".to_owned()));
        }
        Ok(())
    }

    /// Judges files that no row speaks of. Documents are adopted with the help of their `.met` files; what has none, or
    /// is known already, is removed. What no collection puts there is somebody else's and stays.
    pub(super) fn orphans(&mut self, orphans: Vec<CollectionFile>) -> anyhow::Result<()> {
        let mut by_number: BTreeMap<i64, Vec<CollectionFile>> = BTreeMap::new();
        for orphan in orphans {
            match number(&orphan.kind) {
                Some(number) => by_number.entry(number).or_default().push(orphan),
                None => {
                    self.result.orphans += 1;
                    self.result.note(orphan.path, "this is not a file of the collection", None);
                }
            }
        }
        for files in by_number.into_values() {
            self.orphan(files)?;
        }
        Ok(())
    }

    fn orphan(&mut self, files: Vec<CollectionFile>) -> anyhow::Result<()> {
        let repair = match self.repair {
            true => Some(match self.adopt(&files)? {
                true => "taken into the catalog",
                false => "removed",
            }),
            false => None,
        };
        for file in files {
            if self.repair {
                self.collection.remove_file(&file.path)?;
            }
            self.result.orphans += 1;
            self.result.note(file.path, ORPHAN, repair.map(str::to_owned));
        }
        Ok(())
    }

    /// Imports a file again as its `.met` file says, under a number of its own; whether the catalog wanted it.
    fn adopt(&self, files: &[CollectionFile]) -> anyhow::Result<bool> {
        let Some((file, extension)) = files.iter().find_map(document_of) else {
            return Ok(false);
        };
        let Some(met) = self.met(file)? else {
            return Ok(false);
        };
        let mut bytes = self.collection.read(&file.path)?;
        let digests = digests(&mut bytes)?;
        if digests.sha1_hex() != met.sha1 || digests.sha256_hex() != met.sha256 {
            return Ok(false);
        }
        let Some(row) = row(&met, extension) else {
            return Ok(false);
        };
        bytes.rewind()?;
        self.take_in(row, &met, extension, &mut bytes)
    }

    fn met(&self, file: &CollectionFile) -> anyhow::Result<Option<Met>> {
        let mut xml = Vec::new();
        match self.collection.read(&format!("{}.met", file.path)) {
            Ok(met) => met.take(1 << 24).read_to_end(&mut xml)?,
            Err(_) => return Ok(None),
        };
        Ok(Met::parse(&xml))
    }

    fn take_in(
        &self,
        row: CaptureRow,
        met: &Met,
        extension: &str,
        bytes: &mut impl Read,
    ) -> anyhow::Result<bool> {
        let catalog = self.holdings.catalog();
        let name = format!("{} {}", met.url, met.sha1);
        let new = NewImport::new("{\"verify\":\"repair\"}", vec![name]);
        let mut import = self.holdings.wait(catalog.begin_import(&new))?;
        let rows = [row];
        let placements = self.holdings.wait(catalog.reserve(&mut import, &rows))?;
        let wanted = match placements.first() {
            Some(Placement::Store { number }) => {
                let mut file = self.collection.create()?;
                std::io::copy(bytes, &mut file)?;
                self.collection.place(*number, extension, file)?;
                self.collection
                    .write_metadata(*number, extension, &met.to_xml())?;
                self.collection.sync()?;
                true
            }
            _ => false,
        };
        let commit = GroupCommit {
            rows: &rows,
            placements: &placements,
            source: 0,
            position: 0,
            source_done: true,
            counters: ImportCounters::default(),
            warnings: &[],
        };
        let outcome = self
            .holdings
            .wait(catalog.commit_group(&mut import, commit))?;
        for content in outcome.superfluous {
            self.collection.remove(content.number, &content.extension)?;
        }
        let finish = FinishImport::new(ImportState::Ok);
        self.holdings.wait(catalog.finish_import(import, &finish))?;
        Ok(wanted)
    }
}

fn document_of(file: &CollectionFile) -> Option<(&CollectionFile, &str)> {
    match &file.kind {
        FileKind::Document { extension, .. } => Some((file, extension)),
        FileKind::Text { .. } => Some((file, "txt")),
        FileKind::Metadata { .. } | FileKind::Other => None,
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
