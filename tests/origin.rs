//! Beside another web server, a real nginx.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use test_support::{
    Answer, Fixture, Header, Nginx, Server, basic, fetch, files_below, free_port, get,
    percent_encoded, wait_until,
};

use crate::files::{fields, header_fields, identifiers, noise};
use crate::garner;

/// Starts the program beside an nginx whose answers are not remembered.
fn beside(nginx: &Nginx, fixture: &Fixture, config: &str) -> Server {
    let url = &nginx.url;
    let config = format!("[origin]\nurl = \"{url}\"\ncache_seconds = 0\n{config}");
    garner().serve(fixture, &config)
}

#[test]
fn files_are_items_under_the_urls_of_the_other_server() {
    let fixture = Fixture::small();
    fixture.write("a b/50%#.txt", "odd");
    let nginx = Nginx::start(&fixture, "");

    let server = beside(&nginx, &fixture, "");

    assert_eq!(server.site_url, nginx.url);
    let listed = identifiers(&server);
    assert_eq!(listed.len(), 7);
    for identifier in &listed {
        assert!(identifier.starts_with(&nginx.url), "{identifier}");
        let body = get(identifier).body;
        assert!(server.record(identifier, "oai_didl").by_value() == Some(body));
    }
    // The files themselves are left to the other server.
    let own = server.base_url.replace("/modoai", "/notes.txt");
    assert_eq!(get(&own).status, 404);
    assert!(get(&own).text().contains(&nginx.url));
}

#[test]
fn where_the_other_server_is_asked_is_told_to_nobody() {
    let fixture = site_with_programs();
    let nginx = Nginx::start(&fixture, PROGRAMS);
    let config =
        "[server]\nsite_url = \"https://www.example.org/\"\n[offer]\ndynamic = \"processed\"\n";
    let server = beside(&nginx, &fixture, config);
    let place = nginx.url.trim_start_matches("http://").to_owned();
    assert_eq!(identifiers(&server).len(), 8);

    let missing = get(&server.base_url.replace("/modoai", "/notes.txt"));
    nginx.stop();
    let list = format!(
        "{}?verb=ListRecords&metadataPrefix=oai_didl",
        server.base_url
    );
    let away = get(&list);

    assert_eq!((missing.status, away.status), (404, 503));
    assert!(missing.text().contains("https://www.example.org/"));
    for response in [&missing, &away] {
        assert!(!response.text().contains(place.trim_end_matches('/')));
    }
}

#[test]
fn only_the_very_file_under_its_own_url_is_an_item() {
    let fixture = Fixture::small();
    let (one, two) = (noise(100_000), noise(100_001)[1..].to_vec());
    for (name, content) in [
        ("swapped/a.txt", b"one".to_vec()),
        ("swapped/b.txt", b"two".to_vec()),
        ("swapped/large-a.bin", one),
        ("swapped/large-b.bin", two),
        ("refused.txt", b"refused".to_vec()),
        ("moved.txt", b"moved".to_vec()),
        ("gone.txt", b"gone".to_vec()),
        ("other.txt", b"the file".to_vec()),
        ("longer.txt", b"begins alike".to_vec()),
        ("broken.txt", b"broken".to_vec()),
        ("rewritten/x.txt", b"x".to_vec()),
        ("large.bin", noise(300_000)),
    ] {
        fixture.write(name, content);
        fixture.set_mtime(name, 1_000_000_000);
    }
    let site = fixture.site();
    let alias = |from: &str, to: &str| {
        let to = site.join("swapped").join(to);
        format!("location = /swapped/{from} {{ alias {}; }}\n", to.display())
    };
    let directives = [
        alias("a.txt", "b.txt"),
        alias("b.txt", "a.txt"),
        alias("large-a.bin", "large-b.bin"),
        alias("large-b.bin", "large-a.bin"),
        "location = /refused.txt { deny all; }\n".to_owned(),
        "location = /moved.txt { return 302 /notes.txt; }\n".to_owned(),
        "location = /gone.txt { return 404; }\n".to_owned(),
        "location = /other.txt { return 200 \"not file\"; }\n".to_owned(),
        "location = /longer.txt { return 200 \"begins alike and goes on\"; }\n".to_owned(),
        "location = /broken.txt { return 500; }\n".to_owned(),
        "location /rewritten/ { rewrite ^ /notes.txt break; }\n".to_owned(),
    ]
    .concat();
    let nginx = Nginx::start(&fixture, &directives);

    let server = beside(&nginx, &fixture, "");

    let mut expected = BTreeSet::new();
    for name in files_of(&fixture) {
        let url = server.url(&name);
        let response = get(&url);
        let very_file = fs::read(fixture.path(&name)).unwrap();
        if response.status == 200 && response.body == very_file {
            expected.insert(url);
        }
    }
    assert_eq!(expected.len(), 7, "{expected:?}");
    check_agreement(&server, &fixture, &[], &expected);
}

