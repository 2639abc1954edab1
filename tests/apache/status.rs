//! `SetHandler oai-status`: counters of all workers, explanations, and access as for `server-status`.

use test_support::{Fixture, Httpd, Mpm, wait_until};

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
