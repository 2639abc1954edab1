//! The URL of a record, for repositories whose resources are records.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The URL of the GetRecord request for an identifier in a format.
pub fn record_url(base_url: &str, metadata_prefix: &str, identifier: &str) -> String {
    let encode = |text| utf8_percent_encode(text, ESCAPED);
    format!(
        "{base_url}?verb=GetRecord&metadataPrefix={}&identifier={}",
        encode(metadata_prefix),
        encode(identifier)
    )
}

/// All but the characters that every server leaves as they are.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_escaped_in_urls() {
        assert_eq!(
            record_url("http://a.example/oai", "oai_dc", "oai:a&b/\u{fc} 1"),
            "http://a.example/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aa%26b%2F%C3%BC%201"
        );
    }
}
