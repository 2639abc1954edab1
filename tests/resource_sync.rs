//! Sitemaps and ResourceSync: a site as crawlers without OAI-PMH learn of it. Everybody is told what a GET would give.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use roxmltree::Document;
use test_support::{
    Answer, Fixture, Response, Schemas, Server, basic, fetch, files_below, free_port, get,
    wait_until,
};

use crate::garner;

/// An entry of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) url: String,
    pub(crate) modified: Option<String>,
    /// The attributes of its `rs:md`.
    pub(crate) facts: BTreeMap<String, String>,
}

impl Entry {
    pub(crate) fn change(&self) -> &str {
        self.facts.get("change").map_or("", String::as_str)
    }
}

/// All entries of a list, part by part if it is an index.
pub(crate) fn entries(url: &str, headers: &[(&str, &str)]) -> Vec<Entry> {
    let (text, found) = document(url, headers);
    match text.contains("<sitemapindex ") {
        false => found,
        true => found
            .iter()
            .flat_map(|part| document(&part.url, headers).1)
            .collect(),
    }
}

fn document(url: &str, headers: &[(&str, &str)]) -> (String, Vec<Entry>) {
    let response = fetch("GET", url, headers, b"");
    assert_eq!(response.status, 200, "{url}: {}", response.text());
    assert!(response.complete, "{url}");
    let media_type = "application/xml; charset=utf-8";
    assert_eq!(response.header("content-type"), Some(media_type), "{url}");
    let text = response.text();
    let found = read(&text);
    (text, found)
}

fn read(text: &str) -> Vec<Entry> {
    let parsed = Document::parse(text).unwrap();
    let entries = parsed.root_element().children();
    let entries = entries.filter(|node| matches!(node.tag_name().name(), "url" | "sitemap"));
    let text_of = |node: roxmltree::Node<'_, '_>, name: &str| {
        let child = node.children().find(|child| child.has_tag_name(name));
        child.and_then(|child| child.text()).map(str::to_owned)
    };
    entries
        .map(|node| {
            let md = node
                .children()
                .find(|child| child.tag_name().name() == "md");
            let facts = md.iter().flat_map(|md| md.attributes());
            Entry {
                url: text_of(node, "loc").unwrap(),
                modified: text_of(node, "lastmod"),
                facts: facts
                    .map(|fact| (fact.name().to_owned(), fact.value().to_owned()))
                    .collect(),
            }
        })
        .collect()
}

/// The addresses of the lists of a site: below the repository, and at the root.
fn lists(server: &Server) -> [String; 4] {
    let base_url = &server.base_url;
    [
        format!("{base_url}/sitemap.xml"),
        format!("{base_url}/resourcesync/resourcelist.xml"),
        format!("{base_url}/resourcesync/changelist.xml"),
        server.url("sitemap.xml"),
    ]
}

#[test]
fn every_listed_url_is_given_to_the_one_who_was_told() {
    let fixture = Fixture::small();
    fixture.write_beside("htpasswd", "reader:{SHA}mzMEbtOdGC462vqQRa1nh9S7wyE=\n");
    fixture.write("closed/a b&c.txt", "for readers");
    fixture.write("house/map.png", "for the house");
    let config = "[server]\ntrusted_proxies = [\"127.0.0.1\"]\n\
        [[area]]\npath = \"/closed/\"\nhtpasswd = \"htpasswd\"\n\
        [[area]]\npath = \"/house/\"\nallow = [\"192.0.2.0/24\"]\n";
    let server = garner().serve(&fixture, config);
    for name in ["late.txt", "closed/late.txt", "house/late.txt"] {
        fixture.write(name, "late");
    }
    fs::remove_file(fixture.path("notes.txt")).unwrap();
    wait_until("the changes are noticed", || {
        let changes = entries(&lists(&server)[2], &[]);
        changes
            .iter()
            .any(|change| change.url.ends_with("/late.txt"))
            && changes.iter().any(|change| change.change() == "deleted")
    });

    let (name, password) = basic("reader", "legacy");
    let house = ("X-Forwarded-For", "192.0.2.7");
    for (headers, total) in [
        (vec![], 6),
        (vec![(name, password.as_str())], 8),
        (vec![house], 8),
        (vec![(name, "Basic bm9ib2R5Om5vYm9keQ==")], 6),
        (vec![(name, password.as_str()), house], 10),
    ] {
        let records = Answer::list(
            &server.base_url,
            "ListIdentifiers",
            "metadataPrefix=oai_dc",
            &headers,
        );
        let live = records.iter().filter(|record| !record.deleted);
        let live: BTreeSet<_> = live.map(|record| record.identifier.clone()).collect();
        assert_eq!(live.len(), total, "{headers:?}");
        for list in lists(&server) {
            let found = entries(&list, &headers);
            let there = found.iter().filter(|entry| entry.change() != "deleted");
            for entry in there.clone() {
                let status = fetch("GET", &entry.url, &headers, b"").status;
                assert_eq!(status, 200, "{} of {list} for {headers:?}", entry.url);
            }
            let urls: BTreeSet<_> = there.map(|entry| entry.url.clone()).collect();
            match list.contains("changelist") {
                true => assert!(urls.is_subset(&live)),
                false => assert_eq!(urls, live, "{list} for {headers:?}"),
            }
        }
    }
}

