//! What is done with one record: it is kept, deleted or dropped, with its file and its resources.

use catalog::{Known, RecordRow, Validation};
use harvester::Header;
use harvester::unpack::{self, Resource};
use store::{NewFile, RecordFiles};

use super::Storing;
use crate::harvest::resources::Missing;
use crate::harvest::{Deleted, digest, now};

impl Storing<'_> {
    /// Keeps a record: its resources, its file, its row. The file may have been written already.
    pub(super) fn keep(
        &mut self,
        slice: usize,
        header: &Header,
        before: Option<&Known>,
        xml: &[u8],
        validation: Validation,
        filled: Option<NewFile>,
    ) -> anyhow::Result<RecordRow> {
        let mut row = row(header, validation);
        let Some(resources) = &mut self.resources else {
            self.write(header, before, xml, filled, &mut row)?;
            return Ok(row);
        };
        let found = match unpack::resources(xml) {
            Ok(found) => found,
            Err(error) => {
                self.pages[slice].lose(Some(&header.identifier), error.to_string());
                self.write(header, before, xml, None, &mut row)?;
                return Ok(row);
            }
        };
        // The bytes are in the mirror or in the WARC file; here they would only be there twice. Where the record tells
        // no digests of them, only they themselves tell whether they are the same.
        let told = |resource: &Resource| resource.value.is_none() || !resource.digests.is_empty();
        let digest = match found.iter().all(told) {
            true => None,
            false => Some(digest::of_record(xml)),
        };
        let xml = unpack::without_values(xml, &found);
        let digest = digest.unwrap_or_else(|| digest::of_record(&xml));
        row.sha256 = Some(digest);
        // What this harvest has written already is there, also where everything is written anew.
        let is_there = |before: &Known| !self.checkpoint.anew || before.run == self.run;
        if before.is_some_and(|before| is_unchanged(before, &row) && is_there(before)) {
            self.write(header, before, &xml, None, &mut row)?;
            return Ok(row);
        }
        for url in urls_before(&self.files, before) {
            if !found.iter().any(|resource| resource.url == url) {
                resources.remove(&url)?;
            }
        }
        let mut complete = true;
        for resource in &found {
            match resources.keep(resource) {
                Ok(()) => {}
                Err(Missing::Lost(reason)) => {
                    self.pages[slice].lose(Some(&header.identifier), reason);
                    complete = false;
                }
                Err(Missing::Fatal(error)) => return Err(error),
            }
        }
        self.write(header, before, &xml, None, &mut row)?;
        if !complete {
            // When it comes again it is not taken for one of which everything is there.
            row.sha256 = None;
        }
        Ok(row)
    }

    /// Writes the file of a record, unless it is there already. A harvest that makes everything anew looks into it.
    fn write(
        &self,
        header: &Header,
        before: Option<&Known>,
        xml: &[u8],
        filled: Option<NewFile>,
        row: &mut RecordRow,
    ) -> anyhow::Result<()> {
        let digest = row.sha256.get_or_insert_with(|| digest::of_record(xml));
        let known =
            before.filter(|before| !before.deleted && before.sha256.as_ref() == Some(digest));
        let file = before.and_then(|before| before.file.as_deref());
        if let Some(file) = known.and(file) {
            let place = self.files.absolute(file);
            let is_there = match self.checkpoint.anew {
                true => std::fs::read(place)
                    .is_ok_and(|held| digest::of_record(&held) == digest::of_record(xml)),
                false => place.exists(),
            };
            if is_there {
                row.file = Some(file.to_owned());
                return Ok(());
            }
        }
        let filled = match filled {
            Some(filled) => filled,
            None => self.files.fill(&header.identifier, xml)?,
        };
        row.file = Some(self.files.place(filled, &header.identifier, file)?);
        Ok(())
    }

    /// Removes what a deleted record had, and keeps the tombstone.
    pub(super) fn delete(
        &mut self,
        header: &Header,
        before: Option<&Known>,
    ) -> anyhow::Result<RecordRow> {
        let mut row = row(header, Validation::Ok);
        self.remove_resources(&header.identifier, before)?;
        let Some(file) = before.and_then(|before| before.file.as_deref()) else {
            return Ok(row);
        };
        match self.work.order.deleted {
            Deleted::Remove => self.files.remove(file)?,
            Deleted::Keep => row.file = self.files.mark_deleted(file)?,
        }
        Ok(row)
    }

    /// Gives up a record that the filters do not want any more.
    pub(super) fn drop_record(
        &mut self,
        header: &Header,
        before: Option<&Known>,
    ) -> anyhow::Result<()> {
        let Some(before) = before else {
            return Ok(());
        };
        self.remove_resources(&header.identifier, Some(before))?;
        if let Some(file) = &before.file {
            self.files.remove(file)?;
        }
        self.rows.retain(|row| row.identifier != header.identifier);
        self.pending.insert(header.identifier.clone(), None);
        self.dropped.push(header.identifier.clone());
        Ok(())
    }

    fn remove_resources(&self, identifier: &str, before: Option<&Known>) -> anyhow::Result<()> {
        let Some(resources) = &self.resources else {
            return Ok(());
        };
        let urls = urls_before(&self.files, before);
        if urls.is_empty() {
            // Where identifiers are URLs, that is enough to know.
            return resources.remove(identifier);
        }
        urls.iter().try_for_each(|url| resources.remove(url))
    }
}

fn row(header: &Header, validation: Validation) -> RecordRow {
    RecordRow {
        identifier: header.identifier.clone(),
        datestamp: header.moment().map(|moment| moment.seconds()),
        deleted: header.deleted,
        file: None,
        sha256: None,
        set_specs: header.set_specs.clone(),
        harvested: now(),
        validation,
    }
}

/// A record that may not be kept. What is held of it from before stays.
pub(super) fn skipped(header: &Header, before: Option<&Known>) -> RecordRow {
    let held = before.filter(|before| !before.deleted);
    RecordRow {
        file: held.and_then(|held| held.file.clone()),
        sha256: held.and_then(|held| held.sha256.clone()),
        ..row(header, Validation::Skipped)
    }
}

pub(super) fn knowledge(row: &RecordRow, run: i64) -> Known {
    Known {
        datestamp: row.datestamp,
        deleted: row.deleted,
        file: row.file.clone(),
        sha256: row.sha256.clone(),
        validation: row.validation,
        run,
    }
}

fn is_unchanged(before: &Known, row: &RecordRow) -> bool {
    !before.deleted && before.datestamp == row.datestamp && before.sha256 == row.sha256
}

/// The URLs of the resources that a record spoke of when it was last harvested.
fn urls_before(files: &RecordFiles, before: Option<&Known>) -> Vec<String> {
    let file = before.and_then(|before| before.file.as_deref());
    let Some(xml) = file.and_then(|file| std::fs::read(files.absolute(file)).ok()) else {
        return Vec::new();
    };
    let found = unpack::resources(&xml).unwrap_or_default();
    found.into_iter().map(|resource| resource.url).collect()
}
