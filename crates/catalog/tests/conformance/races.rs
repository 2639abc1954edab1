//! Many workers at once, in one process and in several.

use std::collections::BTreeSet;

use catalog::{Catalog, ClaimOptions, NewJob};

use crate::place::{Place, add, claimed, claimed_with, options};
use crate::processes::Other;

crate::on_both_databases!(
    workers_in_several_processes_never_get_the_same_job,
    workers_at_once_keep_to_the_limit_of_a_host,
    workers_at_once_harvest_a_repository_once,
    a_job_that_is_deleted_while_it_starts_is_withdrawn_or_asked_to_stop,
);

async fn queue(catalog: &Catalog, number: usize, host: &str) -> BTreeSet<i64> {
    let mut jobs = BTreeSet::new();
    for n in 0..number {
        let repository = add(catalog, &format!("http://{host}/{n}")).await;
        let new = NewJob::harvest(repository, "oai_dc");
        jobs.insert(catalog.add_job(&new).await.unwrap().id);
    }
    jobs
}

async fn workers_in_several_processes_never_get_the_same_job(place: Place) {
    let catalog = place.open().await;
    let jobs = queue(&catalog, 60, "b.example").await;

    let others: Vec<_> = (0..4).map(|_| Other::start(&place, "claim")).collect();
    let mut claimed = Vec::new();
    for mut other in others {
        claimed.append(&mut other.numbers("claimed"));
    }

    assert_eq!(claimed.len(), jobs.len());
    assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>(), jobs);
}

/// As many handles as there are workers, each with connections of its own.
async fn at_once(place: &Place, options: ClaimOptions<'static>) -> Vec<i64> {
    let mut workers = Vec::new();
    for _ in 0..5 {
        let catalog = place.open().await;
        workers.push(tokio::spawn(async move {
            let claim = claimed_with(&catalog, options).await;
            claim.map(|claim| claim.job.id)
        }));
    }
    let mut claimed = Vec::new();
    for worker in workers {
        claimed.extend(worker.await.unwrap());
    }
    claimed
}

async fn workers_at_once_keep_to_the_limit_of_a_host(place: Place) {
    let catalog = place.open().await;
    queue(&catalog, 9, "a.example").await;
    let polite = ClaimOptions {
        per_host: 2,
        ..options()
    };

    assert_eq!(at_once(&place, polite).await.len(), 2);
}

async fn workers_at_once_harvest_a_repository_once(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    for _ in 0..5 {
        let new = NewJob::harvest(repository, "oai_dc");
        catalog.add_job(&new).await.unwrap();
    }

    assert_eq!(at_once(&place, options()).await.len(), 1);
}

async fn a_job_that_is_deleted_while_it_starts_is_withdrawn_or_asked_to_stop(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let other = place.open().await;
    for _ in 0..10 {
        let new = NewJob::harvest(repository, "oai_dc");
        let job = catalog.add_job(&new).await.unwrap().id;

        let (claim, cancelled) = tokio::join!(claimed(&catalog), other.cancel_job(job));

        match (claim, cancelled.unwrap()) {
            (None, catalog::Cancelled::Withdrawn) => {}
            (Some(claim), catalog::Cancelled::Asked) => {
                let end = catalog::JobEnd::Cancelled;
                catalog.end_job(&claim.lease(), &end, &[]).await.unwrap();
            }
            (claim, cancelled) => panic!("{claim:?} {cancelled:?}"),
        }
    }
}
