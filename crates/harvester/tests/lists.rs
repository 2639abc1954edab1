//! Fuzz targets: lists and home pages as hostile sites write them.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should fail at once"
)]

#[cfg(fuzzing)]
use bolero as _;

use harvester::Robots;
use harvester::lists::{List, page_links};

const CHANGES: &[u8] = br#"<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    xmlns:rs="http://www.openarchives.org/rs/terms/"><rs:ln rel="up" href="http://a.example/caps.xml"/>
    <rs:md capability="changelist" from="2024-01-01T00:00:00Z"/><url><loc>http://a.example/x?a=1&amp;b=&#50;</loc>
    <lastmod>2024-01-02</lastmod><rs:md change="updated" datetime="2024-01-02T03:04:05Z" length="5"
    hash="md5:5d41402abc4b2a76b9719d911017c592 sha-256:00"/></url></urlset>"#;

const INDEX: &[u8] =
    b"<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>";

#[test]
fn a_list_names_urls_of_the_web_or_is_refused() {
    let lines = b"http://a.example/1\nhttp://a.example/2\n".to_vec();
    let seeds = vec![CHANGES.to_vec(), INDEX.to_vec(), lines];
    test_support::fuzz!(seeds, |bytes| {
        if let Ok(list) = List::parse(bytes) {
            for entry in &list.entries {
                let (scheme, _) = entry.url.split_once("://").expect("it is a URL");
                assert!(scheme.to_ascii_lowercase().starts_with("http"));
                let _ = entry.modified();
            }
        }
    });
}

#[test]
fn links_of_a_page_are_short_and_few() {
    let page = br#"<html><LINK rel='resourcesync' href="/caps.xml"><link href=/map.xml rel=sitemap>
        <a href="/oai?verb=Identify">OAI</a>"#;
    test_support::fuzz!(vec![page.to_vec()], |bytes| {
        let links = page_links(bytes);
        for links in [links.repositories, links.resource_sync, links.sitemaps] {
            assert!(links.len() <= 10);
        }
    });
}

#[test]
fn a_robots_txt_names_urls_of_the_web() {
    let robots = b"# http://a.example/modoai?verb=Identify\nUser-agent: *\nDisallow: /a*b$\nSitemap: http://a.example/s.xml\n";
    test_support::fuzz!(vec![robots.to_vec()], |bytes| {
        let robots = Robots::parse(bytes, "garner");
        let _ = robots.allows("/a/b");
        for url in robots.sitemaps().iter().chain(robots.base_urls()) {
            assert!(url.starts_with("http"));
        }
    });
}
