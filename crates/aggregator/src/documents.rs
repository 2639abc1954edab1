//! The records of documents: `oai_dc`, and `oai_didl` by reference and, up to a limit, by value.

use std::io::Write;

use catalog::DocumentEntry;
use flows::DocumentPart;
use oai::Datestamp;
use oai::format::{MetadataFormat, didl, dublin_core};
use oai::xml::Writer;
use provider::Error;
use site::config::ByValueConfig;
use store::Reader;

use crate::exposure::kind;
use crate::known::unavailable;

/// The formats of documents.
pub(crate) fn formats() -> [MetadataFormat; 2] {
    [dublin_core::format(), didl::format()]
}

/// Whether documents have records in a format.
pub(crate) fn have(prefix: &str) -> bool {
    formats().iter().any(|format| format.prefix == prefix)
}

/// Whether the bytes of a document go into its record.
pub(crate) fn is_by_value(document: &DocumentEntry, by_value: &ByValueConfig) -> bool {
    document.size <= by_value.limit_of(&document.media_type)
}

/// About how many bytes the metadata will have.
pub(crate) fn size(document: &DocumentEntry, prefix: &str, by_value: &ByValueConfig) -> u64 {
    let facts = 900 + 3 * document.url.len() as u64;
    match prefix == didl::PREFIX && is_by_value(document, by_value) {
        true => facts + 1_200 + didl::base64_length(document.size),
        false => facts + 1_200,
    }
}

/// Writes the metadata of a document.
pub(crate) fn write<W: Write>(
    xml: &mut Writer<W>,
    document: &DocumentEntry,
    identifier: &str,
    datestamp: Datestamp,
    prefix: &str,
    bytes: Option<Reader>,
) -> Result<(), Error> {
    let values = values(document);
    if prefix == dublin_core::PREFIX {
        return Ok(dublin_core::write(xml, &values)?);
    }
    let document_id = format!("{identifier}#{datestamp}");
    let mut didl = didl::Didl::begin(xml, &document_id, identifier)?;
    didl.modified(&Datestamp::from_seconds(document.discover_date).to_string())?;
    didl.descriptor(|xml| dublin_core::write(xml, &values))?;
    didl.begin_component()?;
    didl.digests(&[
        ("sha1", document.content_sha1.as_str()),
        ("sha256", document.content_sha256.as_str()),
    ])?;
    let media_type = match document.media_type.as_str() {
        "" => "application/octet-stream",
        media_type => media_type,
    };
    if let Some(bytes) = bytes {
        didl.by_value(media_type, bytes, document.size)?;
    }
    Ok(didl.finish_by_reference(media_type, &document.url)?)
}

/// The description of a document in the elements of Dublin Core.
fn values(document: &DocumentEntry) -> Vec<(&'static str, String)> {
    let title = document.title.clone().map(|title| ("title", title));
    let mut values: Vec<_> = title.into_iter().collect();
    values.push(("identifier", document.url.clone()));
    let date = Datestamp::from_seconds(document.discover_date).to_string();
    values.push(("date", date));
    values.extend(kind(document).map(|kind| ("type", kind.to_owned())));
    if !document.media_type.is_empty() {
        values.push(("format", document.media_type.clone()));
    }
    values.push(("format", format!("{} bytes", document.size)));
    let language = document.language.clone();
    values.extend(language.map(|language| ("language", language)));
    let parent = document.parent_url.as_ref();
    values.extend(parent.map(|parent| ("relation", parent.clone())));
    values
}

/// The file of a document, whole or not at all.
pub(crate) fn open(
    files: &flows::DocumentFiles,
    document: &DocumentEntry,
) -> Result<Option<Reader>, Error> {
    let reader = files
        .read(document, DocumentPart::Document)
        .map_err(|error| unavailable(format!("{error:#}")))?;
    Ok(reader.filter(|reader| reader.length() == document.size))
}
