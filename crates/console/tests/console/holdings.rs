//! Holdings for the console: a repository with formats and sets, harvests, and records with their files.

use std::time::Duration;

use catalog::{
    Counts, Finish, Identity, IndexedRecord, MetadataFormat, NewRun, PageCommit, RecordRow,
    Repository, RulesKind, ScheduleSettings, Scheduled, State, Validation, Warning,
};

use crate::browser::TestConsole;

/// A harvest to be written down.
pub(crate) struct TestHarvest<'a> {
    pub(crate) state: State,
    pub(crate) reason: Option<&'a str>,
    pub(crate) parameters: &'a str,
    pub(crate) quirks: Option<&'a str>,
    pub(crate) warnings: Vec<Warning>,
    /// Identifier, and the XML of its file; a record without one is deleted.
    pub(crate) records: Vec<(&'a str, Option<&'a str>)>,
    pub(crate) metadata_prefix: &'a str,
    pub(crate) next_from: Option<&'a str>,
}

impl Default for TestHarvest<'_> {
    fn default() -> Self {
        Self {
            state: State::Ok,
            reason: None,
            parameters: r#"{"method":"ListRecords","full":false}"#,
            quirks: None,
            warnings: Vec::new(),
            records: Vec::new(),
            metadata_prefix: "oai_dc",
            next_from: None,
        }
    }
}

impl TestConsole {
    /// A repository with the formats oai_dc and mods and the sets maps and maps:old.
    pub(crate) fn repository(&self, base_url: &str, name: &str) -> Repository {
        let catalog = self.holdings.catalog();
        let identity = Identity {
            name: Some(name.to_owned()),
            ..Identity::default()
        };
        let directory = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let formats = ["oai_dc", "mods"].map(|prefix| MetadataFormat {
            metadata_prefix: prefix.to_owned(),
            schema: format!("http://a.example/{prefix}.xsd"),
            namespace: format!("http://a.example/{prefix}"),
        });
        let sets = [
            ("maps".to_owned(), Some("Maps & plans".to_owned())),
            ("maps:old".to_owned(), None),
        ];
        self.holdings.wait(async {
            let known = catalog.add_repository(base_url, &directory, &identity);
            let known = known.await.unwrap();
            catalog.replace_formats(known.id, &formats).await.unwrap();
            catalog.replace_sets(known.id, &sets).await.unwrap();
            known
        })
    }

    /// Writes a harvest and the files of its records, and gives its number.
    pub(crate) fn harvest(&self, repository: &Repository, harvest: &TestHarvest<'_>) -> i64 {
        let directory = self
            .holdings
            .record_directory(repository, harvest.metadata_prefix);
        std::fs::create_dir_all(&directory).unwrap();
        let mut rows = Vec::new();
        for (number, (identifier, xml)) in harvest.records.iter().enumerate() {
            let file = format!("{number}.xml");
            if let Some(xml) = xml {
                std::fs::write(directory.join(&file), xml).unwrap();
            }
            rows.push(RecordRow {
                identifier: (*identifier).to_owned(),
                datestamp: Some(1_700_000_000 + number as i64),
                deleted: xml.is_none(),
                file: xml.map(|_| file),
                sha256: Some("0".repeat(64)),
                set_specs: vec!["maps".to_owned()],
                harvested: 1_700_000_100,
                validation: Validation::Ok,
            });
        }
        let catalog = self.holdings.catalog();
        self.holdings.wait(async {
            let new = NewRun {
                parameters: harvest.parameters.to_owned(),
                lease: Duration::from_secs(60),
                ..NewRun::new(repository.id, harvest.metadata_prefix)
            };
            let mut run = catalog.begin(&new).await.unwrap();
            let id = run.id();
            let page = PageCommit {
                rows: &rows,
                counts: Counts {
                    requests: 3,
                    bytes: 12_345,
                    ..Counts::default()
                },
                warnings: &harvest.warnings,
                quirks: harvest.quirks,
                ..PageCommit::default()
            };
            catalog.commit_page(&mut run, page).await.unwrap();
            let finish = Finish {
                state: harvest.state,
                reason: harvest.reason.map(str::to_owned),
                next_from: harvest.next_from.map(str::to_owned),
                quirks: None,
                counts: Counts::default(),
                job: None,
                follow_ups: Vec::new(),
            };
            catalog.finish(run, &finish).await.unwrap();
            id
        })
    }

    /// Makes the words of a record known to the search.
    pub(crate) fn index(&self, harvest: i64, record: i64, title: &str, text: &str) {
        let catalog = self.holdings.catalog();
        let words = [IndexedRecord {
            id: record,
            title: Some(title),
            text,
        }];
        let written = catalog.index_records(harvest, &words);
        assert_eq!(self.holdings.wait(written).unwrap(), 1);
    }

    /// The number of the record with this identifier.
    pub(crate) fn record(&self, identifier: &str) -> i64 {
        let query = catalog::RecordQuery::default();
        let records = self.holdings.wait(self.holdings.catalog().records(&query));
        let mut records = records.unwrap().into_iter();
        records
            .find(|record| record.identifier == identifier)
            .unwrap()
            .id
    }

    /// A schedule that runs every day.
    pub(crate) fn schedule(&self, repository: &Repository, name: &str) -> i64 {
        let settings = ScheduleSettings {
            what: Scheduled::Harvest {
                repository: repository.id,
                metadata_prefix: "oai_dc".to_owned(),
                set: None,
            },
            name: name.to_owned(),
            parameters: "{}".to_owned(),
            frequency: "every day".to_owned(),
            starts: None,
            ends: None,
        };
        let catalog = self.holdings.catalog();
        let schedule = catalog.add_schedule(&settings, false);
        self.holdings.wait(schedule).unwrap().id
    }

    /// A filter or a mapping.
    pub(crate) fn rules(&self, kind: RulesKind, name: &str, content: &str) -> i64 {
        let catalog = self.holdings.catalog();
        let rules = catalog.add_rules(kind, name, content, None);
        self.holdings.wait(rules).unwrap().id
    }
}
