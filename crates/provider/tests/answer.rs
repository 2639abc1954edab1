//! Pages, tokens and errors over a repository in memory.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

use std::cell::Cell;
use std::io::Write;
use std::time::Duration;

use oai::format::MetadataFormat;
use oai::xml::Writer;
use oai::{Arguments, Datestamp, Position, RecordHeader, Set, SetSpec, TokenKey};
use provider::{Error, ItemBatch, Listed, PageLimits, Portion, Provider, Range, View};

#[derive(Clone)]
struct Item {
    id: i64,
    header: RecordHeader,
}

impl Listed for Item {
    fn header(&self) -> &RecordHeader {
        &self.header
    }

    fn id(&self) -> i64 {
        self.id
    }
}

/// A repository at one moment.
struct Repository {
    now: i64,
    items: Vec<Item>,
    formats: Vec<&'static str>,
    sets: Vec<&'static str>,
    /// How long it takes to write a record.
    delay: Duration,
    /// Items that are not for this requester, which only a lookup tells.
    refused: Vec<i64>,
    /// Lookups made so far.
    lookups: Cell<u64>,
}

impl Repository {
    /// Items 1, 2, 3 and so on with these datestamps, seen at second 1000.
    fn new(datestamps: &[i64]) -> Self {
        let mut repository = Self {
            now: 1000,
            items: Vec::new(),
            formats: vec!["oai_dc"],
            sets: vec!["mime", "mime:text"],
            delay: Duration::ZERO,
            refused: Vec::new(),
            lookups: Cell::default(),
        };
        for (id, datestamp) in (1..).zip(datestamps) {
            repository.items.push(Item {
                id,
                header: RecordHeader {
                    identifier: format!("item:{id}"),
                    datestamp: Datestamp::from_seconds(*datestamp),
                    set_specs: SetSpec::parse("mime:text").into_iter().collect(),
                    deleted: false,
                },
            });
        }
        repository
    }

    /// The same later on, when an item has changed.
    fn change(&mut self, id: i64, datestamp: i64) {
        self.now = self.now.max(datestamp);
        for item in self.items.iter_mut().filter(|item| item.id == id) {
            item.header.datestamp = Datestamp::from_seconds(datestamp);
        }
    }

    fn within(&self, range: &Range) -> Vec<Item> {
        let in_set = |item: &Item| match &range.set {
            None => true,
            Some(set) => item.header.set_specs.iter().any(|spec| set.contains(spec)),
        };
        let mut items = self.items.clone();
        items.retain(|item| {
            let datestamp = item.header.datestamp;
            datestamp >= range.from && datestamp <= range.until && in_set(item)
        });
        items.sort_by_key(order);
        items
    }
}

impl View for Repository {
    type Item = Item;

    fn response_date(&self) -> Datestamp {
        Datestamp::from_seconds(self.now)
    }

    fn earliest_datestamp(&self) -> Result<Datestamp, Error> {
        Ok(Datestamp::from_seconds(0))
    }

    fn metadata_formats(&self) -> Vec<MetadataFormat> {
        let format = |prefix: &&str| MetadataFormat {
            prefix: (*prefix).to_owned(),
            schema: "http://example.org/schema".to_owned(),
            namespace: "http://example.org/namespace".to_owned(),
        };
        self.formats.iter().map(format).collect()
    }

    fn sets(&self) -> Result<Vec<Set>, Error> {
        let set = |spec: &&str| Set {
            spec: SetSpec::parse(spec).unwrap(),
            name: (*spec).to_owned(),
        };
        Ok(self.sets.iter().map(set).collect())
    }

    fn item(&self, identifier: &str) -> Result<Option<Item>, Error> {
        let mut items = self.items.iter();
        Ok(items
            .find(|item| item.header.identifier == identifier)
            .cloned())
    }

    fn count(&self, range: &Range, _: &str) -> Result<Option<u64>, Error> {
        Ok(Some(self.within(range).len() as u64))
    }

