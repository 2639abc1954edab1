//! Harvests begun, gone on with, taken over, ended.

use std::time::Duration;

use catalog::{Counts, Error, Finish, NewRun, State};

use crate::place::{Place, add, page, row};

crate::on_both_databases!(
    the_same_cannot_be_harvested_twice_at_once,
    other_repositories_can_be_harvested_at_once,
    a_run_that_was_not_heard_of_is_taken_over_and_its_holder_can_write_nothing_more,
    a_failed_run_is_gone_on_with_under_its_own_number,
    a_finished_run_is_not_gone_on_with,
    a_fresh_start_ends_the_run_that_was_left,
    the_next_harvest_builds_upon_the_last_that_came_to_its_end,
    a_renewed_lease_lasts,
);

pub(crate) fn ok() -> Finish {
    Finish {
        state: State::Ok,
        reason: None,
        next_from: None,
        quirks: None,
        counts: Counts::default(),
        job: None,
        follow_ups: Vec::new(),
    }
}

fn failed(reason: &str) -> Finish {
    Finish {
        state: State::Failed,
        reason: Some(reason.to_owned()),
        ..ok()
    }
}

fn new(repository: i64) -> NewRun {
    NewRun::new(repository, "oai_dc")
}

async fn the_same_cannot_be_harvested_twice_at_once(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let run = catalog.begin(&new(repository)).await.unwrap();

    let error = catalog.begin(&new(repository)).await.unwrap_err();
    let resumed = NewRun {
        resume: Some(run.id()),
        ..new(repository)
    };
    let resumed = catalog.begin(&resumed).await.unwrap_err();

    let process = format!("process {} on ", std::process::id());
    assert!(error.to_string().contains(&process), "{error}");
    assert!(matches!(resumed, Error::Busy { .. }));
    catalog.finish(run, &ok()).await.unwrap();
    catalog.begin(&new(repository)).await.unwrap();
}

async fn other_repositories_can_be_harvested_at_once(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let other = add(&catalog, "http://b.example/oai").await;

    for repository in [repository, other] {
        let mut run = catalog.begin(&new(repository)).await.unwrap();
        catalog
            .commit_page(&mut run, page(&[row("1")]))
            .await
            .unwrap();
    }
    let set = NewRun {
        set: Some("a".to_owned()),
        ..new(repository)
    };
    for run in [set, NewRun::new(repository, "marc21")] {
        let refused = catalog.begin(&run).await;
        assert!(matches!(refused, Err(Error::Busy { .. })));
    }
    let unknown = catalog.begin(&new(other + 1)).await;
    assert!(matches!(unknown, Err(Error::UnknownRepository { .. })));
}

async fn a_run_that_was_not_heard_of_is_taken_over_and_its_holder_can_write_nothing_more(
    place: Place,
) {
    let (catalog, repository) = place.with_repository().await;
    let short = NewRun {
        lease: Duration::from_secs(1),
        ..new(repository)
    };
    let mut first = catalog.begin(&short).await.unwrap();
    catalog
        .commit_page(&mut first, page(&[row("1")]))
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(2_500)).await;

    let unfinished = catalog
        .unfinished(repository, "oai_dc", None)
        .await
        .unwrap();
    let resume = NewRun {
        resume: Some(unfinished.unwrap().id),
        ..new(repository)
    };
    let second = catalog.begin(&resume).await.unwrap();

    assert_eq!(second.id(), first.id());
    assert_eq!(second.resume_state(), Some("next"));
    assert_eq!(second.counts().new, 1);
    let lost = catalog.commit_page(&mut first, page(&[row("2")])).await;
    assert!(matches!(lost, Err(Error::LeaseLost { .. })));
    assert!(matches!(
        catalog.renew(&first).await,
        Err(Error::LeaseLost { .. })
    ));
    assert!(matches!(
        catalog.finish(first, &ok()).await,
        Err(Error::LeaseLost { .. })
    ));
    assert_eq!(
        catalog.repository_counts(repository).await.unwrap().records,
        1
    );
    let entry = catalog.finish(second, &ok()).await.unwrap();
    assert_eq!((entry.state, entry.attempts), (State::Ok, 2));
}

