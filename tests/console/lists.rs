//! Lists as people work with them: sorted, filtered, turned, chosen from, with a mouse, with keys, and on a phone.

use serde_json::{Value, json};
use test_support::{Misbehaving, Script};

use super::{Console, account, picture};
use crate::managed::Managed;

/// A console with 60 paused schedules of one repository, and somebody who works on them.
fn console() -> (Console, Misbehaving) {
    let (managed, repository) = (Managed::new(), Misbehaving::start(Script::new(3, 3)));
    account(&managed, "olga", "operator");
    let holdings = managed.holdings();
    let add = |name: &str| -> String {
        let options = ["--every", "1 day", "--paused", "--name", name];
        managed.schedule(&repository, &options)
    };
    let first = add("Number 00").parse().unwrap();
    let catalog = holdings.catalog();
    let schedule = holdings.wait(catalog.schedule(first)).unwrap().unwrap();
    for number in 1..60 {
        let settings = catalog::ScheduleSettings {
            name: format!("Number {number:02}"),
            ..schedule.settings.clone()
        };
        holdings
            .wait(catalog.add_schedule(&settings, true))
            .unwrap();
    }
    (Console::start(managed, ""), repository)
}

fn texts(browser: &test_support::Browser, selector: &str) -> Vec<String> {
    let script =
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText.trim())";
    let texts = browser.run(script, &[selector.into()]);
    let texts = texts.as_array().unwrap().iter();
    texts
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_list_is_sorted_turned_and_acted_on_where_it_is() {
    let (console, _repository) = console();
    let browser = console.browser("olga");
    browser.open(&console.at("/schedules"));
    browser.wait_for("1–50 of 60 schedules");
    browser.picture(&picture("list-schedules"));

    browser.press("Schedule");
    browser.wait("the last come first", || {
        texts(&browser, "tbody th a")
            .first()
            .is_some_and(|name| name == "Number 59")
    });
    assert_eq!(browser.count("th[aria-sort=descending]"), 1);
    browser.press_at("a[rel=next]");
    browser.wait_for("51–60 of 60 schedules");
    let place = browser.url();
    browser.press("Resume Number 04");
    browser.wait_for("Number 04");
    browser.wait("she is where she was", || browser.url() == place);
    browser.wait("the message is shown", || browser.count(".flash") == 1);

    // Several at once, while the list is narrowed to those that pause.
    browser.choose("State", "paused");
    browser.wait_for("1–50 of 59 schedules");
    let disabled = ".bulk button:disabled";
    assert_eq!(browser.count(disabled), 3);
    let boxes = "return [...document.querySelectorAll('td.pick input')].slice(0, 2).map((box) => box.click()).length";
    assert_eq!(browser.run(boxes, &[]), 2);
    browser.wait_for("2 selected");
    assert_eq!(browser.count(disabled), 0);
    browser.press("Resume selected schedules");
    browser.wait_for("2 schedules resumed.");
    browser.wait_for("1–50 of 57 schedules");
    assert!(browser.url().contains("state=paused"), "{}", browser.url());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn keys_move_through_a_list_choose_from_it_and_can_be_switched_off() {
    let (console, _repository) = console();
    let browser = console.browser("olga");
    browser.open(&console.at("/schedules?size=25"));
    browser.wait("its script runs", || {
        browser.count("th.pick [data-all]") == 1
    });
    let current = || texts(&browser, "tr.current th .stack > div:first-child a");

    for key in ["j", "j", "j", "k", "x"] {
        browser.key(key);
    }
    assert_eq!(current(), ["Number 01"]);
    browser.wait_for("1 selected");
    // Rows that are read anew are chosen still.
    let again = "const rows = document.getElementById('rows'); const html = rows.innerHTML; rows.innerHTML = html";
    browser.run(again, &[]);
    browser.wait("the choice is kept", || {
        browser.count("tr.chosen td.pick input:checked") == 1
    });
    assert_eq!(current(), ["Number 01"]);
    browser.key("n");
    browser.wait_for("26–50 of 60 schedules");
    browser.key("p");
    browser.wait_for("1–25 of 60 schedules");

    browser.key("?");
    browser.wait("the keys are listed", || {
        browser.count("dialog.keys[open]") == 1
    });
    browser.picture(&picture("list-keys"));
    browser.press_at("dialog.keys [data-use]");
    browser.press("Close");
    browser.key("j");
    assert_eq!(current(), Vec::<String>::new());
    browser.press("Keyboard shortcuts");
    browser.press_at("dialog.keys [data-use]");
    browser.press("Close");
    browser.key("j");
    browser.key(ENTER);
    browser.wait("the schedule is open", || browser.path() == "/schedules/1");
}

#[test]
fn on_a_phone_filters_are_folded_and_rows_can_be_sorted() {
    let (console, _repository) = console();
    let browser = console.browser("olga");
    browser.set_width(390);
    browser.open(&console.at("/schedules"));
    browser.wait_for("1–50 of 60 schedules");
    browser.picture(&picture("list-schedules-phone"));
    let shown = |selector: &str| -> Value {
        let script = "return document.querySelector(arguments[0]).checkVisibility({ contentVisibilityAuto: true })";
        browser.run(script, &[json!(selector)])
    };

    assert_eq!(shown("#filter-state"), false);
    browser.press_at(".fold summary");
    browser.wait("filters are open", || shown("#filter-state") == true);
    browser.choose("Sort by", "Schedule ▼");
    browser.wait("the last come first", || {
        texts(&browser, "tbody th a")
            .first()
            .is_some_and(|name| name == "Number 59")
    });
    browser.set_width(1280);
    browser.open(&console.at("/schedules"));
    assert_eq!(
        shown("#filter-state"),
        true,
        "filters are not folded where there is room"
    );
}

#[test]
fn a_list_keeps_itself_up_to_date() {
    let (console, _repository) = console();
    let browser = console.browser("olga");
    browser.open(&console.at("/schedules?text=number+07"));
    browser.wait_for("1 schedule");
    assert_eq!(browser.count("tbody .badge[data-state=paused]"), 1);

    console.managed.garner(&["schedule", "resume", "8"]);

    browser.wait("the list says so by itself", || {
        browser.count("tbody .badge[data-state=paused]") == 0
    });
}

const ENTER: &str = "\u{e007}";
