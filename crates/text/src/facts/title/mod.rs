//! The title of a text: the one that the document gives itself, if the text bears it out, or else the first lines of the
//! first page that read like one.

mod furniture;
mod names;
mod plausible;

use self::furniture::{is_cover, is_furniture, is_heading_of_body, is_label, is_volume};
use self::names::{is_authors, is_many_names, is_names};
use self::plausible::{has_sentences, is_title};

/// The title of a text; `None` if none is plausible. `declared` is the one in the metadata of the document.
///
/// ```
/// let text = "Journal of Tides, Vol. 3\n\nOn the Shape of Coasts\n\nAda Lovelace\nUniversity of Ely\n\nAbstract\nWe";
/// assert_eq!(text::title(text, Some("paper.dvi")).as_deref(), Some("On the Shape of Coasts"));
/// assert_eq!(text::title(text, Some("On the shape of coasts")).as_deref(), Some("On the shape of coasts"));
/// ```
pub fn title(text: &str, declared: Option<&str>) -> Option<String> {
    let mut pages = pages(text);
    let page = pages.next().unwrap_or_default();
    let declared = declared.map(spaced).filter(|title| is_title(title));
    if let Some(declared) = declared.filter(|title| is_borne_out(title, page)) {
        return Some(declared);
    }
    let article = match is_cover(page) {
        true => pages.next().unwrap_or_default(),
        false => page,
    };
    title_of(article)
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

/// The pages that have text, as far as one looks at them.
fn pages(text: &str) -> impl Iterator<Item = &str> {
    let pages = text.split('\x0C').map(str::trim_start);
    let pages = pages.filter(|page| !page.is_empty());
    pages.map(|page| &page[..page.floor_char_boundary(FIRST_PAGE)])
}

/// The title of an article that begins on a page: behind the line that says what kind of article it is, if there is one.
fn title_of(page: &str) -> Option<String> {
    let lines: Vec<_> = page.lines().map(spaced).take(MOST_LINES).collect();
    let body = lines.iter().position(|line| is_heading_of_body(line));
    let head = &lines[..body.unwrap_or(lines.len()).min(LAST_LABEL)];
    let is_list = |at: usize| head.get(at + 1).is_some_and(|line| line.starts_with('•'));
    let label = (0..head.len()).find(|at| is_label(&head[*at]) && !is_list(*at));
    let labelled = label.and_then(|at| first_title(&lines[at + 1..], page));
    labelled.or_else(|| first_title(&lines, page))
}

/// The first lines that belong together and read like a title.
fn first_title(lines: &[String], page: &str) -> Option<String> {
    let mut at = 0;
    while at < lines.len() {
        if is_heading_of_body(&lines[at]) {
            return None;
        }
        if lines[at].is_empty() || is_furniture(&lines[at]) || stands_before_title(lines, at) {
            at += 1;
            continue;
        }
        let mut title = lines[at].clone();
        let mut behind = at + 1;
        if let Some(end) = paragraph(lines, at) {
            at = end;
            continue;
        }
        while behind < lines.len()
            && behind < at + MOST_TITLE_LINES
            && goes_on(&title, lines, at, behind)
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
        let title = without_mark(&title, page).to_owned();
        if is_title(&title) && !is_names(&title) {
            return Some(title);
        }
        at += 1;
    }
    None
}

/// Whether a line is the journal's name, an author above the title, or running text that goes on from a page before.
fn stands_before_title(lines: &[String], at: usize) -> bool {
    let next = lines.get(at + 1).map_or("", String::as_str);
    let first = lines[at].split(' ').next().unwrap_or_default();
    let is_small = first.len() > 1 && first.chars().all(char::is_lowercase);
    let goes_on = at > 0 && !lines[at - 1].is_empty() || !lines[at].contains(char::is_uppercase);
    let is_broken = is_open(&lines[at]) || next.chars().next().is_some_and(char::is_lowercase);
    let mut below = lines[at + 1..].iter().filter(|line| !line.is_empty());
    below.next().is_some_and(|line| is_volume(line))
        || is_small && goes_on
        || is_names(&lines[at]) && !is_broken
}

/// A title without the mark of a footnote at its end.
fn without_mark<'a>(title: &'a str, page: &str) -> &'a str {
    let title = title.trim_end_matches(['*', '†', '∗', '‡', ' ', ',', ';']);
    match marked_word(title) {
        // `Python3` is a word, and `problems1` is none if there are problems.
        Some(word) if has_word(page, word) => &title[..title.len() - 1],
        _ => title,
    }
}

