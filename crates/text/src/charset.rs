//! Which characters bytes stand for.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// The characters that bytes stand for. What is declared counts only where the bytes themselves do not tell.
pub(super) fn decode<'a>(bytes: &'a [u8], declared: Option<&'static Encoding>) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0;
    }
    // Text in another encoding is hardly ever valid UTF-8 by chance; what was cut off in a character is valid enough.
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&ESCAPE) && !has_wide_units(bytes) => {
            return Cow::Borrowed(text);
        }
        Err(error) if error.error_len().is_none() && !bytes[..error.valid_up_to()].is_ascii() => {
            return String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        }
        _ => {}
    }
    if is_mostly_utf8(bytes) {
        return String::from_utf8_lossy(bytes);
    }
    let encoding = wide(bytes).or(declared).unwrap_or_else(|| guess(bytes));
    encoding.decode_without_bom_handling(bytes).0
}

/// Whether it is UTF-8 into which something else was pasted.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for chunk in bytes[..bytes.len().min(GUESSED)].utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > 4 * bad
}

/// UTF-16 without a byte order mark: in most scripts one of two bytes is always the same.
fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(HEAD) & !1];
    let zeros = |offset: usize| {
        head.iter()
            .skip(offset)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let units = head.len() / 2;
    match () {
        () if units == 0 => None,
        () if odd * 10 >= units * 7 && even * 20 <= units => Some(UTF_16LE),
        () if even * 10 >= units * 7 && odd * 20 <= units => Some(UTF_16BE),
        () => None,
    }
}

fn has_wide_units(bytes: &[u8]) -> bool {
    wide(bytes).is_some()
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(GUESSED)], true);
    detector.guess(None, Utf8Detection::Allow)
}

const ESCAPE: u8 = 0x1B;
const HEAD: usize = 4 * 1024;
const GUESSED: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_recognised() {
        let text = "Über die Größe: «naïve» façades, œuvres";
        let french = encoding_rs::WINDOWS_1252.encode(text).0;
        assert_eq!(decode(&french, None), text);
        assert_eq!(decode(text.as_bytes(), None), text);
        let russian = "О некоторых свойствах решений дифференциальных уравнений второго порядка";
        let koi = encoding_rs::KOI8_R.encode(russian).0;
        assert_eq!(decode(&koi, None), russian);
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&wide, None), text);
        let marked = [&[0xFF, 0xFE], &wide[..]].concat();
        assert_eq!(decode(&marked, None), text);
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&wide, None), text);
    }

    #[test]
    fn what_is_declared_helps_but_does_not_win() {
        let latin2 = Encoding::for_label(b"iso-8859-2");
        assert_eq!(decode(b"Erd\xF5s", latin2), "Erdős");
        assert_eq!(decode("Erdős".as_bytes(), latin2), "Erdős");
    }

    #[test]
    fn a_foreign_character_does_not_spoil_the_rest() {
        let mixed = ["Größe, Übung, Äpfel und Öl, ".as_bytes(), b"caf\xE9 noir"].concat();
        assert_eq!(
            decode(&mixed, None),
            "Größe, Übung, Äpfel und Öl, caf\u{FFFD} noir"
        );
    }

    #[test]
    fn a_character_that_is_cut_off_does_not_spoil_the_rest() {
        let cut = &"größe é".as_bytes()[.."größe é".len() - 1];
        assert_eq!(decode(cut, None), "größe ");
        assert_eq!(decode(b"caf\xE9", None), "café");
    }
}
