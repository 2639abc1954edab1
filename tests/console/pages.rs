//! Every page that links lead to, as people meet it who cannot see well, have a phone, sit in the dark or use no mouse.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use serde_json::Value;
use test_support::{Browser, Fault, Fixture, Misbehaving, Script, flaws};

use super::{Console, PASSWORD, account, picture, slow};
use crate::managed::Managed;

/// A console with something on every page: harvests, an import, a job that runs, one that failed, a filter, a token.
struct Everything {
    console: Console,
    _repositories: [Misbehaving; 3],
    _site: Fixture,
}

impl Everything {
    fn start() -> Self {
        let managed = Managed::new();
        account(&managed, "root", "admin");
        account(&managed, "vic", "viewer");
        let harvested = Misbehaving::start(Script::new(30, 10));
        for _ in 0..2 {
            managed.garner(&["harvest", &harvested.base_url(), "--quiet"]);
        }
        let crawl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crawl.warc.gz");
        managed.garner(&["import", crawl.to_str().unwrap(), "--quiet"]);
        managed.schedule(&harvested, &["--every", "1 day", "--paused"]);
        let (running, failing) = (slow(200, 1000), Misbehaving::start(Script::new(30, 10)));
        managed.schedule(&running, &["--once"]);
        managed.schedule(&failing, &["--once"]);
        managed.schedule(&failing, &["--once", "--at", "2099-01-01"]);
        let schedule = ["schedule", "add", "--every", "1 day", "--import"];
        managed.garner(&[&schedule[..], &[crawl.to_str().unwrap()]].concat());
        failing.change(|script| {
            let times = u32::MAX;
            script.faults.push(Fault::WebPage { page: 0, times });
        });
        let site = Fixture::small();
        site.write("old.html~", "a backup");
        let config = format!(
            "[jobs]\nattempts = 1\n[[site]]\nroot = '{}'\nlisten = '127.0.0.1:0'\n",
            site.site().display()
        );
        let console = Console::start(managed, &config);
        console
            .managed
            .wait_for_jobs("one runs, one failed", |jobs| {
                let is = |state: &str| jobs.iter().any(|job| job["state"] == state);
                is("running") && is("failed")
            });
        Self {
            console,
            _repositories: [harvested, running, failing],
            _site: site,
        }
    }
}

#[test]
fn every_page_is_for_everybody() {
    let everything = Everything::start();
    let console = &everything.console;
    let browser = Browser::start();
    let mut found = Vec::new();
    let mut look = |browser: &Browser, name: &str| found.extend(flaws(browser, name, picture));
    browser.open(&console.at("/login"));
    look(&browser, "login");
    console.log_in(&browser, "root", PASSWORD);
    browser.wait("one is inside", || browser.path() == "/");
    make_a_token_and_a_filter(&browser, console);
    look(&browser, "rules saved");

    // Pages behind links are found by following them; pages behind forms are named here.
    let mut ways = VecDeque::from(
        [
            "/",
            "/runs/compare?id=1&id=2",
            "/runs",
            "/runs/queued",
            "/runs/failed",
            "/runs/all",
            "/imports/1?import",
            "/imports",
            "/history/remove?id=1",
            "/schedules/new",
            "/schedules/new?repository=1",
            // The last one imports.
            "/schedules/5?import",
            "/schedules/5/edit?import",
            "/rules/new?kind=mapping",
            "/runs/all?text=nothing",
            "/nothing-is-here",
            "/search?text=item",
        ]
        .map(str::to_owned),
    );
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        let kind = kind_of(&way);
        if !seen.insert(kind.clone()) {
            continue;
        }
        browser.open(&console.at(&way));
        look(&browser, &kind);
        let links = "return [...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href'))";
        let links = browser.run(links, &[]);
        let links = links.as_array().unwrap().iter().filter_map(Value::as_str);
        ways.extend(links.filter(|link| is_page(link)).map(str::to_owned));
    }
    // A form that comes back with what is wrong with it.
    browser.open(&console.at("/accounts"));
    browser.fill("Name", "eve");
    browser.fill("Password", "short");
    browser.fill("Repeat password", "shorter");
    browser.press("Create account");
    browser.wait("mistakes are marked", || {
        browser.count("[aria-invalid=true]") > 0
    });
    look(&browser, "mistakes");

    assert_eq!(found, Vec::<String>::new(), "{}", found.join("\n"));
    for kind in PAGES {
        assert!(seen.contains(*kind), "{kind} was not found: {seen:#?}");
    }
}

