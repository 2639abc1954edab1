//! XML as indented lines whose parts are marked by what they are: no script is needed to read it, and none in it runs.

use operations::records::web_address;
use roxmltree::Node;
use rules::xml::{self, Limits};

/// A line of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Spaces in front.
    pub(crate) indent: String,
    pub(crate) parts: Vec<Part>,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The class: `mark`, `name`, `attribute`, `value`, `text` or `note`.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// Where it leads if it is an address.
    pub(crate) address: Option<String>,
}

/// The lines of a document, or why it cannot be read.
pub(crate) fn tree(document: &[u8]) -> Result<Vec<Line>, String> {
    let document = xml::parse(document, &Limits::default()).map_err(|error| error.to_string())?;
    let mut writer = Writer::default();
    writer.element(document.root_element(), 0);
    if writer.lines.len() >= MOST_LINES {
        let note = format!("… only the first {MOST_LINES} lines are shown");
        writer.lines.push(Line {
            indent: String::new(),
            parts: vec![Part::new("note", note)],
        });
    }
    Ok(writer.lines)
}

#[derive(Default)]
struct Writer {
    lines: Vec<Line>,
}

impl Writer {
    fn element(&mut self, node: Node, depth: usize) {
        if self.lines.len() >= MOST_LINES {
            return;
        }
        let name = qualified(node);
        let mut parts = opening(node, &name);
        let children: Vec<_> = node.children().filter(|child| is_shown(*child)).collect();
        match children.as_slice() {
            [] => {
                parts.push(Part::new("mark", "/>"));
                self.line(depth, parts);
            }
            [only] if only.is_text() => {
                parts.push(Part::new("mark", ">"));
                parts.push(Part::value("text", only.text().unwrap_or_default().trim()));
                parts.extend(closing(&name));
                self.line(depth, parts);
            }
            children => {
                parts.push(Part::new("mark", ">"));
                self.line(depth, parts);
                for child in children {
                    self.child(*child, depth + 1);
                }
                self.line(depth, closing(&name));
            }
        }
    }

    fn child(&mut self, node: Node, depth: usize) {
        let text = node.text().unwrap_or_default().trim();
        if node.is_element() {
            self.element(node, depth);
        } else if node.is_comment() {
            self.line(
                depth,
                vec![Part::value("note", &format!("<!-- {text} -->"))],
            );
        } else {
            self.line(depth, vec![Part::value("text", text)]);
        }
    }

    fn line(&mut self, depth: usize, parts: Vec<Part>) {
        if self.lines.len() < MOST_LINES {
            let indent = "  ".repeat(depth.min(DEEPEST));
            self.lines.push(Line { indent, parts });
        }
    }
}

impl Part {
    fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            address: None,
        }
    }

    fn value(kind: &'static str, text: &str) -> Self {
        Self {
            kind,
            text: shortened(text),
            address: web_address(text).map(str::to_owned),
        }
    }
}

fn opening(node: Node, name: &str) -> Vec<Part> {
    let mut parts = vec![Part::new("mark", "<"), Part::new("name", name)];
    let mut attribute = |name: String, value: &str| {
        parts.push(Part::new("attribute", format!(" {name}")));
        parts.push(Part::new("mark", "=\""));
        parts.push(Part::value("value", value));
        parts.push(Part::new("mark", "\""));
    };
    let above = node.parent_element();
    for namespace in node.namespaces() {
        let inherited = above.is_some_and(|above| {
            above.lookup_namespace_uri(namespace.name()) == Some(namespace.uri())
        });
        if !inherited && namespace.name() != Some("xml") {
            let name = namespace
                .name()
                .map_or("xmlns".to_owned(), |name| format!("xmlns:{name}"));
            attribute(name, namespace.uri());
        }
    }
    for one in node.attributes() {
        let prefix = one.namespace().and_then(|uri| node.lookup_prefix(uri));
        attribute(joined(prefix, one.name()), one.value());
    }
    parts
}

fn closing(name: &str) -> Vec<Part> {
    vec![
        Part::new("mark", "</"),
        Part::new("name", name),
        Part::new("mark", ">"),
    ]
}

fn qualified(node: Node) -> String {
    let name = node.tag_name();
    let prefix = name
        .namespace()
        .and_then(|uri| match node.default_namespace() {
            Some(default) if default == uri => None,
            _ => node.lookup_prefix(uri),
        });
    joined(prefix, name.name())
}

fn joined(prefix: Option<&str>, name: &str) -> String {
    match prefix.filter(|prefix| !prefix.is_empty()) {
        Some(prefix) => format!("{prefix}:{name}"),
        None => name.to_owned(),
    }
}

fn is_shown(node: Node) -> bool {
    let is_blank = node.text().unwrap_or_default().trim().is_empty();
    node.is_element() || ((node.is_text() || node.is_comment()) && !is_blank)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        None => text.to_owned(),
        Some((end, _)) => {
            let rest = text[end..].chars().count();
            format!("{}… ({rest} more characters)", &text[..end])
        }
    }
}

const MOST_LINES: usize = 3000;
const LONGEST_TEXT: usize = 2000;
/// Deeper ones stand below each other.
const DEEPEST: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &str) -> String {
        let lines = tree(document.as_bytes()).unwrap();
        let line = |line: &Line| {
            let parts: String = line.parts.iter().map(|part| part.text.as_str()).collect();
            format!("{}{parts}\n", line.indent)
        };
        lines.iter().map(line).collect()
    }

    #[test]
    fn documents_are_indented_by_their_structure() {
        let shown = text(
            r#"<r xmlns="u:r" xmlns:a="u:a"><a:b c="1" a:d="2">t &lt;i&gt;</a:b><e/>x<!-- n --><f><g>1</g></f></r>"#,
        );
        let expected = "<r xmlns=\"u:r\" xmlns:a=\"u:a\">\n  <a:b c=\"1\" a:d=\"2\">t <i></a:b>\n  <e/>\n  x\n  <!-- n -->\n  <f>\n    <g>1</g>\n  </f>\n</r>\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn addresses_lead_somewhere_and_scripts_do_not() {
        let lines = tree(b"<r><a>https://a.example/</a><b>javascript:alert(1)</b></r>").unwrap();
        let addresses: Vec<_> = lines
            .iter()
            .flat_map(|line| &line.parts)
            .filter_map(|part| part.address.as_deref())
            .collect();
        assert_eq!(addresses, ["https://a.example/"]);
    }

    #[test]
    fn there_is_an_end_to_long_documents() {
        let many = format!("<r>{}</r>", "<a/>".repeat(MOST_LINES * 2));
        assert_eq!(tree(many.as_bytes()).unwrap().len(), MOST_LINES + 1);
        let long = text(&format!("<r>{}</r>", "x".repeat(LONGEST_TEXT + 7)));
        assert!(long.contains("(7 more characters)"));
        assert!(tree(b"<r>").is_err());
    }
}
