//! Makes the words of harvested records known to the search, after the harvest and beside everything else.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::path::Path;

use catalog::{IndexedRecord, RecordEntry, RecordQuery, Repository, Unindexed};
use harvester::Stop;

use crate::{Holdings, text};

/// Reads the records that harvests changed and hands their words over, until all can be searched for or it is asked to
/// stop. Returns how many records were read.
///
/// A harvest that it was stopped in the middle of is begun anew the next time, which does no harm.
pub fn index(holdings: &Holdings, stop: &Stop) -> anyhow::Result<u64> {
    let mut indexing = Indexing {
        holdings,
        stop,
        repositories: HashMap::new(),
    };
    let mut read = 0;
    for harvest in holdings.wait(holdings.catalog().unindexed(MOST_HARVESTS))? {
        if stop.is_set() {
            break;
        }
        read += indexing.harvest(&harvest)?;
    }
    Ok(read)
}

struct Indexing<'a> {
    holdings: &'a Holdings,
    stop: &'a Stop,
    /// Those that were met; `None` for one that is gone.
    repositories: HashMap<i64, Option<Repository>>,
}

impl Indexing<'_> {
    fn harvest(&mut self, harvest: &Unindexed) -> anyhow::Result<u64> {
        let (holdings, catalog) = (self.holdings, self.holdings.catalog());
        let mut query = RecordQuery {
            changed_by: Some(harvest.harvest),
            limit: BATCH,
            ..RecordQuery::default()
        };
        let mut read = 0;
        loop {
            let records = holdings.wait(catalog.records(&query))?;
            let Some(last) = records.last() else { break };
            query.after = last.id;
            let mut said = Vec::with_capacity(records.len());
            for record in &records {
                // Half a second's work at most may be lost, and nobody waits longer than that.
                if self.stop.is_set() {
                    return Ok(read);
                }
                said.push(self.said(record)?);
            }
            let rows: Vec<_> = records.iter().zip(&said).map(row).collect();
            holdings.wait(catalog.index_records(harvest.harvest, &rows))?;
            read += records.len() as u64;
        }
        holdings.wait(catalog.indexed(harvest))?;
        Ok(read)
    }

    /// What a record says. One without a file, or whose file somebody has removed, says nothing.
    fn said(&mut self, record: &RecordEntry) -> anyhow::Result<(Option<String>, String)> {
        let nothing = (None, String::new());
        let Some(file) = record.file.as_deref().filter(|_| record.is_held()) else {
            return Ok(nothing);
        };
        let holdings = self.holdings;
        let Some(repository) = self.repository(record.repository)? else {
            return Ok(nothing);
        };
        let directory = holdings.record_directory(repository, &record.metadata_prefix);
        let content = content(&directory.join(file));
        Ok(content.map_or(nothing, |content| text::of_record(&content)))
    }

    fn repository(&mut self, id: i64) -> anyhow::Result<Option<&Repository>> {
        if !self.repositories.contains_key(&id) {
            let known = self.holdings.wait(self.holdings.catalog().repository(id))?;
            self.repositories.insert(id, known);
        }
        Ok(self.repositories.get(&id).and_then(Option::as_ref))
    }
}

fn row<'a>(
    (record, (title, text)): (&RecordEntry, &'a (Option<String>, String)),
) -> IndexedRecord<'a> {
    IndexedRecord {
        id: record.id,
        title: title.as_deref(),
        text,
    }
}

/// The content of a record file; `None` if there is none, or none that can be read: one bad file is not to keep all
/// others from being found.
fn content(path: &Path) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    // What is no file, such as a pipe, could keep us for ever.
    let read = std::fs::symlink_metadata(path).and_then(|metadata| match metadata.is_file() {
        true => std::fs::File::open(path)?
            .take(MOST_BYTES)
            .read_to_end(&mut content),
        false => Err(ErrorKind::NotFound.into()),
    });
    match read {
        Ok(_) => Some(content),
        Err(error) => {
            if !is_missing(&error) {
                tracing::warn!("{} cannot be searched: {error}", path.display());
            }
            None
        }
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

const MOST_HARVESTS: u64 = 1000;
const BATCH: u64 = 500;
/// Of a longer record nothing is taken anyway.
const MOST_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use harvester::{Client, ClientOptions};
    use test_support::{Misbehaving, Script};

    use super::*;
    use crate::{HarvestRepository, harvest};

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
            let order = HarvestRepository::new(&self.repository.base_url(), "oai_dc");
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

    #[test]
    fn a_file_that_is_gone_is_no_error() {
        let place = Place::new(5);
        let catalog = place.holdings.catalog();
        let records = place
            .holdings
            .wait(catalog.records(&RecordQuery::default()));
        let record = &records.unwrap()[2];
        let repository = place.holdings.wait(catalog.repository(record.repository));
        let directory = place
            .holdings
            .record_directory(&repository.unwrap().unwrap(), "oai_dc");
        std::fs::remove_file(directory.join(record.file.as_deref().unwrap())).unwrap();

        assert_eq!(index(&place.holdings, &Stop::default()).unwrap(), 5);

        assert_eq!(place.found("café").len(), 4);
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
