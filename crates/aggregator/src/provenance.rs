//! The provenance of a record: from where it was harvested, with what that source says of its own
//! (<http://www.openarchives.org/OAI/2.0/guidelines-provenance.htm>).

use std::io::{self, Write};

use catalog::{RecordEntry, Repository, Validation};
use oai::Datestamp;
use oai::xml::Writer;

use crate::parts::{PROVENANCE, Part};

const SCHEMA_LOCATION: &str = "http://www.openarchives.org/OAI/2.0/provenance \
     http://www.openarchives.org/OAI/2.0/provenance.xsd";

/// Writes the `about` container with the provenance of a record. `nested` is what the source says of where it has it from,
/// in a file of these bytes.
pub(crate) fn write<W: Write>(
    xml: &mut Writer<W>,
    record: &RecordEntry,
    repository: &Repository,
    namespace: &str,
    nested: Option<(&Part, &[u8])>,
) -> io::Result<()> {
    xml.start("about", &[])?;
    let attributes = [
        ("xmlns", PROVENANCE),
        ("xmlns:xsi", oai::xml::XSI),
        ("xsi:schemaLocation", SCHEMA_LOCATION),
    ];
    xml.start("provenance", &attributes)?;
    let harvested = Datestamp::from_seconds(record.harvested).to_string();
    let altered = (record.validation == Validation::Repaired).to_string();
    let attributes = [("harvestDate", harvested.as_str()), ("altered", &altered)];
    xml.start("originDescription", &attributes)?;
    xml.element("baseURL", &[], &repository.base_url)?;
    xml.element("identifier", &[], &record.identifier)?;
    // The schema wants one; a record that has none was harvested all the same.
    let datestamp = record.datestamp.unwrap_or(record.harvested);
    let datestamp = Datestamp::from_seconds(datestamp).to_string();
    let is_of_days = repository.identity.granularity.as_deref() == Some("YYYY-MM-DD");
    let datestamp = match is_of_days {
        true => datestamp.get(..10).unwrap_or(&datestamp),
        false => &datestamp,
    };
    xml.element("datestamp", &[], datestamp)?;
    xml.element("metadataNamespace", &[], namespace)?;
    if let Some((part, bytes)) = nested {
        write_nested(xml, part, bytes)?;
    }
    for element in ["originDescription", "provenance", "about"] {
        xml.end(element)?;
    }
    Ok(())
}

/// The origin of the source as it stands there, with the namespaces that were declared around it.
fn write_nested<W: Write>(xml: &mut Writer<W>, part: &Part, bytes: &[u8]) -> io::Result<()> {
    let mut inner = bytes.trim_ascii();
    let declarations = part.declarations();
    // They go into its first tag; around it stands an element of ours.
    let name_end = inner
        .iter()
        .position(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'>' | b'/'))
        .unwrap_or(inner.len());
    if inner.first() != Some(&b'<') || matches!(inner.get(1), Some(b'!' | b'?')) {
        return Ok(());
    }
    xml.raw(&inner[..name_end])?;
    inner = &inner[name_end..];
    let tag_end = inner.iter().position(|byte| *byte == b'>');
    let tag = String::from_utf8_lossy(&inner[..tag_end.unwrap_or(0)]).into_owned();
    for declaration in declarations
        .split_inclusive('"')
        .collect::<Vec<_>>()
        .chunks(2)
    {
        let declaration = declaration.concat();
        let name = declaration.split('=').next().unwrap_or_default();
        if !tag.contains(&format!("{name}=")) {
            xml.raw(declaration.as_bytes())?;
        }
    }
    xml.raw(inner)
}
