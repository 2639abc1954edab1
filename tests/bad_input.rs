//! Hostile and broken input: always a correct answer or a clear error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use test_support::{
    Answer, Connection, Fixture, Response, Server, fetch, from_base64, get, wait_until,
};

use crate::garner;

const LIST: &str = "verb=ListIdentifiers&metadataPrefix=oai_dc";

#[test]
fn broken_arguments_get_an_error_of_the_protocol() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");

    for (query, code) in [
        ("", "badVerb"),
        ("&&&&=&=", "badVerb"),
        ("=Identify", "badVerb"),
        ("verb", "badVerb"),
        ("verb=", "badVerb"),
        ("verb=Identify%", "badVerb"),
        ("verb=Identify%2", "badVerb"),
        ("verb=%zzIdentify", "badVerb"),
        ("verb=%00", "badVerb"),
        ("verb=Identify%00", "badVerb"),
        ("verb=Identify%0A", "badVerb"),
        ("verb=+Identify", "badVerb"),
        ("verb=Identify;x=1", "badVerb"),
        ("verb=identify", "badVerb"),
        ("VERB=Identify", "badVerb"),
        ("verb=%FF%FE", "badVerb"),
        ("verb=%3Cscript%3E%26%22%27", "badVerb"),
        ("verb=Identify&verb=Identify", "badVerb"),
        ("verb=Identify&verb=ListSets", "badVerb"),
        ("verb=Identify&%00=1", "badArgument"),
        ("verb=Identify&=", "badArgument"),
        ("verb=Identify&x", "badArgument"),
        ("verb=Identify&resumptionToken=x", "badArgument"),
        ("verb=ListSets&set=%01", "badArgument"),
        (
            "verb=ListMetadataFormats&metadataPrefix=oai_dc",
            "badArgument",
        ),
        ("verb=ListRecords", "badArgument"),
        ("verb=ListRecords&metadataPrefix=", "badArgument"),
        ("verb=ListRecords&metadataPrefix=%zz", "badArgument"),
        (
            "verb=ListRecords&metadataPrefix=oai_dc%0D%0A",
            "badArgument",
        ),
        ("verb=ListRecords&metadataPrefix=oai_dc%00", "badArgument"),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&set=%FF",
            "badArgument",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&set=%ED%A0%80",
            "badArgument",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&set=%EF%BF%BF",
            "badArgument",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&metadataPrefix=oai_dc",
            "badArgument",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&metadataprefix=oai_dc",
            "badArgument",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&resumptionToken=x",
            "badArgument",
        ),
        (
            "verb=ListRecords&resumptionToken=x&resumptionToken=x",
            "badArgument",
        ),
        ("verb=GetRecord&identifier=a:b", "badArgument"),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=%",
            "badArgument",
        ),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=",
            "badArgument",
        ),
        (
            "verb=ListRecords&metadataPrefix=marc21",
            "cannotDisseminateFormat",
        ),
    ] {
        for answer in [server.ask(query), post(&server, query)] {
            assert_eq!(answer.error().as_deref(), Some(code), "{query}");
            if code != "cannotDisseminateFormat" {
                let echoes =
                    answer.xml.contains("<request verb") || answer.xml.contains("<request m");
                assert!(!echoes, "{query} is echoed: {}", answer.xml);
            }
        }
    }

    assert_well(&server);
}

#[test]
fn raw_control_and_high_bytes_in_a_request_do_no_harm() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");

    for byte in (0..=255u8).filter(|byte| !byte.is_ascii_graphic()) {
        let mut request = b"GET /modoai?verb=GetRecord&metadataPrefix=oai_dc&identifier=a".to_vec();
        request.push(byte);
        request.extend(b"b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        if let Some(response) = raw(&server, &request) {
            assert_never_a_record(&response, byte);
        }
        let form = [b"verb=ListRecords&metadataPrefix=oai_dc&set=a", &[byte][..]].concat();
        let answer = Answer::of(fetch("POST", &server.base_url, &[], &form));
        // A vertical tab at the end of a form is as illegal as anywhere else.
        assert_eq!(answer.error().as_deref(), Some("badArgument"), "{byte:#x}");
    }

    assert_well(&server);
}

#[test]
fn megabytes_of_arguments_are_refused_or_answered_soon() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let began = Instant::now();

    let long = "x".repeat(1024 * 1024);
    let query = raw(
        &server,
        format!("GET /modoai?verb={long} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes(),
    );
    if let Some(response) = query {
        assert!([400, 414, 431].contains(&response.status), "{response:?}");
    }
    let almost = format!("verb={}", "x".repeat(1024 * 1024 - 5));
    assert_eq!(post(&server, &almost).error().as_deref(), Some("badVerb"));
    for size in [1, 10] {
        let body = format!("verb=Identify&x={}", long.repeat(size));
        let refused = raw(&server, &form_request(body.as_bytes()));
        assert!(refused.is_none_or(|response| response.status == 413));
    }
    let chunk = format!("100000\r\n{long}\r\n");
    let endless = "POST /modoai HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let refused = raw(&server, format!("{endless}{}", chunk.repeat(10)).as_bytes());
    assert!(refused.is_none_or(|response| response.status == 413));

    assert!(began.elapsed() < Duration::from_secs(10));
    assert_well(&server);
}

#[test]
fn a_form_of_very_many_arguments_costs_little_and_answers_little() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let began = Instant::now();

    let unknown = format!("verb=ListRecords{}", "&a".repeat(500_000));
    let mixed = format!(
        "verb=ListRecords{}{}",
        "&a".repeat(250_000),
        "&set".repeat(130_000)
    );
    for form in [unknown, mixed] {
        let answer = post(&server, &form);

        assert_eq!(answer.error().as_deref(), Some("badArgument"));
        assert!(answer.xml.len() < 100_000, "{} bytes", answer.xml.len());
    }

    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    assert_well(&server);
}

