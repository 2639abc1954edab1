//! Moves records of a repository from one way of keeping to another, and compacts packs: both copy records and remove what
//! they leave behind. Killed at any moment, each record is where the catalog says.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use catalog::{
    Answer, Beat, JobEnd, JobLease, JobProgress, MovedRecord, RecordQuery, RecordStore, RecordWay,
    Repository,
};
use serde::Serialize;
use store::{Durability, Layout};

use super::keeper::store_directory;
use super::{PACKS, RecordKeeper, RecordPlace};
use crate::Holdings;

/// Which records are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordMove {
    /// Every record that is kept otherwise; those that come are kept so too.
    To(RecordWay),
    /// Those in packs, into new ones.
    Compact,
}

/// The result of a move.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RecordsMoved {
    /// Records that are kept elsewhere now.
    pub moved: u64,
    /// Records that were there already.
    pub unchanged: u64,
    /// Records that could not be read, and stay as they are.
    pub unreadable: u64,
    /// Packs that nothing is left in, and that were removed.
    pub packs_removed: u64,
}

/// Moves records of a repository, which is kept quiet meanwhile. `told` hears of records that cannot be read.
pub fn move_records(
    holdings: &Holdings,
    repository: &Repository,
    what: RecordMove,
    told: &dyn Fn(&str),
) -> anyhow::Result<RecordsMoved> {
    let catalog = holdings.catalog();
    let why = match what {
        RecordMove::To(way) => format!("its records are being moved to {}", way.name()),
        RecordMove::Compact => "its packs are being compacted".to_owned(),
    };
    let quiet = holdings.wait(catalog.quiet(repository.id, &why, LEASE, None))?;
    let moved = move_quietly(holdings, repository, what, told, quiet);
    let end = match &moved {
        Ok(_) => JobEnd::Finished,
        Err(error) => JobEnd::Failed {
            reason: crate::message(error),
            retry_in: None,
        },
    };
    let ended = holdings.wait(catalog.end_job(&quiet, &end, &[]));
    let moved = moved?;
    ended?;
    Ok(moved)
}

fn move_quietly(
    holdings: &Holdings,
    repository: &Repository,
    what: RecordMove,
    told: &dyn Fn(&str),
    quiet: JobLease,
) -> anyhow::Result<RecordsMoved> {
    let catalog = holdings.catalog();
    let to = match what {
        RecordMove::To(way) => {
            holdings.wait(catalog.set_record_way(repository.id, way))?;
            holdings.wait(catalog.record_store(repository.id))?
        }
        RecordMove::Compact => {
            let to = holdings.wait(catalog.record_store(repository.id))?;
            RecordStore {
                way: RecordWay::Packs,
                ..to
            }
        }
    };
    let mut moving = Moving {
        holdings,
        repository,
        to,
        what,
        told,
        quiet: Some(quiet),
        beaten: Instant::now(),
        result: RecordsMoved::default(),
    };
    for prefix in holdings.wait(catalog.formats_held(repository.id))? {
        moving.format(&prefix)?;
    }
    Ok(moving.result)
}

/// Compacts the packs of a repository and a format if more than half of what was written to them is not wanted any more. For
/// the harvest that holds the repository.
pub(crate) fn compact_if_due(
    holdings: &Holdings,
    repository: &Repository,
    metadata_prefix: &str,
) -> anyhow::Result<Option<RecordsMoved>> {
    let catalog = holdings.catalog();
    let replaced = catalog.replaced_records(repository.id, metadata_prefix);
    let (replaced, held) = holdings.wait(replaced)?;
    let to = holdings.wait(catalog.record_store(repository.id))?;
    if replaced < held.max(FEW) || to.way != RecordWay::Packs {
        return Ok(None);
    }
    let mut moving = Moving {
        holdings,
        repository,
        to,
        what: RecordMove::Compact,
        told: &|_| {},
        quiet: None,
        beaten: Instant::now(),
        result: RecordsMoved::default(),
    };
    moving.format(metadata_prefix)?;
    Ok(Some(moving.result))
}

struct Moving<'a> {
    holdings: &'a Holdings,
    repository: &'a Repository,
    to: RecordStore,
    what: RecordMove,
    told: &'a dyn Fn(&str),
    /// The quiet time, unless the caller keeps others away.
    quiet: Option<JobLease>,
    beaten: Instant,
    result: RecordsMoved,
}