#[test]
fn a_resource_list_tells_what_a_get_returns() {
    let fixture = Fixture::small();
    fixture.set_mtime("notes.txt", 1_600_000_000);
    let server = garner().serve(&fixture, "");
    let list = &lists(&server)[1];
    // Digests are made when a record is asked for that has them.
    server.record(&server.url("notes.txt"), "oai_didl");
    let told = |name: &str| {
        let found = entries(list, &[]);
        let url = server.url(name);
        found.into_iter().find(|entry| entry.url == url).unwrap()
    };
    wait_until("the digests are kept", || {
        told("notes.txt").facts.contains_key("hash")
    });

    let notes = told("notes.txt");
    assert_eq!(notes.modified.as_deref(), Some("2020-09-13T12:26:40Z"));
    assert_eq!(notes.facts["length"], "11");
    assert_eq!(notes.facts["type"], "text/plain");
    let mut sum = Command::new("sha256sum");
    let sum = sum.arg(fixture.path("notes.txt")).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    let hash = &notes.facts["hash"];
    assert!(hash.contains(&format!("sha-256:{}", &sum[..64])), "{hash}");
    assert!(!told("about.html").facts.contains_key("hash"));

    // Another version has other digests, and the old ones are not told of it.
    fixture.write("notes.txt", "other notes");
    wait_until("the change is noticed", || {
        !told("notes.txt").facts.contains_key("hash")
    });
}

#[test]
fn a_change_list_tells_what_happened_and_when() {
    let fixture = Fixture::small();
    for name in ["index.html", "about.html", "logo.png"] {
        fixture.set_mtime(name, 1_600_000_000);
    }
    let port = free_port();
    let server = garner().serve_on(&fixture, "", port);
    let list = lists(&server)[2].clone();
    let head = document(&list, &[]).0;
    assert!(head.contains("<rs:md capability=\"changelist\" from=\""));
    assert!(!head.contains("until="));
    assert!(
        entries(&list, &[])
            .iter()
            .all(|entry| entry.change() == "created")
    );

    fixture.write("new.txt", "new");
    fixture.write("about.html", "changed");
    fs::remove_file(fixture.path("logo.png")).unwrap();
    let changes = |server: &Server| -> BTreeMap<String, Entry> {
        let found = entries(&lists(server)[2], &[]);
        let name = |url: &str| url.rsplit('/').next().unwrap().to_owned();
        found
            .into_iter()
            .map(|entry| (name(&entry.url), entry))
            .collect()
    };
    wait_until("three changes are noticed", || {
        let changes = changes(&server);
        let change = |name: &str| changes.get(name).map_or("", Entry::change).to_owned();
        (change("new.txt"), change("about.html"), change("logo.png"))
            == ("created".into(), "updated".into(), "deleted".into())
    });
    let told = changes(&server);
    assert!(!told.contains_key("index.html"), "{told:?}");
    for entry in told.values() {
        assert!(entry.facts["datetime"].ends_with('Z'));
        assert_eq!(entry.modified.is_none(), entry.change() == "deleted");
    }
    let headers = server.all();
    for (name, entry) in &told {
        let header = headers.iter().find(|header| header.identifier == entry.url);
        assert_eq!(header.unwrap().datestamp, entry.facts["datetime"], "{name}");
    }

    // It is there again, and another start knows it all.
    fixture.write("logo.png", "again");
    wait_until("the file is there again", || {
        changes(&server)["logo.png"].change() == "created"
    });
    let before = changes(&server);
    server.stop();
    let server = garner().serve_on(&fixture, "", port);
    let after = changes(&server);
    for (name, entry) in before {
        assert_eq!(after[&name].facts, entry.facts, "{name}");
    }
}

