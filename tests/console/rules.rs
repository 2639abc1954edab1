//! Filters, tried on a record before anything goes by them.

use test_support::{Misbehaving, Script};

use super::{Console, account, picture};
use crate::managed::Managed;

#[test]
fn a_filter_is_tried_on_a_live_record_before_it_is_saved() {
    let (managed, repository) = (Managed::new(), Misbehaving::start(Script::new(30, 10)));
    account(&managed, "olga", "operator");
    managed.schedule(&repository, &["--once", "--paused"]);
    let console = Console::start(managed, "");
    let browser = console.browser("olga");
    let filter = |words: &str| {
        format!(
            r#"<filters match="any"><filter xpath="//*[local-name()='title']" regexp="{words}"/></filters>"#
        )
    };

    browser.open(&console.at("/rules"));
    browser.press("Add filter");
    browser.fill("Name", "Titles");
    browser.fill("Rules", "this is no XML");
    browser.choose("Record", "a live record");
    browser.fill("Repository, for a live record", "Misbehaving");
    browser.press("Try it");
    browser.wait("the mistake is told", || {
        browser.text_of("#content-error").contains("line 1")
    });
    assert_eq!(browser.value("Rules"), "this is no XML");

    browser.fill("Rules", &filter("no title has this"));
    browser.press("Try it");
    browser.wait("it is rejected", || browser.text_of("#tried") == "rejected");
    browser.fill("Rules", &filter("Record"));
    browser.press("Try it");
    browser.wait("it is accepted", || browser.text_of("#tried") == "accepted");
    browser.picture(&picture("filter-tried"));
    browser.press("Save the filter");
    browser.wait_for("The filter Titles is saved.");

    // From now on schedules can be given it.
    browser.open(&console.at("/schedules/1/edit"));
    browser.choose("Filter", "Titles");
    browser.press("Save schedule");
    browser.wait_for("Schedule 1 is changed.");
    browser.open(&console.at("/rules"));
    browser.press("Titles");
    browser.press("Remove…");
    browser.wait_for("Titles is used by");
}
