//! Harvests of a repository that behaves: pages, resuming, dates, sets, both methods.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod common;

use common::Setup;
use harvester::{ErrorKind, Harvest, Incompatibility, Method, Plan, Step};
use test_support::{Fault, Script};

#[test]
fn all_records_come_once_and_well_formed() {
    let harvested = Setup::new(Script::new(95, 10)).run();

    harvested.expect_all();
    assert_eq!(harvested.requests.len(), 1 + 10);
    assert!(
        harvested.outcome.quirks.is_empty(),
        "{:?}",
        harvested.outcome.quirks
    );
    let deleted = harvested
        .records
        .iter()
        .filter(|record| record.header.deleted);
    assert_eq!(deleted.count(), 9);
}

#[test]
fn the_next_harvest_begins_at_the_repositorys_own_time() {
    let harvested = Setup::new(Script::new(5, 10)).run();
    let next = harvested.outcome.next_from.as_deref();
    assert_eq!(next, Some("2021-02-04T00:00:00Z"));

    let harvested = Setup::new(Script::new(5, 10).by_days(4)).run();
    assert_eq!(harvested.outcome.next_from.as_deref(), Some("2021-02-04"));
}

#[test]
fn a_harvest_killed_after_any_page_goes_on_without_loss_or_repetition() {
    for method in [Method::ListRecords, Method::ListIdentifiers] {
        for pages in 1..4 {
            let mut setup = Setup::new(Script::new(95, 10));
            setup.plan.method = method;
            setup.killed_after = Some(pages);

            let harvested = setup.run();

            harvested.expect_all();
            assert!(harvested.runs > 2);
        }
    }
}

#[test]
fn a_harvest_killed_amid_a_long_page_of_headers_goes_on_there() {
    let mut setup = Setup::new(Script::new(350, 300));
    setup.plan.method = Method::ListIdentifiers;
    setup.killed_after = Some(1);

    let harvested = setup.run();

    harvested.expect_all();
    assert_eq!(harvested.asked("verb=GetRecord"), 315);
}

#[test]
fn records_can_be_asked_for_one_by_one() {
    let mut setup = Setup::new(Script::new(25, 10));
    setup.plan.method = Method::ListIdentifiers;

    let harvested = setup.run();

    harvested.expect_all();
    assert_eq!(harvested.asked("verb=ListIdentifiers"), 3);
    assert_eq!(harvested.asked("verb=GetRecord"), 23);
    assert_eq!(harvested.asked("verb=ListRecords"), 0);
}

#[test]
fn dates_and_sets_are_asked_for_at_the_granularity_of_the_repository() {
    let mut setup = Setup::new(Script::new(40, 10).by_days(4));
    setup.plan.from = Some("2020-01-03T05:00:00Z".to_owned());
    setup.plan.until = Some("2020-01-04".to_owned());
    setup.plan.set = Some("odd".to_owned());

    let harvested = setup.run();

    assert_eq!(harvested.records.len(), 4);
    let list = harvested.requests.last().unwrap();
    assert!(
        list.ends_with("&set=odd&from=2020-01-03&until=2020-01-04"),
        "{list}"
    );

    let mut setup = Setup::new(Script::new(5, 10));
    setup.plan.until = Some("2020-01-01".to_owned());
    let list = setup.run().requests.pop().unwrap();
    assert!(list.ends_with("&until=2020-01-01T23:59:59Z"), "{list}");
}

#[test]
fn no_news_is_success_and_a_vanished_set_is_not() {
    let mut setup = Setup::new(Script::new(5, 10));
    setup.plan.from = Some("2020-06-01".to_owned());
    setup.plan.set = Some("even".to_owned());
    let harvested = setup.run();
    assert_eq!(harvested.error, None);
    assert!(harvested.records.is_empty());
    assert!(harvested.outcome.next_from.is_some());

    let mut setup = Setup::new(Script::new(5, 10));
    setup.plan.set = Some("gone".to_owned());
    let error = setup.run().error.unwrap();
    let expected = Incompatibility::Set("gone".to_owned());
    assert_eq!(*error.kind(), ErrorKind::RepositoryIncompatible(expected));
}

/// A schedule that was made when garner still wrote `~2b` (issue 18).
#[test]
fn a_set_by_its_old_name_has_not_vanished() {
    for (set, there) in [
        ("mime:image:svg~2bxml", true),
        ("mime:image:gif~2bxml", false),
    ] {
        let mut setup = Setup::new(Script::new(5, 10));
        setup.plan.set = Some(set.to_owned());
        assert_eq!(setup.run().error.is_none(), there, "{set}");
    }
}

#[test]
fn an_unknown_format_is_told_with_those_there_are() {
    let mut setup = Setup::new(Script::new(5, 10));
    setup.plan = Plan::all("marc");

    let message = setup.run().message();

    let expected = "unknown metadata prefix `marc`; this repository offers oai_dc";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn wrong_plans_are_refused_before_anything_is_asked() {
    let setup = Setup::new(Script::new(5, 10));
    let repository = setup.repository();
    for (from, until) in [("yesterday", "2020-01-01"), ("2021-01-01", "2020-01-01")] {
        let mut plan = Plan::all("oai_dc");
        plan.from = Some(from.to_owned());
        plan.until = Some(until.to_owned());
        let error = Harvest::new(&repository, plan, None).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    }
    assert!(setup.repository.requests().is_empty());
}

#[test]
fn a_state_is_not_taken_for_another_plan() {
    let setup = Setup::new(Script::new(25, 10));
    let repository = setup.repository();
    let harvest = Harvest::new(&repository, Plan::all("oai_dc"), None).unwrap();
    let state = harvest
        .filter_map(|step| match step.unwrap() {
            Step::Page(page) => page.state,
            _ => None,
        })
        .next();

    let error = Harvest::new(&repository, Plan::all("other"), state);

    assert!(matches!(error.err().unwrap().kind(), ErrorKind::Usage(_)));
}

#[test]
fn stopping_ends_a_harvest_at_once() {
    let fault = Fault::Drip { page: 1, pause: 5 };
    let mut setup = Setup::new(Script::new(25, 10).with(fault));
    setup.options.pace = std::sync::Arc::new(harvester::RealPace);
    let stop = setup.options.stop.clone();
    let started = std::time::Instant::now();
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        stop.set();
    });

    let harvested = setup.run();

    assert_eq!(*harvested.error.unwrap().kind(), ErrorKind::Stopped);
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn the_other_verbs_answer_too() {
    let setup = Setup::new(Script::new(25, 10));
    let repository = setup.repository();

    let identity = repository.identify().unwrap();
    assert_eq!(identity.repository_name, "Misbehaving");
    assert_eq!(identity.admin_emails, ["nobody@misbehaving.example"]);
    let sets: Result<Vec<_>, _> = repository.list_sets().collect();
    assert_eq!(sets.unwrap()[1].set_name, "Odd & strange");
    let formats = repository.list_metadata_formats(None).unwrap();
    assert_eq!(formats[0].metadata_prefix, "oai_dc");
    let record = repository
        .get_record(&Script::identifier(3), "oai_dc")
        .unwrap();
    assert_eq!(record.header.identifier, Script::identifier(3));
    let error = repository.get_record("oai:x:y", "oai_dc").unwrap_err();
    assert!(
        error.to_string().contains("there is no record `oai:x:y`"),
        "{error}"
    );
    assert_eq!(
        repository
            .list_identifiers("oai_dc", None, None, None)
            .count(),
        25
    );
    assert_eq!(
        repository
            .list_records("oai_dc", Some("even"), None, None)
            .count(),
        13
    );
}
