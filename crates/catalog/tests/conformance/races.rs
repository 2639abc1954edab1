//! Many workers at once, in one process and in several.

use std::collections::BTreeSet;

use catalog::{Catalog, JobEnd, JobState, NewJob};

use crate::place::{Place, add, claimed};
use crate::processes::Other;

crate::on_both_databases!(
    workers_in_several_processes_never_get_the_same_job,
    workers_at_once_keep_to_the_limit_of_a_host,
    workers_at_once_harvest_a_repository_once,
    many_workers_run_each_job_once_and_leave_no_slot_taken,
    slots_of_a_killed_worker_are_free_again,
    a_lower_limit_holds_for_jobs_that_run_already,
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
    catalog.set_per_host(0).await.unwrap();

    let others: Vec<_> = (0..4).map(|_| Other::start(&place, "claim")).collect();
    let mut claimed = Vec::new();
    for mut other in others {
        claimed.append(&mut other.numbers("claimed"));
    }

    assert_eq!(claimed.len(), jobs.len());
    assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>(), jobs);
}

/// As many handles as there are workers, each with connections of its own.
async fn at_once(place: &Place) -> Vec<i64> {
    let mut workers = Vec::new();
    for _ in 0..5 {
        let catalog = place.open().await;
        workers.push(tokio::spawn(async move {
            let claim = claimed(&catalog).await;
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
    catalog.set_per_host(2).await.unwrap();

    assert_eq!(at_once(&place).await.len(), 2);
}

async fn workers_at_once_harvest_a_repository_once(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    for _ in 0..5 {
        let new = NewJob::harvest(repository, "oai_dc");
        catalog.add_job(&new).await.unwrap();
    }

    assert_eq!(at_once(&place).await.len(), 1);
}

async fn many_workers_run_each_job_once_and_leave_no_slot_taken(place: Place) {
    let catalog = place.open().await;
    let mut jobs = queue(&catalog, 30, "a.example").await;
    jobs.append(&mut queue(&catalog, 30, "b.example").await);
    catalog.set_per_host(3).await.unwrap();
    let mut workers = Vec::new();
    for _ in 0..8 {
        let catalog = place.open().await;
        workers.push(tokio::spawn(async move {
            let mut done = Vec::new();
            // Others may have all slots for a moment.
            while catalog.next_due().await.unwrap().is_some() {
                let Some(claim) = claimed(&catalog).await else {
                    continue;
                };
                let running = catalog::JobQuery {
                    states: vec![JobState::Running],
                    ..catalog::JobQuery::default()
                };
                assert!(catalog.jobs(&running).await.unwrap().len() <= 6);
                let end = JobEnd::Finished;
                catalog.end_job(&claim.lease(), &end, &[]).await.unwrap();
                done.push(claim.job.id);
            }
            done
        }));
    }
    let mut done = Vec::new();
    for worker in workers {
        done.append(&mut worker.await.unwrap());
    }

    assert_eq!(done.len(), 60);
    assert_eq!(done.into_iter().collect::<BTreeSet<_>>(), jobs);
    // All slots are free: as many jobs as before can be claimed.
    queue(&catalog, 4, "a.example").await;
    assert_eq!(at_once(&place).await.len(), 3);
}

async fn slots_of_a_killed_worker_are_free_again(place: Place) {
    let catalog = place.open().await;
    catalog.set_per_host(2).await.unwrap();
    queue(&catalog, 3, "a.example").await;
    let mut other = Other::start(&place, "hold");
    other.says("holds 2");
    assert!(claimed(&catalog).await.is_none());

    other.kill();

    // The two that it had have failed, for they are tried once; the third has a slot, and a fourth the other one.
    queue(&catalog, 5, "a.example").await;
    assert!(claimed(&catalog).await.is_some());
    assert!(claimed(&catalog).await.is_some());
    assert!(claimed(&catalog).await.is_none());
}

async fn a_lower_limit_holds_for_jobs_that_run_already(place: Place) {
    let catalog = place.open().await;
    queue(&catalog, 4, "a.example").await;
    catalog.set_per_host(3).await.unwrap();
    let mut claims = Vec::new();
    while let Some(claim) = claimed(&catalog).await {
        claims.push(claim);
    }
    assert_eq!(claims.len(), 3);

    catalog.set_per_host(1).await.unwrap();
    let end = JobEnd::Finished;
    for claim in &claims[..2] {
        catalog.end_job(&claim.lease(), &end, &[]).await.unwrap();
        assert!(claimed(&catalog).await.is_none());
    }

    catalog
        .end_job(&claims[2].lease(), &end, &[])
        .await
        .unwrap();
    assert!(claimed(&catalog).await.is_some());
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
                let end = JobEnd::Cancelled;
                catalog.end_job(&claim.lease(), &end, &[]).await.unwrap();
            }
            (claim, cancelled) => panic!("{claim:?} {cancelled:?}"),
        }
    }
}
