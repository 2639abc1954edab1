//! `SetHandler oai-status`: counters of all workers, explanations, and access as for `server-status`.

use std::path::PathBuf;

use test_support::{Browser, Fixture, Httpd, Mpm, flaws, wait_until};

use super::client::Client;
use super::site::Site;

const STATUS: &str = "<Location \"/oai-status\">\nSetHandler oai-status\nRequire ip 127.0.0.1\n</Location>\n\
    <Location \"/closed-status\">\nSetHandler oai-status\nRequire all denied\n</Location>\n";

#[test]
fn the_status_page_counts_requests_of_all_workers_and_explains_files() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        site.oai(&format!("OaiAnnounce /modoai\nOaiFreshness 0\n{STATUS}"));
        site.fixture.write("a.html", "a");
        site.fixture.write("private/b.txt", "b");
        site.fixture
            .write("private/.htaccess", "Require all denied\n");
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);
        for _ in 0..20 {
            client.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc");
        }
        client.get("/modoai?verb=Nonsense&x=%3Cscript%3E");
        client.get("/modoai/sitemap.xml");

        wait_until("all workers have counted", || {
            let text = client.get("/oai-status?auto").text();
            text.contains("\nRequests: 22\n") && text.contains("\nErrors: 1\n")
        });
        let metrics = client.get("/oai-status?metrics").text();
        let counted = "garner_oai_requests_total{verb=\"ListIdentifiers\",error=\"-\"} 20";
        assert!(metrics.contains(counted), "{mpm:?} {metrics}");
        let page = client.get("/oai-status?explain=/private/b.txt");
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        let text = page.text();
        for shown in [
            "badVerb",
            "text/html",
            "/private/b.txt: not offered",
            "the web server refuses it",
            "/modoai/style.css",
        ] {
            assert!(text.contains(shown), "{mpm:?} {shown} is missing: {text}");
        }
        assert!(!text.contains("<script"), "{text}");
        let url = client.url("/a.html");
        let text = client.get(&format!("/oai-status?explain={url}")).text();
        assert!(text.contains("/a.html: offered"), "{text}");
        assert!(text.contains(&format!("identifier: {url}")), "{text}");
        assert_eq!(client.get("/closed-status").status, 403);
        let identifiers = client.identifiers();
        assert!(
            identifiers.iter().all(|one| !one.contains("status")),
            "{identifiers:?}"
        );
    }
}

#[test]
fn a_host_without_a_repository_has_no_status() {
    let fixture = Fixture::small();
    let httpd = Httpd::of(&fixture).conf(STATUS).start();

    assert_eq!(Client::anonymous(&httpd).get("/oai-status").status, 404);
    assert!(
        httpd
            .error_log()
            .contains("this virtual host has no repository")
    );
}

/// A page for those who run the server: in a Chromium without XSLT, as it is going to be.
#[test]
fn the_status_page_is_for_everybody_who_may_see_it_and_for_nobody_else() {
    let mut site = Site::empty(Mpm::ALL[0]);
    site.fixture.write("a.html", "a");
    site.fixture.write("private/b.txt", "b");
    site.fixture
        .write("private/.htaccess", "Require all denied\n");
    // The password is `lamp post`.
    let users = site.fixture.beside("users");
    std::fs::write(&users, "ann:{SHA}6kBqXrMnayQZRwh4grWOM3/IgQI=\n").unwrap();
    site.oai(&format!(
        "OaiFreshness 0\n<Location \"/oai-status\">\nSetHandler oai-status\nAuthType Basic\n\
         AuthName status\nAuthUserFile {}\nRequire user ann\n</Location>\n",
        users.display()
    ));
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    client.get("/modoai?verb=ListIdentifiers&metadataPrefix=oai_dc");
    client.get("/modoai?verb=%3Cscript%3Ealert(1)%3C/script%3E");

    for form in ["", "?auto", "?metrics", "?explain=/private/b.txt"] {
        let path = format!("/oai-status{form}");
        assert_eq!(client.get(&path).status, 401, "{path}");
        let wrong = client.clone().with_password("ann", "street lamp");
        assert_eq!(wrong.get(&path).status, 401, "{path}");
    }
    let ann = client.clone().with_password("ann", "lamp post");
    wait_until("all workers have counted", || {
        let text = ann.get("/oai-status?auto").text();
        text.contains("\nRequests: 2\n") && text.contains("\nErrors: 1\n")
    });
    let browser = Browser::start();
    let authority = httpd.authority();
    browser.open(&format!("http://{authority}/oai-status"));
    assert!(
        !browser.text().contains("ListIdentifiers"),
        "{}",
        browser.text()
    );
    browser.open(&format!("http://ann:lamp%20post@{authority}/oai-status"));

    browser.wait_for("ListIdentifiers");
    let mut wrong = flaws(&browser, "oai-status", picture);
    browser.fill("URL or path", "/private/b.txt");
    browser.press("Explain");
    browser.wait_for("/private/b.txt: not offered");
    wrong.extend(flaws(&browser, "oai-status explained", picture));
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
    assert_eq!(browser.count("main script"), 0, "{}", browser.text());
}

/// Where pictures of pages are kept, beside those of the console.
fn picture(name: &str) -> PathBuf {
    // The tests are target/debug/deps/apache-….
    let tests = std::env::current_exe().unwrap();
    let target = tests.ancestors().nth(3);
    let place = target.unwrap().join("console-screenshots");
    place.join(format!("{name}.png"))
}
