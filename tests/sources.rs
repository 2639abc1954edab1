//! The source of programs: told to the users who are named, and in no face to anybody else.

use std::collections::BTreeSet;
use std::fs;

use sha2::{Digest, Sha256};
use test_support::{Answer, Fixture, Server, basic, fetch, free_port, wait_until};

use crate::command_line::stderr;
use crate::garner;
use crate::resource_sync::entries;

const SECRET: &str = "<?php $password = 'geheim-4711'; ?>";
/// `legacy` is the password of both.
const PASSWORDS: &str =
    "archive:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\nreader:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\n";

fn fixture() -> Fixture {
    let fixture = Fixture::empty();
    fixture.write_beside("htpasswd", PASSWORDS);
    fixture.write("a.txt", "plain");
    fixture.write("visitors.php", SECRET);
    fixture.write("closed/inner.php", SECRET);
    fixture
}

fn config(others: &str) -> String {
    format!(
        "[offer]\ndynamic = 'source'\n[offer.source]\nusers = ['archive']\nhtpasswd = 'htpasswd'\nothers = '{others}'\n\
         [[area]]\npath = '/closed/'\nhtpasswd = 'htpasswd'\nusers = ['reader']\n"
    )
}

/// Everything that a requester is told: every verb in XML and as a page, all lists, and the program itself.
fn faces(server: &Server, requester: &[(&'static str, String)]) -> Vec<(String, String)> {
    let mut urls = vec![
        server.url("visitors.php"),
        server.url(""),
        server.url("sitemap.xml"),
        server.url(".well-known/resourcesync"),
    ];
    let base_url = &server.base_url;
    for list in [
        "sitemap",
        "resourcesync/resourcelist",
        "resourcesync/changelist",
    ] {
        urls.push(format!("{base_url}/{list}.xml"));
    }
    for query in [
        "verb=Identify".to_owned(),
        "verb=ListSets".to_owned(),
        format!(
            "verb=ListMetadataFormats&identifier={}",
            server.url("visitors.php")
        ),
    ] {
        urls.push(format!("{base_url}?{query}"));
    }
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        for verb in ["ListIdentifiers", "ListRecords"] {
            urls.push(format!("{base_url}?verb={verb}&metadataPrefix={prefix}"));
        }
        for path in ["visitors.php", "closed/inner.php"] {
            let identifier = server.url(path);
            urls.push(format!(
                "{base_url}?verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}"
            ));
        }
    }
    let page = ("Sec-Fetch-Dest", "document".to_owned());
    let mut told = Vec::new();
    for url in urls {
        for headers in [
            requester.to_vec(),
            [requester, std::slice::from_ref(&page)].concat(),
        ] {
            let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
            told.push((url.clone(), fetch("GET", &url, &headers, b"").text()));
        }
    }
    told
}

/// Neither the source, nor its base64, its size, its digest or its date.
fn assert_untold(server: &Server, requester: &[(&'static str, String)], date: &str) {
    let encoded = test_support::base64(SECRET.as_bytes());
    let size = format!("{} bytes", SECRET.len());
    let length = format!("length=\"{}\"", SECRET.len());
    let digest = Sha256::digest(SECRET);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    for (url, text) in faces(server, requester) {
        for part in ["geheim", &encoded[..24], &size, &length, &digest, date] {
            assert!(
                !text.contains(part),
                "{requester:?} is told `{part}` at {url}: {text}"
            );
        }
    }
}

#[test]
fn nobody_but_a_named_user_is_told_the_source_of_a_program() {
    for others in ["off", "reference"] {
        let fixture = fixture();
        for path in ["visitors.php", "closed/inner.php"] {
            fixture.set_mtime(path, 1_000_000_000);
        }
        let server = garner().serve(&fixture, &config(others));
        let identifier = server.url("visitors.php");
        let archive = basic("archive", "legacy");

        for requester in [
            vec![],
            vec![basic("archive", "wrong")],
            vec![basic("reader", "legacy")],
            vec![basic("nobody", "legacy")],
        ] {
            // The datestamp of an item is the date of its file, for programs too.
            let date = if others == "off" {
                "2001-09-09"
            } else {
                "dc:date>2001-09-09"
            };
            assert_untold(&server, &requester, date);
            let headers: Vec<_> = requester.iter().map(|(n, v)| (*n, v.as_str())).collect();
            let query = format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}");
            let answer = Answer::ask_as(&server.base_url, &query, &headers);
            let expected = (others == "off").then_some("idDoesNotExist");
            assert_eq!(answer.error().as_deref(), expected, "{requester:?}");
        }

        let headers = [(archive.0, archive.1.as_str())];
        let ask = |prefix: &str, path: &str| {
            let identifier = server.url(path);
            let query = format!("verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}");
            Answer::ask_as(&server.base_url, &query, &headers)
        };
        let record = ask("oai_didl", "visitors.php");
        assert_eq!(
            record.by_value().as_deref(),
            Some(SECRET.as_bytes()),
            "{}",
            record.xml
        );
        assert!(
            !record.xml.contains(" ref="),
            "a GET gives something else: {}",
            record.xml
        );
        assert!(record.xml.contains("the source of a program"));
        let described = ask("oai_dc", "visitors.php");
        assert!(
            described
                .texts("format")
                .contains(&format!("{} bytes", SECRET.len()))
        );
        let none = ask("http_header", "visitors.php").error();
        assert_eq!(none.as_deref(), Some("cannotDisseminateFormat"));
        // An area is closed to its named users too.
        let closed = ask("oai_didl", "closed/inner.php").error();
        assert_eq!(closed.as_deref(), Some("idDoesNotExist"));
        // What a GET does not give is in no list of what it gives.
        assert_eq!(fetch("GET", &identifier, &headers, b"").status, 403);
        if others == "off" {
            let listed = entries(&server.url("sitemap.xml"), &headers);
            assert!(listed.iter().all(|entry| entry.url != identifier));
        }
        let pages = Answer::pages(
            &server.base_url,
            "ListRecords",
            "metadataPrefix=oai_didl",
            &headers,
        );
        let text = &pages[0].xml;
        let encoded = test_support::base64(SECRET.as_bytes());
        assert!(text.contains(&encoded), "{text}");
        let warning = "the source of programs is given to archive";
        assert!(server.log().contains(warning), "{}", server.log());
    }
}

#[test]
fn who_becomes_a_named_user_is_told_what_was_there_before() {
    let fixture = fixture();
    fixture.write_beside("htpasswd", "other:x\n");
    let server = garner().serve(
        &fixture,
        &config("off").replace(
            "[[area]]\npath = '/closed/'\nhtpasswd = 'htpasswd'\nusers = ['reader']\n",
            "",
        ),
    );
    let archive = basic("archive", "legacy");
    let headers = [(archive.0, archive.1.as_str())];
    let first = Answer::ask_as(
        &server.base_url,
        "verb=ListIdentifiers&metadataPrefix=oai_dc",
        &headers,
    );
    let since = first.text("responseDate").unwrap();
    assert_eq!(first.headers().len(), 1);

    fs::write(fixture.beside("htpasswd"), PASSWORDS).unwrap();

    wait_until("the programs are told", || {
        let arguments = format!("metadataPrefix=oai_dc&from={since}");
        let query = format!("verb=ListIdentifiers&{arguments}");
        let told = Answer::ask_as(&server.base_url, &query, &headers).headers();
        told.iter()
            .filter(|header| header.identifier.ends_with(".php"))
            .count()
            == 2
    });
}

#[test]
fn programs_that_were_public_are_withdrawn_when_only_named_users_are_told() {
    let fixture = fixture();
    let public = "[offer]\ndynamic = 'reference'\n";
    let port = free_port();
    let before = garner().serve_on(&fixture, public, port);
    let told = before.ask("verb=ListIdentifiers&metadataPrefix=oai_dc");
    assert_eq!(told.headers().len(), 3);
    before.stop();

    let server = garner().serve_on(&fixture, &config("off"), port);

    let headers = server
        .ask("verb=ListIdentifiers&metadataPrefix=oai_dc")
        .headers();
    let deleted = headers.iter().filter(|header| header.deleted);
    let deleted: BTreeSet<_> = deleted.map(|header| header.identifier.clone()).collect();
    let programs = ["closed/inner.php", "visitors.php"].map(|path| server.url(path));
    assert_eq!(deleted, BTreeSet::from(programs));
}

#[test]
fn a_source_without_named_users_stops_the_start() {
    let fixture = fixture();
    let users = "[offer.source]\nhtpasswd = 'htpasswd'\n";
    for (config, part) in [
        (
            "[offer]\ndynamic = 'source'\n".to_owned(),
            "name them in [offer.source]",
        ),
        (
            format!("[offer]\ndynamic = 'source'\n{users}users = []\n"),
            "offer.source.users is empty",
        ),
        (
            format!("[offer]\n{users}users = ['archive']\n"),
            "has no effect",
        ),
        (
            format!("[offer]\ndynamic = 'source'\n{users}users = ['a']\nothers = 'source'\n"),
            "for named users only",
        ),
        (
            format!("[offer]\ndynamic = 'source'\n{users}users = ['a']\nothers = 'processed'\n"),
            "needs an origin",
        ),
        (
            "[offer]\ndynamic = 'source'\n[offer.source]\nhtpasswd = 'none'\nusers = ['a']\n"
                .to_owned(),
            "none",
        ),
    ] {
        let file = fixture.write_beside("garner.toml", &config);
        let output = garner()
            .arg("serve")
            .arg(fixture.site())
            .arg("--config")
            .arg(&file)
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(fixture.data())
            .output();
        assert!(!output.status.success(), "{config}");
        let error = stderr(&output);
        assert!(error.contains(part), "{config}: {error}");
    }
}
