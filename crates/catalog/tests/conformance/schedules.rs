//! Schedules: planned by managers, changed by people, and what becomes of their jobs.

use catalog::{
    Cancelled, Catalog, Error, JobEnd, JobQuery, JobState, Schedule, ScheduleQuery,
    ScheduleSettings, ScheduleState, Scheduled,
};

use crate::place::{Place, add, claimed};

crate::on_both_databases!(
    a_new_schedule_is_planned_and_its_next_job_only_when_that_is_over,
    when_the_last_job_was_over_is_told,
    two_managers_at_once_make_one_job,
    a_manager_that_was_slow_does_not_repeat_a_run,
    who_saw_an_older_version_changes_nothing,
    a_change_withdraws_the_waiting_job_and_lets_a_running_one_go_on,
    a_running_job_of_a_changed_schedule_is_not_tried_again_but_taken_over,
    a_paused_schedule_has_no_job_until_it_is_resumed,
    a_removed_schedule_takes_its_waiting_job_with_it,
    what_runs_once_has_ended_when_its_job_is_over,
    a_withdrawn_run_is_skipped,
    run_now_makes_the_waiting_job_due_and_works_for_paused_ones,
    a_clock_that_jumped_back_lets_waiting_jobs_be_planned_anew,
    schedules_are_found_by_repository_state_and_text,
);

pub(crate) fn settings(repository: i64) -> ScheduleSettings {
    ScheduleSettings {
        what: Scheduled::Harvest {
            repository,
            metadata_prefix: "oai_dc".to_owned(),
            set: Some("a".to_owned()),
        },
        name: "nightly".to_owned(),
        parameters: r#"{"filter": 1}"#.to_owned(),
        frequency: "every 1 day".to_owned(),
        starts: Some(1_000),
        ends: None,
    }
}

/// A schedule with a job that is due now.
pub(crate) async fn due(catalog: &Catalog, repository: i64, state: ScheduleState) -> Schedule {
    let schedule = catalog.add_schedule(&settings(repository), false).await;
    let schedule = schedule.unwrap();
    let now = catalog.now().await.unwrap();
    let job = catalog.plan(&schedule, Some(now), state, 3).await.unwrap();
    assert!(job.is_some());
    seen(catalog, &schedule).await
}

async fn seen(catalog: &Catalog, schedule: &Schedule) -> Schedule {
    catalog.schedule(schedule.id).await.unwrap().unwrap()
}

async fn to_plan(catalog: &Catalog) -> Vec<i64> {
    let (_, schedules) = catalog.to_plan(10).await.unwrap();
    schedules.into_iter().map(|schedule| schedule.id).collect()
}

