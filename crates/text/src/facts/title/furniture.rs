//! Lines around a title: heads of journals, dates, numbers, addresses, and the headings behind which no title follows.

/// Whether a line is no title, but what stands around it: heads of journals, dates, numbers, addresses.
pub(super) fn is_furniture(line: &str) -> bool {
    let small = without_small_capitals(line).to_lowercase();
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
        || is_form(line)
        || is_pages(line)
        || is_place(line)
        || is_publisher(&small)
        || digits * 3 > letters
        || small.contains('@')
        || FURNITURE.iter().any(|part| small.contains(part))
        || FURNITURE_AT_START
            .iter()
            .any(|part| small.starts_with(part))
}

/// A line whose words are in one piece: small capitals often come out as `D RAFT`.
fn without_small_capitals(line: &str) -> String {
    let mut whole = String::with_capacity(line.len());
    let mut first = "";
    for word in line.split(' ') {
        let is_rest = word.len() > 1 && word.chars().all(char::is_uppercase);
        let is_first = first.len() == 1 && first.chars().all(char::is_uppercase);
        if !(whole.is_empty() || is_first && is_rest) {
            whole.push(' ');
        }
        whole.push_str(word);
        first = word;
    }
    whole
}

/// Whether a line has the pages and the year of an article in its journal.
fn is_pages(line: &str) -> bool {
    let words = || line.split([' ', ',', ';', ':', '(', ')', '.']);
    let is_number = |part: &str| part.len() > 1 && part.bytes().all(|digit| digit.is_ascii_digit());
    let is_range = |word: &str| {
        let parts = word.split_once(['-', '–']);
        parts.is_some_and(|(from, to)| is_number(from) && is_number(to) && !is_year(from))
    };
    words().any(is_range) && words().any(is_year)
}

/// Whether a line is empty fields of a form: `FROM: DATE:`.
fn is_form(line: &str) -> bool {
    line.split(' ').all(|word| word.ends_with(':'))
}

/// Whether a line is a place: `Baltimore, Md.`, `Ely, UK`.
fn is_place(line: &str) -> bool {
    let Some((town, country)) = line.split_once(", ") else {
        return false;
    };
    let (letters, words) = (country.trim_end_matches('.'), town.split(' ').count());
    let is_short = letters.len() == 2 && letters.bytes().all(|letter| letter.is_ascii_uppercase())
        || country.ends_with('.') && country.len() < 6;
    let is_capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    words <= 3 && is_short && line.split(' ').all(is_capital)
}

/// Whether a line names a publisher, and nothing else.
fn is_publisher(small: &str) -> bool {
    let named = PUBLISHERS.iter().any(|name| small.contains(name));
    named && small.split(' ').count() <= 4
}

/// Whether a line says what kind of article follows: all before it is the head of the journal.
pub(super) fn is_label(line: &str) -> bool {
    let small = line.to_lowercase();
    let small = small.split(['•', '|', ':']).next().unwrap_or_default();
    let small = small.trim_end_matches("open access").trim();
    LABELS.contains(&small)
}

/// Whether a line says where in a journal the article is: the line before it is the journal's name.
pub(super) fn is_volume(line: &str) -> bool {
    let small = line.to_lowercase();
    let begins = [
        "volume ",
        "vol.",
        "vol ",
        "issn",
        "issue ",
        "journal homepage",
    ];
    begins.iter().any(|begin| small.starts_with(begin))
}

/// Whether a page is the cover that a publisher puts before an article.
pub(super) fn is_cover(page: &str) -> bool {
    let small = page.to_lowercase();
    COVERS.iter().any(|part| small.contains(part))
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

const LABELS: [&str; 38] = [
    "article",
    "research article",
    "research paper",
    "research",
    "original article",
    "original paper",
    "original research",
    "original research article",
    "original investigation",
    "original contribution",
    "original communication",
    "regular article",
    "full paper",
    "full length research paper",
    "paper",
    "review",
    "review article",
    "review paper",
    "mini review",
    "minireview",
    "systematic review",
    "case report",
    "case study",
    "clinical study",
    "clinical trial",
    "methodology article",
    "methodology",
    "study protocol",
    "short report",
    "short communication",
    "brief report",
    "brief communication",
    "technical note",
    "data note",
    "database",
    "software",
    "commentary",
    "perspective",
];

const PUBLISHERS: [&str; 10] = [
    "hindawi",
    "publishing corporation",
    "publishing group",
    "iop publishing",
    "elsevier",
    "sciencedirect",
    "springer",
    "biomed central",
    "wiley",
    "mdpi",
];

const COVERS: [&str; 2] = [
    "cited before page numbers",
    "has been accepted for publication in this journal",
];

const FURNITURE: [&str; 53] = [
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
    "physical review",
    "physical journal",
    "transactions on",
    "annals of ",
    "annual review",
    "inserted by the editor",
    "noname manuscript",
    "manuscript no",
    "licensed under",
    "creative commons",
    "related content",
    "view article",
    "view the article",
    "article links",
    "cite this",
    "conf. series",
    "conference series",
    "institute for advanced",
    "research institute",
    "school of ",
    "faculty of ",
    "academic editor",
];

const FURNITURE_AT_START: [&str; 34] = [
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
    "author(s)",
    "authors:",
    "author:",
    "first published",
    "published online",
    "advance access",
    "cite as",
    "email",
    "this article",
    "this is a",
    "this paper is",
    "this version",
    "to cite",
    "please cite",
    "citation:",
    "correspondence",
    "edited by",
    "reviewed by",
];
