//! The sites that `garner up` exposes, as the one who runs them sees them.

use serde_json::{Value, json};
use test_support::{Fixture, fetch, wait_until};

use super::{Console, account, token};
use crate::managed::Managed;

/// A console beside a site with hidden files.
fn console_with_site() -> (Console, Fixture) {
    let site = Fixture::small();
    site.write("old.html~", "a backup");
    site.write("shop.php", "<?php");
    site.write(".git/config", "[core]");
    let managed = Managed::new();
    account(&managed, "root", "admin");
    account(&managed, "vic", "viewer");
    let config = format!(
        "[[site]]\nroot = '{}'\nlisten = '127.0.0.1:0'\n",
        site.site().display()
    );
    (Console::start(managed, &config), site)
}

fn api(console: &Console, bearer: &str, method: &str, path: &str) -> Value {
    let bearer = format!("Bearer {bearer}");
    let headers = [("Authorization", bearer.as_str())];
    let response = fetch(method, &console.at(path), &headers, b"");
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    serde_json::from_slice(&response.body).unwrap()
}

#[test]
fn the_console_shows_what_a_site_offers_hides_and_who_harvests_it() {
    let (console, site) = console_with_site();
    let (_, bearer) = token(&console, "root");
    let get = |path: &str| api(&console, &bearer, "GET", path);
    wait_until("the site is served", || {
        get("/api/v1/sites")["items"][0]["is_served"] == true
    });
    let base_url = get("/api/v1/sites")["items"][0]["base_url"]
        .as_str()
        .unwrap()
        .to_owned();
    let agent = [("User-Agent", "metha/1.0 <b>")];
    let records = format!("{base_url}?verb=ListIdentifiers&metadataPrefix=oai_dc");
    assert_eq!(fetch("GET", &records, &agent, b"").status, 200);
    fetch("GET", &format!("{base_url}?verb=Nothing"), &agent, b"");

    let browser = console.browser("root");
    browser.press("Sites");
    browser.wait("the list is there", || browser.text_of("h1") == "Sites");
    let name = get("/api/v1/sites")["items"][0]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    browser.press(&name);
    browser.wait_for("Items by type");
    let text = browser.text();
    for shown in [
        "text/html",
        "ListIdentifiers",
        "metha/1.0 <b>",
        "badVerb",
        "Sitemap:",
    ] {
        assert!(text.contains(shown), "{shown} is missing:\n{text}");
    }
    browser.fill("URL or path", "/shop.php");
    browser.press("Explain");
    browser.wait_for("a server would run `.php` files instead of sending them");
    browser.open(&console.at("/sites/1/hidden"));
    browser.wait_for("the name matches `.*` (offer.skip_names)");
    assert!(browser.text().contains("/old.html~"), "{}", browser.text());
    browser.press("/.git");
    browser.wait_for("not offered");
    browser.open(&console.at("/sites/1"));
    browser.press("Check the protocol");
    browser.wait_for("keeps the rules of OAI-PMH 2.0");
    assert_eq!(browser.complaints(), Vec::<String>::new());

    let items = get("/api/v1/sites/1")["items"].clone();
    std::fs::remove_file(site.path("docs/page.html")).unwrap();
    wait_until("the deletion is counted", || {
        get("/api/v1/sites/1")["deleted"] == json!(1)
    });
    assert_eq!(
        get("/api/v1/sites/1")["items"].as_u64(),
        items.as_u64().map(|items| items - 1)
    );
}

#[test]
fn viewers_see_counts_but_no_clients_and_no_hidden_files() {
    let (console, _site) = console_with_site();
    let (_, bearer) = token(&console, "vic");
    wait_until("the site is served", || {
        api(&console, &bearer, "GET", "/api/v1/sites")["items"][0]["is_served"] == true
    });

    let bearer = format!("Bearer {bearer}");
    let headers = [("Authorization", bearer.as_str())];
    for (method, path) in [
        ("GET", "/api/v1/sites/1/clients"),
        ("GET", "/api/v1/sites/1/hidden"),
        ("GET", "/api/v1/sites/1/explain?url=/"),
        ("POST", "/api/v1/sites/1/check"),
    ] {
        assert_eq!(
            fetch(method, &console.at(path), &headers, b"").status,
            403,
            "{path}"
        );
    }
    let browser = console.browser("vic");
    browser.open(&console.at("/sites/1?url=/shop.php"));
    let page = browser.text();
    assert!(page.contains("Items by type"), "{page}");
    assert!(
        !page.contains("First request") && !page.contains("would run"),
        "{page}"
    );
    browser.open(&console.at("/sites/1/hidden"));
    browser.wait_for("Not allowed");
    let missing = fetch("GET", &console.at("/api/v1/sites/2"), &headers, b"");
    assert_eq!(missing.status, 404, "{}", missing.text());
}