async fn a_new_schedule_is_planned_and_its_next_job_only_when_that_is_over(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = catalog
        .add_schedule(&settings(repository), false)
        .await
        .unwrap();
    assert_eq!((new.state, new.version), (ScheduleState::New, 1));
    let (now, schedules) = catalog.to_plan(10).await.unwrap();
    assert_eq!(schedules, std::slice::from_ref(&new));

    let job = catalog
        .plan(&new, Some(now), ScheduleState::Recurring, 3)
        .await
        .unwrap()
        .unwrap();

    let planned = seen(&catalog, &new).await;
    assert_eq!(planned.state, ScheduleState::Recurring);
    assert_eq!((planned.job, planned.next_run), (Some(job.id), Some(now)));
    assert_eq!(
        (job.schedule, job.repository),
        (Some(new.id), Some(repository))
    );
    assert_eq!(job.parameters, r#"{"filter": 1}"#);
    assert_eq!((job.set.as_deref(), job.max_attempts), (Some("a"), 3));
    assert!(to_plan(&catalog).await.is_empty());
    let claim = claimed(&catalog).await.unwrap();
    let running = seen(&catalog, &new).await;
    assert_eq!((running.job, running.next_run), (Some(job.id), None));
    assert!(running.last_run.is_some_and(|time| time >= now));
    assert!(to_plan(&catalog).await.is_empty());
    catalog
        .end_job(&claim.lease(), &JobEnd::Finished, &[])
        .await
        .unwrap();
    assert_eq!(to_plan(&catalog).await, [new.id]);
}

async fn when_the_last_job_was_over_is_told(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let schedule = due(&catalog, repository, ScheduleState::Recurring).await;
    let last_end = async || catalog.last_end(schedule.id).await.unwrap();
    assert_eq!(last_end().await, None);
    let claim = claimed(&catalog).await.unwrap();
    assert_eq!(last_end().await, None);

    catalog
        .end_job(&claim.lease(), &JobEnd::Finished, &[])
        .await
        .unwrap();

    let job = catalog.job(claim.job.id).await.unwrap().unwrap();
    assert!(job.finished.is_some());
    assert_eq!(last_end().await, job.finished);
    assert_eq!(catalog.last_end(schedule.id + 1).await.unwrap(), None);
}

async fn two_managers_at_once_make_one_job(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let other = place.open().await;
    let new = catalog
        .add_schedule(&settings(repository), false)
        .await
        .unwrap();

    let plan = |catalog: Catalog| {
        let new = new.clone();
        async move {
            let state = ScheduleState::Recurring;
            catalog.plan(&new, Some(5), state, 1).await.unwrap()
        }
    };
    let (a, b) = tokio::join!(plan(catalog.clone()), plan(other));

    assert_eq!(u8::from(a.is_some()) + u8::from(b.is_some()), 1);
    assert_eq!(catalog.jobs(&JobQuery::default()).await.unwrap().len(), 1);
}

async fn a_manager_that_was_slow_does_not_repeat_a_run(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let schedule = due(&catalog, repository, ScheduleState::Recurring).await;
    let before = Schedule {
        job: None,
        next_run: None,
        ..schedule.clone()
    };
    let claim = claimed(&catalog).await.unwrap();
    catalog
        .end_job(&claim.lease(), &JobEnd::Finished, &[])
        .await
        .unwrap();

    let slow = catalog
        .plan(&before, Some(5), ScheduleState::Recurring, 1)
        .await
        .unwrap();

    assert_eq!(slow, None);
}

async fn who_saw_an_older_version_changes_nothing(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = catalog
        .add_schedule(&settings(repository), false)
        .await
        .unwrap();
    let mut mine = settings(repository);
    mine.name = "mine".to_owned();
    let changed = catalog.change_schedule(new.id, 1, &mine).await.unwrap();
    assert_eq!((changed.version, changed.settings), (2, mine));

    let stale = catalog
        .change_schedule(new.id, 1, &settings(repository))
        .await;
    let stale_plan = catalog
        .plan(&new, Some(5), ScheduleState::Recurring, 1)
        .await
        .unwrap();

    let error = stale.unwrap_err();
    assert!(matches!(error, Error::Changed { .. }), "{error}");
    assert_eq!(stale_plan, None);
    assert_eq!(seen(&catalog, &new).await.settings.name, "mine");
    let gone = catalog
        .change_schedule(new.id + 1, 1, &settings(repository))
        .await;
    assert!(matches!(gone, Err(Error::UnknownSchedule { .. })));
    let nowhere = catalog
        .change_schedule(new.id, 2, &settings(repository + 1))
        .await;
    assert!(matches!(nowhere, Err(Error::UnknownRepository { .. })));
    let nowhere = catalog.add_schedule(&settings(repository + 1), false).await;
    assert!(matches!(nowhere, Err(Error::UnknownRepository { .. })));
}

async fn a_change_withdraws_the_waiting_job_and_lets_a_running_one_go_on(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let first = due(&catalog, repository, ScheduleState::Recurring).await;
    let changed = catalog
        .change_schedule(first.id, 1, &settings(repository))
        .await
        .unwrap();
    assert_eq!((changed.state, changed.job), (ScheduleState::New, None));
    assert!(claimed(&catalog).await.is_none());

    let now = catalog.now().await.unwrap();
    catalog
        .plan(&changed, Some(now), ScheduleState::Once, 1)
        .await
        .unwrap();
    let claim = claimed(&catalog).await.unwrap();
    let changed = catalog
        .change_schedule(first.id, 2, &settings(repository))
        .await
        .unwrap();
    assert_eq!(changed.state, ScheduleState::New);
    assert_eq!(changed.job, Some(claim.job.id));
    // It has a job until that is over, and is planned anew then.
    assert!(to_plan(&catalog).await.is_empty());
    catalog
        .end_job(&claim.lease(), &JobEnd::Finished, &[])
        .await
        .unwrap();
    assert_eq!(to_plan(&catalog).await, [first.id]);
}

async fn a_running_job_of_a_changed_schedule_is_not_tried_again_but_taken_over(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let failed = JobEnd::Failed {
        reason: "503".to_owned(),
        retry_in: Some(std::time::Duration::ZERO),
    };
    for what in ["change", "pause", "remove"] {
        let schedule = due(&catalog, repository, ScheduleState::Recurring).await;
        let id = schedule.id;
        let left = claimed(&catalog).await.unwrap();
        match what {
            "change" => {
                let new = settings(repository);
                let changed = catalog.change_schedule(id, schedule.version, &new);
                changed.await.map(drop).unwrap();
            }
            "pause" => catalog.pause_schedule(id).await.map(drop).unwrap(),
            _ => assert!(catalog.remove_schedule(id).await.unwrap()),
        }
        place.sql("UPDATE job SET lease_until = 1 WHERE state = 'running'");

        let claim = claimed(&catalog).await.unwrap();
        assert!(claim.taken_over.is_some(), "{what}");
        assert_eq!((claim.job.id, claim.job.attempt), (left.job.id, 2));
        assert_eq!(claim.job.max_attempts, 3);
        let state = catalog.end_job(&claim.lease(), &failed, &[]).await;

        assert_eq!(state.unwrap(), JobState::Failed, "{what}");
        // A retry by a person has all attempts.
        let again = catalog.retry_job(claim.job.id).await.unwrap();
        assert_eq!((again.attempt, again.max_attempts), (0, 3));
        let claim = claimed(&catalog).await.unwrap();
        let state = catalog.end_job(&claim.lease(), &failed, &[]).await;
        assert_eq!(state.unwrap(), JobState::Scheduled, "{what}");
        catalog.cancel_job(claim.job.id).await.unwrap();
        catalog.remove_schedule(id).await.unwrap();
    }
}

async fn a_paused_schedule_has_no_job_until_it_is_resumed(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let schedule = due(&catalog, repository, ScheduleState::Recurring).await;

    let paused = catalog.pause_schedule(schedule.id).await.unwrap();
    assert_eq!((paused.state, paused.job), (ScheduleState::Paused, None));
    assert!(claimed(&catalog).await.is_none());
    assert!(to_plan(&catalog).await.is_empty());
    let changed = catalog
        .change_schedule(schedule.id, 1, &settings(repository))
        .await
        .unwrap();
    assert_eq!(changed.state, ScheduleState::Paused);

    let resumed = catalog.resume_schedule(schedule.id).await.unwrap();
    assert_eq!(resumed.state, ScheduleState::New);
    assert_eq!(to_plan(&catalog).await, [schedule.id]);
    let from_the_start = catalog
        .add_schedule(&settings(repository), true)
        .await
        .unwrap();
    assert_eq!(from_the_start.state, ScheduleState::Paused);
    let unknown = catalog.pause_schedule(999).await;
    assert!(matches!(unknown, Err(Error::UnknownSchedule { id: 999 })));
}

async fn a_removed_schedule_takes_its_waiting_job_with_it(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let waiting = due(&catalog, repository, ScheduleState::Recurring).await;
    assert!(catalog.remove_schedule(waiting.id).await.unwrap());
    assert!(!catalog.remove_schedule(waiting.id).await.unwrap());
    assert!(claimed(&catalog).await.is_none());

    let running = due(&catalog, repository, ScheduleState::Recurring).await;
    let claim = claimed(&catalog).await.unwrap();
    assert!(catalog.remove_schedule(running.id).await.unwrap());

    let state = catalog
        .end_job(&claim.lease(), &JobEnd::Finished, &[])
        .await;
    assert_eq!(state.unwrap(), JobState::Finished);
    let job = catalog.job(claim.job.id).await.unwrap().unwrap();
    assert_eq!(job.schedule, None);
}

async fn what_runs_once_has_ended_when_its_job_is_over(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let schedule = due(&catalog, repository, ScheduleState::Once).await;
    let claim = claimed(&catalog).await.unwrap();
    let again = JobEnd::Failed {
        reason: "503".to_owned(),
        retry_in: Some(std::time::Duration::ZERO),
    };
    catalog.end_job(&claim.lease(), &again, &[]).await.unwrap();
    assert_eq!(seen(&catalog, &schedule).await.state, ScheduleState::Once);
    let claim = claimed(&catalog).await.unwrap();
    catalog
        .end_job(&claim.lease(), &JobEnd::Finished, &[])
        .await
        .unwrap();

    assert_eq!(seen(&catalog, &schedule).await.state, ScheduleState::Ended);
    assert!(to_plan(&catalog).await.is_empty());
    let paused = catalog.pause_schedule(schedule.id).await.unwrap();
    assert_eq!(paused.state, ScheduleState::Ended);
    let changed = catalog
        .change_schedule(schedule.id, 1, &settings(repository))
        .await
        .unwrap();
    assert_eq!(changed.state, ScheduleState::New);
}

async fn a_withdrawn_run_is_skipped(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = catalog
        .add_schedule(&settings(repository), false)
        .await
        .unwrap();
    let now = catalog.now().await.unwrap();
    let later = now + 1_000;
    let job = catalog
        .plan(&new, Some(later), ScheduleState::Recurring, 1)
        .await
        .unwrap()
        .unwrap();

    let cancelled = catalog.cancel_job(job.id).await.unwrap();

    assert_eq!(cancelled, Cancelled::Withdrawn);
    let schedule = seen(&catalog, &new).await;
    assert_eq!(
        (schedule.state, schedule.job),
        (ScheduleState::Recurring, None)
    );
    assert_eq!(schedule.plan_after(now), later);
    assert_eq!(schedule.plan_after(later + 1), later + 1);
    let (_, planned) = catalog.to_plan(10).await.unwrap();
    let next = catalog
        .plan(
            &planned[0],
            Some(later + 1_000),
            ScheduleState::Recurring,
            1,
        )
        .await
        .unwrap();
    assert!(next.is_some());

    let once = due(&catalog, repository, ScheduleState::Once).await;
    catalog.cancel_job(once.job.unwrap()).await.unwrap();
    assert_eq!(seen(&catalog, &once).await.state, ScheduleState::Ended);
}

async fn run_now_makes_the_waiting_job_due_and_works_for_paused_ones(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = catalog
        .add_schedule(&settings(repository), false)
        .await
        .unwrap();
    let now = catalog.now().await.unwrap();
    let job = catalog
        .plan(&new, Some(now + 9_999), ScheduleState::Recurring, 1)
        .await
        .unwrap()
        .unwrap();
    assert!(claimed(&catalog).await.is_none());

    let hurried = catalog.run_schedule_now(new.id, 7, Some("ada")).await;
    let hurried = hurried.unwrap();
    assert_eq!(hurried.id, job.id);
    assert_eq!(hurried.created_by.as_deref(), Some("ada"));
    let claim = claimed(&catalog).await.unwrap();
    assert_eq!(claim.job.id, job.id);
    let running = catalog.run_schedule_now(new.id, 7, None).await.unwrap();
    assert_eq!((running.id, running.state), (job.id, JobState::Running));
    catalog
        .end_job(&claim.lease(), &JobEnd::Finished, &[])
        .await
        .unwrap();

    catalog.pause_schedule(new.id).await.unwrap();
    let made = catalog.run_schedule_now(new.id, 7, None).await.unwrap();
    assert_ne!(made.id, job.id);
    assert_eq!(made.max_attempts, 7);
    let claim = claimed(&catalog).await.unwrap();
    assert_eq!(claim.job.id, made.id);
    catalog
        .end_job(&claim.lease(), &JobEnd::Finished, &[])
        .await
        .unwrap();
    assert_eq!(seen(&catalog, &new).await.state, ScheduleState::Paused);
}

async fn a_clock_that_jumped_back_lets_waiting_jobs_be_planned_anew(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = catalog
        .add_schedule(&settings(repository), false)
        .await
        .unwrap();
    let now = catalog.now().await.unwrap();
    let year = 365 * 86_400;
    catalog
        .plan(&new, Some(now + year), ScheduleState::Recurring, 2)
        .await
        .unwrap();

    assert!(catalog.replan(&new, now).await.unwrap());
    assert!(!catalog.replan(&new, now).await.unwrap());

    // One that waits to be tried again does so for a reason.
    let claim = claimed(&catalog).await.unwrap();
    let again = JobEnd::Failed {
        reason: "503".to_owned(),
        retry_in: Some(std::time::Duration::from_secs(600)),
    };
    catalog.end_job(&claim.lease(), &again, &[]).await.unwrap();
    assert!(!catalog.replan(&new, now).await.unwrap());
}

async fn schedules_are_found_by_repository_state_and_text(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let other = add(&catalog, "http://b.example/oai").await;
    let mut named = settings(other);
    named.name = "ÜBERSICHT 100%".to_owned();
    let first = catalog
        .add_schedule(&settings(repository), false)
        .await
        .unwrap();
    let second = catalog.add_schedule(&named, true).await.unwrap();

    let ids = async |query: ScheduleQuery| -> Vec<i64> {
        let schedules = catalog.schedules(&query).await.unwrap();
        schedules.into_iter().map(|schedule| schedule.id).collect()
    };
    let text = |text: &str| ScheduleQuery {
        text: Some(text.to_owned()),
        ..ScheduleQuery::default()
    };

    assert_eq!(ids(ScheduleQuery::default()).await, [first.id, second.id]);
    let of_repository = ScheduleQuery {
        repository: Some(other),
        ..ScheduleQuery::default()
    };
    assert_eq!(ids(of_repository).await, [second.id]);
    let new = ScheduleQuery {
        state: Some(ScheduleState::New),
        ..ScheduleQuery::default()
    };
    assert_eq!(ids(new).await, [first.id]);
    assert_eq!(ids(text("übersicht")).await, [second.id]);
    assert_eq!(ids(text("100%")).await, [second.id]);
    assert_eq!(ids(text("A.EXAMPLE")).await, [first.id]);
    assert_eq!(ids(text("%")).await, [second.id]);
}