#[test]
fn forged_foreign_and_damaged_tokens_are_refused() {
    let config = "[pages]\nidentifiers = 2\nrecords = 2\n";
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, config);
    let other = Fixture::small();
    let foreign = garner().serve(&other, config);
    let token = server.ask(LIST).token().unwrap();
    let bad = |query: &str| {
        let error = server.ask(query).error();
        assert_eq!(error.as_deref(), Some("badResumptionToken"), "{query}");
    };

    bad(&format!("verb=ListRecords&resumptionToken={token}"));
    bad(&format!("verb=ListSets&resumptionToken={token}"));
    bad("verb=ListIdentifiers&resumptionToken=");
    bad("verb=ListIdentifiers&resumptionToken=AAAA");
    bad("verb=ListIdentifiers&resumptionToken=%F0%9F%92%A9");
    bad(&format!("verb=ListIdentifiers&resumptionToken={token}%20"));
    bad(&format!("verb=ListIdentifiers&resumptionToken={token}A"));
    bad(&format!("verb=ListIdentifiers&resumptionToken={token}="));
    bad(&format!(
        "verb=ListIdentifiers&resumptionToken={}",
        "A".repeat(50_000)
    ));
    let theirs = foreign.ask(LIST).token().unwrap();
    bad(&format!("verb=ListIdentifiers&resumptionToken={theirs}"));
    for at in 0..token.len() {
        let other = if &token[at..=at] == "A" { "B" } else { "A" };
        let damaged = format!("{}{other}{}", &token[..at], &token[at + 1..]);
        bad(&format!("verb=ListIdentifiers&resumptionToken={damaged}"));
    }

    let whole = server.ask(&format!("verb=ListIdentifiers&resumptionToken={token}"));
    assert_eq!(whole.headers().len(), 2);
    assert_well(&server);
}

#[test]
fn identifiers_count_in_their_one_spelling_only() {
    let fixture = Fixture::small();
    fixture.write("a b.txt", "x");
    let server = garner().serve(&fixture, "");
    let outside = fixture.write_beside("outside.txt", "secret");
    let ask = |identifier: &str| server.record(identifier, "oai_didl");

    for path in ["about.html", "a%20b.txt", "docs/paper.pdf"] {
        assert_eq!(ask(&server.url(path)).error(), None, "{path}");
    }
    for path in [
        "",
        "/about.html",
        "/",
        "about.html/",
        "about.html#",
        "about.html#x",
        "about.html?",
        "about.html?x=1",
        "%61bout.html",
        "ABOUT.html",
        "a%20b%2etxt",
        "a+b.txt",
        "docs",
        "docs/",
        "docs//paper.pdf",
        "docs/./paper.pdf",
        "docs/../about.html",
        "../outside.txt",
        "%2e%2e/outside.txt",
        "..%2Foutside.txt",
        "docs%2Fpaper.pdf",
        "about.html%00",
        "about.html%00.txt",
        "modoai",
        "'about.html",
        "about.html'--",
        "%C3",
        "%FF",
    ] {
        let answer = ask(&server.url(path));
        assert_eq!(answer.error().as_deref(), Some("idDoesNotExist"), "{path}");
    }
    for whole in [
        "oai:example.org:about.html",
        "http://example.org/about.html",
        &server.url("about.html").replace("http://", "HTTP://"),
        &server.url("about.html").replace("http://", "https://"),
        &server.url("about.html").replace("127.0.0.1", "localhost"),
        &server
            .url("about.html")
            .replace("127.0.0.1", "user@127.0.0.1"),
        &format!("file://{}", outside.display()),
        "about.html",
        "/about.html",
    ] {
        let answer = ask(whole);
        assert_eq!(answer.error().as_deref(), Some("idDoesNotExist"), "{whole}");
    }
    for odd in [
        "x\"y", "x<y", "x>y", "x y", "x\ty", "x\ny", "x\0y", "x\u{1}y", "x\\y", "x{y}", "x%y",
        "x#y#z",
    ] {
        for whole in [odd.to_owned(), server.url(odd)] {
            let answer = ask(&whole);
            assert_eq!(answer.error().as_deref(), Some("badArgument"), "{whole:?}");
        }
    }
    assert_well(&server);
}

#[test]
fn set_specs_of_wrong_form_are_bad_arguments_and_unknown_ones_match_nothing() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let error = |set: &str| server.ask(&format!("{LIST}&set={set}")).error();

    for set in [
        "",
        ":",
        "a:",
        ":a",
        "a::b",
        "mime%2Ftext",
        "mime:image:svg%2Bxml",
        "a%20b",
        "a+b",
        "a%25",
        "a;b",
        "a%26b",
        "%22",
        "%27%20OR%201=1--",
        "a%00",
        "na%C3%AFve",
        "..%2F..",
        "*%20",
    ] {
        assert_eq!(error(set).as_deref(), Some("badArgument"), "{set}");
    }
    for set in [
        "mim",
        "MIME",
        "mime:tex",
        "mime:text:html:x",
        "'",
        "*",
        "~",
        "..",
        "(x)",
        "mime:text:~68tml",
    ] {
        assert_eq!(error(set).as_deref(), Some("noRecordsMatch"), "{set}");
    }
    let long = "a".repeat(50_000);
    assert_eq!(error(&long).as_deref(), Some("noRecordsMatch"));

    assert_eq!(error("mime:text:html"), None);
    assert_well(&server);
}