#[test]
fn items_behind_a_password_are_for_those_who_send_it() {
    let fixture = Fixture::small();
    fixture.write("docs/only.csv", "a type of its own");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/htpasswd");
    let passwords = fixture.write_beside("htpasswd", fs::read(example).unwrap());
    let directives = format!(
        "location /docs/ {{ auth_basic \"inner\"; auth_basic_user_file {}; }}",
        passwords.display()
    );
    let nginx = Nginx::start(&fixture, &directives);
    // Answers are remembered here, for each requester apart.
    let config = format!("[origin]\nurl = \"{}\"\n", nginx.url);
    let server = garner().serve(&fixture, &config);

    for (credentials, seen) in [
        (None, 4),
        (Some(("legacy", "wrong")), 4),
        (Some(("legacy", "legacy")), 7),
        (Some(("editor", "editor")), 7),
        (None, 4),
    ] {
        let header = credentials.map(|(user, password)| basic(user, password));
        let headers: Vec<_> = header
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let urls = files_of(&fixture).into_iter().map(|name| server.url(&name));
        let expected: BTreeSet<_> = urls
            .filter(|url| fetch("GET", url, &headers, b"").status == 200)
            .collect();
        assert_eq!(expected.len(), seen, "{credentials:?}");
        check_agreement(&server, &fixture, &headers, &expected);
        let sets = Answer::ask_as(&server.base_url, "verb=ListSets", &headers).texts("setSpec");
        let told = sets.iter().any(|set| set == "mime:text:csv");
        assert_eq!(told, seen == 7, "{credentials:?}");
    }

    // A tombstone is told where its place is open.
    fs::remove_file(fixture.path("docs/only.csv")).unwrap();
    fs::remove_file(fixture.path("notes.txt")).unwrap();
    let (name, value) = basic("legacy", "legacy");
    let deleted = |headers: &[(&str, &str)]| {
        let list = Answer::list(
            &server.base_url,
            "ListIdentifiers",
            "metadataPrefix=oai_dc",
            headers,
        );
        list.into_iter().filter(|header| header.deleted).count()
    };
    wait_until("both are deleted", || deleted(&[(name, &value)]) == 2);
    assert_eq!(deleted(&[]), 1);
}

#[test]
fn records_tell_the_headers_and_types_of_the_other_server() {
    let fixture = Fixture::small();
    fixture.write("large.txt", noise(200_000));
    let directives = "add_header X-Test \"a <b> & c\";\nadd_header Cache-Control \"max-age=60\";\n\
                      location = /notes.txt { types { } default_type \"text/x-notes; charset=utf-8\"; add_header X-Own own; }";
    let nginx = Nginx::start(&fixture, directives);
    let server = beside(&nginx, &fixture, "");

    for identifier in identifiers(&server) {
        let response = fetch("GET", &identifier, &[("Accept-Encoding", "identity")], b"");
        let told = header_fields(&server.record(&identifier, "http_header"));
        assert_eq!(told, fields(&response.headers), "{identifier}");
        let didl = server.record(&identifier, "oai_didl");
        assert_eq!(header_fields(&didl), told, "{identifier}");
    }
    let about = header_fields(&server.record(&server.url("about.html"), "http_header"));
    assert!(about.contains(&("x-test".to_owned(), "a <b> & c".to_owned())));

    let notes = server.url("notes.txt");
    let formats = server.record(&notes, "oai_dc").texts("format");
    assert_eq!(formats[0], "text/x-notes; charset=utf-8");
    let didl = server.record(&notes, "oai_didl");
    assert_eq!(
        didl.attribute("Resource", "mimeType").as_deref(),
        Some("text/x-notes")
    );
}

