//! Judgements of texts: written with groups, remembered, decided, corrected.

use catalog::{
    Catalog, Correction, DocumentEntry, DocumentQuery, DocumentState, GroupCommit, Import,
    JudgementQuery, JudgementRow, Probability,
};

use crate::crawl::{Files, capture, group, md5, of, sha1};
use crate::place::Place;

crate::on_both_databases!(
    a_judgement_comes_with_its_document_and_stays_without_one,
    what_is_set_aside_is_in_no_other_state,
    a_librarian_outweighs_a_model,
    decisions_are_found_whichever_came_first_and_are_not_mistaken_for_what_was_not_kept,
    a_text_without_a_decision_leaves_that_of_another_standing,
    contents_are_listed_with_what_is_known_of_them,
    what_cannot_be_corrected_is_not_known,
);

const ONE: &str = "http://a.example/1.pdf";
const TWO: &str = "http://b.example/2.pdf";

fn judged(bytes: &str, decision: &str) -> JudgementRow {
    JudgementRow {
        sha1: sha1(bytes),
        url: ONE.to_owned(),
        outcome: "text".to_owned(),
        engine: Some("pdftotext 22.12.0".to_owned()),
        pages: Some(7),
        decision: Some(decision.to_owned()),
        probability: Some(Probability::new(0.25)),
        kind: Some("paper".to_owned()),
        kinds: vec![Probability::new(0.25); 10],
        model: Some("abc".to_owned()),
        ..JudgementRow::default()
    }
}

async fn import(place: &Place, judgements: &[JudgementRow]) -> (Catalog, Import) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a.warc.gz")).await.unwrap();
    let rows = [capture(ONE, "A", 10), capture(TWO, "A", 20)];
    let placements = catalog.reserve(&mut import, &rows).await.unwrap();
    Files::default().place(&rows, &placements);
    let group = GroupCommit {
        judgements,
        ..group(&rows, &placements, 2)
    };
    catalog.commit_group(&mut import, group).await.unwrap();
    (catalog, import)
}

async fn document(catalog: &Catalog, url: &str) -> DocumentEntry {
    catalog.document_at(&md5(url)).await.unwrap().unwrap()
}

async fn a_judgement_comes_with_its_document_and_stays_without_one(place: Place) {
    let (catalog, _) = import(&place, &[judged("A", "accept"), judged("B", "reject")]).await;

    let kept = document(&catalog, TWO).await.judgement.unwrap();
    let known = catalog.known_content(&sha1("A")).await.unwrap().unwrap();
    let left = catalog.known_content(&sha1("B")).await.unwrap().unwrap();

    assert_eq!(kept, known.judgement);
    assert_eq!(
        (kept.decision.as_deref(), kept.pages),
        (Some("accept"), Some(7))
    );
    assert_eq!(kept.probability.unwrap().value(), 0.25);
    assert_eq!(kept.kinds, vec![Probability::new(0.25); 10]);
    assert!(known.is_stored && !left.is_stored);
    assert_eq!(left.judgement.decision.as_deref(), Some("reject"));
    assert_eq!(catalog.known_content(&sha1("C")).await.unwrap(), None);
}

async fn what_is_set_aside_is_in_no_other_state(place: Place) {
    let aside = JudgementRow {
        is_aside: true,
        ..judged("A", "unsure")
    };
    let (catalog, _) = import(&place, &[aside]).await;
    let one = document(&catalog, ONE).await;
    catalog
        .set_state(&[one.id], DocumentState::Ingested)
        .await
        .unwrap();

    let of_state = async |state| {
        let query = DocumentQuery {
            state: Some(state),
            ..DocumentQuery::default()
        };
        catalog.documents(&query).await.unwrap().len()
    };

    assert_eq!(document(&catalog, ONE).await.state, DocumentState::SetAside);
    assert_eq!(of_state(DocumentState::SetAside).await, 2);
    assert_eq!(of_state(DocumentState::Ingested).await, 0);
    assert_eq!(of_state(DocumentState::NotIngested).await, 0);
    let said = catalog.set_state(&[one.id], DocumentState::SetAside).await;
    assert_eq!(said.unwrap(), 0);
    let query = DocumentQuery {
        decision: Some("unsure".to_owned()),
        kind: Some("paper".to_owned()),
        ..DocumentQuery::default()
    };
    assert_eq!(catalog.documents(&query).await.unwrap().len(), 2);
}

