//! `oai_didl`: a resource wrapped in MPEG-21 DIDL, with what is known about it (ISO/IEC 21000-2).

use std::io::{self, Read, Write};

use super::MetadataFormat;
use crate::xml::{self, Writer};

/// The metadataPrefix.
pub const PREFIX: &str = "oai_didl";
const NAMESPACE: &str = "urn:mpeg:mpeg21:2002:02-DIDL-NS";
const SCHEMA: &str =
    "http://standards.iso.org/ittf/PubliclyAvailableStandards/MPEG-21_schema_files/did/didl.xsd";
const IDENTIFICATION_NAMESPACE: &str = "urn:mpeg:mpeg21:2002:01-DII-NS";
const TERMS_NAMESPACE: &str = "http://purl.org/dc/terms/";
/// The namespace of digests in a descriptor.
pub const FIXITY_NAMESPACE: &str = "urn:x-garner:fixity";

/// The format as ListMetadataFormats names it.
pub fn format() -> MetadataFormat {
    MetadataFormat {
        prefix: PREFIX.to_owned(),
        schema: SCHEMA.to_owned(),
        namespace: NAMESPACE.to_owned(),
    }
}

/// How many bytes base64 makes of `length` bytes.
pub fn base64_length(length: u64) -> u64 {
    length.div_ceil(3) * 4
}

/// Appends the base64 of bytes; pieces of one resource have a multiple of three bytes each, but for the last.
pub fn append_base64(bytes: &[u8], text: &mut Vec<u8>) {
    base64_simd::STANDARD.encode_append(bytes, text);
}

/// Writes one DIDL document, part by part: the item's descriptors, then its component.
#[derive(Debug)]
pub struct Didl<'a, W> {
    xml: &'a mut Writer<W>,
}

impl<'a, W: Write> Didl<'a, W> {
    /// Opens the document and its one item, and writes the identifier descriptor.
    pub fn begin(xml: &'a mut Writer<W>, document_id: &str, identifier: &str) -> io::Result<Self> {
        let location = format!("{NAMESPACE} {SCHEMA}");
        let attributes = [
            ("xmlns:didl", NAMESPACE),
            ("xmlns:xsi", xml::XSI),
            ("xsi:schemaLocation", location.as_str()),
            ("DIDLDocumentId", document_id),
        ];
        xml.start("didl:DIDL", &attributes)?;
        xml.start("didl:Item", &[])?;
        let mut didl = Self { xml };
        didl.descriptor(|xml| {
            xml.element(
                "dii:Identifier",
                &[("xmlns:dii", IDENTIFICATION_NAMESPACE)],
                identifier,
            )
        })?;
        Ok(didl)
    }

    /// Writes when the resource was last modified.
    pub fn modified(&mut self, datestamp: &str) -> io::Result<()> {
        self.descriptor(|xml| {
            xml.element(
                "dcterms:modified",
                &[("xmlns:dcterms", TERMS_NAMESPACE)],
                datestamp,
            )
        })
    }

    /// Writes a descriptor that holds XML.
    pub fn descriptor(
        &mut self,
        write: impl FnOnce(&mut Writer<W>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.xml.start("didl:Descriptor", &[])?;
        self.xml
            .start("didl:Statement", &[("mimeType", "application/xml")])?;
        write(self.xml)?;
        self.xml.end("didl:Statement")?;
        self.xml.end("didl:Descriptor")
    }

    /// Opens the component; descriptors written from here on speak of the resource's bytes.
    pub fn begin_component(&mut self) -> io::Result<()> {
        self.xml.start("didl:Component", &[])
    }

    /// Writes the digests of the resource's bytes as (algorithm, hex).
    pub fn digests(&mut self, digests: &[(&str, &str)]) -> io::Result<()> {
        self.descriptor(|xml| {
            xml.start("fixity", &[("xmlns", FIXITY_NAMESPACE)])?;
            for (algorithm, digest) in digests {
                xml.element("digest", &[("algorithm", algorithm)], digest)?;
            }
            xml.end("fixity")
        })
    }

    /// Writes the resource by value: exactly `length` bytes of the reader, in base64.
    ///
    /// A reader that ends early is an error: the answer is then incomplete and must not be finished.
    pub fn by_value(&mut self, media_type: &str, bytes: impl Read, length: u64) -> io::Result<()> {
        self.by_encoded_value(media_type, |out| write_base64(out, bytes, length))
    }

    /// Writes the resource by value as text that is base64 already, whatever `write` writes.
    pub fn by_encoded_value(
        &mut self,
        media_type: &str,
        write: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        let attributes = [("mimeType", media_type), ("encoding", "base64")];
        self.xml.start("didl:Resource", &attributes)?;
        write(self.xml.get_mut())?;
        self.xml.end("didl:Resource")
    }

    /// Writes the resource by reference, then closes component, item and document.
    pub fn finish_by_reference(self, media_type: &str, url: &str) -> io::Result<()> {
        self.xml
            .empty("didl:Resource", &[("mimeType", media_type), ("ref", url)])?;
        self.finish()
    }

    /// Closes component, item and document, where a GET of the URL returns something else than these bytes.
    pub fn finish(self) -> io::Result<()> {
        for element in ["didl:Component", "didl:Item", "didl:DIDL"] {
            self.xml.end(element)?;
        }
        Ok(())
    }
}

/// How much is read and encoded at once. A multiple of three, so that only the last piece is padded.
const PIECE: usize = 48 * 1024;

/// How many pieces are written at once. With large blocks the receiver is woken less often, but what is written should
/// still be in the cache of the processor that encoded it.
const PIECES: usize = 8;

fn write_base64(out: &mut impl Write, mut bytes: impl Read, length: u64) -> io::Result<()> {
    let whole = usize::try_from(length).unwrap_or(usize::MAX);
    let mut piece = vec![0; whole.min(PIECE)];
    let most = base64_simd::STANDARD.encoded_length(whole.min(PIECES * PIECE));
    let mut encoded = Vec::with_capacity(most);
    let mut left = length;
    while left > 0 {
        let size = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
        bytes.read_exact(&mut piece[..size])?;
        append_base64(&piece[..size], &mut encoded);
        left -= size as u64;
        if encoded.len() == most || left == 0 {
            out.write_all(&encoded)?;
            encoded.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_any_length_decodes_to_the_same_bytes() {
        let block = PIECES * PIECE;
        for length in [
            0,
            1,
            2,
            4,
            PIECE - 1,
            PIECE + 1,
            block - 1,
            block,
            block + 1,
            2 * block + PIECE + 5,
        ] {
            let bytes: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            let mut out = Vec::new();
            write_base64(&mut out, bytes.as_slice(), length as u64).unwrap();

            assert_eq!(out.len() as u64, base64_length(length as u64));
            assert_eq!(base64_simd::STANDARD.decode_to_vec(&out).unwrap(), bytes);
        }
    }

    #[test]
    fn a_file_that_shrank_is_an_error() {
        let error = write_base64(&mut Vec::new(), &b"short"[..], 6).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
