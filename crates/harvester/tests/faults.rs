//! Each fault that a repository can have: what is right happens, it is told, and nothing that could
//! be had is lost.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod common;

use common::{Harvested, Setup};
use harvester::{ErrorKind, Incompatibility, Misbehaviour, Quirk};
use test_support::{Fault, Script};

fn harvest(fault: Fault) -> Harvested {
    Setup::new(Script::new(95, 10).with(fault)).run()
}

fn lenient(fault: Fault) -> Harvested {
    Setup::new(Script::new(95, 10).with(fault)).lenient().run()
}

fn title(harvested: &Harvested, number: usize) -> String {
    let identifier = Script::identifier(number);
    let mut records = harvested.records.iter();
    let record = records.find(|record| record.header.identifier == identifier);
    let text = std::str::from_utf8(&record.unwrap().xml).unwrap();
    let document = roxmltree::Document::parse(text).unwrap();
    let title = document
        .descendants()
        .find(|node| node.tag_name().name() == "title");
    title.unwrap().text().unwrap().to_owned()
}

fn misbehaviour(harvested: &Harvested) -> Misbehaviour {
    match harvested.error.as_ref().unwrap().kind() {
        ErrorKind::RepositoryMisbehaved(misbehaviour) => misbehaviour.clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn a_record_with_a_fault_of_its_own_is_left_out_and_named() {
    for fault in [
        Fault::IllegalCharacter(42),
        Fault::IllegalReference(42),
        Fault::InvalidBytes(42),
        Fault::SplitCharacter(42),
        Fault::BareAmpersand(42),
        Fault::UnknownEntity(42),
        Fault::UndeclaredPrefix(42),
        Fault::DuplicateAttribute(42),
    ] {
        let harvested = harvest(fault.clone());

        harvested.expect_all_but(&[42]);
        assert_eq!(harvested.requests.len(), 11, "{fault:?}");
        harvested.expect_quirk(Quirk::RecordLeftOut);
    }
}

#[test]
fn what_can_be_mended_is_mended_where_that_is_allowed() {
    for (fault, expected) in [
        (Fault::IllegalCharacter(42), "Record 42: café\u{fffd}"),
        (Fault::IllegalReference(42), "Record 42: café\u{fffd}"),
        (Fault::InvalidBytes(42), "Record 42: caféé"),
        (Fault::SplitCharacter(42), "Record 42: caféÅ"),
        (Fault::BareAmpersand(42), "Record 42: café AT&T & more"),
        (Fault::UnknownEntity(42), "Record 42: café é"),
    ] {
        let harvested = lenient(fault);

        harvested.expect_all();
        assert_eq!(title(&harvested, 42), expected);
        let repaired = harvested
            .records
            .iter()
            .filter(|record| !record.repairs.is_empty());
        assert_eq!(repaired.count(), 1);
    }
}

#[test]
fn tags_that_do_not_fit_cost_one_record() {
    let harvested = harvest(Fault::MismatchedTags(42));
    harvested.expect_all_but(&[42]);
    harvested.expect_quirk(Quirk::PageBroken);
    assert!(harvested.requests.len() < 80, "{:#?}", harvested.requests);

    let harvested = lenient(Fault::MismatchedTags(42));
    harvested.expect_all();
    harvested.expect_quirk(Quirk::MarkupMended);
    assert_eq!(harvested.requests.len(), 11);
}

#[test]
fn a_bad_record_among_many_of_its_day_is_found_one_by_one() {
    let script = Script::new(95, 10)
        .by_days(24)
        .with(Fault::MismatchedTags(42));
    let harvested = Setup::new(script).run();
    harvested.expect_all_but(&[42]);
    assert!(harvested.asked("verb=GetRecord") <= 24);
}

#[test]
fn several_bad_records_cost_no_more_than_themselves() {
    let script = Script::new(95, 10)
        .with(Fault::MismatchedTags(0))
        .with(Fault::MismatchedTags(41))
        .with(Fault::DeepNesting(42))
        .with(Fault::MismatchedTags(94));
    Setup::new(script).run().expect_all_but(&[0, 41, 42, 94]);
}

#[test]
fn bad_records_are_found_in_lists_of_any_order() {
    let script = Script::new(95, 10)
        .with(Fault::NewestFirst)
        .with(Fault::MismatchedTags(42));
    let harvested = Setup::new(script).run();
    harvested.expect_all_but(&[42]);
    harvested.expect_quirk(Quirk::NotInOrderOfDates);
}

#[test]
fn a_bad_record_is_found_although_the_harvest_is_killed_again_and_again() {
    let mut setup = Setup::new(Script::new(95, 10).with(Fault::MismatchedTags(42)));
    setup.killed_after = Some(1);

    let harvested = setup.run();

    assert_eq!(harvested.error, None);
    // The records given in the broken page before a kill may come again; the catalog knows them.
    assert_eq!(harvested.identifiers().len(), 94);
    assert_eq!(harvested.left_out.len(), 1);
}

#[test]
fn deep_nesting_costs_one_record() {
    harvest(Fault::DeepNesting(42)).expect_all_but(&[42]);
}

#[test]
fn a_record_that_is_too_long_costs_itself() {
    let mut setup = Setup::new(Script::new(95, 10).with(Fault::LongRecord(42, 300_000)));
    setup.options.read.record_limit = 100_000;
    setup.run().expect_all_but(&[42]);
}

#[test]
fn a_record_without_identifier_is_left_out() {
    let harvested = harvest(Fault::NoIdentifier(42));
    assert_eq!(harvested.error, None);
    assert_eq!(harvested.records.len(), 94);
    assert_eq!(harvested.left_out[0].identifier, None);
}

#[test]
fn an_answer_of_gigabytes_is_neither_kept_nor_waited_for() {
    let mut setup = Setup::new(Script::new(5, 10).with(Fault::HugeAnswer(300 << 20)));
    setup.options.read.record_limit = 8 << 20;

    let harvested = setup.run();

    // Only lists are so long; what is asked for one by one comes.
    assert_eq!(harvested.error, None);
    assert!(harvested.left_out.len() + harvested.records.len() >= 1);
    assert!(resident_megabytes() < 150, "{}", resident_megabytes());
}

fn resident_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1024
}

#[test]
fn document_types_are_passed_over_and_entities_never_resolved() {
    for fault in [Fault::EntityBomb, Fault::ExternalEntity] {
        let harvested = harvest(fault.clone());
        assert!(harvested.records.iter().all(|record| record.header.deleted));
        let met = harvested.left_out.len() + harvested.records.len();
        assert_eq!(met, 95, "{fault:?}");
        harvested.expect_quirk(Quirk::DocumentType);

        let harvested = lenient(fault);
        harvested.expect_all();
        assert!(
            title(&harvested, 42).contains('&'),
            "{}",
            title(&harvested, 42)
        );
    }
}

#[test]
fn a_list_that_ends_before_it_is_complete_goes_on_by_date() {
    let harvested = harvest(Fault::EndsEarly(7));
    harvested.expect_all();
    harvested.expect_quirk(Quirk::WrongCompleteListSize);
}

#[test]
fn a_list_that_ends_early_with_an_error_goes_on_by_date() {
    let script = || Script::new(95, 10).with(Fault::NothingLeft(3));
    for script in [script(), script().with(Fault::NoCompleteListSize)] {
        let harvested = Setup::new(script).run();

        harvested.expect_all();
        harvested.expect_quirk(Quirk::ListEndsWithError);
    }
}

#[test]
fn what_ends_early_with_an_error_and_is_in_no_order_is_told_as_a_loss() {
    let script = Script::new(95, 10)
        .with(Fault::NothingLeft(7))
        .with(Fault::NewestFirst);

    let harvested = Setup::new(script).run();

    assert_eq!(harvested.records.len(), 70);
    assert_eq!(harvested.left_out.len(), 1);
    let reason = &harvested.left_out[0].reason;
    assert!(reason.contains("25 more"), "{reason}");
}

#[test]
fn a_bad_record_is_told_once_however_often_its_page_is_read() {
    let script = Script::new(95, 10)
        .with(Fault::IllegalCharacter(41))
        .with(Fault::MismatchedTags(46));
    let harvested = Setup::new(script).run();
    harvested.expect_all_but(&[41, 46]);
}

#[test]
fn another_record_than_the_one_that_was_asked_for_is_not_taken_for_it() {
    let mut setup = Setup::new(Script::new(25, 10).with(Fault::OtherGiven(13)));
    setup.plan.method = harvester::Method::ListIdentifiers;

    let harvested = setup.run();

    harvested.expect_all_but(&[13]);
    harvested.expect_quirk(Quirk::ListedButNotGiven);
    let reason = &harvested.left_out[0].reason;
    assert!(reason.contains(&Script::identifier(14)), "{reason}");
}

#[test]
fn where_dates_before_the_earliest_are_refused_all_is_asked_for() {
    let script = Script::new(95, 10)
        .with(Fault::EarliestTooLate)
        .with(Fault::EarlierRefused);
    let mut setup = Setup::new(script);
    setup.plan.from = Some("2001-01-01T00:00:00Z".to_owned());

    let harvested = setup.run();

    harvested.expect_all();
    harvested.expect_quirk(Quirk::FromRefused);
}

#[test]
fn bodies_that_break_off_are_asked_for_again_without_repetition() {
    for fault in [
        Fault::Truncated { page: 4, times: 1 },
        Fault::Reset { page: 4, times: 2 },
        Fault::WebPage { page: 4, times: 2 },
        Fault::WebPage { page: 0, times: 1 },
    ] {
        let harvested = harvest(fault);
        harvested.expect_all();
        harvested.expect_quirk(Quirk::PageRepeated);
        assert!(!harvested.slept.is_empty());
    }
}

#[test]
fn a_page_that_never_comes_whole_is_gone_around() {
    for fault in [
        Fault::Truncated {
            page: 4,
            times: u32::MAX,
        },
        Fault::Reset {
            page: 4,
            times: u32::MAX,
        },
        Fault::WebPage {
            page: 4,
            times: u32::MAX,
        },
        Fault::Status {
            page: 4,
            status: 500,
            retry_after: None,
            times: u32::MAX,
        },
    ] {
        let harvested = harvest(fault);
        harvested.expect_all();
        harvested.expect_quirk(Quirk::PageBroken);
    }
}

#[test]
fn a_first_page_that_is_a_web_page_for_ever_is_told_as_such() {
    let harvested = harvest(Fault::WebPage {
        page: 0,
        times: u32::MAX,
    });
    assert_eq!(misbehaviour(&harvested), Misbehaviour::WebPage);
}

#[test]
fn the_server_is_given_the_time_it_asks_for() {
    let status = |status, retry_after: Option<&str>| Fault::Status {
        page: 3,
        status,
        retry_after: retry_after.map(str::to_owned),
        times: 2,
    };
    let harvested = harvest(status(503, Some("120")));
    harvested.expect_all();
    assert_eq!(
        harvested
            .slept
            .iter()
            .map(|wait| wait.as_secs())
            .collect::<Vec<_>>(),
        [120, 120]
    );
    harvested.expect_quirk(Quirk::AskedToWait);

    let harvested = harvest(status(503, Some("Fri, 31 Dec 2100 23:59:59 GMT")));
    let error = harvested.error.as_ref().unwrap();
    assert!(
        matches!(error.kind(), ErrorKind::AskedToWait { .. }),
        "{error}"
    );
    assert!(harvested.slept.is_empty(), "nobody waits for longer");

    for code in [429, 500, 502, 504] {
        let harvested = harvest(status(code, None));
        harvested.expect_all();
        assert!(harvested.slept[1] > harvested.slept[0] / 2);
        harvested.expect_quirk(Quirk::BusyWithoutRetryAfter);
    }
}

#[test]
fn slow_bodies_are_waited_for() {
    harvest(Fault::Drip { page: 9, pause: 0 }).expect_all();
}

#[test]
fn a_server_that_drips_for_ever_is_given_up() {
    let fault = Fault::Drip { page: 0, pause: 20 };
    let mut setup = Setup::new(Script::new(30, 30).with(fault));
    setup.options.read_timeout = std::time::Duration::from_millis(500);
    setup.options.attempts = 1;
    let started = std::time::Instant::now();

    let error = setup
        .repository()
        .list_records("oai_dc", None, None, None)
        .find_map(Result::err)
        .unwrap();

    assert!(matches!(error.kind(), ErrorKind::Transport(_)), "{error}");
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn expired_tokens_are_gone_around_by_date() {
    let harvested = harvest(Fault::ExpiredToken { page: 4, times: 1 });
    harvested.expect_all();
    harvested.expect_quirk(Quirk::TokenExpired);
    assert!(
        harvested
            .requests
            .iter()
            .any(|query| query.contains("from=2020-01-01T00:39:00Z"))
    );

    harvest(Fault::TokensExpireAfter(25)).expect_all();
    let script = Script::new(95, 10).with(Fault::NewestFirst);
    let harvested = Setup::new(script.with(Fault::TokensExpireAfter(25))).run();
    harvested.expect_all();
}

#[test]
fn a_token_that_expired_while_the_harvest_was_dead_costs_nothing() {
    let mut setup = Setup::new(Script::new(95, 10).with(Fault::TokensExpireAfter(15)));
    setup.killed_after = Some(1);
    let harvested = setup.run();
    assert_eq!(harvested.error, None);
    assert_eq!(harvested.identifiers().len(), 95);
}

#[test]
fn tokens_may_hold_any_character() {
    harvest(Fault::OddTokens).expect_all();
}

#[test]
fn lists_that_never_end_go_on_by_date() {
    for fault in LOOPS {
        for others in [&[][..], &[Fault::NewestFirst], &[Fault::NoCompleteListSize]] {
            let mut script = Script::new(95, 10).with(fault.clone());
            script.faults.extend(others.iter().cloned());
            let harvested = Setup::new(script).run();

            let name = format!("{fault:?} {others:?} {:?}", harvested.left_out);
            assert_eq!(harvested.error, None, "{name}");
            assert_eq!(harvested.identifiers().len(), 95, "{name}");
            assert!(harvested.left_out.is_empty(), "{name}");
            assert!(
                harvested.requests.len() < 700,
                "{}",
                harvested.requests.len()
            );
            harvested.expect_quirk(Quirk::ListLoops);
        }
    }
}

#[test]
fn lists_that_never_end_are_left_also_if_every_page_is_the_last_before_a_death() {
    for fault in LOOPS {
        let mut setup = Setup::new(Script::new(95, 10).with(fault.clone()));
        setup.killed_after = Some(1);
        setup.killed_after_whole_pages = true;
        let harvested = setup.run();
        assert_eq!(harvested.error, None, "{fault:?}");
        assert_eq!(harvested.identifiers().len(), 95, "{fault:?}");
    }
}

const LOOPS: [Fault; 4] = [
    Fault::SameTokenForEver,
    Fault::TokenCircle,
    Fault::EndlessEmptyPages,
    Fault::RestartingList,
];

#[test]
fn one_token_for_all_pages_is_tolerated() {
    let harvested = harvest(Fault::UnchangedToken);
    harvested.expect_all();
    harvested.expect_quirk(Quirk::TokenUnchanged);
}

#[test]
fn oddities_of_lists_are_tolerated_and_told() {
    for (fault, quirk) in [
        (Fault::TokenOnLastPage, Quirk::ListEndsWithError),
        (Fault::WrongCompleteListSize, Quirk::WrongCompleteListSize),
        (Fault::OverlappingPages, Quirk::RecordRepeated),
        (Fault::NewestFirst, Quirk::NotInOrderOfDates),
        (
            Fault::UnknownError { page: 4, times: 1 },
            Quirk::UnknownErrorCode,
        ),
    ] {
        let harvested = harvest(fault);
        harvested.expect_all();
        harvested.expect_quirk(quirk);
    }
    let harvested = harvest(Fault::EmptyPage(3));
    assert_eq!(harvested.records.len(), 85);
    harvested.expect_quirk(Quirk::EmptyPage);
}

#[test]
fn oddities_of_dates_are_tolerated_and_told() {
    for (fault, quirk) in [
        (Fault::FractionalSeconds, Quirk::DatestampForm),
        (Fault::LocalTime, Quirk::DatestampForm),
        (Fault::DaysInsteadOfSeconds, Quirk::OtherGranularity),
        (Fault::FutureDatestamp(42), Quirk::FutureDatestamp),
        (Fault::EarliestTooLate, Quirk::WrongEarliestDatestamp),
        (Fault::NoResponseDate, Quirk::NoResponseDate),
    ] {
        let harvested = harvest(fault);
        harvested.expect_all();
        harvested.expect_quirk(quirk);
    }
}

#[test]
fn a_future_datestamp_is_no_place_to_go_on_from() {
    let script = Script::new(95, 10)
        .with(Fault::FutureDatestamp(35))
        .with(Fault::ExpiredToken { page: 4, times: 1 });
    Setup::new(script).run().expect_all();
}

#[test]
fn seconds_that_are_told_and_refused_are_asked_for_as_days() {
    let mut setup = Setup::new(Script::new(95, 10).with(Fault::SecondsRefused));
    setup.plan.from = Some("2020-01-01".to_owned());
    let harvested = setup.run();
    harvested.expect_all();
    harvested.expect_quirk(Quirk::GranularityRefused);
}

#[test]
fn oddities_of_answers_are_tolerated_and_told() {
    for (fault, quirk) in [
        (Fault::UnannouncedGzip, Quirk::UnannouncedCompression),
        (Fault::UnannouncedZstd, Quirk::UnannouncedCompression),
        (Fault::GzipMissing, Quirk::AnnouncedCompressionMissing),
        (Fault::Latin1, Quirk::OtherEncoding),
        (Fault::Utf16, Quirk::OtherEncoding),
        (Fault::LeadingWhitespace, Quirk::LeadingWhitespace),
        (Fault::TrailingContent, Quirk::TrailingContent),
        (Fault::NoNamespace, Quirk::WrongNamespace),
        (Fault::RawDeflate, Quirk::UnannouncedCompression),
        (Fault::ErrorBesideList, Quirk::ErrorBesideAnswer),
        (Fault::ListsWithStatus(500), Quirk::AnswerWithHttpStatus),
        (Fault::ListsWithStatus(404), Quirk::AnswerWithHttpStatus),
    ] {
        let harvested = harvest(fault);
        harvested.expect_all();
        harvested.expect_quirk(quirk);
        assert_eq!(title(&harvested, 42), "Record 42: café");
    }
    harvest(Fault::PrefixedElements).expect_all();
    harvest(Fault::ZlibDeflate).expect_all();
}

#[test]
fn small_entities_that_a_document_type_declares_are_taken() {
    let harvested = harvest(Fault::SmallEntities);
    harvested.expect_all();
    harvested.expect_quirk(Quirk::DocumentType);
    assert_eq!(title(&harvested, 42), "Record 42: café üSmith & ü");
    assert!(
        harvested
            .records
            .iter()
            .all(|record| record.repairs.is_empty())
    );
}

#[test]
fn text_before_the_declaration_is_passed_over_where_that_is_allowed() {
    let harvested = lenient(Fault::LeadingText);
    harvested.expect_all();
    harvested.expect_quirk(Quirk::LeadingText);
    assert!(harvest(Fault::LeadingText).error.is_some());
}

#[test]
fn a_refused_from_falls_back_to_the_whole_list() {
    for days in [false, true] {
        let mut script = Script::new(95, 10).with(Fault::FromRefused);
        script.days = days;
        let mut setup = Setup::new(script);
        setup.plan.from = Some("2020-01-01".to_owned());
        let harvested = setup.run();
        harvested.expect_all();
        harvested.expect_quirk(Quirk::FromRefused);
    }
}

#[test]
fn credentials_refused_in_the_middle_of_a_list_are_named_unless_the_rest_comes_by_date() {
    let refused = Fault::Status {
        page: 4,
        status: 401,
        retry_after: None,
        times: u32::MAX,
    };
    let script = Script::new(95, 10).with(refused);
    // A page of a list that begins later is another page: everything comes.
    Setup::new(script.clone()).run().expect_all();

    let harvested = Setup::new(script.with(Fault::FromRefused)).run();
    let refusal = Incompatibility::HttpStatus(401);
    let kind = harvested.error.as_ref().unwrap().kind();
    assert_eq!(*kind, ErrorKind::RepositoryIncompatible(refusal));
}

#[test]
fn a_broken_identify_does_not_stop_a_harvest() {
    for fault in [
        Fault::VerbStatus("Identify", 500),
        Fault::VerbStatus("Identify", 503),
        Fault::VerbStatus("Identify", 404),
        Fault::VerbWebPage("Identify"),
    ] {
        let script = Script::new(95, 10).with(fault).with(Fault::RecordError(42));
        let harvested = Setup::new(script).run();
        harvested.expect_all_but(&[42]);
        harvested.expect_quirk(Quirk::IdentifyUnusable);
    }
}

#[test]
fn errors_with_a_status_of_http_are_read_as_errors() {
    let script = Script::new(95, 10)
        .with(Fault::ErrorsWithStatus)
        .with(Fault::ExpiredToken { page: 4, times: 1 });
    let harvested = Setup::new(script).run();
    harvested.expect_all();
    harvested.expect_quirk(Quirk::ErrorWithHttpStatus);
}

#[test]
fn records_that_are_listed_and_not_given_are_named() {
    let mut setup = Setup::new(Script::new(25, 10).with(Fault::NotGiven(13)));
    setup.plan.method = harvester::Method::ListIdentifiers;
    let harvested = setup.run();
    harvested.expect_all_but(&[13]);
    harvested.expect_quirk(Quirk::ListedButNotGiven);
}
