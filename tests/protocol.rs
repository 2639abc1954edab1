//! The six verbs, the eight errors, pages and tokens, and the schemas.

use std::collections::BTreeSet;
use std::fs;

use test_support::{Answer, Fixture, Schemas, Server, fetch, percent_encoded, wait_until};

use crate::garner;

const FORMATS: [&str; 3] = ["oai_dc", "http_header", "oai_didl"];

/// A site with live and deleted items of several types, in small pages.
fn varied() -> (Fixture, Server) {
    let fixture = Fixture::small();
    for number in 0..20 {
        fixture.write(format!("many/{number:02}.txt"), format!("text {number}"));
    }
    fixture.write("odd/a&b <c>.svg", "<svg/>");
    fixture.write("gone.html", "soon gone");
    fixture.set_mtime("about.html", 1_000_000_000);
    let server = garner().serve(&fixture, "[pages]\nidentifiers = 7\nrecords = 5\n");
    fs::remove_file(fixture.path("gone.html")).unwrap();
    wait_until("the tombstone", || {
        server.all().iter().any(|header| header.deleted)
    });
    (fixture, server)
}

#[test]
fn every_kind_of_answer_is_valid() {
    let Some(schemas) = Schemas::load() else {
        return;
    };
    let (_fixture, server) = varied();
    let one = percent_encoded(&server.url("index.html"));
    let gone = percent_encoded(&server.url("gone.html"));
    let mut queries = vec![
        "verb=Identify".to_owned(),
        "verb=ListSets".to_owned(),
        "verb=ListMetadataFormats".to_owned(),
        format!("verb=ListMetadataFormats&identifier={one}"),
        String::new(),
        "verb=junk%22%3C".to_owned(),
        "verb=ListRecords".to_owned(),
        "verb=ListRecords&resumptionToken=junk%3C%22".to_owned(),
        "verb=ListSets&resumptionToken=junk".to_owned(),
        "verb=ListRecords&metadataPrefix=unknown".to_owned(),
        "verb=ListRecords&metadataPrefix=oai_dc&set=nothing:here".to_owned(),
        "verb=ListRecords&metadataPrefix=oai_dc&from=2999-01-01".to_owned(),
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=http%3A%2F%2Felsewhere%2F".to_owned(),
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=invalid%22id".to_owned(),
        "verb=ListMetadataFormats&identifier=a:b".to_owned(),
        "verb=Identify&x=%00".to_owned(),
    ];
    for format in FORMATS {
        queries.push(format!(
            "verb=GetRecord&metadataPrefix={format}&identifier={one}"
        ));
        queries.push(format!(
            "verb=GetRecord&metadataPrefix={format}&identifier={gone}"
        ));
    }
    let mut answers: Vec<_> = queries.iter().map(|query| server.ask(query)).collect();
    for format in FORMATS {
        for verb in ["ListIdentifiers", "ListRecords"] {
            let arguments = format!("metadataPrefix={format}");
            answers.extend(Answer::pages(&server.base_url, verb, &arguments, &[]));
        }
    }

    assert!(answers.len() > 40);
    assert!(schemas.validate("<junk/>").is_err());
    assert!(
        schemas
            .validate(&answers[0].xml.replace("2.0</protocol", "1.0</protocol"))
            .is_err()
    );
    for answer in answers {
        if let Err(complaint) = schemas.validate(&answer.xml) {
            panic!("{complaint}\n{}", answer.xml);
        }
    }
}

#[test]
fn identify_tells_what_the_protocol_wants() {
    let (_fixture, server) = varied();

    let answer = server.ask("verb=Identify");

    assert_eq!(answer.text("baseURL").unwrap(), server.base_url);
    assert_eq!(answer.text("protocolVersion").unwrap(), "2.0");
    assert_eq!(answer.text("deletedRecord").unwrap(), "persistent");
    assert_eq!(answer.text("granularity").unwrap(), "YYYY-MM-DDThh:mm:ssZ");
    assert_eq!(answer.text("adminEmail").unwrap(), "admin@example.org");
    assert_eq!(
        answer.text("earliestDatestamp").unwrap(),
        "2001-01-01T00:00:00Z"
    );
    assert_eq!(answer.texts("compression"), ["gzip"]);
    assert_eq!(
        answer.response.header("content-type").unwrap(),
        "text/xml; charset=utf-8"
    );
    assert!(
        answer
            .xml
            .starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
    );
}

