//! The changes of a page, and its counts.

use catalog::Outcome::{Deleted, New, Repeated, Unchanged, Updated};
use catalog::{Counts, NewRun, PageCommit, RecordQuery, RecordRow, Validation, Warning};

use crate::place::{Place, in_sets, page, row, tombstone};

crate::on_both_databases!(
    records_are_new_updated_unchanged_or_deleted,
    a_page_committed_twice_is_counted_once,
    of_records_with_one_identifier_the_last_counts,
    a_change_of_sets_alone_is_an_update,
    a_moved_file_is_written_and_not_counted_as_an_update,
    counts_warnings_and_quirks_come_with_the_page,
    dropped_records_are_forgotten,
    pages_of_any_size_are_taken,
);

async fn records_are_new_updated_unchanged_or_deleted(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    let rows = ["1", "2", "3", "4"].map(row);
    assert_eq!(
        catalog.commit_page(&mut run, page(&rows)).await.unwrap(),
        [New; 4]
    );
    catalog.finish(run, &crate::runs::ok()).await.unwrap();

    let mut run = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    let newer = RecordRow {
        datestamp: Some(1_001),
        ..row("2")
    };
    let other = RecordRow {
        sha256: Some("cd".repeat(32)),
        ..row("3")
    };
    let rows = [
        row("1"),
        newer,
        other,
        tombstone("4", 5),
        tombstone("5", 5),
        row("6"),
    ];
    let outcomes = catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    assert_eq!(
        outcomes,
        [Unchanged, Updated, Updated, Deleted, Deleted, New]
    );
    let entry = catalog.finish(run, &crate::runs::ok()).await.unwrap();
    let Counts {
        new,
        updated,
        unchanged,
        deleted,
        ..
    } = entry.counts;
    assert_eq!((new, updated, unchanged, deleted), (1, 2, 1, 2));

    let mut run = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    let rows = [tombstone("4", 6), row("5")];
    let outcomes = catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    assert_eq!(outcomes, [Unchanged, Updated]);
    let known = catalog
        .known(repository, "oai_dc", &["4", "5"])
        .await
        .unwrap();
    assert_eq!((known["4"].datestamp, known["4"].deleted), (Some(6), true));
    assert_eq!(
        (known["5"].datestamp, known["5"].deleted),
        (Some(1_000), false)
    );
}

async fn a_page_committed_twice_is_counted_once(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    catalog
        .commit_page(&mut run, page(&[row("1")]))
        .await
        .unwrap();
    catalog.finish(run, &crate::runs::ok()).await.unwrap();
    let mut run = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    let repaired = RecordRow {
        validation: Validation::Repaired,
        ..in_sets("3", &["a"])
    };
    let rows = [row("1"), row("2"), repaired, tombstone("4", 1)];

    let first = catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    let second = catalog.commit_page(&mut run, page(&rows)).await.unwrap();

    assert_eq!(first, [Unchanged, New, New, Deleted]);
    assert_eq!(second, [Repeated; 4]);
    let expected = Counts {
        new: 2,
        unchanged: 1,
        deleted: 1,
        repaired: 1,
        ..Counts::default()
    };
    assert_eq!(run.counts(), expected);
    assert_eq!(
        catalog
            .finish(run, &crate::runs::ok())
            .await
            .unwrap()
            .counts,
        expected
    );
}

async fn of_records_with_one_identifier_the_last_counts(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    let later = RecordRow {
        datestamp: Some(9),
        ..in_sets("1", &["b"])
    };
    let rows = [in_sets("1", &["a"]), row("2"), later];

    let outcomes = catalog.commit_page(&mut run, page(&rows)).await.unwrap();

    assert_eq!(outcomes, [Repeated, New, New]);
    let known = catalog.known(repository, "oai_dc", &["1"]).await.unwrap();
    assert_eq!(known["1"].datestamp, Some(9));
    let records = catalog.records(&RecordQuery::default()).await.unwrap();
    let record = records
        .iter()
        .find(|record| record.identifier == "1")
        .unwrap();
    assert_eq!(record.set_specs, ["b"]);
}

