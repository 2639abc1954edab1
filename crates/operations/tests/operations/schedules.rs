//! Schedules.

use catalog::{Role, ScheduleQuery, ScheduleState};
use operations::schedules::{self, NewSchedule, SchedulePatch};
use operations::{
    Actor, Code, HarvestPatch, ImportPatch, ImportRules, Paging, Setting, Settings, Time,
};
use serde_json::json;

use crate::world::{World, actor, lines};

fn harvest(json: serde_json::Value) -> HarvestPatch {
    serde_json::from_value(json).unwrap()
}

fn nightly(world: &World) -> NewSchedule {
    NewSchedule {
        repository: Some(world.repository.id),
        paused: false,
        patch: SchedulePatch {
            name: Some("Every night".to_owned()),
            metadata_prefix: Some("oai_dc".to_owned()),
            frequency: Some("cron 0 3 * * *".to_owned()),
            ..SchedulePatch::default()
        },
    }
}

#[test]
fn every_mistake_is_refused_with_its_field_whoever_asks() {
    let world = World::new();
    let refused = |change: &dyn Fn(&mut SchedulePatch), field: &str, reason: &str| {
        let mut new = nightly(&world);
        change(&mut new.patch);
        for actor in [actor(Role::Operator), Actor::command_line()] {
            let refusal = world
                .wait(schedules::add(&world.context, &actor, &new))
                .unwrap_err();
            assert_eq!(refusal.code, Code::Invalid, "{refusal}");
            assert_eq!(refusal.mistakes[0].field, Some(field), "{refusal}");
            assert!(refusal.mistakes[0].reason.contains(reason), "{refusal}");
        }
    };
    let text = |text: &str| Some(text.to_owned());

    refused(
        &|it| it.frequency = text("cron 0 0 31 2 *"),
        "frequency",
        "never comes true",
    );
    refused(&|it| it.frequency = None, "frequency", "say how often");
    refused(&|it| it.name = text("a\u{7}b"), "name", "all in one line");
    refused(&|it| it.name = Some("x".repeat(201)), "name", "at most 200");
    refused(
        &|it| it.metadata_prefix = text("marc"),
        "metadata_prefix",
        "it offers oai_dc, mods",
    );
    refused(
        &|it| it.metadata_prefix = text("a b"),
        "metadata_prefix",
        "cannot be a format",
    );
    refused(&|it| it.set = text("map"), "set", "it has maps, maps:old");
    refused(&|it| it.set = text("a&b"), "set", "cannot be a set");
    refused(
        &|it| it.ends = Some(Setting::To(Time(1))),
        "ends",
        "nothing would run until then",
    );
    refused(
        &|it| {
            it.starts = Some(Setting::To(Time(4_000_000_000)));
            it.ends = Some(Setting::To(Time(3_000_000_000)));
        },
        "ends",
        "before the start",
    );
    refused(
        &|it| it.harvest = Some(harvest(json!({"filter": 77}))),
        "filter",
        "no filter with the number 77",
    );
    refused(
        &|it| it.harvest = Some(harvest(json!({"slices": 0}))),
        "slices",
        "1 to 1000",
    );
    refused(
        &|it| it.harvest = Some(harvest(json!({"from": "x"}))),
        "from",
        "is not a date",
    );
    refused(
        &|it| it.harvest = Some(harvest(json!({"unpack": "../x"}))),
        "unpack",
        "below the data",
    );
    refused(
        &|it| it.harvest = Some(harvest(json!({"headers": "Host: a"}))),
        "headers",
        "Host",
    );
    refused(
        &|it| it.harvest = Some(harvest(json!({"proxy": "no url"}))),
        "proxy",
        "proxy",
    );
    assert!(world.trail().is_empty());
}

