//! Documents found by their words, near-duplicates, facets, and the queue of texts that are to be read.

use catalog::{
    Catalog, DocumentOrder, DocumentQuery, Facets, GroupCommit, IndexedText, JudgementRow,
    Probability, SearchOrder, SearchQuery,
};

use crate::crawl::{Files, capture, group, of, sha1};
use crate::place::Place;

crate::on_both_databases!(
    texts_wait_until_they_are_read_and_are_found_then,
    words_phrases_beginnings_titles_and_exclusions_find_the_same,
    fields_narrow_what_is_found,
    texts_that_say_nearly_the_same_are_one_group,
    hostile_words_find_nothing_and_break_nothing,
    what_is_forgotten_is_not_found,
    lists_have_orders_and_facets,
);

const TEXTS: [(&str, &str, &str); 4] = [
    (
        "http://www.a.example/1.pdf",
        "The Shape of Coasts",
        "Tides shape the coast. Open access to grey literature.",
    ),
    (
        "http://b.example/2.pdf",
        "Tides",
        "The coast of Ely, its tide and a draft of the moon. Café.",
    ),
    (
        "http://c.b.example/3.pdf",
        "Lichens",
        "Growth of lichens on the coast; literature that is grey.",
    ),
    (
        "http://d.example/4.pdf",
        "東京の海",
        "海の形について coastal",
    ),
];

fn judged(number: usize) -> JudgementRow {
    JudgementRow {
        sha1: sha1(TEXTS[number].0),
        url: TEXTS[number].0.to_owned(),
        outcome: "text".to_owned(),
        decision: Some(if number == 1 { "unsure" } else { "accept" }.to_owned()),
        probability: Some(Probability::new(0.5)),
        kind: Some(if number == 2 { "thesis" } else { "paper" }.to_owned()),
        title: Some(TEXTS[number].1.to_owned()),
        language: Some(if number == 3 { "ja" } else { "en" }.to_owned()),
        sketch: Some(format!("sketch {}", number / 2)),
        ..JudgementRow::default()
    }
}

async fn import(place: &Place) -> Catalog {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a.warc.gz")).await.unwrap();
    let rows: Vec<_> = TEXTS
        .iter()
        .map(|(url, ..)| capture(url, url, 10))
        .collect();
    let placements = catalog.reserve(&mut import, &rows).await.unwrap();
    Files::default().place(&rows, &placements);
    let judgements: Vec<_> = (0..TEXTS.len()).map(judged).collect();
    let group = GroupCommit {
        judgements: &judgements,
        ..group(&rows, &placements, 2)
    };
    catalog.commit_group(&mut import, group).await.unwrap();
    catalog
}

/// Reads all texts that wait, in which two and two say the same.
async fn index(catalog: &Catalog) -> usize {
    let unread = catalog.unread_texts(100).await.unwrap();
    let mut texts = Vec::new();
    for content in &unread {
        let entry = catalog.content(content.content).await.unwrap().unwrap();
        let (number, (_, title, text)) = TEXTS
            .iter()
            .enumerate()
            .find(|(_, (url, ..))| sha1(url) == entry.sha1)
            .unwrap();
        texts.push(IndexedText {
            content: content.content,
            title: Some((*title).to_owned()),
            language: None,
            sketch: content.sketch.clone(),
            bands: vec![
                i64::try_from(number).unwrap() / 2,
                100 + i64::try_from(number).unwrap(),
            ],
            text: (*text).to_owned(),
        });
    }
    catalog
        .index_texts(&texts, &|one, other| one == other)
        .await
        .unwrap();
    texts.len()
}

async fn indexed(place: &Place) -> Catalog {
    let catalog = import(place).await;
    index(&catalog).await;
    catalog
}

async fn find(catalog: &Catalog, query: &str, filter: &DocumentQuery) -> Vec<String> {
    let query = SearchQuery::parse(query).unwrap();
    let found = catalog
        .search_documents(&query, filter, SearchOrder::Rank, 0, 10)
        .await
        .unwrap();
    assert_eq!(found.total, found.documents.len() as u64);
    let name = |url: &str| url.rsplit('/').next().unwrap().replace(".pdf", "");
    let mut names: Vec<_> = found
        .documents
        .iter()
        .map(|found| name(&found.document.url))
        .collect();
    names.sort();
    names
}

