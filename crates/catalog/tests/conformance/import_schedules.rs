//! Schedules of imports: they become jobs as those of harvests do, and read what came since.

use catalog::{
    Catalog, Claim, ClaimOptions, Error, FinishImport, GroupCommit, Import, ImportCounters,
    ImportQuery, ImportState, JobEnd, JobKind, JobState, NewImport, NewSource, Schedule,
    ScheduleQuery, ScheduleSettings, ScheduleState, Scheduled,
};

use crate::place::{Place, claimed_with, options};
use crate::schedules::settings as of_harvest;

crate::on_both_databases!(
    a_scheduled_import_is_planned_claimed_and_planned_again,
    a_schedule_can_become_that_of_an_import_and_back,
    schedules_of_imports_are_found_by_what_is_imported,
    the_next_import_of_a_schedule_begins_behind_the_last,
    what_could_not_be_saved_is_read_again,
    the_last_import_of_a_schedule_is_not_forgotten,
    a_running_import_keeps_its_schedule_from_being_tried_again,
    an_import_ends_with_the_counters_that_were_committed,
);

fn settings() -> ScheduleSettings {
    ScheduleSettings {
        what: Scheduled::Import,
        name: "crawls".to_owned(),
        parameters: r#"{"paths":["/Crawls"]}"#.to_owned(),
        frequency: "every 1 day".to_owned(),
        starts: None,
        ends: None,
    }
}

/// A schedule whose job is claimed.
async fn begun(catalog: &Catalog, known: Option<i64>) -> (Schedule, Claim) {
    let id = match known {
        Some(id) => id,
        None => catalog.add_schedule(&settings(), false).await.unwrap().id,
    };
    catalog.run_schedule_now(id, 3, None).await.unwrap();
    let schedule = catalog.schedule(id).await.unwrap().unwrap();
    (schedule, claim(catalog).await.unwrap())
}

async fn claim(catalog: &Catalog) -> Option<Claim> {
    let options = ClaimOptions {
        kinds: &[JobKind::Import],
        ..options()
    };
    claimed_with(catalog, options).await
}

/// Sources by name and beginning.
fn import_of(claim: &Claim, sources: &[(&str, &str)]) -> NewImport {
    let source = |(name, beginning): &(&str, &str)| NewSource {
        name: (*name).to_owned(),
        beginning: (*beginning).to_owned(),
        is_appended_to: !name.ends_with(".log"),
    };
    NewImport {
        sources: sources.iter().map(source).collect(),
        job: Some(claim.lease()),
        ..NewImport::new("{}", Vec::new())
    }
}

/// Reads all sources up to a position.
async fn read(catalog: &Catalog, import: &mut Import, position: u64, counters: ImportCounters) {
    for source in 0..import.positions().len() {
        let group = GroupCommit {
            rows: &[],
            placements: &[],
            source,
            position,
            source_done: true,
            counters,
            warnings: &[],
            judgements: &[],
        };
        catalog.commit_group(import, group).await.unwrap();
    }
}

async fn finish(catalog: &Catalog, import: Import) -> i64 {
    let finish = FinishImport {
        job: Some(JobEnd::Finished),
        ..FinishImport::new(ImportState::Ok)
    };
    catalog.finish_import(import, &finish).await.unwrap().id
}

fn starts(import: &Import) -> Vec<(&str, u64)> {
    let positions = import.positions().iter();
    positions
        .map(|at| (at.source.as_str(), at.position))
        .collect()
}

fn saved() -> ImportCounters {
    ImportCounters {
        all: 1,
        ..ImportCounters::default()
    }
}

async fn a_scheduled_import_is_planned_claimed_and_planned_again(place: Place) {
    let catalog = place.open().await;
    let new = catalog.add_schedule(&settings(), false).await.unwrap();
    assert_eq!(new.settings, settings());
    assert_eq!((&new.base_url, &new.repository_name), (&None, &None));
    let (now, to_plan) = catalog.to_plan(10).await.unwrap();
    assert_eq!(to_plan, std::slice::from_ref(&new));

    let planned = catalog.plan(&new, Some(now), ScheduleState::Recurring, 3);
    let job = planned.await.unwrap().unwrap();

    assert_eq!((job.kind, job.repository), (JobKind::Import, None));
    assert_eq!(job.parameters, settings().parameters);
    let claim = claim(&catalog).await.unwrap();
    assert_eq!(claim.job.schedule, Some(new.id));
    let new_import = import_of(&claim, &[("a", "")]);
    let import = catalog.begin_import(&new_import).await.unwrap();
    let id = finish(&catalog, import).await;
    let entry = catalog.import(id).await.unwrap().unwrap();
    assert_eq!((entry.schedule, entry.job), (Some(new.id), Some(job.id)));
    let (_, to_plan) = catalog.to_plan(10).await.unwrap();
    assert_eq!(to_plan[0].id, new.id);
}

async fn a_schedule_can_become_that_of_an_import_and_back(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let harvest = of_harvest(repository);
    let schedule = catalog.add_schedule(&harvest, true).await.unwrap();

    let import = settings();
    let changed = catalog.change_schedule(schedule.id, 1, &import);
    assert_eq!(changed.await.unwrap().settings, import);
    let back = catalog.change_schedule(schedule.id, 2, &harvest);
    assert_eq!(back.await.unwrap().settings, harvest);
}

