//! The mapping file: `<normalize>` with `<selectionNamespaces>` and `<mapping>` elements.

use roxmltree::Node;

use super::{Mapping, Mappings, Name, NewElement};
use crate::xml::rule_file::{self, compared};
use crate::xml::{Limits, Malformed, complaint};
use crate::xpath::{Namespaces, is_name_char, is_name_start};

pub(super) fn parse(bytes: &[u8]) -> Result<Mappings, Malformed> {
    let document = rule_file::open(bytes, &["normalize", "normalise", "mappings"])?;
    let root = document.root_element();
    rule_file::only_attributes(root, &[])?;

    let elements = rule_file::elements(root)?;
    let namespaces = rule_file::namespaces(&elements)?;
    let mut mappings = Vec::new();
    for element in elements {
        match element.tag_name().name() {
            rule_file::SELECTION_NAMESPACES => {}
            "mapping" => mappings.push(mapping(element, &namespaces)?),
            other => return Err(complaint(element, format!("<{other}> is not known here"))),
        }
    }
    if mappings.is_empty() {
        return Err(complaint(root, "there is no <mapping> in it"));
    }
    Ok(Mappings {
        mappings,
        limits: Limits::default(),
    })
}

fn mapping(element: Node, namespaces: &Namespaces) -> Result<Mapping, Malformed> {
    rule_file::only_attributes(element, &["xpath"])?;
    let xpath = rule_file::xpath(element, namespaces)?;
    let mut elements = Vec::new();
    for child in rule_file::elements(element)? {
        if child.tag_name().name() != "newElement" {
            return Err(complaint(child, "only <newElement> is known here"));
        }
        elements.push(new_element(child, namespaces)?);
    }
    if elements.is_empty() {
        return Err(complaint(element, "there is no <newElement> in it"));
    }
    Ok(Mapping { xpath, elements })
}

fn new_element(element: Node, namespaces: &Namespaces) -> Result<NewElement, Malformed> {
    rule_file::only_attributes(element, &["regexp", "ignoreCase", "name"])?;
    let mut values = Vec::new();
    for child in rule_file::elements(element)? {
        if child.tag_name().name() != "newValue" {
            return Err(complaint(child, "only <newValue> is known here"));
        }
        rule_file::only_attributes(child, &[])?;
        values.push(new_value(child)?);
    }
    if values.is_empty() {
        return Err(complaint(element, "there is no <newValue> in it"));
    }
    Ok(NewElement {
        regexp: rule_file::regexp(element)?,
        name: name(element, namespaces)?,
        values,
    })
}

fn new_value(element: Node) -> Result<String, Malformed> {
    if let Some(child) = element.children().find(Node::is_element) {
        return Err(complaint(child, "a <newValue> holds text only"));
    }
    let texts = element.children().filter(Node::is_text);
    let text: String = texts.filter_map(|child| child.text()).collect();
    Ok(compared(&text).to_owned())
}

fn name(element: Node, namespaces: &Namespaces) -> Result<Name, Malformed> {
    let attribute = rule_file::required(element, "name", "the name of the new element")?;
    let refuse = |reason: String| {
        let text = element.document().input_text();
        Malformed::at(text, attribute.range_value().start, reason)
    };
    let (prefix, local) = match attribute.value().split_once(':') {
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, attribute.value()),
    };
    if !is_name(local) {
        return Err(refuse(format!("`{}` is not a name", attribute.value())));
    }
    let namespace = match prefix {
        None => None,
        Some(prefix) => match namespaces.get(prefix) {
            Some(uri) => Some(uri.to_owned()),
            None => return Err(refuse(format!("the prefix `{prefix}` is not declared"))),
        },
    };
    Ok(Name {
        prefix: prefix.map(str::to_owned),
        local: local.to_owned(),
        namespace,
    })
}

fn is_name(text: &str) -> bool {
    text.starts_with(is_name_start) && text.chars().all(is_name_char)
}
