//! Repositories, sets, formats, and the catalog as a whole.

use catalog::{
    Catalog, Error, Identity, MetadataFormat, NewRun, PageCommit, RecordQuery, RepositoryCounts,
};
use test_support::Postgres;

use crate::place::{Place, add, in_sets, page, tombstone};

crate::on_both_databases!(
    a_repository_is_added_once_and_then_brought_up_to_date,
    removing_a_repository_removes_what_belongs_to_it_and_nothing_else,
    a_removal_that_was_interrupted_counts_what_is_left_and_is_finished_by_the_next,
    a_repository_that_is_being_harvested_is_not_removed,
    a_repository_that_moved_keeps_all_but_its_address,
    sets_are_replaced_and_those_that_hold_records_stay,
    sets_are_found_by_spec_and_name,
    formats_are_shared_and_keep_the_order_of_the_repository,
    hostile_texts_are_taken_everywhere,
    a_catalog_of_a_newer_garner_is_refused,
    opening_again_keeps_everything,
);

async fn a_repository_is_added_once_and_then_brought_up_to_date(place: Place) {
    let catalog = place.open().await;
    let mut identity = Identity {
        name: Some("Bücher".to_owned()),
        admin_emails: vec!["a@a.example".to_owned(), "b@a.example".to_owned()],
        ..Identity::default()
    };
    let url = "http://a.example/oai";
    let first = catalog.add_repository(url, "dir", &identity).await.unwrap();

    identity.granularity = Some("YYYY-MM-DD".to_owned());
    let second = catalog
        .add_repository(url, "other", &identity)
        .await
        .unwrap();

    assert_eq!(second.id, first.id);
    assert_eq!(second.base_directory, "dir");
    assert_eq!(second.identity, identity);
    assert_eq!(
        catalog.repositories().await.unwrap(),
        std::slice::from_ref(&second)
    );
    assert_eq!(
        catalog.repository(first.id).await.unwrap(),
        Some(second.clone())
    );
    assert_eq!(catalog.repository_at(url).await.unwrap(), Some(second));
    assert_eq!(
        catalog.repository_at("http://b.example").await.unwrap(),
        None
    );
}

async fn removing_a_repository_removes_what_belongs_to_it_and_nothing_else(place: Place) {
    let (catalog, first) = place.with_repository().await;
    let second = add(&catalog, "http://b.example/oai").await;
    for repository in [first, second] {
        let mut run = catalog
            .begin(&NewRun::new(repository, "oai_dc"))
            .await
            .unwrap();
        let rows = [in_sets("1", &["a"]), tombstone("2", 1)];
        catalog.commit_page(&mut run, page(&rows)).await.unwrap();
        catalog.finish(run, &crate::runs::ok()).await.unwrap();
    }

    let removed = catalog.remove_repository(first).await.unwrap();

    let expected = RepositoryCounts {
        records: 1,
        deleted: 1,
        sets: 1,
        formats: 0,
        harvests: 1,
    };
    assert_eq!(removed, expected);
    assert_eq!(catalog.repository_counts(second).await.unwrap(), expected);
    assert!(matches!(
        catalog.remove_repository(first).await,
        Err(Error::UnknownRepository { .. })
    ));
}

async fn a_removal_that_was_interrupted_counts_what_is_left_and_is_finished_by_the_next(
    place: Place,
) {
    const MANY: u64 = 7_000;
    let (catalog, repository) = place.with_repository().await;
    let other = add(&catalog, "http://b.example/oai").await;
    for id in [repository, other] {
        let mut run = catalog.begin(&NewRun::new(id, "oai_dc")).await.unwrap();
        let rows = [in_sets("1", &["a"]), tombstone("2", 1)];
        catalog.commit_page(&mut run, page(&rows)).await.unwrap();
        catalog.finish(run, &crate::runs::ok()).await.unwrap();
    }
    place.sql(&format!(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {MANY})
         INSERT INTO record (repository_id, metadata_prefix, identifier, deleted, harvested, validation, run_id, changed_by)
             SELECT {repository}, 'oai_dc', 'many ' || n, 0, 1, 'ok', 1, 1 FROM number;
         UPDATE holding SET records = records + {MANY} WHERE repository_id = {repository}"
    ));
    let records = async || catalog.repository_counts(repository).await.unwrap().records;

    // It goes no further than it is waited for, so that it is left after some step that is not the last.
    let mut removal = Box::pin(catalog.remove_repository(repository));
    loop {
        let moment = std::time::Duration::from_millis(1);
        let ended = tokio::time::timeout(moment, &mut removal).await;
        assert!(ended.is_err(), "{ended:?}");
        if records().await < MANY {
            break;
        }
    }
    drop(removal);

    let busy = catalog.begin(&NewRun::new(repository, "oai_dc")).await;
    assert!(matches!(busy, Err(Error::Busy { .. })));
    let query = RecordQuery {
        repository: Some(repository),
        ..RecordQuery::default()
    };
    let (counts, held) = (
        catalog.repository_counts(repository).await.unwrap(),
        catalog.count_records(&query, MANY * 2).await.unwrap(),
    );
    assert!((1..MANY).contains(&held), "{held}");
    assert_eq!(counts.records + counts.deleted, held);
    assert_eq!(counts.harvests, 0);
    // As if its process were gone.
    place.sql("UPDATE job SET lease_until = 1");

    let removed = catalog.remove_repository(repository).await.unwrap();

    assert_eq!(removed, counts);
    assert_eq!(catalog.repository(repository).await.unwrap(), None);
    let totals = catalog.totals().await.unwrap();
    assert_eq!(
        (totals.repositories, totals.records, totals.deleted),
        (1, 1, 1)
    );
}

