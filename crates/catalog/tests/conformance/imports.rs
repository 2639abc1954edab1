//! Imports begun, gone on with, taken over, ended, as jobs and as commands.

use std::time::Duration;

use catalog::{
    Answer, Beat, Cancelled, Catalog, Claim, Error, FinishImport, GroupCommit, ImportCounters,
    ImportQuery, ImportState, ImportWarning, JobEnd, JobKind, JobProgress, JobQuery, JobState,
    NewImport, NewJob,
};

use crate::crawl::{Files, add, capture, group, of};
use crate::place::{Place, claimed, claimed_with, options};

crate::on_both_databases!(
    the_same_cannot_be_imported_twice_at_once,
    an_import_that_was_not_heard_of_is_taken_over_and_its_holder_can_write_nothing_more,
    a_failed_import_is_gone_on_with_and_a_finished_one_is_not,
    positions_counters_and_warnings_are_kept_with_each_group,
    the_first_captures_of_usual_counts_are_kept,
    imports_are_listed_and_forgotten_by_age,
    an_import_is_a_job_without_a_repository,
    a_job_and_its_import_end_together,
    the_import_of_a_lost_job_writes_nothing_and_is_gone_on_with_by_the_next,
    a_job_that_is_cancelled_hears_of_it,
    counters_have_the_names_of_the_paper,
    a_group_whose_commit_was_only_said_to_fail_is_not_counted_twice,
);

const URL: &str = "http://a.example/1.pdf";

fn failed(reason: &str) -> FinishImport {
    FinishImport {
        reason: Some(reason.to_owned()),
        ..FinishImport::new(ImportState::Failed)
    }
}

fn ok() -> FinishImport {
    FinishImport::new(ImportState::Ok)
}

async fn the_same_cannot_be_imported_twice_at_once(place: Place) {
    let catalog = place.open().await;
    let import = catalog.begin_import(&of("a")).await.unwrap();

    let refused = catalog.begin_import(&of("a")).await.unwrap_err();
    let other = catalog.begin_import(&of("b")).await.unwrap();
    let process = format!(
        "`a` is being imported by process {} on ",
        std::process::id()
    );
    assert!(refused.to_string().starts_with(&process), "{refused}");
    assert_ne!(other.id(), import.id());
    catalog.finish_import(import, &ok()).await.unwrap();

    let again = catalog.begin_import(&of("a")).await.unwrap();
    assert!(!again.is_resumed());
}

async fn an_import_that_was_not_heard_of_is_taken_over_and_its_holder_can_write_nothing_more(
    place: Place,
) {
    let catalog = place.open().await;
    let mut files = Files::default();
    let mut first = catalog.begin_import(&of("a")).await.unwrap();
    add(&catalog, &mut first, &mut files, &[capture(URL, "A", 10)]).await;
    let rows = [capture(URL, "B", 20)];
    let placements = catalog.reserve(&mut first, &rows).await.unwrap();
    catalog.beat_import(&first).await.unwrap();
    place.sql("UPDATE import SET lease_until = 0");

    let mut second = catalog.begin_import(&of("a")).await.unwrap();

    assert_eq!(second.id(), first.id());
    assert!(second.is_resumed());
    assert_eq!(second.positions()[0].position, 1);
    assert_eq!(second.counters().saved_new, 1);
    let lost = |result: Result<(), Error>| matches!(result, Err(Error::ImportLost { .. }));
    assert!(lost(catalog.beat_import(&first).await));
    assert!(lost(catalog.reserve(&mut first, &rows).await.map(drop)));
    let commit = group(&rows, &placements, 2);
    assert!(lost(
        catalog.commit_group(&mut first, commit).await.map(drop)
    ));
    assert!(lost(catalog.finish_import(first, &ok()).await.map(drop)));
    // The same content has the same number again.
    assert_eq!(
        catalog.reserve(&mut second, &rows).await.unwrap(),
        placements
    );
    let entry = catalog.finish_import(second, &ok()).await.unwrap();
    assert_eq!((entry.state, entry.attempts), (ImportState::Ok, 2));
}