#[test]
fn each_error_has_its_code_and_echoes_what_it_may() {
    let (_fixture, server) = varied();
    let known = percent_encoded(&server.url("index.html"));
    let token = server
        .ask("verb=ListIdentifiers&metadataPrefix=oai_dc")
        .token()
        .unwrap();
    for (query, code) in [
        ("", "badVerb"),
        ("verb=junk", "badVerb"),
        ("verb=Identify&verb=Identify", "badVerb"),
        ("verb=Identify&x=y", "badArgument"),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&from=2002-02-05&until=2002-02-06T05:35:00Z",
            "badArgument",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&from=2003-01-01&until=2002-01-01",
            "badArgument",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&set=a/b",
            "badArgument",
        ),
        (
            &format!("verb=ListIdentifiers&metadataPrefix=oai_dc&resumptionToken={token}"),
            "badArgument",
        ),
        (
            &format!("verb=ListRecords&resumptionToken={token}"),
            "badResumptionToken",
        ),
        (
            "verb=ListRecords&resumptionToken=junk",
            "badResumptionToken",
        ),
        ("verb=ListRecords&resumptionToken=", "badResumptionToken"),
        ("verb=ListSets&resumptionToken=junk", "badResumptionToken"),
        (
            "verb=ListRecords&metadataPrefix=marc",
            "cannotDisseminateFormat",
        ),
        (
            &format!("verb=GetRecord&metadataPrefix=marc&identifier={known}"),
            "cannotDisseminateFormat",
        ),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=x:y",
            "idDoesNotExist",
        ),
        ("verb=ListMetadataFormats&identifier=x:y", "idDoesNotExist"),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&set=mime:video",
            "noRecordsMatch",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&from=2999-01-01",
            "noRecordsMatch",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&until=1969-01-01T00:00:00Z",
            "noRecordsMatch",
        ),
    ] {
        let answer = server.ask(query);

        assert_eq!(
            answer.error().as_deref(),
            Some(code),
            "{query}\n{}",
            answer.xml
        );
        let echoed = answer.attribute("request", "verb").is_some();
        assert_eq!(
            echoed,
            code != "badVerb" && code != "badArgument",
            "{query}"
        );
        assert_eq!(answer.text("request").unwrap(), server.base_url);
    }
}

#[test]
fn post_answers_as_get_does() {
    let (_fixture, server) = varied();
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let identifier = percent_encoded(&server.url("odd/a%26b%20%3Cc%3E.svg"));
    for query in [
        "verb=Identify".to_owned(),
        format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}"),
        "verb=ListRecords&metadataPrefix=oai_dc&from=junk".to_owned(),
    ] {
        let posted = Answer::of(fetch("POST", &server.base_url, &form, query.as_bytes()));
        let got = server.ask(&query);

        let without_date = |xml: &str| -> String {
            let dated = |line: &&str| !line.starts_with("<responseDate>") && !line.contains("Date");
            xml.lines().filter(dated).collect()
        };
        assert_eq!(without_date(&posted.xml), without_date(&got.xml), "{query}");
    }
}

