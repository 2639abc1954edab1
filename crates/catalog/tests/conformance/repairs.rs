//! Repairs of the collection: alone, under numbers that are there, gone on with after a kill.

use std::time::Duration;

use catalog::{
    Catalog, Error, FinishImport, ImportQuery, ImportState, NewImport, Placement, Superfluous,
};

use crate::crawl::{Files, add, capture, group, md5, of, sha1};
use crate::place::Place;

crate::on_both_databases!(
    a_repair_is_alone,
    a_repair_that_was_killed_keeps_nobody_away,
    an_import_that_nobody_is_at_is_ended_by_whoever_comes_next,
    a_directory_that_has_grown_is_gone_on_with,
    other_sources_are_another_import,
    a_repair_takes_reserved_numbers_back,
    a_found_document_keeps_its_number,
    numbers_of_files_are_not_given_out,
    what_is_to_be_removed_is_remembered_until_it_is,
    the_place_of_the_collection_stays,
);

const ONE: &str = "http://a.example/1.pdf";
const TWO: &str = "http://b.example/2.pdf";
const LEASE: Duration = Duration::from_secs(60);

fn ok() -> FinishImport {
    FinishImport::new(ImportState::Ok)
}

fn failed() -> FinishImport {
    FinishImport::new(ImportState::Failed)
}

async fn state(catalog: &Catalog, import: i64) -> ImportState {
    catalog.import(import).await.unwrap().unwrap().state
}

async fn a_repair_is_alone(place: Place) {
    let catalog = place.open().await;
    let import = catalog.begin_import(&of("a")).await.unwrap();

    let refused = catalog.begin_repair(LEASE, false).await.unwrap_err();
    let said = format!(
        "the collection is being filled (import {}) by ",
        import.id()
    );
    assert!(refused.to_string().starts_with(&said), "{refused}");
    catalog.finish_import(import, &ok()).await.unwrap();

    let (repair, _) = catalog.begin_repair(LEASE, false).await.unwrap();
    for refused in [
        catalog.begin_import(&of("a")).await.map(drop),
        catalog.begin_repair(LEASE, false).await.map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::Busy { .. }));
        assert!(
            refused
                .to_string()
                .starts_with("the collection is being repaired by ")
        );
    }
    catalog.finish_import(repair, &ok()).await.unwrap();
    catalog.begin_import(&of("a")).await.unwrap();
}

async fn a_repair_that_was_killed_keeps_nobody_away(place: Place) {
    let catalog = place.open().await;
    let (first, _) = catalog.begin_repair(LEASE, false).await.unwrap();
    place.sql("UPDATE import SET lease_until = 0");

    let import = catalog.begin_import(&of("a")).await.unwrap();
    assert_eq!(state(&catalog, first.id()).await, ImportState::Failed);
    catalog.finish_import(import, &ok()).await.unwrap();
    let (second, _) = catalog.begin_repair(LEASE, false).await.unwrap();

    assert_eq!(second.id(), first.id());
    let lost = catalog.beat_import(&first).await;
    assert!(matches!(lost, Err(Error::ImportLost { .. })));
    let entry = catalog.finish_import(second, &ok()).await.unwrap();
    assert_eq!(entry.state, ImportState::Ok);
}

async fn an_import_that_nobody_is_at_is_ended_by_whoever_comes_next(place: Place) {
    let catalog = place.open().await;
    let gone = catalog.begin_import(&of("a")).await.unwrap();
    let heard_of = catalog.begin_import(&of("b")).await.unwrap();
    place.sql(&format!(
        "UPDATE import SET lease_until = 0 WHERE id = {}",
        gone.id()
    ));

    assert_eq!(catalog.running_imports().await.unwrap(), [heard_of.id()]);

    let entry = catalog.import(gone.id()).await.unwrap().unwrap();
    assert_eq!(entry.state, ImportState::Failed);
    let reason = entry.reason.unwrap();
    assert!(reason.ends_with("was not heard of any more"), "{reason}");
    assert!(catalog.begin_import(&of("a")).await.unwrap().is_resumed());
}

fn of_all(sources: &[&str]) -> NewImport {
    NewImport::new(
        "{}",
        sources.iter().map(|source| (*source).to_owned()).collect(),
    )
}

async fn a_directory_that_has_grown_is_gone_on_with(place: Place) {
    let catalog = place.open().await;
    let mut files = Files::default();
    let mut import = catalog.begin_import(&of_all(&["b", "d"])).await.unwrap();
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    let id = import.id();
    catalog.finish_import(import, &failed()).await.unwrap();

    let all = of_all(&["a", "b", "c", "d"]);
    let resumed = catalog.begin_import(&all).await.unwrap();

    assert_eq!(resumed.id(), id);
    assert!(resumed.is_resumed());
    let positions: Vec<_> = resumed
        .positions()
        .iter()
        .map(|at| (at.source.as_str(), at.position))
        .collect();
    assert_eq!(positions, [("a", 0), ("b", 1), ("c", 0), ("d", 0)]);
    assert_eq!(resumed.counters().saved_new, 1);
    let refused = catalog.begin_import(&all).await;
    assert!(matches!(refused, Err(Error::Busy { .. })));
    catalog.finish_import(resumed, &ok()).await.unwrap();
    assert!(!catalog.begin_import(&all).await.unwrap().is_resumed());
}

