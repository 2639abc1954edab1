//! Records and history, looked up and listed.

use catalog::{
    HistoryQuery, IndexedRecord, NewRun, Order, RecordColumn, RecordEntry, RecordQuery, RecordRow,
};

use crate::place::{Place, add, in_sets, page, row, tombstone};
use crate::runs::ok;

crate::on_both_databases!(
    records_are_found_by_what_is_asked_for,
    pages_of_a_list_hold_each_record_once,
    what_a_full_harvest_did_not_see_can_be_listed,
    what_a_harvest_found_to_be_new_or_changed_can_be_listed,
    the_history_is_listed_from_its_newest_entry,
    records_are_counted_by_format,
    records_are_listed_by_title_and_datestamp_page_by_page,
    items_are_counted_and_have_records_in_several_formats,
);

fn identifiers(records: &[RecordEntry]) -> Vec<&str> {
    records
        .iter()
        .map(|record| record.identifier.as_str())
        .collect()
}

async fn records_are_found_by_what_is_asked_for(place: Place) {
    let (catalog, first) = place.with_repository().await;
    let second = add(&catalog, "http://b.example/oai").await;
    let old = RecordRow {
        datestamp: Some(1),
        ..row("old")
    };
    let undated = RecordRow {
        datestamp: None,
        ..row("undated")
    };
    let rows = [
        in_sets("a", &["x:y"]),
        in_sets("b", &["x"]),
        in_sets("c", &["xy"]),
        old,
        undated,
        tombstone("gone", 1_000),
    ];
    let mut run = catalog.begin(&NewRun::new(first, "oai_dc")).await.unwrap();
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    catalog.finish(run, &ok()).await.unwrap();
    let mut run = catalog.begin(&NewRun::new(first, "marc21")).await.unwrap();
    catalog
        .commit_page(&mut run, page(&[row("m")]))
        .await
        .unwrap();
    let mut run = catalog.begin(&NewRun::new(second, "oai_dc")).await.unwrap();
    catalog
        .commit_page(&mut run, page(&[in_sets("s", &["x"])]))
        .await
        .unwrap();

    let all = RecordQuery::default;
    let dc = || RecordQuery {
        repository: Some(first),
        metadata_prefix: Some("oai_dc".to_owned()),
        ..all()
    };
    for (query, expected) in [
        (
            RecordQuery {
                repository: Some(second),
                ..all()
            },
            vec!["s"],
        ),
        (
            RecordQuery {
                metadata_prefix: Some("marc21".to_owned()),
                ..all()
            },
            vec!["m"],
        ),
        (
            RecordQuery {
                set: Some("x".to_owned()),
                ..all()
            },
            vec!["a", "b", "s"],
        ),
        (
            RecordQuery {
                set: Some("x".to_owned()),
                ..dc()
            },
            vec!["a", "b"],
        ),
        (
            RecordQuery {
                since: Some(1_000),
                deleted: Some(false),
                ..dc()
            },
            vec!["a", "b", "c"],
        ),
        (
            RecordQuery {
                deleted: Some(true),
                ..all()
            },
            vec!["gone"],
        ),
    ] {
        let mut records = catalog.records(&query).await.unwrap();
        // In which order a statement takes the rows of a page is the database's business.
        records.sort_by(|a, b| a.identifier.cmp(&b.identifier));
        assert_eq!(identifiers(&records), expected, "{query:?}");
    }
}

async fn pages_of_a_list_hold_each_record_once(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let rows: Vec<_> = (100..207).map(|n| row(&n.to_string())).collect();
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();

    let mut query = RecordQuery {
        limit: 10,
        ..RecordQuery::default()
    };
    let mut listed = Vec::new();
    loop {
        let records = catalog.records(&query).await.unwrap();
        let Some(last) = records.last() else { break };
        query.after = last.id;
        listed.extend(records.into_iter().map(|record| record.identifier));
    }

    listed.sort();
    assert_eq!(
        listed,
        rows.iter()
            .map(|row| row.identifier.clone())
            .collect::<Vec<_>>()
    );
}

async fn what_a_full_harvest_did_not_see_can_be_listed(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    let rows = ["1", "2", "3"].map(row);
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    catalog.finish(run, &ok()).await.unwrap();

    let mut run = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    catalog
        .commit_page(&mut run, page(&rows[..2]))
        .await
        .unwrap();

    let query = RecordQuery {
        not_seen_by: Some(run.id()),
        ..RecordQuery::default()
    };
    assert_eq!(identifiers(&catalog.records(&query).await.unwrap()), ["3"]);
}

async fn what_a_harvest_found_to_be_new_or_changed_can_be_listed(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let all = NewRun::new(repository, "oai_dc");
    let mut run = catalog.begin(&all).await.unwrap();
    let first = [row("same"), row("other")];
    catalog.commit_page(&mut run, page(&first)).await.unwrap();
    catalog.finish(run, &ok()).await.unwrap();

    let mut run = catalog.begin(&all).await.unwrap();
    let changed = RecordRow {
        datestamp: Some(5_000),
        ..row("other")
    };
    let second = [row("same"), changed, row("third")];
    catalog.commit_page(&mut run, page(&second)).await.unwrap();

    let query = RecordQuery {
        changed_by: Some(run.id()),
        ..RecordQuery::default()
    };
    let mut records = catalog.records(&query).await.unwrap();
    records.sort_by(|a, b| a.identifier.cmp(&b.identifier));
    assert_eq!(identifiers(&records), ["other", "third"]);
}

