//! The site's files over HTTP: conditions, ranges, media types, directories, robots.txt.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use roxmltree::Document;
use test_support::{Answer, Connection, Fixture, Response, Server, fetch, files_below, get};

use crate::garner;

#[test]
fn head_tells_what_get_would_without_the_body() {
    let fixture = Fixture::small();
    fixture.write("large.bin", vec![7; 300_000]);
    let server = garner().serve(&fixture, "");

    for path in ["", "notes.txt", "large.bin", "docs/", "missing", ".hidden"] {
        let got = get(&server.url(path));
        let head = fetch("HEAD", &server.url(path), &[], b"");

        assert_eq!(head.status, got.status, "{path}");
        assert_eq!(fields(&head.headers), fields(&got.headers), "{path}");
        assert_eq!(
            got.header("content-length"),
            Some(got.body.len().to_string().as_str()),
            "{path}"
        );
    }
    let notes = get(&server.url("notes.txt"));
    assert_eq!((notes.status, notes.text().as_str()), (200, "some notes\n"));
    assert_eq!(notes.header("content-type"), Some("text/plain"));
    assert_eq!(notes.header("accept-ranges"), Some("bytes"));
}

#[test]
fn who_has_the_file_is_told_so_and_who_has_another_gets_it() {
    let fixture = Fixture::small();
    fixture.set_mtime("notes.txt", 1_000_000_000);
    let server = garner().serve(&fixture, "");
    let url = server.url("notes.txt");
    let first = get(&url);
    let (etag, modified) = (
        first.header("etag").unwrap().to_owned(),
        first.header("last-modified").unwrap().to_owned(),
    );
    assert_eq!(modified, "Sun, 09 Sep 2001 01:46:40 GMT");

    for (name, value, status) in [
        ("If-None-Match", etag.as_str(), 304),
        ("If-None-Match", "*", 304),
        ("If-None-Match", "\"other\"", 200),
        ("If-Modified-Since", modified.as_str(), 304),
        ("If-Modified-Since", "Sun, 09 Sep 2001 01:46:39 GMT", 200),
        ("If-Modified-Since", "no date", 200),
        ("If-Match", etag.as_str(), 200),
        ("If-Match", "\"other\"", 412),
        ("If-Unmodified-Since", modified.as_str(), 200),
        ("If-Unmodified-Since", "Sun, 09 Sep 2001 01:46:39 GMT", 412),
    ] {
        for method in ["GET", "HEAD"] {
            let response = fetch(method, &url, &[(name, value)], b"");
            assert_eq!(response.status, status, "{method} {name}: {value}");
            if status == 304 {
                assert_eq!(response.header("etag"), Some(etag.as_str()));
                assert!(response.body.is_empty());
            }
        }
    }

    // The same length and the same modification time: still another file.
    fixture.write("notes.txt", "other bytes");
    fixture.set_mtime("notes.txt", 1_000_000_000);
    let changed = fetch("GET", &url, &[("If-None-Match", &etag)], b"");
    assert_eq!(
        (changed.status, changed.text().as_str()),
        (200, "other bytes")
    );
    assert_eq!(fetch("GET", &url, &[("If-Match", &etag)], b"").status, 412);
}

#[test]
fn ranges_give_exactly_the_bytes_asked_for() {
    let fixture = Fixture::empty();
    let content = noise(200_000);
    fixture.write("data.bin", &content);
    fixture.write("empty.bin", "");
    let server = garner().serve(&fixture, "");
    let url = server.url("data.bin");
    let size = content.len();

    for (range, expected) in [
        ("bytes=0-0", 0..1),
        ("bytes=1-65536", 1..65_537),
        ("bytes=65535-131072", 65_535..131_073),
        ("bytes=199999-", 199_999..size),
        ("bytes=100-999999", 100..size),
        ("bytes=-1", size - 1..size),
        ("bytes=-150000", 50_000..size),
        ("bytes=-999999", 0..size),
    ] {
        let response = fetch("GET", &url, &[("Range", range)], b"");
        assert_eq!(response.status, 206, "{range}");
        assert!(response.complete, "{range}");
        assert!(response.body == content[expected.clone()], "{range}");
        let shown = format!("bytes {}-{}/{size}", expected.start, expected.end - 1);
        assert_eq!(response.header("content-range"), Some(shown.as_str()));
    }
    for range in ["bytes=200000-", "bytes=-0", "bytes=999999-1000000"] {
        let response = fetch("GET", &url, &[("Range", range)], b"");
        assert_eq!(response.status, 416, "{range}");
        assert_eq!(response.header("content-range"), Some("bytes */200000"));
    }
    for range in ["bytes=5-2", "lines=1-2", "bytes=a-b", "bytes=0-1,5-6"] {
        let response = fetch("GET", &url, &[("Range", range)], b"");
        assert_eq!(response.status, 200, "{range}");
        assert!(response.body == content, "{range}");
    }
    let empty = fetch(
        "GET",
        &server.url("empty.bin"),
        &[("Range", "bytes=0-")],
        b"",
    );
    assert_eq!(empty.status, 416);
}

