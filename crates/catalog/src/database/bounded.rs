//! Texts that repositories choose, made fit for a database.
//!
//! PostgreSQL has no NUL in a text and no entry above 2,704 bytes in an index. A repository can send both, and neither
//! may cost the page that it comes with.

use std::borrow::Cow;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// A text that is kept as it is up to this length.
const LONGEST: usize = 1000;

/// The text without NUL, which becomes the replacement character.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text as it stands in an index: itself, or if it is long its beginning and its digest.
///
/// A shortened text is longer than any that is not, so the two are never taken for each other.
pub(crate) fn bounded(text: &str) -> Cow<'_, str> {
    let text = clean(text);
    if text.len() <= LONGEST {
        return text;
    }
    let mut short = text[..text.floor_char_boundary(LONGEST)].to_owned();
    short.push_str("… sha256:");
    HEXLOWER.encode_append(&Sha256::digest(text.as_bytes()), &mut short);
    Cow::Owned(short)
}

/// The whole text if `bounded` shortened it.
pub(crate) fn in_full(text: &str) -> Option<Cow<'_, str>> {
    Some(clean(text)).filter(|text| text.len() > LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_text_stays_as_it_is() {
        assert_eq!(bounded("oai:a:1"), "oai:a:1");
        assert_eq!(in_full("oai:a:1"), None);
    }

    #[test]
    fn long_texts_with_one_beginning_stay_apart() {
        let (a, b) = ("ü".repeat(2000), "ü".repeat(2001));

        assert_ne!(bounded(&a), bounded(&b));
        assert!(bounded(&a).len() < 1200);
        assert_eq!(in_full(&a).unwrap(), a);
    }

    #[test]
    fn a_shortened_text_cannot_be_forged() {
        let forged = bounded(&"a".repeat(5000)).into_owned();

        assert_ne!(bounded(&forged), forged);
    }

    #[test]
    fn nul_is_replaced() {
        assert_eq!(bounded("a\0b"), "a\u{fffd}b");
    }
}