#[test]
fn compression_and_size_on_the_other_side_change_nothing() {
    let fixture = Fixture::small();
    let text = "the same line again and again\n".repeat(10_000);
    fixture.write("large.txt", &text);
    fixture.write("edge.txt", &text[..65_536]);
    fixture.write("beyond.txt", &text[..65_537]);
    let nginx = Nginx::start(
        &fixture,
        "gzip on; gzip_min_length 0; gzip_types *; gzip_vary on;",
    );
    let gzip = fetch(
        "GET",
        &format!("{}large.txt", nginx.url),
        &[("Accept-Encoding", "gzip")],
        b"",
    );
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));

    let server = beside(&nginx, &fixture, "");

    assert_eq!(identifiers(&server).len(), 9);
    for name in ["large.txt", "edge.txt", "beyond.txt", "notes.txt"] {
        let record = server.record(&server.url(name), "oai_didl");
        assert!(
            record.by_value() == Some(fs::read(fixture.path(name)).unwrap()),
            "{name}"
        );
        assert!(!record.xml.contains("Content-Encoding"), "{name}");
    }
}

#[test]
fn changes_show_after_the_time_answers_are_remembered() {
    let fixture = Fixture::small();
    let nginx = Nginx::start(&fixture, "");
    let config = format!("[origin]\nurl = \"{}\"\ncache_seconds = 1\n", nginx.url);
    let server = garner().serve(&fixture, &config);
    let notes = server.url("notes.txt");
    let before = server.record(&notes, "oai_dc").headers().remove(0);

    fixture.write("notes.txt", "other notes, and longer ones");
    fixture.write("new.txt", "new");

    wait_until("the change is told", || {
        let after = server.record(&notes, "oai_dc").headers().remove(0);
        after.datestamp > before.datestamp
    });
    assert_eq!(
        server.record(&notes, "oai_didl").by_value(),
        Some(b"other notes, and longer ones".to_vec())
    );
    wait_until("the new file is told", || {
        identifiers(&server).contains(&server.url("new.txt"))
    });
    assert_eq!(
        header_fields(&server.record(&notes, "http_header")),
        fields(&get(&notes).headers)
    );
}

#[test]
fn while_the_other_server_is_down_harvesters_are_told_to_come_back() {
    let fixture = Fixture::small();
    let port = free_port();
    let nginx = Nginx::start_on(&fixture, "", port);
    let server = beside(&nginx, &fixture, "");
    assert_eq!(server.all().len(), 6);

    nginx.stop();
    let identifier = percent_encoded(&server.url("notes.txt"));
    for query in [
        "verb=ListIdentifiers&metadataPrefix=oai_dc".to_owned(),
        "verb=ListRecords&metadataPrefix=oai_didl".to_owned(),
        "verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:text".to_owned(),
        "verb=ListSets".to_owned(),
        format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}"),
        format!("verb=ListMetadataFormats&identifier={identifier}"),
    ] {
        let response = get(&format!("{}?{query}", server.base_url));
        assert_eq!(response.status, 503, "{query}");
        let seconds: u64 = response.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=3600).contains(&seconds), "{query}");
        assert_eq!(
            response.text(),
            "this repository cannot answer at the moment; try again later\n"
        );
    }
    // Where the other server is, is for the log alone.
    let reason = format!("the origin {} cannot be asked", server.site_url);
    wait_until("the reasons in the log", || {
        server.log().matches(&reason).count() >= 6
    });
    assert!(server.log().contains("is it running?"));
    assert_eq!(server.ask("verb=Identify").error(), None);

    // One that is too busy is no different.
    let busy = Nginx::start_on(&fixture, "return 503;", port);
    let list = "verb=ListIdentifiers&metadataPrefix=oai_dc";
    let response = get(&format!("{}?{list}", server.base_url));
    assert_eq!(response.status, 503);
    busy.stop();

    let _back = Nginx::start_on(&fixture, "", port);
    assert_eq!(server.all().len(), 6);
}

