//! HTML and XML: the text between the tags. Each byte is looked at a fixed number of times, whatever the page does.

mod tag;
mod writer;

use encoding_rs::Encoding;

use super::work::{Input, Work};
use super::{Extracted, charset, clean, dispatch, plain};
pub(super) use tag::Dialect;
use tag::{Kind, Tag};
use writer::Writer;

/// Takes the text out of a page.
pub(super) fn extract(work: &Work<'_>, input: &Input) -> Extracted {
    let bytes = match plain::read(work, input) {
        Ok(bytes) => bytes,
        Err(error) => return dispatch::unreadable(&error),
    };
    let page = charset::decode(&bytes, declared(&bytes));
    let text = clean::text(&text_of(&page, Dialect::Html));
    plain::finish(
        work,
        text,
        "garner-html",
        (bytes.len() as u64) < input.length,
    )
}

/// The text of a page, or of a part of an Office document.
pub(super) fn text_of(page: &str, dialect: Dialect) -> String {
    let mut writer = Writer::default();
    let mut scanner = tag::Scanner::new(dialect);
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        writer.text(&rest[..at]);
        let Some(tag) = scanner.tag(&rest[at..]) else {
            writer.text("<");
            rest = &rest[at + 1..];
            continue;
        };
        rest = &rest[at + tag.length..];
        apply(&tag, &mut writer);
        if let Kind::Hidden = tag.kind
            && !tag.is_end
        {
            rest = behind_hidden(rest, tag.name);
        }
    }
    writer.text(rest);
    writer.finish()
}

fn apply(tag: &Tag<'_>, writer: &mut Writer) {
    match tag.kind {
        Kind::Block => writer.line(),
        Kind::Paragraph => writer.paragraph(),
        Kind::Cell => writer.space(),
        Kind::Preformatted => {
            writer.line();
            writer.preformatted(!tag.is_end);
        }
        Kind::Hidden | Kind::Inline => {}
    }
}

/// The rest after the end of an element that nobody sees; nothing if it does not end.
fn behind_hidden<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut from = 0;
    while let Some(at) = rest[from..].find("</") {
        let start = from + at + 2;
        let named = rest.as_bytes().get(start..start + name.len());
        if named.is_some_and(|named| named.eq_ignore_ascii_case(name.as_bytes())) {
            return &rest[from + at..];
        }
        from = start;
    }
    ""
}

/// The encoding that a page declares in its first bytes.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(DECLARED_WITHIN)].to_ascii_lowercase();
    let find = |needle: &[u8]| {
        let at = head
            .windows(needle.len())
            .position(|window| window == needle);
        at.map(|at| &head[at + needle.len()..])
    };
    let value = find(b"charset=").or_else(|| find(b"encoding="))?;
    let value = value
        .strip_prefix(b"\"")
        .or_else(|| value.strip_prefix(b"'"))
        .unwrap_or(value);
    let end = value
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || b"-_.:".contains(byte)));
    Encoding::for_label(&value[..end.unwrap_or(value.len())])
}

const DECLARED_WITHIN: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(page: &str) -> String {
        super::text_of(page, Dialect::Html)
    }

    #[test]
    fn text_is_what_a_reader_sees() {
        let page = "<!DOCTYPE html><html><head><title>On  Trees</title><style>p { color: red }</style>\
                    <script>if (a < b) document.write('<p>no</p>');</SCRIPT ></head>\
                    <body><!-- not > this --><h1>On\nTrees</h1><p>We show that 1 &lt; 2 &amp;&nbsp;more&hellip; &#8212; \
                    caf&eacute;&#x21;<br>x<sub>1</sub><table><tr><td>a</td><td title='a > b'>b</td></tr></table>\
                    <pre>kept\n  as it is</pre>end";
        assert_eq!(
            text_of(page),
            "On Trees\n\nOn Trees\n\nWe show that 1 < 2 &\u{A0}more… — café!\nx1\na b\nkept\n  as it is\nend"
        );
    }

    #[test]
    fn broken_pages_give_what_they_have() {
        assert_eq!(text_of("a < b and c > d"), "a < b and c > d");
        assert_eq!(text_of("x<p"), "x");
        assert_eq!(text_of("x<script>y"), "x");
        assert_eq!(text_of("x<!-- y"), "x");
        assert_eq!(text_of("<a href=\"x>y</a> z \u{e9}"), "y z é");
        assert_eq!(
            text_of("&#xD800;&#1114112;&nosuch;&;&#;&"),
            "\u{FFFD}\u{FFFD}&nosuch;&;&#;&"
        );
        assert_eq!(text_of("caf&eacute, &Scaron;&fjlig;"), "café, Šfj");
        assert_eq!(text_of("<![CDATA[a < b]]>c"), "a < bc");
    }

    #[test]
    fn hostile_pages_take_no_longer_than_others() {
        let begun = std::time::Instant::now();
        for piece in [
            "<a \"",
            "<!--",
            "</",
            "<script>",
            "&#",
            "<p ",
            "<",
            "&amp",
            "\n",
            "<![CDATA[",
        ] {
            let _ = text_of(&piece.repeat(1024 * 1024 / piece.len()));
        }
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }

    #[test]
    fn the_declared_encoding_is_found() {
        assert_eq!(
            declared(b"<meta charset=\"KOI8-R\">").unwrap().name(),
            "KOI8-R"
        );
        let content = b"<META http-equiv=Content-Type content='text/html; charset=iso-8859-2'>";
        assert_eq!(declared(content).unwrap().name(), "ISO-8859-2");
        assert_eq!(
            declared(b"<?xml version='1.0' encoding='utf-8'?>")
                .unwrap()
                .name(),
            "UTF-8"
        );
        assert!(declared(b"<p>charset=").is_none());
    }
}