#[test]
fn dates_of_every_wrong_kind_are_bad_arguments() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let error = |arguments: &str| server.ask(&format!("{LIST}&{arguments}")).error();

    for date in [
        "",
        "x",
        "2020",
        "2020-01",
        "20200101",
        "2020-1-1",
        "2020-13-01",
        "2020-00-10",
        "2020-02-30",
        "2019-02-29",
        "2020-01-00",
        "2020-01-32",
        "2020-01-01T",
        "2020-01-01Z",
        "2020-01-01T00:00Z",
        "2020-01-01T00:00:00",
        "2020-01-01T00:00:00z",
        "2020-01-01t00:00:00Z",
        "2020-01-01T00:00:00.0Z",
        "2020-01-01T00:00:00%2B00:00",
        "2020-01-01T24:00:00Z",
        "2020-01-01T00:60:00Z",
        "2020-01-01T00:00:61Z",
        "2020-01-01+00:00:00Z",
        "-2020-01-01",
        "%2B2020-01-01",
        "12020-01-01",
        "0000-01-01",
        "2020-01-01%00",
        "2020-01-01%0A",
        "%D9%A2%D9%A0%D9%A2%D9%A0-01-01",
        "2020%E2%88%9201-01",
        "now",
        "1577836800",
        "01/01/2020",
        "Wed,%2001%20Jan%202020%2000:00:00%20GMT",
        "NaN",
    ] {
        for name in ["from", "until"] {
            let asked = format!("{name}={date}");
            assert_eq!(error(&asked).as_deref(), Some("badArgument"), "{asked}");
        }
    }
    for both in [
        "from=2020-01-02&until=2020-01-01",
        "from=2020-01-01&until=2020-01-02T00:00:00Z",
        "from=2020-01-01T00:00:00Z&until=2020-01-02",
        "from=2020-01-01&from=2020-01-01",
    ] {
        assert_eq!(error(both).as_deref(), Some("badArgument"), "{both}");
    }
    for nothing in [
        "from=9999-12-31",
        "until=0001-01-01",
        "from=9999-12-31T23:59:59Z",
    ] {
        assert_eq!(
            error(nothing).as_deref(),
            Some("noRecordsMatch"),
            "{nothing}"
        );
    }
    assert_eq!(error("from=0001-01-01&until=9999-12-31"), None);
    assert_well(&server);
}

#[test]
fn http_garbage_is_refused_and_odd_http_understood() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let identify = "/modoai?verb=Identify";
    let status = |request: &str| raw(&server, request.as_bytes()).map(|response| response.status);

    for garbage in [
        "GET /modoai?verb=Identify\r\n\r\n".to_owned(),
        "\0\0\0\0\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "SSH-2.0-OpenSSH_9.0\r\n\r\n".to_owned(),
        format!("GET {identify} HTTP/1.1\r\nNo colon here\r\n\r\n"),
        format!("GET {identify} HTTP/1.1\r\nHost: x\0y\r\n\r\n"),
        format!("GET {identify} HTTP/9.9\r\nHost: x\r\n\r\n"),
        format!(
            "GET {identify} HTTP/1.1\r\nX: {}\r\n\r\n",
            "x".repeat(1 << 20)
        ),
        format!("GET {identify} HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(5000)),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"
            .to_owned(),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_owned(),
    ] {
        let shown = &garbage[..garbage.len().min(80)];
        let refused = status(&garbage);
        assert!(
            refused.is_none_or(|status| (400..600).contains(&status)),
            "{shown}: {refused:?}"
        );
    }
    for odd in [
        format!("GET {identify} HTTP/1.0\r\n\r\n"),
        format!("GET {}?verb=Identify HTTP/1.1\r\nHost: x\r\n\r\n", server.base_url),
        format!("GET http://elsewhere.example{identify} HTTP/1.1\r\nHost: x\r\n\r\n"),
        format!("\r\n\r\nGET {identify} HTTP/1.1\r\nHost: x\r\n\r\n"),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\
         5\r\nverb=\r\n8\r\nIdentify\r\n0\r\n\r\n".to_owned(),
        "POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Type: APPLICATION/x-www-form-urlencoded; charset=utf-8\r\n\
         Content-Length: 13\r\n\r\nverb=Identify".to_owned(),
    ] {
        assert_eq!(status(&odd), Some(200), "{odd}");
    }
    for method in [
        "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get", "BREW",
    ] {
        for path in [identify, "/about.html", "/modoai/style.xsl"] {
            let response = fetch(method, &server.url(&path[1..]), &[], b"");
            assert_eq!(response.status, 405, "{method} {path}");
            assert!(response.header("allow").unwrap().contains("GET"));
        }
    }
    let json = [("Content-Type", "application/json")];
    let refused = fetch("POST", &server.base_url, &json, b"{\"verb\":\"Identify\"}");
    assert_eq!(refused.status, 415);
    assert_eq!(
        fetch("POST", &server.url("about.html"), &[], b"x").status,
        405
    );

    assert_well(&server);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let paths = [
        "/about.html",
        "/modoai?verb=Identify",
        "/nothing",
        "/modoai?verb=x",
        "/notes.txt",
    ];
    let requests: String = paths
        .iter()
        .map(|path| format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
        .collect();

    let mut connection = Connection::open(server.authority());
    connection.send(requests.repeat(20).as_bytes());

    for _ in 0..20 {
        let bodies = paths.map(|_| connection.receive(false).unwrap());
        assert_eq!(
            bodies.each_ref().map(|body| body.status),
            [200, 200, 404, 200, 200]
        );
        assert!(bodies[0].text().contains("about us"));
        assert!(bodies[1].text().contains("<Identify>"));
        assert!(bodies[3].text().contains("badVerb"));
        assert_eq!(bodies[4].text(), "some notes\n");
    }
    assert_well(&server);
}

#[test]
fn a_form_is_asked_for_when_the_client_waits_to_be() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let mut connection = Connection::open(server.authority());

    connection.send(
        b"POST /modoai HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 13\r\n\r\n",
    );
    let asked = connection.receive(true).unwrap();
    connection.send(b"verb=Identify");
    let answered = connection.receive(false).unwrap();

    assert_eq!((asked.status, answered.status), (100, 200));
    assert!(answered.text().contains("<Identify>"));
}