#[test]
fn a_list_breaks_off_rather_than_end_too_early() {
    let fixture = Fixture::empty();
    for at in 0..40 {
        fixture.write(format!("{at}.txt"), "text");
        fixture.set_mtime(format!("{at}.txt"), 1_000_000_000 + at);
    }
    fixture.write("last.html", "html");
    let nginx = Nginx::start(&fixture, "");
    let config = format!("[origin]\nurl = \"{}\"\ncache_seconds = 60\n", nginx.url);
    let server = garner().serve(&fixture, &config);
    // With credentials of its own, or the server's sweep would have asked for all of them already.
    let (name, value) = basic("some", "body");
    let somebody = [(name, value.as_str())];
    let old = "verb=ListIdentifiers&metadataPrefix=oai_dc&until=2002-01-01";
    let old = Answer::ask_as(&server.base_url, old, &somebody);
    assert_eq!(old.headers().len(), 40);

    // The first forty are remembered; of the last nobody can say whether it is there.
    nginx.stop();
    let url = format!(
        "{}?verb=ListIdentifiers&metadataPrefix=oai_dc",
        server.base_url
    );
    let response = fetch("GET", &url, &somebody, b"");

    assert!(response.status == 503 || !response.complete);
    assert!(!response.text().contains("</OAI-PMH>"));
}

#[test]
fn programs_are_left_out_unless_told() {
    let fixture = site_with_programs();
    let nginx = Nginx::start(&fixture, PROGRAMS);
    let server = beside(&nginx, &fixture, "");

    assert_eq!(identifiers(&server).len(), 6);
    let answer = server.record(&server.url("run.php"), "oai_dc");
    assert_eq!(answer.error().as_deref(), Some("idDoesNotExist"));
}

#[test]
fn programs_by_reference_tell_nothing_of_their_source() {
    let fixture = site_with_programs();
    let nginx = Nginx::start(&fixture, PROGRAMS);
    let server = beside(&nginx, &fixture, "[offer]\ndynamic = \"reference\"\n");

    let url = server.url("run.php");
    let listed = identifiers(&server);
    assert_eq!(listed.len(), 8);
    assert!(listed.contains(&url));
    assert!(!listed.contains(&server.url("failing.php")));
    let didl = server.record(&url, "oai_didl");
    assert_eq!(didl.by_value(), None);
    assert_eq!(didl.attribute("Resource", "ref").as_ref(), Some(&url));
    assert_eq!(
        didl.attribute("Resource", "mimeType").as_deref(),
        Some("text/html")
    );
    assert_eq!(
        header_fields(&server.record(&url, "http_header")),
        fields(&get(&url).headers)
    );
    check_silence(&server);
}

#[test]
fn processed_programs_give_their_output_by_value() {
    let fixture = site_with_programs();
    let large = fixture.write_beside("large-output.html", vec![b'x'; 1_048_577]);
    let directives = format!(
        "location = /large.php {{ default_type text/html; types {{ }} alias {}; }}\n{PROGRAMS}",
        large.display()
    );
    let nginx = Nginx::start(&fixture, &directives);
    let server = beside(&nginx, &fixture, "[offer]\ndynamic = \"processed\"\n");

    let url = server.url("run.php");
    let didl = server.record(&url, "oai_didl");
    assert_eq!(didl.by_value(), Some(b"processed output".to_vec()));
    assert_eq!(header_fields(&didl), fields(&get(&url).headers));
    assert_eq!(
        didl.attribute("Resource", "mimeType").as_deref(),
        Some("text/html")
    );
    assert!(didl.texts("format").contains(&"16 bytes".to_owned()));

    let large = server.record(&server.url("large.php"), "oai_didl");
    assert_eq!(large.by_value(), None);
    assert!(large.attribute("Resource", "ref").is_some());
    assert_eq!(
        large.text("failed").as_deref(),
        Some("what the server makes of it could not be taken; fetch it by its reference")
    );
    wait_until("the reason in the log", || {
        server.log().contains("longer than 1048576 bytes")
    });

    assert!(!identifiers(&server).contains(&server.url("failing.php")));
    check_silence(&server);
}

