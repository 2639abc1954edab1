//! Filters, mappings, validation.

use std::fs;

use test_support::{Fault, Script};

use super::{Harvester, at, no_arguments, repository};

const FILTERS: &str = "<filters match='any'>\
    <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>\
    <filter invert='false' xpath='//dc:title' regexp='Record [0-9]*[02468]:' ignoreCase='true'/></filters>";
const MAPPINGS: &str = "<normalize>\
    <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>\
    <mapping xpath='//dc:creator'>\
    <newElement regexp='author' ignoreCase='true' name='dc:contributor'><newValue>Somebody</newValue></newElement>\
    </mapping></normalize>";

#[test]
fn filters_keep_what_they_accept_and_deletions_always_count() {
    let (repository, live) = repository(Script::new(40, 10));
    let harvester = Harvester::new();
    let filters = harvester.write("filters.xml", FILTERS);

    let harvested = harvester.harvest(&repository.base_url(), &["--filter", at(&filters)]);

    assert_eq!(harvested.changes(), [20, 0, 0, 4]);
    assert_eq!(harvested.count("filtered"), 16);
    let even = live
        .into_iter()
        .filter(|id| id.ends_with(['0', '2', '4', '6', '8']));
    assert_eq!(harvester.live(), even.collect::<Vec<_>>());
    harvester.expect_consistent();
}

#[test]
fn other_filters_harvest_everything_again_and_with_prune_give_up_what_they_do_not_want() {
    let (repository, _) = repository(Script::new(40, 10));
    let harvester = Harvester::new();
    harvester.harvest(&repository.base_url(), &no_arguments());
    assert_eq!(harvester.live().len(), 36);
    let filters = harvester.write("filters.xml", FILTERS);

    let options = ["--filter", at(&filters), "--prune"];
    let harvested = harvester.harvest(&repository.base_url(), &options);

    let said = "rejects 16 of 36 records that are held; these are removed";
    assert!(harvested.stderr.contains(said), "{}", harvested.stderr);
    assert!(
        harvested.stderr.contains("everything is harvested again"),
        "{}",
        harvested.stderr
    );
    assert_eq!(harvester.live().len(), 20);
    harvester.expect_consistent();
    let again = harvester.harvest(&repository.base_url(), &["--filter", at(&filters)]);
    assert!(!again.stderr.contains("again"), "{}", again.stderr);
}

/// Issue 18: a filter took held records away without a word.
#[test]
fn what_a_new_filter_rejects_stays_and_is_marked_until_it_is_pruned() {
    let (repository, live) = repository(Script::new(40, 10));
    let harvester = Harvester::new();
    harvester.harvest(&repository.base_url(), &no_arguments());
    let filters = harvester.write("filters.xml", FILTERS);
    let filter = ["--filter", at(&filters)];
    let marked = || {
        let records = harvester.records().into_iter();
        records
            .filter(|record| record["validation"] == "filtered")
            .count()
    };

    let harvested = harvester.harvest(&repository.base_url(), &filter);

    let said =
        "rejects 16 of 36 records that are held; these stay and are marked; --prune removes them";
    assert!(harvested.stderr.contains(said), "{}", harvested.stderr);
    assert_eq!(harvested.count("filtered"), 16);
    assert_eq!(harvester.live(), live);
    assert_eq!(marked(), 16);
    harvester.expect_consistent();

    // Without the filter they are as they were, and with --prune they go, also if nothing is new.
    harvester.harvest(&repository.base_url(), &no_arguments());
    assert_eq!(marked(), 0);
    harvester.harvest(&repository.base_url(), &filter);
    let pruned = harvester.harvest(
        &repository.base_url(),
        &[&filter[..], &["--prune"]].concat(),
    );
    let said = "rejects 16 of 36 records that are held; these are removed";
    assert!(pruned.stderr.contains(said), "{}", pruned.stderr);
    assert_eq!((harvester.live().len(), marked()), (20, 0));
    harvester.expect_consistent();
}

#[test]
fn mappings_add_to_the_files() {
    let (repository, _) = repository(Script::new(5, 10));
    let harvester = Harvester::new();
    let mappings = harvester.write("mappings.xml", MAPPINGS);

    harvester.harvest(&repository.base_url(), &["--normalise", at(&mappings)]);

    for record in harvester.records() {
        let xml = fs::read_to_string(record["path"].as_str().unwrap()).unwrap();
        assert!(
            xml.contains("<dc:contributor>Somebody</dc:contributor>"),
            "{xml}"
        );
    }
}

#[test]
fn broken_files_are_refused_before_anything_is_asked() {
    let (repository, _) = repository(Script::new(5, 10));
    let harvester = Harvester::new();
    for (option, content, reason) in [
        (
            "--filter",
            "<filters match='any'>\n<filter xpath='//a[' regexp='x'/></filters>",
            "line 2",
        ),
        ("--filter", "<filters match='some'/>", "match"),
        (
            "--normalise",
            "<normalize>\n\n<mapping/></normalize>",
            "line 3",
        ),
        ("--filter", "nothing", "line 1"),
    ] {
        let file = harvester.write("rules.xml", content);
        let refused = harvester.run(&repository.base_url(), &[option, at(&file)]);
        assert_eq!(refused.code, 1, "{content}");
        assert!(
            refused.stderr.contains(reason) && refused.stderr.contains("rules.xml"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(repository.requests(), [""; 0]);
}

#[test]
fn very_strict_validation_leaves_out_what_no_schema_allows() {
    let (repository, live) = repository(Script::new(20, 10).with(Fault::UnknownElement(3)));
    let (strict, very_strict) = (Harvester::new(), Harvester::new());

    strict.harvest(&repository.base_url(), &no_arguments());
    let harvested = very_strict.run(&repository.base_url(), &["--validation", "very-strict"]);

    assert_eq!(strict.live(), live);
    assert_eq!(
        (harvested.code, harvested.count("skipped")),
        (3, 1),
        "{}",
        harvested.entry
    );
    assert!(
        harvested.warnings().contains(&Script::identifier(3)),
        "{}",
        harvested.entry
    );
    let record = very_strict.records();
    let skipped = record
        .iter()
        .find(|record| record["identifier"] == Script::identifier(3).as_str());
    assert_eq!(skipped.unwrap()["file"], serde_json::Value::Null);
    assert_eq!(very_strict.record_files().len(), live.len() - 1);
}

#[test]
fn loose_validation_mends_and_says_so() {
    let script = Script::new(20, 10)
        .with(Fault::BareAmpersand(2))
        .with(Fault::IllegalCharacter(4))
        .with(Fault::MismatchedTags(6));
    let (repository, live) = repository(script);
    let (strict, loose) = (Harvester::new(), Harvester::new());

    let left_out = strict.run(&repository.base_url(), &no_arguments());
    let mended = loose.run(&repository.base_url(), &["--validation", "loose"]);

    assert_eq!(left_out.code, 3);
    assert_eq!(strict.live().len(), live.len() - 3);
    assert_eq!(
        (mended.code, mended.count("repaired")),
        (0, 3),
        "{}",
        mended.entry
    );
    assert_eq!(loose.live().len(), live.len());
    for number in [2, 4, 6] {
        assert!(
            mended.warnings().contains(&Script::identifier(number)),
            "{}",
            mended.entry
        );
    }
    loose.expect_consistent();
}
