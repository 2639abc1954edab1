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
        if let Some(end) = paragraph(&lines, at) {
            at = end;
            continue;
        }
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
        let is_cut = |line: &String| {
            title.len() > LONGEST_HEADING
                && !line.is_empty()
                && !is_furniture(line)
                && !is_names(line)
        };
        if behind == at + MOST_TITLE_LINES && lines.get(behind).is_some_and(is_cut) {
            // A line that continues like that is text.
            title.clone_from(&lines[at]);
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

/// The end of a paragraph that begins at a line: more full lines than a title has, with sentences in them.
fn paragraph(lines: &[String], at: usize) -> Option<usize> {
    let is_full = |line: &&String| line.chars().count() >= FULL_LINE && !is_furniture(line);
    let full = lines[at..].iter().take_while(is_full).count();
    let text = lines[at..at + full].join(" ");
    let is_paragraph = full > MOST_TITLE_LINES || (full > 1 && has_sentences(&text));
    // Its last line is seldom full.
    is_paragraph.then_some(at + full + 1)
}

/// Whether a text has whole sentences, which no title has: a full stop behind many words.
fn has_sentences(text: &str) -> bool {
    let mut words = 0;
    for word in text.split(' ') {
        words += 1;
        let is_end = word.ends_with('.') && word.chars().filter(|c| c.is_alphabetic()).count() > 3;
        if is_end && words > FEWEST_WORDS_OF_SENTENCE {
            return true;
        }
    }
    false
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
    // A year is part of many titles, and says nothing about what stands around it.
    let others = text.split(' ').filter(|word| !is_year(word));
    let (mut letters, mut solid) = (0, 0);
    for letter in others.flat_map(str::chars) {
        letters += usize::from(letter.is_alphabetic());
        solid += 1;
    }
    if letters * 10 < solid * 7 || text.contains(char::REPLACEMENT_CHARACTER) {
        return false;
    }
    if is_placeholder(text) || has_sentences(text) {
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

/// Whether a text stands for a title that nobody wrote: `XXXX XXX`, or one word over and over.
fn is_placeholder(text: &str) -> bool {
    let small = text.to_lowercase();
    let mut letters: Vec<_> = small
        .chars()
        .filter(|letter| letter.is_alphabetic())
        .collect();
    let is_run = letters
        .windows(4)
        .any(|four| four.iter().all(|letter| *letter == four[0]));
    letters.sort_unstable();
    letters.dedup();
    let words: Vec<_> = small.split(' ').collect();
    let mut distinct = words.clone();
    distinct.sort_unstable();
    distinct.dedup();
    is_run || letters.len() < FEWEST_LETTERS || distinct.len() * 2 < words.len()
}

/// Whether a word is a year.
fn is_year(word: &str) -> bool {
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
/// Bytes behind which a title of several lines that goes on is taken for text.
const LONGEST_HEADING: usize = 160;
const SHORTEST: usize = 6;
const LONGEST: usize = 300;
const MOST_WORDS: usize = 35;
/// Letters that a line of running text has at least.
const FULL_LINE: usize = 50;
const FEWEST_WORDS_OF_SENTENCE: usize = 7;
/// Different letters that a title has at least.
const FEWEST_LETTERS: usize = 3;

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
            ("The lens of 1871\nMaren Holt\n", Some("The lens of 1871")),
            (
                "12 March 2004\n\nTides and Lights\n",
                Some("Tides and Lights"),
            ),
            (
                "XXXXXXXX XXXXXXXXX XXXXXX\n\nTides and Lights\n",
                Some("Tides and Lights"),
            ),
            (
                "The committee met in the hall of the town on Monday evening. It was decided\n\
                 that the lights of the harbour are to be kept burning through the winter,\n\
                 as they were in the years before. The next meeting is in the spring.\n",
                None,
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
            "XXXXXXXX XXXXXXXX",
            "The shape of coasts is what we look at here. Ada Lovelace has written it down.",
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
