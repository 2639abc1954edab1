//! Changes, in the order in which they became visible.

use std::cell::Cell;
use std::collections::BTreeMap;

use catalog::{
    Catalog, ChangePosition, Correction, DocumentChange, DocumentState, NewRun, PageCommit,
};

use crate::crawl::{self, Files, capture, group, md5, of};
use crate::place::{Place, add, page, row};

crate::on_both_databases!(
    changes_of_documents_are_told_once_and_in_their_order,
    a_crawl_that_only_meets_documents_again_is_no_news,
    what_is_decided_about_a_content_is_news_of_all_its_documents,
    documents_of_an_earlier_version_are_told_as_well,
    no_reader_misses_what_several_writers_commit,
    no_change_is_stamped_before_an_answer_that_was_given,
    a_repository_that_is_added_again_has_its_number_again,
    groups_that_nothing_is_left_of_are_forgotten,
);

async fn changes(catalog: &Catalog, since: ChangePosition) -> Vec<DocumentChange> {
    catalog.document_changes(since, 1_000).await.unwrap()
}

/// A collection with these documents, and the import that goes on.
struct Imported {
    import: catalog::Import,
    files: Files,
}

impl Imported {
    async fn add(&mut self, catalog: &Catalog, rows: &[catalog::CaptureRow]) {
        crawl::add(catalog, &mut self.import, &mut self.files, rows).await;
    }
}

async fn imported(place: &Place, urls: &[(&str, &str)]) -> (Catalog, Imported) {
    let catalog = place.open().await;
    let import = catalog.begin_import(&of("a.warc.gz")).await.unwrap();
    let files = Files::default();
    let mut imported = Imported { import, files };
    let rows: Vec<_> = urls
        .iter()
        .map(|(url, bytes)| capture(url, bytes, 10))
        .collect();
    imported.add(&catalog, &rows).await;
    (catalog, imported)
}

async fn number(catalog: &Catalog, url: &str) -> i64 {
    let document = catalog.document_at(&md5(url)).await.unwrap();
    document.unwrap().id
}

const ONE: &str = "http://a.example/1.pdf";
const TWO: &str = "http://a.example/2.pdf";
const THREE: &str = "http://a.example/3.pdf";

async fn changes_of_documents_are_told_once_and_in_their_order(place: Place) {
    let (catalog, mut imported) = imported(&place, &[(ONE, "A"), (TWO, "B"), (THREE, "C")]).await;
    let first = changes(&catalog, ChangePosition::START).await;
    assert_eq!(first.len(), 3);
    assert!(first.iter().all(|change| !change.removed && change.at > 0));
    assert!(first.is_sorted_by_key(|change| change.position));

    let rows = [capture(TWO, "D", 20)];
    imported.add(&catalog, &rows).await;

    let news = changes(&catalog, first[2].position).await;
    let two = number(&catalog, TWO).await;
    assert_eq!(news.len(), 1);
    assert_eq!(news[0].document, two);
    assert!(changes(&catalog, news[0].position).await.is_empty());
    let all = changes(&catalog, ChangePosition::START).await;
    assert_eq!(all.len(), 3, "each with its last change");
    assert_eq!(all[2].document, two);

    // One by one, as a text and back.
    let (mut since, mut one_by_one) = (ChangePosition::START, Vec::new());
    while let [change] = catalog.document_changes(since, 1).await.unwrap()[..] {
        since = change.position.to_string().parse().unwrap();
        one_by_one.push(change);
    }
    assert_eq!(one_by_one, all);
}

async fn a_crawl_that_only_meets_documents_again_is_no_news(place: Place) {
    let (catalog, mut imported) = imported(&place, &[(ONE, "A"), (TWO, "B")]).await;
    let first = changes(&catalog, ChangePosition::START).await;

    let rows = [capture(ONE, "A", 30), capture(THREE, "A", 30)];
    imported.add(&catalog, &rows).await;

    let news = changes(&catalog, first[1].position).await;
    assert_eq!(news.len(), 1);
    assert_eq!(news[0].document, number(&catalog, THREE).await);
}

async fn what_is_decided_about_a_content_is_news_of_all_its_documents(place: Place) {
    let (catalog, _) = imported(&place, &[(ONE, "A"), (TWO, "A"), (THREE, "C")]).await;
    let one = number(&catalog, ONE).await;
    let since = changes(&catalog, ChangePosition::START).await[2].position;
    let correction = Correction {
        is_wanted: false,
        kind: Some("other".to_owned()),
        by: None,
    };

    catalog.correct(one, &correction).await.unwrap().unwrap();

    let news = changes(&catalog, since).await;
    let mut told: Vec<_> = news.iter().map(|change| change.document).collect();
    told.sort_unstable();
    let mut both = [one, number(&catalog, TWO).await];
    both.sort_unstable();
    assert_eq!(told, both);

    // A search engine that took a document in is not told of that, but it is when it has to do so again.
    let since = news[1].position;
    let three = number(&catalog, THREE).await;
    let of_three = [three];
    let ingested = catalog.set_state(&of_three, DocumentState::Ingested);
    assert_eq!(ingested.await.unwrap(), 1);
    assert!(changes(&catalog, since).await.is_empty());
    let again = catalog.set_state(&of_three, DocumentState::NotIngested);
    assert_eq!(again.await.unwrap(), 1);
    assert_eq!(changes(&catalog, since).await[0].document, three);
}

