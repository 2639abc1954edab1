//! Formats read without other programs: HTML, plain text, Office.

use text::{Extractor, Outcome};

use super::{extract, extract_with, made, options};

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const SLIDES: &str = "application/vnd.openxmlformats-officedocument.presentationml.presentation";

#[test]
fn pages_in_html_are_read_in_their_encoding() {
    let page = b"<html><head><meta charset=iso-8859-2><title>Erd\xF5s</title></head><body><p>Graphs<p>and numbers";
    let extracted = extract(page, "text/html");
    assert_eq!(extracted.outcome, Outcome::Text);
    assert_eq!(extracted.text, "Erdős\n\nGraphs\n\nand numbers");
    assert!(extracted.engine.unwrap().starts_with("garner-html "));
}

#[test]
fn plain_text_keeps_its_pages() {
    let extracted = extract(b"one\r\ntwo\x0Cthree\0 \xE9t\xE9", "text/plain");
    assert_eq!(extracted.text, "one\ntwo\x0Cthree été");
    assert_eq!(extracted.pages, Some(2));
}

#[test]
fn one_line_of_fifty_megabytes_is_cut_off() {
    let extracted = extract(&vec![b'x'; 50 * 1024 * 1024], "text/plain");
    assert_eq!(extracted.outcome, Outcome::Text);
    assert_eq!(extracted.text.len(), options().text_bytes);
    assert!(extracted.truncated);
}

#[test]
fn right_to_left_text_and_mixed_encodings_are_read() {
    let text = "مقدمة في نظرية الأعداد\nמבוא לתורת המספרים\n";
    assert_eq!(extract(text.as_bytes(), "text/plain").text, text);
    let mixed = [text.as_bytes(), b" caf\xE9 ", text.as_bytes()].concat();
    let extracted = extract(&mixed, "text/plain");
    assert!(extracted.text.starts_with(text) && extracted.text.ends_with(text));
}

#[test]
fn what_is_no_text_is_not_taken_for_it() {
    assert_eq!(extract(b"", "text/plain").outcome, Outcome::Empty);
    assert_eq!(extract(b" \n\t \x0C", "text/plain").outcome, Outcome::Empty);
    assert_eq!(extract(&[0; 100_000], "text/plain").outcome, Outcome::Empty);
    assert_eq!(
        extract(b"\x89PNG", "image/png").outcome,
        Outcome::Unsupported
    );
}

#[test]
fn office_documents_are_read_when_asked_for() {
    let document = made::zip(&[
        ("[Content_Types].xml", "<Types/>"),
        (
            "word/document.xml",
            "<w:document><w:body><w:p><w:r><w:t>On Trees</w:t></w:r></w:p></w:body></w:document>",
        ),
    ]);
    assert_eq!(extract(&document, WORD).outcome, Outcome::Unsupported);

    let mut options = options();
    options.office = true;
    let extractor = Extractor::new(options);
    let extracted = extract_with(&extractor, &document, WORD);
    assert_eq!(
        (extracted.outcome, extracted.text.as_str()),
        (Outcome::Text, "On Trees")
    );

    let slides = made::zip(&[
        (
            "ppt/slides/slide10.xml",
            "<p:sld><a:p><a:t>last</a:t></a:p></p:sld>",
        ),
        (
            "ppt/slides/slide2.xml",
            "<p:sld><a:p><a:t>first</a:t></a:p></p:sld>",
        ),
    ]);
    let extracted = extract_with(&extractor, &slides, SLIDES);
    assert_eq!(
        (extracted.text.as_str(), extracted.pages),
        ("first\x0Clast", Some(2))
    );
    assert_eq!(
        extract_with(&extractor, b"PK\x03\x04", WORD).outcome,
        Outcome::Damaged
    );
}

#[test]
fn random_bytes_are_no_reason_to_panic() {
    let mut options = options();
    options.office = true;
    let extractor = Extractor::new(options);
    let document = made::zip(&[("word/document.xml", "<w:p><w:t>On &amp; Trees</w:t></w:p>")]);
    let page =
        b"<p title='x'>a &eacute; &#xe9; <!-- b --> <script>c</script> <![CDATA[d]]> \xC3\xA9"
            .to_vec();
    let mut random = Random(7);
    for (bytes, media_type) in [
        (&document, WORD),
        (&page, "text/html"),
        (&page, "text/plain"),
    ] {
        for _ in 0..300 {
            let damaged = random.damaged(bytes);
            let extracted = extract_with(&extractor, &damaged, media_type);
            assert!(!extracted.text.contains('\0'));
        }
    }
}

/// A generator that gives the same numbers each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn damaged(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        for _ in 0..=self.below(6) {
            let at = self.below(damaged.len());
            damaged[at] = self.below(256) as u8;
        }
        let length = 1 + self.below(damaged.len());
        if self.below(3) == 0 {
            damaged.truncate(length);
        }
        damaged
    }
}
