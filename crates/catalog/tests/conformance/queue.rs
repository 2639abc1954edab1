//! Jobs: claimed one by one, kept, cancelled, tried again, ended.

use std::time::Duration;

use catalog::{
    Answer, Beat, Cancelled, Catalog, Claim, ClaimOptions, Error, JobEnd, JobKind, JobProgress,
    JobQuery, JobState, LogLevel, NewJob, NewRun,
};

use crate::place::{Place, add, claimed, claimed_with, options};
use crate::runs::ok;

crate::on_both_databases!(
    what_is_due_is_claimed_by_priority_and_then_by_time,
    a_job_is_run_by_a_worker_with_the_tags_that_it_needs,
    a_repository_is_harvested_by_one_job_at_a_time,
    too_many_harvests_at_one_host_wait,
    a_repository_that_a_command_harvests_is_passed_over,
    a_job_keeps_a_command_away,
    a_quiet_repository_is_not_harvested,
    a_quiet_of_somebody_outlives_the_process_and_ends_when_it_is_cancelled,
    a_failed_job_is_tried_again_until_its_attempts_are_used_up,
    a_job_that_is_given_back_keeps_its_attempts,
    a_waiting_job_is_withdrawn_and_a_running_one_asked_to_stop,
    a_job_that_was_asked_to_stop_is_not_tried_again,
    a_job_is_put_into_the_queue_again_by_hand,
    a_retried_job_takes_the_place_of_the_next_one,
    progress_is_told_and_written_only_where_it_changed,
    what_follows_is_queued_when_the_job_is_over,
    jobs_are_listed_running_first_then_by_time_then_the_newest,
    old_jobs_are_removed_with_their_logs,
    many_old_jobs_are_removed_at_once,
    a_log_is_read_line_by_line,
    a_repository_is_not_removed_while_a_job_runs,
    hostile_texts_are_taken_by_the_queue,
    a_hook_ends_while_a_page_of_its_repository_is_written,
);

fn harvest(repository: i64) -> NewJob {
    NewJob::harvest(repository, "oai_dc")
}

fn failed(seconds: Option<u64>) -> JobEnd {
    JobEnd::Failed {
        reason: "503 for an hour".to_owned(),
        retry_in: seconds.map(Duration::from_secs),
    }
}

async fn end(catalog: &Catalog, claim: &Claim, end: JobEnd) -> JobState {
    catalog.end_job(&claim.lease(), &end, &[]).await.unwrap()
}

async fn beat(catalog: &Catalog, claim: &Claim) -> Answer {
    let beat = Beat {
        lease: claim.lease(),
        progress: JobProgress::default(),
    };
    let heard = catalog.beat(&[beat], Duration::from_secs(60)).await;
    heard.unwrap()[0].answer
}

async fn what_is_due_is_claimed_by_priority_and_then_by_time(place: Place) {
    let catalog = place.open().await;
    let now = catalog.now().await.unwrap();
    let mut jobs = Vec::new();
    for (number, (run_at, priority)) in [
        (Some(now - 10), 0),
        (Some(now - 20), 0),
        (None, 1),
        (Some(now + 1_000), 9),
    ]
    .into_iter()
    .enumerate()
    {
        let repository = add(&catalog, &format!("http://{number}.example/oai")).await;
        let new = NewJob {
            run_at,
            priority,
            ..harvest(repository)
        };
        jobs.push(catalog.add_job(&new).await.unwrap().id);
    }
    assert_eq!(catalog.next_due().await.unwrap(), Some(now - 20));

    let mut order = Vec::new();
    while let Some(claim) = claimed(&catalog).await {
        assert_eq!((claim.job.state, claim.job.attempt), (JobState::Running, 1));
        assert_eq!(claim.taken_over, None);
        let process = format!("tester (process {} on ", std::process::id());
        assert!(claim.job.worker.unwrap().starts_with(&process));
        order.push(claim.job.id);
    }

    assert_eq!(order, [jobs[2], jobs[1], jobs[0]]);
    assert_eq!(catalog.next_due().await.unwrap(), Some(now + 1_000));
    let hooks = ClaimOptions {
        kinds: &[JobKind::Hook],
        ..options()
    };
    let hook = catalog.add_job(&NewJob::hook(None, "{}")).await.unwrap();
    assert_eq!(claimed(&catalog).await.map(|claim| claim.job.id), None);
    assert_eq!(claimed_with(&catalog, hooks).await.unwrap().job.id, hook.id);
    let unknown = catalog.add_job(&harvest(999)).await;
    assert!(matches!(unknown, Err(Error::UnknownRepository { id: 999 })));
}