#[test]
fn a_range_counts_only_for_a_get_of_the_very_file() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let url = server.url("notes.txt");
    let whole = get(&url);
    let etag = whole.header("etag").unwrap();
    let modified = whole.header("last-modified").unwrap();

    for (condition, status) in [(etag, 206), (modified, 206), ("\"other\"", 200)] {
        let headers = [("Range", "bytes=0-3"), ("If-Range", condition)];
        assert_eq!(fetch("GET", &url, &headers, b"").status, status);
    }
    // RFC 9110, 14.2: ranges are defined for GET alone.
    for range in ["bytes=0-3", "bytes=500-"] {
        let head = fetch("HEAD", &url, &[("Range", range)], b"");
        assert_eq!(head.status, 200, "{range}");
        assert_eq!(fields(&head.headers), fields(&whole.headers), "{range}");
    }
}

#[test]
fn a_directory_is_its_index_file_and_always_ends_in_a_slash() {
    let fixture = Fixture::small();
    fixture.write("sub/index.htm", "sub");
    fixture.write("a b/start.txt", "start");
    fixture.write("docs/deep/x.txt", "deep");
    fixture.write("no:scheme/x.txt", "x");
    let config = "[server]\nindex_files = [\"start.txt\", \"index.html\", \"index.htm\"]\n";
    let server = garner().serve(&fixture, config);

    assert_eq!(get(&server.site_url).text(), "<title>Start</title>hello");
    assert_eq!(get(&server.url("sub/")).text(), "sub");
    assert_eq!(get(&server.url("a%20b/")).text(), "start");
    for (path, target) in [
        ("sub", "./sub/"),
        ("sub?", "./sub/?"),
        ("sub?a=b&c=%20d", "./sub/?a=b&c=%20d"),
        ("a%20b", "./a%20b/"),
        ("docs", "./docs/"),
        ("docs/deep", "./deep/"),
        ("no:scheme", "./no:scheme/"),
    ] {
        let response = get(&server.url(path));
        assert_eq!(response.status, 301, "{path}");
        assert_eq!(response.header("location"), Some(target), "{path}");
    }
    // Never a redirect to another host.
    let mut connection = Connection::open(server.authority());
    connection.send(b"GET //sub HTTP/1.1\r\nHost: x\r\n\r\n");
    let response = connection.receive(false).unwrap();
    assert!(
        response
            .header("location")
            .is_none_or(|target| target == "./sub/")
    );
    assert_eq!(get(&server.url("notes.txt/")).status, 404);
    assert_eq!(get(&server.url("notes.txt/x")).status, 404);
}

#[test]
fn a_listing_names_what_its_reader_can_get_and_nothing_else() {
    let fixture = Fixture::empty();
    for name in [
        "a & <b>.txt",
        "50%#?.txt",
        "page.html",
        "sub/x.txt",
        "closed/x.txt",
        "single.txt",
        ".hidden",
        ".git/config",
        "page.html~",
        "run.php",
        "modoai/x.txt",
    ] {
        fixture.write(name, name);
    }
    let htpasswd = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/htpasswd");
    fixture.write_beside("htpasswd", fs::read(htpasswd).unwrap());
    let config = "[[area]]\npath = \"/closed/\"\nhtpasswd = \"htpasswd\"\n\
                  [[area]]\npath = \"/single.txt\"\nhtpasswd = \"htpasswd\"\n";
    let server = garner().serve(&fixture, config);
    let reader = test_support::basic("reader", "reader");
    let reader = [(reader.0, reader.1.as_str())];

    let nobodys = get(&server.site_url);
    let readers = fetch("GET", &server.site_url, &reader, b"");

    let mut expected = vec![
        "./50%25%23%3F.txt",
        "./a%20%26%20%3Cb%3E.txt",
        "./page.html",
        "./sub/",
    ];
    assert_eq!(links(&nobodys), expected);
    expected.extend(["./closed/", "./single.txt"]);
    expected.sort_unstable();
    assert_eq!(links(&readers), expected);
    for link in expected {
        let url = server.url(&link[2..]);
        assert_eq!(fetch("GET", &url, &reader, b"").status, 200, "{link}");
    }
    assert_eq!(links(&get(&server.url("sub/"))), ["../", "./x.txt"]);
    assert_eq!(get(&server.url("closed/")).status, 401);
    assert_eq!(get(&server.url(".git/")).status, 404);
}

