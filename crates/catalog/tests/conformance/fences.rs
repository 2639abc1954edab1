//! Workers that are not heard of any more: their jobs go on elsewhere, and what they still write is refused.

use std::time::Duration;

use catalog::{
    Answer, Beat, Cancelled, Catalog, Claim, ClaimOptions, Error, JobEnd, JobKind, JobProgress,
    JobState, NewJob, NewRun, Run, State,
};

use crate::place::{Place, claimed, claimed_with, options, page, row};
use crate::runs::ok;

crate::on_both_databases!(
    a_job_that_was_not_heard_of_goes_on_elsewhere_and_its_first_worker_writes_nothing_more,
    a_job_that_was_lost_too_often_has_failed,
    a_cancelled_job_without_a_worker_is_not_begun_again,
    a_beat_keeps_a_job,
    a_quiet_that_was_left_does_not_last,
    a_finish_after_the_job_was_lost_changes_nothing,
    a_job_left_by_its_worker_does_not_keep_a_command_away,
    a_job_that_ends_without_its_harvest_ends_that_too,
);

const SECOND: Duration = Duration::from_secs(1);

/// A harvest job with a run that has committed a page, under a lease that has passed.
async fn left(place: &Place, max_attempts: i64) -> (Catalog, i64, Claim, Run) {
    let (catalog, repository) = place.with_repository().await;
    let new = NewJob {
        max_attempts,
        ..NewJob::harvest(repository, "oai_dc")
    };
    catalog.add_job(&new).await.unwrap();
    let short = ClaimOptions {
        lease: SECOND,
        worker: "slow",
        ..options()
    };
    let claim = claimed_with(&catalog, short).await.unwrap();
    let mut run = catalog.begin(&of_job(repository, &claim)).await.unwrap();
    let rows = [row("1")];
    catalog.commit_page(&mut run, page(&rows)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    (catalog, repository, claim, run)
}

fn of_job(repository: i64, claim: &Claim) -> NewRun {
    NewRun {
        job: Some(claim.lease()),
        ..NewRun::new(repository, "oai_dc")
    }
}

fn beat(claim: &Claim) -> Beat {
    Beat {
        lease: claim.lease(),
        progress: JobProgress::default(),
    }
}

async fn a_job_that_was_not_heard_of_goes_on_elsewhere_and_its_first_worker_writes_nothing_more(
    place: Place,
) {
    let (catalog, repository, first, mut run) = left(&place, 5).await;

    let second = claimed(&catalog).await.unwrap();

    assert_eq!((second.job.id, second.job.attempt), (first.job.id, 2));
    let slow = format!("slow (process {} on ", std::process::id());
    assert!(second.taken_over.as_ref().unwrap().starts_with(&slow));
    let heard = catalog.beat(&[beat(&first)], SECOND).await.unwrap();
    assert_eq!(heard[0].answer, Answer::LeaseLost);
    let rows = [row("2")];
    let lost = catalog.commit_page(&mut run, page(&rows)).await;
    assert!(matches!(lost, Err(Error::LeaseLost { .. })));
    let lost = catalog.renew(&run).await;
    assert!(matches!(lost, Err(Error::LeaseLost { .. })));
    let lost = catalog
        .end_job(&first.lease(), &JobEnd::Finished, &[])
        .await;
    assert!(matches!(lost, Err(Error::JobLost { .. })));
    let lost = catalog.begin(&of_job(repository, &first)).await;
    assert!(matches!(lost, Err(Error::JobLost { .. })));

    let unfinished = catalog.unfinished(repository, "oai_dc", None).await;
    let unfinished = unfinished.unwrap().unwrap();
    assert_eq!(unfinished.id, run.id());
    let reason = unfinished.failure_reason.unwrap();
    assert!(reason.contains("was not heard of any more"), "{reason}");
    let resume = NewRun {
        resume: Some(unfinished.id),
        ..of_job(repository, &second)
    };
    let mut resumed = catalog.begin(&resume).await.unwrap();
    assert_eq!(resumed.resume_state(), Some("next"));
    let lost = catalog.finish(run, &ok()).await;
    assert!(matches!(lost, Err(Error::LeaseLost { .. })));
    catalog
        .commit_page(&mut resumed, page(&rows))
        .await
        .unwrap();
    let mut finish = ok();
    finish.job = Some(JobEnd::Finished);
    let entry = catalog.finish(resumed, &finish).await.unwrap();
    assert_eq!((entry.state, entry.counts.new), (State::Ok, 2));
    let job = catalog.job(first.job.id).await.unwrap().unwrap();
    assert_eq!(
        (job.state, job.harvest),
        (JobState::Finished, Some(entry.id))
    );

    let told = catalog.warnings(entry.id, 9).await.unwrap();
    assert!(told[0].reason.contains("slow (process"), "{told:?}");
    assert!(told[0].reason.contains("tester (process"), "{told:?}");
    let log = catalog.job_log(first.job.id, 0, 9).await.unwrap();
    let log: Vec<_> = log.into_iter().map(|line| line.message).collect();
    assert!(log[0].contains("was not heard of any more"), "{log:?}");
    assert!(log[1].contains("took over from slow"), "{log:?}");
}

async fn a_job_that_was_lost_too_often_has_failed(place: Place) {
    let (catalog, repository, first, run) = left(&place, 1).await;

    assert!(claimed(&catalog).await.is_none());

    let job = catalog.job(first.job.id).await.unwrap().unwrap();
    assert_eq!(job.state, JobState::Failed);
    assert!(job.error.unwrap().contains("was not heard of any more"));
    let entry = catalog.history_entry(run.id()).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Failed);
    // The unfinished harvest can be resumed.
    let unfinished = catalog.unfinished(repository, "oai_dc", None).await;
    assert!(unfinished.unwrap().is_some());
}

