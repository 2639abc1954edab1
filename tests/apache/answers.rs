//! Effects of other modules and of request headers on answers (issue 18).

use std::fs;

use test_support::{Fixture, Httpd, Mpm};

use super::client::Client;
use super::records::records;
use super::site::Site;

#[test]
fn a_part_of_an_answer_is_never_sent() {
    for mpm in Mpm::ALL {
        let site = Site::empty(mpm);
        site.fixture.write("a.txt", "a");
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd).with_header("Range", "bytes=0-9");
        assert_eq!(client.get("/a.txt").status, 206);

        for path in [
            "?verb=Identify",
            "?verb=ListRecords&metadataPrefix=oai_didl",
            "/style.xsl",
        ] {
            let response = client.get(&format!("/modoai{path}"));
            assert_eq!(response.status, 200, "{mpm:?} {path}");
            assert!(response.header("content-range").is_none());
            assert!(response.text().trim_end().ends_with('>'), "{mpm:?} {path}");
        }
    }
}

#[test]
fn browsers_get_pages_and_harvesters_xml() {
    for mpm in Mpm::ALL {
        let mut site = Site::empty(mpm);
        for module in ["filter", "deflate"] {
            site.module(module);
        }
        site.conf("AddOutputFilterByType DEFLATE text/html text/xml");
        site.fixture.write("a.txt", "a");
        let httpd = site.httpd().start();
        let client = || Client::anonymous(&httpd);
        let list = "/modoai?verb=ListRecords&metadataPrefix=oai_dc";

        let java = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2";
        for program in [client(), client().with_header("Accept", java)] {
            let answer = program.get(list);
            assert_eq!(
                answer.header("content-type").unwrap(),
                "text/xml; charset=utf-8"
            );
            assert!(program.get("/modoai").text().contains("badVerb"));
        }
        let both = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for browser in [
            client().with_header("Sec-Fetch-Dest", "document"),
            client().with_header("Accept", both),
            client()
                .with_header("Accept", both)
                .with_header("Accept-Encoding", "gzip"),
        ] {
            let page = browser.get(list);
            assert_eq!(page.status, 200);
            assert_eq!(
                page.header("content-type").unwrap(),
                "text/html; charset=utf-8"
            );
            let vary = page.header("vary").unwrap();
            assert!(
                vary.contains("Accept") && vary.contains("Sec-Fetch-Dest"),
                "{vary}"
            );
            assert!(
                page.header("content-security-policy")
                    .unwrap()
                    .starts_with("default-src 'none'")
            );
        }
        let browser = client().with_header("Sec-Fetch-Dest", "document");
        assert!(browser.get(list).text().contains("1 record"));
        assert!(browser.get("/modoai").text().contains("<h2>Base URL</h2>"));
        assert_eq!(client().get("/modoai/style.css").status, 200);
    }
}

#[test]
fn the_module_keeps_the_rules_of_the_protocol() {
    let site = Site::empty(Mpm::Event);
    for name in ["a.txt", "b.html", "c/d.txt", "e.png"] {
        site.fixture.write(name, name);
    }
    let httpd = site.httpd().start();
    let base_url = format!("http://{}/modoai", httpd.authority());
    let client = harvester::Client::new(harvester::ClientOptions::default()).unwrap();
    let limits = harvester::check::CheckLimits {
        interval: std::time::Duration::ZERO,
        ..harvester::check::CheckLimits::default()
    };

    let repository = client.repository(&base_url).unwrap();
    let report = harvester::check::check(&repository, &limits).unwrap();

    assert!(report.compliant, "{report:#?}");
    let is_warning =
        |rule: &&harvester::check::RuleResult| rule.verdict == harvester::check::Verdict::Warning;
    assert_eq!(report.rules.iter().find(is_warning), None);
}