#[test]
fn clients_that_fall_silent_are_given_up() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "[flow_control]\nstall_seconds = 1\n");
    let starts: [&[u8]; 5] = [
        b"",
        b"GET /modoai?verb=Iden",
        b"GET /modoai?verb=Identify HTTP/1.1\r\nHost: x\r\n",
        b"POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\nverb=",
        b"POST /modoai HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nverb=\r\n",
    ];

    let streams = starts.map(|start| {
        let mut stream = TcpStream::connect(server.authority()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(8)))
            .unwrap();
        stream.write_all(start).unwrap();
        stream
    });

    for (mut stream, start) in streams.into_iter().zip(starts) {
        let shown = String::from_utf8_lossy(start);
        let mut told = Vec::new();
        let end = stream.read_to_end(&mut told);
        let timed_out = end.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!timed_out, "{shown:?} is still waited for");
        let told = String::from_utf8_lossy(&told);
        assert!(
            told.is_empty() || told.contains(" 408 ") || told.contains(" 400 "),
            "{told}"
        );
    }
    assert_well(&server);
}

#[test]
fn no_path_leads_out_of_the_site() {
    let fixture = Fixture::small();
    fixture.write_beside("outside.txt", "secret");
    fixture.write(".htpasswd", "secret");
    symlink(fixture.beside("outside.txt"), fixture.path("link.txt")).unwrap();
    symlink("/etc", fixture.path("etc")).unwrap();
    let server = garner().serve(&fixture, "");

    for path in [
        "/../outside.txt",
        "/../../../../../../etc/passwd",
        "/docs/../../outside.txt",
        "/%2e%2e/outside.txt",
        "/%2e%2e%2foutside.txt",
        "/..%2foutside.txt",
        "/.%2e/outside.txt",
        "/docs/%2e%2e/%2e%2e/outside.txt",
        "/%252e%252e/outside.txt",
        "/..%5coutside.txt",
        "/..\\outside.txt",
        "/%c0%ae%c0%ae/outside.txt",
        "/..;/outside.txt",
        "/./about.html/../../outside.txt",
        "/about.html%00.txt",
        "/%00",
        "/docs/%00/../../outside.txt",
        "/link.txt",
        "/etc/passwd",
        "/etc/",
        "/%65tc/passwd",
        "/.htpasswd",
        "/%2ehtpasswd",
        "/docs/../.htpasswd",
        "//etc/passwd",
        "/modoai/../outside.txt",
        "/modoai/../../outside.txt",
        "/modoai/%2e%2e/.htpasswd",
        "/about.html/../about.html",
        "/about.html/x",
        "/%",
        "/%4",
        "/%zz",
    ] {
        for method in ["GET", "HEAD"] {
            let response = fetch(method, &server.url(&path[1..]), &[], b"");
            assert!(
                [400, 403, 404].contains(&response.status),
                "{path}: {}",
                response.status
            );
            let text = response.text();
            assert!(
                !text.contains("secret") && !text.contains("root:"),
                "{path}"
            );
        }
    }
    let listing = get(&server.site_url.clone()).text();
    assert!(!listing.contains("htpasswd"));
    assert_well(&server);
}

#[test]
fn a_client_that_stops_reading_a_long_list_holds_up_nobody() {
    let fixture = Fixture::small();
    for number in 0..9 {
        fixture.write(format!("large-{number}.bin"), vec![b'x'; 6 << 20]);
    }
    let config = "[pages]\nbytes = 0\nrecords = 0\n[flow_control]\nstall_seconds = 1\n";
    let server = garner().serve(&fixture, config);
    let threads = status_number(&server, "Threads:");

    let list = "/modoai?verb=ListRecords&metadataPrefix=oai_didl";
    let stalled: Vec<_> = (0..6).map(|_| stalled(&server, list)).collect();

    let began = Instant::now();
    assert_eq!(server.all().len(), 15);
    assert!(began.elapsed() < Duration::from_secs(1));
    let head = format!("GET {list} HTTP/1.1");
    assert!(status_number(&server, "Threads:") < threads + 40, "{head}");
    assert_well(&server);
    wait_until("the stalled lists are given up", || {
        server.log().matches("does not read").count() + server.log().matches("is gone").count() >= 6
    });
    for mut stream in stalled {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < 40 << 20 && !rest.ends_with(b"0\r\n\r\n"));
    }
    assert_well(&server);
}

#[test]
fn many_clients_that_stop_reading_a_file_hold_up_nobody() {
    let fixture = Fixture::small();
    fixture.write("large.bin", vec![b'x'; 20 << 20]);
    let server = garner().serve(&fixture, "");

    let stalled: Vec<_> = (0..200).map(|_| stalled(&server, "/large.bin")).collect();

    let began = Instant::now();
    for _ in 0..5 {
        assert_well(&server);
        assert_eq!(get(&server.url("notes.txt")).text(), "some notes\n");
    }
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    drop(stalled);
    assert_eq!(get(&server.url("large.bin")).body.len(), 20 << 20);
}