#[test]
fn keys_alone_are_enough_and_one_sees_where_one_is() {
    let managed = Managed::new();
    account(&managed, "root", "admin");
    let console = Console::start(managed, "");
    let browser = console.browser("root");

    let focused = "const one = document.activeElement; const style = getComputedStyle(one); \
        return [one.innerText.trim(), style.outlineStyle, parseFloat(style.outlineWidth), one.getBoundingClientRect().left]";
    let mut reached = Vec::new();
    for _ in 0..14 {
        browser.key(TAB);
        let state = browser.run(focused, &[]);
        assert_eq!(state[1], "solid", "{state}");
        assert!(state[2].as_f64().unwrap() >= 2.0, "{state}");
        assert!(state[3].as_f64().unwrap() >= 0.0, "out of sight: {state}");
        reached.push(state[0].as_str().unwrap().to_owned());
    }
    assert_eq!(reached[0], "Skip to the content");
    assert!(reached.contains(&"Records".to_owned()), "{reached:?}");
    browser.open(&console.at("/"));
    browser.key(TAB);
    browser.key(ENTER);
    browser.wait("one is at the content", || browser.url().ends_with("#main"));
    browser.key(TAB);
    let inside = "return document.activeElement.closest('main') !== null";
    assert_eq!(browser.run(inside, &[]), true);
}

#[test]
fn colours_are_chosen_and_stay() {
    let managed = Managed::new();
    account(&managed, "vic", "viewer");
    let console = Console::start(managed, "");
    let browser = console.browser("vic");
    let paper = || {
        browser.run(
            "return getComputedStyle(document.body).backgroundColor",
            &[],
        )
    };

    browser.set_dark(false);
    let light = paper();
    browser.set_dark(true);
    let dark = paper();
    assert_ne!(light, dark, "the wish of the system counts");
    browser.press_at(".person summary");
    browser.press("light");
    browser.wait("it is light", || paper() == light);
    browser.open(&console.at("/records"));
    assert_eq!(paper(), light, "it stays so");
}

fn make_a_token_and_a_filter(browser: &Browser, console: &Console) {
    browser.open(&console.at("/tokens"));
    browser.fill("Name", "the indexer");
    browser.press("Create token");
    browser.wait("it is shown once", || browser.count(".secret") == 1);
    browser.open(&console.at("/rules/new?kind=filter"));
    browser.fill("Name", "Titles");
    browser.press("Save the filter");
    browser.wait_for("The filter Titles is saved.");
}

/// Pages that differ in numbers alone are of one kind.
fn kind_of(link: &str) -> String {
    let path = link.split(['?', '#']).next().unwrap();
    let parts = path.split('/').map(|part| match part.parse::<u64>() {
        Ok(_) => "{id}",
        Err(_) => part,
    });
    let kind = parts.collect::<Vec<_>>().join("/");
    match link.split_once('?') {
        Some((_, query))
            if path.ends_with("/new") || query.ends_with("nothing") || query == "import" =>
        {
            format!("{kind} {}", query.split('=').next().unwrap())
        }
        _ => kind,
    }
}

fn is_page(link: &str) -> bool {
    let path = link.split(['?', '#']).next().unwrap();
    let files = [
        "/report", ".csv", ".json", ".jsonl", "/xml", "/source", "/file", "/text",
    ];
    let is_file = files.iter().any(|end| path.ends_with(end));
    let is_download = is_file || link.contains("format=");
    path.starts_with('/') && !path.starts_with("/api/v1") && !is_download
}

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
const PAGES: &[&str] = &[
    "/",
    "/accounts",
    "/accounts/{id}",
    "/accounts/{id}/remove",
    "/aggregator",
    "/alerts",
    "/api",
    "/audit",
    "/documents",
    "/documents/{id}",
    "/help",
    "/help/guides/harvest",
    "/help/reference/command-line",
    "/help/reference/console",
    "/history/remove",
    "/imports",
    "/imports/new",
    "/imports/{id} import",
    "/me",
    "/nothing-is-here",
    "/records",
    "/records/{id}",
    "/repositories",
    "/repositories/new",
    "/repositories/tags",
    "/repositories/{id}",
    "/repositories/{id}/edit",
    "/repositories/{id}/remove",
    "/rules",
    "/rules/new kind",
    "/rules/{id}",
    "/rules/{id}/remove",
    "/runs",
    "/runs/all",
    "/runs/all text",
    "/runs/failed",
    "/runs/queued",
    "/runs/compare",
    "/runs/{id}",
    "/schedules",
    "/schedules/import",
    "/schedules/new",
    "/schedules/new repository",
    "/schedules/{id}",
    "/schedules/{id} import",
    "/schedules/{id}/edit",
    "/schedules/{id}/edit import",
    "/schedules/{id}/remove",
    "/system",
    "/search",
    "/sites",
    "/sites/{id}",
    "/sites/{id}/hidden",
    "/tokens",
    "/tokens/{id}/remove",
];
