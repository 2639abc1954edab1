//! `http_header`: the headers that a GET of the resource would return, in a small format of our own.

use std::io::{self, Write};

use super::MetadataFormat;
use crate::xml::{self, Writer};

/// The metadataPrefix.
pub const PREFIX: &str = "http_header";
/// The namespace of the format.
pub const NAMESPACE: &str = "urn:x-garner:http_header";

/// The format as ListMetadataFormats names it, with the schema where this repository serves it.
pub fn format(schema: &str) -> MetadataFormat {
    MetadataFormat {
        prefix: PREFIX.to_owned(),
        schema: schema.to_owned(),
        namespace: NAMESPACE.to_owned(),
    }
}

/// Writes a `header` element of (name, value) fields.
pub fn write<W: Write>(
    xml: &mut Writer<W>,
    schema: &str,
    status: u16,
    fields: &[(String, String)],
) -> io::Result<()> {
    let location = format!("{NAMESPACE} {schema}");
    let status = status.to_string();
    let attributes = [
        ("xmlns", NAMESPACE),
        ("xmlns:xsi", xml::XSI),
        ("xsi:schemaLocation", &location),
        ("status", &status),
    ];
    xml.start("header", &attributes)?;
    for (name, value) in fields {
        xml.element("field", &[("name", name)], value)?;
    }
    xml.end("header")
}
