//! Lines around a title: heads of journals, dates, numbers, addresses, and the headings behind which no title follows.

/// Whether a line is no title, but what stands around it: heads of journals, dates, numbers, addresses.
pub(super) fn is_furniture(line: &str) -> bool {
    let small = line.to_lowercase();
    let letters = line.chars().filter(|letter| letter.is_alphabetic()).count();
    let numbers = line.split(' ').filter(|word| !is_year(word));
    let numbers = numbers
        .flat_map(str::chars)
        .filter(char::is_ascii_digit)
        .count();
    let years = line.split(' ').filter(|word| is_year(word)).count() * 4;
    let digits = match has_words_beside_year(line) {
        true => numbers,
        false => numbers + years,
    };
    letters < 4
        || digits * 3 > letters
        || small.contains('@')
        || FURNITURE.iter().any(|part| small.contains(part))
        || FURNITURE_AT_START
            .iter()
            .any(|part| small.starts_with(part))
}

/// Whether a line begins the text itself: no title follows.
pub(super) fn is_heading_of_body(line: &str) -> bool {
    let small = line.to_lowercase();
    let small = small.trim_matches(|letter: char| !letter.is_alphabetic());
    matches!(
        small,
        "abstract"
            | "summary"
            | "introduction"
            | "contents"
            | "table of contents"
            | "zusammenfassung"
            | "résumé"
            | "resumen"
            | "keywords"
            | "references"
    ) || small.starts_with("abstract—")
}

/// Whether a word is a year.
pub(super) fn is_year(word: &str) -> bool {
    let digits = word.trim_matches(|letter: char| letter.is_ascii_punctuation());
    let is_number = digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number && ("1000"..="2099").contains(&digits)
}

/// Whether a line has words beside a year that are not those of a date.
fn has_words_beside_year(line: &str) -> bool {
    let is_word = |word: &&str| {
        let small = word.to_lowercase();
        let small = small.trim_matches(|letter: char| !letter.is_alphanumeric());
        !small.is_empty() && small.chars().all(char::is_alphabetic) && !MONTHS.contains(&small)
    };
    let words = line.split([' ', '-', '–']).filter(is_word).count();
    words >= 2 && line.split(' ').any(is_year)
}

/// Words of dates, in a few languages.
const MONTHS: [&str; 34] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "spring",
    "autumn",
];

const FURNITURE: [&str; 32] = [
    "http://",
    "https://",
    "www.",
    "doi:",
    "doi.org",
    "issn",
    "isbn",
    "arxiv:",
    "vol.",
    "volume ",
    " no. ",
    "pp.",
    "copyright",
    "©",
    "all rights reserved",
    "proceedings of",
    "to appear in",
    "submitted to",
    "preprint",
    "published by",
    "downloaded from",
    "university",
    "department of",
    "institute of",
    "journal of",
    "technical report",
    "open access",
    "received",
    "accepted manuscript",
    "accepted 1",
    "accepted 2",
    "inserted by the editor",
];

const FURNITURE_AT_START: [&str; 16] = [
    "page ",
    "figure ",
    "table ",
    "draft",
    "article",
    "research article",
    "original article",
    "review article",
    "available online",
    "last revision",
    "last updated",
    "contents lists",
    "conference on",
    "workshop on",
    "laboratory",
    "e-mail",
];
