//! Documents that are removed, restored, purged and taken down, while imports run and without.

use std::collections::HashSet;

use catalog::{
    Catalog, DocumentEntry, DocumentState, Removal, RestoreOutcome, TrashQuery, TrashedState,
};

use crate::crawl::{Files, add, capture, commit, linked, md5, of, revisit, sha1};
use crate::place::Place;

crate::on_both_databases!(
    a_removed_document_comes_back_as_it_was,
    bytes_that_another_document_has_stay,
    bytes_that_another_document_loses_follow_to_the_trash,
    a_takedown_holds_for_the_url_and_for_its_bytes,
    a_takedown_in_the_middle_of_a_group_wins,
    what_an_import_counts_on_waits_for_it,
    a_purge_forgets_documents_and_keeps_takedowns,
    a_document_that_came_again_is_not_restored,
    only_documents_that_failed_are_cleaned,
);

const ONE: &str = "http://a.example/1.pdf";
const TWO: &str = "http://b.example/2.pdf";
const PAGE: &str = "http://a.example/";

fn removal(is_takedown: bool) -> Removal {
    Removal {
        reason: "asked for by its author".to_owned(),
        by: Some("ada".to_owned()),
        is_takedown,
        only_failed: false,
    }
}

async fn document(catalog: &Catalog, url: &str) -> Option<DocumentEntry> {
    catalog.document_at(&md5(url)).await.unwrap()
}

async fn remove(catalog: &Catalog, url: &str, is_takedown: bool) -> i64 {
    let id = document(catalog, url).await.unwrap().id;
    let removal = removal(is_takedown);
    let removed = catalog.remove_documents(&[id], &removal).await.unwrap();
    assert_eq!(removed.len(), 1);
    id
}

/// Moves files as the flow does, and tells which contents did.
async fn settle(catalog: &Catalog) -> Vec<(i64, TrashedState)> {
    let pending = catalog.pending_trash(0, 100).await.unwrap();
    let numbers = |state| {
        let of = pending.iter().filter(move |one| one.state == state);
        of.map(|one| one.number).collect::<Vec<_>>()
    };
    let leaving = numbers(TrashedState::Leaving);
    catalog.note_trashed(&leaving).await.unwrap();
    let gone = numbers(TrashedState::Gone);
    catalog.forget_trashed(&gone).await.unwrap();
    pending.iter().map(|one| (one.number, one.state)).collect()
}

async fn restore(catalog: &Catalog, id: i64) -> RestoreOutcome {
    let contents = catalog.contents_to_restore(&[id]).await.unwrap();
    let here: HashSet<_> = contents.iter().map(|content| content.number).collect();
    let restored = catalog.restore_documents(&[id], &here).await.unwrap();
    restored[0]
}

async fn a_removed_document_comes_back_as_it_was(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let mut files = Files::default();
    let rows = [linked(capture(ONE, "A", 10), PAGE), capture(TWO, "B", 20)];
    add(&catalog, &mut import, &mut files, &rows).await;
    let before = document(&catalog, ONE).await.unwrap();
    let failed = DocumentState::Failed;
    catalog.set_state(&[before.id], failed).await.unwrap();
    let before = document(&catalog, ONE).await.unwrap();

    let id = remove(&catalog, ONE, false).await;

    assert_eq!(document(&catalog, ONE).await, None);
    assert!(catalog.content(before.content).await.unwrap().is_none());
    assert!(!catalog.is_document_free(id).await.unwrap());
    assert!(!catalog.is_content_free(before.content).await.unwrap());
    let moved = settle(&catalog).await;
    assert_eq!(moved, [(before.content, TrashedState::Leaving)]);
    assert_eq!(catalog.count_trash().await.unwrap(), 1);
    let trash = catalog.trash(&TrashQuery::default()).await.unwrap();
    assert_eq!((trash[0].id, &*trash[0].url), (id, ONE));
    assert_eq!(trash[0].by.as_deref(), Some("ada"));

    assert_eq!(restore(&catalog, id).await, RestoreOutcome::Restored);
    assert_eq!(document(&catalog, ONE).await.unwrap(), before);
    let moved = settle(&catalog).await;
    assert_eq!(moved, [(before.content, TrashedState::Gone)]);
    assert_eq!(catalog.count_trash().await.unwrap(), 0);
    assert_eq!(restore(&catalog, id).await, RestoreOutcome::Already);
}