async fn a_failed_import_is_gone_on_with_and_a_finished_one_is_not(place: Place) {
    let catalog = place.open().await;
    let import = catalog.begin_import(&of("a")).await.unwrap();
    let entry = catalog
        .finish_import(import, &failed("the disk is full"))
        .await
        .unwrap();
    assert_eq!(entry.reason.as_deref(), Some("the disk is full"));
    assert!(entry.ended.is_some());

    let kept = NewImport {
        keep_versions: true,
        ..of("a")
    };
    let other = catalog.begin_import(&kept).await.unwrap();
    let resumed = catalog.begin_import(&of("a")).await.unwrap();

    assert!(!other.is_resumed());
    assert!(resumed.is_resumed());
    assert_eq!(resumed.id(), entry.id);
    let entry = catalog.finish_import(resumed, &ok()).await.unwrap();
    assert_eq!((entry.reason, entry.attempts), (None, 2));
    assert_ne!(catalog.begin_import(&of("a")).await.unwrap().id(), entry.id);
}

async fn positions_counters_and_warnings_are_kept_with_each_group(place: Place) {
    let catalog = place.open().await;
    let new = NewImport::new("{}", vec!["a".to_owned(), "b".to_owned()]);
    let mut import = catalog.begin_import(&new).await.unwrap();
    let warnings: Vec<_> = (0..3)
        .map(|number| ImportWarning {
            file: "a\0".to_owned(),
            offset: Some(number).filter(|number| *number > 0),
            reason: "a line too long".to_owned(),
            kind: "record".to_owned(),
        })
        .collect();
    let commit = |source, position, source_done| GroupCommit {
        rows: &[],
        placements: &[],
        source,
        position,
        source_done,
        counters: ImportCounters {
            all: 3,
            skipped_records: 3,
            ..ImportCounters::default()
        },
        warnings: &warnings,
        judgements: &[],
    };

    catalog
        .commit_group(&mut import, commit(0, 100, true))
        .await
        .unwrap();
    catalog
        .commit_group(&mut import, commit(1, 50, false))
        .await
        .unwrap();

    let entry = catalog.import(import.id()).await.unwrap().unwrap();
    let sources: Vec<_> = entry
        .sources
        .iter()
        .map(|source| (source.source.as_str(), source.position, source.done))
        .collect();
    assert_eq!(sources, [("a", 100, true), ("b", 50, false)]);
    assert_eq!(entry.sources, import.positions());
    assert_eq!((entry.counters.all, entry.counters), (6, import.counters()));
    let told = catalog.import_warnings(entry.id, 0, 4).await.unwrap();
    let rest = catalog
        .import_warnings(entry.id, told[3].0, 9)
        .await
        .unwrap();
    assert_eq!((told.len(), rest.len()), (4, 2));
    assert_eq!((told[0].1.offset, told[1].1.offset), (None, Some(1)));
    assert_eq!(told[0].1.file, "a\u{fffd}");
}

/// Captures of other types and statuses are most of a crawl: the first ones of each are kept, for those who ask for them.
async fn the_first_captures_of_usual_counts_are_kept(place: Place) {
    let catalog = place.open().await;
    let new = NewImport::new("{}", vec!["a".to_owned()]);
    let mut import = catalog.begin_import(&new).await.unwrap();
    let warnings: Vec<_> = (0..700)
        .flat_map(|number| ["status", "record"].map(|kind| (number, kind)))
        .map(|(number, kind)| ImportWarning {
            file: "a".to_owned(),
            offset: Some(number),
            reason: "status 404".to_owned(),
            kind: kind.to_owned(),
        })
        .collect();

    for position in 1..=2 {
        let group = GroupCommit {
            rows: &[],
            placements: &[],
            source: 0,
            position,
            source_done: false,
            counters: ImportCounters {
                skipped_status: 700,
                ..ImportCounters::default()
            },
            warnings: &warnings,
            judgements: &[],
        };
        catalog.commit_group(&mut import, group).await.unwrap();
    }

    let id = import.id();
    let kept = catalog.count_import_warnings(id, Some("status")).await;
    assert_eq!(kept.unwrap(), ImportWarning::MOST_USUAL);
    assert_eq!(catalog.count_import_warnings(id, None).await.unwrap(), 1400);
    let told = catalog.import_warnings(id, 0, 2000).await.unwrap();
    assert!(told.iter().all(|(_, warning)| warning.kind == "record"));
}

