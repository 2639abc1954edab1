//! A clock that jumps: what was written while it was ahead does not last until it is right again.

use std::time::Duration;

use catalog::{Answer, Beat, JobEnd, JobProgress, NewJob, ScheduleState};

use crate::place::{Place, add, claimed};
use crate::schedules::due;

crate::on_both_databases!(
    a_lease_that_was_given_while_the_clock_was_ahead_is_taken_over,
    a_beat_brings_a_lease_back_to_its_length,
    jobs_that_wait_for_a_wrong_time_are_brought_forward,
    what_is_to_run_once_is_brought_forward_too,
);

const DAYS: i64 = 10 * 86_400;

async fn a_lease_that_was_given_while_the_clock_was_ahead_is_taken_over(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = NewJob {
        max_attempts: 2,
        ..NewJob::harvest(repository, "oai_dc")
    };
    catalog.add_job(&new).await.unwrap();
    claimed(&catalog).await.unwrap();
    assert!(claimed(&catalog).await.is_none());

    place.sql(&format!(
        "UPDATE job SET lease_until = lease_until + {DAYS}"
    ));

    assert!(claimed(&catalog).await.unwrap().taken_over.is_some());
}

async fn a_beat_brings_a_lease_back_to_its_length(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = NewJob::harvest(repository, "oai_dc");
    catalog.add_job(&new).await.unwrap();
    let claim = claimed(&catalog).await.unwrap();
    place.sql(&format!(
        "UPDATE job SET lease_until = lease_until + {DAYS}"
    ));

    let beat = Beat {
        lease: claim.lease(),
        progress: JobProgress::default(),
    };
    let heard = catalog.beat(&[beat], Duration::from_secs(60)).await;

    assert_eq!(heard.unwrap()[0].answer, Answer::GoOn);
    assert!(claimed(&catalog).await.is_none());
    let job = catalog.job(claim.job.id).await.unwrap().unwrap();
    assert_eq!(job.attempt, 1);
}

async fn jobs_that_wait_for_a_wrong_time_are_brought_forward(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let other = add(&catalog, "http://b.example/oai").await;
    let again = JobEnd::Failed {
        reason: "503".to_owned(),
        retry_in: Some(Duration::from_secs(60)),
    };
    let schedule = due(&catalog, repository, ScheduleState::Recurring).await;
    let claim = claimed(&catalog).await.unwrap();
    catalog.end_job(&claim.lease(), &again, &[]).await.unwrap();
    catalog
        .add_job(&NewJob::harvest(other, "oai_dc"))
        .await
        .unwrap();
    let now = catalog.now().await.unwrap();
    let later = NewJob {
        run_at: Some(now + 500),
        ..NewJob::harvest(other, "oai_dc")
    };
    let later = catalog.add_job(&later).await.unwrap();

    place.sql(&format!(
        "UPDATE job SET created = created + {DAYS}, started = started + {DAYS}, run_at = run_at + {DAYS}"
    ));

    assert!(claimed(&catalog).await.is_none());
    assert_eq!(catalog.replan_others().await.unwrap(), 1);
    assert_eq!(catalog.replan_others().await.unwrap(), 0);
    assert!(catalog.replan(&schedule, now).await.unwrap());
    assert!(claimed(&catalog).await.is_some());
    assert!(claimed(&catalog).await.is_some());
    // Somebody chose this time.
    let later = catalog.job(later.id).await.unwrap().unwrap();
    assert_eq!(later.run_at, now + 500 + DAYS);
}

async fn what_is_to_run_once_is_brought_forward_too(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let at_once = due(&catalog, repository, ScheduleState::Once).await;
    let other = add(&catalog, "http://b.example/oai").await;
    let later = due(&catalog, other, ScheduleState::Once).await;
    let later = later.job.unwrap();
    place.sql(&format!(
        "UPDATE job SET created = created + {DAYS}, run_at = run_at + {DAYS};
         UPDATE job SET run_at = run_at + 500 WHERE id = {later}"
    ));

    assert_eq!(catalog.replan_others().await.unwrap(), 1);

    assert_eq!(
        claimed(&catalog).await.unwrap().job.schedule,
        Some(at_once.id)
    );
    // Somebody chose this time.
    assert!(claimed(&catalog).await.is_none());
}