/// The last word, without the digit that a footnote may have put behind it.
fn marked_word(title: &str) -> Option<&str> {
    let last = title.rsplit(' ').next()?;
    let word = last.strip_suffix(|digit: char| matches!(digit, '1'..='3'))?;
    (word.len() > 3 && word.chars().skip(1).all(char::is_lowercase)).then_some(word)
}

fn has_word(page: &str, word: &str) -> bool {
    let mut words = page.split(|letter: char| !letter.is_alphanumeric());
    words.any(|other| other.to_lowercase() == word.to_lowercase())
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

/// Whether a line belongs to the title before it, which begins at a line.
fn goes_on(title: &str, lines: &[String], at: usize, behind: usize) -> bool {
    let line = &lines[behind];
    let open = is_open(title);
    // The second part of a title may be mostly numbers.
    let is_part = title.ends_with(':') && line.chars().filter(|it| it.is_alphabetic()).count() > 9;
    let is_plain =
        !line.is_empty() && (is_part || !is_furniture(line)) && !is_heading_of_body(line);
    let is_text = !open && (marked_word(title).is_some() || is_wider(lines, at, behind));
    // Two words above the authors are the end of a title.
    let is_end = |next: &String| !is_many_names(line) && is_many_names(next);
    let are_authors = is_authors(line) && !lines.get(behind + 1).is_some_and(is_end);
    is_plain && (open || !are_authors) && !is_text && title.len() + line.len() < LONGEST
}

/// Whether a line of a title asks for another.
fn is_open(title: &str) -> bool {
    title.ends_with(['-', ':', ',', '–', '—']) || ends_with_small_word(title)
}

/// Whether a line is so much wider than all lines before it that it is text below a title.
fn is_wider(lines: &[String], at: usize, behind: usize) -> bool {
    let width = |line: &String| line.chars().count();
    let widest = lines[at..behind]
        .iter()
        .map(width)
        .max()
        .unwrap_or_default();
    let line = width(&lines[behind]);
    line >= WIDE_LINE && line * 2 > widest * 3
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
const LONGEST: usize = 300;
/// Lines of a page among which the kind of an article stands.
const LAST_LABEL: usize = 20;
/// Letters of a line that may be text below a title.
const WIDE_LINE: usize = 70;
/// Letters that a line of running text has at least.
const FULL_LINE: usize = 50;

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
                "Noname manuscript No.\n(will be inserted by the editor)\n\nTides and Lights\nAda Lovelace1 · Maren Holt1\n",
                Some("Tides and Lights"),
            ),
            (
                "Hindawi Publishing Corporation\nCoast Research\nVolume 2016, Article ID 72\n\nClinical Study\n\
                 The Shape of Coasts in Winter\nAda Lovelace,1 Maren Holt,2 and Jo Ely1\n",
                Some("The Shape of Coasts in Winter"),
            ),
            (
                "marine drugs\n\nArticle\n\nThe Effect of Tides on\nCoast Lights\nAda Lovelace 1 and Maren Holt 2\n",
                Some("The Effect of Tides on Coast Lights"),
            ),
            (
                "European Quarterly of Coasts EQC\nVolume 3, No.3, October 2014\n\nThe Shape of Coasts\n",
                Some("The Shape of Coasts"),
            ),
            (
                "A. B. HOLT\nResearch Institute for Advanced Study,2\nBaltimore, Md.\n\nA New Shape of Coasts\n\
                 and Tidal Problems1\nThe classical problem of coasts is looked at anew by the representation of all tides\n",
                Some("A New Shape of Coasts and Tidal Problems1"),
            ),
            (
                "This article can be cited before page numbers have been issued, to do this please use: A. Holt,\n\
                 J. Ely, Tides, 2013\n\nREVIEW\nSomething else altogether\n\x0cTides\n\nThe Shape of Coasts\nAda Lovelace*\n",
                Some("The Shape of Coasts"),
            ),
            (
                "Related content\n\nPAPER • OPEN ACCESS\n\nThe Shape of Coasts\n\n- Another paper on tides\n",
                Some("The Shape of Coasts"),
            ),
            (
                "MEMORANDUM\nTO:\n\nFROM:\nDATE:\n\nAda Lovelace, MD\nFinal Report on Coasts\n",
                Some("Final Report on Coasts"),
            ),
            (
                "The Shape of Coasts: A Web Application\nMark A Fisher1, 2\n1 Ely College\nSoftware\n• Review\n• Archive\n",
                Some("The Shape of Coasts: A Web Application"),
            ),
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
