//! The title of a text: the one that the document gives itself, if the text bears it out, or else the first lines of the
//! first page that read like one.

mod furniture;
mod names;
mod plausible;

use self::furniture::{is_furniture, is_heading_of_body};
use self::names::is_names;
use self::plausible::{has_sentences, is_title};

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
