//! `oai_dc`: unqualified Dublin Core, which every item has.

use std::io::{self, Write};

use super::MetadataFormat;
use crate::xml::{self, Writer};

/// The metadataPrefix.
pub const PREFIX: &str = "oai_dc";
const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";
const SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd";
const ELEMENTS_NAMESPACE: &str = "http://purl.org/dc/elements/1.1/";

/// The fifteen elements.
pub const ELEMENTS: [&str; 15] = [
    "title",
    "creator",
    "subject",
    "description",
    "publisher",
    "contributor",
    "date",
    "type",
    "format",
    "identifier",
    "source",
    "language",
    "relation",
    "coverage",
    "rights",
];

/// The format as ListMetadataFormats names it.
pub fn format() -> MetadataFormat {
    MetadataFormat {
        prefix: PREFIX.to_owned(),
        schema: SCHEMA.to_owned(),
        namespace: NAMESPACE.to_owned(),
    }
}

/// Writes an `oai_dc:dc` element of (element, value) pairs, each element one of [`ELEMENTS`].
pub fn write<W: Write>(xml: &mut Writer<W>, values: &[(&str, String)]) -> io::Result<()> {
    let attributes = [
        ("xmlns:oai_dc", NAMESPACE),
        ("xmlns:dc", ELEMENTS_NAMESPACE),
        ("xmlns:xsi", xml::XSI),
        (
            "xsi:schemaLocation",
            "http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
        ),
    ];
    xml.start("oai_dc:dc", &attributes)?;
    for (element, value) in values {
        xml.element(&format!("dc:{element}"), &[], value)?;
    }
    xml.end("oai_dc:dc")
}
