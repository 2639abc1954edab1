//! Wrong requests: always a correct answer or a clear error.

use std::fs;
use std::time::{Duration, Instant};

use test_support::{Answer, Connection, Fixture, Response, Server, fetch};

use crate::garner;

pub(crate) const LIST: &str = "verb=ListIdentifiers&metadataPrefix=oai_dc";

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
        "mime:text:_68tml",
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
pub(crate) fn raw(server: &Server, request: &[u8]) -> Option<Response> {
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
pub(crate) fn assert_well(server: &Server) {
    let identify = server.ask("verb=Identify");
    assert_eq!(identify.error(), None);
    assert!(!server.log().contains("panicked"), "{}", server.log());
    let resident = status_number(server, "VmRSS:");
    assert!(resident < 200 * 1024, "{resident} kB are in use");
}

/// A number of the process, as the system tells it.
pub(crate) fn status_number(server: &Server, key: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