    fn list(
        &self,
        range: &Range,
        after: Option<Position>,
        portion: Portion<'_>,
    ) -> Result<ItemBatch<Item>, Error> {
        let at_most = portion.at_most;
        let after = after.map(|position| (position.datestamp, position.id));
        let mut items = self.within(range);
        items.retain(|item| after.is_none_or(|after| order(item) > after));
        let exhausted = items.len() < at_most;
        items.truncate(at_most);
        let behind = items.last().map(Item::position);
        let lookups = items.len() as u64;
        self.lookups.set(self.lookups.get() + lookups);
        items.retain(|item| !self.refused.contains(&item.id));
        Ok(ItemBatch {
            items,
            behind,
            exhausted,
            lookups,
        })
    }

    fn metadata_size(&self, _: &Item, _: &str) -> u64 {
        100
    }

    fn write_metadata<W: Write>(
        &self,
        item: &Item,
        _: &str,
        xml: &mut Writer<W>,
    ) -> Result<(), Error> {
        std::thread::sleep(self.delay);
        Ok(xml.element("title", &[], &item.header.identifier)?)
    }
}

fn order(item: &Item) -> (Datestamp, i64) {
    (item.header.datestamp, item.id)
}

/// Pages of two.
fn provider() -> Provider {
    Provider {
        base_url: "http://example.org/modoai".to_owned(),
        repository_name: "in memory".to_owned(),
        admin_emails: vec!["admin@example.org".to_owned()],
        descriptions: Vec::new(),
        compressions: Vec::new(),
        limits: PageLimits {
            identifiers: 2,
            records: 2,
            ..PageLimits::default()
        },
        token_key: TokenKey::new(b"secret"),
    }
}

fn ask(repository: &Repository, query: &str) -> String {
    ask_of(&provider(), repository, query)
}

fn ask_of(provider: &Provider, repository: &Repository, query: &str) -> String {
    let mut answer = Vec::new();
    provider
        .answer(repository, &Arguments::parse(query), &mut answer)
        .unwrap();
    String::from_utf8(answer).unwrap()
}

/// The next page of an answer.
fn resume(repository: &Repository, verb: &str, answer: &str) -> String {
    let token = token(answer).unwrap();
    ask(repository, &format!("verb={verb}&resumptionToken={token}"))
}

/// The texts between two strings.
fn texts<'a>(answer: &'a str, before: &str, behind: &str) -> Vec<&'a str> {
    let parts = answer.split(before).skip(1);
    parts
        .map(|part| part.split(behind).next().unwrap())
        .collect()
}

fn identifiers(answer: &str) -> Vec<&str> {
    texts(answer, "<identifier>", "</identifier>")
}

fn error(answer: &str) -> Option<&str> {
    texts(answer, "<error code=\"", "\"").first().copied()
}

fn token(answer: &str) -> Option<&str> {
    let element = texts(answer, "<resumptionToken", "</resumptionToken>")
        .first()
        .copied()?;
    element.split_once('>').map(|(_, token)| token)
}

#[test]
fn pages_hold_every_item_once_in_order() {
    let repository = Repository::new(&[30, 10, 20, 10, 30]);

    for verb in ["ListRecords", "ListIdentifiers"] {
        let first = ask(&repository, &format!("verb={verb}&metadataPrefix=oai_dc"));
        let second = resume(&repository, verb, &first);
        let third = resume(&repository, verb, &second);

        assert_eq!(identifiers(&first), ["item:2", "item:4"]);
        assert_eq!(identifiers(&second), ["item:3", "item:1"]);
        assert_eq!(identifiers(&third), ["item:5"]);
        assert!(
            first.contains("completeListSize=\"5\" cursor=\"0\""),
            "{first}"
        );
        assert!(second.contains("cursor=\"2\""));
        assert!(third.contains("cursor=\"4\""));
        assert_eq!(resume(&repository, verb, &first), second);
    }
}

#[test]
fn one_page_that_is_enough_has_no_token() {
    let repository = Repository::new(&[10, 20]);

    let answer = ask(&repository, "verb=ListRecords&metadataPrefix=oai_dc");

    assert_eq!(identifiers(&answer).len(), 2);
    assert!(!answer.contains("<resumptionToken"));
}