impl Moving<'_> {
    fn format(&mut self, prefix: &str) -> anyhow::Result<()> {
        let (holdings, catalog) = (self.holdings, self.holdings.catalog());
        let form = (Layout::default(), Durability::Page);
        let to = (&self.to.clone(), "moved");
        let keeper = RecordKeeper::to(holdings, self.repository, prefix, form, to)?;
        let packs_before: BTreeSet<_> = packs(holdings, self.repository, prefix)?
            .into_iter()
            .collect();
        let mut used = HashSet::new();
        let mut query = RecordQuery {
            repository: Some(self.repository.id),
            metadata_prefix: Some(prefix.to_owned()),
            limit: PAGE,
            ..RecordQuery::default()
        };
        loop {
            let records = holdings.wait(catalog.records(&query))?;
            let Some(last) = records.last() else { break };
            query.after = last.id;
            let mut moved = Vec::new();
            let mut files = Vec::new();
            for record in &records {
                self.beat()?;
                let Some(file) = &record.file else { continue };
                if self.quiet.is_none() {
                    // Somebody may read them, and a backup may have the catalog as it was: they go the next time.
                    used.extend(pack_of(file));
                }
                let place = RecordPlace::of(file);
                if !self.is_moved(place.as_ref()) {
                    used.extend(pack_of(file));
                    self.result.unchanged += 1;
                    continue;
                }
                let read = holdings.read_record(self.repository, prefix, file);
                let xml = match read {
                    Ok(xml) => xml,
                    Err(error) if error.is_away() => return Err(error.into()),
                    Err(error) => {
                        (self.told)(&format!("`{}` stays: {error}", record.identifier));
                        used.extend(pack_of(file));
                        self.result.unreadable += 1;
                        continue;
                    }
                };
                let mut to = keeper.place(None, &record.identifier, &xml, None)?;
                if record.deleted {
                    to = keeper.mark_deleted(&to)?.unwrap_or(to);
                }
                used.extend(pack_of(&to));
                if let Some(RecordPlace::File(_)) = place {
                    files.push((file.clone(), to.clone()));
                }
                moved.push(MovedRecord {
                    id: record.id,
                    from: file.clone(),
                    to,
                });
            }
            let mut batch = keeper.end_batch()?;
            keeper.write(&mut batch)?;
            let done = catalog.move_records(self.repository.id, &moved, &batch.contents);
            let done = holdings.wait(done)?;
            if done != moved.len() as u64 {
                bail!("somebody else changed records at the same time; run the command again");
            }
            self.result.moved += done;
            for (from, _) in &files {
                keeper.remove(from)?;
            }
        }
        self.remove_packs(prefix, &packs_before, &used)?;
        holdings.wait(catalog.compacted(self.repository.id, prefix))?;
        Ok(())
    }

    fn is_moved(&self, place: Option<&RecordPlace<'_>>) -> bool {
        match (self.what, place) {
            (_, None) => false,
            (RecordMove::To(_), Some(place)) => !place.is_in(&self.to),
            (RecordMove::Compact, Some(place)) => {
                matches!(place, RecordPlace::Pack(_) | RecordPlace::Store(_))
            }
        }
    }

    /// Removes packs of which no record speaks. Each was there before all records were looked at.
    fn remove_packs(
        &mut self,
        prefix: &str,
        before: &BTreeSet<String>,
        used: &HashSet<String>,
    ) -> anyhow::Result<()> {
        for pack in before.iter().filter(|pack| !used.contains(*pack)) {
            self.beat()?;
            self.result.packs_removed +=
                u64::from(remove(self.holdings, self.repository, prefix, pack)?);
        }
        Ok(())
    }

    /// Keeps others away from the repository.
    fn beat(&mut self) -> anyhow::Result<()> {
        let Some(lease) = self.quiet.filter(|_| self.beaten.elapsed() >= BEAT) else {
            return Ok(());
        };
        self.beaten = Instant::now();
        let beat = Beat {
            lease,
            progress: JobProgress {
                done: self.result.moved,
                ..JobProgress::default()
            },
        };
        let heard = self
            .holdings
            .wait(self.holdings.catalog().beat(&[beat], LEASE))?;
        match heard.first().map(|heard| heard.answer) {
            Some(Answer::GoOn) => Ok(()),
            Some(Answer::CancelRequested) => {
                bail!("somebody cancelled it; run the command again to resume")
            }
            _ => bail!("the repository is not quiet any more; run the command again to resume"),
        }
    }
}

/// The pack that a `file` names, with the mark of its place.
fn pack_of(file: &str) -> Option<String> {
    let is_packed = matches!(
        RecordPlace::of(file),
        Some(RecordPlace::Pack(_) | RecordPlace::Store(_))
    );
    let (pack, _) = file.split_once('#').filter(|_| is_packed)?;
    Some(pack.to_owned())
}

/// All packs of a repository and a format, as `pack_of` names them.
fn packs(
    holdings: &Holdings,
    repository: &Repository,
    prefix: &str,
) -> anyhow::Result<Vec<String>> {
    let mut all = Vec::new();
    if holdings
        .record_directory(repository, prefix)
        .join(PACKS)
        .is_dir()
    {
        let packs = holdings.packs_beside(repository, prefix)?;
        let names = packs.names("")?;
        all.extend(
            names
                .into_iter()
                .map(|name| format!("{}{name}", catalog::IN_PACKS)),
        );
    }
    let store = holdings.wait(holdings.catalog().default_record_store())?;
    if !store.store.is_empty() {
        let names = holdings.stored_packs()?;
        let names = names.names(&store_directory(repository, prefix))?;
        all.extend(
            names
                .into_iter()
                .map(|name| format!("{}{name}", catalog::IN_STORE)),
        );
    }
    Ok(all)
}

fn remove(
    holdings: &Holdings,
    repository: &Repository,
    prefix: &str,
    pack: &str,
) -> anyhow::Result<bool> {
    let (packs, name) = match pack.strip_prefix(catalog::IN_PACKS) {
        Some(name) => (holdings.packs_beside(repository, prefix)?, name),
        None => {
            let name = pack.strip_prefix(catalog::IN_STORE);
            (holdings.stored_packs()?, name.context("it is no pack")?)
        }
    };
    Ok(packs.remove(name)?)
}

/// The packs of a repository and a format in the store, by their names there.
pub(crate) fn packs_in_store(
    holdings: &Holdings,
    repository: &Repository,
    prefix: &str,
) -> anyhow::Result<Vec<String>> {
    let packs = packs(holdings, repository, prefix)?.into_iter();
    let of_store = packs.filter_map(|pack| Some(pack.strip_prefix(catalog::IN_STORE)?.to_owned()));
    Ok(of_store.collect())
}

/// How many records are moved at once.
const PAGE: u64 = 500;
/// Fewer replaced records are not worth a compaction.
const FEW: u64 = 1000;
const LEASE: Duration = Duration::from_secs(300);
const BEAT: Duration = Duration::from_secs(20);