#[test]
fn listings_can_be_turned_off() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "[server]\ndirectory_listing = false\n");

    assert_eq!(get(&server.url("docs/")).status, 404);
    assert_eq!(get(&server.site_url).status, 200);
}

#[test]
fn media_types_come_from_the_table_and_the_configuration_adds_to_it() {
    let fixture = Fixture::empty();
    let expected = [
        ("a.HTML", "text/html"),
        ("a.pdf", "application/pdf"),
        ("a.svg", "image/svg+xml"),
        ("a.tar.gz", "application/gzip"),
        ("a.vip", "application/x-from-table"),
        ("a.both", "application/x-from-extensions"),
        ("a.txt", "text/x-own"),
        ("README", "application/x-default"),
        ("a.unknown-extension", "application/x-default"),
    ];
    for (name, _) in expected {
        fixture.write(name, "x");
    }
    let table = "# own\napplication/x-from-table vip both\n";
    fixture.write_beside("tables/own.types", table);
    let config = "[media_types]\ntables = [\"tables/own.types\"]\ndefault = \"application/x-default\"\n\
                  [media_types.extensions]\nboth = \"application/x-from-extensions\"\n\".TXT\" = \"text/x-own\"\n";

    let server = garner().serve(&fixture, config);

    for (name, media_type) in expected {
        let response = get(&server.url(name));
        assert_eq!(response.header("content-type"), Some(media_type), "{name}");
        let record = server.record(&server.url(name), "oai_dc");
        assert_eq!(record.text("format").as_deref(), Some(media_type), "{name}");
    }
    let own =
        server.ask("verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:application:x-default");
    assert_eq!(own.identifiers().len(), 2);
}

#[test]
fn other_methods_are_refused_with_those_that_are_allowed() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");

    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"] {
        for path in ["notes.txt", "missing", "docs/", "robots.txt"] {
            let response = fetch(method, &server.url(path), &[], b"");
            assert_eq!(response.status, 405, "{method} {path}");
            assert_eq!(response.header("allow"), Some("GET, HEAD"));
        }
    }
    for method in ["PUT", "DELETE", "OPTIONS"] {
        let response = fetch(method, &server.base_url, &[], b"");
        assert_eq!(response.status, 405, "{method}");
        assert_eq!(response.header("allow"), Some("GET, HEAD, POST"));
    }
    assert_eq!(
        fs::read(fixture.path("notes.txt")).unwrap(),
        b"some notes\n"
    );
}

#[test]
fn hidden_names_are_neither_served_nor_offered() {
    let fixture = Fixture::small();
    for name in [
        ".htaccess",
        ".git/config",
        "docs/.secret/x.html",
        "page.html~",
        "docs/#autosave#",
        "RCS/page.html,v",
        "CVS/Entries",
    ] {
        fixture.write(name, "hidden");
    }
    fixture.write(".well-known/security.txt", "found");
    symlink("docs", fixture.path("alias")).unwrap();
    let server = garner().serve(&fixture, "");

    for path in [
        ".htaccess",
        "%2Ehtaccess",
        ".git/config",
        ".git/",
        ".git",
        "docs/.secret/x.html",
        "alias/.secret/x.html",
        "docs/../.htaccess",
        "docs/%2e%2e/.htaccess",
        "page.html~",
        "docs/%23autosave%23",
        "RCS/page.html,v",
        "CVS/Entries",
    ] {
        let response = get(&server.url(path));
        assert_eq!(response.status, 404, "{path}");
        assert!(!response.text().contains("hidden"), "{path}");
    }
    assert_eq!(get(&server.url(".well-known/security.txt")).text(), "found");
    let listed: BTreeSet<_> = identifiers(&server);
    assert_eq!(listed.len(), 7);
    assert!(listed.contains(&server.url(".well-known/security.txt")));
}

