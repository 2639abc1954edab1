//! The title of a text: the one that the document gives itself, if the text bears it out, or else the first lines of the
//! first page that read like one.

/// The title of a text; `None` if none is plausible. `declared` is the one in the metadata of the document.
///
/// ```
/// let text = "Journal of Tides, Vol. 3\n\nOn the Shape of Coasts\n\nAda Lovelace\nUniversity of Ely\n\nAbstract\nWe";
/// assert_eq!(text::title(text, Some("paper.dvi")).as_deref(), Some("On the Shape of Coasts"));
/// assert_eq!(text::title(text, Some("On the shape of coasts")).as_deref(), Some("On the shape of coasts"));
/// ```
pub fn title(text: &str, declared: Option<&str>) -> Option<String> {
    let page = first_page(text);
    let declared = declared.map(spaced).filter(|title| is_title(title));
    if let Some(declared) = declared.filter(|title| is_borne_out(title, page)) {
        return Some(declared);
    }
    first_title(page)
}

/// The name of a file as a title, for documents without one: the last part of a URL or a path, decoded.
///
/// ```
/// assert_eq!(text::file_title("http://a.example/b/On%20Coasts.pdf?x=1"), "On Coasts.pdf");
/// assert_eq!(text::file_title("http://a.example/"), "a.example");
/// ```
pub fn file_title(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    let name = path.split('/').rev().find(|part| !part.is_empty());
    let name = percent_encoding::percent_decode_str(name.unwrap_or(url)).decode_utf8_lossy();
    let name = spaced(&name);
    name[..name.floor_char_boundary(LONGEST)].to_owned()
}

fn first_page(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| c.is_whitespace());
    let text = &text[..text.floor_char_boundary(FIRST_PAGE)];
    text.split('\x0C').next().unwrap_or_default()
}

/// The first lines that belong together and read like a title.
fn first_title(page: &str) -> Option<String> {
    let lines: Vec<_> = page.lines().map(spaced).take(MOST_LINES).collect();
    let mut at = 0;
    while at < lines.len() {
        if is_heading_of_body(&lines[at]) {
            return None;
        }
        if lines[at].is_empty() || is_furniture(&lines[at]) {
            at += 1;
            continue;
        }
        let mut title = lines[at].clone();
        let mut behind = at + 1;
        while behind < lines.len()
            && behind < at + MOST_TITLE_LINES
            && goes_on(&title, &lines[behind])
        {
            match title.ends_with('-') {
                true => title.truncate(title.len() - 1),
                false => title.push(' '),
            }
            title.push_str(&lines[behind]);
            behind += 1;
        }
        let title = title
            .trim_end_matches(['*', '†', '∗', '‡', ' ', ',', ';'])
            .to_owned();
        if is_title(&title) && !is_names(&title) {
            return Some(title);
        }
        at += 1;
    }
    None
}

/// Whether a line belongs to the title before it.
fn goes_on(title: &str, line: &str) -> bool {
    let open = title.ends_with(['-', ':', ',', '–', '—']) || ends_with_small_word(title);
    let is_plain = !line.is_empty() && !is_furniture(line) && !is_heading_of_body(line);
    is_plain && (open || !is_names(line)) && title.len() + line.len() < LONGEST
}

fn ends_with_small_word(title: &str) -> bool {
    let last = title.rsplit(' ').next().unwrap_or_default();
    matches!(
        last.to_lowercase().as_str(),
        "a" | "an"
            | "and"
            | "as"
            | "at"
            | "by"
            | "for"
            | "from"
            | "in"
            | "of"
            | "on"
            | "or"
            | "the"
            | "to"
            | "with"
            | "using"
            | "und"
            | "der"
            | "die"
            | "das"
            | "des"
            | "von"
            | "et"
            | "de"
            | "la"
            | "le"
            | "du"
            | "y"
            | "en"
    )
}

/// Whether a text can be a title: a few words, mostly of letters, no name of a file or a program.
fn is_title(text: &str) -> bool {
    let (length, words) = (text.chars().count(), text.split(' ').count());
    if !(SHORTEST..=LONGEST).contains(&length) || words > MOST_WORDS {
        return false;
    }
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    if letters * 10 < length * 6 || text.contains(char::REPLACEMENT_CHARACTER) {
        return false;
    }
    let is_written_apart = text.chars().any(is_ideographic);
    if words < 2 && !is_written_apart {
        return false;
    }
    // Letters that stand alone are spaced out, or were not read.
    let alone = text
        .split(' ')
        .filter(|word| word.chars().count() == 1)
        .count();
    let small = text.to_lowercase();
    alone * 2 <= words && !is_furniture(text) && !NO_TITLES.iter().any(|part| small.contains(part))
}