const PROGRAMS: &str = "location = /failing.php { return 500; }\n\
    location ~ \\.php$ { default_type text/html; add_header X-Powered-By program; return 200 \"processed output\"; }";

/// A site with programs whose source is 1234 bytes long and 25 years old.
fn site_with_programs() -> Fixture {
    let fixture = Fixture::small();
    for name in ["run.php", "large.php", "failing.php"] {
        let source = format!("<?php $password = 'secret'; ?>{}", " ".repeat(1204));
        fixture.write(name, source);
        fixture.set_mtime(name, 1_000_000_000);
    }
    fixture
}

#[test]
fn what_the_other_server_ceases_or_begins_to_show_is_told() {
    let fixture = Fixture::small();
    let port = free_port();
    let denying = "location = /about.html { deny all; }\nlocation = /notes.txt { deny all; }\n";
    let nginx = Nginx::start_on(&fixture, "location = /notes.txt { deny all; }\n", port);
    let server = beside(&nginx, &fixture, "[index]\nsweep_seconds = 1\n");
    let state = |path: &str| {
        let identifier = server.url(path);
        let mut headers = server.all().into_iter();
        headers.find(|header| header.identifier == identifier)
    };
    let first = state("about.html").unwrap();
    assert!(!first.deleted);
    assert_eq!(state("notes.txt"), None);

    nginx.stop();
    let nginx = Nginx::start_on(&fixture, denying, port);
    wait_until("the tombstone", || {
        state("about.html").is_some_and(|header| header.deleted)
    });
    let hidden = state("about.html").unwrap();
    assert!(hidden.datestamp > first.datestamp);
    // A file that was never shown stays unknown.
    assert_eq!(state("notes.txt"), None);
    assert_eq!(
        server.record(&hidden.identifier, "oai_dc").headers(),
        std::slice::from_ref(&hidden)
    );

    nginx.stop();
    let _nginx = Nginx::start_on(&fixture, "", port);
    wait_until("both to be shown", || {
        let live = |path| state(path).is_some_and(|header: Header| !header.deleted);
        live("about.html") && live("notes.txt")
    });
    wait_until("new datestamps", || {
        ["about.html", "notes.txt"]
            .iter()
            .all(|path| state(path).unwrap().datestamp >= hidden.datestamp)
    });
    assert!(state("about.html").unwrap().datestamp > hidden.datestamp);
}

/// Nothing of the source of a program is in any record.
fn check_silence(server: &Server) {
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        let records = server.ask(&format!("verb=ListRecords&metadataPrefix={prefix}"));
        let programs: Vec<_> = records
            .xml
            .split("<record>")
            .filter(|xml| xml.contains("run.php"))
            .collect();
        assert_eq!(programs.len(), 1, "{prefix}");
        for trace in ["secret", "PD9waHA", "1234", "Sep 2001"] {
            assert!(!programs[0].contains(trace), "{prefix}: {trace}");
        }
    }
}

/// The names of all files of a site.
fn files_of(fixture: &Fixture) -> Vec<String> {
    let names = files_below(&fixture.site()).into_iter();
    names.map(|name| String::from_utf8(name).unwrap()).collect()
}

/// Lists in every format, sets and GetRecord show exactly the expected items.
fn check_agreement(
    server: &Server,
    fixture: &Fixture,
    headers: &[(&str, &str)],
    expected: &BTreeSet<String>,
) {
    let list = |verb: &str, arguments: &str| -> Vec<Header> {
        Answer::list(&server.base_url, verb, arguments, headers)
    };
    let listed = list("ListIdentifiers", "metadataPrefix=oai_dc");
    let live: BTreeSet<_> = listed
        .iter()
        .map(|header| header.identifier.clone())
        .collect();
    assert_eq!(live, *expected);
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        assert_eq!(
            list("ListRecords", &format!("metadataPrefix={prefix}")),
            listed
        );
    }
    let mut in_sets = list("ListIdentifiers", "metadataPrefix=oai_dc&set=mime:text");
    in_sets.extend(list(
        "ListIdentifiers",
        "metadataPrefix=oai_dc&set=mime:image",
    ));
    in_sets.extend(list(
        "ListIdentifiers",
        "metadataPrefix=oai_dc&set=mime:application",
    ));
    in_sets.sort();
    let mut all = listed.clone();
    all.sort();
    assert_eq!(in_sets, all);
    for name in files_of(fixture) {
        let url = server.url(&name);
        let error = (!expected.contains(&url)).then(|| "idDoesNotExist".to_owned());
        let record = server.record_as(&url, "oai_dc", headers);
        assert_eq!(record.error(), error, "{url}");
    }
}

