//! Answers of an aggregator about a catalog, on SQLite and on PostgreSQL.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use aggregator::{Aggregator, AggregatorSettings, RemovedRepositories};
use catalog::{Identity, MetadataFormat, NewRun, PageCommit, RecordRow, Validation};
use flows::Holdings;
use oai::Arguments;
use provider::PageLimits;
use provider::resource_sync::SyncDocument;
use server::{Question, Repository};
use site::Requester;
use tempfile::TempDir;
use test_support::Postgres;

/// A data directory, and a catalog on either database.
struct Place {
    directory: TempDir,
    catalog: Option<String>,
}

impl Place {
    fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            directory,
            catalog: None,
        }
    }

    fn postgres() -> Self {
        Self {
            catalog: Some(Postgres::shared().database()),
            ..Self::sqlite()
        }
    }

    /// Another handle, with connections of its own, as another process has them.
    fn open(&self) -> Held {
        let directory = self.directory.path().join("data");
        Held(Arc::new(
            Holdings::create(&directory, self.catalog.as_deref()).unwrap(),
        ))
    }
}

struct Held(Arc<Holdings>);

impl Held {
    fn add(&self, base_url: &str) -> i64 {
        let catalog = self.0.catalog();
        let directory = base_url.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let identity = Identity {
            name: Some(format!("the repository at {base_url}")),
            granularity: Some("YYYY-MM-DDThh:mm:ssZ".to_owned()),
            ..Identity::default()
        };
        let added = catalog.add_repository(base_url, &directory, &identity);
        let repository = self.0.wait(added).unwrap().id;
        let formats = [MetadataFormat {
            metadata_prefix: "oai_dc".to_owned(),
            schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd".to_owned(),
            namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/".to_owned(),
        }];
        let replaced = catalog.replace_formats(repository, &formats);
        self.0.wait(replaced).unwrap();
        repository
    }

    /// Writes the files of records, and commits pages with one of them each, as a harvest.
    fn harvest(&self, repository: i64, records: &[(&str, &str)]) {
        let known = self
            .0
            .wait(self.0.catalog().repository(repository))
            .unwrap();
        let directory = self.0.record_directory(&known.unwrap(), "oai_dc");
        std::fs::create_dir_all(&directory).unwrap();
        let catalog = self.0.catalog();
        let new = NewRun::new(repository, "oai_dc");
        let mut run = self.0.wait(catalog.begin(&new)).unwrap();
        for (identifier, metadata) in records {
            let file = format!("{}.xml", identifier.replace([':', '/'], "_"));
            let is_deleted = metadata.is_empty();
            if !is_deleted {
                std::fs::write(directory.join(&file), record(identifier, metadata)).unwrap();
            }
            let rows = [RecordRow {
                identifier: (*identifier).to_owned(),
                datestamp: Some(1_000_000_000),
                deleted: is_deleted,
                file: (!is_deleted).then_some(file),
                sha256: (!is_deleted).then(|| format!("{:0>64}", metadata.len())),
                set_specs: vec!["a:b".to_owned()],
                harvested: 1_700_000_000,
                validation: Validation::Ok,
            }];
            let page = PageCommit {
                rows: &rows,
                ..PageCommit::default()
            };
            self.0.wait(catalog.commit_page(&mut run, page)).unwrap();
        }
        let finish = catalog::Finish {
            state: catalog::State::Ok,
            reason: None,
            next_from: None,
            quirks: None,
            counts: catalog::Counts::default(),
            job: None,
            follow_ups: Vec::new(),
        };
        drop(self.0.wait(catalog.finish(run, &finish)).unwrap());
    }

    fn aggregator(&self, change: impl FnOnce(&mut AggregatorSettings)) -> Aggregator {
        let mut settings = AggregatorSettings {
            base_url: "http://a.example/oai".to_owned(),
            name: "all".to_owned(),
            admin_emails: vec!["a@a.example".to_owned()],
            repository_identifier: "a.example".to_owned(),
            records: true,
            documents: true,
            ..AggregatorSettings::default()
        };
        change(&mut settings);
        Aggregator::new(Arc::clone(&self.0), settings, b"secret").unwrap()
    }
}