#[test]
fn the_source_of_a_program_is_never_given_out() {
    let fixture = Fixture::small();
    let source = "<?php $password = 'secret'; ?>";
    for name in [
        "run.php",
        "RUN.PHP",
        "page.php.en",
        "docs/index.php",
        "cgi/x.cgi",
        "s.shtml",
    ] {
        fixture.write(name, source);
    }
    let outside = fixture.write_beside("lib/outside.php", source);
    symlink("run.php", fixture.path("harmless.txt")).unwrap();
    symlink("cgi", fixture.path("directory")).unwrap();
    symlink("harmless.txt", fixture.path("twice.html")).unwrap();
    symlink(&outside, fixture.path("outside.txt")).unwrap();
    symlink(outside.parent().unwrap(), fixture.path("lib")).unwrap();

    for symlinks in ["inside", "all", "none"] {
        let config = format!(
            "[offer]\nsymlinks = \"{symlinks}\"\n[server]\nindex_files = [\"index.php\"]\n"
        );
        let server = garner().serve(&fixture, &config);

        for path in [
            "run.php",
            "run.ph%70",
            "RUN.PHP",
            "page.php.en",
            "docs/index.php",
            "docs/",
            "cgi/x.cgi",
            "s.shtml",
            "harmless.txt",
            "directory/x.cgi",
            "twice.html",
            "outside.txt",
            "lib/outside.php",
        ] {
            let response = get(&server.url(path));
            assert!(!response.text().contains("secret"), "{symlinks}: {path}");
            assert_ne!(response.status, 200, "{symlinks}: {path}");
        }
        assert_eq!(identifiers(&server).len(), 6, "{symlinks}");
        for prefix in ["oai_dc", "http_header", "oai_didl"] {
            let records = server.ask(&format!("verb=ListRecords&metadataPrefix={prefix}"));
            assert!(!records.xml.contains(".php"), "{symlinks}: {prefix}");
        }
    }
}

#[test]
fn links_inside_are_served_and_those_that_leave_the_site_only_if_told() {
    let fixture = Fixture::small();
    let outside = fixture.write_beside("elsewhere/outside.txt", "outside");
    symlink("notes.txt", fixture.path("link.txt")).unwrap();
    symlink("docs", fixture.path("papers")).unwrap();
    symlink(&outside, fixture.path("far.txt")).unwrap();
    symlink(outside.parent().unwrap(), fixture.path("far")).unwrap();
    symlink("../../elsewhere/outside.txt", fixture.path("docs/up.txt")).unwrap();
    symlink("loop.txt", fixture.path("loop.txt")).unwrap();
    symlink("nowhere", fixture.path("dangling.txt")).unwrap();

    for (symlinks, inside, far, items) in [
        ("none", false, false, 6),
        ("inside", true, false, 6),
        ("all", true, true, 9),
    ] {
        let server = garner().serve(&fixture, &format!("[offer]\nsymlinks = \"{symlinks}\"\n"));

        for (path, body, served) in [
            ("link.txt", "some notes\n", inside),
            ("papers/page.html", "<title>Page</title>a page", inside),
            ("far.txt", "outside", far),
            ("far/outside.txt", "outside", far),
            ("docs/up.txt", "outside", far),
        ] {
            let response = get(&server.url(path));
            assert_eq!(response.status == 200, served, "{symlinks}: {path}");
            assert_eq!(response.text() == body, served, "{symlinks}: {path}");
        }
        for path in ["loop.txt", "dangling.txt"] {
            assert_ne!(get(&server.url(path)).status, 200, "{symlinks}: {path}");
        }
        let listed = identifiers(&server);
        assert_eq!(listed.len(), items, "{symlinks}: {listed:?}");
        for identifier in listed {
            assert_eq!(get(&identifier).status, 200, "{symlinks}: {identifier}");
        }
    }
}

#[test]
fn a_link_is_of_the_media_type_of_its_own_name() {
    let fixture = Fixture::empty();
    fixture.write(".store/4711", "%PDF-1.4");
    symlink(".store/4711", fixture.path("paper.pdf")).unwrap();

    let server = garner().serve(&fixture, "");

    let url = server.url("paper.pdf");
    assert_eq!(get(&url).header("content-type"), Some("application/pdf"));
    assert_eq!(
        header_fields(&server.record(&url, "http_header")),
        fields(&get(&url).headers)
    );
}

