//! A job that runs, as an operator sees it.

use super::{Console, account, picture, slow};
use crate::managed::Managed;

#[test]
fn a_running_job_is_stopped_and_tried_again() {
    let (managed, repository) = (Managed::new(), slow(60, 1000));
    account(&managed, "olga", "operator");
    managed.schedule(&repository, &["--once"]);
    let console = Console::start(managed, "");
    let browser = console.browser("olga");

    browser.press("Runs");
    browser.wait("it runs", || browser.count(".jobs progress") == 1);
    browser.press_at(".jobs .head a");
    browser.wait("it is logged", || browser.count(".log tbody tr") > 0);
    let lines = browser.count(".log tbody tr");
    browser.picture(&picture("job-running"));
    browser.press("Stop");

    // What comes next is seen without a reload.
    browser.run("window.kept = true", &[]);
    browser.wait("it is stopped", || {
        browser.text_of(".state .badge") == "cancelled"
    });
    browser.wait("the log tells it", || {
        browser.count(".log tbody tr") > lines
    });
    assert!(!browser.offers("Stop"));
    browser.picture(&picture("job-stopped"));
    assert_eq!(console.managed.jobs()[0]["state"], "cancelled");

    browser.press("Try again");
    browser.wait("it runs again", || {
        browser.text_of(".state .badge") == "running"
    });
    browser.press("Stop");
    browser.wait("it is stopped again", || {
        browser.text_of(".state .badge") == "cancelled"
    });
    browser.press("Runs");
    browser.press("Over");
    browser.wait_for("cancelled");
    browser.choose("How it ended", "failed");
    browser.wait_for("No jobs match these filters.");
    assert!(browser.url().contains("state=failed"), "{}", browser.url());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