#[test]
fn files_of_the_site_go_before_ours() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let described = get(&server.url(".well-known/resourcesync")).text();
    assert!(described.contains(&format!(
        "<loc>{}/resourcesync/capabilitylist.xml</loc>",
        server.base_url
    )));
    fixture.write("sitemap.xml", "<urlset/>");
    fixture.write("sitemap-1_begin_end.xml", "a part");

    assert_eq!(get(&server.url("sitemap.xml")).text(), "<urlset/>");
    assert_eq!(get(&server.url("sitemap-1_begin_end.xml")).text(), "a part");
    let ours = get(&format!("{}/sitemap.xml", server.base_url)).text();
    assert!(ours.contains("/notes.txt</loc>"));
    assert_eq!(
        get(&format!("{}/resourcesync", server.base_url)).text(),
        described
    );
    for missing in [
        "sitemap.xml.gz",
        "sitemap-2.xml",
        "resourcesync/changelist.xml",
    ] {
        assert_eq!(get(&server.url(missing)).status, 404, "{missing}");
    }
    let refused = fetch(
        "POST",
        &format!("{}/sitemap.xml", server.base_url),
        &[],
        b"",
    );
    assert_eq!(refused.status, 405);
}

#[test]
fn documents_fit_the_schemas_and_are_compressed_for_those_who_ask() {
    let fixture = Fixture::small();
    fixture.write("a b&c'\"<d>\u{e9}.txt", "odd name");
    fixture.write("p/program.php", "<?php");
    fixture.set_mtime("index.html", -86_400);
    let server = garner().serve(&fixture, "");
    server.record(&server.url("notes.txt"), "oai_didl");
    fs::remove_file(fixture.path("about.html")).unwrap();
    wait_until("the deletion is told", || {
        get(&lists(&server)[2]).text().contains("deleted")
    });

    let more = [
        server.url(".well-known/resourcesync"),
        format!("{}/resourcesync", server.base_url),
        format!("{}/resourcesync/capabilitylist.xml", server.base_url),
    ];
    let schemas = Schemas::load();
    for url in lists(&server).iter().chain(&more) {
        let plain = get(url);
        assert_eq!(plain.header("vary"), Some("Accept-Encoding"), "{url}");
        let packed = fetch("GET", url, &[("Accept-Encoding", "gzip")], b"");
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{url}");
        assert_eq!(without_time(&gunzip(&packed)), without_time(&plain.text()));
        let head = fetch("HEAD", url, &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0), "{url}");
        if let Some(schemas) = &schemas {
            schemas.validate(&plain.text()).unwrap();
        }
    }
}

/// A document without the time at which it was written.
fn without_time(text: &str) -> String {
    match text.split_once(" at=\"") {
        Some((before, after)) => format!("{before}{}", &after[20..]),
        None => text.to_owned(),
    }
}

fn gunzip(response: &Response) -> String {
    use std::io::Read;
    let mut text = String::new();
    flate2::read::GzDecoder::new(&response.body[..])
        .read_to_string(&mut text)
        .unwrap();
    text
}

#[test]
fn a_large_site_has_an_index_of_lists() {
    let fixture = Fixture::empty();
    for directory in 0..51 {
        let place = fixture.path(format!("d{directory}"));
        fs::create_dir_all(&place).unwrap();
        for file in 0..1000 {
            fs::write(place.join(format!("{file}.txt")), "").unwrap();
        }
    }
    let server = garner().serve(&fixture, "");
    fs::remove_file(fixture.path("d7/7.txt")).unwrap();
    let [sitemap, resources, ..] = lists(&server);
    wait_until("the deletion is noticed", || {
        server
            .record(&server.url("d7/7.txt"), "oai_dc")
            .xml
            .contains("deleted")
    });

    let schemas = Schemas::load();
    for list in [sitemap, resources, server.url("sitemap.xml")] {
        let (index, parts) = document(&list, &[]);
        assert!(index.contains("<sitemapindex "), "{list}");
        assert_eq!(parts.len(), 2, "{list}");
        let sizes: Vec<_> = parts
            .iter()
            .map(|part| {
                let directory = part.url.rsplit_once('/').unwrap().0;
                assert_eq!(directory, list.rsplit_once('/').unwrap().0);
                let (text, found) = document(&part.url, &[]);
                if let Some(schemas) = &schemas {
                    schemas.validate(&text).unwrap();
                }
                found.len()
            })
            .collect();
        assert_eq!(sizes, [50_000, 999], "{list}");
        let urls: BTreeSet<_> = entries(&list, &[]).into_iter().map(|e| e.url).collect();
        assert_eq!(urls.len(), 50_999);
        assert!(!urls.contains(&server.url("d7/7.txt")));
        if let Some(schemas) = &schemas {
            schemas.validate(&index).unwrap();
        }
    }
}