#[test]
fn pages_hold_every_record_once_and_count_right() {
    let (_fixture, server) = varied();
    for (verb, arguments, size) in [
        ("ListIdentifiers", "metadataPrefix=oai_dc", 7),
        ("ListRecords", "metadataPrefix=oai_dc", 5),
        ("ListRecords", "metadataPrefix=oai_didl&set=mime:text", 5),
        (
            "ListIdentifiers",
            "metadataPrefix=http_header&set=mime:text:plain",
            7,
        ),
    ] {
        let pages = Answer::pages(&server.base_url, verb, arguments, &[]);

        let total: usize = pages.iter().map(|page| page.headers().len()).sum();
        let distinct: BTreeSet<_> = pages
            .iter()
            .flat_map(Answer::headers)
            .map(|header| header.identifier)
            .collect();
        assert_eq!(distinct.len(), total);
        let mut seen = 0;
        for (number, page) in pages.iter().enumerate() {
            let last = number + 1 == pages.len();
            assert_eq!(
                page.attribute("resumptionToken", "cursor").unwrap(),
                seen.to_string()
            );
            let size_told = page
                .attribute("resumptionToken", "completeListSize")
                .unwrap();
            assert_eq!(size_told, total.to_string());
            assert_eq!(page.token().is_none(), last);
            assert!(page.headers().len() == size || last);
            assert!(!page.headers().is_empty());
            seen += page.headers().len();
        }
    }
}

#[test]
fn a_list_that_fills_its_pages_exactly_has_no_empty_page() {
    let fixture = Fixture::empty();
    for number in 0..10 {
        fixture.write(format!("{number}.txt"), "x");
    }
    let server = garner().serve(&fixture, "[pages]\nidentifiers = 5\nrecords = 10\n");

    let identifiers = Answer::pages(
        &server.base_url,
        "ListIdentifiers",
        "metadataPrefix=oai_dc",
        &[],
    );
    let records = server.ask("verb=ListRecords&metadataPrefix=oai_dc");

    assert_eq!(identifiers.len(), 2);
    assert_eq!(identifiers[1].text("resumptionToken").unwrap(), "");
    assert_eq!(records.headers().len(), 10);
    assert_eq!(records.text("resumptionToken"), None);
}

#[test]
fn pages_are_cut_by_bytes_and_a_large_record_stands_alone() {
    let fixture = Fixture::empty();
    for number in 0..6 {
        fixture.write(format!("{number}.bin"), vec![b'x'; 30_000]);
    }
    fixture.write("big.bin", vec![b'y'; 300_000]);
    let server = garner().serve(&fixture, "[pages]\nbytes = \"100 kB\"\n");

    let pages = Answer::pages(
        &server.base_url,
        "ListRecords",
        "metadataPrefix=oai_didl",
        &[],
    );

    let sizes: Vec<_> = pages.iter().map(|page| page.headers().len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 7);
    for page in &pages {
        let alone = page.headers().len() == 1 && page.headers()[0].identifier.ends_with("big.bin");
        assert!(alone || page.xml.len() < 110_000, "{}", page.xml.len());
    }
    assert_eq!(
        server
            .ask("verb=ListRecords&metadataPrefix=oai_dc")
            .headers()
            .len(),
        7
    );
}

#[test]
fn a_token_repeats_its_page() {
    let (_fixture, server) = varied();
    let token = server
        .ask("verb=ListIdentifiers&metadataPrefix=oai_dc")
        .token()
        .unwrap();
    let query = format!("verb=ListIdentifiers&resumptionToken={token}");

    let (first, second) = (server.ask(&query), server.ask(&query));

    assert_eq!(first.headers(), second.headers());
    assert_eq!(first.token(), second.token());
}