#[test]
fn identify_tells_the_codings_that_answers_are_sent_in() {
    for (directives, coded) in [
        ("", false),
        ("AddOutputFilterByType DEFLATE text/html text/xml", true),
        ("AddOutputFilterByType DEFLATE text/html", false),
        ("SetOutputFilter DEFLATE", true),
        (
            "<Location /modoai>\nAddOutputFilterByType SUBSTITUTE;DEFLATE text/xml\n</Location>",
            true,
        ),
    ] {
        let mut site = Site::empty(Mpm::Event);
        for module in ["filter", "deflate", "substitute"] {
            site.module(module);
        }
        site.conf(directives);
        site.fixture.write("a.txt", "a");
        let httpd = site.httpd().start();
        let client = Client::anonymous(&httpd);

        let told = client.ask("verb=Identify").texts("compression");

        let client = client.with_header("Accept-Encoding", "gzip");
        let sent = client.get("/modoai?verb=Identify");
        let sent = sent.header("content-encoding").map(str::to_owned);
        assert_eq!(sent.is_some(), coded, "{directives}");
        assert_eq!(told, Vec::from_iter(sent), "{directives}");
    }
}

/// A content that the index does not know yet must not go by the name of the one before.
#[test]
fn two_contents_never_share_a_document_id() {
    let mut site = Site::empty(Mpm::Event);
    site.oai("OaiFreshness 3600");
    site.fixture.write("a.txt", "one");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);
    let read = || {
        let answer = client.record(&client.url("/a.txt"), "oai_didl");
        let (_, after) = answer.xml.split_once("DIDLDocumentId=\"").unwrap();
        let id = after.split('"').next().unwrap().to_owned();
        let record = records(&answer).into_values().next().unwrap();
        (id, record.by_value.unwrap())
    };

    let first = read();
    assert_eq!(read(), first);
    site.fixture.write("a.txt", "two");
    let second = read();
    fs::write(site.fixture.path("a.txt"), "three").unwrap();
    let third = read();

    let contents = [&first.1, &second.1, &third.1];
    assert_eq!(contents, [&b"one"[..], b"two", b"three"]);
    assert!(first.0 != second.0 && second.0 != third.0 && first.0 != third.0);
}

/// The front controllers of WordPress and Drupal send every URL that is no file to one program.
#[test]
fn a_front_controller_does_not_take_the_repository_away() {
    let wordpress = "<IfModule mod_rewrite.c>\nRewriteEngine On\nRewriteBase /\nRewriteRule ^index\\.html$ - [L]\n\
         RewriteCond %{REQUEST_FILENAME} !-f\nRewriteCond %{REQUEST_FILENAME} !-d\n\
         RewriteRule . /index.html [L]\n</IfModule>\n";
    let drupal = "RewriteEngine on\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteCond %{REQUEST_FILENAME} !-d\n\
         RewriteCond %{REQUEST_URI} !=/favicon.ico\nRewriteRule ^ index.html [L]\n";
    for htaccess in [wordpress, drupal] {
        for mpm in Mpm::ALL {
            let fixture = Fixture::empty();
            fixture.write("index.html", "the front page");
            fixture.write(".htaccess", htaccess);
            let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/apache/oai.conf");
            let httpd = Httpd::of(&fixture).mpm(mpm).modules(&["rewrite"]);
            let httpd = httpd.conf(&format!("Include {shipped}")).start();
            let client = Client::anonymous(&httpd);
            assert_eq!(client.get("/nowhere").text(), "the front page");

            assert_eq!(client.identifiers(), [client.url("/index.html")], "{mpm:?}");
            assert_eq!(client.get("/modoai/style.xsl").status, 200);
        }
    }
}

/// As the guide says for servers that pass everything on to another one.
#[test]
fn a_proxy_of_everything_leaves_the_repository_if_told() {
    let mut site = Site::empty(Mpm::Event);
    site.module("proxy");
    site.module("proxy_http");
    site.conf("ProxyPass /modoai !\nProxyPass / http://127.0.0.1:1/");
    let httpd = site.httpd().start();
    let client = Client::anonymous(&httpd);

    assert_eq!(client.get("/elsewhere").status, 503);
    let name = client.ask("verb=Identify").text("repositoryName");
    assert_eq!(name.as_deref(), Some("127.0.0.1"));
}
