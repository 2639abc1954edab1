//! Retention of the history.

use catalog::{Catalog, Finish, HistoryQuery, NewRun, State};

use crate::place::{Place, page, row};
use crate::runs::ok;

crate::on_both_databases!(
    what_the_next_harvest_needs_is_never_forgotten,
    the_last_of_each_stays_if_wanted,
    the_history_is_found_by_what_is_asked_for,
);

async fn harvested(catalog: &Catalog, run: NewRun, finish: &Finish) -> i64 {
    let mut run = catalog.begin(&run).await.unwrap();
    catalog
        .commit_page(&mut run, page(&[row("1")]))
        .await
        .unwrap();
    catalog.finish(run, finish).await.unwrap().id
}

fn built_upon() -> Finish {
    Finish {
        next_from: Some("2026-01-01".to_owned()),
        ..ok()
    }
}

fn failed(reason: &str) -> Finish {
    Finish {
        state: State::Failed,
        reason: Some(reason.to_owned()),
        ..ok()
    }
}

async fn ids(catalog: &Catalog) -> Vec<i64> {
    let entries = catalog.history(&HistoryQuery::default()).await.unwrap();
    entries.iter().rev().map(|entry| entry.id).collect()
}

async fn what_the_next_harvest_needs_is_never_forgotten(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let dc = || NewRun::new(repository, "oai_dc");
    let of_set = || NewRun {
        set: Some("a".to_owned()),
        ..dc()
    };
    harvested(&catalog, dc(), &built_upon()).await;
    let base = harvested(&catalog, dc(), &built_upon()).await;
    harvested(&catalog, dc(), &failed("x")).await;
    let resumable = harvested(&catalog, dc(), &failed("y")).await;
    let set_base = harvested(&catalog, of_set(), &built_upon()).await;
    harvested(&catalog, of_set(), &ok()).await;
    let running = catalog.begin(&dc()).await.unwrap().id();

    assert_eq!(catalog.remove_history(3_600, false).await.unwrap(), 0);
    let removed = catalog.remove_history(-10, false).await.unwrap();

    // The running one is the newest of its target, so nothing is to be gone on with before it.
    assert_eq!(removed, 4);
    assert_eq!(ids(&catalog).await, [base, set_base, running]);
    assert!(resumable > base);
    let last = catalog.last_finished(repository, "oai_dc", None).await;
    assert_eq!(last.unwrap().unwrap().id, base);
}

async fn the_last_of_each_stays_if_wanted(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let run = |prefix: &str| NewRun::new(repository, prefix);
    harvested(&catalog, run("a"), &ok()).await;
    let a = harvested(&catalog, run("a"), &ok()).await;
    harvested(&catalog, run("b"), &failed("x")).await;
    let b = harvested(&catalog, run("b"), &failed("x")).await;

    assert_eq!(catalog.remove_history(-10, true).await.unwrap(), 2);
    assert_eq!(ids(&catalog).await, [a, b]);
    assert_eq!(catalog.remove_history(-10, false).await.unwrap(), 1);
    assert_eq!(ids(&catalog).await, [b]);
    let unfinished = catalog.unfinished(repository, "b", None).await;
    assert_eq!(unfinished.unwrap().unwrap().id, b);
}

async fn the_history_is_found_by_what_is_asked_for(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let run = || NewRun::new(repository, "oai_dc");
    let good = harvested(&catalog, run(), &ok()).await;
    let bad = harvested(&catalog, run(), &failed("50% of Answers were empty")).await;
    let started = catalog.history_entry(good).await.unwrap().unwrap().started;

    let all = HistoryQuery::default;
    for (query, expected) in [
        (
            HistoryQuery {
                state: Some(State::Failed),
                ..all()
            },
            vec![bad],
        ),
        (
            HistoryQuery {
                text: Some("50% OF answers".to_owned()),
                ..all()
            },
            vec![bad],
        ),
        (
            HistoryQuery {
                text: Some("5_%".to_owned()),
                ..all()
            },
            vec![],
        ),
        (
            HistoryQuery {
                since: Some(started),
                repository: Some(repository),
                ..all()
            },
            vec![bad, good],
        ),
        (
            HistoryQuery {
                until: Some(started - 1),
                ..all()
            },
            vec![],
        ),
        (
            HistoryQuery {
                job: Some(1),
                ..all()
            },
            vec![],
        ),
        (
            HistoryQuery {
                schedule: Some(1),
                ..all()
            },
            vec![],
        ),
    ] {
        let entries = catalog.history(&query).await.unwrap();
        let found: Vec<_> = entries.iter().map(|entry| entry.id).collect();
        assert_eq!(found, expected, "{query:?}");
    }
}
