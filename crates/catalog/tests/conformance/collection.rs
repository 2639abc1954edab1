//! Documents, parents and contents as captures make them, and their lists.

use catalog::{
    CaptureOutcome, CaptureRow, Catalog, ContentRow, DocumentEntry, DocumentQuery, DocumentState,
    Error, Import, ImportCounters, Lacking, NewImport, ParentQuery, Placement, Superfluous,
};

use crate::crawl::{Files, add, capture, content, group, linked, md5, of, revisit, sha1};
use crate::place::Place;

crate::on_both_databases!(
    a_new_url_with_new_bytes_has_one_number_for_both,
    known_bytes_under_a_new_url_are_not_stored_again,
    the_same_again_changes_nothing,
    a_changed_document_is_a_new_version_and_the_old_file_goes,
    an_older_capture_is_neither_stored_nor_taken,
    older_contents_stay_as_versions_if_wanted,
    what_another_url_has_is_not_removed,
    a_new_content_is_not_ingested_and_a_seen_one_stays_so,
    a_revisit_is_seen_again_and_brings_its_parent,
    a_revisit_of_bytes_under_another_url_makes_a_document,
    a_revisit_before_its_bytes_counts_when_they_come,
    what_documents_lack_of_logs_is_told,
    the_better_parent_is_kept,
    a_content_that_another_import_counts_on_stays_until_that_is_over,
    two_imports_with_the_same_bytes_keep_one_file,
    bytes_without_a_place_are_refused,
    lost_bytes_are_asked_for_again,
    contents_that_nobody_has_are_found,
    documents_are_found_by_what_is_asked_for,
    urls_of_any_length_and_any_characters_are_kept,
    nothing_is_taken_of_a_group_that_fails,
);

const ONE: &str = "http://a.example/1.pdf";
const TWO: &str = "http://b.example/2.pdf";

async fn begun(place: &Place, keep_versions: bool) -> (Catalog, Import, Files) {
    let catalog = place.open().await;
    let new = NewImport {
        keep_versions,
        ..of("crawl.warc.gz")
    };
    let import = catalog.begin_import(&new).await.unwrap();
    (catalog, import, Files::default())
}

async fn document(catalog: &Catalog, url: &str) -> Option<DocumentEntry> {
    catalog.document_at(&md5(url)).await.unwrap()
}

async fn a_new_url_with_new_bytes_has_one_number_for_both(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;

    let rows = [capture(ONE, "A", 10), capture(TWO, "B", 20)];
    let outcome = add(&catalog, &mut import, &mut files, &rows).await;

    assert_eq!(outcome.outcomes, [CaptureOutcome::New; 2]);
    for url in [ONE, TWO] {
        let document = document(&catalog, url).await.unwrap();
        assert_eq!(document.id, document.content);
        assert_eq!(files.0[&document.id], document.content_sha1);
        let same = catalog.document(document.id).await.unwrap().unwrap();
        assert_eq!(same, document);
    }
    let one = document(&catalog, ONE).await.unwrap();
    assert_eq!(
        (one.discover_date, one.update_date, one.crawl_date),
        (10, 10, 10)
    );
    assert_eq!((one.host.as_str(), one.size), ("a.example", 1));
    assert_eq!(one.import, import.id());
    assert_eq!(import.counters().saved_new, 2);
    assert_eq!(import.counters().bytes_saved, 2);
}

async fn known_bytes_under_a_new_url_are_not_stored_again(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;

    let rows = [capture(TWO, "A", 20), capture("http://c.example/", "A", 20)];
    let placements = catalog.reserve(&mut import, &rows).await.unwrap();
    let outcome = add(&catalog, &mut import, &mut files, &rows).await;

    let one = document(&catalog, ONE).await.unwrap();
    assert_eq!(
        placements,
        [Placement::Known {
            number: one.content
        }; 2]
    );
    assert_eq!(outcome.outcomes, [CaptureOutcome::NewUrl; 2]);
    let two = document(&catalog, TWO).await.unwrap();
    assert_eq!(two.content, one.content);
    assert_ne!(two.id, one.id);
    assert_eq!(import.counters().saved_known_content, 2);
    assert_eq!(import.counters().saved_new, 3);
    assert_eq!(
        catalog
            .content(one.content)
            .await
            .unwrap()
            .unwrap()
            .documents,
        3
    );
}