#[test]
fn files_are_named_by_the_command_line_alone() {
    let world = World::new();
    let file = world.directory.path().join("filter.xml");
    let filter = r#"<filters match="any"><filter xpath="//a" regexp="b"/></filters>"#;
    std::fs::write(&file, filter).unwrap();
    let mut new = nightly(&world);
    new.patch.harvest = Some(harvest(json!({"filter": file, "schemas": [file]})));

    let refusal = world.wait(schedules::add(&world.context, &actor(Role::Admin), &new));
    let refusal = refusal.unwrap_err();
    assert_eq!(refusal.mistakes[0].field, Some("filter"));
    assert_eq!(refusal.mistakes[1].field, Some("schemas"));

    let schedule = world.wait(schedules::add(&world.context, &Actor::command_line(), &new));
    let parameters = schedule.unwrap().parameters.unwrap();
    assert_eq!(parameters["filter"], 1);
    let actions: Vec<_> = world
        .trail()
        .into_iter()
        .map(|(action, _)| action)
        .collect();
    assert_eq!(actions, ["schedule.add", "rules.add"]);
}

#[test]
fn viewers_change_nothing() {
    let world = World::new();
    let (context, vic) = (&world.context, actor(Role::Viewer));
    let id = world.wait(schedules::add(
        context,
        &actor(Role::Operator),
        &nightly(&world),
    ));
    let id = id.unwrap().id;
    let patch = SchedulePatch::default();

    let refusals = [
        world
            .wait(schedules::add(context, &vic, &nightly(&world)))
            .err(),
        world
            .wait(schedules::change(context, &vic, id, 1, &patch))
            .err(),
        world.wait(schedules::pause(context, &vic, id)).err(),
        world.wait(schedules::resume(context, &vic, id)).err(),
        world.wait(schedules::run(context, &vic, id)).err(),
        world.wait(schedules::remove(context, &vic, id)).err(),
    ];

    for refusal in refusals {
        assert_eq!(refusal.unwrap().code, Code::Forbidden);
    }
    assert_eq!(world.trail().len(), 1);
}

#[test]
fn a_change_keeps_the_rest_and_a_replacement_does_not() {
    let world = World::new();
    let (context, ann) = (&world.context, actor(Role::Operator));
    let mut new = nightly(&world);
    new.patch.set = Some("maps".to_owned());
    new.patch.harvest = Some(harvest(json!({"slices": 4, "credentials": "me:secret"})));
    let added = world.wait(schedules::add(context, &ann, &new)).unwrap();
    let access = added.parameters.as_ref().unwrap()["access"].clone();
    assert!(!serde_json::to_string(&added).unwrap().contains("secret"));

    let patch = SchedulePatch {
        name: Some("Renamed".to_owned()),
        harvest: Some(harvest(json!({"validation": "loose"}))),
        ..SchedulePatch::default()
    };
    let changed = world
        .wait(schedules::change(context, &ann, added.id, 1, &patch))
        .unwrap();
    let parameters = changed.parameters.unwrap();
    assert_eq!((changed.name.as_str(), changed.version), ("Renamed", 2));
    assert_eq!(changed.set.as_deref(), Some("maps"));
    assert_eq!(parameters["slices"], 4);
    assert_eq!(parameters["validation"], "loose");
    assert_eq!(parameters["access"], access);

    let late = world
        .wait(schedules::change(context, &ann, added.id, 1, &patch))
        .unwrap_err();
    assert_eq!(late.code, Code::Changed);
    let replaced = world.wait(schedules::replace(
        context,
        &ann,
        added.id,
        2,
        &nightly(&world),
    ));
    let replaced = replaced.unwrap();
    assert_eq!(replaced.set, None);
    assert_eq!(replaced.parameters.as_ref().unwrap()["slices"], 1);
    assert!(!replaced.parameters.unwrap().contains_key("access"));
    let secrets = world.directory.path().join("secrets");
    let name = access.as_str().unwrap();
    assert!(!secrets.join(name).exists());
    let unknown = world
        .wait(schedules::change(context, &ann, 99, 1, &patch))
        .unwrap_err();
    assert_eq!(unknown.code, Code::NotFound);
}