/// The client of ResourceSync, with a copy of a site.
struct Copy {
    place: tempfile::TempDir,
}

impl Copy {
    fn new() -> Self {
        Self {
            place: tempfile::tempdir().unwrap(),
        }
    }

    fn directory(&self) -> PathBuf {
        self.place.path().join("copy")
    }

    /// Runs the client, and returns what it says.
    fn run(&self, server: &Server, arguments: &[&str]) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let client = root.join(".venv/bin/resync-sync");
        assert!(client.exists(), "run scripts/setup test");
        let output = Command::new(root.join(".venv/bin/python"))
            .arg("-B")
            .arg(client)
            .arg("--verbose")
            .args(arguments)
            .arg(server.url("").trim_end_matches('/'))
            .arg(self.directory())
            .current_dir(self.place.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        for trouble in ["mismatch", "Aborting", "Failed", "Fatal", "Traceback"] {
            assert!(!said.contains(trouble), "{arguments:?}: {said}");
        }
        said
    }

    /// The copy has exactly the files of the site.
    fn check(&self, fixture: &Fixture) {
        let sorted = |place: &Path| {
            let mut files = files_below(place);
            files.sort();
            files
        };
        assert_eq!(sorted(&self.directory()), sorted(&fixture.site()));
        for name in sorted(&fixture.site()) {
            let name = String::from_utf8(name).unwrap();
            assert_eq!(
                fs::read(self.directory().join(&name)).unwrap(),
                fs::read(fixture.path(&name)).unwrap(),
                "{name}"
            );
        }
    }
}

#[test]
fn the_client_of_resourcesync_keeps_a_copy() {
    let fixture = Fixture::small();
    fixture.write("docs/deep/er/page.html", "deep");
    let server = garner().serve(&fixture, "");
    let copy = Copy::new();
    for identifier in server.all() {
        server.record(&identifier.identifier, "oai_didl");
    }
    wait_until("the digests are kept", || {
        let found = entries(&lists(&server)[1], &[]);
        found.iter().all(|entry| entry.facts.contains_key("hash"))
    });

    copy.run(&server, &["--baseline", "--hash", "sha-256"]);
    copy.check(&fixture);
    let audit = copy.run(&server, &["--audit", "--hash", "sha-256"]);
    assert!(audit.contains("IN SYNC"), "{audit}");

    fixture.write("docs/new.html", "new");
    fixture.write("about.html", "changed, and longer");
    fs::remove_file(fixture.path("notes.txt")).unwrap();
    fs::rename(fixture.path("logo.png"), fixture.path("docs/logo.png")).unwrap();
    wait_until("all is noticed", || {
        let found = entries(&lists(&server)[2], &[]);
        let changes: BTreeSet<_> = found
            .iter()
            .map(|entry| (entry.url.as_str(), entry.change()))
            .collect();
        [
            ("docs/new.html", "created"),
            ("about.html", "updated"),
            ("notes.txt", "deleted"),
            ("logo.png", "deleted"),
            ("docs/logo.png", "created"),
        ]
        .iter()
        .all(|(name, change)| changes.contains(&(server.url(name).as_str(), change)))
    });
    let stale = copy.run(&server, &["--audit", "--hash", "sha-256"]);
    assert!(stale.contains("NOT IN SYNC"), "{stale}");

    let changes = lists(&server)[2].clone();
    copy.run(
        &server,
        &["--incremental", "--delete", "--changelist-uri", &changes],
    );
    copy.check(&fixture);
    let audit = copy.run(&server, &["--audit", "--hash", "sha-256"]);
    assert!(
        audit.contains("IN SYNC") && !audit.contains("NOT IN SYNC"),
        "{audit}"
    );
}