async fn the_history_is_listed_from_its_newest_entry(place: Place) {
    let (catalog, first) = place.with_repository().await;
    let second = add(&catalog, "http://b.example/oai").await;
    let mut ids = Vec::new();
    for repository in [first, second, first] {
        let run = catalog
            .begin(&NewRun::new(repository, "oai_dc"))
            .await
            .unwrap();
        ids.push(catalog.finish(run, &ok()).await.unwrap().id);
    }
    let listed = async |query: HistoryQuery| {
        let entries = catalog.history(&query).await.unwrap();
        entries.iter().map(|entry| entry.id).collect::<Vec<_>>()
    };

    let all = HistoryQuery::default;
    assert_eq!(listed(all()).await, [ids[2], ids[1], ids[0]]);
    assert_eq!(
        listed(HistoryQuery {
            repository: Some(first),
            ..all()
        })
        .await,
        [ids[2], ids[0]]
    );
    assert_eq!(
        listed(HistoryQuery {
            before: Some(ids[2]),
            limit: 1,
            ..all()
        })
        .await,
        [ids[1]]
    );
    assert!(catalog.remove_history_entry(ids[1]).await.unwrap());
    assert!(!catalog.remove_history_entry(ids[1]).await.unwrap());
    assert_eq!(listed(all()).await, [ids[2], ids[0]]);
}

async fn records_are_counted_by_format(place: Place) {
    let (catalog, first) = place.with_repository().await;
    let second = add(&catalog, "http://b.example/oai").await;
    let rows = [row("a"), row("b"), tombstone("gone", 1_000)];
    let mut run = catalog.begin(&NewRun::new(first, "oai_dc")).await.unwrap();
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    catalog.finish(run, &ok()).await.unwrap();
    let mut run = catalog.begin(&NewRun::new(first, "Marc")).await.unwrap();
    let gone = [tombstone("gone", 1_000)];
    catalog.commit_page(&mut run, page(&gone)).await.unwrap();

    let counts = catalog.format_counts(first).await.unwrap();

    let counts: Vec<_> = counts
        .iter()
        .map(|format| {
            (
                format.metadata_prefix.as_str(),
                format.records,
                format.deleted,
            )
        })
        .collect();
    assert_eq!(counts, [("Marc", 0, 1), ("oai_dc", 2, 1)]);
    assert_eq!(catalog.format_counts(second).await.unwrap(), []);
}

async fn records_are_listed_by_title_and_datestamp_page_by_page(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let dated = |name: &str, datestamp| RecordRow {
        datestamp,
        ..row(name)
    };
    let rows = [
        dated("a", Some(30)),
        dated("b", Some(10)),
        dated("c", None),
        dated("d", Some(10)),
    ];
    let new = NewRun::new(repository, "oai_dc");
    let mut run = catalog.begin(&new).await.unwrap();
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    let harvest = run.id();
    catalog.finish(run, &ok()).await.unwrap();
    let all = catalog.records(&RecordQuery::default()).await.unwrap();
    let titles = [("a", "Waves"), ("b", "Coast"), ("d", "Waves")];
    let indexed = titles.map(|(name, title)| IndexedRecord {
        id: all
            .iter()
            .find(|record| record.identifier == name)
            .unwrap()
            .id,
        title: Some(title),
        text: "",
    });
    catalog.index_records(harvest, &indexed).await.unwrap();

    for (by, order, expected) in [
        (RecordColumn::Title, Order::Oldest, ["c", "b", "a", "d"]),
        (RecordColumn::Title, Order::Newest, ["d", "a", "b", "c"]),
        (RecordColumn::Datestamp, Order::Oldest, ["c", "b", "d", "a"]),
        (RecordColumn::Datestamp, Order::Newest, ["a", "d", "b", "c"]),
        (RecordColumn::Number, Order::Newest, ["d", "c", "b", "a"]),
    ] {
        let mut query = RecordQuery {
            by,
            order,
            limit: 1,
            ..RecordQuery::default()
        };
        let mut met = Vec::new();
        while let Some(record) = catalog.records(&query).await.unwrap().pop() {
            query.behind = Some(record.id);
            met.push(record.identifier);
        }
        assert_eq!(met, expected, "{by:?} {order:?}");
    }
    // Nobody knows where the page behind a record begins that is not there any more.
    let gone = RecordQuery {
        by: RecordColumn::Title,
        behind: Some(999),
        ..RecordQuery::default()
    };
    let error = catalog.records(&gone).await.unwrap_err();
    assert!(error.to_string().contains("record 999"), "{error}");
}

async fn items_are_counted_and_have_records_in_several_formats(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    for (prefix, names) in [("oai_dc", ["a", "b", "c"]), ("mods", ["b", "c", "d"])] {
        let mut run = catalog
            .begin(&NewRun::new(repository, prefix))
            .await
            .unwrap();
        let rows = names.map(row);
        catalog.commit_page(&mut run, page(&rows)).await.unwrap();
        catalog.finish(run, &ok()).await.unwrap();
    }
    let all = RecordQuery::default();
    let records = catalog.records(&all).await.unwrap();

    assert_eq!(catalog.count_items(&all, 100).await.unwrap(), (4, false));
    let (_, is_more) = catalog.count_items(&all, 5).await.unwrap();
    assert!(is_more);
    let b = records
        .iter()
        .find(|record| record.identifier == "b")
        .unwrap();
    let mut of_b = catalog
        .records_of_items(std::slice::from_ref(b))
        .await
        .unwrap();
    of_b.sort_unstable();
    let same = records.iter().filter(|record| record.identifier == "b");
    let mut expected: Vec<_> = same.map(|record| record.id).collect();
    expected.sort_unstable();
    assert_eq!((of_b.len(), of_b), (2, expected));
    let among = RecordQuery {
        among: Some(vec![b.id]),
        ..all
    };
    assert_eq!(identifiers(&catalog.records(&among).await.unwrap()), ["b"]);
}