/// A record as the harvester stores it, with a namespace that is declared around its metadata.
fn record(identifier: &str, metadata: &str) -> String {
    format!(
        "<record xmlns=\"http://www.openarchives.org/OAI/2.0/\" xmlns:x=\"urn:x\"><header><identifier>{identifier}</identifier></header>\
         <metadata>{metadata}</metadata><about><x:rights>r</x:rights></about></record>"
    )
}

fn ask(aggregator: &Aggregator, query: &str) -> String {
    let requester = Requester::anonymous(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let mut out = Vec::new();
    let question = Question::Verb(Arguments::parse(query), provider::Form::Xml);
    aggregator.answer(&requester, &question, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The texts of all elements of a name.
fn texts(xml: &str, name: &str) -> Vec<String> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let parts = xml.split(&begin).skip(1);
    parts
        .map(|part| part.split(&end).next().unwrap().to_owned())
        .collect()
}

/// Identifier, datestamp and status of a list, and the time of its first answer.
fn list(aggregator: &Aggregator, arguments: &str) -> (Vec<(String, String, bool)>, String) {
    let (mut all, mut moment) = (Vec::new(), None);
    let mut query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc{arguments}");
    loop {
        let answer = ask(aggregator, &query);
        let now = texts(&answer, "responseDate").remove(0);
        let moment = moment.get_or_insert(now).clone();
        for header in answer.split("<header").skip(1) {
            let (identifier, datestamp) = (texts(header, "identifier"), texts(header, "datestamp"));
            let is_deleted = header.starts_with(" status=\"deleted\"");
            all.push((identifier[0].clone(), datestamp[0].clone(), is_deleted));
        }
        let token = answer.split("<resumptionToken").nth(1);
        let token = token.and_then(|rest| rest.split_once('>')?.1.split('<').next());
        match token.filter(|token| !token.is_empty()) {
            Some(token) => query = format!("verb=ListIdentifiers&resumptionToken={token}"),
            None => return (all, moment),
        }
    }
}

fn small_pages(settings: &mut AggregatorSettings) {
    settings.limits = PageLimits {
        identifiers: 2,
        ..PageLimits::default()
    };
}

macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                super::$name(&super::Place::sqlite());
            })*
        }
        mod postgres {
            $(#[test]
            fn $name() {
                super::$name(&super::Place::postgres());
            })*
        }
    };
}

on_both_databases!(
    a_record_is_told_byte_for_byte_with_its_provenance,
    lists_have_pages_sets_and_what_changed,
    new_records_are_created_and_others_updated_in_the_list_of_changes,
    an_identifier_stays_with_the_repository_that_was_first,
    what_is_gone_stays_as_a_tombstone,
    no_harvester_misses_a_committed_change,
);

fn a_record_is_told_byte_for_byte_with_its_provenance(place: &Place) {
    let held = place.open();
    let repository = held.add("http://r.example/oai");
    let metadata = "<x:a  b='1'><![CDATA[</metadata>]]>&amp;</x:a>\n";
    held.harvest(repository, &[("oai:r:1", metadata)]);
    let aggregator = held.aggregator(|_| {});

    let answer = ask(
        &aggregator,
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:r:1",
    );

    let told = format!("<metadata xmlns:x=\"urn:x\">{metadata}</metadata>");
    assert!(answer.contains(&told), "{answer}");
    assert!(answer.contains("<baseURL>http://r.example/oai</baseURL>"));
    assert!(answer.contains("<datestamp>2001-09-09T01:46:40Z</datestamp>"));
    assert!(answer.contains("altered=\"false\""));
    assert!(answer.contains("<about xmlns:x=\"urn:x\"><x:rights>r</x:rights></about>"));
    let format = ask(&aggregator, "verb=ListMetadataFormats&identifier=oai:r:1");
    assert_eq!(texts(&format, "metadataPrefix"), ["oai_dc"]);
    let other = ask(
        &aggregator,
        "verb=GetRecord&metadataPrefix=oai_didl&identifier=oai:r:1",
    );
    assert!(other.contains("cannotDisseminateFormat"), "{other}");
    let unknown = ask(
        &aggregator,
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:r:2",
    );
    assert!(unknown.contains("idDoesNotExist"), "{unknown}");
}