#[test]
fn a_file_where_the_repository_answers_is_covered_by_it() {
    let fixture = Fixture::small();
    fixture.write("modoai", "a file");
    fixture.write("docs/modoai", "another");
    fixture.write("modoai.txt", "a third");
    let server = garner().serve(&fixture, "");

    assert!(get(&server.url("modoai")).text().contains("badVerb"));
    assert_eq!(get(&server.url("docs/modoai")).text(), "another");
    assert_eq!(get(&server.url("modoai.txt")).text(), "a third");
    let listed = identifiers(&server);
    assert!(!listed.contains(&server.url("modoai")));
    assert!(listed.contains(&server.url("docs/modoai")));
    assert_eq!(listed.len(), 8);
}

#[test]
fn a_site_without_robots_txt_gets_one_that_names_the_repository() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let robots = get(&server.url("robots.txt"));
    assert_eq!(robots.status, 200);
    assert_eq!(
        robots.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    let text = robots.text();
    assert!(text.contains(&format!("{}?verb=Identify", server.base_url)));
    let lines = format!(
        "User-agent: *\nAllow: /modoai\n\nSitemap: {}/sitemap.xml\n",
        server.base_url
    );
    assert!(text.ends_with(&lines), "{text}");
    assert!(!identifiers(&server).contains(&server.url("robots.txt")));

    // Its own file, as soon as it has one.
    fixture.write("robots.txt", "User-agent: *\nDisallow: /docs/\n");
    let own = get(&server.url("robots.txt"));
    assert_eq!(own.text(), "User-agent: *\nDisallow: /docs/\n");
    assert_eq!(own.header("content-type"), Some("text/plain"));
}

#[test]
fn robots_can_be_kept_to_the_repository_or_told_nothing() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "[robots]\nexclusive = true\n");
    let text = get(&server.url("robots.txt")).text();
    assert!(
        text.contains("User-agent: *\nAllow: /modoai\nDisallow: /\n\n"),
        "{text}"
    );
    drop(server);

    let server = garner().serve(&fixture, "[robots]\nadvertise = false\n");
    assert_eq!(get(&server.url("robots.txt")).status, 404);
}

#[test]
fn a_large_file_arrives_whole() {
    let fixture = Fixture::empty();
    let content = noise(20_000_000);
    fixture.write("large.bin", &content);
    let server = garner().serve(&fixture, "");
    let url = server.url("large.bin");

    let whole = get(&url);
    let part = fetch("GET", &url, &[("Range", "bytes=9999999-19999998")], b"");

    assert!(whole.complete && whole.body == content);
    assert!(part.complete && part.body == content[9_999_999..19_999_999]);
    // Too large to be given by value, so by reference alone.
    let record = server.record(&url, "oai_didl");
    assert_eq!(record.by_value(), None);
    assert_eq!(record.attribute("Resource", "ref"), Some(url));
}

#[test]
fn a_file_is_an_item_if_and_only_if_it_can_be_fetched() {
    let fixture = example_site();
    let server = garner().serve(&fixture, "");

    let mut fetched = BTreeSet::new();
    for (url, content) in example_files(&fixture, &server) {
        let response = get(&url);
        if response.status == 200 {
            assert!(response.body == content, "{url}");
            fetched.insert(url);
        }
    }

    assert_eq!(identifiers(&server), fetched);
    assert!(fetched.len() > 30, "{fetched:?}");
}

#[test]
fn the_http_header_record_is_the_header_of_a_get() {
    let fixture = example_site();
    fixture.set_mtime("README", -86_400);
    let server = garner().serve(&fixture, "");

    for identifier in identifiers(&server) {
        let response = get(&identifier);
        let record = server.record(&identifier, "http_header");
        let told = header_fields(&record);
        assert_eq!(told, fields(&response.headers), "{identifier}");
        let names: Vec<_> = response.headers.iter().map(|(name, _)| name).collect();
        assert!(names.iter().any(|name| *name == "Date"));
        assert_eq!(record.attribute("header", "status"), None);
        assert!(record.xml.contains("status=\"200\""), "{}", record.xml);
    }
}

#[test]
fn the_bytes_in_a_record_are_the_bytes_of_a_get() {
    let fixture = example_site();
    fixture.write("streamed.bin", noise(700_000));
    let server = garner().serve(&fixture, "");

    let records = Answer::pages(
        &server.base_url,
        "ListRecords",
        "metadataPrefix=oai_didl",
        &[],
    );
    let listed: BTreeSet<_> = records.iter().flat_map(Answer::identifiers).collect();
    assert_eq!(listed, identifiers(&server));
    for identifier in listed {
        let response = get(&identifier);
        let record = server.record(&identifier, "oai_didl");
        assert!(record.by_value() == Some(response.body), "{identifier}");
    }
}

