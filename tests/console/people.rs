//! Several people: who may do what, who comes in at all, and two at the same schedule.

use serde_json::Value;
use test_support::{Browser, Misbehaving, Script};

use super::{Console, PASSWORD, account, picture};
use crate::managed::Managed;

#[test]
fn a_viewer_reads_everything_and_steers_nothing() {
    let (managed, repository) = (Managed::new(), Misbehaving::start(Script::new(30, 10)));
    account(&managed, "vic", "viewer");
    account(&managed, "root", "admin");
    managed.garner(&["harvest", &repository.base_url(), "--quiet"]);
    managed.schedule(&repository, &["--every", "1 day", "--paused"]);
    let console = Console::start(managed, "");
    let browser = console.browser("vic");

    for path in [
        "/",
        "/repositories",
        "/repositories/1",
        "/schedules",
        "/schedules/1",
        "/runs",
        "/rules",
        "/runs/all",
    ] {
        browser.open(&console.at(path));
        assert_ne!(browser.text_of("h1"), "", "{path}");
        let buttons = browser.run(
            "return [...document.querySelectorAll('main form[method=post] button, main a.button.main, main .danger')].filter((one) => !one.closest('[action=\"/first-steps/hide\"]')).map((one) => one.innerText)",
            &[],
        );
        assert_eq!(buttons, Value::Array(Vec::new()), "{path}");
        assert!(!browser.offers("Accounts"), "{path}");
    }
    browser.open(&console.at("/schedules/1/edit"));
    browser.wait_for("Not allowed");
    browser.picture(&picture("forbidden"));
    let status = browser.run_on(
        "fetch('/schedules/1/run', { method: 'POST' }).then((got) => arguments[0](got.status))",
        &[],
    );
    assert_eq!(status, 403);
    assert_eq!(console.managed.jobs(), Vec::<Value>::new());

    // After a logout the password is asked for again, and the page that was wanted follows.
    browser.press_at(".person summary");
    browser.press("Log out");
    browser.wait("it is the door", || browser.path() == "/login");
    browser.open(&console.at("/audit"));
    assert_eq!(browser.path(), "/login");
    browser.fill("Name", "root");
    browser.fill("Password", PASSWORD);
    browser.press("Log in");
    browser.wait("he is where he wanted", || browser.path() == "/audit");
    browser.wait_for("session.begin");
    assert!(browser.offers("Accounts"));
}

#[test]
fn guessing_passwords_gets_slower_and_slower() {
    let managed = Managed::new();
    account(&managed, "root", "admin");
    let console = Console::start(managed, "");
    let browser = Browser::start();

    let mut tries = 0;
    while !browser.text().contains("too many failures; wait for") {
        tries += 1;
        assert!(tries < 10, "{}", browser.text());
        console.log_in(&browser, "root", "a wrong password");
        browser.wait("there is an answer", || {
            let text = browser.text();
            text.contains("Wrong name or password") || text.contains("too many failures")
        });
    }
    assert!(tries > 3, "typing errors are forgiven");
    browser.picture(&picture("throttled"));
    // After the wait the login succeeds.
    browser.wait("one is inside", || {
        console.log_in(&browser, "root", PASSWORD);
        browser.path() == "/"
    });
}

#[test]
fn two_who_edit_one_schedule_lose_nothing() {
    let (managed, repository) = (Managed::new(), Misbehaving::start(Script::new(30, 10)));
    account(&managed, "ann", "operator");
    account(&managed, "bob", "operator");
    managed.schedule(&repository, &["--every", "1 day", "--paused"]);
    let console = Console::start(managed, "");
    let (ann, bob) = (console.browser("ann"), console.browser("bob"));
    for browser in [&ann, &bob] {
        browser.open(&console.at("/schedules/1/edit"));
    }

    ann.fill("Name", "By Ann");
    ann.press("Save schedule");
    ann.wait("hers is saved", || ann.path() != "/schedules/1/edit");
    bob.fill("Name", "By Bob");
    bob.press("Save schedule");

    bob.wait_for("Somebody else saved this schedule while you were editing it.");
    assert!(bob.text_of(".warning table").contains("By Ann"));
    assert_eq!(bob.value("Name"), "By Bob");
    bob.picture(&picture("conflict"));
    let name = || console.managed.json(&["schedule", "list"])["name"].clone();
    assert_eq!(name(), "By Ann");
    // He has seen it, and saves his all the same.
    bob.press("Save schedule");
    bob.wait("his is saved", || {
        !bob.text().contains("Somebody else saved")
    });
    assert_eq!(name(), "By Bob");
}

#[test]
fn everything_can_be_read_and_steered_without_scripts() {
    let (managed, repository) = (Managed::new(), Misbehaving::start(Script::new(30, 10)));
    account(&managed, "olga", "operator");
    managed.garner(&["harvest", &repository.base_url(), "--quiet"]);
    managed.schedule(&repository, &["--every", "1 day", "--paused"]);
    let console = Console::start(managed, "");
    let browser = Browser::start();
    browser.switch_scripts_off();
    console.log_in(&browser, "olga", PASSWORD);
    browser.wait("she is inside", || browser.path() == "/");
    assert_eq!(browser.count("[data-begun]"), 0, "a script has run");

    browser.press("Records");
    browser.wait_for("30 items");
    browser.choose("Deleted", "only deleted ones");
    browser.press("Apply");
    browser.wait_for("3 items");
    browser.press("Schedules");
    browser.press("Resume Schedule 1");
    // To open a page at once would call back what was just sent.
    browser.wait("it is not paused any more", || {
        browser.count(".badge[data-state=paused]") == 0
    });
    browser.wait("it waits for its time", || {
        browser.open(&console.at("/schedules"));
        browser.count(".badge[data-state=recurring]") == 1
    });
    browser.press_at(".person summary");
    browser.press("dark");
    browser.wait("it is dark", || browser.count("html[data-theme=dark]") == 1);
    browser.picture(&picture("without-scripts"));
    assert_eq!(browser.count("[data-begun]"), 0, "a script has run");
}