#[test]
fn two_hundred_connections_at_once_are_all_answered() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let authority = server.authority();
    let request = b"GET /modoai?verb=ListSets HTTP/1.1\r\nHost: x\r\n\r\n";

    let mut connections: Vec<_> = (0..200).map(|_| Connection::open(authority)).collect();
    for round in 0..3 {
        for connection in &mut connections {
            connection.send(request);
        }
        for connection in &mut connections {
            let response = connection.receive(false).unwrap();
            assert_eq!((response.status, response.complete), (200, true), "{round}");
        }
    }

    assert!(status_number(&server, "Threads:") < 200);
    assert_well(&server);
}

#[test]
fn connections_beyond_the_limit_are_turned_away_and_room_is_made_again() {
    let config = "[flow_control]\nconnections = 3\nstall_seconds = 1\n";
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, config);

    let silent: Vec<_> = (0..3)
        .map(|_| TcpStream::connect(server.authority()).unwrap())
        .collect();
    wait_until("a fourth connection is turned away", || {
        raw(&server, b"GET /modoai?verb=Identify HTTP/1.0\r\n\r\n").is_none()
    });

    wait_until("the silent ones are given up", || {
        raw(&server, b"GET /modoai?verb=Identify HTTP/1.0\r\n\r\n").is_some()
    });
    drop(silent);
    assert_well(&server);
}

#[test]
fn a_list_too_many_is_told_when_to_come_back() {
    let fixture = Fixture::small();
    for number in 0..4 {
        fixture.write(format!("large-{number}.bin"), vec![b'x'; 6 << 20]);
    }
    let config = "[pages]\nbytes = 0\n\
        [flow_control]\nlists = 1\nlists_per_client = 1\nretry_after_seconds = 7\n";
    let server = garner().serve(&fixture, config);
    let running = stalled(&server, "/modoai?verb=ListRecords&metadataPrefix=oai_didl");

    for query in [LIST, "verb=ListRecords&metadataPrefix=oai_dc"] {
        let refused = get(&format!("{}?{query}", server.base_url));

        assert_eq!(refused.status, 503, "{query}");
        assert_eq!(refused.header("retry-after"), Some("7"));
    }
    assert_eq!(server.ask("verb=ListSets").error(), None);

    drop(running);
    wait_until("lists are answered again", || {
        get(&format!("{}?{LIST}", server.base_url)).status == 200
    });
    assert_well(&server);
}

