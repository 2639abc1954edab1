//! Fuzz targets: records and rule files as hostile servers and careless people write them.

use crate::filter::Filters;
use crate::normalise::Mappings;
use crate::repair::repair;
use crate::xml::{self, Limits};

/// Small enough that each input takes a moment.
const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    depth: 64,
    nodes: 10_000,
};

const RECORD: &[u8] = br#"<record xmlns="http://www.openarchives.org/OAI/2.0/">
    <header><identifier>oai:a:1</identifier><datestamp>2020-01-01</datestamp></header>
    <metadata><oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
        xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:type>JPEG</dc:type>
        <dc:title>Towers &amp; lamps</dc:title></oai_dc:dc></metadata></record>"#;

const DIDL: &[u8] = br#"<record xmlns="http://www.openarchives.org/OAI/2.0/"><header><identifier>http://a.example/x
    </identifier><datestamp>2020-01-01T00:00:00Z</datestamp></header><metadata>
    <didl:DIDL xmlns:didl="urn:mpeg:mpeg21:2002:02-DIDL-NS" DIDLDocumentId="urn:uuid:1"><didl:Item>
    <didl:Component><didl:Resource mimeType="text/plain" encoding="base64">aGVsbG8=</didl:Resource>
    <didl:Resource mimeType="text/plain" ref="http://a.example/x"/></didl:Component></didl:Item></didl:DIDL>
    </metadata></record>"#;

const FILTER: &[u8] = br#"<filters match="any">
    <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>
    <filter xpath="//dc:type[position() &lt; 3]" regexp="jpe?g" ignoreCase="true" invert="false"/></filters>"#;

const MAPPING: &[u8] = br#"<normalize>
    <selectionNamespaces>xmlns:dc='http://purl.org/dc/elements/1.1/'</selectionNamespaces>
    <mapping xpath="//dc:type"><newElement regexp="jpe?g|gif" ignoreCase="true" name="dc:type">
    <newValue>image</newValue></newElement></mapping></normalize>"#;

#[test]
fn repaired_records_are_well_formed() {
    let broken = [
        &b"<a><b>R&D &eacute; &#0; x < y</a></b>"[..],
        b"<?xml version='1.0' encoding='ISO-8859-1'?><a b=c b='d'>\xE9<!-- -- --></a>",
        b"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        b"\xFF\xFE<\0a\0/\0>\0",
        b"\xFF\xFE\xFF\xFE<\0?\0x\0m\0l\0 \0?\0>\0<\0a\0/\0>\0",
        b"\xEF\xBB\xBF \xEF\xBB\xBF<?xml version='1.0' encoding='ISO-8859-1'?><a>\xC3\xA9</a>",
        b"<?x\x01ml?><a/>",
        b"</b> <?xml version='1.0'?><?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>",
    ];
    let mut seeds = broken.map(<[u8]>::to_vec).to_vec();
    seeds.extend([RECORD.to_vec(), DIDL.to_vec()]);
    seeds.extend(test_support::fuzz::samples("oai/sickle", 20_000));
    test_support::fuzz!(seeds, |bytes| {
        let Ok(repaired) = repair(bytes, &LIMITS) else {
            return;
        };
        assert!(xml::parse(repaired.xml.as_bytes(), &LIMITS).is_ok());
        let again = repair(repaired.xml.as_bytes(), &LIMITS).expect("a good text needs no repair");
        assert_eq!(again.xml, repaired.xml);
        assert_eq!(again.repairs, []);
    });
}

#[test]
fn filter_files_are_read_or_refused() {
    let seeds = vec![FILTER.to_vec()];
    test_support::fuzz!(seeds, |bytes| {
        if let Ok(filters) = Filters::parse(bytes) {
            let filters = filters.with_limits(LIMITS);
            let accepted = filters.accepts(RECORD);
            if let (Ok(accepted), Ok(explained)) = (accepted, filters.explain(RECORD)) {
                assert_eq!(accepted, explained.accepted);
            }
        }
    });
}

#[test]
fn mapping_files_are_read_or_refused() {
    let seeds = vec![MAPPING.to_vec()];
    test_support::fuzz!(seeds, |bytes| {
        if let Ok(mappings) = Mappings::parse(bytes)
            && let Ok(normalised) = mappings.with_limits(LIMITS).apply(RECORD)
        {
            assert!(xml::parse(&normalised.xml, &LIMITS).is_ok());
        }
    });
}

#[test]
fn rules_bear_any_record() {
    let seeds = vec![RECORD.to_vec(), DIDL.to_vec()];
    test_support::fuzz!(seeds, |bytes| {
        let filters = Filters::parse(FILTER).unwrap().with_limits(LIMITS);
        let mappings = Mappings::parse(MAPPING).unwrap().with_limits(LIMITS);
        let is_good = xml::parse(bytes, &LIMITS).is_ok();
        assert_eq!(filters.accepts(bytes).is_ok(), is_good);
        if let Ok(normalised) = mappings.apply(bytes) {
            assert!(xml::parse(&normalised.xml, &LIMITS).is_ok());
        }
    });
}
