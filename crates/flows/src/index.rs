//! Makes the words of harvested records known to the search, after the harvest and beside everything else.

use std::collections::HashMap;

use catalog::{IndexedRecord, RecordEntry, RecordQuery, Repository, Unindexed};
use harvester::Stop;

use crate::{Holdings, text};

/// Reads the records that harvests changed and hands their words over, until all can be searched for or it is asked to
/// stop. Returns how many records were read.
///
/// A harvest that it was stopped in the middle of is begun anew the next time, which does no harm. A record whose file
/// cannot be read stays without words, is counted in the catalog, and is tried again.
pub fn index(holdings: &Holdings, stop: &Stop) -> anyhow::Result<u64> {
    let mut indexing = Indexing::new(holdings, stop);
    let mut read = 0;
    for harvest in holdings.wait(holdings.catalog().unindexed(MOST_HARVESTS))? {
        if stop.is_set() {
            break;
        }
        read += indexing.harvest(&harvest)?;
    }
    Ok(read + indexing.unread()?)
}

/// The same for what one harvest changed, by the worker that did it.
pub fn index_harvest(holdings: &Holdings, harvest: i64, stop: &Stop) -> anyhow::Result<u64> {
    match holdings.wait(holdings.catalog().unindexed_by(harvest))? {
        Some(harvest) => Indexing::new(holdings, stop).harvest(&harvest),
        None => Ok(0),
    }
}

struct Indexing<'a> {
    holdings: &'a Holdings,
    stop: &'a Stop,
    /// Those that were met; `None` for one that is gone.
    repositories: HashMap<i64, Option<Repository>>,
    /// The first file that could not be read, and why.
    unreadable: Option<String>,
}

/// The text of a record for the search: its title and its words.
type Words = (Option<String>, String);

impl<'a> Indexing<'a> {
    fn new(holdings: &'a Holdings, stop: &'a Stop) -> Self {
        Self {
            holdings,
            stop,
            repositories: HashMap::new(),
            unreadable: None,
        }
    }

    fn harvest(&mut self, harvest: &Unindexed) -> anyhow::Result<u64> {
        let (holdings, catalog) = (self.holdings, self.holdings.catalog());
        let mut query = RecordQuery {
            changed_by: Some(harvest.harvest),
            limit: BATCH,
            ..RecordQuery::default()
        };
        let (mut read, mut unread) = (0, 0);
        self.unreadable = None;
        loop {
            let records = holdings.wait(catalog.records(&query))?;
            let Some(last) = records.last() else { break };
            query.after = last.id;
            holdings.wait(catalog.hold_unindexed(harvest.harvest))?;
            let Some(failed) = self.records(&records)? else {
                return Ok(read);
            };
            read += records.len() as u64 - failed;
            unread += failed;
        }
        holdings.wait(catalog.indexed(harvest))?;
        if let Some(first) = &self.unreadable {
            tracing::warn!(
                harvest.id = harvest.harvest,
                "{unread} records of harvest {} cannot be searched for, because their files cannot be read; they are tried again: {first}",
                harvest.harvest
            );
        }
        Ok(read)
    }

    /// Tries records again whose files could not be read.
    fn unread(&mut self) -> anyhow::Result<u64> {
        let catalog = self.holdings.catalog();
        let mut records = Vec::new();
        for id in self.holdings.wait(catalog.unread_records(BATCH))? {
            records.extend(self.holdings.wait(catalog.record(id))?);
        }
        let failed = self.records(&records)?;
        Ok(failed.map_or(0, |failed| records.len() as u64 - failed))
    }

    /// Hands the words of records over, and returns how many could not be read; `None` if it was stopped.
    fn records(&mut self, records: &[RecordEntry]) -> anyhow::Result<Option<u64>> {
        let (holdings, catalog) = (self.holdings, self.holdings.catalog());
        let (mut said, mut unread) = (Vec::with_capacity(records.len()), Vec::new());
        for record in records {
            // Half a second's work at most may be lost, and nobody waits longer than that.
            if self.stop.is_set() {
                return Ok(None);
            }
            match self.words(record)? {
                Ok(words) => said.push((record, words)),
                Err(reason) => {
                    self.unreadable.get_or_insert(reason);
                    unread.push(record.id);
                }
            }
        }
        for said in said.chunk_by(|(one, _), (other, _)| one.changed_by == other.changed_by) {
            let rows: Vec<_> = said.iter().map(row).collect();
            holdings.wait(catalog.index_records(said[0].0.changed_by, &rows))?;
        }
        if !unread.is_empty() {
            holdings.wait(catalog.note_unread(&unread))?;
        }
        Ok(Some(unread.len() as u64))
    }