#[test]
fn every_change_is_audited_by_the_command_line_too() {
    let world = World::new();
    let (context, shell) = (&world.context, Actor::command_line());
    let id = world
        .wait(schedules::add(context, &shell, &nightly(&world)))
        .unwrap()
        .id;
    let paused = world.wait(schedules::pause(context, &shell, id)).unwrap();
    assert_eq!(paused.state, ScheduleState::Paused);
    assert!(
        world
            .wait(schedules::runs(context, id, 5))
            .unwrap()
            .is_empty()
    );
    world.wait(schedules::resume(context, &shell, id)).unwrap();
    assert_eq!(
        world.wait(schedules::runs(context, id, 5)).unwrap().len(),
        5
    );
    let job = world.wait(schedules::run(context, &shell, id)).unwrap();
    assert_eq!(job.created_by.as_deref(), Some(shell.name.as_str()));
    world.wait(schedules::remove(context, &shell, id)).unwrap();

    let trail = world.trail();
    let actions: Vec<_> = trail.iter().map(|(action, _)| action.as_str()).collect();
    assert_eq!(
        actions,
        [
            "schedule.remove",
            "schedule.run",
            "schedule.resume",
            "schedule.pause",
            "schedule.add"
        ]
    );
    assert!(trail.iter().all(|(_, account)| *account == shell.name));
    let left = world.wait(schedules::list(
        context,
        &ScheduleQuery::default(),
        &Paging::default(),
    ));
    assert!(left.unwrap().items.is_empty());
}

#[test]
fn a_schedule_harvests_or_imports() {
    let world = World::new();
    let (context, admin) = (&world.context, actor(Role::Admin));
    let both = NewSchedule {
        patch: SchedulePatch {
            import: Some(ImportPatch::default()),
            ..nightly(&world).patch
        },
        ..nightly(&world)
    };
    let neither = NewSchedule {
        repository: None,
        ..nightly(&world)
    };
    let mixed = NewSchedule {
        repository: None,
        ..both.clone()
    };
    for new in [both, neither, mixed] {
        let refusal = world
            .wait(schedules::add(context, &admin, &new))
            .unwrap_err();
        assert_eq!(refusal.code, Code::Invalid);
    }
}

#[test]
fn operators_import_from_the_roots_alone() {
    let world = World::new();
    let crawls = world.directory.path().join("crawls");
    std::fs::create_dir(&crawls).unwrap();
    let new = |path: &str, other: serde_json::Value| {
        let mut patch = json!({"paths": [path]});
        patch
            .as_object_mut()
            .unwrap()
            .extend(other.as_object().unwrap().clone());
        NewSchedule {
            patch: SchedulePatch {
                frequency: Some("every 1 day".to_owned()),
                import: Some(serde_json::from_value(patch).unwrap()),
                ..SchedulePatch::default()
            },
            ..NewSchedule::default()
        }
    };
    let inside = crawls.to_str().unwrap();
    let ann = actor(Role::Operator);
    let refusal = world.wait(schedules::add(
        &world.context,
        &ann,
        &new(inside, json!({})),
    ));
    assert_eq!(refusal.unwrap_err().code, Code::Forbidden);

    let context = world.context.clone().configured(Settings {
        imports: ImportRules {
            roots: vec![crawls.clone()],
            ..ImportRules::default()
        },
        ..Settings::default()
    });
    for (path, other, field) in [
        ("/etc", json!({}), "paths"),
        (inside, json!({"types": "pdf"}), "types"),
        (inside, json!({"open": "rar"}), "open"),
        (inside, json!({"accept": 0.1, "reject": 0.9}), "accept"),
        (inside, json!({"blacklist": "/etc/passwd"}), "blacklist"),
        (
            inside,
            json!({"collection": "/tmp/elsewhere"}),
            "collection",
        ),
    ] {
        let refusal = world.wait(schedules::add(&context, &ann, &new(path, other)));
        let refusal = refusal.unwrap_err();
        assert_eq!(
            refusal.mistakes[0].field,
            Some(field),
            "{:?}",
            lines(&refusal)
        );
    }
    let added = world.wait(schedules::add(
        &context,
        &ann,
        &new(inside, json!({"ocr": true})),
    ));
    let import = added.unwrap().import.unwrap();
    assert_eq!(import["paths"], json!([inside]));
    assert_eq!(import["ocr"], true);
    assert!(!import.contains_key("within"));
}
