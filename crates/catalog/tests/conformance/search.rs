//! Records found by their words.

use catalog::{Catalog, IndexedRecord, NewRun, Order, RecordQuery};

use crate::place::{Place, add, in_sets, page, row, tombstone};
use crate::runs::ok;

crate::on_both_databases!(
    records_are_found_by_words_phrases_and_beginnings,
    case_and_accents_do_not_count,
    whatever_is_typed_in_is_understood,
    a_search_goes_together_with_all_other_conditions,
    lists_go_both_ways_and_can_be_counted,
    what_is_gone_or_changed_is_not_found_by_its_old_words,
    words_of_a_record_that_changed_meanwhile_are_passed_over,
    a_harvest_that_was_gone_on_with_is_read_again,
    words_are_read_also_when_the_history_is_gone,
    texts_of_any_size_are_taken,
);

/// A repository with a record for each pair of identifier and text, all indexed.
async fn with_texts(catalog: &Catalog, repository: i64, texts: &[(&str, &str)]) -> i64 {
    let mut run = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    let rows: Vec<_> = texts
        .iter()
        .map(|(identifier, _)| in_sets(identifier, &["s", "s:sub"]))
        .collect();
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    let harvest = catalog.finish(run, &ok()).await.unwrap().id;
    index(catalog, harvest, texts).await;
    harvest
}

/// Indexes what a harvest changed, by identifier.
async fn index(catalog: &Catalog, harvest: i64, texts: &[(&str, &str)]) -> u64 {
    let query = RecordQuery {
        changed_by: Some(harvest),
        limit: 10_000,
        ..RecordQuery::default()
    };
    let records = catalog.records(&query).await.unwrap();
    let mut indexed = Vec::new();
    for record in &records {
        let text = texts
            .iter()
            .find(|(identifier, _)| *identifier == record.identifier);
        indexed.push(IndexedRecord {
            id: record.id,
            title: text.map(|_| "A title"),
            text: text.map(|(_, text)| *text).unwrap_or_default(),
        });
    }
    catalog.index_records(harvest, &indexed).await.unwrap()
}

async fn found(catalog: &Catalog, text: &str) -> Vec<String> {
    let query = RecordQuery {
        text: Some(text.to_owned()),
        ..RecordQuery::default()
    };
    found_by(catalog, &query).await
}

async fn found_by(catalog: &Catalog, query: &RecordQuery) -> Vec<String> {
    let records = catalog.records(query).await.unwrap();
    let counted = catalog.count_records(query, 1_000).await.unwrap();
    assert_eq!(counted, records.len() as u64, "{query:?}");
    let mut found: Vec<_> = records
        .into_iter()
        .map(|record| record.identifier)
        .collect();
    found.sort();
    found
}

async fn records_are_found_by_words_phrases_and_beginnings(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let texts = [
        ("id:1", "Grey literature in open archives"),
        ("id:2", "The literature of grey whales, harvested"),
        ("id:3", "東京の図書館"),
    ];
    with_texts(&catalog, repository, &texts).await;

    for (text, expected) in [
        ("grey literature", vec!["id:1", "id:2"]),
        ("\"grey literature\"", vec!["id:1"]),
        ("\"grey literature", vec!["id:1"]),
        ("harv*", vec!["id:2"]),
        ("harv", vec![]),
        ("archives whales", vec![]),
        ("図書", vec!["id:3"]),
        ("図京", vec![]),
        ("id:2", vec!["id:2"]),
        ("title", vec!["id:1", "id:2", "id:3"]),
        ("1", vec!["id:1"]),
        ("¶1", vec!["id:1"]),
    ] {
        assert_eq!(found(&catalog, text).await, expected, "{text}");
    }
    let query = RecordQuery {
        text: Some("whales".to_owned()),
        ..RecordQuery::default()
    };
    let record = catalog.records(&query).await.unwrap().remove(0);
    assert_eq!(record.title.as_deref(), Some("A title"));
    assert_eq!(catalog.record(record.id).await.unwrap(), Some(record));
    assert_eq!(catalog.record(i64::MAX).await.unwrap(), None);
}

async fn case_and_accents_do_not_count(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let texts = [
        ("1", "Œuvres d'ÉRIC"),
        ("2", "Straße, Łódź"),
        ("3", "ПРИВЕТ"),
    ];
    with_texts(&catalog, repository, &texts).await;

    for (text, expected) in [
        ("oeuvres eric", "1"),
        ("E\u{301}ric", "1"),
        ("STRASSE", "2"),
        ("lodz", "2"),
        ("привет", "3"),
    ] {
        assert_eq!(found(&catalog, text).await, [expected], "{text}");
    }
}

