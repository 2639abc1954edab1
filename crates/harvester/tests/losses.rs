//! Lists that lose records without a word: every record comes, or its loss is told (issue 18).

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

mod common;

use common::{Harvested, Setup};
use harvester::{Method, Quirk};
use test_support::{Fault, Script};

/// Servers for which `until` is exclusive or means midnight, with seconds and with days.
fn servers() -> Vec<(String, Script)> {
    let mut servers = Vec::new();
    for until in [Fault::UntilExclusive, Fault::UntilMidnight] {
        for days in [false, true] {
            // Some records lie exactly at midnight, most do not.
            let mut script = Script::new(1000, 50).with(until.clone());
            script.days = days;
            script.step = 7200;
            servers.push((format!("{until:?}, days: {days}"), script));
        }
    }
    servers
}

fn expect_all_but(name: &str, harvested: &Harvested, lost: &[usize]) {
    assert_eq!(harvested.error, None, "{name}");
    let left_out = &harvested.left_out;
    let came = harvested.identifiers().len();
    assert_eq!(came, 1000 - lost.len(), "{name}: {left_out:?}");
    assert_eq!(left_out.is_empty(), lost.is_empty(), "{name}: {left_out:?}");
}

#[test]
fn cuts_lose_nothing_where_until_is_exclusive_or_means_midnight() {
    for (name, script) in servers() {
        for unordered in [false, true] {
            let script = match unordered {
                true => script.clone().with(Fault::NewestFirst),
                false => script.clone(),
            };
            for (fault, lost) in [
                (Fault::TokensExpireAfter(100), &[][..]),
                (
                    Fault::Status {
                        page: 7,
                        status: 500,
                        retry_after: None,
                        times: u32::MAX,
                    },
                    &[],
                ),
                (Fault::MismatchedTags(412), &[412]),
                (Fault::RecordError(412), &[412]),
            ] {
                let name = format!("{name}, {fault:?}, unordered: {unordered}");
                let harvested = Setup::new(script.clone().with(fault)).run();
                expect_all_but(&name, &harvested, lost);
                let requests = harvested.requests.len();
                assert!(requests < 400, "{name}: {requests}");
            }
        }
    }
}

#[test]
fn cuts_within_a_day_lose_nothing_either() {
    for until in [
        None,
        Some(Fault::UntilExclusive),
        Some(Fault::UntilMidnight),
    ] {
        let mut script = Script::new(1000, 50).with(Fault::MismatchedTags(412));
        script.step = 30;
        script.faults.extend(until.clone());
        for size in [None, Some(Fault::NoCompleteListSize)] {
            let mut script = script.clone();
            script.faults.extend(size);
            let harvested = Setup::new(script).run();
            expect_all_but(&format!("{until:?}"), &harvested, &[412]);
        }
    }
}

#[test]
fn a_span_that_reads_well_in_parts_is_checked_by_its_headers() {
    // The list breaks at one place and tells no size; its parts are read well.
    let fault = Fault::Status {
        page: 3,
        status: 500,
        retry_after: None,
        times: u32::MAX,
    };
    for unordered in [false, true] {
        let mut script = Script::new(300, 50)
            .with(fault.clone())
            .with(Fault::NoCompleteListSize);
        if unordered {
            script = script.with(Fault::NewestFirst);
        }
        let harvested = Setup::new(script).run();

        assert_eq!(harvested.error, None);
        assert_eq!(harvested.identifiers().len(), 300);
        assert!(harvested.asked("verb=ListIdentifiers") > 0);
        // Where the headers cannot be read to their end either, nobody knows.
        let left_out = &harvested.left_out;
        assert_eq!(left_out.len(), usize::from(unordered), "{left_out:?}");
        if unordered {
            let reason = &harvested.left_out[0].reason;
            assert!(reason.contains("cannot be checked"), "{reason}");
        }
    }
}

