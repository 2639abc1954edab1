//! The journal of files that are written and not committed yet: names of records and URLs, on the disk before their files are.
//!
//! A harvest that is killed leaves files that no row speaks of. Mostly it reads their records again and replaces them, but
//! a record that is deleted meanwhile would leave its file for ever. So the next harvest looks here.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use catalog::{Known, Repository};
use serde::{Deserialize, Serialize};
use store::{Durability, Mirror};

use super::placing::urls_before;
use crate::Holdings;
use crate::holdings::plain_name;
use crate::records::RecordKeeper;

/// Two files that take turns: one for what is stored, one for the batch that is being committed.
pub(super) struct Journal {
    place: Place,
    current: usize,
    files: [Option<File>; 2],
}

/// Where the journal of a repository and a format lies.
#[derive(Clone)]
pub(in crate::harvest) struct Place(PathBuf);

/// The files that were to be written for a record.
#[derive(Serialize, Deserialize)]
struct Entry {
    identifier: String,
    /// The mirror, and the URLs that had no file in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mirror: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    urls: Vec<String>,
}

impl Place {
    pub(in crate::harvest) fn of(
        holdings: &Holdings,
        repository: &Repository,
        metadata_prefix: &str,
    ) -> Self {
        let name = format!("{}-{}", repository.id, plain_name(metadata_prefix));
        Self(holdings.directory().join(DIRECTORY).join(name))
    }

    fn file(&self, turn: usize) -> PathBuf {
        let mut name = self.0.clone().into_os_string();
        name.push(format!(".{turn}"));
        name.into()
    }

    /// Removes files that a harvest which was killed wrote and did not commit, and the journal. Tells how many there
    /// were.
    pub(in crate::harvest) fn clear(
        &self,
        holdings: &Holdings,
        repository: &Repository,
        metadata_prefix: &str,
        files: &RecordKeeper<'_>,
    ) -> anyhow::Result<u64> {
        let mut removed = 0;
        for turn in [0, 1] {
            let file = self.file(turn);
            let text = match std::fs::read(&file) {
                Ok(text) => text,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error).with_context(|| file.display().to_string()),
            };
            // The last line may be cut short; then nothing was written for it.
            let lines = text.split(|byte| *byte == b'\n');
            let entries: Vec<Entry> = lines
                .filter_map(|it| serde_json::from_slice(it).ok())
                .collect();
            for entries in entries.chunks(500) {
                let names: Vec<_> = entries.iter().map(|it| it.identifier.as_str()).collect();
                let known = holdings
                    .catalog()
                    .known(repository.id, metadata_prefix, &names);
                let known = holdings.wait(known)?;
                for entry in entries {
                    removed += entry.clear(known.get(&entry.identifier), repository, files)?;
                }
            }
            std::fs::remove_file(&file).with_context(|| file.display().to_string())?;
        }
        Ok(removed)
    }
}

impl Entry {
    /// Removes what no row speaks of.
    fn clear(
        &self,
        known: Option<&Known>,
        repository: &Repository,
        files: &RecordKeeper<'_>,
    ) -> anyhow::Result<u64> {
        let held = known.filter(|known| !known.deleted);
        let mut removed = 0;
        let spoken_of = urls_before(files, held);
        if let Some(mirror) = self.mirror.as_ref().filter(|mirror| mirror.is_dir()) {
            let mirror = Mirror::open(mirror, Some(&repository.base_url), Durability::Page)?;
            for url in self.urls.iter().filter(|url| !spoken_of.contains(url)) {
                removed += u64::from(mirror.remove(url)?);
            }
        }
        if held.is_none()
            && let Some(file) = files.files().find(&self.identifier)?
            && known.and_then(|known| known.file.as_ref()) != Some(&file)
        {
            files.remove(&file)?;
            removed += 1;
        }
        Ok(removed)
    }
}

impl Journal {
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            current: 0,
            files: [None, None],
        }
    }

    /// Notes a record before its files are written.
    pub(super) fn note(
        &mut self,
        identifier: &str,
        mirror: Option<&Path>,
        urls: Vec<String>,
    ) -> anyhow::Result<()> {
        let entry = Entry {
            identifier: identifier.to_owned(),
            mirror: mirror.filter(|_| !urls.is_empty()).map(Path::to_owned),
            urls,
        };
        let mut line = serde_json::to_string(&entry)?;
        line.push('\n');
        let name = self.place.file(self.current);
        let written = self.file().and_then(|file| file.write_all(line.as_bytes()));
        written.with_context(|| format!("{} cannot be written", name.display()))
    }

    /// Begins with the next batch. The one before the last is committed, so that what was noted for it is not needed.
    pub(super) fn turn(&mut self) -> anyhow::Result<()> {
        self.current = 1 - self.current;
        if let Some(file) = &mut self.files[self.current] {
            file.set_len(0).context("the journal cannot be emptied")?;
        }
        Ok(())
    }

    /// Ends it when everything is committed.
    pub(super) fn finish(self) {
        for turn in [0, 1] {
            // The rest of it speaks of committed records, and does no harm.
            let _ = std::fs::remove_file(self.place.file(turn));
        }
    }

    fn file(&mut self) -> std::io::Result<&mut File> {
        let name = self.place.file(self.current);
        let file = &mut self.files[self.current];
        if file.is_none() {
            if let Some(directory) = name.parent() {
                std::fs::create_dir_all(directory)?;
            }
            *file = Some(OpenOptions::new().append(true).create(true).open(name)?);
        }
        Ok(file.as_mut().expect("it was opened"))
    }
}

/// The directory of journals below the data directory.
pub(crate) const DIRECTORY: &str = "unfinished";
