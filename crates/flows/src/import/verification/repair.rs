//! The repair of what is not in order. A document that is lost cannot be made again; the next import that meets its
//! bytes brings it back.

use anyhow::Context;
use catalog::{ContentEntry, Superfluous};
use process::Confiner;
use store::{Collection, CollectionFile};

use super::adopt::{Adopted, Orphan};
use super::comparing::{Looked, Metadata, Problem};
use super::orphans::number;
use super::repairing::Repairing;
use super::{NO_METADATA, ORPHAN, Repair, UNUSED, Verification, path_of};
use crate::Holdings;
use crate::import::met;

/// A verification that is going on.
pub(super) struct Verifying<'a> {
    pub(super) holdings: &'a Holdings,
    pub(super) collection: &'a Collection,
    pub(super) repairing: Option<&'a Repairing<'a>>,
    pub(super) confiner: Option<Confiner>,
    pub(super) result: Verification,
}

impl<'a> Verifying<'a> {
    pub(super) fn new(
        holdings: &'a Holdings,
        collection: &'a Collection,
        repairing: Option<&'a Repairing<'a>>,
        confiner: Option<Confiner>,
    ) -> Self {
        Self {
            holdings,
            collection,
            repairing,
            confiner,
            result: Verification {
                digested: true,
                ..Verification::default()
            },
        }
    }

    pub(super) fn repairing(&self) -> anyhow::Result<&'a Repairing<'a>> {
        self.repairing.context("nothing is repaired here")
    }

    /// Removes what imports that were killed were about to remove.
    pub(super) fn remove_left(&mut self, left: Vec<Superfluous>) -> anyhow::Result<()> {
        for file in left {
            let path = Collection::relative_path(file.number, &file.extension);
            if self.collection.read(&path).is_err() {
                continue;
            }
            self.collection.remove(file.number, &file.extension)?;
            self.note_orphan(
                path,
                Repair::Done("replaced by an import, and removed".to_owned()),
            );
        }
        self.collection.sync()?;
        self.holdings
            .wait(self.holdings.catalog().forget_superfluous())?;
        Ok(())
    }

    /// Judges one content.
    pub(super) fn content(&mut self, content: &ContentEntry, looked: Looked) -> anyhow::Result<()> {
        self.result.contents += 1;
        if let Some(problem) = looked.problem {
            return self.problem(content, &problem);
        }
        if self.repairing.is_some() && !content.is_stored {
            self.set_stored(content, true)?;
        }
        if content.documents == 0 {
            return self.without_document(content);
        }
        let path = format!("{}.met", path_of(content));
        match looked.metadata {
            Metadata::Fits => {}
            Metadata::Missing | Metadata::Wrong => {
                self.result.without_metadata += 1;
                let is_there = looked.metadata == Metadata::Wrong;
                let repair = self.describe_anew(content, &path, is_there)?;
                self.result.note(path, NO_METADATA, repair);
            }
            Metadata::Unreadable(reason) => {
                self.result.unreadable += 1;
                self.result.note(path, reason, Repair::None);
            }
        }
        match looked.lacks_text {
            true => self.missing_text(content),
            false => Ok(()),
        }
    }

    /// Tells of a content that no document has; a repair forgets them all at once. An import may count on it, or has
    /// removed it since the row was read.
    fn without_document(&mut self, content: &ContentEntry) -> anyhow::Result<()> {
        let catalog = self.holdings.catalog();
        let is_alone = || self.holdings.wait(catalog.running_imports());
        if self.repairing.is_some() || !is_alone()?.is_empty() {
            return Ok(());
        }
        let now = self.holdings.wait(catalog.content(content.number))?;
        // The trash is going to have it.
        let trashed = self
            .holdings
            .wait(catalog.trashed_numbers(&[content.number]))?;
        if trashed.is_empty() && now.is_some_and(|now| now.documents == 0) {
            self.result.unused += 1;
            self.result.note(path_of(content), UNUSED, Repair::None);
        }
        Ok(())
    }

    fn problem(&mut self, content: &ContentEntry, problem: &Problem) -> anyhow::Result<()> {
        // It may have been replaced since the row was read.
        let now = self.holdings.catalog().content(content.number);
        if self.holdings.wait(now)?.is_none() {
            return Ok(());
        }
        let repair = match problem {
            Problem::Missing => {
                self.result.missing += 1;
                self.lost(content)?
            }
            Problem::OtherSize | Problem::OtherBytes => {
                self.result.damaged += 1;
                self.damaged(content)?
            }
            Problem::Unreadable(_) => {
                self.result.unreadable += 1;
                Repair::None
            }
        };
        self.result.note(path_of(content), problem.said(), repair);
        Ok(())
    }

    /// Marks a content whose bytes are lost, so that an import that meets them again stores them.
    fn lost(&self, content: &ContentEntry) -> anyhow::Result<Repair> {
        if self.repairing.is_none() {
            return Ok(Repair::None);
        }
        self.set_stored(content, false)?;
        Ok(Repair::Partly(LOST.to_owned()))
    }

