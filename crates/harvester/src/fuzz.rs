//! Fuzz targets: records as hostile servers write them.

use crate::unpack::{resources, without_values};

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

#[test]
fn didl_is_unpacked_or_refused() {
    let seeds = vec![DIDL.to_vec(), RECORD.to_vec()];
    test_support::fuzz!(seeds, |bytes| {
        if let Ok(resources) = resources(bytes) {
            let without = without_values(bytes, &resources);
            let kept =
                crate::unpack::resources(&without).expect("what was unpacked stays readable");
            assert_eq!(kept.len(), resources.len());
        }
    });
}
