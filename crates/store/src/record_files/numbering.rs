//! Limits the files of a directory: those beyond the limit lie in `starting_at_5000`, `starting_at_10000`, …
//!
//! How full a directory is, is counted once, when it is first written to, and then kept in memory. The
//! directories themselves are the only record of it, so nothing can go out of step with them.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use super::name::{DELETED, NUMBERED};
use crate::Error;
use crate::directory::Directory;

/// How full the directories are that were written to.
#[derive(Debug)]
pub(super) struct Numbering {
    limit: u64,
    directories: HashMap<String, Filling>,
}

/// How full a directory is, with the numbered ones in it.
#[derive(Debug, Default)]
struct Filling {
    /// The numbers of the last directories that were begun, 0 being the directory itself.
    starts: VecDeque<u64>,
    /// How many files the last one has.
    files: u64,
    /// The last one that had files when they were counted.
    inherited: Option<u64>,
}

impl Numbering {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit: limit.max(1),
            directories: HashMap::new(),
        }
    }

    /// Finds the path of a new file.
    pub(super) fn allot(
        &mut self,
        directory: &str,
        name: &str,
        base: &Directory,
    ) -> Result<String, Error> {
        if !self.directories.contains_key(directory) {
            if self.directories.len() >= REMEMBERED {
                self.directories.clear();
            }
            let filling = Filling::read(directory, base)?;
            self.directories.insert(directory.to_owned(), filling);
        }
        let filling = self.directories.entry(directory.to_owned()).or_default();
        // A file of this name was written for this very record, by a run that was killed before it was
        // catalogued.
        let last = filling.starts.iter().rev().take(look_back(self.limit));
        for start in last.filter(|start| filling.inherited >= Some(**start)) {
            let path = path(directory, *start, name);
            if base.kind(Path::new(&path))?.is_some() {
                return Ok(path);
            }
        }
        Ok(path(directory, filling.next(self.limit), name))
    }
}

impl Filling {
    fn read(directory: &str, base: &Directory) -> Result<Self, Error> {
        let mut starts = vec![0];
        let mut files = 0;
        base.names(Path::new(directory), |name, is_directory| {
            if is_directory {
                starts.extend(number(name));
            } else {
                files += u64::from(is_record(name));
            }
        })?;
        starts.sort_unstable();
        starts.dedup();
        let last = starts.last().copied().unwrap_or(0);
        if last > 0 {
            files = 0;
            let numbered = path(directory, last, "");
            base.names(Path::new(&numbered), |name, is_directory| {
                files += u64::from(!is_directory && is_record(name));
            })?;
        }
        let old = starts.len().saturating_sub(MOST_LOOK_BACK);
        Ok(Self {
            starts: starts.split_off(old).into(),
            files,
            inherited: (last > 0 || files > 0).then_some(last),
        })
    }

    /// The number of the directory that takes one more file.
    fn next(&mut self, limit: u64) -> u64 {
        let last = self.starts.back().copied().unwrap_or(0);
        if self.files < limit {
            self.files += 1;
            return last;
        }
        let start = last.saturating_add(self.files);
        self.starts.push_back(start);
        if self.starts.len() > MOST_LOOK_BACK {
            self.starts.pop_front();
        }
        self.files = 1;
        start
    }
}

fn path(directory: &str, start: u64, name: &str) -> String {
    let slash = if directory.is_empty() { "" } else { "/" };
    match start {
        0 => format!("{directory}{slash}{name}"),
        _ => format!("{directory}{slash}{NUMBERED}{start}/{name}"),
    }
}

/// In how many directories the files may lie that no catalog knows yet.
fn look_back(limit: u64) -> usize {
    let directories = UNCOMMITTED / limit + 2;
    usize::try_from(directories).map_or(MOST_LOOK_BACK, |count| count.min(MOST_LOOK_BACK))
}

fn number(name: &[u8]) -> Option<u64> {
    let digits = name.strip_prefix(NUMBERED.as_bytes())?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn is_record(name: &[u8]) -> bool {
    let name = name.strip_suffix(DELETED.as_bytes()).unwrap_or(name);
    name.ends_with(b".xml")
}

/// A repository that makes a directory for each record is no reason to hold them all in memory.
const REMEMBERED: usize = 20_000;
/// While as many records as are committed at once wait for that, as many again are written.
const UNCOMMITTED: u64 = 11_000;
const MOST_LOOK_BACK: usize = 128;