async fn found(catalog: &Catalog, query: &str) -> String {
    find(catalog, query, &DocumentQuery::default())
        .await
        .concat()
}

async fn texts_wait_until_they_are_read_and_are_found_then(place: Place) {
    let catalog = import(&place).await;
    assert_eq!(catalog.count_unread_texts(10).await.unwrap(), 4);
    assert_eq!(found(&catalog, "coast").await, "");

    assert_eq!(index(&catalog).await, 4);

    assert_eq!(catalog.count_unread_texts(10).await.unwrap(), 0);
    assert_eq!(found(&catalog, "coast").await.len(), 3);
    let document = catalog.document(1).await.unwrap().unwrap();
    assert_eq!(document.title.as_deref(), Some("The Shape of Coasts"));
    assert_eq!(document.language.as_deref(), Some("en"));
    // The same judgement again is no news.
    catalog.judge(&[judged(0)]).await.unwrap();
    assert_eq!(catalog.count_unread_texts(10).await.unwrap(), 0);
}

async fn words_phrases_beginnings_titles_and_exclusions_find_the_same(place: Place) {
    let catalog = indexed(&place).await;

    let mut all: Vec<String> = Vec::new();
    for (query, expected) in [
        ("coast", "123"),
        ("Coasts", "1"),
        ("coast*", "1234"),
        ("\"grey literature\"", "1"),
        ("grey literature", "13"),
        ("title:tide*", "2"),
        ("tide*", "12"),
        ("coast -draft", "13"),
        ("coast -title:lichens", "12"),
        ("title:\"shape of\"", "1"),
        ("cafe", "2"),
        ("海", "4"),
        ("\"東京\"", "4"),
        ("coasts tides", "1"),
        // A phrase does not go from the title into the text.
        ("\"coasts tides\"", ""),
    ] {
        let found = found(&catalog, query).await;
        if found != expected {
            all.push(format!("{query}: {found}, not {expected}"));
        }
    }
    assert!(all.is_empty(), "{all:?}");

    // A word of the title counts for more.
    let query = SearchQuery::parse("tide* coast*").unwrap();
    let best = catalog
        .search_documents(&query, &DocumentQuery::default(), SearchOrder::Rank, 0, 1)
        .await
        .unwrap();
    assert_eq!(best.total, 2);
    assert!(best.documents[0].score > 0, "{best:?}");
}

async fn fields_narrow_what_is_found(place: Place) {
    let catalog = indexed(&place).await;
    let with = |change: fn(&mut DocumentQuery)| {
        let mut query = DocumentQuery::default();
        change(&mut query);
        query
    };

    for (filter, expected) in [
        (
            with(|query| query.domain = Some("b.example".to_owned())),
            "23",
        ),
        (with(|query| query.host = Some("b.example".to_owned())), "2"),
        (with(|query| query.kind = Some("thesis".to_owned())), "3"),
        (with(|query| query.language = Some("ja".to_owned())), "4"),
        (
            with(|query| query.decision = Some("unsure".to_owned())),
            "2",
        ),
        (
            with(|query| query.text = Some("a.example/1".to_owned())),
            "1",
        ),
        (with(|query| query.import = Some(7)), ""),
    ] {
        assert_eq!(
            find(&catalog, "coast*", &filter).await.concat(),
            expected,
            "{filter:?}"
        );
        let listed = catalog.documents(&filter).await.unwrap();
        assert_eq!(listed.len(), expected.len(), "{filter:?}");
    }
}

async fn texts_that_say_nearly_the_same_are_one_group(place: Place) {
    let catalog = indexed(&place).await;

    let near = catalog.near_documents(1, 10).await.unwrap();

    assert_eq!(
        near.iter().map(|near| near.document).collect::<Vec<_>>(),
        [2]
    );
    let groups: Vec<_> = catalog.documents(&DocumentQuery::default()).await.unwrap();
    let groups: Vec<_> = groups.iter().map(|document| document.near).collect();
    assert_eq!(groups, [Some(1), Some(1), Some(3), Some(3)]);
    let group = DocumentQuery {
        near: Some(1),
        ..DocumentQuery::default()
    };
    assert_eq!(catalog.documents(&group).await.unwrap().len(), 2);

    // One that is like all joins them.
    let text = IndexedText {
        content: 4,
        title: None,
        language: None,
        sketch: Some("any".to_owned()),
        bands: vec![0, 1],
        text: String::new(),
    };
    catalog.index_texts(&[text], &|_, _| true).await.unwrap();
    let joined = catalog.documents(&group).await.unwrap();
    assert_eq!(joined.len(), 4);
}

