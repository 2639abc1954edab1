//! Measures how many words the repair of text regains, on real documents.
//!
//! First, how many of the labelled documents have each damage, each cover and stamps by themselves. Then texts are damaged as
//! documents damage them, in the languages that have such damage; of each text is told how many of its words are still there,
//! before the repair and after it. Prints lines of CSV.
//!
//!     cargo run --release -p garner-classifier --example repairs -- FILE…
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs::File;

use classifier::{Example, read_examples};
use encoding_rs::{
    Encoding, ISO_8859_5, KOI8_R, WINDOWS_1250, WINDOWS_1251, WINDOWS_1253, WINDOWS_1254,
    WINDOWS_1256, X_MAC_CYRILLIC,
};
use repair::{front_matter, is_stamp, repair};

/// A damage, and the languages that have it.
type Damage = (&'static str, &'static [&'static str], Way);

/// How a text is damaged.
#[derive(Clone, Copy)]
enum Way {
    /// The bytes of a code page, each taken for a character of Latin-1.
    CodePage(&'static Encoding),
    Other(fn(&str) -> String),
}

const CYRILLIC: &[&str] = &["ru", "uk", "uk/ru", "bg", "sr"];
const CENTRAL: &[&str] = &["pl", "cs", "sk", "sl", "hr", "hu", "ro"];
const RIGHT_TO_LEFT: &[&str] = &["ar", "fa", "ar/fa", "he"];
const WESTERN: &[&str] = &[
    "de", "fr", "es", "pt", "it", "sv", "da", "nb", "fi", "ca", "gl",
];
const DAMAGES: [Damage; 16] = [
    ("windows-1251", CYRILLIC, Way::CodePage(WINDOWS_1251)),
    ("KOI8-R", CYRILLIC, Way::CodePage(KOI8_R)),
    ("ISO 8859-5", CYRILLIC, Way::CodePage(ISO_8859_5)),
    ("Mac Cyrillic", CYRILLIC, Way::CodePage(X_MAC_CYRILLIC)),
    ("windows-1250", CENTRAL, Way::CodePage(WINDOWS_1250)),
    ("windows-1253", &["el"], Way::CodePage(WINDOWS_1253)),
    ("windows-1254", &["tr"], Way::CodePage(WINDOWS_1254)),
    ("windows-1256", RIGHT_TO_LEFT, Way::CodePage(WINDOWS_1256)),
    ("UTF-8, Western", WESTERN, Way::Other(utf8_as_latin)),
    ("UTF-8, Cyrillic", CYRILLIC, Way::Other(utf8_as_latin)),
    (
        "ligatures of TeX fonts",
        &["en"],
        Way::Other(control_ligatures),
    ),
    ("ligatures of Unicode", &["en"], Way::Other(letter_forms)),
    ("accents before letters", &["de"], Way::Other(accents_apart)),
    (
        "spaces between letters",
        &["en"],
        Way::Other(spaced_headings),
    ),
    (
        "spaces between characters",
        &["zh", "ja"],
        Way::Other(spaced_ideographs),
    ),
    ("reversed lines", RIGHT_TO_LEFT, Way::Other(reversed)),
];

impl Way {
    /// The text as this way can have it: a code page has not all characters.
    fn possible(self, text: &str) -> String {
        match self {
            Self::CodePage(encoding) => {
                let possible = |c: &char| !encoding.encode(c.encode_utf8(&mut [0; 4])).2;
                text.chars().filter(possible).collect()
            }
            Self::Other(_) => text.to_owned(),
        }
    }

    fn damaged(self, text: &str) -> String {
        match self {
            Self::CodePage(encoding) => encoding
                .encode(text)
                .0
                .iter()
                .map(|byte| char::from(*byte))
                .collect(),
            Self::Other(damage) => damage(text),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut examples: Vec<Example> = Vec::new();
    for path in std::env::args().skip(1) {
        read_examples(File::open(path)?, |example| {
            examples.push(example);
            Ok(())
        })?;
    }
    println!("found in,documents");
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for example in &examples {
        let (text, repairs) = repair(&example.text);
        let mut names = repairs.names();
        names.extend(front_matter(&text).map(|front| format!("cover of {}", front.source)));
        if text.lines().any(is_stamp) {
            names.push("stamps".to_owned());
        }
        for name in names {
            *found.entry(name).or_default() += 1;
        }
    }
    for (name, documents) in found {
        println!("{name},{documents}");
    }
    println!("damage,documents,words before,words after");
    for (name, languages, way) in DAMAGES {
        let of_language = examples
            .iter()
            .filter(|example| languages.contains(&&*example.lang));
        let (mut documents, mut before, mut after) = (0_usize, 0.0, 0.0);
        for example in of_language {
            // As it would be, had nothing happened to it.
            let (whole, _) = repair(&example.text);
            let whole = way.possible(&whole);
            let damaged = way.damaged(&whole);
            if damaged == whole {
                continue;
            }
            documents += 1;
            before += kept(&whole, &damaged);
            after += kept(&whole, &repair(&damaged).0);
        }
        let mean = |sum: f64| sum / documents.max(1) as f64;
        println!(
            "\"{name}\",{documents},{:.4},{:.4}",
            mean(before),
            mean(after)
        );
    }
    Ok(())
}

/// Which part of the words of a text another one has.
fn kept(text: &str, other: &str) -> f64 {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for word in other.split_whitespace() {
        *left.entry(word).or_default() += 1;
    }
    let (mut all, mut kept) = (0_usize, 0_usize);
    for word in text.split_whitespace() {
        all += 1;
        if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            kept += 1;
        }
    }
    kept as f64 / all.max(1) as f64
}

fn utf8_as_latin(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

/// Ligatures by their places in the fonts of TeX.
fn control_ligatures(text: &str) -> String {
    let places = [
        ("ffi", "\x0e"),
        ("ffl", "\x0f"),
        ("ff", "\x0b"),
        ("fi", "\x1c"),
        ("fl", "\x1d"),
    ];
    // In T1 fonts, where a form feed is no ligature.
    let places = places.map(|(letters, place)| match letters {
        "ff" => (letters, "\x1b"),
        "ffi" => (letters, "\x1e"),
        "ffl" => (letters, "\x1f"),
        _ => (letters, place),
    });
    replaced(text, &places)
}

fn letter_forms(text: &str) -> String {
    replaced(
        text,
        &[
            ("ffi", "ﬃ"),
            ("ffl", "ﬄ"),
            ("ff", "ﬀ"),
            ("fi", "ﬁ"),
            ("fl", "ﬂ"),
        ],
    )
}

fn accents_apart(text: &str) -> String {
    let places = [
        ("ä", "¨a"),
        ("ö", "¨o"),
        ("ü", "¨u"),
        ("Ä", "¨A"),
        ("Ö", "¨O"),
        ("Ü", "¨U"),
    ];
    replaced(text, &places)
}

fn replaced(text: &str, places: &[(&str, &str)]) -> String {
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    places.iter().fold(text.to_owned(), replace)
}

/// Short lines, as headings are, letter by letter.
fn spaced_headings(text: &str) -> String {
    let line = |line: &str| match line.trim().len() {
        5..=40 if line.trim().chars().all(char::is_alphabetic) => spaced(line),
        _ => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn spaced(line: &str) -> String {
    let letters: Vec<String> = line.trim().chars().map(String::from).collect();
    letters.join(" ")
}

fn spaced_ideographs(text: &str) -> String {
    let is_ideograph = |c: char| matches!(c, '\u{3040}'..='\u{9fff}');
    let mut spaced = String::with_capacity(2 * text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        spaced.push(character);
        let before_another = characters.peek().copied().is_some_and(is_ideograph);
        if is_ideograph(character) && before_another {
            spaced.push(' ');
        }
    }
    spaced
}

/// Letters in the order in which they are drawn, from left to right; numbers and Latin words are drawn so anyway.
fn reversed(text: &str) -> String {
    let keeps = |c: &char| {
        c.is_alphanumeric() && !matches!(c, '\u{590}'..='\u{6ff}' | '\u{750}'..='\u{77f}')
    };
    let line = |line: &str| {
        let mut turned: Vec<char> = line.chars().rev().collect();
        turned
            .chunk_by_mut(|a, b| keeps(a) && keeps(b))
            .for_each(|run| run.reverse());
        turned.into_iter().collect::<String>()
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
