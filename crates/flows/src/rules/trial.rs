//! Rules tried out on a record: what would become of it, and why.

use std::fmt;

use anyhow::Context;
use rules::filter::{Explanation, Filters};
use rules::normalise::{Added, Mappings};
use rules::xml::{self, Limits};
use serde::Serialize;

/// The effect of rules on one record. Its `Display` is the text for people, without the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trial {
    /// Whether the record would be kept.
    pub accepted: bool,
    /// Whether it says that it is deleted. Those are not filtered, or deletions would be lost.
    pub deleted: bool,
    /// The findings of the filters, if there are any.
    pub filter: Option<Explanation>,
    /// The result of the mappings, if there are any.
    pub mapping: Option<Mapped>,
}

/// A record as mappings make it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mapped {
    /// The added elements.
    pub added: Vec<Added>,
    /// The record as it would be stored.
    pub record: String,
}

/// Tries rules out. A record that the filters reject is mapped all the same, for it is the rules that are looked at.
pub fn try_rules(
    filters: Option<&Filters>,
    mappings: Option<&Mappings>,
    record: &[u8],
) -> anyhow::Result<Trial> {
    let unusable = "the record cannot be used";
    let filter = filters.map(|filters| filters.explain(record));
    let filter = filter.transpose().context(unusable)?;
    let mapping = mappings.map(|mappings| mappings.apply(record));
    let mapping = mapping.transpose().context(unusable)?;
    let deleted = is_deleted(record);
    Ok(Trial {
        accepted: deleted || filter.as_ref().is_none_or(|filter| filter.accepted),
        deleted,
        filter,
        mapping: mapping.map(|mapped| Mapped {
            added: mapped.added,
            record: String::from_utf8_lossy(&mapped.xml).into_owned(),
        }),
    })
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(explanation) = &self.filter {
            write!(f, "{explanation}")?;
            if self.deleted {
                writeln!(
                    f,
                    "accepted all the same: the record is deleted, and those are not filtered"
                )?;
            }
        }
        match &self.mapping {
            Some(mapped) => write!(f, "{mapped}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for added in &self.added {
            let (name, value) = (in_line(&added.name), in_line(&added.value));
            let cause = in_line(&added.because_of);
            writeln!(f, "added: <{name}> {value}, because of \"{cause}\"")?;
        }
        match self.added.len() {
            0 => writeln!(f, "nothing is added"),
            1 => writeln!(f, "1 element is added"),
            count => writeln!(f, "{count} elements are added"),
        }
    }
}

/// A text that cannot be taken for several lines.
fn in_line(text: &str) -> String {
    let plain = |c: char| match c.is_control() {
        true => char::REPLACEMENT_CHARACTER,
        false => c,
    };
    text.chars().map(plain).collect()
}

/// Whether the header of the record says so.
fn is_deleted(record: &[u8]) -> bool {
    let Ok(document) = xml::parse(record, &Limits::default()) else {
        return false;
    };
    let root = document.root_element();
    let mut children = root.children();
    let header = children.find(|child| child.tag_name().name() == "header");
    header.is_some_and(|header| header.attribute("status") == Some("deleted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILTER: &[u8] = br#"<filters match="any"><filter xpath="//a" regexp="coast"/></filters>"#;
    const MAPPING: &[u8] = br#"<normalize><mapping xpath="//a"><newElement regexp="." name="b">
        <newValue>sea</newValue></newElement></mapping></normalize>"#;

    fn tried(record: &str) -> Trial {
        let filters = Filters::parse(FILTER).unwrap();
        let mappings = Mappings::parse(MAPPING).unwrap();
        try_rules(Some(&filters), Some(&mappings), record.as_bytes()).unwrap()
    }

    #[test]
    fn the_verdict_the_reason_and_the_record_are_told() {
        let trial = tried("<r><a>coast</a></r>");
        assert!(trial.accepted);
        let text = trial.to_string();
        assert!(text.contains("accepted: 1 of 1 filters hold"), "{text}");
        assert!(
            text.ends_with("added: <b> sea, because of \"coast\"\n1 element is added\n"),
            "{text}"
        );
        assert_eq!(
            trial.mapping.unwrap().record,
            "<r><a>coast</a><b>sea</b></r>"
        );
    }

    #[test]
    fn a_rejected_record_is_mapped_all_the_same() {
        let trial = tried("<r><a>hills</a></r>");
        assert!(!trial.accepted);
        assert_eq!(trial.mapping.unwrap().added.len(), 1);
    }

    #[test]
    fn a_deleted_record_is_accepted() {
        let trial = tried("<r><header status='deleted'/></r>");
        assert!(trial.accepted && trial.deleted);
        assert!(trial.to_string().contains("accepted all the same"));
    }

    #[test]
    fn without_rules_everything_is_accepted_and_what_is_no_xml_is_not_looked_at() {
        assert!(try_rules(None, None, b"<r/>").unwrap().accepted);
        let filters = Filters::parse(FILTER).unwrap();
        let error = try_rules(Some(&filters), None, b"<r>").unwrap_err();
        assert!(error.to_string().contains("the record cannot be used"));
    }
}