#[test]
fn sets_are_what_is_held_and_recursive() {
    let (fixture, server) = varied();

    let sets = server.ask("verb=ListSets").texts("setSpec");

    assert_eq!(
        sets,
        [
            "mime",
            "mime:application",
            "mime:application:pdf",
            "mime:image",
            "mime:image:png",
            "mime:image:svg_2bxml",
            "mime:text",
            "mime:text:html",
            "mime:text:plain"
        ]
    );
    for set in &sets {
        let arguments = format!("metadataPrefix=oai_dc&set={set}");
        let members = Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[]);
        let expected = server.all().into_iter().filter(|header| {
            header
                .sets
                .iter()
                .any(|own| own == set || own.starts_with(&format!("{set}:")))
                || (set == "mime")
        });
        assert_eq!(members, expected.collect::<Vec<_>>(), "{set}");
        assert!(!members.is_empty());
    }
    // The name that earlier versions gave to the set.
    let list = |set| {
        let arguments = format!("metadataPrefix=oai_dc&set={set}");
        Answer::list(&server.base_url, "ListIdentifiers", &arguments, &[])
    };
    assert_eq!(list("mime:image:svg~2bxml"), list("mime:image:svg_2bxml"));
    fs::remove_file(fixture.path("docs/paper.pdf")).unwrap();
    wait_until("the set to go", || {
        !server.ask("verb=ListSets").xml.contains("pdf")
    });
    let tombstones =
        server.ask("verb=ListIdentifiers&metadataPrefix=oai_dc&set=mime:application:pdf");
    assert!(tombstones.headers()[0].deleted);
}

#[test]
fn bounds_are_inclusive_to_the_second_and_cover_whole_days() {
    let (_fixture, server) = varied();
    let about = server.url("about.html");
    for (arguments, found) in [
        ("from=2001-09-09T01:46:40Z&until=2001-09-09T01:46:40Z", true),
        ("from=2001-09-09&until=2001-09-09", true),
        ("until=2001-09-09T01:46:39Z", false),
        ("from=2001-09-09T01:46:41Z", false),
        ("from=1900-01-01&until=2001-09-08", false),
        ("from=0001-01-01&until=9999-12-31", true),
    ] {
        let query = format!("metadataPrefix=oai_dc&{arguments}");
        let headers = Answer::list(&server.base_url, "ListIdentifiers", &query, &[]);
        let present = headers.iter().any(|header| header.identifier == about);
        assert_eq!(present, found, "{arguments}");
    }
}

#[test]
fn deleted_records_are_told_in_every_format() {
    let (_fixture, server) = varied();
    let gone = server.url("gone.html");
    for format in FORMATS {
        let list = Answer::list(
            &server.base_url,
            "ListRecords",
            &format!("metadataPrefix={format}"),
            &[],
        );
        assert!(
            list.iter()
                .any(|header| header.identifier == gone && header.deleted),
            "{format}"
        );
        let record = server.ask(&format!(
            "verb=GetRecord&metadataPrefix={format}&identifier={}",
            percent_encoded(&gone)
        ));
        assert_eq!(record.headers()[0].sets, ["mime:text:html"]);
        assert_eq!(record.text("metadata"), None);
    }
}

#[test]
fn answers_are_compressed_only_when_asked() {
    let (_fixture, server) = varied();
    let url = format!("{}?verb=ListRecords&metadataPrefix=oai_dc", server.base_url);

    let plain = fetch("GET", &url, &[], b"");
    let packed = fetch("GET", &url, &[("Accept-Encoding", "gzip, deflate")], b"");

    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(
        plain.header("vary").unwrap(),
        "Accept, Accept-Encoding, Sec-Fetch-Dest"
    );
    assert_eq!(packed.header("content-encoding").unwrap(), "gzip");
    assert!(packed.body.starts_with(&[0x1f, 0x8b]));
    assert!(packed.body.len() * 2 < plain.body.len());
}

#[test]
fn the_style_sheet_and_the_schema_are_served_by_the_provider() {
    let (_fixture, server) = varied();
    let answer = server.ask("verb=ListMetadataFormats");
    assert!(
        answer
            .xml
            .contains("<?xml-stylesheet type=\"text/xsl\" href=\"/modoai/style.xsl\"?>")
    );
    let schemas = answer.texts("schema");

    let style_sheet = test_support::get(&format!("{}/style.xsl", server.base_url));
    let schema = test_support::get(
        schemas
            .iter()
            .find(|schema| schema.ends_with("http_header.xsd"))
            .unwrap(),
    );

    assert_eq!(style_sheet.status, 200);
    assert!(style_sheet.text().contains("xsl:stylesheet"));
    assert_eq!(schema.status, 200);
    assert!(schema.text().contains("urn:x-garner:http_header"));
}