async fn the_same_again_changes_nothing(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let rows = [linked(capture(ONE, "A", 10), "http://a.example/")];
    add(&catalog, &mut import, &mut files, &rows).await;
    let before = document(&catalog, ONE).await;

    let outcome = add(&catalog, &mut import, &mut files, &rows).await;

    assert_eq!(outcome.outcomes, [CaptureOutcome::Unchanged]);
    assert_eq!(outcome.superfluous, []);
    assert_eq!(document(&catalog, ONE).await, before);
    assert_eq!(import.counters().saved_duplicate, 1);
    assert_eq!(import.positions()[0].position, 2);
}

async fn a_changed_document_is_a_new_version_and_the_old_file_goes(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    let before = document(&catalog, ONE).await.unwrap();

    let outcome = add(&catalog, &mut import, &mut files, &[capture(ONE, "B", 20)]).await;

    let after = document(&catalog, ONE).await.unwrap();
    assert_eq!(outcome.outcomes, [CaptureOutcome::NewVersion]);
    let old = Superfluous {
        number: before.content,
        extension: "pdf".to_owned(),
    };
    assert_eq!(outcome.superfluous, [old]);
    assert_eq!(after.id, before.id);
    assert!(after.content > before.content);
    assert_eq!((after.discover_date, after.update_date), (10, 20));
    assert_eq!(after.content_sha1, sha1("B"));
    assert_eq!(catalog.content(before.content).await.unwrap(), None);
    assert_eq!(import.counters().saved_new_version, 1);
}

async fn an_older_capture_is_neither_stored_nor_taken(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    add(&catalog, &mut import, &mut files, &[capture(ONE, "B", 20)]).await;

    let rows = [capture(ONE, "A", 10)];
    let placements = catalog.reserve(&mut import, &rows).await.unwrap();
    let outcome = add(&catalog, &mut import, &mut files, &rows).await;

    assert_eq!(placements, [Placement::Nothing]);
    assert_eq!(outcome.outcomes, [CaptureOutcome::Older]);
    let one = document(&catalog, ONE).await.unwrap();
    assert_eq!((one.content_sha1, one.discover_date), (sha1("B"), 10));
    assert_eq!(files.0.len(), 1);
}

async fn older_contents_stay_as_versions_if_wanted(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, true).await;
    for (bytes, crawled) in [("B", 20), ("C", 30), ("A", 10), ("B", 25)] {
        let rows = [capture(ONE, bytes, crawled)];
        let outcome = add(&catalog, &mut import, &mut files, &rows).await;
        assert_eq!(outcome.superfluous, []);
    }

    let one = document(&catalog, ONE).await.unwrap();
    let versions = catalog.versions(one.id).await.unwrap();
    let told: Vec<_> = versions
        .iter()
        .map(|version| (version.content.sha1.clone(), version.crawl_date))
        .collect();
    assert_eq!(one.content_sha1, sha1("C"));
    assert_eq!(told, [(sha1("B"), 25), (sha1("A"), 10)]);
    assert_eq!(files.0.len(), 3);

    // A content that comes back is the current version again.
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 40)]).await;
    let versions = catalog.versions(one.id).await.unwrap();
    assert_eq!(versions[0].content.sha1, sha1("C"));
    assert_eq!(versions.len(), 2);
}

