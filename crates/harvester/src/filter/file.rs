//! The filter file: `<filters match="any|all">` with `<selectionNamespaces>` and `<filter>` elements.

use roxmltree::Node;

use super::{Filter, Filters, Match};
use crate::xml::xpath::Namespaces;
use crate::xml::{Limits, Malformed, complaint, rules};

pub(super) fn parse(bytes: &[u8]) -> Result<Filters, Malformed> {
    let document = rules::open(bytes, &["filters"])?;
    let root = document.root_element();
    rules::only_attributes(root, &["match"])?;
    let matching = matching(root)?;

    let elements = rules::elements(root)?;
    let namespaces = rules::namespaces(&elements)?;
    let mut filters = Vec::new();
    for element in elements {
        match element.tag_name().name() {
            rules::SELECTION_NAMESPACES => {}
            "filter" => filters.push(filter(element, &namespaces)?),
            other => return Err(complaint(element, format!("<{other}> is not known here"))),
        }
    }
    if filters.is_empty() {
        return Err(complaint(root, "there is no <filter> in it"));
    }
    Ok(Filters {
        matching,
        filters,
        limits: Limits::default(),
    })
}

fn matching(root: Node) -> Result<Match, Malformed> {
    let attribute = rules::required(root, "match", "any or all")?;
    match attribute.value() {
        "any" => Ok(Match::Any),
        "all" => Ok(Match::All),
        other => {
            let reason = format!("`match` must be any or all, not `{other}`");
            let text = root.document().input_text();
            Err(Malformed::at(text, attribute.range_value().start, reason))
        }
    }
}

fn filter(element: Node, namespaces: &Namespaces) -> Result<Filter, Malformed> {
    rules::only_attributes(element, &["xpath", "regexp", "ignoreCase", "invert"])?;
    if let Some(child) = rules::elements(element)?.first() {
        return Err(complaint(*child, "a <filter> is empty"));
    }
    Ok(Filter {
        xpath: rules::xpath(element, namespaces)?,
        regexp: rules::regexp(element)?,
        ignore_case: rules::flag(element, "ignoreCase")?,
        invert: rules::flag(element, "invert")?,
    })
}
