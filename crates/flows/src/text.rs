//! The words of a record for people: its title, and its words for the search.

use roxmltree::Node;
use rules::xml::{self, Limits};

/// The title of a record, if it has one, and the texts of its metadata, whatever the format is. What is not XML says
/// nothing.
///
/// ```
/// let record = br#"<record><header><identifier>oai:a:1</identifier></header><metadata>
///     <dc><title>On  Coasts</title><subject>sea &amp; shore</subject></dc></metadata></record>"#;
/// let (title, words) = flows::text::of_record(record);
/// assert_eq!(title.as_deref(), Some("On Coasts"));
/// assert_eq!(words, "On Coasts sea & shore");
/// ```
pub fn of_record(record: &[u8]) -> (Option<String>, String) {
    let limits = Limits {
        bytes: LONGEST_RECORD,
        ..Limits::default()
    };
    let Ok(document) = xml::parse(record, &limits) else {
        return (None, String::new());
    };
    let root = document.root_element();
    let mut parts = root.children();
    // Without the header: identifiers and sets are searched for in other ways.
    let metadata = parts.find(|part| part.has_tag_name((OAI, "metadata")) || is(part, "metadata"));
    let metadata = metadata.unwrap_or(root);
    (title(metadata), words(metadata))
}

/// The first element that is called so, or the title of MARC.
fn title(metadata: Node) -> Option<String> {
    let named = metadata.descendants().filter(|node| is(node, "title"));
    let marc = metadata.descendants().filter(|node| {
        let field = node.parent_element().filter(|field| is(field, "datafield"));
        let is_title = field.is_some_and(|field| field.attribute("tag") == Some("245"));
        is_title && is(node, "subfield") && node.attribute("code") == Some("a")
    });
    let mut titles = named.chain(marc).map(|node| {
        let mut text = Gathered::new(LONGEST_TITLE);
        text.add_all(node);
        text.words
    });
    titles.find(|title| !title.is_empty())
}

fn words(metadata: Node) -> String {
    let mut text = Gathered::new(MOST_WORDS);
    text.add_all(metadata);
    text.words
}

fn is(node: &Node, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

/// Words with one space between them, up to some length.
struct Gathered {
    words: String,
    most: usize,
}

impl Gathered {
    fn new(most: usize) -> Self {
        Self {
            words: String::new(),
            most,
        }
    }

    fn add_all(&mut self, node: Node) {
        for text in node.descendants().filter(Node::is_text) {
            let is_file = text.ancestors().take(2).any(is_encoded);
            if is_file {
                continue;
            }
            for word in text.text().unwrap_or_default().split_whitespace() {
                if !self.add(word) {
                    return;
                }
            }
        }
    }

    /// Adds a word. Whether there is room for more.
    fn add(&mut self, word: &str) -> bool {
        // Data, and not a language: those that do without spaces have letters of their own.
        if word.is_ascii() && word.len() > LONGEST_WORD {
            return true;
        }
        let space = usize::from(!self.words.is_empty());
        let room = self.most.saturating_sub(self.words.len() + space);
        if room == 0 {
            return false;
        }
        self.words.extend((space > 0).then_some(' '));
        self.words.push_str(&word[..word.floor_char_boundary(room)]);
        word.len() <= room
    }
}

/// Whether an element holds the bytes of a file, as in MPEG-21 DIDL.
fn is_encoded(node: Node) -> bool {
    let coding = node.attribute("encoding");
    coding.is_some_and(|coding| coding.eq_ignore_ascii_case("base64"))
}

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";
/// The length above which a record holds files, not words.
const LONGEST_RECORD: usize = 16 << 20;
const MOST_WORDS: usize = 64 * 1024;
const LONGEST_TITLE: usize = 2000;
const LONGEST_WORD: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn record(metadata: &str) -> String {
        format!(
            "<record xmlns='{OAI}'><header><identifier>oai:a:1</identifier><setSpec>hidden</setSpec></header>\
             <metadata>{metadata}</metadata><about>rights</about></record>"
        )
    }

    fn of(metadata: &str) -> (Option<String>, String) {
        of_record(record(metadata).as_bytes())
    }

    #[test]
    fn titles_are_found_in_all_formats() {
        for (metadata, expected) in [
            (
                "<dc:dc xmlns:dc='d'><dc:title> </dc:title><dc:title>A\n B</dc:title></dc:dc>",
                Some("A B"),
            ),
            (
                "<mods xmlns='m'><titleInfo><nonSort>The</nonSort><title>Coast <i>of</i> X</title></titleInfo></mods>",
                Some("Coast of X"),
            ),
            (
                "<r xmlns='m'><datafield tag='100'><subfield code='a'>Me</subfield></datafield>\
              <datafield tag='245'><subfield code='a'>Waves /</subfield><subfield code='c'>by me</subfield></datafield></r>",
                Some("Waves /"),
            ),
            ("<x>no name</x>", None),
        ] {
            assert_eq!(of(metadata).0.as_deref(), expected, "{metadata}");
        }
    }

    #[test]
    fn words_are_those_of_the_metadata_alone() {
        let (_, words) = of("<a b='attribute'>one<c>two</c><!-- three -->&#228;</a>");
        assert_eq!(words, "one two ä");
    }

    #[test]
    fn bytes_of_files_are_no_words() {
        let file = "QUJD ".repeat(50);
        let data = "x".repeat(LONGEST_WORD + 1);
        let chinese = "海".repeat(LONGEST_WORD);
        let (_, words) = of(&format!(
            "<d><resource encoding='base64'>{file}</resource><t>{data} end {chinese}</t></d>"
        ));
        assert_eq!(words, format!("end {chinese}"));
    }

    #[test]
    fn there_is_an_end_to_words() {
        let (title, words) = of(&format!("<title>{}</title>", "äb ".repeat(MOST_WORDS)));
        assert!(
            (MOST_WORDS - 4..=MOST_WORDS).contains(&words.len()),
            "{}",
            words.len()
        );
        assert!(title.unwrap().len() <= LONGEST_TITLE);
    }

    #[test]
    fn what_is_not_xml_says_nothing() {
        let nothing = (None, String::new());
        for text in [
            "",
            "plain",
            "<r>",
            "<!DOCTYPE r [<!ENTITY e 'x'>]><r>&e;</r>",
        ] {
            assert_eq!(of_record(text.as_bytes()), nothing, "{text}");
        }
        assert_eq!(of_record(&[0xff, 0xfe]), nothing);
    }
}