async fn what_another_url_has_is_not_removed(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let rows = [capture(ONE, "A", 10), capture(TWO, "A", 10)];
    add(&catalog, &mut import, &mut files, &rows).await;

    let outcome = add(&catalog, &mut import, &mut files, &[capture(ONE, "B", 20)]).await;
    assert_eq!(outcome.superfluous, []);
    let outcome = add(&catalog, &mut import, &mut files, &[capture(TWO, "B", 20)]).await;

    assert_eq!(outcome.superfluous.len(), 1);
    assert_eq!(files.0.len(), 1);
}

async fn a_new_content_is_not_ingested_and_a_seen_one_stays_so(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    let id = document(&catalog, ONE).await.unwrap().id;
    let state = async || document(&catalog, ONE).await.unwrap().state;
    assert_eq!(state().await, DocumentState::NotIngested);

    let changed = catalog
        .set_state(&[id, id + 99], DocumentState::Ingested)
        .await;
    assert_eq!(changed.unwrap(), 1);
    let seen = [capture(ONE, "A", 20), revisit(ONE, None, 30)];
    add(&catalog, &mut import, &mut files, &seen).await;
    assert_eq!(state().await, DocumentState::Ingested);
    add(&catalog, &mut import, &mut files, &[capture(ONE, "B", 25)]).await;

    assert_eq!(state().await, DocumentState::NotIngested);
}

async fn a_revisit_is_seen_again_and_brings_its_parent(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;

    // The digest may be of the bytes as they were sent; that does not matter here.
    let rows = [
        linked(revisit(ONE, Some("chunked"), 20), "http://a.example/"),
        CaptureRow {
            content: ContentRow::EdgeOnly,
            depth: Some(3),
            ..capture(ONE, "", 15)
        },
    ];
    let outcome = add(&catalog, &mut import, &mut files, &rows).await;

    let one = document(&catalog, ONE).await.unwrap();
    assert_eq!(outcome.outcomes, [CaptureOutcome::Revisited; 2]);
    assert_eq!((one.update_date, one.crawl_date), (20, 10));
    assert_eq!(one.parent_url.as_deref(), Some("http://a.example/"));
    assert_eq!(one.depth, Some(3));
    assert_eq!(import.counters().revisits, 1);
}

async fn what_documents_lack_of_logs_is_told(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let told = CaptureRow {
        depth: Some(1),
        is_seed: Some(false),
        ..linked(capture(TWO, "B", 30), "http://b.example/")
    };
    let rows = [capture(ONE, "A", 10), capture(ONE, "A", 20), told];
    add(&catalog, &mut import, &mut files, &rows).await;
    let named = [ONE, TWO, "http://unknown.example/"].map(md5);
    let named = [0, 1, 2].map(|at| named[at].as_str());

    let lacking = catalog.lacking(&named).await.unwrap();
    let edge = CaptureRow {
        content: ContentRow::EdgeOnly,
        depth: Some(3),
        ..linked(capture(ONE, "", 15), "http://a.example/")
    };
    add(&catalog, &mut import, &mut files, &[edge]).await;
    let afterwards = catalog.lacking(&named).await.unwrap();

    let all = Lacking {
        discover_date: 10,
        update_date: 20,
        parent: true,
        depth: true,
        is_seed: true,
    };
    assert_eq!(lacking.len(), 1);
    assert_eq!(lacking[named[0]], all);
    let seed_alone = Lacking {
        parent: false,
        depth: false,
        ..all
    };
    assert_eq!(afterwards[named[0]], seed_alone);
}

async fn a_revisit_of_bytes_under_another_url_makes_a_document(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;

    let outcome = add(
        &catalog,
        &mut import,
        &mut files,
        &[revisit(TWO, Some("A"), 20)],
    )
    .await;

    let (one, two) = (document(&catalog, ONE).await, document(&catalog, TWO).await);
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(outcome.outcomes, [CaptureOutcome::Revisited]);
    assert_eq!(two.content, one.content);
    assert_eq!(
        (two.media_type.as_str(), two.crawl_date),
        ("application/pdf", 20)
    );
    // Its own bytes outweigh what was said of them.
    add(&catalog, &mut import, &mut files, &[capture(TWO, "B", 5)]).await;
    let two = document(&catalog, TWO).await.unwrap();
    assert_eq!((two.content_sha1, two.update_date), (sha1("B"), 20));
}

