//! Fuzz targets: requests, tokens and setSpecs as hostile clients write them.

use crate::{
    Arguments, Datestamp, ListVerb, MetadataPrefix, Position, Request, ResumptionToken, Selection,
    SetSpec, TokenKey,
};

fn key() -> TokenKey {
    TokenKey::new(b"a key of this test")
}

fn token() -> ResumptionToken {
    ResumptionToken {
        verb: ListVerb::ListRecords,
        selection: Selection {
            metadata_prefix: MetadataPrefix::parse("oai_dc").unwrap(),
            set: SetSpec::parse("mime:image"),
            from: Some(Datestamp::from_seconds(0)),
            until: Some(Datestamp::from_seconds(1_700_000_000)),
        },
        requested_until: None,
        position: Position {
            datestamp: Datestamp::from_seconds(1_600_000_000),
            id: 17,
        },
        cursor: 500,
        complete_list_size: Some(1000),
    }
}

#[test]
fn requests_are_parsed_or_refused() {
    let seeds = [
        "verb=Identify",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2020-01-01&until=2020-12-31T00:00:00Z&set=a:b",
        "verb=GetRecord&identifier=http%3A%2F%2Fa.example%2Fb+c&metadataPrefix=oai_didl",
        "verb=ListIdentifiers&resumptionToken=AAAA&verb=ListSets&%zz=%00&=",
    ];
    let seeds = seeds.map(|seed| seed.as_bytes().to_vec()).to_vec();
    test_support::fuzz!(seeds, |bytes| {
        let arguments = Arguments::parse(&String::from_utf8_lossy(bytes));
        if let Err(errors) = Request::parse(&arguments) {
            assert!(!errors.is_empty(), "a refusal names an error");
        }
    });
}

#[test]
fn only_tokens_of_this_repository_are_read() {
    let seeds = vec![
        token().encode(&key()).into_bytes(),
        b"AAAAAAAAAAAA".to_vec(),
    ];
    test_support::fuzz!(seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Some(read) = ResumptionToken::decode(&text, &key()) {
            assert_eq!(read.encode(&key()), text, "a token has one spelling");
        }
    });
}

#[test]
fn media_types_become_legal_set_specs() {
    let seeds = ["image/svg+xml", "text/x~y!z", "a/b;c=d", "*/*", "/"];
    let seeds = seeds.map(|seed| seed.as_bytes().to_vec()).to_vec();
    test_support::fuzz!(seeds, |bytes| {
        let set_spec = SetSpec::of_media_type(&String::from_utf8_lossy(bytes));
        assert!(SetSpec::parse(set_spec.as_str()).is_some(), "{set_spec}");
    });
}
