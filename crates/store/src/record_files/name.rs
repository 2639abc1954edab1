//! Names that every file system can hold and tell apart.
//!
//! Characters that are not harmless everywhere become `~` and two hexadecimal digits a byte: those that Windows
//! or a shell treats in its own way, and all that is not ASCII, because file systems disagree on Unicode's
//! normal forms. `~` itself is among them, so an escape is never mistaken for text.

/// Escapes the name of a directory, so that it can be no file of ours and no numbered directory.
pub(super) fn directory(text: &str) -> String {
    let mut odd = odd_start(text);
    if starts_with(text, NUMBERED) {
        odd = Some(0);
    }
    let end = text.len().saturating_sub(1);
    // Windows drops a dot at the end.
    let odd_end = match text {
        _ if text.ends_with('.') => Some(end),
        _ if ends_with(text, ".xml") => Some(text.len() - 4),
        _ if ends_with(text, DELETED) => Some(text.len() - DELETED.len()),
        _ => None,
    };
    escape(text, |at| odd == Some(at) || odd_end == Some(at))
}

/// Escapes the name of a file, whose ending comes behind it.
pub(super) fn file(text: &str) -> String {
    let odd = odd_start(text);
    escape(text, |at| odd == Some(at))
}

/// Which letters are capitals, as a number: file systems that do not tell case apart still tell this apart.
/// `None` if there are too many letters.
pub(super) fn capitals(texts: &[&str]) -> Option<u128> {
    let mut bits: u128 = 0;
    let letters = texts.iter().flat_map(|text| text.bytes());
    for letter in letters.filter(u8::is_ascii_alphabetic) {
        if bits >> 127 == 1 {
            return None;
        }
        bits = bits << 1 | u128::from(letter.is_ascii_uppercase());
    }
    Some(bits)
}

fn escape(text: &str, is_odd: impl Fn(usize) -> bool) -> String {
    if text.is_empty() {
        return EMPTY.to_owned();
    }
    let mut name = String::with_capacity(text.len());
    for (at, byte) in text.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || PLAIN.contains(&byte);
        if plain && !is_odd(at) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("~{byte:02x}"));
        }
    }
    name
}

/// Hidden files, options, and the names that Windows keeps for devices whatever follows the dot.
fn odd_start(text: &str) -> Option<usize> {
    let stem = text.split('.').next().unwrap_or_default();
    let is_device = DEVICES
        .iter()
        .any(|device| stem.eq_ignore_ascii_case(device))
        || (stem.len() == 4
            && (starts_with(stem, "com") || starts_with(stem, "lpt"))
            && stem.ends_with(|last: char| last.is_ascii_digit()));
    (text.starts_with(['.', '-']) || is_device).then_some(0)
}

fn starts_with(text: &str, start: &str) -> bool {
    let head = text.as_bytes().get(..start.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

fn ends_with(text: &str, end: &str) -> bool {
    let at = text.len().checked_sub(end.len());
    let tail = at.and_then(|at| text.as_bytes().get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
}

/// The beginning of a numbered directory's name.
pub(super) const NUMBERED: &str = "starting_at_";
/// The ending of a deleted record's file.
pub(super) const DELETED: &str = ".deleted";

const EMPTY: &str = "~_";
const PLAIN: &[u8] = b"-_.+=,@%()";
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_names_stay_as_they_are() {
        for name in ["1234", "alliance", "a.b_c-d", "10.1000", "a%20b", "x+y=(z)"] {
            assert_eq!(directory(name), name);
            assert_eq!(file(name), name);
        }
    }

    #[test]
    fn names_with_a_meaning_of_their_own_are_escaped() {
        for (name, escaped) in [
            ("..", "~2e~2e"),
            (".hidden", "~2ehidden"),
            ("-rf", "~2drf"),
            ("CON", "~43ON"),
            ("nul.txt", "~6eul.txt"),
            ("com1", "~63om1"),
            ("dot.", "dot~2e"),
            ("space ", "space~20"),
            ("a\\b", "a~5cb"),
            ("a\0\n", "a~00~0a"),
            ("~", "~7e"),
            ("\u{e9}", "~c3~a9"),
            ("", "~_"),
            ("1.XML", "1~2eXML"),
            ("1.deleted", "1~2edeleted"),
            ("starting_at_5000", "~73tarting_at_5000"),
        ] {
            assert_eq!(directory(name), escaped);
        }
    }
}