async fn hostile_words_find_nothing_and_break_nothing(place: Place) {
    let catalog = indexed(&place).await;
    for hostile in [
        "a' | 'b",
        "a) OR (b",
        "NEAR(a b)",
        "x\\",
        "'; DROP TABLE content; --",
        "aa & !bb",
        "^aa",
        "{aa}",
        "aa\0bb",
        "%",
        "_",
        "\u{202e}aa",
        "¶1",
        "\"a b\"*",
        "ab*",
        "é*",
    ] {
        if let Ok(query) = SearchQuery::parse(hostile)
            && query.has_words()
        {
            let found = catalog
                .search_documents(&query, &DocumentQuery::default(), SearchOrder::Rank, 0, 10)
                .await;
            assert!(found.is_ok(), "{hostile:?}: {found:?}");
        }
    }
    assert_eq!(found(&catalog, "coast").await.len(), 3);
}

async fn what_is_forgotten_is_not_found(place: Place) {
    let catalog = indexed(&place).await;

    catalog.forget_texts(&[1]).await.unwrap();

    assert_eq!(found(&catalog, "coast").await, "23");
    assert_eq!(catalog.near_documents(1, 10).await.unwrap(), []);
    catalog.requeue_texts(&[1]).await.unwrap();
    assert_eq!(index(&catalog).await, 1);
    assert_eq!(found(&catalog, "coast").await, "123");
    assert_eq!(catalog.near_documents(1, 10).await.unwrap().len(), 1);
}

async fn lists_have_orders_and_facets(place: Place) {
    let catalog = indexed(&place).await;
    let mut pages = Vec::new();
    for order in [
        DocumentOrder::Newest,
        DocumentOrder::Updated,
        DocumentOrder::Host,
        DocumentOrder::Type,
        DocumentOrder::Title,
        DocumentOrder::Size,
        DocumentOrder::State,
        DocumentOrder::Kind,
    ] {
        let mut query = DocumentQuery {
            order,
            limit: 3,
            ..DocumentQuery::default()
        };
        let mut ids = Vec::new();
        loop {
            let page = catalog.documents(&query).await.unwrap();
            let Some(last) = page.last() else { break };
            query.after = last.id;
            ids.extend(page.iter().map(|document| document.id));
        }
        pages.push(ids);
    }
    let number = vec![1, 2, 3, 4];
    assert_eq!(
        pages[..5],
        [
            vec![4, 3, 2, 1],
            vec![4, 3, 2, 1],
            number.clone(),
            number,
            vec![3, 1, 2, 4]
        ]
    );
    for page in &mut pages {
        page.sort_unstable();
        assert_eq!(*page, [1, 2, 3, 4]);
    }
    let all = DocumentQuery::default();
    assert_eq!(catalog.count_documents(&all, 3).await.unwrap(), Some(3));
    assert_eq!(catalog.count_documents(&all, 10).await.unwrap(), Some(4));

    let facets = catalog
        .facets_of_documents(None, &DocumentQuery::default())
        .await
        .unwrap();
    assert_eq!((facets.total, facets.counted), (4, 4));
    assert_eq!(
        facets.values["kind"],
        [("paper".to_owned(), 3), ("thesis".to_owned(), 1)]
    );
    assert_eq!(
        facets.values["language"],
        [("en".to_owned(), 3), ("ja".to_owned(), 1)]
    );
    assert_eq!(facets.values.len(), Facets::NAMES.len());
    let query = SearchQuery::parse("grey").unwrap();
    let found = catalog
        .facets_of_documents(Some(&query), &DocumentQuery::default())
        .await
        .unwrap();
    assert_eq!(found.total, 2);
}
