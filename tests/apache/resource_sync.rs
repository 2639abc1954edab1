//! Sitemaps and ResourceSync inside of httpd: what a GET would give the same requester, and files of the site first.

use std::collections::BTreeSet;
use std::fs;

use test_support::{Mpm, wait_until};

use super::client::Client;
use super::site::Site;

/// The locations that a list names, without deleted ones.
fn locations(client: &Client, path: &str) -> BTreeSet<String> {
    let response = client.get(path);
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    assert!(response.complete, "{path}");
    let media_type = "application/xml; charset=utf-8";
    assert_eq!(response.header("content-type"), Some(media_type), "{path}");
    let text = response.text();
    let document = roxmltree::Document::parse(&text).unwrap();
    let urls = document.root_element().children();
    let urls = urls.filter(|node| node.tag_name().name() == "url");
    let is_there = |url: &roxmltree::Node<'_, '_>| {
        let mut facts = url.children();
        !facts.any(|fact| fact.attribute("change") == Some("deleted"))
    };
    let location = |url: roxmltree::Node<'_, '_>| {
        let location = url
            .children()
            .find(|child| child.tag_name().name() == "loc");
        location.unwrap().text().unwrap().to_owned()
    };
    urls.filter(is_there).map(location).collect()
}

#[test]
fn lists_name_for_each_requester_what_a_get_gives() {
    for mpm in Mpm::ALL {
        let mut site = Site::matrix(mpm);
        site.oai("OaiAnnounce /modoai");
        let httpd = site.httpd().start();
        let requesters = [
            Client::anonymous(&httpd),
            Client::anonymous(&httpd).with_password("reader", "right"),
            Client::anonymous(&httpd).with_password("reader", "wrong"),
        ];
        let mut seen = BTreeSet::new();
        for client in requesters {
            let live: BTreeSet<_> = client.identifiers().into_iter().collect();
            for path in [
                "/modoai/sitemap.xml",
                "/modoai/resourcesync/resourcelist.xml",
                "/sitemap.xml",
            ] {
                assert_eq!(locations(&client, path), live, "{mpm:?} {path}");
            }
            assert!(locations(&client, "/modoai/resourcesync/changelist.xml").is_subset(&live));
            seen.insert(live);
        }
        // Passwords make a difference.
        assert!(seen.len() > 1);
    }
}

#[test]
fn the_root_of_the_site_is_announced_where_it_has_no_files() {
    let mut site = Site::empty(Mpm::Event);
    site.oai("OaiAnnounce /modoai\nOaiFreshness 0");
    site.fixture.write("a.txt", "a");
    site.fixture.write("docs/b.txt", "b");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    let described = client.get("/.well-known/resourcesync").text();
    let named = "/modoai/resourcesync/capabilitylist.xml</loc>";
    assert!(described.contains(named), "{described}");
    let capabilities = locations(&client, "/modoai/resourcesync/capabilitylist.xml");
    assert_eq!(capabilities.len(), 2);
    let robots = client.get("/robots.txt").text();
    assert!(robots.contains(&format!("Sitemap: {}", client.url("/modoai/sitemap.xml"))));
    for url in locations(&client, "/sitemap.xml") {
        let path = url.strip_prefix(&client.url("")).unwrap();
        assert_eq!(client.get(path).status, 200, "{url}");
    }
    for missing in ["/sitemap.xml.gz", "/docs/sitemap.xml", "/changelist.xml"] {
        assert_eq!(client.get(missing).status, 404, "{missing}");
    }

    fs::remove_file(site.fixture.path("a.txt")).unwrap();
    site.fixture.write("sitemap.xml", "own sitemap");
    site.fixture.write("robots.txt", "own robots");
    site.fixture
        .write(".well-known/resourcesync", "own description");
    assert_eq!(client.get("/sitemap.xml").text(), "own sitemap");
    assert_eq!(client.get("/robots.txt").text(), "own robots");
    assert_eq!(
        client.get("/.well-known/resourcesync").text(),
        "own description"
    );
    wait_until("the deletion is told", || {
        let changes = client.get("/modoai/resourcesync/changelist.xml").text();
        changes.contains("change=\"deleted\"") && changes.contains("change=\"created\"")
    });
}

#[test]
fn nothing_is_announced_unless_it_is_asked_for() {
    let site = Site::empty(Mpm::Event);
    site.fixture.write("a.txt", "a");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    for path in ["/sitemap.xml", "/robots.txt", "/.well-known/resourcesync"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    assert_eq!(locations(&client, "/modoai/sitemap.xml").len(), 1);
    for path in ["/modoai/sitemap-1.xml", "/modoai/resourcesync/other.xml"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
}