#[test]
fn bytes_by_value_are_always_one_version_of_their_file() {
    let fixture = Fixture::small();
    let kinds = [
        Change::InPlace,
        Change::Rewrite,
        Change::Replace,
        Change::Vanish,
    ];
    let mut versions = BTreeMap::new();
    for (number, change) in kinds.iter().enumerate() {
        for size in [40_000, 700_000] {
            let name = format!("{number}-{size}.bin");
            fixture.write(&name, vec![b'a'; size]);
            versions.insert(name, change.versions(size));
        }
    }
    let digests: BTreeMap<(u8, usize), String> = versions
        .values()
        .flatten()
        .map(|version| (*version, sha256(&vec![version.0; version.1])))
        .collect();
    let server = garner().serve(&fixture, "[pages]\nbytes = 2000000\n");
    let stop = AtomicBool::new(false);

    let (mut whole, mut harvests) = (0, 0);
    thread::scope(|scope| {
        let finished = Finished(&stop);
        for (number, change) in kinds.iter().enumerate() {
            let (fixture, versions, stop) = (&fixture, &versions, &stop);
            scope.spawn(move || {
                let mine = versions
                    .iter()
                    .filter(|(name, _)| name.starts_with(&number.to_string()));
                let mine: Vec<_> = mine.collect();
                for round in 0.. {
                    for (name, versions) in &mine {
                        change.make(&fixture.path(name), versions[round % versions.len()]);
                        thread::sleep(Duration::from_millis(round as u64 * 13 % 60));
                    }
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let until = Instant::now() + Duration::from_secs(4);
        while Instant::now() < until || harvests == 0 {
            assert!(
                Instant::now() < until + Duration::from_secs(20),
                "no harvest got through"
            );
            let mut next = Some("verb=ListRecords&metadataPrefix=oai_didl".to_owned());
            while let Some(query) = next.take() {
                let response = get(&format!("{}?{query}", server.base_url));
                if response.status == 503 || !response.complete {
                    // Broken off for all to see: asked again.
                    let text = response.text();
                    assert!(
                        !text.contains("</OAI-PMH>"),
                        "an answer that broke off looks whole"
                    );
                    if Instant::now() < until + Duration::from_secs(20) {
                        next = Some(query);
                    }
                    continue;
                }
                let answer = Answer::of(response);
                whole += check_versions(&answer, &digests);
                let token = answer.token();
                next = token.map(|token| format!("verb=ListRecords&resumptionToken={token}"));
                harvests += usize::from(next.is_none());
            }
        }
        drop(finished);
    });

    assert!(whole > 10, "only {whole} resources came by value");
    assert_well(&server);
}

#[test]
fn a_file_that_never_rests_is_offered_all_the_same() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let stop = AtomicBool::new(false);

    thread::scope(|scope| {
        let finished = Finished(&stop);
        scope.spawn(|| {
            let mut file = fs::File::create(fixture.path("growing.txt")).unwrap();
            while !stop.load(Ordering::Relaxed) {
                file.write_all(b"one more line\n").unwrap();
                thread::sleep(Duration::from_millis(1));
            }
        });

        let identifier = server.url("growing.txt");
        let datestamp = || {
            let header = server
                .all()
                .into_iter()
                .find(|header| header.identifier == identifier);
            header.map(|header| header.datestamp)
        };
        wait_until("the growing file is offered", || datestamp().is_some());
        let first = datestamp();
        wait_until("its growth is told", || datestamp() > first);
        drop(finished);
    });
    assert_well(&server);
}

#[test]
fn a_directory_that_turns_unreadable_comes_back() {
    let fixture = Fixture::small();
    let server = garner().serve(&fixture, "");
    let docs = fixture.path("docs");
    let gone = || server.all().iter().filter(|header| header.deleted).count();
    assert_eq!(gone(), 0);

    fs::set_permissions(&docs, fs::Permissions::from_mode(0o000)).unwrap();
    wait_until("its files are tombstones", || gone() == 2);
    assert_eq!(get(&server.url("docs/page.html")).status, 403);

    fs::set_permissions(&docs, fs::Permissions::from_mode(0o755)).unwrap();
    wait_until("its files are back", || gone() == 0);
    assert_eq!(get(&server.url("docs/page.html")).status, 200);
    assert_well(&server);
}

#[test]
fn odd_modification_times_make_datestamps_that_are_valid_and_not_in_the_future() {
    let fixture = Fixture::small();
    fixture.write("before.txt", "x");
    let times = [
        ("1903.txt", -2_100_000_000),
        ("2099.txt", 4_090_000_000),
        ("epoch.txt", 0),
        ("minus-one.txt", -1),
        ("far.txt", 15_000_000_000),
    ];
    let set_all = |prefix: &str| {
        for (name, seconds) in times {
            let name = format!("{prefix}{name}");
            fixture.write(&name, "x");
            fixture.set_mtime(&name, seconds);
        }
    };
    set_all("first-");
    let server = garner().serve(&fixture, "");
    set_all("later-");

    wait_until("all are offered", || {
        server.all().len() == 7 + 2 * times.len()
    });
    let identify = server.ask("verb=Identify");
    let earliest = identify.text("earliestDatestamp").unwrap();
    let answer = server.ask(LIST);
    let now = answer.text("responseDate").unwrap();
    for header in answer.headers() {
        let datestamp = &header.datestamp;
        assert_eq!(datestamp.len(), 20, "{header:?}");
        assert!(earliest <= *datestamp && *datestamp <= now, "{header:?}");
        let alone = server.ask(&format!("{LIST}&from={datestamp}&until={datestamp}"));
        assert!(alone.headers().contains(&header), "{header:?}");
        assert_eq!(get(&header.identifier).status, 200);
    }
    let old = server.ask(&format!("{LIST}&until=1903-12-31"));
    assert_eq!(old.headers().len(), 1);
    assert_well(&server);
}

#[test]
fn ten_thousand_changes_at_once_are_all_seen_soon() {
    let fixture = Fixture::empty();
    let name = |number: usize| format!("{}/{number}.txt", number % 50);
    for number in 0..10_000 {
        fixture.write(name(number), "before");
    }
    let server = garner().serve(&fixture, "");
    let before = server.ask("verb=Identify").text("responseDate").unwrap();

    for number in 0..10_000 {
        fs::write(fixture.path(name(number)), "after").unwrap();
    }

    let changed = || {
        let arguments = format!("metadataPrefix=oai_dc&from={before}");
        let headers = Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[]);
        let identifiers: BTreeSet<_> = headers
            .into_iter()
            .map(|header| header.identifier)
            .collect();
        identifiers.len()
    };
    wait_until("all changes are visible", || changed() == 10_000);
    assert_well(&server);
}

#[test]
fn deep_directories_and_long_names_are_offered() {
    let fixture = Fixture::small();
    let deep = format!("{}leaf.txt", "d/".repeat(100));
    let long = format!("{}.txt", "n".repeat(251));
    let wide = "\u{fc}".repeat(125) + ".txt";
    fixture.write(&deep, "deep");
    let server = garner().serve(&fixture, "");

    fixture.write(&long, "long");
    fixture.write(&wide, "wide");
    fixture.write(format!("{}later.txt", "d/".repeat(100)), "later");

    wait_until("all are offered", || server.all().len() == 10);
    let bodies: BTreeSet<_> = server
        .all()
        .iter()
        .map(|header| get(&header.identifier).text())
        .collect();
    for body in ["deep", "long", "wide", "later"] {
        assert!(bodies.contains(body), "{body}");
    }
    assert_well(&server);
}

#[test]
fn a_path_longer_than_the_system_takes_at_once_harms_nothing_else() {
    let fixture = Fixture::small();
    // Only step by step can such a tree be made, and unmade.
    let script = "i=0; while [ $i -lt 30 ]; do n=$(printf '%0200d' $i); mkdir $n && cd -P $n || exit 1; \
                  i=$((i+1)); done; echo x > leaf.txt";
    let made = Command::new("sh")
        .args(["-c", script])
        .current_dir(fixture.site())
        .status();
    assert!(made.unwrap().success());

    let server = garner().serve(&fixture, "");
    fixture.write("later.txt", "x");

    wait_until("what comes later is seen", || {
        server
            .all()
            .iter()
            .any(|header| header.identifier.ends_with("/later.txt"))
    });
    let deep = server
        .all()
        .into_iter()
        .find(|header| header.identifier.ends_with("/leaf.txt"));
    if let Some(deep) = deep {
        assert_eq!(get(&deep.identifier).text(), "x\n");
    }
    assert_well(&server);
    let unmade = Command::new("rm").arg("-rf").arg(fixture.site()).status();
    assert!(unmade.unwrap().success());
}

#[test]
fn names_with_every_control_byte_are_offered_and_served() {
    let fixture = Fixture::empty();
    let odd: Vec<u8> = (1..=0x20)
        .chain([b'"', b'\'', b'<', b'>', b'&', 0x7F, 0x80, 0xFF])
        .collect();
    for byte in &odd {
        fixture.write([b"a".as_slice(), &[*byte], b"z.txt"].concat(), [*byte]);
        fixture.write([b"d".as_slice(), &[*byte], b"/x.txt"].concat(), [*byte]);
    }
    let server = garner().serve(&fixture, "");

    let headers = server.all();

    assert_eq!(headers.len(), 2 * odd.len());
    let bodies: BTreeSet<_> = headers
        .iter()
        .map(|header| get(&header.identifier).body)
        .collect();
    assert_eq!(bodies, odd.iter().map(|byte| vec![*byte]).collect());
    for prefix in ["oai_dc", "http_header", "oai_didl"] {
        let pages = Answer::pages(
            &server.base_url,
            "ListRecords",
            &format!("metadataPrefix={prefix}"),
            &[],
        );
        assert_eq!(
            pages.iter().flat_map(Answer::headers).count(),
            2 * odd.len()
        );
    }
    let listing = get(&server.site_url.clone());
    assert_eq!(listing.status, 200);
    assert!(!listing.text().contains("a<z"));
    // Directories are told in the address of a redirect: no byte of a name may end that line.
    let redirect = get(&server.url("d%0A"));
    assert_eq!(
        (redirect.status, redirect.header("location")),
        (301, Some("./d%0A/"))
    );
    assert_well(&server);
}

#[test]
fn special_files_neither_hang_nor_are_offered() {
    let fixture = Fixture::small();
    let fifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    fifo(&fixture.path("fifo.txt"));
    fifo(&fixture.beside("outside.fifo"));
    let _socket = std::os::unix::net::UnixListener::bind(fixture.path("socket.txt")).unwrap();
    for (target, name) in [
        ("/dev/zero", "zero.txt"),
        ("/dev/tty", "tty.txt"),
        ("/proc/kmsg", "kmsg.txt"),
        ("fifo.txt", "fifo-link.txt"),
        ("../outside.fifo", "outside-fifo.txt"),
        ("nowhere", "dangling.txt"),
    ] {
        symlink(target, fixture.path(name)).unwrap();
    }

    for symlinks in ["none", "inside", "all"] {
        let config = format!("[offer]\nsymlinks = \"{symlinks}\"\n");
        let server = garner().serve(&fixture, &config);

        let names: BTreeSet<_> = server
            .all()
            .into_iter()
            .filter(|header| !header.deleted)
            .collect();
        assert!(
            names
                .iter()
                .all(|header| !header.identifier.contains("zero")),
            "{names:?}"
        );
        let offered = names
            .iter()
            .filter(|header| !header.identifier.contains("kmsg"))
            .count();
        assert_eq!(offered, 6, "{names:?}");
        for name in [
            "fifo.txt",
            "socket.txt",
            "zero.txt",
            "tty.txt",
            "fifo-link.txt",
            "outside-fifo.txt",
            "dangling.txt",
        ] {
            let began = Instant::now();
            let status = get(&server.url(name)).status;
            assert!([403, 404].contains(&status), "{name}: {status}");
            assert!(began.elapsed() < Duration::from_secs(2), "{name} hangs");
        }
        fifo(&fixture.path("later.txt"));
        fixture.write("later-still.txt", "x");
        wait_until("what comes later is seen", || {
            server
                .all()
                .iter()
                .any(|header| header.identifier.ends_with("later-still.txt"))
        });
        assert!(
            server
                .all()
                .iter()
                .all(|header| !header.identifier.ends_with("/later.txt"))
        );
        assert_well(&server);
        server.stop();
        for name in ["later.txt", "later-still.txt"] {
            fs::remove_file(fixture.path(name)).unwrap();
        }
        let _ = fs::remove_dir_all(fixture.data());
    }
}

#[test]
fn an_empty_site_is_a_repository_without_records() {
    let fixture = Fixture::empty();
    let server = garner().serve(&fixture, "");

    for (query, error) in [
        ("verb=Identify", None),
        ("verb=ListMetadataFormats", None),
        ("verb=ListSets", Some("noSetHierarchy")),
        (LIST, Some("noRecordsMatch")),
        (
            "verb=ListRecords&metadataPrefix=oai_didl",
            Some("noRecordsMatch"),
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&set=mime",
            Some("noSetHierarchy"),
        ),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=a:b",
            Some("idDoesNotExist"),
        ),
        (
            "verb=ListIdentifiers&resumptionToken=x",
            Some("badResumptionToken"),
        ),
    ] {
        assert_eq!(server.ask(query).error().as_deref(), error, "{query}");
    }
    assert_eq!(get(&server.site_url.clone()).status, 200);
    assert_well(&server);
}

#[test]
fn links_that_lead_in_circles_trap_nobody() {
    let fixture = Fixture::small();
    symlink("b", fixture.path("a")).unwrap();
    symlink("a", fixture.path("b")).unwrap();
    symlink(".", fixture.path("docs/self")).unwrap();
    symlink("..", fixture.path("docs/up")).unwrap();
    symlink(fixture.site(), fixture.path("docs/root")).unwrap();

    for symlinks in ["none", "inside", "all"] {
        let server = garner().serve(&fixture, &format!("[offer]\nsymlinks = \"{symlinks}\"\n"));

        let live = server
            .all()
            .into_iter()
            .filter(|header| !header.deleted)
            .count();
        assert_eq!(live, 6, "{symlinks}");
        for path in ["a", "b", "a/b", "docs/self/self/self/page.html/x"] {
            let status = get(&server.url(path)).status;
            assert!([403, 404].contains(&status), "{path}: {status}");
        }
        assert_well(&server);
        server.stop();
        fs::remove_dir_all(fixture.data()).unwrap();
    }
}

#[test]
fn characters_that_should_have_been_escaped_are_answered_in_xml() {
    let fixture = Fixture::small();
    fixture.write("quote\"d.txt", "quoted");
    let server = garner().serve(&fixture, "");
    let mut connection = Connection::open(server.authority());
    // Twice over one connection: the second request begins after an answer.
    for (identifier, code) in [
        ("invalid\"id", "badArgument"),
        ("a<b>", "badArgument"),
        ("http://elsewhere/\u{e9}", "idDoesNotExist"),
        ("invalid\"id", "badArgument"),
    ] {
        let target =
            format!("/modoai?verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}");
        connection.send(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        let answer = Answer::of(connection.receive(false).unwrap());
        assert_eq!(answer.error().as_deref(), Some(code), "{identifier}");
    }
    connection.send(b"GET /quote\"d.txt HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(connection.receive(false).unwrap().text(), "quoted");
}

/// How a file is changed while others read it.
enum Change {
    /// The same bytes are overwritten.
    InPlace,
    /// Emptied and written again, longer or shorter.
    Rewrite,
    /// Another file takes its place.
    Replace,
    /// Removed and made again.
    Vanish,
}

impl Change {
    /// Each version is one letter, repeated.
    fn versions(&self, size: usize) -> Vec<(u8, usize)> {
        let grows = usize::from(!matches!(self, Self::InPlace));
        let version = |letter: u8| (letter, size + grows * usize::from(letter - b'a') * 1000);
        (b'a'..=b'e').map(version).collect()
    }

    fn make(&self, path: &Path, (letter, size): (u8, usize)) {
        let bytes = vec![letter; size];
        match self {
            Self::InPlace => {
                let mut file = fs::File::options().write(true).open(path).unwrap();
                file.write_all(&bytes).unwrap();
            }
            Self::Rewrite => fs::write(path, bytes).unwrap(),
            Self::Replace => {
                let beside = path.with_file_name(format!(
                    ".new-{}",
                    path.file_name().unwrap().to_string_lossy()
                ));
                fs::write(&beside, bytes).unwrap();
                fs::rename(beside, path).unwrap();
            }
            Self::Vanish => {
                fs::remove_file(path).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
    }
}

/// Tells other threads to end, also when a test fails.
struct Finished<'a>(&'a AtomicBool);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Checks every resource by value against its digest and its Content-Length; says how many there were.
fn check_versions(answer: &Answer, digests: &BTreeMap<(u8, usize), String>) -> usize {
    let document = roxmltree::Document::parse(&answer.xml).unwrap();
    let named = |node: &roxmltree::Node<'_, '_>, name: &str| node.tag_name().name() == name;
    let mut whole = 0;
    for item in document.descendants().filter(|node| named(node, "DIDL")) {
        let identifier = item.attribute("DIDLDocumentId").unwrap_or_default();
        let by_value = item
            .descendants()
            .find(|node| named(node, "Resource") && node.attribute("encoding").is_some());
        let Some(resource) = by_value.filter(|_| identifier.contains(".bin#")) else {
            continue;
        };
        whole += 1;
        let bytes = from_base64(resource.text().unwrap_or_default());
        let length = item
            .descendants()
            .find(|node| node.attribute("name") == Some("Content-Length"));
        let length = length.and_then(|node| node.text()).unwrap();
        assert_eq!(
            length,
            bytes.len().to_string(),
            "{identifier}: Content-Length"
        );
        // A file that was just emptied is a version too.
        let Some(letter) = bytes.first() else {
            continue;
        };
        let other = bytes.iter().position(|byte| byte != letter);
        assert_eq!(
            other,
            None,
            "{identifier}: two versions in {} bytes",
            bytes.len()
        );
        let digest = item.descendants().find(|node| named(node, "digest"));
        if let (Some(digest), Some(right)) = (digest, digests.get(&(*letter, bytes.len()))) {
            assert_eq!(digest.text(), Some(right.as_str()), "{identifier}: digest");
        }
    }
    whole
}

fn sha256(bytes: &[u8]) -> String {
    let mut child = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

/// Asks for something long and does not read the answer beyond its first bytes.
fn stalled(server: &Server, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.authority()).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    stream
}

fn post(server: &Server, form: &str) -> Answer {
    Answer::of(fetch("POST", &server.base_url, &[], form.as_bytes()))
}

fn form_request(body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST /modoai HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Sends bytes as they are; nothing if the server closed without a word.
fn raw(server: &Server, request: &[u8]) -> Option<Response> {
    let mut connection = Connection::open(server.authority());
    connection.send(request);
    connection.receive(false)
}

fn assert_never_a_record(response: &Response, byte: u8) {
    match response.status {
        200 => {
            let answer = Answer::of(response.clone());
            let error = answer.error().unwrap_or_default();
            assert!(
                ["badArgument", "idDoesNotExist"].contains(&error.as_str()),
                "{byte:#x}"
            );
        }
        status => assert_eq!(status, 400, "{byte:#x}"),
    }
}

/// Whatever was asked before: the server answers, nothing panicked, and its memory is small.
fn assert_well(server: &Server) {
    let identify = server.ask("verb=Identify");
    assert_eq!(identify.error(), None);
    assert!(!server.log().contains("panicked"), "{}", server.log());
    let resident = status_number(server, "VmRSS:");
    assert!(resident < 200 * 1024, "{resident} kB are in use");
}

/// A number of the process, as the system tells it.
fn status_number(server: &Server, key: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