async fn a_change_of_sets_alone_is_an_update(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let rows = [in_sets("1", &["a", "b", "b"]), in_sets("2", &["a"])];
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();

    let rows = [in_sets("1", &["c", "b"]), in_sets("2", &["a"])];
    let outcomes = catalog.commit_page(&mut run, page(&rows)).await.unwrap();

    assert_eq!(outcomes, [Updated, Repeated]);
    let records = catalog.records(&RecordQuery::default()).await.unwrap();
    assert_eq!(records[0].set_specs, ["b", "c"]);
    assert_eq!(records[1].set_specs, ["a"]);
}

async fn a_moved_file_is_written_and_not_counted_as_an_update(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    catalog
        .commit_page(&mut run, page(&[row("1")]))
        .await
        .unwrap();

    let moved = RecordRow {
        file: Some("elsewhere.xml".to_owned()),
        ..row("1")
    };
    let outcomes = catalog.commit_page(&mut run, page(&[moved])).await.unwrap();

    assert_eq!(outcomes, [Repeated]);
    let known = catalog.known(repository, "oai_dc", &["1"]).await.unwrap();
    assert_eq!(known["1"].file.as_deref(), Some("elsewhere.xml"));
}

async fn counts_warnings_and_quirks_come_with_the_page(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let id = run.id();
    let skipped = RecordRow {
        validation: Validation::Skipped,
        file: None,
        ..row("1")
    };
    let warnings = [
        Warning {
            identifier: Some("1".to_owned()),
            reason: "not well-formed".to_owned(),
            lost: true,
        },
        Warning {
            identifier: None,
            reason: "a record\0without a header".to_owned(),
            lost: true,
        },
    ];
    let counts = Counts {
        filtered: 3,
        skipped: 1,
        requests: 2,
        bytes: 5_000_000_000,
        ..Counts::default()
    };
    let rows = [skipped];
    let commit = PageCommit {
        counts,
        warnings: &warnings,
        quirks: Some("{\"a\":1}"),
        ..page(&rows)
    };

    catalog.commit_page(&mut run, commit).await.unwrap();
    catalog
        .commit_page(
            &mut run,
            PageCommit {
                counts,
                ..page(&[])
            },
        )
        .await
        .unwrap();

    assert_eq!(catalog.lost(id, 10).await.unwrap(), ["1"]);
    let entry = catalog.history_entry(id).await.unwrap().unwrap();
    let expected = Counts {
        filtered: 6,
        skipped: 3,
        requests: 4,
        bytes: 10_000_000_000,
        ..Counts::default()
    };
    assert_eq!(entry.counts, expected);
    assert_eq!(entry.quirks.as_deref(), Some("{\"a\":1}"));
    let told = catalog.warnings(id, 10).await.unwrap();
    assert_eq!(told[0], warnings[0]);
    assert_eq!(told[1].reason, "a record\u{fffd}without a header");
}

async fn dropped_records_are_forgotten(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    let rows = [in_sets("1", &["a"]), row("2")];
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();

    let dropped = ["1".to_owned(), "unknown".to_owned()];
    let commit = PageCommit {
        dropped: &dropped,
        ..page(&[])
    };
    catalog.commit_page(&mut run, commit).await.unwrap();

    let known = catalog
        .known(repository, "oai_dc", &["1", "2"])
        .await
        .unwrap();
    assert_eq!(known.keys().collect::<Vec<_>>(), ["2"]);
}

async fn pages_of_any_size_are_taken(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    let sets: Vec<String> = (0..1_200).map(|n| format!("set{n}")).collect();
    let mut rows: Vec<_> = (0..1_203).map(|n| row(&format!("oai:a:{n}"))).collect();
    rows[1_100].set_specs = sets;
    // The same again, in another batch of the page.
    rows.push(row("oai:a:0"));

    let outcomes = catalog.commit_page(&mut run, page(&rows)).await.unwrap();

    assert_eq!(
        outcomes.iter().filter(|outcome| **outcome == New).count(),
        1_203
    );
    assert_eq!(outcomes.last(), Some(&Repeated));
    let counts = catalog.repository_counts(repository).await.unwrap();
    assert_eq!((counts.records, counts.sets), (1_203, 1_200));
    rows[1_100].set_specs.clear();
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    let query = RecordQuery {
        set: Some("set7".to_owned()),
        ..RecordQuery::default()
    };
    assert_eq!(catalog.records(&query).await.unwrap(), []);
}
