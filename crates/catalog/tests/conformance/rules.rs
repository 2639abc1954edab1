//! Filters and mappings.

use catalog::{Error, RulesKind, ScheduleSettings, Scheduled};

use crate::place::Place;

crate::on_both_databases!(
    rules_are_kept_by_kind_and_name,
    of_two_who_change_rules_the_second_is_refused,
    rules_that_a_schedule_goes_by_stay,
);

async fn rules_are_kept_by_kind_and_name(place: Place) {
    let catalog = place.open().await;
    let filter = catalog.add_rules(RulesKind::Filter, "b", "<filters/>", Some("anna"));
    let filter = filter.await.unwrap();
    let mapping = catalog.add_rules(RulesKind::Mapping, "b", "<mappings/>", None);
    let mapping = mapping.await.unwrap();
    let other = catalog.add_rules(RulesKind::Filter, "a", "", None);
    let other = other.await.unwrap();

    let taken = catalog.add_rules(RulesKind::Filter, "b", "x", None).await;

    assert!(matches!(taken, Err(Error::NameTaken { name }) if name == "b"));
    assert_eq!((filter.version, filter.content.as_str()), (1, "<filters/>"));
    assert_eq!(filter.changed_by.as_deref(), Some("anna"));
    let all = catalog.rules(None).await.unwrap();
    assert_eq!(all, [other.clone(), filter.clone(), mapping.clone()]);
    let mappings = catalog.rules(Some(RulesKind::Mapping)).await.unwrap();
    assert_eq!(mappings, [mapping]);
    assert_eq!(catalog.rules_of(filter.id).await.unwrap(), Some(filter));
    assert!(catalog.remove_rules(other.id).await.unwrap());
    assert!(!catalog.remove_rules(other.id).await.unwrap());
    assert_eq!(catalog.rules_of(other.id).await.unwrap(), None);
}

async fn of_two_who_change_rules_the_second_is_refused(place: Place) {
    let catalog = place.open().await;
    let rules = catalog.add_rules(RulesKind::Filter, "a", "1", None);
    let rules = rules.await.unwrap();
    let taken = catalog.add_rules(RulesKind::Filter, "taken", "1", None);
    taken.await.unwrap();
    let change = async |version, name, content| {
        let changed = catalog.change_rules(rules.id, version, name, content, Some("bela"));
        changed.await
    };

    let first = change(1, "b", "2").await.unwrap();
    let second = change(1, "c", "3").await;
    let third = change(2, "taken", "3").await;

    assert_eq!((first.version, first.name.as_str()), (2, "b"));
    assert_eq!(first.changed_by.as_deref(), Some("bela"));
    assert!(matches!(second, Err(Error::Changed { .. })));
    assert!(matches!(third, Err(Error::NameTaken { .. })));
    assert_eq!(catalog.rules_of(rules.id).await.unwrap(), Some(first));
    let unknown = catalog.change_rules(999, 1, "a", "b", None).await;
    assert!(matches!(unknown, Err(Error::UnknownRules { id: 999 })));
}

async fn rules_that_a_schedule_goes_by_stay(place: Place) {
    let (catalog, repository) = place.with_repository().await;
    let filter = catalog.add_rules(RulesKind::Filter, "books only", "", None);
    let filter = filter.await.unwrap();
    let mapping = catalog.add_rules(RulesKind::Mapping, "types", "", None);
    let mapping = mapping.await.unwrap();
    let settings = |parameters: String| ScheduleSettings {
        what: Scheduled::Harvest {
            repository,
            metadata_prefix: "oai_dc".to_owned(),
            set: None,
        },
        name: "nightly".to_owned(),
        parameters,
        frequency: "1 day".to_owned(),
        starts: None,
        ends: None,
    };
    let schedule = settings(format!("{{\"filter\":{}}}", filter.id));
    let schedule = catalog.add_schedule(&schedule, false).await.unwrap();
    let paused = settings(format!("{{\"normalise\":{}}}", mapping.id));
    catalog.add_schedule(&paused, true).await.unwrap();
    let odd = settings("no JSON".to_owned());
    catalog.add_schedule(&odd, true).await.unwrap();

    let refused = catalog.remove_rules(filter.id).await;

    let expected = format!(
        "`books only` is used by schedule {} (nightly); change that first",
        schedule.id
    );
    assert_eq!(refused.unwrap_err().to_string(), expected);
    let refused = catalog.remove_rules(mapping.id).await;
    assert!(matches!(refused, Err(Error::InUse { .. })));
    catalog.remove_schedule(schedule.id).await.unwrap();
    assert!(catalog.remove_rules(filter.id).await.unwrap());
}
