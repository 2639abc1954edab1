//! The language of a text.
//!
//! `whatlang` compares trigrams of letters. It needs no files, knows 70 languages, and takes less than a millisecond for
//! the sample that it is given; n-gram models that know short texts better need a hundred times the memory.

use whatlang::{Detector, Lang};

/// The language of a text, as a code of ISO 639-1; `None` if there is too little text to tell.
///
/// ```
/// let text = "Wir untersuchen, wie sich die Temperatur des Wassers im Laufe des Jahres verändert. ".repeat(3);
/// assert_eq!(text::language(&text), Some("de"));
/// assert_eq!(text::language("1 2 3"), None);
/// ```
pub fn language(text: &str) -> Option<&'static str> {
    let sample = sample(text);
    let letters = sample.chars().filter(|letter| letter.is_alphabetic());
    if letters.count() < FEWEST_LETTERS {
        return None;
    }
    let found = Detector::new().detect(&sample)?;
    if !found.is_reliable() && found.confidence() < DOUBTFUL {
        return None;
    }
    code(found.lang())
}

/// The code of a language that people name by a code of ISO 639-1 or 639-3; `None` if it is not one of [`LANGUAGES`].
pub fn language_code(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase();
    let known = LANGUAGES.iter();
    let mut known = known.filter(|(long, short)| *long == name || *short == name);
    known.next().map(|(_, short)| *short)
}

/// Words of the first part, without the first lines, where names and addresses are. Lines with many digits are tables.
fn sample(text: &str) -> String {
    let skipped = match text.len() > 4 * SAMPLE {
        true => text.floor_char_boundary(SKIPPED),
        false => 0,
    };
    let mut sample = String::with_capacity(SAMPLE + 64);
    for line in text[skipped..].lines() {
        let digits = line.bytes().filter(u8::is_ascii_digit).count();
        if digits * 5 > line.len() {
            continue;
        }
        sample.push_str(&line[..line.floor_char_boundary(SAMPLE)]);
        sample.push('\n');
        if sample.len() >= SAMPLE {
            break;
        }
    }
    sample
}

fn code(lang: Lang) -> Option<&'static str> {
    language_code(lang.code())
}

const SAMPLE: usize = 6_000;
const SKIPPED: usize = 1_500;
const FEWEST_LETTERS: usize = 60;
const DOUBTFUL: f64 = 0.5;

/// The languages that can be told, by their codes of ISO 639-3 and 639-1.
pub const LANGUAGES: [(&str, &str); 70] = [
    ("afr", "af"),
    ("aka", "ak"),
    ("amh", "am"),
    ("ara", "ar"),
    ("aze", "az"),
    ("bel", "be"),
    ("ben", "bn"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("cmn", "zh"),
    ("cym", "cy"),
    ("dan", "da"),
    ("deu", "de"),
    ("ell", "el"),
    ("eng", "en"),
    ("epo", "eo"),
    ("est", "et"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("guj", "gu"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("hun", "hu"),
    ("hye", "hy"),
    ("ind", "id"),
    ("ita", "it"),
    ("jav", "jv"),
    ("jpn", "ja"),
    ("kan", "kn"),
    ("kat", "ka"),
    ("khm", "km"),
    ("kor", "ko"),
    ("lat", "la"),
    ("lav", "lv"),
    ("lit", "lt"),
    ("mal", "ml"),
    ("mar", "mr"),
    ("mkd", "mk"),
    ("mya", "my"),
    ("nep", "ne"),
    ("nld", "nl"),
    ("nob", "nb"),
    ("ori", "or"),
    ("pan", "pa"),
    ("pes", "fa"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("sin", "si"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("sna", "sn"),
    ("spa", "es"),
    ("srp", "sr"),
    ("swe", "sv"),
    ("tam", "ta"),
    ("tel", "te"),
    ("tgl", "tl"),
    ("tha", "th"),
    ("tuk", "tk"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("urd", "ur"),
    ("uzb", "uz"),
    ("vie", "vi"),
    ("yid", "yi"),
    ("zul", "zu"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_that_is_told_has_a_short_code() {
        for lang in Lang::all() {
            assert!(code(*lang).is_some(), "{lang:?}");
        }
    }

    #[test]
    fn tables_and_short_texts_have_no_language() {
        assert_eq!(language(&"1.23 4.56 7.89\n".repeat(500)), None);
        assert_eq!(language("An abstract"), None);
    }

    #[test]
    fn a_language_is_named_by_either_code() {
        assert_eq!(language_code("ENG"), Some("en"));
        assert_eq!(language_code(" en "), Some("en"));
        assert_eq!(language_code("xx"), None);
    }
}