/// Issue 18: what was rejected and not kept is far more than what was rejected and kept.
async fn decisions_are_found_whichever_came_first_and_are_not_mistaken_for_what_was_not_kept(
    place: Place,
) {
    let catalog = place.open().await;
    let mut many: Vec<_> = (0..6_000)
        .map(|number| judged(&format!("not kept {number}"), "reject"))
        .collect();
    many.push(judged("A", "accept"));
    catalog.judge(&many).await.unwrap();
    let (catalog, _) = import(&place, &[]).await;
    let found = async |decision: &str, kind: &str| {
        let query = DocumentQuery {
            decision: Some(decision.to_owned()),
            kind: Some(kind.to_owned()),
            ..DocumentQuery::default()
        };
        catalog.documents(&query).await.unwrap().len()
    };

    assert_eq!(found("accept", "paper").await, 2);
    assert_eq!(found("reject", "paper").await, 0);

    catalog.judge(&[judged("A", "reject")]).await.unwrap();
    assert_eq!(found("reject", "paper").await, 2);

    let one = document(&catalog, ONE).await;
    let correction = Correction {
        is_wanted: true,
        kind: Some("manual".to_owned()),
        by: None,
    };
    catalog.correct(one.id, &correction).await.unwrap();
    assert_eq!(found("reject", "paper").await, 0);
    assert_eq!(found("accept", "manual").await, 2);
}

async fn a_librarian_outweighs_a_model(place: Place) {
    let (catalog, _) = import(&place, &[judged("A", "accept")]).await;
    let one = document(&catalog, ONE).await;
    let correction = Correction {
        is_wanted: false,
        kind: Some("manual".to_owned()),
        by: Some("olga\0".to_owned()),
    };

    let corrected = catalog.correct(one.id, &correction).await.unwrap().unwrap();
    catalog.judge(&[judged("A", "accept")]).await.unwrap();

    assert!(corrected.is_aside);
    let two = document(&catalog, TWO).await;
    assert_eq!(two.state, DocumentState::SetAside);
    let said = two.judgement.unwrap().corrected.unwrap();
    assert_eq!(
        (said.decision.as_str(), said.kind.as_deref()),
        ("reject", Some("manual"))
    );
    let wanted = Correction {
        is_wanted: true,
        kind: None,
        by: None,
    };
    let again = catalog.correct(two.id, &wanted).await.unwrap().unwrap();
    assert!(!again.is_aside);
    assert_eq!(
        document(&catalog, ONE).await.state,
        DocumentState::NotIngested
    );
}

async fn a_text_without_a_decision_leaves_that_of_another_standing(place: Place) {
    let aside = JudgementRow {
        is_aside: true,
        ..judged("A", "unsure")
    };
    let (catalog, _) = import(&place, &[aside]).await;
    let text = JudgementRow {
        decision: None,
        probability: None,
        kind: None,
        kinds: Vec::new(),
        model: None,
        pages: Some(8),
        ..judged("A", "")
    };

    catalog.judge(&[text]).await.unwrap();

    let judgement = document(&catalog, ONE).await.judgement.unwrap();
    assert_eq!(
        (judgement.decision.as_deref(), judgement.pages),
        (Some("unsure"), Some(8))
    );
    assert!(judgement.is_aside && judgement.model.as_deref() == Some("abc"));
}

async fn contents_are_listed_with_what_is_known_of_them(place: Place) {
    let waiting = JudgementRow {
        outcome: "image-only".to_owned(),
        decision: None,
        is_aside: true,
        ..judged("A", "")
    };
    let (catalog, _) = import(&place, std::slice::from_ref(&waiting)).await;
    let waits = JudgementQuery {
        only_unrecognised: true,
        ..JudgementQuery::default()
    };

    let found = catalog.judged_contents(&waits).await.unwrap();
    let recognised = JudgementRow {
        engine: Some("pdftoppm 22 + tesseract 5".to_owned()),
        ..waiting
    };
    catalog.judge(&[recognised]).await.unwrap();

    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].sha1.as_str(), found[0].url.as_str()),
        (sha1("A").as_str(), ONE)
    );
    assert_eq!(catalog.judged_contents(&waits).await.unwrap(), []);
    let all = JudgementQuery::default();
    assert_eq!(catalog.judged_contents(&all).await.unwrap().len(), 1);
    assert_eq!(catalog.count_contents().await.unwrap(), 1);
}

async fn what_cannot_be_corrected_is_not_known(place: Place) {
    let (catalog, _) = import(&place, &[]).await;
    let wanted = Correction {
        is_wanted: true,
        kind: None,
        by: None,
    };

    let none = catalog.correct(999, &wanted).await.unwrap();
    let unread = catalog
        .correct(document(&catalog, ONE).await.id, &wanted)
        .await
        .unwrap();

    assert_eq!(none, None);
    assert_eq!(unread.unwrap().outcome, "unread");
}