async fn a_revisit_before_its_bytes_counts_when_they_come(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let rows = [revisit(ONE, None, 30), revisit(TWO, Some("A"), 20)];
    let outcome = add(&catalog, &mut import, &mut files, &rows).await;
    assert_eq!(outcome.outcomes, [CaptureOutcome::RevisitUnknown; 2]);
    assert_eq!(document(&catalog, ONE).await, None);
    let all = DocumentQuery::default();
    assert_eq!(catalog.documents(&all).await.unwrap(), []);

    let outcome = add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;

    assert_eq!(outcome.outcomes, [CaptureOutcome::New]);
    let (one, two) = (document(&catalog, ONE).await, document(&catalog, TWO).await);
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((one.discover_date, one.update_date), (10, 30));
    assert_eq!(one.id, one.content);
    assert_eq!((two.content, two.crawl_date), (one.content, 20));
    assert!(two.id > 0);
}

async fn the_better_parent_is_kept(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let url = "http://a.example/x/y/1.pdf";
    let mut parent = async |page: &str, crawled| {
        let rows = [linked(capture(url, "A", crawled), page)];
        add(&catalog, &mut import, &mut files, &rows).await;
        document(&catalog, url).await.unwrap().parent_url.unwrap()
    };

    for (page, kept) in [
        ("http://b.example/", "http://b.example/"),
        ("http://a.example/", "http://a.example/"),
        ("http://b.example/", "http://a.example/"),
        ("http://a.example/x/y/", "http://a.example/x/y/"),
        ("http://a.example/x/y/z.html", "http://a.example/x/y/"),
        ("http://a.example/x/", "http://a.example/x/y/"),
    ] {
        assert_eq!(parent(page, 10).await, kept);
    }
    assert_eq!(
        parent("http://a.example/x/y/z.html", 5).await,
        "http://a.example/x/y/z.html"
    );
    let query = ParentQuery {
        host: Some("a.example".to_owned()),
        text: Some("Z.HTML".to_owned()),
        ..ParentQuery::default()
    };
    let parents = catalog.parents(&query).await.unwrap();
    assert_eq!(parents.len(), 1);
    assert_eq!(
        (parents[0].first_crawl_date, parents[0].last_crawl_date),
        (5, 10)
    );
    assert_eq!(parents[0].documents, 1);
    assert_eq!(
        catalog.parent(parents[0].id).await.unwrap().as_ref(),
        parents.first()
    );
}

async fn a_content_that_another_import_counts_on_stays_until_that_is_over(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    let mut other = catalog.begin_import(&of("other")).await.unwrap();
    let rows = [capture(TWO, "A", 10)];
    let placements = catalog.reserve(&mut other, &rows).await.unwrap();

    let outcome = add(&catalog, &mut import, &mut files, &[capture(ONE, "B", 20)]).await;
    assert_eq!(outcome.superfluous, []);
    let commit = group(&rows, &placements, 1);
    let outcome = catalog.commit_group(&mut other, commit).await.unwrap();

    // Nobody had it any more, but its file was still there.
    assert_eq!(outcome.outcomes, [CaptureOutcome::New]);
    assert!(document(&catalog, TWO).await.is_some());
    // Where it was counted on for nothing, it goes with the next commit.
    catalog.reserve(&mut other, &rows).await.unwrap();
    add(&catalog, &mut import, &mut files, &[capture(TWO, "B", 20)]).await;
    assert_eq!(files.0.len(), 2);
    let outcome = catalog
        .commit_group(&mut other, group(&[], &[], 2))
        .await
        .unwrap();
    assert_eq!(outcome.superfluous, []);
    let outcome = add(&catalog, &mut import, &mut files, &[capture(ONE, "B", 20)]).await;
    assert_eq!(outcome.superfluous.len(), 1);
}