#[test]
fn a_bad_page_costs_a_bounded_number_of_requests_and_is_told() {
    for (fault, lost) in [
        (Fault::RecordError(25), 1),
        (Fault::HeaderError(25), 1),
        (Fault::MismatchedTags(25), 1),
    ] {
        for script in [
            Script::new(50, 50),
            Script::new(50, 10),
            Script::new(50, 10).with(Fault::NewestFirst),
        ] {
            let harvested = Setup::new(script.with(fault.clone())).run();

            let name = format!("{fault:?}: {:?}", harvested.left_out);
            assert_eq!(harvested.error, None, "{name}");
            assert_eq!(harvested.identifiers().len(), 50 - lost, "{name}");
            assert_eq!(harvested.left_out.len(), 1, "{name}");
            let waited: u64 = harvested.slept.iter().map(|wait| wait.as_secs()).sum();
            let requests = harvested.requests.len();
            assert!(
                waited < 240 && requests < 150,
                "{name} {waited} s {requests}"
            );
        }
    }
}

#[test]
fn what_is_spent_on_a_bad_page_is_limited_and_told() {
    let mut script = Script::new(400, 400);
    for number in (0..400).step_by(2) {
        script = script.with(Fault::HeaderError(number));
    }

    let harvested = Setup::new(script).run();

    assert_eq!(harvested.error, None);
    let requests = harvested.requests.len();
    assert!(requests < 500, "{requests}");
    let told = |one: &harvester::LeftOut| one.reason.contains("given up after");
    assert!(
        harvested.left_out.iter().any(told),
        "{:?}",
        harvested.left_out
    );
}

#[test]
fn a_list_that_shrinks_while_it_is_read_is_read_again() {
    for unordered in [false, true] {
        for page in [1, 2, 4] {
            for silent in [false, true] {
                let mut script = Script::new(50, 10).with(Fault::Vanish { page, records: 10 });
                if unordered {
                    script = script.with(Fault::NewestFirst);
                }
                if silent {
                    script = script.with(Fault::NoCompleteListSize);
                }
                let harvested = Setup::new(script).run();

                let name = format!("{unordered} {page} {silent} {:?}", harvested.requests);
                assert_eq!(harvested.error, None, "{name}");
                assert!(harvested.left_out.is_empty(), "{name}");
                // Without sizes nobody can know; newest first, what vanishes lies behind.
                if !silent {
                    let came = harvested.identifiers();
                    let live = (10..50).map(Script::identifier);
                    assert!(live.into_iter().all(|one| came.contains(&one)), "{name}");
                    let quirks = &harvested.outcome.quirks;
                    let told = [Quirk::ListShrank, Quirk::ListEndsWithError];
                    assert!(told.iter().any(|quirk| quirks.count(*quirk) > 0), "{name}");
                }
            }
        }
    }
}

#[test]
fn sizes_that_are_always_wrong_are_a_quirk_and_cost_one_reading() {
    let script = Script::new(95, 10).with(Fault::SizeTooLarge(30));
    let harvested = Setup::new(script).run();
    harvested.expect_all();
    harvested.expect_quirk(Quirk::SizesUnreliable);
    assert!(harvested.requests.len() < 30, "{:?}", harvested.requests);

    // Sizes that count down are understood.
    let script = Script::new(95, 10).with(Fault::RemainingSize);
    let harvested = Setup::new(script).run();
    harvested.expect_all();
    assert_eq!(harvested.requests.len(), 11);
}

#[test]
fn records_that_were_seen_to_be_passed_over_make_a_harvest_incomplete() {
    // Ten records vanish during each reading: those that come at the second only were passed over at the first, and others
    // may have been at the second.
    let script = Script::new(80, 10).with(Fault::VanishEachTime {
        page: 3,
        records: 10,
    });
    let harvested = Setup::new(script).run();

    assert_eq!(harvested.error, None);
    assert_eq!(harvested.left_out.len(), 1, "{:?}", harvested.left_out);
    let reason = &harvested.left_out[0].reason;
    assert!(reason.contains("passed over"), "{reason}");
    harvested.expect_quirk(Quirk::SizesUnreliable);
}

/// Records whose title is not what the server has.
fn damaged(harvested: &Harvested) -> Vec<String> {
    let mut last = std::collections::BTreeMap::new();
    for record in &harvested.records {
        last.insert(record.header.identifier.clone(), &record.xml);
    }
    let is_damaged = |xml: &Vec<u8>| memchr::memmem::find(xml, b"<dc:title>Sec").is_some();
    let damaged = last.iter().filter(|(_, xml)| is_damaged(xml));
    damaged.map(|(identifier, _)| identifier.clone()).collect()
}