fn lists_have_pages_sets_and_what_changed(place: &Place) {
    let held = place.open();
    let repository = held.add("http://r.example/oai");
    let identifiers: Vec<_> = (0..5).map(|number| format!("oai:r:{number}")).collect();
    let records: Vec<_> = identifiers
        .iter()
        .map(|id| (id.as_str(), "<x:a/>"))
        .collect();
    held.harvest(repository, &records);
    let aggregator = held.aggregator(small_pages);

    let (all, moment) = list(&aggregator, "");
    assert_eq!(all.len(), 5);
    assert!(all.iter().all(|(_, datestamp, _)| *datestamp <= moment));
    for set in [
        "repository",
        "repository:1",
        "repository:1:a",
        "repository:1:a:b",
    ] {
        assert_eq!(
            list(&aggregator, &format!("&set={set}")).0.len(),
            5,
            "{set}"
        );
    }
    assert!(list(&aggregator, "&set=repository:2").0.is_empty());
    let sets = texts(&ask(&aggregator, "verb=ListSets"), "setSpec");
    assert!(sets.contains(&"repository:1:a:b".to_owned()), "{sets:?}");

    held.harvest(repository, &[("oai:r:3", "<x:changed/>"), ("oai:r:4", "")]);
    let (changed, _) = list(&aggregator, &format!("&from={moment}"));
    let find = |id: &str| {
        changed
            .iter()
            .find(|(identifier, ..)| identifier == id)
            .cloned()
    };
    assert!(!find("oai:r:3").unwrap().2);
    assert!(find("oai:r:4").unwrap().2);
    assert_eq!(list(&aggregator, "").0.len(), 5);

    let other_key = held.aggregator(small_pages);
    assert_eq!(list(&other_key, "").0.len(), 5);
}

fn new_records_are_created_and_others_updated_in_the_list_of_changes(place: &Place) {
    let held = place.open();
    let repository = held.add("http://r.example/oai");
    held.harvest(repository, &[("oai:r:1", "<x:a/>"), ("oai:r:2", "<x:a/>")]);
    held.harvest(
        repository,
        &[("oai:r:2", "<x:changed/>"), ("oai:r:3", "<x:a/>")],
    );
    let aggregator = held.aggregator(|_| {});
    let document = SyncDocument::below_repository("resourcesync/changelist.xml").unwrap();
    let question = Question::Document {
        document,
        at_root: false,
    };
    let requester = Requester::anonymous(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let mut out = Vec::new();

    aggregator.answer(&requester, &question, &mut out).unwrap();

    let xml = String::from_utf8(out).unwrap();
    let change = |identifier: &str| {
        let entry = xml.split("<url>").find(|entry| entry.contains(identifier));
        let entry = entry.unwrap_or_else(|| panic!("{identifier} is missing: {xml}"));
        let change = entry.split("change=\"").nth(1).unwrap();
        change.split('"').next().unwrap().to_owned()
    };
    let changes = ["oai:r:1", "oai:r:2", "oai:r:3"].map(|id| change(&id.replace(':', "%3A")));
    assert_eq!(changes, ["created", "updated", "created"], "{xml}");
}

fn an_identifier_stays_with_the_repository_that_was_first(place: &Place) {
    let held = place.open();
    let (first, second) = (
        held.add("http://r.example/oai"),
        held.add("http://s.example/oai"),
    );
    held.harvest(second, &[("oai:same:1", "<x:second/>")]);
    held.harvest(
        first,
        &[
            ("oai:same:1", "<x:first/>"),
            ("oai:a.example:document:7", "<x:own/>"),
        ],
    );
    let aggregator = held.aggregator(|_| {});

    let mut told: Vec<_> = list(&aggregator, "").0.into_iter().map(|it| it.0).collect();
    told.sort();
    let qualified = format!("oai:a.example:repository:{first}:oai:same:1");
    let own = format!("oai:a.example:repository:{first}:oai:a.example:document:7");
    assert_eq!(
        told,
        [own.clone(), qualified.clone(), "oai:same:1".to_owned()]
    );
    for (identifier, content) in [
        ("oai:same:1", "<x:second/>"),
        (qualified.as_str(), "<x:first/>"),
        (own.as_str(), "<x:own/>"),
    ] {
        let query = format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}");
        assert!(ask(&aggregator, &query).contains(content), "{identifier}");
    }

    let removed = held.0.catalog().remove_repository(second);
    held.0.wait(removed).unwrap();
    let aggregator = held.aggregator(|_| {});
    let (told, _) = list(&aggregator, "");
    let same = told
        .iter()
        .find(|(identifier, ..)| identifier == "oai:same:1");
    assert!(same.unwrap().2, "its tombstone keeps it: {told:?}");
    assert!(told.iter().any(|(identifier, ..)| *identifier == qualified));
}

