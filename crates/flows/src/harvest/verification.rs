//! Whether the files of harvested records, and those of mirrors, are the ones that the catalog speaks of.
//!
//! Nothing is removed that may be the only copy of something: files that belong to nothing are set aside. What is missing
//! is asked for again by the next harvest.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::Context;
use catalog::{HistoryQuery, RecordEntry, RecordQuery, Repository, State};
use harvester::unpack;
use serde::Serialize;
use store::{Durability, Layout, Mirror};

use super::is_url;
use super::order::Parameters;
use super::storing::Place;
use crate::holdings::plain_name;
use crate::records::{PACKS, RecordKeeper, RecordPlace};
use crate::{Finding, Holdings};

/// The findings of a verification of records and mirrors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HarvestVerification {
    /// Records that were looked at.
    pub records: u64,
    /// Mirrors that were looked at.
    pub mirrors: u64,
    /// Files that were looked at.
    pub files: u64,
    /// Files of records or resources that are not there.
    pub missing: u64,
    /// Files that no record speaks of.
    pub strays: u64,
    /// How many of these are in order now.
    pub repaired: u64,
    /// Repositories whose files were not compared, because they are being harvested.
    pub busy: Vec<String>,
    /// The findings, as far as there is room for them.
    pub findings: Vec<Finding>,
}

impl HarvestVerification {
    /// Whether all is in order, or is by now.
    pub fn is_well(&self) -> bool {
        self.missing + self.strays == self.repaired
    }

    /// In one line.
    pub fn said(&self) -> String {
        let Self {
            records,
            missing,
            strays,
            repaired,
            ..
        } = self;
        let mut said = match missing + strays {
            0 => format!("verified: {records} harvested records have their files"),
            _ => {
                format!("verified: {missing} files of records are missing, {strays} belong to none")
            }
        };
        match (missing + strays, repaired) {
            (0, _) => {}
            (_, 0) => said.push_str("; see garner verify --repair"),
            (all, repaired) if all == *repaired => said.push_str("; all are in order now"),
            (_, repaired) => said.push_str(&format!("; {repaired} of them are in order now")),
        }
        if !self.busy.is_empty() {
            let busy = self.busy.join(", ");
            said.push_str(&format!(
                "; not compared, because harvested meanwhile: {busy}"
            ));
        }
        said
    }

    fn note(&mut self, file: &Path, problem: String, repair: Option<String>) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding {
                file: file.display().to_string(),
                problem,
                repair,
            });
        }
    }
}

/// Compares the files of all harvested records, and all mirrors that harvests keep, with the catalog; and repairs what can
/// be repaired. `told` hears how many records were looked at.
pub fn verify_harvested(
    holdings: &Holdings,
    repair: bool,
    told: &dyn Fn(u64),
) -> anyhow::Result<HarvestVerification> {
    let mut verifying = Verifying {
        holdings,
        repair,
        told,
        result: HarvestVerification::default(),
    };
    let mut mirrors: BTreeMap<PathBuf, Vec<Mirrored>> = BTreeMap::new();
    for repository in holdings.wait(holdings.catalog().repositories())? {
        for prefix in holdings.wait(holdings.catalog().formats_held(repository.id))? {
            verifying.records(&repository, &prefix)?;
        }
        for (directory, mirrored) in mirrored(holdings, &repository)? {
            mirrors.entry(directory).or_default().push(mirrored);
        }
    }
    for (directory, sources) in mirrors {
        verifying.mirror(&directory, &sources)?;
    }
    Ok(verifying.result)
}

/// The resources that a harvest unpacks into a mirror.
struct Mirrored {
    repository: Repository,
    metadata_prefix: String,
    set: Option<String>,
}

struct Verifying<'a> {
    holdings: &'a Holdings,
    repair: bool,
    told: &'a dyn Fn(u64),
    result: HarvestVerification,
}

