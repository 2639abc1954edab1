//! URLs as crawls write them, which need not be UTF-8.

use std::borrow::Cow;
use std::fmt::Write;

/// A URL as text. Bytes that are no UTF-8 are percent-encoded, so that two URLs stay two.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // A string takes all that is written.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_stay_apart() {
        assert_eq!(
            text("http://h/\u{e9}?%20".as_bytes()),
            "http://h/\u{e9}?%20"
        );
        assert_eq!(text(b"http://h/caf\xe9"), "http://h/caf%E9");
        assert_eq!(text(b"\xff\xc3\xa9\xe8x\xc3"), "%FF\u{e9}%E8x%C3");
    }
}