#[test]
fn an_answer_whose_checksum_does_not_fit_is_asked_for_again_before_any_of_it_is_given() {
    for page in [0, 3, 9] {
        for times in [1, 2] {
            let script = Script::new(95, 10).with(Fault::DamagedGzip { page, times });
            let harvested = Setup::new(script).run();

            harvested.expect_all();
            assert_eq!(damaged(&harvested), [""; 0], "{page} {times}");
            harvested.expect_quirk(Quirk::PageRepeated);
        }
    }
}

#[test]
fn the_records_of_a_long_page_that_was_damaged_come_again() {
    // The page is longer than what waits for its checksum, and more of it follows then.
    let long = Fault::LongRecord(3, 5 << 20);
    let fault = Fault::DamagedGzip { page: 0, times: 1 };
    for records in [3000, 3010] {
        let script = Script::new(records, 3000).with(long.clone());
        let harvested = Setup::new(script.with(fault.clone())).run();

        assert_eq!(harvested.error, None);
        assert_eq!(harvested.identifiers().len(), records);
        assert!(harvested.left_out.is_empty(), "{:?}", harvested.left_out);
        let (came, requests) = (harvested.records.len(), &harvested.requests);
        assert!(
            came > records,
            "{came} {requests:?} {:?}",
            harvested.outcome
        );
        assert_eq!(damaged(&harvested), [""; 0]);
    }
}

#[test]
fn records_of_a_list_that_is_always_damaged_are_asked_for_one_by_one() {
    let fault = Fault::DamagedGzip {
        page: 0,
        times: u32::MAX,
    };
    let harvested = Setup::new(Script::new(20, 20).with(fault)).run();

    harvested.expect_all();
    assert_eq!(damaged(&harvested), [""; 0]);
}

/// Records that did not come in their last state.
fn not_current(harvested: &Harvested, script: &Script, moved: usize) -> Vec<usize> {
    let came = |number: &usize| {
        let identifier = Script::identifier(*number);
        let mut records = harvested.records.iter();
        records.any(|record| {
            let header = &record.header;
            let is_current = header.datestamp.starts_with("2021") == (*number < moved);
            header.identifier == identifier && is_current
        })
    };
    (0..script.records).filter(|number| !came(number)).collect()
}

#[test]
fn a_list_whose_records_change_and_move_to_its_end_is_read_again() {
    // The size stays the same, and records come twice.
    for method in [Method::ListRecords, Method::ListIdentifiers] {
        for days in [false, true] {
            for page in [1, 2, 4] {
                let mut script = Script::new(50, 10).with(Fault::Move { page, records: 5 });
                if days {
                    script = script.by_days(4);
                }
                let mut setup = Setup::new(script.clone());
                setup.plan.method = method;
                let harvested = setup.run();

                let name = format!("{method:?} {days} {page} {:?}", harvested.requests);
                assert_eq!(harvested.error, None, "{name}");
                assert!(harvested.left_out.is_empty(), "{name}");
                assert_eq!(not_current(&harvested, &script, 5), [0; 0], "{name}");
                harvested.expect_quirk(Quirk::RecordsMoved);
            }
        }
    }
}

#[test]
fn a_harvest_that_is_killed_notices_records_that_moved_before() {
    for killed_after in [1, 2, 3] {
        let script = Script::new(50, 10).with(Fault::Move {
            page: 2,
            records: 5,
        });
        let mut setup = Setup::new(script.clone());
        setup.killed_after = Some(killed_after);
        let harvested = setup.run();

        assert_eq!(
            not_current(&harvested, &script, 5),
            [0; 0],
            "{killed_after}"
        );
    }
}

#[test]
fn records_that_move_at_each_reading_make_a_harvest_incomplete() {
    let script = Script::new(80, 10).with(Fault::MoveEachTime {
        page: 3,
        records: 5,
    });
    let harvested = Setup::new(script).run();

    assert_eq!(harvested.error, None);
    assert_eq!(harvested.left_out.len(), 1, "{:?}", harvested.left_out);
    let reason = &harvested.left_out[0].reason;
    assert!(reason.contains("passed over"), "{reason}");
    // The sizes were right.
    assert_eq!(harvested.outcome.quirks.count(Quirk::SizesUnreliable), 0);
}