async fn schedules_of_imports_are_found_by_what_is_imported(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let harvest = catalog.add_schedule(&of_harvest(repository), true).await;
    let harvest = harvest.unwrap().id;
    let import = catalog.add_schedule(&settings(), true).await.unwrap().id;
    let found = async |text: &str| {
        let query = ScheduleQuery {
            text: Some(text.to_owned()),
            ..ScheduleQuery::default()
        };
        let found = catalog.schedules(&query).await.unwrap();
        found.iter().map(|one| one.id).collect::<Vec<_>>()
    };

    assert_eq!(found("/crawls").await, [import]);
    assert_eq!(found("a.example").await, [harvest]);
    // Most imports share their other words.
    for word in ["paths", "[", "{", "\""] {
        assert_eq!(found(word).await, [0; 0], "{word}");
    }
    let of_repository = ScheduleQuery {
        repository: Some(repository),
        ..ScheduleQuery::default()
    };
    assert_eq!(catalog.schedules(&of_repository).await.unwrap().len(), 1);
}

async fn the_next_import_of_a_schedule_begins_behind_the_last(place: Place) {
    let catalog = place.open().await;
    let (schedule, claim) = begun(&catalog, None).await;
    let first = import_of(&claim, &[("a", "x"), ("b", "y"), ("c.log", "z")]);
    let mut import = catalog.begin_import(&first).await.unwrap();
    read(&catalog, &mut import, 100, saved()).await;
    finish(&catalog, import).await;

    let (_, claim) = begun(&catalog, Some(schedule.id)).await;
    let sources = [("0", "w"), ("a", "x"), ("b", "another"), ("c.log", "z")];
    let second = import_of(&claim, &sources);
    let mut import = catalog.begin_import(&second).await.unwrap();

    assert!(!import.is_resumed());
    let begins = [("0", 0), ("a", 100), ("b", 0), ("c.log", 0)];
    assert_eq!(starts(&import), begins);
    assert!(import.positions().iter().all(|at| !at.done));
    assert_eq!(import.counters(), ImportCounters::default());
    read(&catalog, &mut import, 200, saved()).await;
    finish(&catalog, import).await;
    // An import with another order, or without a schedule, reads everything.
    let (_, claim) = begun(&catalog, Some(schedule.id)).await;
    let other = NewImport {
        parameters: r#"{"types":[]}"#.to_owned(),
        ..import_of(&claim, &[("a", "x")])
    };
    let import = catalog.begin_import(&other).await.unwrap();
    assert_eq!(starts(&import), [("a", 0)]);
    let by_hand = NewImport {
        job: None,
        ..import_of(&claim, &[("a", "x")])
    };
    let import = catalog.begin_import(&by_hand).await.unwrap();
    assert_eq!(starts(&import), [("a", 0)]);
}

async fn what_could_not_be_saved_is_read_again(place: Place) {
    let catalog = place.open().await;
    let (schedule, claim) = begun(&catalog, None).await;
    let new = import_of(&claim, &[("a", "x")]);
    let mut import = catalog.begin_import(&new).await.unwrap();
    let unsaved = ImportCounters {
        failed_save: 1,
        ..saved()
    };
    read(&catalog, &mut import, 100, unsaved).await;
    finish(&catalog, import).await;

    let (_, claim) = begun(&catalog, Some(schedule.id)).await;
    let again = import_of(&claim, &[("a", "x")]);
    let import = catalog.begin_import(&again).await.unwrap();

    assert_eq!(starts(&import), [("a", 0)]);
}

async fn the_last_import_of_a_schedule_is_not_forgotten(place: Place) {
    let catalog = place.open().await;
    let mut ids = Vec::new();
    let mut known = None;
    for _ in 0..3 {
        let (schedule, claim) = begun(&catalog, known).await;
        known = Some(schedule.id);
        let new = import_of(&claim, &[("a", &ids.len().to_string())]);
        let import = catalog.begin_import(&new).await.unwrap();
        ids.push(finish(&catalog, import).await);
    }

    let removed = catalog.remove_imports(-10).await.unwrap();

    let removed: Vec<_> = removed.iter().map(|import| import.id).collect();
    assert_eq!(removed, ids[..2]);
    let left = catalog.imports(&ImportQuery::default()).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].id, ids[2]);
}

async fn a_running_import_keeps_its_schedule_from_being_tried_again(place: Place) {
    let catalog = place.open().await;
    let (schedule, first) = begun(&catalog, None).await;
    let failed = JobEnd::Failed {
        reason: "no files yet".to_owned(),
        retry_in: None,
    };
    let state = catalog.end_job(&first.lease(), &failed, &[]).await;
    assert_eq!(state.unwrap(), JobState::Failed);
    let (_, second) = begun(&catalog, Some(schedule.id)).await;

    let refused = catalog.retry_job(first.job.id).await.unwrap_err();

    assert!(matches!(refused, Error::Busy { .. }), "{refused}");
    assert!(refused.to_string().contains("schedule"), "{refused}");
    // Running it now returns the job that runs.
    let running = catalog.run_schedule_now(schedule.id, 3, None).await;
    assert_eq!(running.unwrap().id, second.job.id);
}

async fn an_import_ends_with_the_counters_that_were_committed(place: Place) {
    let catalog = place.open().await;
    let new = NewImport::new("{}", vec!["a".to_owned()]);
    let mut import = catalog.begin_import(&new).await.unwrap();
    read(&catalog, &mut import, 1, saved()).await;
    // A commit that was made, although its answer was lost.
    place.sql(r#"UPDATE import SET counters = '{"all": 7}', groups = groups + 1"#);

    let failed = FinishImport::new(ImportState::Failed);
    let entry = catalog.finish_import(import, &failed).await.unwrap();

    assert_eq!(entry.counters.all, 7);
    let resumed = catalog.begin_import(&new).await.unwrap();
    assert_eq!(resumed.counters().all, 7);
    let ended = FinishImport {
        counters: saved(),
        ..FinishImport::new(ImportState::Ok)
    };
    let entry = catalog.finish_import(resumed, &ended).await.unwrap();
    assert_eq!(entry.counters.all, 8);
}
