//! Percent signs, exactly as signatures want them.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// A text with everything encoded but letters, digits, `-`, `.`, `_` and `~`; slashes too unless `keep_slashes`.
pub(crate) fn encoded(text: &str, keep_slashes: bool) -> String {
    let set = match keep_slashes {
        true => SLASHES_KEPT,
        false => RESERVED,
    };
    utf8_percent_encode(text, set).to_string()
}

/// The text that was encoded, if it is text.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    percent_decode_str(&text)
        .decode_utf8()
        .ok()
        .map(Cow::into_owned)
}

const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
const SLASHES_KEPT: &AsciiSet = &RESERVED.remove(b'/');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_comes_back() {
        assert_eq!(encoded("a b/ü~", true), "a%20b/%C3%BC~");
        assert_eq!(encoded("a/b", false), "a%2Fb");
        assert_eq!(decoded("a%20b/%C3%BC+c").as_deref(), Some("a b/ü c"));
        assert_eq!(decoded("%ff"), None);
    }
}