impl Verifying<'_> {
    /// Compares the files of a repository's records in one format.
    fn records(&mut self, repository: &Repository, prefix: &str) -> anyhow::Result<()> {
        let holdings = self.holdings;
        let directory = holdings.record_directory(repository, prefix);
        let before = self.last_harvest(repository)?;
        let lock = match lock(&directory)? {
            Lock::Busy => return self.is_busy(repository),
            Lock::Missing => None,
            // Harvests are kept away only while something is changed.
            Lock::Held(file) => Some(file).filter(|_| self.repair),
        };
        if lock.is_some() {
            let form = (Layout::default(), Durability::Page);
            let files = RecordKeeper::open(holdings, repository, prefix, form, "verified")?;
            let place = Place::of(holdings, repository, prefix);
            let removed = place.clear(holdings, repository, prefix, &files)?;
            if removed > 0 {
                self.result.strays += removed;
                self.result.repaired += removed;
                let problem = "files that a harvest wrote and did not come to commit".to_owned();
                let repair = Some(format!("{removed} files removed"));
                self.result.note(&directory, problem, repair);
            }
        }
        let mut known = HashSet::new();
        let mut missing = Vec::new();
        let query = RecordQuery {
            repository: Some(repository.id),
            metadata_prefix: Some(prefix.to_owned()),
            ..RecordQuery::default()
        };
        self.each(query, |this, record| {
            this.result.records += 1;
            (this.told)(this.result.records);
            let Some(file) = &record.file else {
                return Ok(());
            };
            if let Some(RecordPlace::File(path)) = RecordPlace::of(file) {
                known.insert(hash(path));
                if !is_file(&directory.join(file)) {
                    missing.push((record.identifier, directory.join(file)));
                }
                return Ok(());
            }
            // Packs have checksums, so that reading them tells whether they are whole.
            match holdings.read_record(repository, prefix, file) {
                Ok(_) => {}
                Err(error) if error.is_away() => return Err(error.into()),
                Err(_) => missing.push((record.identifier, directory.join(file))),
            }
            Ok(())
        })?;
        let strays = self.strays(&directory, &known)?;
        if !self.repair && self.last_harvest(repository)? != before {
            return self.is_busy(repository);
        }
        let aside = format!("records/{}-{}", repository.id, plain_name(prefix));
        self.set_aside(&directory, strays, &aside)?;
        self.ask_again(repository, prefix, missing, "its file is missing")
    }

    /// Compares a mirror with the records that were unpacked into it.
    fn mirror(&mut self, directory: &Path, sources: &[Mirrored]) -> anyhow::Result<()> {
        let holdings = self.holdings;
        self.result.mirrors += 1;
        if !directory.is_dir() {
            self.result.missing += 1;
            let problem = "the mirror is gone; the next harvest makes it anew".to_owned();
            self.result.note(directory, problem, None);
            return Ok(());
        }
        let mut known = HashSet::new();
        let mut found = Vec::new();
        let mut before = Vec::new();
        // Whether there are records of which nobody can tell what they have here.
        let mut unsure = false;
        for source in sources {
            let repository = &source.repository;
            before.push(self.last_harvest(repository)?);
            let mirror = Mirror::open(directory, Some(&repository.base_url), Durability::Page)?;
            let query = RecordQuery {
                repository: Some(repository.id),
                metadata_prefix: Some(source.metadata_prefix.clone()),
                set: source.set.clone(),
                deleted: Some(false),
                ..RecordQuery::default()
            };
            let mut missing = Vec::new();
            self.each(query, |_, record| {
                let prefix = &source.metadata_prefix;
                let read = |file| holdings.read_record(repository, prefix, file).ok();
                let Some(xml) = record.file.as_deref().and_then(read) else {
                    // Where identifiers are URLs, that is enough to know.
                    match is_url(&record.identifier) {
                        true => known.extend(mirror.find(&record.identifier)?.map(|it| hash(&it))),
                        false => unsure = true,
                    }
                    return Ok(());
                };
                for resource in unpack::resources(&xml).unwrap_or_default() {
                    if !is_url(&resource.url) {
                        continue;
                    }
                    match mirror.find(&resource.url)? {
                        Some(path) => drop(known.insert(hash(&path))),
                        // Without a digest it is known that something of it could not be had.
                        None if record.sha256.is_none() => {}
                        None => {
                            let path = directory.join(mirror.path(&resource.url)?);
                            missing.push((record.identifier.clone(), path));
                        }
                    }
                }
                Ok(())
            })?;
            found.push(missing);
        }
        let mut strays = self.strays(directory, &known)?;
        if unsure {
            strays.clear();
        }
        for (source, before) in sources.iter().zip(before) {
            let now = self.last_harvest(&source.repository)?;
            if now != before || now.is_some_and(|(_, state)| state == State::Running) {
                return self.is_busy(&source.repository);
            }
        }
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        self.set_aside(directory, strays, &format!("mirrors/{}", plain_name(&name)))?;
        for (source, missing) in sources.iter().zip(found) {
            let prefix = &source.metadata_prefix;
            self.ask_again(
                &source.repository,
                prefix,
                missing,
                "its resource is missing",
            )?;
        }
        Ok(())
    }

    /// Does something with all records of a query.
    fn each(
        &mut self,
        mut query: RecordQuery,
        mut see: impl FnMut(&mut Self, RecordEntry) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        loop {
            let records = self
                .holdings
                .wait(self.holdings.catalog().records(&query))?;
            let Some(last) = records.last() else {
                return Ok(());
            };
            query.after = last.id;
            for record in records {
                see(self, record)?;
            }
        }
    }

    /// The files below a directory that are not among those known, by their paths in it.
    fn strays(&mut self, directory: &Path, known: &HashSet<u64>) -> anyhow::Result<Vec<PathBuf>> {
        let mut strays = Vec::new();
        let mut left = vec![PathBuf::new()];
        while let Some(below) = left.pop() {
            let place = directory.join(&below);
            let entries = match std::fs::read_dir(&place) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error).with_context(|| place.display().to_string()),
            };
            for entry in entries {
                let entry = entry.with_context(|| place.display().to_string())?;
                let path = below.join(entry.file_name());
                // Records in packs that nobody names go when the packs are compacted.
                if path == Path::new(".garner-tmp") || path == Path::new(PACKS) {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    left.push(path);
                    continue;
                }
                self.result.files += 1;
                if !known.contains(&hash(&path)) {
                    strays.push(path);
                }
            }
        }
        strays.sort();
        Ok(strays)
    }

    /// Tells of files that belong to nothing, and moves them away if something is to be repaired.
    fn set_aside(&mut self, from: &Path, strays: Vec<PathBuf>, name: &str) -> anyhow::Result<()> {
        let aside = self.holdings.directory().join("set-aside").join(name);
        for stray in strays {
            self.result.strays += 1;
            let mut repair = None;
            if self.repair {
                let to = free(aside.join(&stray));
                let moved = move_file(&from.join(&stray), &to);
                moved.with_context(|| format!("{} cannot be moved", stray.display()))?;
                prune(from, &stray);
                self.result.repaired += 1;
                repair = Some(format!("moved to {}", to.display()));
            }
            let problem = "no record speaks of the file".to_owned();
            self.result.note(&from.join(stray), problem, repair);
        }
        Ok(())
    }

    /// Tells of files that are missing, and has the next harvest bring them if something is to be repaired.
    fn ask_again(
        &mut self,
        repository: &Repository,
        prefix: &str,
        missing: Vec<(String, PathBuf)>,
        reason: &str,
    ) -> anyhow::Result<()> {
        if self.repair && !missing.is_empty() {
            let identifiers: Vec<_> = missing.iter().map(|(name, _)| name.as_str()).collect();
            let catalog = self.holdings.catalog();
            let asked = catalog.ask_again(repository.id, prefix, &identifiers, reason);
            self.holdings.wait(asked)?;
        }
        let repair = self.repair.then_some("the next harvest asks for it again");
        for (identifier, file) in missing {
            self.result.missing += 1;
            let problem = format!("the file of `{identifier}` is missing");
            self.result.note(&file, problem, repair.map(str::to_owned));
        }
        Ok(())
    }

    fn is_busy(&mut self, repository: &Repository) -> anyhow::Result<()> {
        if !self.result.busy.contains(&repository.base_url) {
            self.result.busy.push(repository.base_url.clone());
        }
        Ok(())
    }

    fn last_harvest(&self, repository: &Repository) -> anyhow::Result<Option<(i64, State)>> {
        let query = HistoryQuery {
            repository: Some(repository.id),
            limit: 1,
            ..HistoryQuery::default()
        };
        let last = self
            .holdings
            .wait(self.holdings.catalog().history(&query))?;
        Ok(last.first().map(|last| (last.id, last.state)))
    }
}