async fn bytes_that_another_document_has_stay(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let mut files = Files::default();
    let rows = [capture(ONE, "A", 10), capture(TWO, "A", 20)];
    add(&catalog, &mut import, &mut files, &rows).await;
    let content = document(&catalog, ONE).await.unwrap().content;

    let id = remove(&catalog, ONE, false).await;

    assert_eq!(settle(&catalog).await, []);
    let two = document(&catalog, TWO).await.unwrap();
    assert_eq!((two.content, two.shared_with), (content, None));
    let outdated = catalog.outdated_mets(0, 10).await.unwrap();
    assert!(outdated.iter().any(|met| met.content == content));
    assert_eq!(restore(&catalog, id).await, RestoreOutcome::Restored);
    assert_eq!(settle(&catalog).await, []);
}

async fn bytes_that_another_document_loses_follow_to_the_trash(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let mut files = Files::default();
    let rows = [capture(ONE, "A", 10), capture(TWO, "A", 20)];
    add(&catalog, &mut import, &mut files, &rows).await;
    let content = document(&catalog, ONE).await.unwrap().content;
    let id = remove(&catalog, ONE, false).await;

    let outcome = add(&catalog, &mut import, &mut files, &[capture(TWO, "B", 30)]).await;

    assert_eq!(outcome.superfluous, []);
    let moved = settle(&catalog).await;
    assert_eq!(moved, [(content, TrashedState::Leaving)]);
    assert_eq!(restore(&catalog, id).await, RestoreOutcome::Restored);
    assert_eq!(document(&catalog, ONE).await.unwrap().content, content);
}

async fn a_takedown_holds_for_the_url_and_for_its_bytes(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let mut files = Files::default();
    let rows = [capture(ONE, "A", 10), capture(TWO, "B", 10)];
    add(&catalog, &mut import, &mut files, &rows).await;
    let id = remove(&catalog, ONE, true).await;
    let [a, b, c] = ["A", "B", "C"].map(sha1);
    let (one, two, three) = (md5(ONE), md5(TWO), md5("http://c.example/"));

    let captures = [
        (&*one, Some(&*c)),
        (&*two, Some(&*b)),
        (&*three, Some(&*a)),
        (&*one, None),
        (&*three, Some(&*c)),
    ];
    let reasons = catalog.taken_down(&captures).await.unwrap();

    let mut places: Vec<_> = reasons.keys().copied().collect();
    places.sort_unstable();
    assert_eq!(places, [0, 2, 3]);
    assert!(reasons[&0].contains("asked for"), "{reasons:?}");
    assert!(reasons[&2].contains(ONE), "{reasons:?}");
    settle(&catalog).await;
    assert_eq!(restore(&catalog, id).await, RestoreOutcome::Restored);
    assert!(catalog.taken_down(&captures).await.unwrap().is_empty());
}

async fn a_takedown_in_the_middle_of_a_group_wins(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let mut files = Files::default();
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    let rows = [capture(ONE, "B", 20), capture(TWO, "C", 20)];
    let placements = catalog.reserve(&mut import, &rows).await.unwrap();
    files.place(&rows, &placements);

    remove(&catalog, ONE, true).await;
    commit(&catalog, &mut import, &mut files, &rows, &placements).await;

    assert_eq!(document(&catalog, ONE).await, None);
    assert!(document(&catalog, TWO).await.is_some());
    assert_eq!(settle(&catalog).await.len(), 2);
}

