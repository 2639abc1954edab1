//! Runs: numbered, listed and found, whether they are jobs or commands; those that failed; what holds a job.

use std::time::Duration;

use catalog::{
    FinishImport, ImportState, JobEnd, JobKind, NewJob, NewRun, RunQuery, RunState, WorkerReport,
};

use crate::crawl::of;
use crate::place::{Place, claimed};
use crate::runs::ok;

crate::on_both_databases!(
    harvests_and_imports_of_commands_are_runs_beside_jobs,
    a_failure_counts_until_the_same_comes_to_its_end,
    what_runs_and_who_could_run_it_is_known,
);

async fn harvests_and_imports_of_commands_are_runs_beside_jobs(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let first = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    let first = catalog.finish(first, &ok()).await.unwrap();
    let import = catalog.begin_import(&of("a")).await.unwrap();
    let finish = FinishImport::new(ImportState::Incomplete);
    let import = catalog.finish_import(import, &finish).await.unwrap();
    let job = catalog
        .add_job(&NewJob::harvest(repository, "oai_dc"))
        .await
        .unwrap();
    let again = catalog
        .begin(&NewRun::new(repository, "oai_dc"))
        .await
        .unwrap();
    let again = again.id();

    let number = |harvest| catalog.run_of_harvest(harvest);
    let first = number(first.id).await.unwrap().unwrap();
    let import = catalog.run_of_import(import.id).await.unwrap().unwrap();
    let again = number(again).await.unwrap().unwrap();
    assert!(first < import && import < job.id && job.id < again);

    let list = async |query: RunQuery| {
        let (runs, next) = catalog.runs(&query).await.unwrap();
        let ids: Vec<_> = runs.iter().map(|run| (run.id, run.state())).collect();
        (ids, next)
    };
    let all = [
        (again, RunState::Running),
        (job.id, RunState::Queued),
        (import, RunState::Incomplete),
        (first, RunState::Ok),
    ];
    assert_eq!(list(RunQuery::default()).await, (all.to_vec(), None));
    let page = RunQuery {
        limit: 2,
        ..RunQuery::default()
    };
    assert_eq!(list(page.clone()).await, (all[..2].to_vec(), Some(job.id)));
    let page = RunQuery {
        before: Some(job.id),
        ..page
    };
    assert_eq!(list(page).await, (all[2..].to_vec(), None));
    for (state, expected) in all.map(|(id, state)| (state, id)) {
        let query = RunQuery {
            states: vec![state],
            ..RunQuery::default()
        };
        assert_eq!(list(query).await.0, [(expected, state)]);
    }
    let imports = RunQuery {
        kinds: vec![JobKind::Import],
        text: Some("A".to_owned()),
        ..RunQuery::default()
    };
    assert!(list(imports).await.0.iter().all(|(id, _)| *id == import));

    let run = catalog.run(first).await.unwrap().unwrap();
    assert_eq!(catalog.neighbours(&run).await.unwrap(), [None, Some(again)]);
    assert!(catalog.run(again + 1).await.unwrap().is_none());
}

async fn a_failure_counts_until_the_same_comes_to_its_end(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    for end in ["it rains", "it snows"] {
        catalog
            .add_job(&NewJob::harvest(repository, "oai_dc"))
            .await
            .unwrap();
        let claim = claimed(&catalog).await.unwrap();
        let end = JobEnd::Failed {
            reason: end.to_owned(),
            retry_in: None,
        };
        catalog.end_job(&claim.lease(), &end, &[]).await.unwrap();
    }

    let failed = catalog.failed_runs(3600, 10).await.unwrap();
    let reasons: Vec<_> = failed.runs.iter().map(|run| run.reason.as_str()).collect();
    assert_eq!(reasons, ["it snows", "it rains"]);
    assert!(catalog.failed_runs(3600, 1).await.unwrap().is_cut);

    catalog
        .add_job(&NewJob::harvest(repository, "oai_dc"))
        .await
        .unwrap();
    let claim = claimed(&catalog).await.unwrap();
    catalog
        .end_job(&claim.lease(), &JobEnd::Finished, &[])
        .await
        .unwrap();
    assert!(catalog.failed_runs(3600, 10).await.unwrap().runs.is_empty());
}

async fn what_runs_and_who_could_run_it_is_known(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    assert!(catalog.workers().await.unwrap().is_empty());
    let report = WorkerReport {
        name: "tester",
        kinds: &[JobKind::Harvest],
        tags: &[],
        threads: 3,
    };
    catalog.report_worker(&report).await.unwrap();
    catalog.report_worker(&report).await.unwrap();
    catalog
        .add_job(&NewJob::harvest(repository, "oai_dc"))
        .await
        .unwrap();
    let claim = claimed(&catalog).await.unwrap();

    let standing = catalog.queue_standing().await.unwrap();
    assert_eq!(standing.workers.len(), 1);
    assert_eq!((standing.workers[0].threads, standing.per_host), (3, 1));
    let worker = &standing.workers[0];
    assert_eq!(worker.jobs, [claim.job.id]);
    assert_eq!(worker.version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
    assert!(
        worker.name.ends_with(&format!("on {})", worker.machine)),
        "{worker:?}"
    );
    assert_eq!(standing.running[0].id, claim.job.id);
    assert_eq!(standing.running[0].host, claim.job.host);

    let put_off = JobEnd::PutOff {
        wait: Duration::from_secs(600),
        reason: "the server asks to wait".to_owned(),
    };
    catalog
        .end_job(&claim.lease(), &put_off, &[])
        .await
        .unwrap();
    let job = catalog.job(claim.job.id).await.unwrap().unwrap();
    assert_eq!(job.put_off.as_deref(), Some("the server asks to wait"));
    assert_eq!(job.attempt, 0);
    catalog.forget_worker("tester").await.unwrap();
    assert!(catalog.workers().await.unwrap().is_empty());
}