/// The mirrors that the harvests of a repository keep, by the last one of each format and set.
fn mirrored(
    holdings: &Holdings,
    repository: &Repository,
) -> anyhow::Result<Vec<(PathBuf, Mirrored)>> {
    let mut query = HistoryQuery {
        repository: Some(repository.id),
        limit: 500,
        ..HistoryQuery::default()
    };
    let (mut seen, mut mirrors) = (HashSet::new(), Vec::new());
    loop {
        let entries = holdings.wait(holdings.catalog().history(&query))?;
        let Some(last) = entries.last() else {
            return Ok(mirrors);
        };
        query.before = Some(last.id);
        for entry in entries {
            let is_done = matches!(entry.state, State::Ok | State::Incomplete);
            let target = (entry.metadata_prefix.clone(), entry.set.clone());
            if !is_done || !seen.insert(target) {
                continue;
            }
            let parameters = serde_json::from_str::<Parameters>(&entry.parameters);
            if let Some(directory) = parameters.ok().and_then(|it| it.making.unpack) {
                let mirrored = Mirrored {
                    repository: repository.clone(),
                    metadata_prefix: entry.metadata_prefix,
                    set: entry.set,
                };
                mirrors.push((directory, mirrored));
            }
        }
    }
}

/// Whether a directory is free for this process.
enum Lock {
    Held(File),
    Busy,
    Missing,
}

fn lock(directory: &Path) -> anyhow::Result<Lock> {
    let file = match File::open(directory) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Lock::Missing),
        Err(error) => return Err(error).with_context(|| directory.display().to_string()),
    };
    Ok(match file.try_lock() {
        Err(TryLockError::WouldBlock) => Lock::Busy,
        // Some network file systems know no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Lock::Held(file),
    })
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_file())
}

/// Paths of millions of records are compared by their hashes.
fn hash(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// The path itself, or with a number behind it where something is there.
fn free(path: PathBuf) -> PathBuf {
    let numbered = (1..).map(|number| {
        let mut name = path.clone().into_os_string();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    let mut places = std::iter::once(path.clone()).chain(numbered);
    let is_free = |place: &PathBuf| place.symlink_metadata().is_err();
    places.find(is_free).unwrap_or(path)
}

fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            std::fs::copy(from, to)?;
            std::fs::remove_file(from)
        }
        moved => moved,
    }
}

/// Removes the directories above a file that are empty now.
fn prune(base: &Path, file: &Path) {
    let directories = file.ancestors().skip(1);
    for directory in directories.filter(|it| !it.as_os_str().is_empty()) {
        if std::fs::remove_dir(base.join(directory)).is_err() {
            return;
        }
    }
}

const MOST_FINDINGS: usize = 1000;