async fn whatever_is_typed_in_is_understood(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    with_texts(&catalog, repository, &[("1", "a or near not")]).await;

    for hostile in [
        "", " ", "\"", "*", "\"\"*", "()", "--", "';", "\0", "\\", "!", ":*", "|", "<->", "%", "$1",
    ] {
        assert_eq!(found(&catalog, hostile).await, ["1"], "{hostile:?}");
    }
    for hostile in [
        "a AND", "OR", "near(a", "NOT a", "a'", "a\\", "a:*", "a & ", "-a", "words:a", "^a", "a\0",
        "a\"", "(a*)",
    ] {
        let found = found(&catalog, hostile).await;
        assert!(found.len() <= 1, "{hostile:?}");
    }
    assert_eq!(found(&catalog, "NOT a").await, ["1"]);
    let many = "\"a".repeat(5_000);
    assert_eq!(found(&catalog, &many).await, ["1"]);
}

async fn a_search_goes_together_with_all_other_conditions(place: Place) {
    let (catalog, first) = place.with_repository().await;
    let second = add(&catalog, "http://b.example/oai").await;
    with_texts(&catalog, first, &[("1", "whale"), ("2", "whale song")]).await;
    with_texts(&catalog, second, &[("3", "whale")]).await;

    let whales = || RecordQuery {
        text: Some("whale".to_owned()),
        ..RecordQuery::default()
    };
    for (query, expected) in [
        (whales(), vec!["1", "2", "3"]),
        (
            RecordQuery {
                repository: Some(first),
                ..whales()
            },
            vec!["1", "2"],
        ),
        (
            RecordQuery {
                repository: Some(second),
                text: Some("song".to_owned()),
                ..whales()
            },
            vec![],
        ),
        (
            RecordQuery {
                set: Some("s".to_owned()),
                repository: Some(second),
                ..whales()
            },
            vec!["3"],
        ),
        (
            RecordQuery {
                set: Some("s:sub".to_owned()),
                ..whales()
            },
            vec!["1", "2", "3"],
        ),
        (
            RecordQuery {
                set: Some("other".to_owned()),
                ..whales()
            },
            vec![],
        ),
        (
            RecordQuery {
                deleted: Some(true),
                ..whales()
            },
            vec![],
        ),
        (
            RecordQuery {
                since: Some(1_000),
                until: Some(1_000),
                metadata_prefix: Some("oai_dc".to_owned()),
                ..whales()
            },
            vec!["1", "2", "3"],
        ),
        (
            RecordQuery {
                until: Some(999),
                ..whales()
            },
            vec![],
        ),
    ] {
        assert_eq!(found_by(&catalog, &query).await, expected, "{query:?}");
    }
}

async fn lists_go_both_ways_and_can_be_counted(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let identifiers: Vec<_> = (10..40).map(|n| n.to_string()).collect();
    let texts: Vec<_> = identifiers.iter().map(|id| (id.as_str(), "word")).collect();
    with_texts(&catalog, repository, &texts).await;

    for (text, set) in [
        (None, None),
        (Some("word"), None),
        (None, Some("s:sub")),
        (None, Some("s")),
        (Some("word"), Some("s")),
    ] {
        let mut query = RecordQuery {
            text: text.map(str::to_owned),
            set: set.map(str::to_owned),
            order: Order::Newest,
            limit: 7,
            ..RecordQuery::default()
        };
        let mut listed = Vec::new();
        loop {
            let records = catalog.records(&query).await.unwrap();
            let Some(last) = records.last() else { break };
            query.before = Some(last.id);
            listed.extend(records.into_iter().map(|record| record.id));
        }
        assert_eq!(listed.len(), 30, "{query:?}");
        assert!(listed.is_sorted_by(|a, b| a > b), "{query:?}");
        assert_eq!(catalog.count_records(&query, 1_000).await.unwrap(), 30);
        assert_eq!(catalog.count_records(&query, 20).await.unwrap(), 20);
        query.order = Order::Oldest;
        query.after = listed[8];
        query.before = None;
        let records = catalog.records(&query).await.unwrap();
        assert_eq!(records[0].id, listed[7], "{query:?}");
    }
}