async fn a_repository_that_is_being_harvested_is_not_removed(place: Place) {
    let (catalog, run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;

    let error = catalog.remove_repository(repository).await.unwrap_err();

    assert!(
        error
            .to_string()
            .contains("`http://a.example/oai` (oai_dc) is being harvested by process")
    );
    catalog.finish(run, &crate::runs::ok()).await.unwrap();
    catalog.remove_repository(repository).await.unwrap();
}

async fn a_repository_that_moved_keeps_all_but_its_address(place: Place) {
    let (catalog, id) = place.with_repository().await;
    let other = add(&catalog, "http://b.example/oai").await;
    let before = catalog.repository(id).await.unwrap().unwrap();

    let moved = catalog
        .change_base_url(id, "https://c.example/oai")
        .await
        .unwrap();

    assert_eq!(moved.base_url, "https://c.example/oai");
    assert_eq!(moved.base_directory, before.base_directory);
    assert_eq!(catalog.repository_at(&before.base_url).await.unwrap(), None);
    let taken = catalog.change_base_url(other, &moved.base_url).await;
    assert!(matches!(taken, Err(Error::NameTaken { .. })), "{taken:?}");
    let run = catalog.begin(&NewRun::new(id, "oai_dc")).await.unwrap();
    let busy = catalog.change_base_url(id, "http://d.example/oai").await;
    assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
    catalog.finish(run, &crate::runs::ok()).await.unwrap();
    let unknown = catalog.change_base_url(999, "http://d.example/oai").await;
    assert!(matches!(unknown, Err(Error::UnknownRepository { id: 999 })));
}

async fn sets_are_found_by_spec_and_name(place: Place) {
    let (catalog, id) = place.with_repository().await;
    let sets = [
        ("a:b".to_owned(), Some("Mathematics 100%".to_owned())),
        ("c".to_owned(), None),
        ("math".to_owned(), None),
    ];
    catalog.replace_sets(id, &sets).await.unwrap();
    let found = async |text: &str, limit| -> Vec<String> {
        let sets = catalog.some_sets(id, Some(text), limit).await.unwrap();
        sets.into_iter().map(|set| set.set_spec).collect()
    };

    assert_eq!(found("MATH", 9).await, ["a:b", "math"]);
    assert_eq!(found("%", 9).await, ["a:b"]);
    assert_eq!(found("_", 9).await, Vec::<String>::new());
    assert_eq!(found(" ", 2).await, ["a:b", "c"]);
    assert_eq!(catalog.some_sets(id, None, 9).await.unwrap().len(), 3);
}

async fn sets_are_replaced_and_those_that_hold_records_stay(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    let named = |specs: &[&str]| -> Vec<(String, Option<String>)> {
        specs
            .iter()
            .map(|spec| ((*spec).to_owned(), Some(format!("Set {spec}"))))
            .collect()
    };
    catalog
        .replace_sets(repository, &named(&["a", "b", "a"]))
        .await
        .unwrap();
    let rows = [in_sets("1", &["b", "c"])];
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();

    catalog
        .replace_sets(repository, &named(&["d"]))
        .await
        .unwrap();

    let sets = catalog.sets(repository).await.unwrap();
    let sets: Vec<_> = sets
        .iter()
        .map(|set| (set.set_spec.as_str(), set.name.as_deref(), set.listed))
        .collect();
    assert_eq!(
        sets,
        [
            ("b", Some("Set b"), false),
            ("c", None, false),
            ("d", Some("Set d"), true)
        ]
    );
}

async fn formats_are_shared_and_keep_the_order_of_the_repository(place: Place) {
    let (catalog, first) = place.with_repository().await;
    let second = add(&catalog, "http://b.example/oai").await;
    let format = |prefix: &str| MetadataFormat {
        metadata_prefix: prefix.to_owned(),
        schema: "http://a.example/schema.xsd".to_owned(),
        namespace: "http://a.example/ns/".to_owned(),
    };
    let formats = [format("oai_dc"), format("marc21"), format("a")];

    catalog.replace_formats(first, &formats[..2]).await.unwrap();
    catalog.replace_formats(second, &formats).await.unwrap();
    catalog.replace_formats(first, &formats).await.unwrap();

    assert_eq!(catalog.formats(first).await.unwrap(), formats);
    assert_eq!(catalog.formats(second).await.unwrap(), formats);
}

async fn hostile_texts_are_taken_everywhere(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    // Digits that do not repeat: what can be compressed would fit into an index after all.
    let long: String = (0..4000)
        .map(|n: u32| char::from(b'!' + (n * n / 7 % 90) as u8))
        .collect();
    let texts = [
        "'; DROP TABLE record; --",
        "a\0b",
        r"\u0000",
        "{now}",
        "$1",
        "\u{10ffff}\"\\",
        "",
        &long,
    ];
    let other = format!("{long}x");

    let mut rows: Vec<_> = texts.iter().map(|text| in_sets(text, &[text])).collect();
    rows.push(in_sets(&other, &[&other]));
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    let sets: Vec<_> = texts
        .iter()
        .map(|text| ((*text).to_owned(), Some((*text).to_owned())))
        .collect();
    catalog.replace_sets(repository, &sets).await.unwrap();
    let formats = texts.map(|text| MetadataFormat {
        metadata_prefix: text.to_owned(),
        schema: text.to_owned(),
        namespace: text.to_owned(),
    });
    catalog.replace_formats(repository, &formats).await.unwrap();

    let known = catalog.known(repository, "oai_dc", &texts).await.unwrap();
    assert_eq!(known.len(), texts.len());
    assert!(known.contains_key(long.as_str()) && known.contains_key("a\u{fffd}b"));
    assert_eq!(
        catalog
            .known(repository, "oai_dc", &[other.as_str()])
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        catalog.formats(repository).await.unwrap().len(),
        texts.len()
    );
    let again = catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    assert!(
        again
            .iter()
            .all(|outcome| *outcome == catalog::Outcome::Repeated)
    );
}

async fn a_catalog_of_a_newer_garner_is_refused(place: Place) {
    let catalog = place.open().await;
    catalog.close().await;
    let sql = "UPDATE catalog_schema SET version = 99";
    if place.is_sqlite() {
        let connection = rusqlite::Connection::open(&place.location).unwrap();
        connection.execute(sql, []).unwrap();
    } else {
        Postgres::shared().run(&place.location, sql);
    }

    let error = Catalog::open(&place.location).await.unwrap_err();

    assert!(
        error
            .to_string()
            .contains("written by a newer garner (version 99"),
        "{error}"
    );
}

async fn opening_again_keeps_everything(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let repository = catalog.repositories().await.unwrap()[0].id;
    let rows = [in_sets("1", &["a"])];
    let commit = PageCommit {
        resume_state: Some("there"),
        ..page(&rows)
    };
    catalog.commit_page(&mut run, commit).await.unwrap();
    catalog.close().await;

    let catalog = place.open().await;

    assert_eq!(
        catalog.repository_counts(repository).await.unwrap().records,
        1
    );
    let unfinished = catalog
        .unfinished(repository, "oai_dc", None)
        .await
        .unwrap();
    assert_eq!(unfinished.unwrap().resume_state.as_deref(), Some("there"));
}

#[test]
fn a_database_of_somebody_else_is_left_alone() {
    let place = Place::sqlite();
    let connection = rusqlite::Connection::open(&place.location).unwrap();
    connection.execute("CREATE TABLE theirs (x)", []).unwrap();

    crate::place::run(async {
        let error = Catalog::open(&place.location).await.unwrap_err();
        assert!(
            error.to_string().contains("not a catalog of garner"),
            "{error}"
        );
    });

    let tables = "SELECT count(*) FROM sqlite_master";
    let tables: i64 = connection.query_row(tables, [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[test]
fn errors_do_not_tell_passwords() {
    crate::place::run(async {
        let url = "postgres://user:geheim@127.0.0.1:1/catalog";
        let error = Catalog::open(url).await.unwrap_err().to_string();
        assert!(
            error.contains("postgres://user@127.0.0.1:1/catalog"),
            "{error}"
        );
        assert!(!error.contains("geheim"), "{error}");
    });
}
