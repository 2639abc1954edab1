//! Files of filters and of mappings have this in common: they are read element by element, and whatever they hold
//! that has no meaning is refused, for a rule that is misspelt would otherwise silently do nothing.

use regex::{Regex, RegexBuilder};
use roxmltree::{Attribute, Document, Node};

use super::{Limits, Malformed, complaint, complaint_inside};
use crate::xpath::{Namespaces, XPath};

/// Reads a file of rules whose root element has one of the names.
pub(crate) fn open<'a>(bytes: &'a [u8], names: &[&str]) -> Result<Document<'a>, Malformed> {
    // Windows editors begin files with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let document = super::parse(bytes, &Limits::default())?;
    let root = document.root_element();
    if names.contains(&root.tag_name().name()) {
        return Ok(document);
    }
    let reason = format!("the root element must be <{}>", names[0]);
    Err(complaint(root, reason))
}

/// The elements below a node. Text has no meaning there.
pub(crate) fn elements<'a, 'input>(
    node: Node<'a, 'input>,
) -> Result<Vec<Node<'a, 'input>>, Malformed> {
    let stray = node
        .children()
        .find(|child| child.is_text() && !child.text().unwrap_or_default().trim().is_empty());
    if let Some(text) = stray {
        return Err(complaint(text, "text is not expected here"));
    }
    Ok(node.children().filter(Node::is_element).collect())
}

/// Refuses attributes that have no meaning on the element.
pub(crate) fn only_attributes(node: Node, known: &[&str]) -> Result<(), Malformed> {
    for attribute in node.attributes() {
        if attribute.namespace().is_none() && !known.contains(&attribute.name()) {
            let reason = format!(
                "<{}> has no attribute `{}`; it has {}",
                node.tag_name().name(),
                attribute.name(),
                known.join(", ")
            );
            let text = node.document().input_text();
            return Err(Malformed::at(text, attribute.range().start, reason));
        }
    }
    Ok(())
}

/// The declarations in the one `<selectionNamespaces>` among the elements.
pub(crate) fn namespaces(elements: &[Node]) -> Result<Namespaces, Malformed> {
    let mut found = elements
        .iter()
        .filter(|element| element.tag_name().name() == SELECTION_NAMESPACES);
    let Some(element) = found.next() else {
        return Ok(Namespaces::default());
    };
    if let Some(second) = found.next() {
        return Err(complaint(*second, "<selectionNamespaces> is there twice"));
    }
    let text = element.text().unwrap_or_default();
    Namespaces::parse(text).map_err(|error| complaint(*element, error.reason))
}

/// The attribute `xpath`, compiled.
pub(crate) fn xpath(node: Node, namespaces: &Namespaces) -> Result<XPath, Malformed> {
    let attribute = required(node, "xpath", "which nodes are meant")?;
    XPath::compile_selection(attribute.value(), namespaces)
        .map_err(|error| complaint_inside(node.document(), &attribute, &error))
}

/// The attributes `regexp` and `ignoreCase`, compiled.
pub(crate) fn regexp(node: Node) -> Result<Regex, Malformed> {
    let attribute = required(node, "regexp", "regexp=\"\" matches every node")?;
    RegexBuilder::new(attribute.value())
        .case_insensitive(flag(node, "ignoreCase")?)
        .build()
        .map_err(|error| {
            let text = node.document().input_text();
            Malformed::at(text, attribute.range_value().start, short(&error))
        })
}

/// An attribute that is `true` or `false`; `false` if it is absent.
pub(crate) fn flag(node: Node, name: &str) -> Result<bool, Malformed> {
    let Some(attribute) = node.attribute_node(name) else {
        return Ok(false);
    };
    match attribute.value().trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => {
            let text = node.document().input_text();
            let reason = format!("`{name}` must be true or false, not `{other}`");
            Err(Malformed::at(text, attribute.range_value().start, reason))
        }
    }
}

/// An attribute that must be there.
pub(crate) fn required<'a, 'input>(
    node: Node<'a, 'input>,
    name: &str,
    hint: &str,
) -> Result<Attribute<'a, 'input>, Malformed> {
    node.attribute_node(name).ok_or_else(|| {
        let element = node.tag_name().name();
        complaint(
            node,
            format!("<{element}> needs the attribute `{name}`: {hint}"),
        )
    })
}

/// The text that a regular expression is compared with: without the white space around it, as MSXML gave it.
pub(crate) fn compared(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

/// The last line of the compiler's message; the others draw an arrow below the expression.
fn short(error: &regex::Error) -> String {
    let message = error.to_string();
    let last = message.lines().last().unwrap_or_default().trim();
    let reason = last.strip_prefix("error: ").unwrap_or(last);
    format!("the regular expression is not valid: {reason}")
}

pub(crate) const SELECTION_NAMESPACES: &str = "selectionNamespaces";
