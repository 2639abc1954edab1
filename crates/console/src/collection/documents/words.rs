//! Words for people in place of those of programs: facets of documents and their values.

use super::list::STATES;

/// The heading of a facet.
pub(crate) fn facet(name: &str) -> &str {
    match name {
        "host" => "Host",
        "type" => "Media type",
        "kind" => "Kind",
        "year" => "Year of the last crawl",
        "decision" => "Decision",
        "state" => "Search index",
        "language" => "Language",
        other => other,
    }
}

/// A value of a facet.
pub(crate) fn value(facet: &str, value: &str) -> String {
    match (facet, value) {
        ("decision", "accept") => "accepted".to_owned(),
        ("decision", "reject") => "rejected".to_owned(),
        ("state", value) => {
            let known = STATES.iter().find(|(name, _)| *name == value);
            known.map_or(value, |(_, words)| words).to_owned()
        }
        ("kind", value) => value.replace('_', " "),
        (_, value) => value.to_owned(),
    }
}