async fn imports_are_listed_and_forgotten_by_age(place: Place) {
    let catalog = place.open().await;
    let mut ids = Vec::new();
    for (source, finish) in [
        ("a", ok()),
        ("a", ok()),
        ("b", failed("50% done")),
        ("c", ok()),
    ] {
        let import = catalog.begin_import(&of(source)).await.unwrap();
        ids.push(catalog.finish_import(import, &finish).await.unwrap().id);
    }
    let running = catalog.begin_import(&of("d")).await.unwrap().id();
    let listed = async |query: ImportQuery| {
        let entries = catalog.imports(&query).await.unwrap();
        entries.iter().map(|entry| entry.id).collect::<Vec<_>>()
    };

    let text = ImportQuery {
        text: Some("50%".to_owned()),
        ..ImportQuery::default()
    };
    let before = ImportQuery {
        before: Some(ids[2]),
        limit: 1,
        ..ImportQuery::default()
    };
    let state = ImportQuery {
        state: Some(ImportState::Running),
        ..ImportQuery::default()
    };
    assert_eq!(listed(text).await, [ids[2]]);
    assert_eq!(listed(before).await, [ids[1]]);
    assert_eq!(listed(state).await, [running]);

    assert!(catalog.remove_imports(3_600).await.unwrap().is_empty());
    let removed = catalog.remove_imports(-10).await.unwrap();
    let removed: Vec<_> = removed.iter().map(|import| import.id).collect();
    assert_eq!(removed, [ids[0], ids[1], ids[3]]);
    assert_eq!(listed(ImportQuery::default()).await, [running, ids[2]]);
    assert!(!catalog.remove_import(running).await.unwrap());
    assert!(catalog.remove_import(ids[2]).await.unwrap());
}

async fn claimed_import(catalog: &Catalog) -> Option<Claim> {
    let options = catalog::ClaimOptions {
        kinds: &[JobKind::Import],
        ..options()
    };
    claimed_with(catalog, options).await
}