async fn other_sources_are_another_import(place: Place) {
    let catalog = place.open().await;
    let import = catalog.begin_import(&of_all(&["a", "b"])).await.unwrap();
    catalog.finish_import(import, &failed()).await.unwrap();

    let fewer = catalog.begin_import(&of_all(&["a", "c"])).await.unwrap();
    let otherwise = NewImport {
        parameters: "{\"types\":[]}".to_owned(),
        ..of_all(&["a", "b", "c"])
    };
    let otherwise = catalog.begin_import(&otherwise).await.unwrap();

    assert!(!fewer.is_resumed() && !otherwise.is_resumed());
    let all = catalog.imports(&ImportQuery::default()).await.unwrap();
    assert_eq!(all.len(), 3);
}

async fn a_repair_takes_reserved_numbers_back(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let rows = [capture(ONE, "A", 10)];
    let before = catalog.reserve(&mut import, &rows).await.unwrap();
    let number = before[0].number().unwrap();
    assert!(catalog.promised_numbers().await.unwrap().contains(&number));
    catalog.finish_import(import, &failed()).await.unwrap();

    let (repair, left) = catalog.begin_repair(LEASE, false).await.unwrap();
    assert_eq!(left, []);
    catalog.finish_import(repair, &ok()).await.unwrap();

    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    assert!(import.is_resumed());
    assert_eq!(import.reserved().count(), 0);
    let after = catalog.reserve(&mut import, &rows).await.unwrap();
    assert_ne!(after, before);
}

async fn a_found_document_keeps_its_number(place: Place) {
    let catalog = place.open().await;
    catalog.raise_numbers(700).await.unwrap();
    let (mut repair, _) = catalog.begin_repair(LEASE, false).await.unwrap();
    let rows = [capture(ONE, "A", 10)];
    assert!(catalog.is_document_free(500).await.unwrap());
    repair.prefer(&sha1("A"), 500);
    repair.prefer_document(&md5(ONE), 500);

    let placements = catalog.reserve(&mut repair, &rows).await.unwrap();
    assert_eq!(placements, [Placement::Store { number: 500 }]);
    let commit = group(&rows, &placements, 0);
    let outcome = catalog.commit_group(&mut repair, commit).await.unwrap();

    assert_eq!(outcome.superfluous, []);
    let document = catalog.document_at(&md5(ONE)).await.unwrap().unwrap();
    assert_eq!((document.id, document.content), (500, 500));
    assert!(!catalog.is_document_free(500).await.unwrap());
    assert!(catalog.is_document_free(499).await.unwrap());
    let extensions = catalog.extensions_of(&[499, 500]).await.unwrap();
    assert_eq!(extensions.len(), 1);
    assert_eq!(extensions[&500], "pdf");
    // An older version is kept in a repair.
    let rows = [capture(ONE, "B", 20)];
    let placements = catalog.reserve(&mut repair, &rows).await.unwrap();
    assert_eq!(placements, [Placement::Store { number: 701 }]);
    let commit = group(&rows, &placements, 0);
    catalog.commit_group(&mut repair, commit).await.unwrap();
    assert_eq!(catalog.kept_by(500).await.unwrap(), Some((500, 10)));
    assert_eq!(catalog.kept_by(701).await.unwrap(), None);
}

async fn numbers_of_files_are_not_given_out(place: Place) {
    let catalog = place.open().await;
    assert_eq!(catalog.next_number().await.unwrap(), 1);

    catalog.raise_numbers(41).await.unwrap();
    catalog.raise_numbers(7).await.unwrap();

    assert_eq!(catalog.next_number().await.unwrap(), 42);
    assert!(catalog.is_document_free(41).await.unwrap());
    assert!(!catalog.is_document_free(42).await.unwrap());
    assert!(!catalog.is_document_free(0).await.unwrap());
}

async fn what_is_to_be_removed_is_remembered_until_it_is(place: Place) {
    let catalog = place.open().await;
    let mut files = Files::default();
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    let rows = [capture(ONE, "B", 20)];
    let outcome = add(&catalog, &mut import, &mut files, &rows).await;
    let left = [Superfluous {
        number: 1,
        extension: "pdf".to_owned(),
    }];
    assert_eq!(outcome.superfluous, left);
    place.sql("UPDATE import SET lease_until = 0");

    let mut resumed = catalog.begin_import(&of("a")).await.unwrap();
    assert_eq!(resumed.superfluous(), left);
    assert!(catalog.promised_numbers().await.unwrap().contains(&1));
    place.sql("UPDATE import SET lease_until = 0");
    let (repair, told) = catalog.begin_repair(LEASE, false).await.unwrap();
    assert_eq!(told, left);
    catalog.forget_superfluous().await.unwrap();
    catalog.finish_import(repair, &ok()).await.unwrap();

    resumed = catalog.begin_import(&of("a")).await.unwrap();
    assert_eq!(resumed.superfluous(), []);
    // The next group has nothing to be removed.
    add(&catalog, &mut resumed, &mut files, &[capture(TWO, "C", 20)]).await;
    assert!(catalog.promised_numbers().await.unwrap().is_empty());
}

async fn the_place_of_the_collection_stays(place: Place) {
    let catalog = place.open().await;
    assert_eq!(catalog.collection_place().await.unwrap(), None);

    // As long as there is nothing, a slip can be corrected.
    assert_eq!(catalog.settle_place("/slip").await.unwrap(), "/slip");
    assert_eq!(catalog.settle_place("/a").await.unwrap(), "/a");
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    assert_eq!(catalog.settle_place("/b").await.unwrap(), "/a");
    let mut files = Files::default();
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    catalog.finish_import(import, &ok()).await.unwrap();

    assert_eq!(catalog.settle_place("").await.unwrap(), "/a");
    assert_eq!(
        catalog.collection_place().await.unwrap().as_deref(),
        Some("/a")
    );
}
