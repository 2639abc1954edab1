//! The files of a harvest: gives the file and the resources of a record their places, or removes them.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use catalog::{Known, RecordRow, Validation};
use harvester::Header;
use harvester::unpack::{self, Resource};
use store::NewFile;

use super::journal::{Journal, Place};
use super::page::Page;
use super::preparing::Prepared;
use crate::harvest::resources::{Missing, Resources, is_url};
use crate::harvest::work::Work;
use crate::harvest::{Deleted, digest, now};
use crate::records::RecordKeeper;

/// Places files. The journal knows of each before it is there.
pub(super) struct Placing<'a> {
    files: Arc<RecordKeeper<'a>>,
    /// Harvests of two sets may go on at once, but not into one directory: files are numbered there.
    _lock: Option<File>,
    pub(super) resources: Option<Resources<'a>>,
    pub(super) journal: Journal,
    mirror_directory: Option<PathBuf>,
    /// Whether everything is written anew.
    anew: bool,
    deleted: Deleted,
}

impl<'a> Placing<'a> {
    /// Takes the directory of a repository and a format for this process, and clears away the files that a killed harvest
    /// has not committed.
    pub(super) fn open(
        work: &'a Work<'a>,
        resources: Option<Resources<'a>>,
        anew: bool,
    ) -> anyhow::Result<Self> {
        let (holdings, repository, order) = (work.holdings, work.repository, work.order);
        let prefix = &order.metadata_prefix;
        let directory = holdings.record_directory(repository, prefix);
        let holder = {
            let run = work.lease.lock();
            format!("{}-{}", run.id(), run.fence())
        };
        let form = (order.layout(), order.durability());
        let files = RecordKeeper::open(holdings, repository, prefix, form, &holder)?;
        let lock = lock(&directory, work.job.is_some())?;
        let place = Place::of(holdings, repository, prefix);
        // Without the lock they may be those of a process that goes on.
        if lock.is_some() {
            place.clear(holdings, repository, prefix, &files)?;
        }
        let mirror_directory = order.unpack.as_deref().map(std::path::absolute);
        Ok(Self {
            files: Arc::new(files),
            _lock: lock,
            resources,
            journal: Journal::new(place),
            mirror_directory: mirror_directory.transpose()?,
            anew,
            deleted: order.deleted,
        })
    }

    /// The files of records, for the stages that write and sync them.
    pub(super) fn files(&self) -> Arc<RecordKeeper<'a>> {
        Arc::clone(&self.files)
    }

    /// Ends the work when everything is committed.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        if let Some(resources) = self.resources {
            resources.finish()?;
        }
        self.journal.finish();
        Ok(())
    }

    /// Keeps a record: its resources, its file, its row.
    pub(super) fn keep(
        &mut self,
        page: &mut Page,
        header: &Header,
        before: Option<&Known>,
        prepared: Prepared<'_>,
        is_unchanged: bool,
        validation: Validation,
    ) -> anyhow::Result<RecordRow> {
        let mut row = row(header, validation);
        if !is_unchanged {
            self.note_files(&header.identifier, &prepared.resources)?;
        }
        row.sha256 = Some(prepared.digest);
        let mut complete = true;
        if prepared.unowned > 0 && !is_unchanged {
            let reason = format!(
                "{} large values belong to none of its files, and their bytes were not kept",
                prepared.unowned
            );
            page.warn(Some(&header.identifier), reason);
        }
        if let Some(error) = prepared.damage {
            page.lose(Some(&header.identifier), error.to_string());
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
                        page.lose(Some(&header.identifier), reason);
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
            // A path that has a file belongs to a record already.
            if let Some(mirror) = &mirror
                && is_url(&resource.url)
                && mirror.find(&resource.url)?.is_none()
            {
                urls.push(resource.url.clone());
            }
        }
        // Records that were added to a pack and not committed belong to nobody, and go with the next compaction.
        if urls.is_empty() && !self.files.is_of_files() {
            return Ok(());
        }
        let directory = self.mirror_directory.as_deref();
        self.journal.note(identifier, directory, urls)
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
            let is_there = match self.anew {
                true => (self.files.read(file))
                    .is_some_and(|held| digest::of_record(&held) == digest::of_record(xml)),
                false => self.files.has(file),
            };
            if is_there {
                return Ok(file.to_owned());
            }
        }
        Ok(self.files.place(written, &header.identifier, xml, file)?)
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
        match self.deleted {
            Deleted::Remove => self.files.remove(file)?,
            Deleted::Keep => row.file = self.files.mark_deleted(file)?,
        }
        Ok(row)
    }

    /// Removes what a record had that the filters do not want any more.
    pub(super) fn remove(&self, header: &Header, before: &Known) -> anyhow::Result<()> {
        self.remove_resources(&header.identifier, Some(before))?;
        match &before.file {
            Some(file) => Ok(self.files.remove(file)?),
            None => Ok(()),
        }
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

/// A record that is held as it is now.
pub(super) fn unchanged(header: &Header, held: &Known) -> RecordRow {
    RecordRow {
        datestamp: held.datestamp,
        file: held.file.clone(),
        sha256: held.sha256.clone(),
        ..row(header, held.validation)
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

/// The URLs of the resources that a record spoke of when it was last harvested.
pub(super) fn urls_before(files: &RecordKeeper<'_>, before: Option<&Known>) -> Vec<String> {
    let file = before.and_then(|before| before.file.as_deref());
    let Some(xml) = file.and_then(|file| files.read(file)) else {
        return Vec::new();
    };
    let found = unpack::resources(&xml).unwrap_or_default();
    found.into_iter().map(|resource| resource.url).collect()
}

/// Takes a directory for this process.
///
/// For a job the catalog has seen to it that nobody else harvests the repository. If the lock is held nevertheless, it
/// is by a process that lost the job and does not know yet: it notices in a moment, or it is stopped, and then it asks
/// before it writes.
fn lock(directory: &Path, for_job: bool) -> anyhow::Result<Option<File>> {
    let opened = File::open(directory);
    let opened = opened.with_context(|| format!("{} cannot be opened", directory.display()))?;
    let give_up = Instant::now() + LONGEST_LOCK;
    loop {
        match opened.try_lock() {
            Err(TryLockError::WouldBlock) if !for_job => bail!(
                "another harvest is writing into {}; wait for it, or stop it",
                directory.display()
            ),
            Err(TryLockError::WouldBlock) if Instant::now() < give_up => {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Some network file systems know no locks.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(Some(opened)),
        }
    }
}

/// How long a process that lost its job may take to notice.
const LONGEST_LOCK: Duration = Duration::from_secs(3);
