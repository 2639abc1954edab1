//! Jobs.

use catalog::{JobQuery, JobState, Role};
use operations::jobs::{self, NewHarvest};
use operations::{Code, ImportPatch, Settings};
use serde_json::json;

use crate::world::{World, actor};

#[test]
fn a_harvest_is_checked_like_that_of_a_schedule() {
    let world = World::new();
    let ann = actor(Role::Operator);
    let new = |json: serde_json::Value| NewHarvest {
        repository: world.repository.id,
        patch: serde_json::from_value(json).unwrap(),
        ..NewHarvest::default()
    };
    for (json, field) in [
        (json!({"filter": 77}), "filter"),
        (json!({"from": "soon"}), "from"),
        (json!({"unpack": "/etc"}), "unpack"),
        (json!({"warc": "mirror"}), "metadata_prefix"),
        (
            json!({"access": "0123456789abcdef0123456789abcdef"}),
            "access",
        ),
    ] {
        let refusal = world.wait(jobs::harvest(&world.context, &ann, &new(json)));
        let refusal = refusal.unwrap_err();
        let is = |mistake: &operations::Mistake| mistake.field == Some(field);
        assert!(refusal.mistakes.iter().any(is), "{refusal}");
    }
    let gone = NewHarvest {
        repository: 99,
        ..NewHarvest::default()
    };
    let refusal = world
        .wait(jobs::harvest(&world.context, &ann, &gone))
        .unwrap_err();
    assert_eq!(refusal.code, Code::NotFound);
    let refusal = world.wait(jobs::harvest(
        &world.context,
        &actor(Role::Viewer),
        &new(json!({})),
    ));
    assert_eq!(refusal.unwrap_err().code, Code::Forbidden);
    assert!(world.trail().is_empty());
}

#[test]
fn the_configured_attempts_hold_for_every_job() {
    let world = World::new();
    let context = world.context.clone().configured(Settings {
        attempts: 2,
        ..Settings::default()
    });
    let admin = actor(Role::Admin);
    let new = NewHarvest {
        repository: world.repository.id,
        ..NewHarvest::default()
    };
    let harvest = world.wait(jobs::harvest(&context, &admin, &new)).unwrap();
    let path = world.directory.path().join("a.warc");
    std::fs::write(&path, "WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n").unwrap();
    let patch: ImportPatch = serde_json::from_value(json!({"paths": [path]})).unwrap();
    let import = world
        .wait(jobs::import(&context, &admin, &patch, None))
        .unwrap();
    let order = flows::ClassifyCollection::default();
    let classify = world
        .wait(jobs::classify(&context, &admin, &order))
        .unwrap();

    for job in [harvest, import, classify] {
        assert_eq!(job.max_attempts, 2, "{job:?}");
        assert_eq!(job.created_by.as_deref(), Some("ann"));
    }
}

#[test]
fn a_job_is_cancelled_once_and_wanted_again() {
    let world = World::new();
    let (context, ann) = (&world.context, actor(Role::Operator));
    let new = NewHarvest {
        repository: world.repository.id,
        set: Some(" maps ".to_owned()),
        ..NewHarvest::default()
    };
    let job = world.wait(jobs::harvest(context, &ann, &new)).unwrap();
    assert_eq!(
        (job.metadata_prefix.as_str(), job.set.as_deref()),
        ("oai_dc", Some("maps"))
    );

    let cancelled = world.wait(jobs::cancel(context, &ann, job.id)).unwrap();
    assert_eq!(
        (cancelled.asked, cancelled.job.state),
        (false, JobState::Cancelled)
    );
    let late = world.wait(jobs::cancel(context, &ann, job.id)).unwrap_err();
    assert_eq!(late.code, Code::Conflict);
    let log = world.wait(jobs::log(context, job.id, 0, 10)).unwrap();
    assert!(log.items[0].message.contains("cancelled by ann"));
    let again = world.wait(jobs::retry(context, &ann, job.id)).unwrap();
    assert_eq!(again.state, JobState::Scheduled);
    let refusal = world.wait(jobs::retry(context, &ann, job.id)).unwrap_err();
    assert_eq!(refusal.code, Code::Conflict);
    for refusal in [
        world.wait(jobs::show(context, 99)).err(),
        world.wait(jobs::cancel(context, &ann, 99)).err(),
        world.wait(jobs::retry(context, &ann, 99)).err(),
    ] {
        assert_eq!(refusal.unwrap().code, Code::NotFound);
    }
    let query = JobQuery {
        limit: 10,
        ..JobQuery::default()
    };
    assert_eq!(
        world.wait(jobs::list(context, &query)).unwrap().items.len(),
        1
    );
    let actions: Vec<_> = world
        .trail()
        .into_iter()
        .map(|(action, _)| action)
        .collect();
    assert_eq!(actions, ["job.retry", "job.cancel", "job.add"]);
}