    /// The text of a record, or why its file cannot be read. One without a file has none.
    fn words(&mut self, record: &RecordEntry) -> anyhow::Result<Result<Words, String>> {
        let Some(file) = record.file.as_deref().filter(|_| record.is_held()) else {
            return Ok(Ok(Words::default()));
        };
        let holdings = self.holdings;
        let Some(repository) = self.repository(record.repository)? else {
            return Ok(Ok(Words::default()));
        };
        let content = holdings.read_record(repository, &record.metadata_prefix, file);
        Ok(content
            .map(|content| text::of_record(&content))
            .map_err(|error| error.to_string()))
    }

    fn repository(&mut self, id: i64) -> anyhow::Result<Option<&Repository>> {
        if !self.repositories.contains_key(&id) {
            let known = self.holdings.wait(self.holdings.catalog().repository(id))?;
            self.repositories.insert(id, known);
        }
        Ok(self.repositories.get(&id).and_then(Option::as_ref))
    }
}

fn row<'a>((record, (title, text)): &'a (&RecordEntry, Words)) -> IndexedRecord<'a> {
    IndexedRecord {
        id: record.id,
        title: title.as_deref(),
        text,
    }
}

const MOST_HARVESTS: u64 = 1000;
const BATCH: u64 = 500;

#[cfg(test)]
mod tests {
    use harvester::{Client, ClientOptions};
    use test_support::{Misbehaving, Script};

    use super::*;
    use crate::{HarvestOrder, harvest};

    struct Place {
        _folder: tempfile::TempDir,
        repository: Misbehaving,
        holdings: Holdings,
    }

    impl Place {
        fn new(records: usize) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let holdings = Holdings::create(folder.path(), None).unwrap();
            let place = Self {
                _folder: folder,
                repository: Misbehaving::start(Script::new(records, 100)),
                holdings,
            };
            place.harvest();
            place
        }

        fn harvest(&self) {
            let client = Client::new(ClientOptions::default()).unwrap();
            let order = HarvestOrder::new(&self.repository.base_url(), "oai_dc");
            harvest(&self.holdings, &client, &order, &|_| {}, &|_| {}).unwrap();
        }

        fn found(&self, text: &str) -> Vec<RecordEntry> {
            let query = RecordQuery {
                text: Some(text.to_owned()),
                ..RecordQuery::default()
            };
            let catalog = self.holdings.catalog();
            self.holdings.wait(catalog.records(&query)).unwrap()
        }
    }

    #[test]
    fn what_was_harvested_can_be_searched_for() {
        let place = Place::new(620);
        assert_eq!(place.found("record 617").len(), 0);

        assert_eq!(index(&place.holdings, &Stop::default()).unwrap(), 620);

        let found = place.found("record 617");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].identifier, Script::identifier(617));
        assert_eq!(found[0].title.as_deref(), Some("Record 617: café"));
        assert_eq!(index(&place.holdings, &Stop::default()).unwrap(), 0);
    }

    /// Issue 18: the words of a file that could not be read were noted as read, for ever.
    #[test]
    fn a_file_that_cannot_be_read_costs_no_other_and_is_counted_until_it_can() {
        let place = Place::new(5);
        let catalog = place.holdings.catalog();
        let records = place
            .holdings
            .wait(catalog.records(&RecordQuery::default()));
        let records = records.unwrap();
        let record = &records[2];
        let repository = place.holdings.wait(catalog.repository(record.repository));
        let directory = place
            .holdings
            .record_directory(&repository.unwrap().unwrap(), "oai_dc");
        let file = directory.join(record.file.as_deref().unwrap());
        let content = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let unread = || place.holdings.wait(catalog.totals()).unwrap().unread;

        assert_eq!(index(&place.holdings, &Stop::default()).unwrap(), 4);

        assert_eq!(place.found("café").len(), 4);
        assert_eq!(unread(), 1);

        // A harvest that brings it again does the same.
        std::fs::write(&file, content).unwrap();
        let stop = Stop::default();
        let mut indexing = Indexing::new(&place.holdings, &stop);
        assert_eq!(
            indexing.records(std::slice::from_ref(record)).unwrap(),
            Some(0)
        );
        assert_eq!(place.found("café").len(), 5);
        assert_eq!(unread(), 0);
    }

    #[test]
    fn who_is_stopped_leaves_the_rest_for_the_next_time() {
        let place = Place::new(5);
        let stop = Stop::default();
        stop.set();
        assert_eq!(index(&place.holdings, &stop).unwrap(), 0);
        assert_eq!(index(&place.holdings, &Stop::default()).unwrap(), 5);
    }
}