async fn two_imports_with_the_same_bytes_keep_one_file(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let mut other = catalog.begin_import(&of("other")).await.unwrap();
    let rows = [capture(ONE, "A", 10)];
    let placements = catalog.reserve(&mut import, &rows).await.unwrap();
    let others = catalog.reserve(&mut other, &rows).await.unwrap();
    assert_ne!(placements, others);
    files.place(&rows, &placements);
    files.place(&rows, &others);

    let commit = group(&rows, &others, 1);
    let outcome = catalog.commit_group(&mut other, commit).await.unwrap();
    assert_eq!(outcome.superfluous, []);
    let commit = group(&rows, &placements, 1);
    let outcome = catalog.commit_group(&mut import, commit).await.unwrap();

    files.remove(&outcome);
    assert_eq!(outcome.outcomes, [CaptureOutcome::Unchanged]);
    let one = document(&catalog, ONE).await.unwrap();
    assert_eq!(files.0.keys().collect::<Vec<_>>(), [&one.content]);
    assert_eq!(one.id, one.content);
}

async fn bytes_without_a_place_are_refused(place: Place) {
    let (catalog, mut import, _) = begun(&place, false).await;

    let rows = [capture(ONE, "A", 10)];
    let commit = group(&rows, &[Placement::Nothing], 1);
    let refused = catalog.commit_group(&mut import, commit).await;

    assert!(
        matches!(refused, Err(Error::NotReserved { .. })),
        "{refused:?}"
    );
    assert_eq!(document(&catalog, ONE).await, None);
}

async fn lost_bytes_are_asked_for_again(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let rows = [capture(ONE, "A", 10), capture(TWO, "A", 10)];
    add(&catalog, &mut import, &mut files, &rows).await;
    let number = document(&catalog, ONE).await.unwrap().content;
    files.0.clear();
    assert_eq!(catalog.set_stored(&[number], false).await.unwrap(), 1);
    assert!(!catalog.content(number).await.unwrap().unwrap().is_stored);

    let placements = catalog.reserve(&mut import, &rows).await.unwrap();
    add(&catalog, &mut import, &mut files, &rows).await;

    assert_eq!(
        placements,
        [Placement::Store { number }, Placement::Known { number }]
    );
    assert!(catalog.content(number).await.unwrap().unwrap().is_stored);
    assert_eq!(files.0.len(), 1);
}

async fn contents_that_nobody_has_are_found(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    add(&catalog, &mut import, &mut files, &[capture(ONE, "A", 10)]).await;
    place.sql("INSERT INTO content (id, sha1, sha256, size, media_type, extension) VALUES (99, 'a', 'b', 1, 'c', 'ps')");

    let unused = catalog.contents_from(1, 10).await.unwrap();
    assert_eq!((unused[0].number, unused[0].documents), (99, 0));
    let removed = catalog.remove_unused_contents().await.unwrap();

    assert_eq!(removed[0].number, 99);
    assert_eq!(removed[0].extension, "ps");
    assert_eq!(catalog.contents_from(0, 10).await.unwrap().len(), 1);
    assert_eq!(
        catalog.content_of(&sha1("A")).await.unwrap().unwrap().size,
        1
    );
}