#[test]
fn what_the_other_server_failed_to_serve_for_a_while_is_not_missed() {
    let fixture = Fixture::small();
    let port = free_port();
    let nginx = Nginx::start_on(&fixture, "", port);
    let server = beside(&nginx, &fixture, "[index]\nsweep_seconds = 1\n");
    assert_eq!(server.all().len(), 6);
    nginx.stop();
    let nginx = Nginx::start_on(&fixture, "location = /notes.txt { return 500; }", port);
    fixture.write("notes.txt", "other notes");
    wait_until("the file to be left out", || server.all().len() == 5);
    let from = server.ask("verb=Identify").text("responseDate").unwrap();

    nginx.stop();
    let _nginx = Nginx::start_on(&fixture, "", port);

    let query = format!("metadataPrefix=oai_dc&from={from}");
    wait_until("the file to be told after all", || {
        let list = Answer::list(&server.base_url, "ListIdentifiers", &query, &[]);
        list.iter()
            .any(|header| header.identifier.ends_with("/notes.txt"))
    });
}

#[test]
fn a_deletion_is_told_to_those_only_who_knew() {
    let fixture = Fixture::small();
    fixture.write("unknown/plan.txt", "not for anybody");
    fixture.write("docs/other.html", "kept");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/htpasswd");
    let passwords = fixture.write_beside("htpasswd", fs::read(example).unwrap());
    let directives = format!(
        "location /unknown/ {{ return 404; }}\n\
         location /docs/ {{ auth_basic \"inner\"; auth_basic_user_file {}; }}",
        passwords.display()
    );
    let nginx = Nginx::start(&fixture, &directives);
    let server = beside(&nginx, &fixture, "");
    let list = |user: Option<&str>| {
        let header = user.map(|user| basic(user, user));
        let headers: Vec<_> = header
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        Answer::list(
            &server.base_url,
            "ListIdentifiers",
            "metadataPrefix=oai_dc",
            &headers,
        )
    };
    assert_eq!((list(None).len(), list(Some("reader")).len()), (4, 7));

    for name in ["unknown/plan.txt", "docs/paper.pdf", "notes.txt"] {
        fs::remove_file(fixture.path(name)).unwrap();
    }

    let deleted = |user: Option<&str>| -> Vec<String> {
        let headers = list(user).into_iter().filter(|header| header.deleted);
        headers
            .map(|header| header.identifier.replace(&nginx.url, ""))
            .collect()
    };
    wait_until("the tombstone of what all knew", || {
        deleted(None) == ["notes.txt"]
    });
    let mut known = deleted(Some("reader"));
    known.sort();
    assert_eq!(known, ["docs/paper.pdf", "notes.txt"]);
    assert_eq!(deleted(Some("editor")), ["notes.txt"]);
    assert_eq!(deleted(Some("nobody")), ["notes.txt"]);
}

/// Issue 18: the repository was empty, and nothing said why.
#[test]
fn an_origin_that_redirects_to_https_is_told_of_at_the_start() {
    let fixture = Fixture::small();
    let elsewhere = "if ($request_method) { return 301 https://www.example.org$request_uri; }";
    let nginx = Nginx::start(&fixture, elsewhere);

    let server = beside(&nginx, &fixture, "");

    let log = server.stop();
    let said = "redirects to https://www.example.org/: files behind a redirect are not offered";
    assert_eq!(log.matches(said).count(), 1, "{log}");
    assert!(log.contains("--origin https://www.example.org/"), "{log}");
}