async fn a_cancelled_job_without_a_worker_is_not_begun_again(place: Place) {
    let (catalog, _, first, _run) = left(&place, 5).await;

    let cancelled = catalog.cancel_job(first.job.id).await.unwrap();

    assert_eq!(cancelled, Cancelled::Withdrawn);
    assert!(claimed(&catalog).await.is_none());
    let job = catalog.job(first.job.id).await.unwrap().unwrap();
    assert_eq!(job.state, JobState::Cancelled);
}

async fn a_beat_keeps_a_job(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    catalog
        .add_job(&NewJob::harvest(repository, "oai_dc"))
        .await
        .unwrap();
    let lease = Duration::from_secs(2);
    let claim = claimed_with(&catalog, ClaimOptions { lease, ..options() }).await;
    let claim = claim.unwrap();

    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        let heard = catalog.beat(&[beat(&claim)], lease).await.unwrap();
        assert_eq!(heard[0].answer, Answer::GoOn);
        assert!(claimed(&catalog).await.is_none());
    }
}

async fn a_quiet_that_was_left_does_not_last(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    catalog
        .add_job(&NewJob::harvest(repository, "oai_dc"))
        .await
        .unwrap();
    let quiet = catalog.quiet(repository, "", Duration::ZERO, None).await;
    let quiet = quiet.unwrap();
    tokio::time::sleep(Duration::from_millis(1_100)).await;

    assert!(claimed(&catalog).await.is_some());

    let job = catalog.job(quiet.job).await.unwrap().unwrap();
    // Nobody renewed it, so it is over; that is no failure.
    assert_eq!((job.kind, job.state), (JobKind::Quiet, JobState::Finished));
    let lost = catalog.end_job(&quiet, &JobEnd::Finished, &[]).await;
    assert!(matches!(lost, Err(Error::JobLost { .. })));
}

async fn a_finish_after_the_job_was_lost_changes_nothing(place: Place) {
    let (catalog, repository, first, run) = left(&place, 5).await;
    let second = claimed(&catalog).await.unwrap();
    let hook = NewJob::hook(Some(repository), "{}");
    let mut finish = ok();
    finish.job = Some(JobEnd::Finished);
    finish.next_from = Some("2026-01-01".to_owned());
    finish.follow_ups = vec![hook];
    let id = run.id();

    let lost = catalog.finish(run, &finish).await;

    assert!(matches!(lost, Err(Error::LeaseLost { .. })));
    let entry = catalog.history_entry(id).await.unwrap().unwrap();
    assert_eq!((entry.state, entry.next_from), (State::Failed, None));
    let job = catalog.job(first.job.id).await.unwrap().unwrap();
    assert_eq!(job.state, JobState::Running);
    let hooks = ClaimOptions {
        kinds: &[JobKind::Hook],
        ..options()
    };
    assert!(claimed_with(&catalog, hooks).await.is_none());
    let state = catalog
        .end_job(&second.lease(), &JobEnd::Finished, &[])
        .await;
    assert_eq!(state.unwrap(), JobState::Finished);
}

async fn a_job_left_by_its_worker_does_not_keep_a_command_away(place: Place) {
    let (catalog, repository, first, run) = left(&place, 5).await;

    let resume = NewRun {
        resume: Some(run.id()),
        ..NewRun::new(repository, "oai_dc")
    };
    let command = catalog.begin(&resume).await.unwrap();

    // The job waits until the command is done.
    let job = catalog.job(first.job.id).await.unwrap().unwrap();
    assert_eq!(job.state, JobState::Scheduled);
    assert!(claimed(&catalog).await.is_none());
    let entry = catalog.finish(command, &ok()).await.unwrap();
    assert_eq!((entry.id, entry.job), (run.id(), None));
    assert!(claimed(&catalog).await.is_some());
}

async fn a_job_that_ends_without_its_harvest_ends_that_too(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    catalog
        .add_job(&NewJob::harvest(repository, "oai_dc"))
        .await
        .unwrap();
    let claim = claimed(&catalog).await.unwrap();
    let run = catalog.begin(&of_job(repository, &claim)).await.unwrap();
    // Of the same job, a second run takes the place of the first.
    let again = catalog.begin(&of_job(repository, &claim)).await.unwrap();
    assert!(catalog.renew(&run).await.is_err());

    catalog
        .end_job(&claim.lease(), &JobEnd::GivenBack, &[])
        .await
        .unwrap();

    assert!(catalog.renew(&again).await.is_err());
    let entry = catalog.history_entry(again.id()).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Failed);
}