fn what_is_gone_stays_as_a_tombstone(place: &Place) {
    let held = place.open();
    let repository = held.add("http://r.example/oai");
    held.harvest(repository, &[("oai:r:1", "<x:a/>"), ("oai:r:2", "<x:a/>")]);
    let (_, before) = list(&held.aggregator(|_| {}), "");

    let removed = held.0.catalog().remove_repository(repository);
    held.0.wait(removed).unwrap();

    let (gone, _) = list(
        &held.aggregator(|_| {}),
        &format!("&from={before}&set=repository:1:a"),
    );
    assert_eq!(gone.len(), 2);
    assert!(gone.iter().all(|(_, _, is_deleted)| *is_deleted));
    let silent = held.aggregator(|settings| settings.removed = RemovedRepositories::Gone);
    assert!(list(&silent, "").0.is_empty());

    assert_eq!(held.add("http://r.example/oai"), repository);
    held.harvest(repository, &[("oai:r:1", "<x:a/>")]);
    let (again, _) = list(&held.aggregator(|_| {}), "");
    let status: BTreeMap<_, _> = again.into_iter().map(|(id, _, gone)| (id, gone)).collect();
    let expected = [("oai:r:1".to_owned(), false), ("oai:r:2".to_owned(), true)];
    assert_eq!(status, BTreeMap::from(expected));
}

/// Several writers, each with connections of its own, commit pages of one record while a harvester asks again and again for
/// what changed since the time of the answer before. In the end it knows what a full harvest tells, to the datestamp.
fn no_harvester_misses_a_committed_change(place: &Place) {
    let held = place.open();
    let urls: Vec<_> = (0..4)
        .map(|number| format!("http://{number}.example/oai"))
        .collect();
    let repositories: Vec<_> = urls.iter().map(|url| held.add(url)).collect();
    let aggregator = held.aggregator(small_pages);
    let done = AtomicBool::new(false);

    let known = thread::scope(|scope| {
        let writers: Vec<_> = repositories
            .iter()
            .map(|repository| {
                scope.spawn(move || {
                    let own = place.open();
                    for round in 0..12 {
                        let text = "<x:a/>".repeat(round + 1);
                        let ids: Vec<_> = (0..5)
                            .map(|number| format!("oai:{repository}:{}", number + round % 3))
                            .collect();
                        let records: Vec<_> = ids
                            .iter()
                            .enumerate()
                            .map(|(at, id)| match (at + round) % 7 {
                                0 => (id.as_str(), ""),
                                _ => (id.as_str(), text.as_str()),
                            })
                            .collect();
                        own.harvest(*repository, &records);
                    }
                })
            })
            .collect();
        let harvester = scope.spawn(|| {
            let (mut known, mut from) = (BTreeMap::new(), String::new());
            loop {
                let is_last = done.load(Ordering::SeqCst);
                let (changed, moment) = list(&aggregator, &from);
                for (identifier, datestamp, is_deleted) in changed {
                    known.insert(identifier, (datestamp, is_deleted));
                }
                from = format!("&from={moment}");
                if is_last {
                    return known;
                }
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::SeqCst);
        harvester.join().unwrap()
    });

    let (all, _) = list(&aggregator, "");
    let all: BTreeMap<_, _> = all
        .into_iter()
        .map(|(identifier, datestamp, is_deleted)| (identifier, (datestamp, is_deleted)))
        .collect();
    assert_eq!(all.len(), 4 * 7);
    assert_eq!(known, all);
}