async fn what_is_gone_or_changed_is_not_found_by_its_old_words(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let texts = [("1", "old"), ("2", "old"), ("3", "old"), ("4", "old")];
    with_texts(&catalog, repository, &texts).await;
    let mut run = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    let rows = [row("1"), tombstone("2", 5)];
    let dropped = ["3".to_owned()];
    let commit = catalog::PageCommit {
        dropped: &dropped,
        ..page(&rows)
    };
    catalog.commit_page(&mut run, commit).await.unwrap();
    let harvest = catalog.finish(run, &ok()).await.unwrap().id;

    assert_eq!(index(&catalog, harvest, &[("1", "new")]).await, 2);

    assert_eq!(found(&catalog, "old").await, ["4"]);
    assert_eq!(found(&catalog, "new").await, ["1"]);
    // A tombstone is found by its identifier, and has lost its title.
    let query = RecordQuery {
        text: Some("2".to_owned()),
        ..RecordQuery::default()
    };
    let record = catalog.records(&query).await.unwrap().remove(0);
    assert_eq!((record.deleted, record.title), (true, None));
    catalog.remove_repository(repository).await.unwrap();
    assert_eq!(found(&catalog, "new").await, Vec::<String>::new());
}

async fn words_of_a_record_that_changed_meanwhile_are_passed_over(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let first = with_texts(&catalog, repository, &[("1", "first"), ("2", "first")]).await;
    let mut run = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    catalog
        .commit_page(&mut run, page(&[row("1")]))
        .await
        .unwrap();
    let second = catalog.finish(run, &ok()).await.unwrap().id;
    index(&catalog, second, &[("1", "second")]).await;
    let all = catalog.records(&RecordQuery::default()).await.unwrap();

    let late: Vec<_> = all
        .iter()
        .map(|record| IndexedRecord {
            id: record.id,
            title: None,
            text: "late",
        })
        .collect();
    let written = catalog.index_records(first, &late).await.unwrap();

    assert_eq!(written, 1);
    assert_eq!(found(&catalog, "second").await, ["1"]);
    assert_eq!(found(&catalog, "late").await, ["2"]);
}

async fn a_harvest_that_was_gone_on_with_is_read_again(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let order = NewRun::new(repository, "oai_dc");
    let mut run = catalog.begin(&order).await.unwrap();
    catalog
        .commit_page(&mut run, page(&[row("1")]))
        .await
        .unwrap();
    let harvest = run.id();
    assert_eq!(catalog.unindexed(10).await.unwrap(), []);
    let failed = catalog::Finish {
        state: catalog::State::Failed,
        ..ok()
    };
    catalog.finish(run, &failed).await.unwrap();

    let seen = catalog.unindexed(10).await.unwrap().remove(0);
    assert_eq!(seen.harvest, harvest);
    let order = NewRun {
        resume: Some(harvest),
        ..order
    };
    let mut run = catalog.begin(&order).await.unwrap();
    catalog
        .commit_page(&mut run, page(&[row("2")]))
        .await
        .unwrap();
    catalog.finish(run, &ok()).await.unwrap();

    assert!(!catalog.indexed(&seen).await.unwrap());
    let seen = catalog.unindexed(10).await.unwrap().remove(0);
    assert!(catalog.indexed(&seen).await.unwrap());
    assert_eq!(catalog.unindexed(10).await.unwrap(), []);

    // Nothing new, nothing to be read.
    let again = NewRun::new(repository, "oai_dc");
    let mut run = catalog.begin(&again).await.unwrap();
    catalog
        .commit_page(&mut run, page(&[row("1"), row("2")]))
        .await
        .unwrap();
    catalog.finish(run, &ok()).await.unwrap();
    assert_eq!(catalog.unindexed(10).await.unwrap(), []);
}

async fn words_are_read_also_when_the_history_is_gone(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    catalog
        .commit_page(&mut run, page(&[row("1")]))
        .await
        .unwrap();
    let harvest = catalog.finish(run, &ok()).await.unwrap().id;
    catalog.remove_history_entry(harvest).await.unwrap();

    let seen = catalog.unindexed(10).await.unwrap().remove(0);
    assert_eq!(index(&catalog, seen.harvest, &[("1", "kept")]).await, 1);

    assert_eq!(found(&catalog, "kept").await, ["1"]);
}

async fn texts_of_any_size_are_taken(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let many: String = (0..100_000).map(|n| format!("w{n} ")).collect();
    let long = "x".repeat(3_000_000);
    let often = "again ".repeat(100_000);
    let odd = "\u{0}\u{feff}\u{202e}' \\ \" \u{1f600} e\u{301}\u{301}".repeat(1_000);
    let texts = [
        ("many", many.as_str()),
        ("long", long.as_str()),
        ("often", often.as_str()),
        ("odd", odd.as_str()),
    ];
    with_texts(&catalog, repository, &texts).await;

    assert_eq!(found(&catalog, "w7").await, ["many"]);
    assert_eq!(found(&catalog, &long).await, ["long"]);
    assert_eq!(found(&catalog, "\"again again\"").await, ["often"]);
    assert_eq!(found(&catalog, "É").await, ["odd"]);
}
