//! Whether the body of an answer is one of the protocol, judged by its beginning.

use std::io::{Cursor, Read};

use super::decompress::decompress;

/// Whether a body that begins with these bytes holds what was asked for, or an error of the protocol.
pub(crate) fn is_answer(beginning: &[u8]) -> bool {
    let body = Box::new(Cursor::new(beginning.to_vec()));
    let Ok(plain) = decompress(body, false) else {
        return false;
    };
    let mut plain = plain.bytes;
    let mut text = vec![0; LENGTH];
    let mut length = 0;
    // Compressed bytes break off at the end of the beginning.
    while let Ok(read @ 1..) = plain.read(&mut text[length..]) {
        length += read;
    }
    let text = String::from_utf8_lossy(&text[..length]);
    let has = |part: &str| text.contains(part);
    has("OAI-PMH")
        && (ELEMENTS
            .iter()
            .any(|name| has(&format!("<{name}")) || has(&format!(":{name}")))
            || CODES
                .iter()
                .any(|code| has(&format!("\"{code}\"")) || has(&format!("'{code}'"))))
}

const ELEMENTS: [&str; 6] = [
    "GetRecord",
    "Identify>",
    "ListIdentifiers",
    "ListMetadataFormats",
    "ListRecords",
    "ListSets",
];
const CODES: [&str; 8] = [
    "badArgument",
    "badResumptionToken",
    "badVerb",
    "cannotDisseminateFormat",
    "idDoesNotExist",
    "noMetadataFormats",
    "noRecordsMatch",
    "noSetHierarchy",
];
/// As much is looked at, decompressed.
const LENGTH: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_pages_that_speak_of_them() {
        assert!(is_answer(
            b"<?xml version='1.0'?><OAI-PMH xmlns='x'><ListRecords><record>"
        ));
        assert!(is_answer(
            b"<o:OAI-PMH xmlns:o='x'><o:error code=\"noRecordsMatch\"/></o:OAI-PMH>"
        ));
        assert!(!is_answer(b"<html>The OAI-PMH server failed</html>"));
        assert!(!is_answer(
            b"<OAI-PMH><error code='internal'>oops</error></OAI-PMH>"
        ));
        assert!(!is_answer(b""));
    }
}