/// Issue 25: workers took imports whose files they could not see.
async fn a_job_is_run_by_a_worker_with_the_tags_that_it_needs(place: Place) {
    let catalog = place.open().await;
    let needs = |tags: &str| NewJob::import(format!(r#"{{"paths":["/crawl"],"needs":[{tags}]}}"#));
    let both = catalog.add_job(&needs(r#""disk","gpu""#)).await.unwrap();
    let one = catalog.add_job(&needs(r#""disk""#)).await.unwrap();
    let none = catalog.add_job(&needs("")).await.unwrap();
    assert_eq!(both.needs, ["disk", "gpu"]);
    assert!(none.needs.is_empty());
    let claim = async |tags: &[&str]| {
        let tags: Vec<_> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let options = ClaimOptions {
            kinds: &[JobKind::Import],
            tags: &tags,
            ..options()
        };
        claimed_with(&catalog, options)
            .await
            .map(|claim| claim.job.id)
    };

    assert_eq!(claim(&[]).await, Some(none.id));
    assert_eq!(claim(&["gpu"]).await, None);
    assert_eq!(claim(&["disk", "other"]).await, Some(one.id));
    assert_eq!(claim(&["other", "gpu", "disk"]).await, Some(both.id));
}

async fn a_repository_is_harvested_by_one_job_at_a_time(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let first = catalog.add_job(&harvest(repository)).await.unwrap();
    let marc = NewJob::harvest(repository, "marc21");
    let second = catalog.add_job(&marc).await.unwrap();

    let claim = claimed(&catalog).await.unwrap();
    assert_eq!(claim.job.id, first.id);
    assert!(claimed(&catalog).await.is_none());
    end(&catalog, &claim, JobEnd::Finished).await;

    assert_eq!(claimed(&catalog).await.unwrap().job.id, second.id);
}

async fn too_many_harvests_at_one_host_wait(place: Place) {
    let catalog = place.open().await;
    for path in ["a", "b", "c"] {
        let repository = add(&catalog, &format!("http://a.example/{path}")).await;
        catalog.add_job(&harvest(repository)).await.unwrap();
    }
    let elsewhere = add(&catalog, "https://a.example/oai").await;
    let elsewhere = catalog.add_job(&harvest(elsewhere)).await.unwrap();
    catalog.set_per_host(2).await.unwrap();

    let first = claimed(&catalog).await.unwrap();
    claimed(&catalog).await.unwrap();
    let third = claimed(&catalog).await.unwrap();

    assert_eq!(third.job.id, elsewhere.id);
    assert!(claimed(&catalog).await.is_none());
    end(&catalog, &first, JobEnd::Finished).await;
    let last = claimed(&catalog).await.unwrap();
    assert_eq!(last.job.base_url.as_deref(), Some("http://a.example/c"));
}

async fn a_repository_that_a_command_harvests_is_passed_over(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    catalog.add_job(&harvest(repository)).await.unwrap();
    let run = catalog
        .begin(&NewRun::new(repository, "marc21"))
        .await
        .unwrap();

    assert!(claimed(&catalog).await.is_none());
    catalog.finish(run, &ok()).await.unwrap();

    assert!(claimed(&catalog).await.is_some());
}

async fn a_job_keeps_a_command_away(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    catalog.add_job(&harvest(repository)).await.unwrap();
    let claim = claimed(&catalog).await.unwrap();

    let command = NewRun::new(repository, "marc21");
    let refused = catalog.begin(&command).await.unwrap_err();
    let run = catalog
        .begin(&NewRun {
            job: Some(claim.lease()),
            ..NewRun::new(repository, "oai_dc")
        })
        .await
        .unwrap();
    let entry = catalog.history_entry(run.id()).await.unwrap().unwrap();

    let process = "`http://a.example/oai` is being harvested by tester (process ";
    assert!(refused.to_string().starts_with(process), "{refused}");
    assert_eq!(entry.job, Some(claim.job.id));
    assert!(entry.worker.starts_with("tester (process "));
    let job = catalog.job(claim.job.id).await.unwrap().unwrap();
    assert_eq!(job.harvest, Some(run.id()));
    // The harvest alone ends, and its job goes on.
    catalog.finish(run, &ok()).await.unwrap();
    let refused = catalog.begin(&command).await;
    assert!(matches!(refused, Err(Error::Busy { .. })));
}

async fn a_quiet_repository_is_not_harvested(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    catalog.add_job(&harvest(repository)).await.unwrap();
    let lease = Duration::from_secs(60);
    let quiet = catalog.quiet(repository, "index build", lease, None).await;
    let quiet = quiet.unwrap();

    assert!(claimed(&catalog).await.is_none());
    let command = catalog.begin(&NewRun::new(repository, "oai_dc")).await;
    let command = command.unwrap_err().to_string();
    assert!(
        command.contains("is kept quiet (index build) by process"),
        "{command}"
    );
    let twice = catalog.quiet(repository, "", lease, None).await;
    assert!(matches!(twice, Err(Error::Busy { .. })));
    let unknown = catalog.quiet(999, "", lease, None).await;
    assert!(matches!(unknown, Err(Error::UnknownRepository { .. })));

    let state = catalog.end_job(&quiet, &JobEnd::Finished, &[]).await;
    assert_eq!(state.unwrap(), JobState::Finished);
    assert!(claimed(&catalog).await.is_some());
    let harvested = catalog.quiet(repository, "", lease, None).await;
    assert!(matches!(harvested, Err(Error::Busy { .. })));
}

async fn a_quiet_of_somebody_outlives_the_process_and_ends_when_it_is_cancelled(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    catalog.add_job(&harvest(repository)).await.unwrap();
    let lease = Duration::from_secs(60);
    let quiet = catalog
        .quiet(repository, "", lease, Some("ann 1 1 x"))
        .await;
    let quiet = quiet.unwrap();

    let command = catalog.begin(&NewRun::new(repository, "oai_dc")).await;
    let command = command.unwrap_err().to_string();
    assert!(command.contains("is kept quiet by ann 1 1 x"), "{command}");
    let cancelled = catalog.cancel_job(quiet.job).await.unwrap();

    assert_eq!(cancelled, Cancelled::Withdrawn);
    let job = catalog.job(quiet.job).await.unwrap().unwrap();
    assert_eq!(job.state, JobState::Cancelled);
    assert_eq!(job.worker.as_deref(), Some("ann 1 1 x"));
    assert!(claimed(&catalog).await.is_some());
    let lost = catalog.end_job(&quiet, &JobEnd::Finished, &[]).await;
    assert!(matches!(lost, Err(Error::JobLost { .. })));
}

async fn a_failed_job_is_tried_again_until_its_attempts_are_used_up(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = NewJob {
        max_attempts: 3,
        ..harvest(repository)
    };
    let id = catalog.add_job(&new).await.unwrap().id;

    let claim = claimed(&catalog).await.unwrap();
    assert_eq!(
        end(&catalog, &claim, failed(Some(600))).await,
        JobState::Scheduled
    );
    let waiting = catalog.job(id).await.unwrap().unwrap();
    let now = catalog.now().await.unwrap();
    assert!((now + 590..=now + 600).contains(&waiting.run_at));
    assert_eq!(waiting.error.as_deref(), Some("503 for an hour"));
    assert_eq!((waiting.attempt, waiting.worker), (1, None));
    assert!(claimed(&catalog).await.is_none());

    catalog.cancel_job(id).await.unwrap();
    catalog.retry_job(id).await.unwrap();
    for attempt in 1..=3 {
        let claim = claimed(&catalog).await.unwrap();
        assert_eq!(claim.job.attempt, attempt);
        assert_eq!(claim.taken_over, None);
        let state = end(&catalog, &claim, failed(Some(0))).await;
        assert_eq!(state == JobState::Failed, attempt == 3);
    }
    let over = catalog.job(id).await.unwrap().unwrap();
    assert_eq!(over.state, JobState::Failed);
    assert_eq!(over.error.as_deref(), Some("503 for an hour"));
    assert!(over.finished.is_some());
    catalog.retry_job(id).await.unwrap();
    let claim = claimed(&catalog).await.unwrap();
    let final_failure = end(&catalog, &claim, failed(None)).await;
    assert_eq!(final_failure, JobState::Failed);
}

async fn a_job_that_is_given_back_keeps_its_attempts(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    catalog.add_job(&harvest(repository)).await.unwrap();

    for _ in 0..3 {
        let claim = claimed(&catalog).await.unwrap();
        assert_eq!(claim.job.attempt, 1);
        let state = end(&catalog, &claim, JobEnd::GivenBack).await;
        assert_eq!(state, JobState::Scheduled);
        let lost = catalog
            .end_job(&claim.lease(), &JobEnd::Finished, &[])
            .await;
        assert!(matches!(lost, Err(Error::JobLost { .. })));
    }
}

async fn a_waiting_job_is_withdrawn_and_a_running_one_asked_to_stop(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let waiting = catalog.add_job(&harvest(repository)).await.unwrap();
    let withdrawn = catalog.cancel_job(waiting.id).await.unwrap();
    assert_eq!(withdrawn, Cancelled::Withdrawn);
    assert!(claimed(&catalog).await.is_none());
    let again = catalog.cancel_job(waiting.id).await.unwrap();
    assert_eq!(again, Cancelled::Over(JobState::Cancelled));
    let unknown = catalog.cancel_job(waiting.id + 1).await.unwrap();
    assert_eq!(unknown, Cancelled::Unknown);

    catalog.add_job(&harvest(repository)).await.unwrap();
    let claim = claimed(&catalog).await.unwrap();
    assert_eq!(beat(&catalog, &claim).await, Answer::GoOn);
    let asked = catalog.cancel_job(claim.job.id).await.unwrap();

    assert_eq!(asked, Cancelled::Asked);
    assert_eq!(beat(&catalog, &claim).await, Answer::CancelRequested);
    let state = end(&catalog, &claim, JobEnd::Cancelled).await;
    assert_eq!(state, JobState::Cancelled);
    assert_eq!(beat(&catalog, &claim).await, Answer::LeaseLost);
}

async fn a_job_that_was_asked_to_stop_is_not_tried_again(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    for end_of_it in [failed(Some(0)), JobEnd::GivenBack] {
        let new = NewJob {
            max_attempts: 9,
            ..harvest(repository)
        };
        catalog.add_job(&new).await.unwrap();
        let claim = claimed(&catalog).await.unwrap();
        catalog.cancel_job(claim.job.id).await.unwrap();

        let state = end(&catalog, &claim, end_of_it).await;

        assert_eq!(state, JobState::Cancelled);
    }
}

async fn a_job_is_put_into_the_queue_again_by_hand(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let id = catalog.add_job(&harvest(repository)).await.unwrap().id;
    let refused = catalog.retry_job(id).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("job {id} is scheduled; only one that failed or was cancelled can be tried again")
    );
    let claim = claimed(&catalog).await.unwrap();
    assert!(catalog.retry_job(id).await.is_err());
    catalog.cancel_job(id).await.unwrap();
    end(&catalog, &claim, JobEnd::Cancelled).await;

    let job = catalog.retry_job(id).await.unwrap();

    assert_eq!((job.state, job.attempt), (JobState::Scheduled, 0));
    assert!(!job.cancel_requested);
    let claim = claimed(&catalog).await.unwrap();
    assert_eq!(beat(&catalog, &claim).await, Answer::GoOn);
    end(&catalog, &claim, JobEnd::Finished).await;
    assert!(catalog.retry_job(id).await.is_err());
    let unknown = catalog.retry_job(999).await;
    assert!(matches!(unknown, Err(Error::UnknownJob { id: 999 })));
}

async fn a_retried_job_takes_the_place_of_the_next_one(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let state = catalog::ScheduleState::Recurring;
    let schedule = crate::schedules::due(&catalog, repository, state).await;
    let first = claimed(&catalog).await.unwrap();
    end(&catalog, &first, failed(None)).await;
    let (now, schedules) = catalog.to_plan(1).await.unwrap();
    let next = catalog.plan(&schedules[0], Some(now + 500), state, 1).await;
    let next = next.unwrap().unwrap();

    catalog.retry_job(first.job.id).await.unwrap();

    assert_eq!(catalog.job(next.id).await.unwrap(), None);
    let second = claimed(&catalog).await.unwrap();
    assert_eq!(second.job.id, first.job.id);
    end(&catalog, &second, failed(None)).await;
    let now_running = catalog
        .run_schedule_now(schedule.id, 1, None)
        .await
        .unwrap();
    assert_ne!(now_running.id, first.job.id);
    claimed(&catalog).await.unwrap();
    let refused = catalog.retry_job(first.job.id).await;
    assert!(matches!(refused, Err(Error::Busy { .. })));
}

async fn progress_is_told_and_written_only_where_it_changed(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let other = add(&catalog, "http://b.example/oai").await;
    let mut beats = Vec::new();
    for repository in [repository, other] {
        catalog.add_job(&harvest(repository)).await.unwrap();
        let claim = claimed(&catalog).await.unwrap();
        beats.push(Beat {
            lease: claim.lease(),
            progress: JobProgress {
                done: 5,
                total: Some(u64::MAX),
                note: Some("page \"1\"\0".to_owned()),
                activity: None,
            },
        });
    }
    let lease = Duration::from_secs(60);

    let heard = catalog.beat(&beats, lease).await.unwrap();

    assert!(heard.iter().all(|heard| heard.answer == Answer::GoOn));
    let job = catalog.job(beats[0].lease.job).await.unwrap().unwrap();
    assert_eq!(
        (job.progress.done, job.progress.total),
        (5, Some(i64::MAX as u64))
    );
    assert_eq!(job.progress.note.as_deref(), Some("page \"1\"\u{fffd}"));
    beats[1].lease.token += 1;
    beats[1].progress.done = 6;
    let heard = catalog.beat(&beats, lease).await.unwrap();
    assert_eq!(heard[0].answer, Answer::GoOn);
    assert_eq!(heard[1].answer, Answer::LeaseLost);
    let job = catalog.job(beats[1].lease.job).await.unwrap().unwrap();
    assert_eq!(job.progress.done, 5);
    assert!(catalog.beat(&[], lease).await.unwrap().is_empty());
}

async fn what_follows_is_queued_when_the_job_is_over(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let new = NewJob {
        max_attempts: 2,
        ..harvest(repository)
    };
    catalog.add_job(&new).await.unwrap();
    let follow_ups = [NewJob::hook(Some(repository), "{}")];
    let hooks = JobQuery {
        kinds: vec![JobKind::Hook],
        ..JobQuery::default()
    };

    let claim = claimed(&catalog).await.unwrap();
    catalog
        .end_job(&claim.lease(), &failed(Some(0)), &follow_ups)
        .await
        .unwrap();
    assert!(catalog.jobs(&hooks).await.unwrap().is_empty());
    let claim = claimed(&catalog).await.unwrap();
    let run = catalog
        .begin(&NewRun {
            job: Some(claim.lease()),
            ..NewRun::new(repository, "oai_dc")
        })
        .await
        .unwrap();
    let mut finish = ok();
    finish.job = Some(JobEnd::Finished);
    finish.follow_ups = follow_ups.into();
    catalog.finish(run, &finish).await.unwrap();

    assert_eq!(catalog.jobs(&hooks).await.unwrap().len(), 1);
    let job = catalog.job(claim.job.id).await.unwrap().unwrap();
    assert_eq!(job.state, JobState::Finished);
    assert_eq!(job.error, None);
    // A hook does not keep the repository.
    let all = ClaimOptions {
        kinds: &JobKind::ALL,
        ..options()
    };
    claimed_with(&catalog, all).await.unwrap();
    catalog.add_job(&harvest(repository)).await.unwrap();
    assert!(claimed_with(&catalog, all).await.is_some());
}

async fn jobs_are_listed_running_first_then_by_time_then_the_newest(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let other = add(&catalog, "http://b.example/oai").await;
    let mut over = Vec::new();
    for _ in 0..3 {
        let id = catalog.add_job(&harvest(repository)).await.unwrap().id;
        let claim = claimed(&catalog).await.unwrap();
        let how = match over.len() {
            1 => failed(None),
            _ => JobEnd::Finished,
        };
        end(&catalog, &claim, how).await;
        over.push(id);
    }
    let now = catalog.now().await.unwrap();
    let later = NewJob {
        run_at: Some(now + 100),
        ..harvest(repository)
    };
    let later = catalog.add_job(&later).await.unwrap().id;
    let running = catalog.add_job(&harvest(other)).await.unwrap().id;
    claimed(&catalog).await.unwrap();
    let sooner = NewJob {
        run_at: Some(now + 50),
        ..harvest(other)
    };
    let sooner = catalog.add_job(&sooner).await.unwrap().id;

    let ids = async |query: JobQuery| -> Vec<i64> {
        let jobs = catalog.jobs(&query).await.unwrap();
        jobs.into_iter().map(|job| job.id).collect()
    };

    let all = [running, sooner, later, over[2], over[1], over[0]];
    assert_eq!(ids(JobQuery::default()).await, all);
    let first_page = JobQuery {
        limit: 4,
        ..JobQuery::default()
    };
    assert_eq!(ids(first_page).await, all[..4]);
    let over_only = JobQuery {
        states: vec![JobState::Finished, JobState::Failed],
        before: Some(over[2]),
        ..JobQuery::default()
    };
    assert_eq!(ids(over_only).await, [over[1], over[0]]);
    let of_one = JobQuery {
        repository: Some(other),
        ..JobQuery::default()
    };
    assert_eq!(ids(of_one).await, [running, sooner]);
    let of_schedule = JobQuery {
        schedule: Some(1),
        ..JobQuery::default()
    };
    assert!(ids(of_schedule).await.is_empty());
}

async fn old_jobs_are_removed_with_their_logs(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let old = catalog.add_job(&harvest(repository)).await.unwrap().id;
    let claim = claimed(&catalog).await.unwrap();
    catalog.log_job(old, LogLevel::Info, "a").await.unwrap();
    end(&catalog, &claim, JobEnd::Finished).await;
    let waiting = catalog.add_job(&harvest(repository)).await.unwrap().id;

    assert_eq!(catalog.remove_jobs(3_600).await.unwrap(), 0);
    assert_eq!(catalog.remove_jobs(-1).await.unwrap(), 1);

    assert_eq!(catalog.job(old).await.unwrap(), None);
    assert!(catalog.job_log(old, 0, 9).await.unwrap().is_empty());
    assert!(catalog.job(waiting).await.unwrap().is_some());
    catalog.log_job(old, LogLevel::Info, "late").await.unwrap();
}

async fn many_old_jobs_are_removed_at_once(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let waiting = catalog.add_job(&harvest(repository)).await.unwrap().id;
    place.sql(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1203)
         INSERT INTO job (kind, state, run_at, created, finished) SELECT 'hook', 'finished', 1, 1, n FROM number",
    );

    assert_eq!(catalog.remove_jobs(3_600).await.unwrap(), 1_203);

    let left = catalog.jobs(&JobQuery::default()).await.unwrap();
    assert_eq!(left.iter().map(|job| job.id).collect::<Vec<_>>(), [waiting]);
}

async fn a_log_is_read_line_by_line(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let id = catalog.add_job(&harvest(repository)).await.unwrap().id;
    let lines = [
        (LogLevel::Info, "begun".to_owned()),
        (LogLevel::Warning, "odd \0".to_owned()),
        (LogLevel::Error, "ü".repeat(5_000)),
    ];
    for (level, line) in &lines {
        catalog.log_job(id, *level, line).await.unwrap();
    }

    let first = catalog.job_log(id, 0, 2).await.unwrap();
    let rest = catalog.job_log(id, first[1].id, 9).await.unwrap();
    let end = catalog.job_log_end(id, LogLevel::Info, 2).await.unwrap();
    let all = catalog.job_log(id, 0, 99).await.unwrap();
    assert_eq!(end, all[all.len() - 2..]);

    assert_eq!((first.len(), rest.len()), (2, 1));
    assert_eq!(first[0].message, "begun");
    assert_eq!(first[1].message, "odd \u{fffd}");
    assert_eq!(rest[0].level, LogLevel::Error);
    assert_eq!(rest[0].message, "ü".repeat(2_000));
}

async fn a_repository_is_not_removed_while_a_job_runs(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    catalog.add_job(&harvest(repository)).await.unwrap();
    let claim = claimed(&catalog).await.unwrap();
    let waiting = catalog.add_job(&harvest(repository)).await.unwrap().id;

    let refused = catalog.remove_repository(repository).await;
    assert!(matches!(refused, Err(Error::Busy { .. })));
    end(&catalog, &claim, JobEnd::Finished).await;
    catalog.remove_repository(repository).await.unwrap();

    assert_eq!(catalog.job(waiting).await.unwrap(), None);
    assert!(claimed(&catalog).await.is_none());
}

async fn hostile_texts_are_taken_by_the_queue(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let odd = "'; DROP TABLE job; -- {now} $1 \0 ü".repeat(100);
    let clean = odd.replace('\0', "\u{fffd}");
    let new = NewJob {
        metadata_prefix: odd.clone(),
        set: Some(odd.clone()),
        parameters: odd.clone(),
        created_by: Some(odd.clone()),
        ..harvest(repository)
    };
    let job = catalog.add_job(&new).await.unwrap();
    assert_eq!(job.metadata_prefix, clean);
    let worker = ClaimOptions {
        worker: &odd,
        ..options()
    };
    let claim = claimed_with(&catalog, worker).await.unwrap();
    let run = NewRun {
        set: job.set,
        job: Some(claim.lease()),
        ..NewRun::new(repository, odd.clone())
    };
    catalog.begin(&run).await.unwrap();
    let hostile = JobEnd::Failed {
        reason: odd.clone(),
        retry_in: Some(Duration::MAX),
    };

    assert_eq!(end(&catalog, &claim, hostile).await, JobState::Failed);
    let job = catalog.job(job.id).await.unwrap().unwrap();
    assert_eq!(job.error, Some(clean));
}

async fn a_hook_ends_while_a_page_of_its_repository_is_written(place: Place) {
    if place.is_sqlite() {
        // It has one writer, whatever that writes.
        return;
    }
    let (catalog, repository) = place.with_repository().await;
    let hook = NewJob::hook(Some(repository), "{}");
    let id = catalog.add_job(&hook).await.unwrap().id;
    let hooks = ClaimOptions {
        kinds: &[JobKind::Hook],
        ..options()
    };
    let claim = claimed_with(&catalog, hooks).await.unwrap();
    // Somebody has the repository's row until the hook is over, or for longer than anybody wants to wait.
    let held = format!(
        "DO $$ BEGIN
             PERFORM 1 FROM repository FOR NO KEY UPDATE;
             UPDATE repository SET name = 'held';
             FOR i IN 1..300 LOOP
                 EXIT WHEN (SELECT state FROM job WHERE id = {id}) <> 'running';
                 PERFORM pg_sleep(0.1);
             END LOOP;
         END $$"
    );
    let location = place.location.clone();
    let holder = std::thread::spawn(move || {
        test_support::Postgres::shared().run(&location, &held);
    });
    tokio::time::sleep(Duration::from_millis(700)).await;

    let lease = claim.lease();
    let ended = catalog.end_job(&lease, &JobEnd::Finished, &[]);
    let ended = tokio::time::timeout(Duration::from_secs(20), ended).await;

    assert_eq!(ended.unwrap().unwrap(), JobState::Finished);
    holder.join().unwrap();
}
