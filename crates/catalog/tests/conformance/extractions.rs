//! Extractions that are loaded: claimed by one import at a time, and counted once.

use catalog::{
    Catalog, Error, ExtractionClaim, FinishImport, GroupCommit, Import, ImportCounters,
    ImportState, NewImport,
};

use crate::place::Place;

crate::on_both_databases!(
    an_extraction_is_loaded_once_whoever_loads_it,
    one_that_was_left_is_taken_over_and_its_first_loader_is_lost,
);

async fn begin(catalog: &Catalog, source: &str) -> Import {
    let new = NewImport::new("{}", vec![source.to_owned()]);
    catalog.begin_import(&new).await.unwrap()
}

fn end() -> GroupCommit<'static> {
    GroupCommit {
        rows: &[],
        placements: &[],
        source: 0,
        position: 1,
        source_done: true,
        counters: ImportCounters::default(),
        warnings: &[],
        judgements: &[],
    }
}

async fn an_extraction_is_loaded_once_whoever_loads_it(place: Place) {
    let catalog = place.open().await;
    let keys = ["a".to_owned(), "b".to_owned()];
    let (mut one, mut two) = (begin(&catalog, "1").await, begin(&catalog, "2").await);

    let claims = [
        catalog.claim_extraction(&mut one, "a").await.unwrap(),
        catalog.claim_extraction(&mut two, "a").await.unwrap(),
        catalog.claim_extraction(&mut one, "a").await.unwrap(),
    ];
    assert_eq!(
        claims,
        [
            ExtractionClaim::Claimed,
            ExtractionClaim::Elsewhere,
            ExtractionClaim::Claimed
        ]
    );
    assert!(catalog.loaded_extractions(&keys).await.unwrap().is_empty());
    assert_eq!(catalog.claimed_extractions(&keys).await.unwrap().len(), 1);

    catalog.commit_group(&mut one, end()).await.unwrap();
    let claim = catalog.claim_extraction(&mut two, "a").await.unwrap();
    assert_eq!(claim, ExtractionClaim::Loaded);
    let done = FinishImport::new(ImportState::Ok);
    let id = catalog.finish_import(one, &done).await.unwrap().id;
    let loaded = catalog.loaded_extractions(&keys).await.unwrap();
    assert_eq!(loaded.into_iter().collect::<Vec<_>>(), ["a"]);

    // It stays loaded when its import is forgotten.
    assert!(catalog.remove_import(id).await.unwrap());
    assert_eq!(catalog.loaded_extractions(&keys).await.unwrap().len(), 1);
}

async fn one_that_was_left_is_taken_over_and_its_first_loader_is_lost(place: Place) {
    let catalog = place.open().await;
    let (mut one, mut two) = (begin(&catalog, "1").await, begin(&catalog, "2").await);
    catalog.claim_extraction(&mut one, "a").await.unwrap();
    let failed = FinishImport::new(ImportState::Failed);
    catalog.finish_import(one, &failed).await.unwrap();

    let claim = catalog.claim_extraction(&mut two, "a").await.unwrap();
    assert_eq!(claim, ExtractionClaim::Claimed);
    // A process that resumes the first import finds it taken, and cannot end it.
    let mut resumed = begin(&catalog, "1").await;
    assert!(resumed.is_resumed());
    let claim = catalog.claim_extraction(&mut resumed, "a").await.unwrap();
    assert_eq!(claim, ExtractionClaim::Elsewhere);
    catalog.commit_group(&mut two, end()).await.unwrap();
    let done = FinishImport::new(ImportState::Failed);
    catalog.finish_import(two, &done).await.unwrap();

    // Its import is resumed first: it may have more sources.
    assert!(
        catalog
            .loaded_extractions(&["a".to_owned()])
            .await
            .unwrap()
            .is_empty()
    );
    let lost = catalog.claim_extraction(&mut resumed, "a").await.unwrap();
    assert_eq!(lost, ExtractionClaim::Loaded);
    let ended = begin(&catalog, "2").await;
    let done = FinishImport::new(ImportState::Ok);
    catalog.finish_import(ended, &done).await.unwrap();
    let again = catalog.finish_import(resumed, &done).await;
    assert!(!matches!(again, Err(Error::ImportLost { .. })));
}