#[test]
fn a_page_that_takes_long_ends_and_the_list_goes_on() {
    let mut repository = Repository::new(&[10, 20, 30, 40]);
    repository.delay = Duration::from_millis(600);
    let mut provider = provider();
    provider.limits.records = 100;
    provider.limits.seconds = 1;

    let first = ask_of(
        &provider,
        &repository,
        "verb=ListRecords&metadataPrefix=oai_dc",
    );
    repository.delay = Duration::from_millis(1100);
    let rest = format!(
        "verb=ListRecords&resumptionToken={}",
        token(&first).unwrap()
    );
    let second = ask_of(&provider, &repository, &rest);
    provider.limits.seconds = 0;
    let unlimited = ask_of(&provider, &repository, &rest);

    assert_eq!(identifiers(&first), ["item:1", "item:2"]);
    assert_eq!(identifiers(&second), ["item:3"]);
    assert_eq!(identifiers(&unlimited), ["item:3", "item:4"]);
}

/// Pages that end after so many lookups and for no other reason.
fn provider_with_lookups(lookups: u64) -> Provider {
    let mut provider = provider();
    provider.limits = PageLimits {
        bytes: 0,
        identifiers: 0,
        records: 0,
        seconds: 0,
        lookups,
        programs: 0,
    };
    provider
}

/// The numbers of the items of each page, to the end of the list.
fn numbers_by_page(provider: &Provider, repository: &Repository) -> Vec<Vec<i64>> {
    let mut query = "verb=ListIdentifiers&metadataPrefix=oai_dc".to_owned();
    let mut pages = Vec::new();
    loop {
        let answer = ask_of(provider, repository, &query);
        let number = |identifier: &str| identifier.strip_prefix("item:").unwrap().parse().unwrap();
        pages.push(identifiers(&answer).into_iter().map(number).collect());
        match token(&answer) {
            None | Some("") => return pages,
            Some(token) => query = format!("verb=ListIdentifiers&resumptionToken={token}"),
        }
    }
}

#[test]
fn a_page_ends_at_its_lookups_and_the_list_goes_on() {
    let datestamps: Vec<_> = (1..=100).collect();
    let mut repository = Repository::new(&datestamps);
    repository.refused = (1..=100).filter(|id| id % 2 == 0).collect();

    let pages = numbers_by_page(&provider_with_lookups(40), &repository);
    let unlimited = numbers_by_page(&provider_with_lookups(0), &repository);

    // The next page begins behind the last item given, so what was refused behind that is asked for again.
    let odd = |from: i64, until: i64| (from..=until).step_by(2).collect::<Vec<_>>();
    assert_eq!(pages, [odd(1, 39), odd(41, 79), odd(81, 99)]);
    assert_eq!(unlimited, [odd(1, 99)]);
}

#[test]
fn no_more_is_looked_up_than_a_page_needs() {
    let datestamps: Vec<_> = (1..=900).collect();
    let repository = Repository::new(&datestamps);
    let query = "verb=ListIdentifiers&metadataPrefix=oai_dc";

    let answer = ask_of(&provider_with_lookups(100), &repository, query);

    assert_eq!(identifiers(&answer).len(), 100);
    // Those of the page, and one small batch that shows that the list goes on.
    assert_eq!(repository.lookups.get(), 108);
}

#[test]
fn a_page_is_not_empty_however_many_lookups_that_takes() {
    let datestamps: Vec<_> = (1..=1000).collect();
    let mut repository = Repository::new(&datestamps);
    repository.refused = (1..=1000).filter(|id| ![400, 800].contains(id)).collect();

    let pages = numbers_by_page(&provider_with_lookups(10), &repository);

    assert_eq!(pages, [[400], [800]]);
}

#[test]
fn a_list_whose_rest_is_refused_ends_without_a_token() {
    let datestamps: Vec<_> = (1..=1000).collect();
    let mut repository = Repository::new(&datestamps);
    repository.refused = (6..=1000).collect();
    let query = "verb=ListRecords&metadataPrefix=oai_dc";

    let whole = ask_of(&provider_with_lookups(5), &repository, query);
    let first = ask(&repository, query);
    let second = resume(&repository, "ListRecords", &first);
    let third = resume(&repository, "ListRecords", &second);
    repository.refused = (1..=1000).collect();
    let nothing = ask_of(&provider_with_lookups(5), &repository, query);

    assert_eq!(identifiers(&whole).len(), 5);
    assert_eq!(token(&whole), None);
    assert_eq!(identifiers(&third), ["item:5"]);
    assert_eq!(token(&third), Some(""));
    assert_eq!(error(&nothing), Some("noRecordsMatch"));
}