async fn documents_are_found_by_what_is_asked_for(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let rows = [
        capture(ONE, "A", 10),
        linked(
            capture("http://a.example/Two.ps", "B", 20),
            "http://a.example/",
        ),
        CaptureRow {
            media_type: "application/postscript".to_owned(),
            ..capture(TWO, "C", 30)
        },
    ];
    add(&catalog, &mut import, &mut files, &rows).await;
    let [one, two, three] = [1, 2, 3];
    catalog
        .set_state(&[two], DocumentState::Failed)
        .await
        .unwrap();
    let parent = catalog.document(two).await.unwrap().unwrap().parent;

    let all = DocumentQuery::default;
    let of_host = DocumentQuery {
        host: Some("a.example".to_owned()),
        ..all()
    };
    let of_state = DocumentQuery {
        state: Some(DocumentState::NotIngested),
        ..all()
    };
    let of_type = DocumentQuery {
        media_type: Some("application/postscript".to_owned()),
        ..all()
    };
    let of_time = DocumentQuery {
        since: Some(20),
        until: Some(29),
        ..all()
    };
    let of_parent = DocumentQuery { parent, ..all() };
    let with_text = DocumentQuery {
        text: Some("EXAMPLE/two".to_owned()),
        ..all()
    };
    let of_content = DocumentQuery {
        content: Some(one),
        ..all()
    };
    let page = DocumentQuery {
        after: one,
        limit: 1,
        import: Some(import.id()),
        ..all()
    };
    for (query, expected) in [
        (all(), vec![one, two, three]),
        (of_host, vec![one, two]),
        (of_state, vec![one, three]),
        (of_type, vec![three]),
        (of_time, vec![two]),
        (of_parent, vec![two]),
        (with_text, vec![two]),
        (of_content, vec![one]),
        (page, vec![two]),
    ] {
        let documents = catalog.documents(&query).await.unwrap();
        let found: Vec<_> = documents.iter().map(|document| document.id).collect();
        assert_eq!(found, expected, "{query:?}");
    }
}

async fn urls_of_any_length_and_any_characters_are_kept(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let long = format!(
        "http://{}.example/{}",
        "ü".repeat(5_000),
        "é/'\"\\{now}".repeat(5_000)
    );
    let short = |row: CaptureRow, md5: &str| CaptureRow {
        md5: md5.to_owned(),
        ..row
    };
    let mut rows = [
        short(linked(capture(&long, "A", i64::MAX), &long), "m1"),
        short(capture("http://a\0.example/\0", "B", i64::MIN), "m2"),
        CaptureRow {
            content: ContentRow::Revisit {
                sha1: Some("ü".repeat(5_000)),
            },
            ..capture(ONE, "", 1)
        },
    ];
    rows[0].parent.as_mut().unwrap().md5 = "p1".to_owned();

    for _ in 0..2 {
        add(&catalog, &mut import, &mut files, &rows).await;
    }

    let first = catalog.document_at("m1").await.unwrap().unwrap();
    assert_eq!(
        (&first.url, first.parent_url.as_ref()),
        (&long, Some(&long))
    );
    assert_eq!(first.update_date, i64::MAX);
    let second = catalog.document_at("m2").await.unwrap().unwrap();
    assert_eq!(second.url, "http://a\u{fffd}.example/\u{fffd}");
    assert_eq!(second.discover_date, i64::MIN);
}

async fn nothing_is_taken_of_a_group_that_fails(place: Place) {
    let (catalog, mut import, mut files) = begun(&place, false).await;
    let rows = [capture(ONE, "A", 10), capture(TWO, "B", 10)];
    let placements = catalog.reserve(&mut import, &rows).await.unwrap();
    files.place(&rows, &placements);

    let broken = [placements[0], Placement::Nothing];
    let failed = catalog
        .commit_group(&mut import, group(&rows, &broken, 2))
        .await;
    assert!(failed.is_err());
    assert_eq!(import.counters(), ImportCounters::default());
    assert_eq!(document(&catalog, ONE).await, None);
    // The numbers are still reserved.
    let again = catalog.reserve(&mut import, &rows).await.unwrap();

    assert_eq!(again, placements);
    let commit = group(&rows, &again, 2);
    catalog.commit_group(&mut import, commit).await.unwrap();
    assert_eq!(import.counters().saved_new, 2);
    assert!(matches!(content("A"), ContentRow::Bytes { size: 1, .. }));
}
