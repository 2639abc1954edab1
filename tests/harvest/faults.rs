//! Repositories that misbehave: what happens is right and is told. Each fault alone is tried on the client library;
//! here is what a user sees of some of them.

use test_support::{Fault, Script};

use super::{Harvester, no_arguments, repository};

/// Issue 18: nobody knew why nothing happened.
#[test]
fn waiting_is_told_and_has_a_limit() {
    let busy = |retry_after: &str| Fault::Status {
        page: 1,
        status: 503,
        retry_after: Some(retry_after.to_owned()),
        times: 1,
    };
    let (repository, live) = repository(Script::new(50, 10).with(busy("1")));
    let harvester = Harvester::new();

    let harvested = harvester.harvest(&repository.base_url(), &no_arguments());

    let said = "server asks to wait 1 s (Retry-After): the server answers 503";
    assert!(harvested.stderr.contains(said), "{}", harvested.stderr);
    assert_eq!(harvester.live(), live);

    repository.change(|script| script.faults = vec![busy("7200")]);
    let refused = harvester.run(&repository.base_url(), &["--full"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    let said = "asks to wait 2 h (Retry-After), longer than the limit of 1 h";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
}

#[test]
fn nothing_that_can_be_had_is_lost_to_a_fault() {
    for fault in [
        Fault::Truncated { page: 1, times: 1 },
        Fault::Reset { page: 2, times: 2 },
        Fault::WebPage { page: 1, times: 1 },
        Fault::Status {
            page: 1,
            status: 503,
            retry_after: Some("1".to_owned()),
            times: 1,
        },
        Fault::Status {
            page: 2,
            status: 429,
            retry_after: Some("0".to_owned()),
            times: 1,
        },
        Fault::ExpiredToken { page: 2, times: 1 },
        Fault::OddTokens,
        Fault::UnchangedToken,
        Fault::TokenOnLastPage,
        Fault::WrongCompleteListSize,
        Fault::OverlappingPages,
        Fault::NewestFirst,
        Fault::FractionalSeconds,
        Fault::SecondsRefused,
        Fault::UnannouncedGzip,
        Fault::UnannouncedZstd,
        Fault::GzipMissing,
        Fault::Latin1,
        Fault::Utf16,
        Fault::LeadingWhitespace,
        Fault::TrailingContent,
        Fault::NoNamespace,
        Fault::PrefixedElements,
        Fault::FutureDatestamp(3),
        Fault::NoResponseDate,
        Fault::ErrorsWithStatus,
        Fault::NoSets,
        Fault::SameTokenForEver,
        Fault::TokenCircle,
        Fault::EndlessEmptyPages,
        Fault::RestartingList,
        Fault::FromRefused,
        Fault::ErrorBesideList,
        Fault::ListsWithStatus(500),
        Fault::SmallEntities,
        Fault::RawDeflate,
        Fault::ZlibDeflate,
    ] {
        let (repository, live) = repository(Script::new(50, 10).with(fault.clone()));
        let harvester = Harvester::new();

        let harvested = harvester.run(&repository.base_url(), &no_arguments());

        assert_eq!(harvested.code, 0, "{fault:?}: {}", harvested.stderr);
        assert_eq!(harvester.live(), live, "{fault:?}");
        harvester.expect_consistent();
        let again = harvester.run(&repository.base_url(), &no_arguments());
        assert_eq!(again.code, 0, "{fault:?}: {}", again.stderr);
        assert_eq!(
            (again.count("new"), again.count("deleted")),
            (0, 0),
            "{fault:?}"
        );
    }
}

#[test]
fn oddities_are_told_in_the_history() {
    let script = Script::new(30, 10)
        .with(Fault::UnannouncedGzip)
        .with(Fault::TrailingContent);
    let (repository, _) = repository(script);
    let harvester = Harvester::new();

    let harvested = harvester.harvest(&repository.base_url(), &no_arguments());

    assert_eq!(harvested.quirk("trailingContent"), 3, "{}", harvested.entry);
    let told = harvester.garner(&["history", "1"]);
    assert!(
        told.contains("Compressed answers are not announced as such."),
        "{told}"
    );
}

#[test]
fn a_record_that_breaks_its_page_is_left_out_alone_and_named() {
    for fault in [
        Fault::MismatchedTags(17),
        Fault::InvalidBytes(17),
        Fault::IllegalReference(17),
    ] {
        let (repository, mut live) = repository(Script::new(50, 10).with(fault.clone()));
        let harvester = Harvester::new();

        let harvested = harvester.run(&repository.base_url(), &no_arguments());

        assert_eq!(
            (harvested.code, harvested.state()),
            (3, "incomplete"),
            "{fault:?}"
        );
        assert!(
            harvested.warnings().contains(&Script::identifier(17)),
            "{fault:?} {}",
            harvested.entry
        );
        live.retain(|identifier| *identifier != Script::identifier(17));
        assert_eq!(harvester.live(), live, "{fault:?}");
        harvester.expect_consistent();
    }
}

#[test]
fn the_newest_version_of_a_record_is_kept_whatever_comes_last() {
    let script = Script::new(50, 10).with(Fault::OlderVersion(17));
    let (repository, live) = repository(script);
    let harvester = Harvester::new();

    let harvested = harvester.run(&repository.base_url(), &no_arguments());

    assert_eq!((harvested.code, harvested.state()), (0, "ok"));
    assert_eq!(harvester.live(), live);
    harvester.expect_consistent();
    let again = harvester.run(&repository.base_url(), &["--full"]);
    assert_eq!(again.entry["counts"]["updated"], 0, "{}", again.entry);
}

#[test]
fn redirects_that_never_end_are_given_up_with_a_reason() {
    let (repository, _) = repository(Script::new(50, 10).with(Fault::RedirectLoop));
    let harvester = Harvester::new();

    let harvested = harvester.run(&repository.base_url(), &no_arguments());

    assert_eq!(harvested.code, 1, "{}", harvested.stderr);
    assert!(
        harvested.stderr.contains("redirects"),
        "{}",
        harvested.stderr
    );
}

#[test]
fn where_all_pages_of_records_are_broken_it_ends_soon_and_says_what_helps() {
    let (repository, live) = repository(Script::new(50, 10).with(Fault::RecordsBroken));
    let harvester = Harvester::new();

    let harvested = harvester.run(&repository.base_url(), &["--attempts", "1"]);
    let requests = repository.requests().len();
    assert!(requests < 1000, "{requests}");
    if harvested.code == 1 {
        assert!(
            harvested.stderr.contains("one by one"),
            "{}",
            harvested.stderr
        );
    }

    harvester.run(&repository.base_url(), &["--method", "ListIdentifiers"]);
    assert_eq!(harvester.live(), live);
    harvester.expect_consistent();
}

#[test]
fn a_clock_that_is_ahead_does_not_lead_the_next_harvest_astray() {
    let (repository, _) = repository(Script::new(5, 10).with(Fault::ClockAhead));
    let harvester = Harvester::new();

    let harvested = harvester.harvest(&repository.base_url(), &no_arguments());

    let next = harvested.entry["next_from"].as_str().unwrap();
    assert!(next < "2090", "{next}");
}

#[test]
fn slices_lose_nothing_where_until_is_exclusive_or_means_midnight() {
    for until in [Fault::UntilExclusive, Fault::UntilMidnight] {
        for days in [false, true] {
            let mut script = Script::new(1000, 100).with(until.clone());
            script.days = days;
            // Over six years, as the clock of slices has it.
            script.step = 200_000;
            let (repository, live) = repository(script);
            let harvester = Harvester::new();

            let harvested = harvester.run(&repository.base_url(), &["--slices", "12"]);

            let name = format!("{until:?} {days} {}", harvested.stderr);
            assert_eq!(harvested.code, 0, "{name}");
            assert_eq!(harvester.live(), live, "{name}");
        }
    }
}

#[test]
fn slices_that_bring_too_little_are_followed_by_the_whole_list() {
    // Lists that have both dates hold ten records at most.
    let mut script = Script::new(200, 100).with(Fault::ShortSpans(10));
    script.step = 1_000_000;
    let (repository, live) = repository(script);
    let harvester = Harvester::new();

    let harvested = harvester.harvest(&repository.base_url(), &["--slices", "4"]);

    assert_eq!(harvester.live(), live);
    assert_eq!(harvested.quirk("listShrank"), 1);
}

#[test]
fn verbs_that_a_harvest_does_not_need_never_stop_it() {
    for (faults, quirks) in [
        (
            vec![Fault::VerbStatus("ListSets", 500)],
            &["setsUnusable"][..],
        ),
        (
            vec![Fault::VerbStatus("ListMetadataFormats", 502)],
            &["formatsUnusable"],
        ),
        (
            vec![Fault::VerbStatus("Identify", 500)],
            &["identifyUnusable"],
        ),
        (
            vec![Fault::VerbStatus("Identify", 404)],
            &["identifyUnusable"],
        ),
        (vec![Fault::VerbWebPage("Identify")], &["identifyUnusable"]),
        (
            vec![
                Fault::VerbWebPage("Identify"),
                Fault::VerbStatus("ListMetadataFormats", 500),
                Fault::VerbStatus("ListSets", 503),
            ],
            &["identifyUnusable", "formatsUnusable", "setsUnusable"],
        ),
    ] {
        let mut script = Script::new(50, 10);
        script.faults = faults.clone();
        let (repository, live) = repository(script);
        let base_url = repository.base_url();
        let harvester = Harvester::new();

        let harvested = harvester.run(&base_url, &["--attempts", "1"]);

        assert_eq!(harvested.code, 0, "{faults:?}: {}", harvested.stderr);
        assert_eq!(harvester.live(), live, "{faults:?}");
        for quirk in quirks {
            assert!(harvested.quirk(quirk) > 0, "{quirk} {}", harvested.entry);
        }

        // And it can be added by itself.
        let harvester = Harvester::new();
        let told = harvester.garner(&["repository", "add", &base_url, "--attempts", "1"]);
        assert!(told.contains("gives no usable answer"), "{faults:?} {told}");
        let sliced = harvester.run(&base_url, &["--attempts", "1", "--slices", "3"]);
        assert_eq!(sliced.code, 0, "{faults:?}: {}", sliced.stderr);
        assert_eq!(harvester.live(), live, "{faults:?}");
    }

    // A web site is no repository.
    let mut script = Script::new(5, 10);
    for verb in [
        "Identify",
        "ListMetadataFormats",
        "ListSets",
        "ListIdentifiers",
        "ListRecords",
    ] {
        script = script.with(Fault::VerbWebPage(verb));
    }
    let (repository, _) = repository(script);
    let harvested = Harvester::new().run(&repository.base_url(), &["--attempts", "1"]);
    assert_eq!(harvested.code, 1);
    assert!(
        harvested.stderr.contains("web page"),
        "{}",
        harvested.stderr
    );
}

#[test]
fn a_refused_from_falls_back_to_the_whole_list_and_is_told() {
    let (repository, live) = repository(Script::new(50, 10).with(Fault::FromRefused));
    let harvester = Harvester::new();
    harvester.harvest(&repository.base_url(), &no_arguments());

    let again = harvester.harvest(&repository.base_url(), &no_arguments());

    assert_eq!(again.quirk("fromRefused"), 1, "{}", again.entry);
    assert_eq!(again.count("unchanged"), 50, "{}", again.entry);
    assert!(again.quirk("granularityRefused") == 0);
    assert_eq!(harvester.live(), live);
}

#[test]
fn text_before_the_declaration_is_passed_over_in_loose_alone() {
    let (repository, live) = repository(Script::new(50, 10).with(Fault::LeadingText));
    let harvester = Harvester::new();
    let strict = harvester.run(&repository.base_url(), &["--attempts", "1"]);
    assert_eq!(strict.code, 1, "{}", strict.stderr);

    let loose = harvester.harvest(&repository.base_url(), &["--validation", "loose"]);

    assert!(loose.quirk("leadingText") > 0, "{}", loose.entry);
    assert_eq!(harvester.live(), live);
}