async fn what_an_import_counts_on_waits_for_it(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let mut files = Files::default();
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    let rows = [capture(TWO, "A", 20)];
    let placements = catalog.reserve(&mut import, &rows).await.unwrap();
    let id = remove(&catalog, ONE, false).await;
    assert_eq!(settle(&catalog).await, []);

    commit(&catalog, &mut import, &mut files, &rows, &placements).await;

    assert_eq!(settle(&catalog).await, []);
    assert!(document(&catalog, TWO).await.is_some());
    assert_eq!(restore(&catalog, id).await, RestoreOutcome::Restored);

    // One that the import did not need after all goes when it is not counted on any more.
    let rows = [capture(TWO, "A", 15), revisit(ONE, None, 30)];
    catalog.reserve(&mut import, &rows).await.unwrap();
    for url in [ONE, TWO] {
        remove(&catalog, url, false).await;
    }
    add(
        &catalog,
        &mut import,
        &mut files,
        &[capture("http://c.example/", "C", 1)],
    )
    .await;
    assert_eq!(settle(&catalog).await.len(), 1);
}

async fn a_purge_forgets_documents_and_keeps_takedowns(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let mut files = Files::default();
    let rows = [capture(ONE, "A", 10), capture(TWO, "B", 10)];
    add(&catalog, &mut import, &mut files, &rows).await;
    let one = remove(&catalog, ONE, true).await;
    let two = remove(&catalog, TWO, false).await;
    settle(&catalog).await;

    assert_eq!(catalog.purge_trash(3600, 10).await.unwrap(), 0);
    assert_eq!(catalog.purge_trash(0, 10).await.unwrap(), 2);

    let gone = settle(&catalog).await;
    assert!(gone.iter().all(|(_, state)| *state == TrashedState::Gone));
    assert_eq!(gone.len(), 2);
    let left = catalog.trash(&TrashQuery::default()).await.unwrap();
    assert_eq!(left.len(), 1);
    assert!(left[0].id == one && left[0].is_takedown && !left[0].is_kept);
    let (url, bytes) = (md5("http://c.example/"), sha1("A"));
    let captures = [(&*url, Some(&*bytes))];
    assert_eq!(catalog.taken_down(&captures).await.unwrap().len(), 1);
    assert_eq!(restore(&catalog, two).await, RestoreOutcome::Unknown);
    assert_eq!(restore(&catalog, one).await, RestoreOutcome::Lifted);
    assert!(catalog.taken_down(&captures).await.unwrap().is_empty());
}

async fn a_document_that_came_again_is_not_restored(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let mut files = Files::default();
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    let id = remove(&catalog, ONE, false).await;
    settle(&catalog).await;
    files.0.clear();

    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 20)]).await;

    let now = document(&catalog, ONE).await.unwrap().id;
    assert_ne!(now, id);
    assert!(catalog.contents_to_restore(&[id]).await.unwrap().is_empty());
    assert_eq!(restore(&catalog, id).await, RestoreOutcome::Replaced(now));
    assert_eq!(catalog.count_trash().await.unwrap(), 1);
}

async fn only_documents_that_failed_are_cleaned(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    let mut files = Files::default();
    let rows = [capture(ONE, "A", 10), capture(TWO, "B", 10)];
    add(&catalog, &mut import, &mut files, &rows).await;
    let [one, two] = [ONE, TWO].map(|url| document(&catalog, url));
    let (one, two) = (one.await.unwrap().id, two.await.unwrap().id);
    let failed = DocumentState::Failed;
    catalog.set_state(&[one], failed).await.unwrap();

    let listed = catalog.failed_documents(0, 10).await.unwrap();
    assert_eq!(listed.iter().map(|one| one.id).collect::<Vec<_>>(), [one]);
    let cleaning = Removal {
        only_failed: true,
        ..removal(false)
    };
    let removed = catalog.remove_documents(&[one, two], &cleaning).await;
    assert_eq!(removed.unwrap().len(), 1);
    assert!(document(&catalog, TWO).await.is_some());
}
