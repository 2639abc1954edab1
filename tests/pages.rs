//! Answers as pages: only browsers get them, harvesters and programs get XML.

use test_support::{Browser, Fixture, fetch};

use crate::command_line::stderr;
use crate::console::picture;
use crate::garner;

/// The default of Java's HttpURLConnection, which harvesters send.
pub(crate) const JAVA: &str = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2";
pub(crate) const FIREFOX: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const CHROMIUM: [(&str, &str); 2] = [
    (
        "Accept",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    ),
    ("Sec-Fetch-Dest", "document"),
];

/// Checks that the repository at a base URL gives pages to browsers and XML to all others.
pub(crate) fn negotiates(base_url: &str) {
    let query = format!("{base_url}?verb=ListRecords&metadataPrefix=oai_dc");
    for headers in [
        &[][..],
        &[("Accept", "*/*")],
        &[("Accept", JAVA), ("User-Agent", "Java/1.8.0_202")],
        &[("Accept", "text/html")],
        &[("User-Agent", "Wget/1.21.4"), ("Accept", "*/*")],
        &[("User-Agent", "curl/8.5.0"), ("Accept", "*/*")],
        &[
            ("User-Agent", "python-requests/2.32.3"),
            ("Accept", "*/*"),
            ("Accept-Encoding", "gzip, deflate"),
        ],
        &[
            ("User-Agent", "OAI-Harvester/2.0"),
            ("Accept", "text/html, application/xhtml+xml;q=0"),
        ],
        &[
            ("Accept", FIREFOX.split(',').next().unwrap_or_default()),
            ("Sec-Fetch-Dest", "empty"),
        ],
    ] {
        let answer = fetch("GET", &query, headers, b"");
        let media_type = answer.header("content-type").unwrap();
        assert!(
            media_type.starts_with("text/xml"),
            "{headers:?}: {media_type}"
        );
    }
    for headers in [&CHROMIUM[..], &CHROMIUM[1..], &[("Accept", FIREFOX)]] {
        let answer = fetch("GET", &query, headers, b"");
        assert_eq!(answer.status, 200);
        assert!(
            answer
                .header("content-type")
                .unwrap()
                .starts_with("text/html"),
            "{headers:?}"
        );
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        let vary = answer.header("vary").unwrap();
        assert!(
            vary.contains("Accept,") && vary.contains("Sec-Fetch-Dest"),
            "{vary}"
        );
        let page = answer.text();
        assert!(
            page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"),
            "{page}"
        );
        for forbidden in ["<script", "<style", " style=", " onload", "javascript:"] {
            assert!(!page.contains(forbidden), "{forbidden}\n{page}");
        }
    }
    let style = fetch("GET", &format!("{base_url}/style.css"), &[], b"");
    assert_eq!(
        style.header("content-type").unwrap(),
        "text/css; charset=utf-8"
    );

    let program = fetch("GET", base_url, &[], b"").text();
    assert!(program.contains("code=\"badVerb\""), "{program}");
    let person = fetch("GET", base_url, &CHROMIUM, b"").text();
    assert!(
        person.contains("<h2>Base URL</h2>") && !person.contains("badVerb"),
        "{person}"
    );
    // A further argument is as wrong for a browser as for a harvester.
    let format = format!("{query}&format=html");
    assert!(
        fetch("GET", &format, &[], b"")
            .text()
            .contains("code=\"badArgument\"")
    );
    assert!(
        fetch("GET", &format, &CHROMIUM, b"")
            .text()
            .contains("<code>badArgument</code>")
    );
    let form = fetch(
        "POST",
        base_url,
        &[
            CHROMIUM[1],
            ("Content-Type", "application/x-www-form-urlencoded"),
        ],
        b"verb=Identify",
    );
    assert!(form.text().contains("About this repository"));
}

#[test]
fn browsers_get_pages_and_programs_get_xml() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");

    negotiates(&server.base_url);
}

#[test]
fn the_aggregator_answers_in_the_same_two_ways() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let data = fixture.beside("data");
    let output = garner()
        .args([
            "harvest",
            &server.base_url,
            "--prefix",
            "oai_dc",
            "--quiet",
            "--data",
        ])
        .arg(&data)
        .output();
    assert!(output.status.success(), "{}", stderr(&output));
    let config = fixture.beside("aggregator.toml");
    std::fs::write(&config, "[aggregator]\nrecords = true\n").unwrap();
    let listen = format!("127.0.0.1:{}", test_support::free_port());
    let aggregator = garner()
        .args([
            "serve",
            "--listen",
            &listen,
            "--admin-email",
            "a@example.org",
            "--data",
        ])
        .arg(&data)
        .arg("--catalog")
        .arg(data.join("catalog.sqlite"))
        .arg("--config")
        .arg(config)
        .start();

    negotiates(&aggregator.base_url);
}

#[test]
fn a_page_holds_fewer_records_than_an_answer_for_programs() {
    let fixture = Fixture::empty();
    for number in 0..60 {
        fixture.write(format!("{number}.txt"), "x");
    }
    let server = garner().serve(&fixture, "");
    let url = format!("{}?verb=ListRecords&metadataPrefix=oai_dc", server.base_url);

    let first = fetch("GET", &url, &CHROMIUM, b"").text();
    let (_, next) = first.split_once("rel=\"next\" href=\"").unwrap();
    let next = next.split('"').next().unwrap().replace("&amp;", "&");
    let second = fetch("GET", &format!("{}{next}", server.base_url), &CHROMIUM, b"").text();

    assert!(first.contains("Records 1 to 50 of 60"), "{first}");
    assert!(
        second.contains("Records 51 to 60 of 60; this is the last page"),
        "{second}"
    );
    let all = [first, second].concat();
    for number in 0..60 {
        let link = format!("href=\"{}\" rel=", server.url(&format!("{number}.txt")));
        assert!(all.contains(&link), "{link}");
    }
}

#[test]
fn a_person_reads_a_repository_in_a_browser_that_knows_no_xslt() {
    let fixture = Fixture::empty();
    for number in 0..60 {
        fixture.write(format!("{number}.txt"), "x");
    }
    let server = garner().serve(&fixture, "");
    let browser = Browser::start();

    browser.open(&server.base_url);
    browser.wait_for("Programs harvest this repository at this address.");
    for width in [1280, 390] {
        browser.set_width(width);
        browser.open(&format!(
            "{}?verb=ListRecords&metadataPrefix=oai_dc",
            server.base_url
        ));
        browser.wait_for("Records 1 to 50 of 60");
        browser.picture(&picture(&format!("oai-records-{width}")));
        let beyond =
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth";
        assert_eq!(browser.run(beyond, &[]), false, "at {width}");
        browser.press("Next page");
        browser.wait_for("this is the last page");
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
