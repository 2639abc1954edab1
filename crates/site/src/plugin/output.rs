//! Reads what a program printed as text or as key-value lines.
//!
//! Nothing here fails: bytes that are not UTF-8 and characters that XML 1.0 forbids become U+FFFD.

use oai::xml;

/// Takes the output as one value, without the white space around it.
pub(super) fn text(printed: &[u8]) -> String {
    let text = decode(printed).replace("\r\n", "\n").replace('\r', "\n");
    text.trim().to_owned()
}

/// Takes each line that has a key, the separator and a value; the first pairs up to [`MOST_PAIRS`] count.
pub(super) fn key_value(printed: &[u8], separator: &str) -> Vec<(String, String)> {
    decode(printed)
        .split(['\n', '\r'])
        .filter_map(|line| pair(line, separator))
        .take(MOST_PAIRS)
        .collect()
}

/// Removes the mark that some programs put before UTF-8.
pub(super) fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn decode(printed: &[u8]) -> String {
    let text = String::from_utf8_lossy(printed);
    let allowed = |c| if xml::is_legal(c) { c } else { '\u{fffd}' };
    without_byte_order_mark(&text)
        .chars()
        .map(allowed)
        .collect()
}

fn pair(line: &str, separator: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once(separator)?;
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() || value.is_empty() || key.chars().count() > MOST_KEY_CHARS {
        return None;
    }
    Some((key.to_owned(), value.to_owned()))
}

const MOST_PAIRS: usize = 200;

const MOST_KEY_CHARS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(printed: &str, separator: &str) -> Vec<(String, String)> {
        key_value(printed.as_bytes(), separator)
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(own).collect()
    }

    #[test]
    fn text_keeps_its_lines_but_not_the_space_around() {
        assert_eq!(
            text(b"\xef\xbb\xbf\n one\r\ntwo\rthree \n\n"),
            "one\ntwo\nthree"
        );
        assert_eq!(text(b"\n"), "");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(text(b"caf\xe9"), "caf\u{fffd}");
        assert_eq!(key_value(b"k=caf\xe9", "="), owned(&[("k", "caf\u{fffd}")]));
    }

    #[test]
    fn characters_that_xml_forbids_are_replaced() {
        assert_eq!(
            text("a\0b\u{1b}c\u{fffe}d\u{ffff}e\tf\u{10ffff}".as_bytes()),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\tf\u{10ffff}"
        );
    }

    #[test]
    fn lines_are_split_at_the_first_separator_and_trimmed() {
        assert_eq!(
            pairs(" Title = a = b \r\nAuthor=x\nAuthor=y\n", "="),
            owned(&[("Title", "a = b"), ("Author", "x"), ("Author", "y")])
        );
        assert_eq!(pairs("Title:: a:b", "::"), owned(&[("Title", "a:b")]));
    }

    #[test]
    fn lines_without_key_separator_or_value_are_skipped() {
        assert_eq!(
            pairs("no separator\n=x\nkey=\nkey=  \n\nk=v", "="),
            owned(&[("k", "v")])
        );
    }

    #[test]
    fn pairs_and_keys_are_bounded() {
        let many: String = (0..300).map(|number| format!("key{number}=x\n")).collect();
        let long = format!("{}=x\n{}=x\n", "é".repeat(200), "é".repeat(201));

        assert_eq!(pairs(&many, "=").len(), 200);
        assert_eq!(pairs(&long, "="), owned(&[(&"é".repeat(200), "x")]));
    }
}
