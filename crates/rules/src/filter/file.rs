//! The filter file: `<filters match="any|all">` with `<selectionNamespaces>` and `<filter>` elements.

use roxmltree::Node;

use super::{Filter, Filters, Match};
use crate::xml::{Limits, Malformed, complaint, rule_file};
use crate::xpath::Namespaces;

pub(super) fn parse(bytes: &[u8]) -> Result<Filters, Malformed> {
    let document = rule_file::open(bytes, &["filters"])?;
    let root = document.root_element();
    rule_file::only_attributes(root, &["match"])?;
    let matching = matching(root)?;

    let elements = rule_file::elements(root)?;
    let namespaces = rule_file::namespaces(&elements)?;
    let mut filters = Vec::new();
    for element in elements {
        match element.tag_name().name() {
            rule_file::SELECTION_NAMESPACES => {}
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
    let attribute = rule_file::required(root, "match", "any or all")?;
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
    rule_file::only_attributes(element, &["xpath", "regexp", "ignoreCase", "invert"])?;
    if let Some(child) = rule_file::elements(element)?.first() {
        return Err(complaint(*child, "a <filter> is empty"));
    }
    Ok(Filter {
        xpath: rule_file::xpath(element, namespaces)?,
        regexp: rule_file::regexp(element)?,
        ignore_case: rule_file::flag(element, "ignoreCase")?,
        invert: rule_file::flag(element, "invert")?,
    })
}
