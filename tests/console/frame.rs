//! The frame of every page: the navigation by task, the search over everything, the menu of a phone.

use std::path::Path;

use operations::{Time, TimeZone};
use test_support::{Misbehaving, Script};

use super::{Console, account};
use crate::managed::Managed;

#[test]
fn the_navigation_shows_the_tasks_and_where_one_is() {
    let managed = Managed::new();
    account(&managed, "root", "admin");
    account(&managed, "vic", "viewer");
    let console = Console::start(managed, "");
    let browser = console.browser("root");

    let sections =
        "return [...document.querySelectorAll('.rail .section')].map((one) => one.innerText)";
    let seen = browser.run(sections, &[]);
    assert_eq!(
        seen.to_string(),
        r#"["Expose","Harvest","Collect","Activity","Admin"]"#
    );
    browser.press("Repositories");
    browser.wait("the list is there", || {
        browser.text_of("h1") == "Repositories"
    });
    assert_eq!(browser.text_of(".rail [aria-current=page]"), "Repositories");
    browser.open(&console.at("/repositories/new"));
    assert_eq!(browser.text_of(".rail [aria-current=page]"), "Repositories");
    browser.open(&console.at("/"));
    assert_eq!(browser.text_of(".rail [aria-current=page]"), "Overview");

    let browser = console.browser("vic");
    assert!(browser.offers("Rules") && !browser.offers("Accounts"));
}

#[test]
fn a_phone_folds_the_navigation_into_a_menu() {
    let managed = Managed::new();
    account(&managed, "vic", "viewer");
    let console = Console::start(managed, "");
    let browser = console.browser("vic");
    browser.set_width(390);
    browser.switch_scripts_off();
    browser.open(&console.at("/"));

    assert!(!browser.offers("Parents"), "the menu is closed");
    browser.press("Menu");
    browser.wait("the menu is open", || browser.offers("Parents"));
    browser.key(ESCAPE);
    browser.wait("the menu is closed", || !browser.offers("Parents"));
    browser.press("Menu");
    browser.press("Parents");
    browser.wait("the page is there", || browser.path() == "/parents");
}

#[test]
fn one_search_finds_repositories_records_and_documents() {
    let managed = Managed::new();
    account(&managed, "vic", "viewer");
    let harvested = Misbehaving::start(Script::new(30, 10));
    managed.garner(&["harvest", &harvested.base_url(), "--quiet"]);
    let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
    managed.garner(&["import", crawl.to_str().unwrap(), "--quiet"]);
    let console = Console::start(managed, "");
    let browser = console.browser("vic");

    // A slash goes to the search, and none is typed.
    browser.key("/");
    let focused = "return [document.activeElement.id, document.activeElement.value]";
    assert_eq!(
        browser.run(focused, &[]).to_string(),
        r#"["everywhere",""]"#
    );
    for key in "http".chars() {
        browser.key(&key.to_string());
    }
    browser.key(ENTER);
    browser.wait("the hits are there", || browser.path() == "/search");
    assert_eq!(browser.value("Search everything"), "http");
    assert!(browser.count("#repositories") == 1, "{}", browser.text());
    browser.press("All documents that match");
    browser.wait("the list is there", || browser.path() == "/documents");
    assert_eq!(browser.value("Search"), "http");

    browser.fill("Search everything", "a word that nobody wrote");
    browser.key(ENTER);
    browser.wait_for("Nothing matches.");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn times_are_shown_in_the_zone_of_the_account_and_in_utc_on_request() {
    let managed = Managed::new();
    account(&managed, "vic", "viewer");
    let harvested = Misbehaving::start(Script::new(30, 10));
    managed.garner(&["harvest", &harvested.base_url(), "--quiet"]);
    let console = Console::start(managed, "");
    let browser = console.browser("vic");
    let shown = || {
        let script = "const one = document.querySelector('.facts time:not([data-ago])'); return [one.innerText, one.dateTime, one.title]";
        let times = browser.run(script, &[]);
        [0, 1, 2].map(|at| times[at].as_str().unwrap().to_owned())
    };

    browser.open(&console.at("/me"));
    browser.fill("Time zone", "Mars/Olympus");
    browser.press("Save");
    browser.wait_for("there is no time zone `Mars/Olympus`");
    browser.fill("Time zone", "Asia/Tokyo");
    browser.press("Save");
    browser.wait_for("Times are now in Asia/Tokyo.");
    browser.open(&console.at("/repositories/1"));
    let [local, utc, tooltip] = shown();

    let seconds = serde_json::from_value::<Time>(utc.clone().into())
        .unwrap()
        .0;
    let tokyo = TimeZone::read("Asia/Tokyo").unwrap().at(seconds);
    assert_eq!(local, tokyo.strftime("%Y-%m-%d %H:%M").to_string());
    assert_eq!(tooltip, utc.replace('T', " ").replace('Z', " UTC"));
    browser.press("Show UTC and seconds");
    browser.wait("the address asks for UTC", || {
        browser.url().contains("utc=1")
    });
    assert_eq!(shown()[0], tooltip);
    assert_eq!(browser.count("time[data-ago]"), 0);
    browser.press("Show Asia/Tokyo");
    browser.wait("times are local again", || shown()[0] == local);

    // The command line sets it too, and both show it.
    let zoned = ["account", "time-zone", "vic", "America/New_York", "--json"];
    let account: serde_json::Value = serde_json::from_str(&console.managed.garner(&zoned)).unwrap();
    assert_eq!(account["time_zone"], "America/New_York");
    browser.open(&console.at("/me"));
    assert_eq!(browser.value("Time zone"), "America/New_York");
    assert!(browser.text_of(".zone").ends_with("America/New_York"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
