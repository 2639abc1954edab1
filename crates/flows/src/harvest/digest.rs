//! The digest that tells whether a record is still the same.

use data_encoding::HEXLOWER;
use memchr::memmem;
use sha2::{Digest, Sha256};

/// The digest of some bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    written(Sha256::new_with_prefix(bytes))
}

/// The digest of a record. When its HTTP headers were asked for is no part of it: `Date` is different each time.
pub(super) fn of_record(xml: &[u8]) -> String {
    let mut digest = Sha256::new();
    let mut rest = xml;
    while let Some(begin) = memmem::find(rest, DATE) {
        let value = begin + DATE.len();
        digest.update(&rest[..value]);
        rest = &rest[value..];
        rest = &rest[memchr::memchr(b'<', rest).unwrap_or(rest.len())..];
    }
    digest.update(rest);
    written(digest)
}

fn written(digest: Sha256) -> String {
    HEXLOWER.encode(&digest.finalize())
}

/// As `oai::format::http_header` writes it.
const DATE: &[u8] = b"<field name=\"Date\">";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moment_of_asking_does_not_count_and_all_else_does() {
        let record = |date: &str, size: &str| {
            let date = format!("<field name=\"Date\">{date}</field>");
            of_record(format!("<r>{date}<field name=\"Size\">{size}</field></r>").as_bytes())
        };

        assert_eq!(record("Mon", "1"), record("Tue", "1"));
        assert_ne!(record("Mon", "1"), record("Mon", "2"));
        assert_eq!(of_record(b"<r/>"), of_bytes(b"<r/>"));
    }
}