async fn documents_of_an_earlier_version_are_told_as_well(place: Place) {
    let (catalog, mut imported) = imported(&place, &[(ONE, "A"), (TWO, "B")]).await;
    // As an update of the catalog leaves them.
    place.sql(
        "UPDATE document SET change_id = 0;
         UPDATE change_group SET initial = 1, size = 2 WHERE kind = 1 AND size = 2;
         DELETE FROM change_group WHERE initial = 0;",
    );

    let first = catalog
        .document_changes(ChangePosition::START, 1)
        .await
        .unwrap();
    let rest = changes(&catalog, first[0].position).await;
    assert_eq!((first.len(), rest.len()), (1, 1));

    let rows = [capture(ONE, "D", 20)];
    imported.add(&catalog, &rows).await;
    let news = changes(&catalog, rest[0].position).await;
    assert_eq!(news.len(), 1);
    assert_eq!(catalog.remove_empty_changes().await.unwrap(), 0);
}

/// Imports that are going on, each with documents that come again and again.
async fn write(place: &Place, writer: usize) {
    let catalog = place.open().await;
    let new = of(&format!("{writer}.warc.gz"));
    let mut import = catalog.begin_import(&new).await.unwrap();
    for at in 0..12 {
        let url = format!("http://{writer}.example/{}.pdf", at % DOCUMENTS);
        let rows = [capture(&url, &format!("{writer} {at}"), 10 + at as i64)];
        let placements = catalog.reserve(&mut import, &rows).await.unwrap();
        let commit = group(&rows, &placements, at as u64 + 1);
        catalog.commit_group(&mut import, commit).await.unwrap();
    }
}

const DOCUMENTS: usize = 5;

async fn no_reader_misses_what_several_writers_commit(place: Place) {
    let catalog = place.open().await;
    let done = Cell::new(false);
    let reader = async {
        let (mut since, mut known) = (ChangePosition::START, BTreeMap::new());
        loop {
            let is_last = done.get();
            let some = catalog.document_changes(since, 3).await.unwrap();
            for change in &some {
                assert!(change.position > since, "{change:?} behind {since}");
                since = change.position;
                known.insert(change.document, change.position);
            }
            if is_last && some.is_empty() {
                return known;
            }
            tokio::task::yield_now().await;
        }
    };
    let writers = async {
        tokio::join!(
            write(&place, 0),
            write(&place, 1),
            write(&place, 2),
            write(&place, 3)
        );
        done.set(true);
    };

    let ((), known) = tokio::join!(writers, reader);

    let all = changes(&catalog, ChangePosition::START).await;
    let last: BTreeMap<_, _> = all
        .iter()
        .map(|change| (change.document, change.position))
        .collect();
    assert_eq!(last.len(), 4 * DOCUMENTS);
    assert_eq!(known, last);
}

async fn no_change_is_stamped_before_an_answer_that_was_given(place: Place) {
    let (catalog, mut imported) = imported(&place, &[(ONE, "A")]).await;
    let horizon = catalog.advance_horizon().await.unwrap();
    assert!(changes(&catalog, ChangePosition::START).await[0].at <= horizon);
    // The clock is set back by an hour.
    place.sql("UPDATE change_state SET at = at + 3600");
    let ahead = catalog.advance_horizon().await.unwrap();
    assert!(ahead >= horizon + 3600);

    let rows = [capture(ONE, "B", 20)];
    imported.add(&catalog, &rows).await;

    assert_eq!(changes(&catalog, ChangePosition::START).await[0].at, ahead);
}

async fn a_repository_that_is_added_again_has_its_number_again(place: Place) {
    let (catalog, first) = place.with_repository().await;
    let second = add(&catalog, "http://b.example/oai").await;
    for repository in [first, second] {
        let run = NewRun::new(repository, "oai_dc");
        let mut run = catalog.begin(&run).await.unwrap();
        let rows = [row("oai:a:1"), row("oai:a:2")];
        catalog.commit_page(&mut run, page(&rows)).await.unwrap();
        drop(catalog.finish(run, &crate::runs::ok()).await.unwrap());
    }

    catalog.remove_repository(second).await.unwrap();

    assert_eq!(add(&catalog, "http://b.example/oai").await, second);
    let third = add(&catalog, "http://c.example/oai").await;
    assert!(third > second);
}

async fn groups_that_nothing_is_left_of_are_forgotten(place: Place) {
    let (catalog, mut run) = place.with_run().await;
    let rows = [row("oai:a:1"), row("oai:a:2")];
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    let again = rows.clone().map(|row| catalog::RecordRow {
        sha256: Some("cd".repeat(32)),
        ..row
    });
    catalog.commit_page(&mut run, page(&again)).await.unwrap();
    let dropped = ["oai:a:1".to_owned()];
    let drop = PageCommit {
        dropped: &dropped,
        ..page(&[])
    };
    catalog.commit_page(&mut run, drop).await.unwrap();
    catalog
        .commit_page(&mut run, page(&rows[..1]))
        .await
        .unwrap();

    // The first page, the tombstone of the third, and that of the documents that there were before.
    assert_eq!(catalog.remove_empty_changes().await.unwrap(), 3);
    assert_eq!(catalog.remove_empty_changes().await.unwrap(), 0);
}
