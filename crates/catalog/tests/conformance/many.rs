//! Lists of many records, among which what is asked for is frequent or rare.

use catalog::{Catalog, IndexedRecord, NewRun, Order, RecordEntry, RecordQuery, RecordRow};

use crate::place::{Place, in_sets, page, tombstone};
use crate::runs::ok;

crate::on_both_databases!(a_list_holds_the_same_whether_that_is_rare_or_frequent);

/// More than what is gathered before it is looked at.
const MANY: usize = 5_200;

async fn harvested(catalog: &Catalog, repository: i64, prefix: &str, rows: &[RecordRow]) -> i64 {
    let order = NewRun::new(repository, prefix);
    let mut run = catalog.begin(&order).await.unwrap();
    catalog.commit_page(&mut run, page(rows)).await.unwrap();
    catalog.finish(run, &ok()).await.unwrap().id
}

/// A record by its number: all are in `all`, every hundredth is deleted, and few are of the last days.
fn numbered(number: usize) -> RecordRow {
    let identifier = number.to_string();
    if number.is_multiple_of(100) {
        return tombstone(&identifier, 50);
    }
    let tenth = format!("all:{}", number % 10);
    RecordRow {
        datestamp: Some(if number % 1_000 == 7 { 9_000 } else { 100 }),
        ..in_sets(&identifier, &["all", &tenth])
    }
}

/// Every record says `word`, and every thousandth `rare`.
fn text(record: &RecordEntry) -> &'static str {
    match record.identifier.parse::<usize>() {
        Ok(number) if number % 1_000 == 3 => "word rare",
        _ => "word",
    }
}

fn has(record: &RecordEntry, query: &RecordQuery) -> bool {
    let said = query.text.as_deref();
    let in_set = |set: &String| {
        let below = format!("{set}:");
        let sets = &record.set_specs;
        sets.iter()
            .any(|spec| spec == set || spec.starts_with(&below))
    };
    query.repository.is_none_or(|id| record.repository == id)
        && query
            .deleted
            .is_none_or(|deleted| record.deleted == deleted)
        && query
            .since
            .is_none_or(|since| record.datestamp >= Some(since))
        && query
            .until
            .is_none_or(|until| record.datestamp <= Some(until))
        && query.set.as_ref().is_none_or(in_set)
        && said.is_none_or(|said| text(record).contains(said))
        && query
            .metadata_prefix
            .as_ref()
            .is_none_or(|prefix| *prefix == record.metadata_prefix)
}

async fn a_list_holds_the_same_whether_that_is_rare_or_frequent(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let rows: Vec<_> = (1..=MANY).map(numbered).collect();
    let first = harvested(&catalog, repository, "oai_dc", &rows).await;
    let second = harvested(&catalog, repository, "marc21", &rows[..30]).await;
    let everything = RecordQuery {
        limit: 100_000,
        ..RecordQuery::default()
    };
    let all = catalog.records(&everything).await.unwrap();
    assert_eq!(all.len(), MANY + 30);
    for harvest in [first, second] {
        let changed = all.iter().filter(|record| record.changed_by == harvest);
        let words: Vec<_> = changed
            .map(|record| IndexedRecord {
                id: record.id,
                title: None,
                text: text(record),
            })
            .collect();
        catalog.index_records(harvest, &words).await.unwrap();
    }

    let some = |text: &[&str]| -> Vec<Option<String>> {
        let texts = text.iter().map(|text| Some((*text).to_owned()));
        std::iter::once(None).chain(texts).collect()
    };
    let mut queries = Vec::new();
    for text in some(&["word", "rare", "none"]) {
        for set in some(&["all", "all:7", "none"]) {
            for prefix in some(&["marc21", "none"]) {
                for (since, until, deleted) in [
                    (None, None, None),
                    (Some(9_000), None, None),
                    (None, Some(100), Some(false)),
                    (None, None, Some(true)),
                    (Some(50), Some(50), None),
                ] {
                    queries.push(RecordQuery {
                        text: text.clone(),
                        set: set.clone(),
                        metadata_prefix: prefix.clone(),
                        since,
                        until,
                        deleted,
                        ..RecordQuery::default()
                    });
                }
            }
        }
    }
    for (at, query) in queries.into_iter().enumerate() {
        let mut query = RecordQuery {
            repository: (at % 2 == 0).then_some(repository),
            order: if at % 3 == 0 {
                Order::Newest
            } else {
                Order::Oldest
            },
            limit: 40,
            ..query
        };
        let mut expected: Vec<_> = all.iter().filter(|record| has(record, &query)).collect();
        if query.order == Order::Newest {
            expected.reverse();
        }
        let counted = catalog.count_records(&query, 100_000).await.unwrap();
        assert_eq!(counted, expected.len() as u64, "{query:?}");
        for expected in expected.chunks(40).take(2) {
            let found = catalog.records(&query).await.unwrap();
            let found: Vec<_> = found.iter().map(|record| record.id).collect();
            let expected: Vec<_> = expected.iter().map(|record| record.id).collect();
            assert_eq!(found, expected, "{query:?}");
            match query.order {
                Order::Newest => query.before = found.last().copied(),
                Order::Oldest => query.after = found.last().copied().unwrap_or_default(),
            }
        }
    }
}