    /// Makes room for the bytes that should be there. Those that are may be a document of their own.
    fn damaged(&self, content: &ContentEntry) -> anyhow::Result<Repair> {
        if self.repairing.is_none() {
            return Ok(Repair::None);
        }
        self.set_stored(content, false)?;
        let path = path_of(content);
        let files = self.collection.files_of(content.number)?;
        let metadata = format!("{path}.met");
        let has_metadata = files.iter().any(|file| file.path == metadata);
        let orphan = Orphan {
            number: content.number,
            extension: content.extension.clone(),
            path,
            metadata: has_metadata.then_some(metadata),
        };
        let became = match self.adopt(&orphan)? {
            Adopted::Taken { number } => format!("what is there is document {number} now"),
            Adopted::Known { number } => format!("what is there lies under {number} as well"),
            Adopted::SetAside { to, .. } => format!("what is there lies in {to} now"),
            Adopted::Unreadable { why } => why,
        };
        Ok(Repair::Partly(format!("{LOST}; {became}")))
    }

    fn set_stored(&self, content: &ContentEntry, is_stored: bool) -> anyhow::Result<()> {
        let catalog = self.holdings.catalog();
        self.holdings
            .wait(catalog.set_stored(&[content.number], is_stored))?;
        Ok(())
    }

    /// Writes the `.met` file of a content from what the catalog knows of its first document.
    fn describe_anew(
        &self,
        content: &ContentEntry,
        path: &str,
        is_there: bool,
    ) -> anyhow::Result<Repair> {
        let Some(repairing) = self.repairing else {
            return Ok(Repair::None);
        };
        let Some(met) = met::update::described(self.holdings, content)? else {
            return Ok(Repair::None);
        };
        repairing.check()?;
        let mut said = "written anew from the catalog".to_owned();
        if is_there {
            let aside = self.collection.set_aside(path)?;
            said.push_str(&format!("; the old one lies in {aside} now"));
        }
        let (number, extension) = (content.number, &content.extension);
        self.collection
            .write_metadata(number, extension, &met.to_xml())?;
        Ok(Repair::Done(said))
    }

    /// Forgets contents that no document has. Files of those that were replaced go; others are judged like all that no
    /// row speaks of.
    pub(super) fn unused(&mut self) -> anyhow::Result<()> {
        let Some(repairing) = self.repairing else {
            return Ok(());
        };
        repairing.check()?;
        let catalog = self.holdings.catalog();
        for content in self.holdings.wait(catalog.remove_doomed_contents())? {
            self.collection.remove(content.number, &content.extension)?;
            self.note_unused(&content, "removed, since it was replaced");
        }
        for content in self.holdings.wait(catalog.remove_unused_contents())? {
            self.note_unused(&content, "forgotten, but for its file");
        }
        Ok(())
    }

    fn note_unused(&mut self, content: &Superfluous, said: &str) {
        self.result.unused += 1;
        let path = Collection::relative_path(content.number, &content.extension);
        self.result
            .note(path, UNUSED, Repair::Done(said.to_owned()));
    }

    /// Makes sure that no number is given out under which a file lies.
    pub(super) fn raise_numbers(&self) -> anyhow::Result<()> {
        if self.repairing.is_none() {
            return Ok(());
        }
        let mut greatest = 0;
        for file in self.collection.files() {
            greatest = greatest.max(number(&file?.kind).unwrap_or_default());
        }
        let catalog = self.holdings.catalog();
        Ok(self.holdings.wait(catalog.raise_numbers(greatest))?)
    }

    pub(super) fn set_aside(&self, path: &str) -> anyhow::Result<Repair> {
        self.repairing()?.check()?;
        let to = self.collection.set_aside(path)?;
        Ok(Repair::Done(format!("lies in {to} now")))
    }

    /// Lets the text of a document follow it to another number.
    pub(super) fn follow(&self, text: &CollectionFile, to: i64) -> anyhow::Result<Repair> {
        self.repairing()?.check()?;
        match self.collection.renumber(&text.path, to, "txt")? {
            true => Ok(Repair::Done(format!("belongs to document {to} now"))),
            false => self.set_aside(&text.path),
        }
    }

    /// Deals with a file that no collection puts there. A repair takes it out of the way and does not lose it.
    pub(super) fn stray(&mut self, path: String) {
        self.result.orphans += 1;
        let repair = match self.repairing {
            Some(_) => self.set_aside(&path).unwrap_or_else(|error| {
                Repair::Partly(format!(
                    "it cannot be set aside: {}",
                    crate::message(&error)
                ))
            }),
            None => Repair::None,
        };
        self.result.note(path, STRAY, repair);
    }

    /// Tells of a file that an import placed which did not come to its end.
    pub(super) fn note_unfinished(&mut self, path: String, import: i64) {
        self.result.orphans += 1;
        self.result.unfinished += 1;
        let problem = format!(
            "import {import}, which was interrupted, placed it; the same import resumes with it, and --repair takes it in"
        );
        self.result.note(path, problem, Repair::None);
    }

    pub(super) fn note_orphan(&mut self, path: String, repair: Repair) {
        self.result.orphans += 1;
        self.result.note(path, ORPHAN, repair);
    }

    /// Tells what became of a document and its `.met` file.
    pub(super) fn note_adopted(&mut self, orphan: Orphan, adopted: &Adopted) {
        let repair = match adopted {
            Adopted::Taken { number } => Repair::Done(format!("document {number} now")),
            Adopted::Known { number } => {
                Repair::Done(format!("removed; the same bytes lie under {number}"))
            }
            Adopted::SetAside { why, to } => Repair::Done(format!("{why}; lies in {to} now")),
            Adopted::Unreadable { why } => Repair::Partly(why.clone()),
        };
        for path in orphan.metadata.into_iter().chain([orphan.path]) {
            self.note_orphan(path, repair.clone());
        }
    }
}

const STRAY: &str = "this is not a file of the collection";
const LOST: &str = "marked as lost; an import that meets these bytes again brings them back";