fn new_job() -> NewJob {
    NewJob {
        max_attempts: 3,
        ..NewJob::import(r#"{"paths":["a"]}"#)
    }
}

fn of_job(claim: &Claim) -> NewImport {
    NewImport {
        job: Some(claim.lease()),
        ..of("a")
    }
}

async fn an_import_is_a_job_without_a_repository(place: Place) {
    let catalog = place.open().await;
    let job = catalog.add_job(&new_job()).await.unwrap();
    let second = catalog.add_job(&new_job()).await.unwrap();
    assert_eq!((job.kind, job.repository), (JobKind::Import, None));

    assert!(
        claimed(&catalog).await.is_none(),
        "harvesters do not import"
    );
    let claim = claimed_import(&catalog).await.unwrap();
    let other = claimed_import(&catalog).await.unwrap();

    assert_eq!((claim.job.id, other.job.id), (job.id, second.id));
    let import = catalog.begin_import(&of_job(&claim)).await.unwrap();
    let query = JobQuery {
        kinds: vec![JobKind::Import],
        ..JobQuery::default()
    };
    let jobs = catalog.jobs(&query).await.unwrap();
    assert_eq!(jobs.len(), 2);
    let told = catalog.job(job.id).await.unwrap().unwrap();
    assert_eq!(told.import, Some(import.id()));
    // Another job with the same to do waits until this is over.
    let refused = catalog.begin_import(&of_job(&other)).await;
    assert!(matches!(refused, Err(Error::Busy { .. })), "{refused:?}");
}

async fn a_job_and_its_import_end_together(place: Place) {
    let catalog = place.open().await;
    let job = catalog.add_job(&new_job()).await.unwrap();
    let claim = claimed_import(&catalog).await.unwrap();
    let import = catalog.begin_import(&of_job(&claim)).await.unwrap();
    let finish = FinishImport {
        job: Some(JobEnd::Failed {
            reason: "the disk is full".to_owned(),
            retry_in: Some(Duration::ZERO),
        }),
        follow_ups: vec![NewJob::hook(None, "{}")],
        ..failed("the disk is full")
    };
    catalog.finish_import(import, &finish).await.unwrap();
    assert_eq!(state(&catalog, job.id).await, JobState::Scheduled);
    assert_eq!(catalog.jobs(&JobQuery::default()).await.unwrap().len(), 1);

    let claim = claimed_import(&catalog).await.unwrap();
    let import = catalog.begin_import(&of_job(&claim)).await.unwrap();
    assert!(import.is_resumed());
    let finish = FinishImport {
        job: Some(JobEnd::Finished),
        follow_ups: vec![NewJob::hook(None, "{}")],
        ..ok()
    };
    let entry = catalog.finish_import(import, &finish).await.unwrap();

    assert_eq!(entry.job, Some(job.id));
    assert_eq!(state(&catalog, job.id).await, JobState::Finished);
    assert_eq!(catalog.jobs(&JobQuery::default()).await.unwrap().len(), 2);
}

async fn state(catalog: &Catalog, job: i64) -> JobState {
    catalog.job(job).await.unwrap().unwrap().state
}

async fn the_import_of_a_lost_job_writes_nothing_and_is_gone_on_with_by_the_next(place: Place) {
    let catalog = place.open().await;
    let mut files = Files::default();
    let job = catalog.add_job(&new_job()).await.unwrap();
    let claim = claimed_import(&catalog).await.unwrap();
    let mut first = catalog.begin_import(&of_job(&claim)).await.unwrap();
    add(&catalog, &mut first, &mut files, &[capture(URL, "A", 10)]).await;
    let rows = [capture(URL, "B", 20)];
    let placements = catalog.reserve(&mut first, &rows).await.unwrap();
    place.sql("UPDATE job SET lease_until = 0");

    let claim = claimed_import(&catalog).await.unwrap();

    assert_eq!((claim.job.id, claim.job.attempt), (job.id, 2));
    let entry = catalog.import(first.id()).await.unwrap().unwrap();
    assert_eq!(entry.state, ImportState::Failed);
    assert!(entry.reason.unwrap().starts_with("interrupted: "));
    let commit = group(&rows, &placements, 2);
    let lost = catalog.commit_group(&mut first, commit).await;
    assert!(matches!(lost, Err(Error::ImportLost { .. })));
    let second = catalog.begin_import(&of_job(&claim)).await.unwrap();
    assert_eq!(
        (second.id(), second.positions()[0].position),
        (first.id(), 1)
    );
    // As long as the job is this worker's, the import is as well.
    let second = catalog.begin_import(&of_job(&claim)).await.unwrap();
    assert!(second.is_resumed());
    catalog
        .end_job(&claim.lease(), &JobEnd::Cancelled, &[])
        .await
        .unwrap();
    let lost = catalog.finish_import(second, &ok()).await;
    assert!(matches!(lost, Err(Error::ImportLost { .. })));
}

async fn a_job_that_is_cancelled_hears_of_it(place: Place) {
    let catalog = place.open().await;
    let job = catalog.add_job(&new_job()).await.unwrap();
    let claim = claimed_import(&catalog).await.unwrap();
    let beat = Beat {
        lease: claim.lease(),
        progress: JobProgress {
            done: 5,
            total: Some(10),
            note: None,
            activity: None,
        },
    };
    let lease = Duration::from_secs(60);
    let heard = catalog
        .beat(std::slice::from_ref(&beat), lease)
        .await
        .unwrap();
    assert_eq!(heard[0].answer, Answer::GoOn);

    assert_eq!(catalog.cancel_job(job.id).await.unwrap(), Cancelled::Asked);
    let heard = catalog.beat(&[beat], lease).await.unwrap();

    assert_eq!(heard[0].answer, Answer::CancelRequested);
    let told = catalog.job(job.id).await.unwrap().unwrap();
    assert_eq!(told.progress.done, 5);
}

async fn counters_have_the_names_of_the_paper(place: Place) {
    let catalog = place.open().await;
    let import = catalog.begin_import(&of("a")).await.unwrap();
    let mut finish = ok();
    finish.counters.failed_pdf_file_not_found = 7;

    let entry = catalog.finish_import(import, &finish).await.unwrap();

    let json = serde_json::to_value(entry.counters).unwrap();
    for name in [
        "all",
        "saved_New",
        "saved_Duplicate",
        "filtered",
        "filtered_MTF",
        "filtered_DCF",
        "failed_TextExtract",
        "failed_FileNotFound",
    ] {
        assert_eq!(json[name], 0, "{name}");
    }
    assert_eq!(json["failed_PDFFilenotFound"], 7);
    let read = catalog.import(entry.id).await.unwrap().unwrap();
    assert_eq!(read.counters, entry.counters);
}

async fn a_group_whose_commit_was_only_said_to_fail_is_not_counted_twice(place: Place) {
    let catalog = place.open().await;
    let mut import = catalog.begin_import(&of("a")).await.unwrap();
    // As if this process had not heard of its own commit.
    place.sql("UPDATE import SET groups = 1");

    let again = catalog.commit_group(&mut import, group(&[], &[], 9)).await;

    assert!(matches!(again, Err(Error::ImportLost { .. })), "{again:?}");
    let entry = catalog.import(import.id()).await.unwrap().unwrap();
    assert_eq!((entry.sources[0].position, entry.counters.all), (0, 0));
}
