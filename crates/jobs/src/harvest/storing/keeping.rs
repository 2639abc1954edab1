//! What is done with one record: it is kept, deleted or dropped, with its file and its resources.

use catalog::{Known, RecordRow, Validation};
use harvester::Header;
use harvester::unpack::{self, Resource};
use store::{NewFile, RecordFiles};

use super::Storing;
use super::preparing::Prepared;
use crate::harvest::resources::{Missing, Resources, is_url};
use crate::harvest::{Deleted, digest, now};

impl Storing<'_> {
    /// Keeps a record: its resources, its file, its row.
    pub(super) fn keep(
        &mut self,
        slice: usize,
        header: &Header,
        before: Option<&Known>,
        prepared: Prepared<'_>,
        validation: Validation,
    ) -> anyhow::Result<RecordRow> {
        let mut row = row(header, validation);
        let is_unchanged = self.preparer.held(header, before) == Some(&*prepared.digest);
        if !is_unchanged {
            self.note_files(&header.identifier, &prepared.resources)?;
        }
        row.sha256 = Some(prepared.digest);
        let mut complete = true;
        if let Some(error) = prepared.damage {
            self.pages[slice].lose(Some(&header.identifier), error.to_string());
        } else if !is_unchanged && let Some(resources) = &mut self.resources {
            for url in urls_before(&self.files, before) {
                let is_same = |(resource, _): &(Resource<'_>, _)| resource.url == url;
                if !prepared.resources.iter().any(is_same) {
                    resources.remove(&url)?;
                }
            }
            for (resource, body) in prepared.resources {
                match resources.keep(&resource, body) {
                    Ok(()) => {}
                    Err(Missing::Lost(reason)) => {
                        self.pages[slice].lose(Some(&header.identifier), reason);
                        complete = false;
                    }
                    Err(Missing::Fatal(error)) => return Err(error),
                }
            }
        }
        row.file = Some(self.file(header, before, &prepared.xml, &row, prepared.file)?);
        if !complete {
            // When it comes again it is not taken for one of which everything is there.
            row.sha256 = None;
        }
        Ok(row)
    }

    /// Notes what is going to be written, so that the next harvest finds it if this one is killed.
    fn note_files<T>(
        &mut self,
        identifier: &str,
        resources: &[(Resource<'_>, T)],
    ) -> anyhow::Result<()> {
        let mirror = self.resources.as_ref().and_then(Resources::mirror);
        let mut urls = Vec::new();
        for (resource, _) in resources {
            // What has a file belongs to a record already.
            if let Some(mirror) = &mirror
                && is_url(&resource.url)
                && mirror.find(&resource.url)?.is_none()
            {
                urls.push(resource.url.clone());
            }
        }
        let directory = self.mirror_directory.as_deref();
        self.journal.note(identifier, directory, urls)
    }

    /// Whether this harvest has had a newer version of a record already: lists that change while they are read, or are in
    /// no order, may give an older one after it.
    pub(super) fn is_outdated(&self, header: &Header, before: Option<&Known>) -> bool {
        let before = before.filter(|before| before.run == self.run);
        let newest = before.and_then(|before| before.datestamp);
        let datestamp = header.moment().map(|moment| moment.seconds());
        newest
            .zip(datestamp)
            .is_some_and(|(newest, this)| this < newest)
    }

    /// The file of a record, which is written unless it is there already. A harvest that makes everything anew looks into
    /// it.
    fn file(
        &self,
        header: &Header,
        before: Option<&Known>,
        xml: &[u8],
        row: &RecordRow,
        written: Option<Result<NewFile, store::Error>>,
    ) -> anyhow::Result<String> {
        let known = before.filter(|before| !before.deleted && before.sha256 == row.sha256);
        let file = before.and_then(|before| before.file.as_deref());
        if let Some(file) = known.and(file) {
            let place = self.files.absolute(file);
            let is_there = match self.checkpoint.anew {
                true => std::fs::read(place)
                    .is_ok_and(|held| digest::of_record(&held) == digest::of_record(xml)),
                false => place.exists(),
            };
            if is_there {
                return Ok(file.to_owned());
            }
        }
        let written = written.unwrap_or_else(|| self.files.fill(&header.identifier, xml));
        Ok(self.files.place(written?, &header.identifier, file)?)
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

/// A record that is held as it was, because the filter does not accept what it is now.
pub(super) fn filtered(header: &Header, held: &Known) -> RecordRow {
    RecordRow {
        datestamp: held.datestamp,
        file: held.file.clone(),
        sha256: held.sha256.clone(),
        ..row(header, Validation::Filtered)
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

/// The URLs of the resources that a record spoke of when it was last harvested.
pub(super) fn urls_before(files: &RecordFiles, before: Option<&Known>) -> Vec<String> {
    let file = before.and_then(|before| before.file.as_deref());
    let Some(xml) = file.and_then(|file| std::fs::read(files.absolute(file)).ok()) else {
        return Vec::new();
    };
    let found = unpack::resources(&xml).unwrap_or_default();
    found.into_iter().map(|resource| resource.url).collect()
}