async fn a_failed_run_is_gone_on_with_under_its_own_number(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let mut run = catalog.begin(&new(repository)).await.unwrap();
    catalog
        .commit_page(&mut run, page(&[row("1")]))
        .await
        .unwrap();
    let entry = catalog
        .finish(run, &failed("503 for an hour"))
        .await
        .unwrap();
    assert_eq!(entry.failure_reason.as_deref(), Some("503 for an hour"));

    let unfinished = catalog
        .unfinished(repository, "oai_dc", None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(unfinished, entry);
    let resume = NewRun {
        resume: Some(entry.id),
        ..new(repository)
    };
    let mut run = catalog.begin(&resume).await.unwrap();
    let outcomes = catalog
        .commit_page(&mut run, page(&[row("1"), row("2")]))
        .await
        .unwrap();
    let entry = catalog.finish(run, &ok()).await.unwrap();

    assert_eq!(
        outcomes,
        [catalog::Outcome::Repeated, catalog::Outcome::New]
    );
    assert_eq!((entry.counts.new, entry.failure_reason), (2, None));
    assert_eq!(
        catalog
            .unfinished(repository, "oai_dc", None)
            .await
            .unwrap(),
        None
    );
}

async fn a_finished_run_is_not_gone_on_with(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let run = catalog.begin(&new(repository)).await.unwrap();
    let id = catalog.finish(run, &ok()).await.unwrap().id;

    let finished = NewRun {
        resume: Some(id),
        ..new(repository)
    };
    let another = NewRun {
        resume: Some(id + 1),
        ..new(repository)
    };

    assert!(matches!(
        catalog.begin(&finished).await,
        Err(Error::NotResumable { .. })
    ));
    assert!(matches!(
        catalog.begin(&another).await,
        Err(Error::NotResumable { .. })
    ));
}

async fn a_fresh_start_ends_the_run_that_was_left(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let gone = NewRun {
        lease: Duration::ZERO,
        ..new(repository)
    };
    let left = catalog.begin(&gone).await.unwrap().id();
    tokio::time::sleep(Duration::from_millis(1_100)).await;

    // Nothing was committed, so there is nothing to go on from.
    assert_eq!(
        catalog
            .unfinished(repository, "oai_dc", None)
            .await
            .unwrap(),
        None
    );
    let run = catalog.begin(&new(repository)).await.unwrap();

    assert_ne!(run.id(), left);
    let entry = catalog.history_entry(left).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Failed);
    assert!(entry.failure_reason.unwrap().starts_with("interrupted"));
}

async fn the_next_harvest_builds_upon_the_last_that_came_to_its_end(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let set = NewRun {
        set: Some("a".to_owned()),
        ..new(repository)
    };
    let ends = [
        (
            &new(repository),
            Finish {
                next_from: Some("2026-01-01".to_owned()),
                ..ok()
            },
        ),
        (
            &new(repository),
            Finish {
                next_from: Some("2026-01-02".to_owned()),
                state: State::Incomplete,
                ..ok()
            },
        ),
        (&new(repository), ok()),
        (&new(repository), failed("no answer")),
        (
            &set,
            Finish {
                next_from: Some("2026-01-03".to_owned()),
                ..ok()
            },
        ),
    ];
    for (run, finish) in &ends {
        let run = catalog.begin(run).await.unwrap();
        catalog.finish(run, finish).await.unwrap();
    }

    let all = catalog
        .last_finished(repository, "oai_dc", None)
        .await
        .unwrap()
        .unwrap();
    let in_set = catalog
        .last_finished(repository, "oai_dc", Some("a"))
        .await
        .unwrap()
        .unwrap();

    assert_eq!(
        (all.next_from.as_deref(), all.state),
        (Some("2026-01-02"), State::Incomplete)
    );
    assert_eq!(
        (in_set.next_from.as_deref(), in_set.set.as_deref()),
        (Some("2026-01-03"), Some("a"))
    );
    assert_eq!(
        catalog
            .last_finished(repository, "marc21", None)
            .await
            .unwrap(),
        None
    );
}

async fn a_renewed_lease_lasts(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let short = NewRun {
        lease: Duration::from_secs(2),
        ..new(repository)
    };
    let run = catalog.begin(&short).await.unwrap();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        catalog.renew(&run).await.unwrap();
    }

    let second = catalog.begin(&new(repository)).await;

    assert!(matches!(second, Err(Error::Busy { .. })));
}