#[test]
fn one_connection_carries_many_requests() {
    let fixture = Fixture::small();
    fixture.write("large.bin", noise(1_000_000));
    let server = garner().serve(&fixture, "");
    let mut connection = Connection::open(server.authority());
    let etag = get(&server.url("notes.txt"));
    let condition = format!("If-None-Match: {}\r\n", etag.header("etag").unwrap());

    for _ in 0..3 {
        for (request, extra, status, length) in [
            ("GET /notes.txt", "", 200, 11),
            ("HEAD /notes.txt", "", 200, 0),
            ("GET /notes.txt", condition.as_str(), 304, 0),
            ("GET /large.bin", "", 200, 1_000_000),
            ("GET /large.bin", "Range: bytes=5-204\r\n", 206, 200),
            ("GET /docs", "", 301, 8),
            ("GET /missing", "", 404, 27),
            ("PUT /notes.txt", "", 405, 19),
        ] {
            let text = format!("{request} HTTP/1.1\r\nHost: x\r\n{extra}\r\n");
            connection.send(text.as_bytes());
            let response = connection.receive(request.starts_with("HEAD")).unwrap();
            assert_eq!(response.status, status, "{request}");
            assert!(response.complete, "{request}");
            assert_eq!(response.body.len(), length, "{request}");
        }
        connection.send(b"GET /modoai?verb=Identify HTTP/1.1\r\nHost: x\r\n\r\n");
        let answer = Answer::of(connection.receive(false).unwrap());
        assert_eq!(answer.text("baseURL").as_ref(), Some(&server.base_url));
    }
    // Several requests sent at once are answered in their order.
    connection.send(
        b"GET /notes.txt HTTP/1.1\r\nHost: x\r\n\r\nGET /about.html HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(connection.receive(false).unwrap().text(), "some notes\n");
    let last = connection.receive(false).unwrap();
    assert_eq!(last.text(), "<title>About</title>about us");
    assert!(connection.receive(false).is_none());
}

/// The fields of an `http_header` record, in comparable form.
pub(crate) fn header_fields(record: &Answer) -> BTreeSet<(String, String)> {
    let document = Document::parse(&record.xml).unwrap();
    let nodes = document
        .descendants()
        .filter(|node| node.has_tag_name(("urn:x-garner:http_header", "field")));
    let pairs: Vec<_> = nodes
        .map(|node| {
            let name = node.attribute("name").unwrap().to_owned();
            (name, node.text().unwrap_or_default().to_owned())
        })
        .collect();
    fields(&pairs)
}

/// Headers in comparable form: without the date, and without what concerns the connection alone.
pub(crate) fn fields(headers: &[(String, String)]) -> BTreeSet<(String, String)> {
    let lower = headers
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    lower
        .filter(|(name, _)| !["date", "connection", "keep-alive"].contains(&name.as_str()))
        .collect()
}

/// The identifiers of all live items.
pub(crate) fn identifiers(server: &Server) -> BTreeSet<String> {
    let live = server.all().into_iter().filter(|header| !header.deleted);
    live.map(|header| header.identifier).collect()
}

/// Bytes without a pattern.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn links(page: &Response) -> Vec<String> {
    let text = page.text();
    let links = text.split("href=\"").skip(1);
    links
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

/// A copy of the example site.
fn example_site() -> Fixture {
    let fixture = Fixture::empty();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/site");
    for path in files_below(&example) {
        let content = fs::read(example.join(OsStr::from_bytes(&path))).unwrap();
        fixture.write(path, content);
    }
    fixture
}

/// The URL and the content of every file, hidden or not.
fn example_files(fixture: &Fixture, server: &Server) -> Vec<(String, Vec<u8>)> {
    let url = |path: &[u8]| -> String {
        let escaped = path.iter().map(|byte| match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' => char::from(*byte).to_string(),
            byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
            byte => format!("%{byte:02X}"),
        });
        server.url(&escaped.collect::<String>())
    };
    let files = files_below(&fixture.site());
    files
        .into_iter()
        .map(|path| (url(&path), fs::read(fixture.path(path)).unwrap()))
        .collect()
}