#[test]
fn a_list_goes_on_with_what_changed_behind_what_is_refused() {
    let mut repository = Repository::new(&[10, 20, 30, 40, 50]);
    repository.refused = vec![4, 5];
    let first = ask(&repository, "verb=ListRecords&metadataPrefix=oai_dc");
    repository.change(3, 2000);

    let second = resume(&repository, "ListRecords", &first);

    assert_eq!(identifiers(&second), ["item:3"]);
    assert_eq!(token(&second), Some(""));
}

#[test]
fn identify_names_the_compressions_and_may_name_none() {
    let repository = Repository::new(&[10]);
    let mut with_gzip = provider();
    with_gzip.compressions.push("gzip".to_owned());

    let none = ask(&repository, "verb=Identify");
    let gzip = ask_of(&with_gzip, &repository, "verb=Identify");

    assert!(!none.contains("compression"), "{none}");
    assert!(none.contains("</granularity>\n</Identify>"), "{none}");
    assert_eq!(texts(&gzip, "<compression>", "</compression>"), ["gzip"]);
}

#[test]
fn rejects_tokens_that_are_foreign_or_of_the_other_verb() {
    let repository = Repository::new(&[10, 20, 30]);
    let first = ask(&repository, "verb=ListRecords&metadataPrefix=oai_dc");

    let other = resume(&repository, "ListIdentifiers", &first);
    let foreign = ask(&repository, "verb=ListRecords&resumptionToken=foreign");
    let sets = resume(&repository, "ListSets", &first);

    for answer in [other, foreign, sets] {
        assert_eq!(error(&answer), Some("badResumptionToken"), "{answer}");
    }
}

#[test]
fn a_list_without_until_goes_on_with_what_changed() {
    let mut repository = Repository::new(&[10, 20, 30]);
    let first = ask(&repository, "verb=ListRecords&metadataPrefix=oai_dc");
    repository.change(3, 2000);

    let second = resume(&repository, "ListRecords", &first);

    assert_eq!(identifiers(&second), ["item:3"]);
    assert_eq!(token(&second), Some(""));
}

#[test]
fn a_list_never_goes_beyond_the_until_that_was_asked_for() {
    let mut repository = Repository::new(&[10, 20, 30]);
    let query = "verb=ListRecords&metadataPrefix=oai_dc&until=1970-01-01T00:00:50Z";
    let first = ask(&repository, query);
    repository.change(3, 2000);

    let second = resume(&repository, "ListRecords", &first);

    assert_eq!(error(&second), Some("badResumptionToken"), "{second}");
}

#[test]
fn a_list_until_a_time_to_come_goes_on_as_far_as_that() {
    let mut repository = Repository::new(&[10, 20, 30, 40]);
    // Second 1800; the list begins at second 1000.
    let query = "verb=ListRecords&metadataPrefix=oai_dc&until=1970-01-01T00:30:00Z";
    let first = ask(&repository, query);
    repository.change(3, 1700);
    repository.change(4, 1900);

    let second = resume(&repository, "ListRecords", &first);

    assert_eq!(identifiers(&second), ["item:3"]);
}

#[test]
fn a_repository_without_sets_has_no_set_hierarchy() {
    let mut repository = Repository::new(&[]);
    repository.sets.clear();

    let sets = ask(&repository, "verb=ListSets");
    let list = ask(
        &repository,
        "verb=ListRecords&metadataPrefix=oai_dc&set=mime",
    );

    assert_eq!(error(&sets), Some("noSetHierarchy"));
    assert_eq!(error(&list), Some("noSetHierarchy"));
}

#[test]
fn a_repository_without_formats_has_no_metadata_formats() {
    let mut repository = Repository::new(&[10]);
    repository.formats.clear();

    let answer = ask(&repository, "verb=ListMetadataFormats&identifier=item:1");

    assert_eq!(error(&answer), Some("noMetadataFormats"));
}
