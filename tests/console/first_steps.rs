//! The first minutes of a newcomer: the link in the terminal, an account, a repository, a schedule, a harvest.

use test_support::{Browser, Fixture, free_port};

use super::{Console, PASSWORD, picture, slow};
use crate::managed::Managed;

#[test]
fn from_the_set_up_link_to_a_harvest_that_is_watched() {
    let (fixture, port) = (Fixture::small(), free_port());
    fixture.write("welcome.html", WEB_PAGE);
    let (managed, repository) = (Managed::new(), slow(12, 1000));
    let friends = format!(
        "<BaseURLs><baseURL id=\"Slow Library\">{}</baseURL></BaseURLs>",
        repository.base_url()
    );
    managed.write("friends.xml", &friends);
    let config = format!(
        "[friends]\nsource = 'friends.xml'\n[[site]]\nroot = '{}'\ndata = 'index'\nlisten = '127.0.0.1:{port}'\n",
        fixture.site().display()
    );
    let console = Console::start(managed, &config);
    let browser = Browser::start();

    // The link works once, and makes an admin.
    let link = console.setup_link();
    browser.open(&link);
    assert_eq!(browser.text_of("h1"), "Create admin");
    browser.picture(&picture("first-1-setup"));
    browser.fill("Name", "ann");
    browser.fill("Password", PASSWORD);
    browser.fill("Repeat password", "something else");
    browser.press("Create account");
    browser.wait("the mistake is marked", || {
        browser.count("#again[aria-invalid=true]") == 1
    });
    browser.fill("Password", PASSWORD);
    browser.fill("Repeat password", PASSWORD);
    browser.press("Create account");
    browser.wait_for("Welcome to garner.");
    assert_eq!(browser.path(), "/");
    assert_eq!(browser.text_of(".person .role"), "admin");
    browser.picture(&picture("first-2-dashboard"));

    // A web page is no repository, and that is said in words that everybody knows.
    browser.press("Add a repository");
    // The list of known repositories is read beside everything else.
    browser.wait("known repositories are offered", || {
        browser.open(&console.at("/repositories/new"));
        browser.count("#friends option") == 1
    });
    let page = format!("http://127.0.0.1:{port}/welcome.html");
    browser.wait("the site answers", || console.up.log().contains("/modoai"));
    browser.fill("Base URL", &page);
    browser.press("Check");
    browser.wait_for("There is a web page at this address, not a repository.");
    assert_eq!(browser.value("Base URL"), page);
    browser.picture(&picture("first-3-no-repository"));
    browser.fill("Base URL", &repository.base_url());
    browser.press("Check");
    browser.wait_for("Repository found");
    browser.picture(&picture("first-4-repository"));
    browser.press("Add this repository");
    browser.wait("it is added", || browser.path() == "/repositories/1");

    // The form shows when it would run while one fills it in.
    browser.press("Add a schedule");
    browser.fill("Name", "Every night");
    browser.choose("How often", "by a cron expression");
    browser.fill("Cron expression", "0 3 * * *");
    browser.wait("the next runs are shown", || {
        browser.text_of("#runs").contains("03:00")
    });
    browser.choose("How often", "once");
    browser.wait("it would run at once", || {
        browser.text_of("#runs").contains("at once")
    });
    browser.picture(&picture("first-5-schedule"));
    browser.press("Save schedule");
    browser.wait("it is saved", || browser.path() != "/schedules/new");
    browser.wait_for("Every night");

    // The dashboard moves by itself.
    browser.press("Overview");
    browser.run("window.kept = true", &[]);
    browser.wait("it runs", || browser.count(".active progress") == 1);
    let mut seen = Vec::new();
    browser.wait("it gets on", || {
        let figures = browser.text_of(".active .figures span");
        if !figures.is_empty() && !seen.contains(&figures) {
            seen.push(figures);
        }
        seen.len() > 1
    });
    browser.picture(&picture("first-6-running"));
    assert_eq!(browser.run("return window.kept", &[]), true, "{seen:?}");

    // So does the page of the job, to its end.
    browser.press_at(".active .head a");
    browser.run("window.kept = true", &[]);
    browser.wait("it is finished", || {
        browser.text_of(".state .badge") == "ok"
    });
    assert_eq!(browser.run("return window.kept", &[]), true);
    assert!(browser.count(".log tbody tr") > 1, "{}", browser.text());
    browser.picture(&picture("first-7-job"));
    browser.press("Overview");
    browser.wait("the records are counted", || {
        browser.text_of(".tiles").contains("108")
    });
    browser.picture(&picture("first-8-harvested"));

    assert_eq!(browser.complaints(), Vec::<String>::new());
    browser.open(&link);
    browser.wait_for("this link is not good any more");
}

const WEB_PAGE: &str = "<!doctype html><html lang=\"en\"><head><title>Library</title></head><body><p>Welcome</p></body></html>";