fn is_ideographic(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Whether most words of a title stand on the first page.
fn is_borne_out(title: &str, page: &str) -> bool {
    let page = page.to_lowercase();
    let title = title.to_lowercase();
    let words: Vec<_> = title
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .collect();
    let there = words.iter().filter(|word| page.contains(**word)).count();
    // A page without text bears nothing out, and denies nothing.
    page.trim().is_empty() || (there > 0 && there * 4 >= words.len() * 3)
}

/// Whether a line is no title, but what stands around it: heads of journals, dates, numbers, addresses.
fn is_furniture(line: &str) -> bool {
    let small = line.to_lowercase();
    let letters = line.chars().filter(|letter| letter.is_alphabetic()).count();
    let digits = line.chars().filter(char::is_ascii_digit).count();
    letters < 4
        || digits * 3 > letters
        || small.contains('@')
        || FURNITURE.iter().any(|part| small.contains(part))
        || FURNITURE_AT_START
            .iter()
            .any(|part| small.starts_with(part))
}

/// Whether a line begins the text itself: no title follows.
fn is_heading_of_body(line: &str) -> bool {
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

/// Whether a line is a list of names: each word with a capital, parted by commas or by `and`.
fn is_names(line: &str) -> bool {
    let words: Vec<_> = line
        .split([' ', ',', ';'])
        .filter(|word| !word.is_empty())
        .collect();
    let is_capital = |word: &&&str| word.chars().next().is_some_and(char::is_uppercase);
    let joined = words
        .iter()
        .filter(|word| matches!(**word, "and" | "und" | "et" | "y" | "&"))
        .count();
    let capitals = words.iter().filter(is_capital).count();
    let initials = words
        .iter()
        .filter(|word| word.ends_with('.') && word.chars().count() == 2)
        .count();
    let commas = line.matches(',').count();
    if capitals + joined < words.len() {
        return false;
    }
    let is_long = words.iter().any(|word| word.chars().count() > 13);
    initials > 0
        || (!is_long
            && (commas >= 2
                || (commas + joined >= 1 && words.len() <= 9 && words.len() >= 4 && commas > 0)))
        || (words.len() == 2 || words.len() == 3)
            && !is_long
            && commas == 0
            && joined == 0
            && is_person(&words)
}

/// Whether two or three words look like the name of one person, not like a title: none is a word of titles.
fn is_person(words: &[&str]) -> bool {
    let is_name = |word: &&str| {
        let mut letters = word
            .trim_end_matches(['*', '†', '∗', '1', '2', '3', '.'])
            .chars();
        let first = letters.next().is_some_and(char::is_uppercase);
        let rest: Vec<_> = letters.collect();
        first
            && rest.len() < 10
            && rest
                .iter()
                .all(|letter| letter.is_lowercase() || matches!(letter, '-' | '’' | '\''))
    };
    let endings = [
        "ing", "ion", "ics", "ogy", "ory", "ism", "ory", "ity", "ies", "ems", "sis", "als", "tes",
        "ods",
    ];
    words.iter().all(is_name)
        && !words
            .iter()
            .any(|word| endings.iter().any(|end| word.ends_with(end)))
}

/// The text with one space between its words.
fn spaced(text: &str) -> String {
    let words: Vec<_> = text
        .split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

const FIRST_PAGE: usize = 6_000;
const MOST_LINES: usize = 40;
const MOST_TITLE_LINES: usize = 4;
const SHORTEST: usize = 6;
const LONGEST: usize = 300;
const MOST_WORDS: usize = 40;

/// Parts of what programs write in place of a title.
const NO_TITLES: [&str; 22] = [
    "untitled",
    "microsoft word",
    "microsoft powerpoint",
    "powerpoint presentation",
    ".dvi",
    ".doc",
    ".tex",
    ".ps",
    ".pdf",
    ".qxd",
    ".indd",
    ".ppt",
    ".xls",
    ".rtf",
    ".html",
    "slide 1",
    "no job name",
    "title of paper",
    "latex",
    "pdfcreator",
    "<!--",
    "file://",
];

const FURNITURE: [&str; 28] = [
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
];

const FURNITURE_AT_START: [&str; 14] = [
    "page ",
    "figure ",
    "table ",
    "draft",
    "article",
    "research article",
    "original article",
    "review article",
    "available online",
    "contents lists",
    "conference on",
    "workshop on",
    "laboratory",
    "e-mail",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_that_read_like_a_title_are_it() {
        for (text, expected) in [
            (
                "arXiv:1101.1234v1 [cs.DL] 3 Jan 2011\n\nWeb Crawler Middleware for Search Engine\nDigital Libraries: A Case Study\nfor CiteSeerX\n\nJian Wu, Pradeep Teregowda\n",
                Some(
                    "Web Crawler Middleware for Search Engine Digital Libraries: A Case Study for CiteSeerX",
                ),
            ),
            ("12\n\nA Note on Sets∗\nJ. Doe\n", Some("A Note on Sets")),
            ("Abstract\nWe prove that", None),
            ("1 2 3\n4 5 6", None),
            ("海岸の形について\n\n山田", Some("海岸の形について")),
            (
                "John Smith\n\nThe Shape of Water\n",
                Some("The Shape of Water"),
            ),
        ] {
            assert_eq!(title(text, None).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_declared_title_counts_if_the_text_bears_it_out() {
        let text = "THE SHAPE OF COASTS\n\nAda Lovelace";
        assert_eq!(
            title(text, Some("The Shape of Coasts")).as_deref(),
            Some("The Shape of Coasts")
        );
        for wrong in [
            "Microsoft Word - final.doc",
            "untitled",
            "An entirely different story",
            "x",
            "\0\0",
            "paper_7.dvi",
        ] {
            assert_eq!(
                title(text, Some(wrong)).as_deref(),
                Some("THE SHAPE OF COASTS"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn hostile_names_of_files_stay_names() {
        assert_eq!(file_title("http://a.example/%00%1b[2J.pdf"), "[2J.pdf");
        assert_eq!(file_title("http://a.example/a/../%2e%2e/"), "..");
        assert_eq!(file_title(""), "");
    }
}
