//! Imports: API, and the form of a new one. The list and the page of an import are those of runs.

pub(crate) mod add;
pub(crate) mod api;
pub(crate) mod browse;

use catalog::{ImportCounters, ListKind};
use flows::ImportOrder;
use operations::lists::{self, ListsQuery};
use operations::schedules::import_settings;
use serde_json::{Map, Value};

use crate::parts::{Errors, Typed};
use crate::problem::Problem;
use crate::state::ConsoleState;

/// The settings of an import as the configuration has them, without its paths.
pub(crate) fn default_order(state: &ConsoleState) -> Map<String, Value> {
    let mut order = import_settings(&state.context().settings().imports.default);
    order.remove("paths");
    order
}

/// The blacklists that the catalog keeps, to choose from; `chosen` stays a choice whatever it is.
pub(crate) async fn blacklists(
    state: &ConsoleState,
    chosen: &str,
) -> Result<Vec<(String, String)>, Problem> {
    let query = ListsQuery {
        kind: Some(ListKind::Blacklist),
    };
    let kept = lists::list(state.context(), query).await?;
    let mut names: Vec<_> = kept.into_iter().map(|list| list.name).collect();
    if !chosen.is_empty() && !names.iter().any(|name| name == chosen) {
        names.push(chosen.to_owned());
    }
    let none = (String::new(), "none".to_owned());
    let names = names.into_iter().map(|name| (name.clone(), name));
    Ok([none].into_iter().chain(names).collect())
}

/// Whether one of the rare settings of an import has a value or an error.
pub(crate) fn has_more(form: &Typed, usual: &Typed, errors: &Errors) -> bool {
    RARE.iter().any(|field| errors.of(field).is_some()) || form.differs(usual, &RARE)
}

/// Describes the sources of an import in a few words.
pub(crate) fn described(order: &ImportOrder) -> String {
    let mut named = order.paths.iter().chain(&order.log);
    let Some(first) = named.next() else {
        return "nothing".to_owned();
    };
    match named.count() {
        0 => first.display().to_string(),
        more => format!("{} and {more} more", first.display()),
    }
}

/// The counters by name, without those that are zero.
pub(crate) fn counted(counters: &ImportCounters) -> Vec<(String, u64)> {
    let Ok(serde_json::Value::Object(counters)) = serde_json::to_value(counters) else {
        return Vec::new();
    };
    let counts = counters.into_iter();
    let counts = counts.filter_map(|(name, count)| Some((name, count.as_u64()?)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Settings that are folded away.
const RARE: [&str; 21] = [
    "log",
    "log_format",
    "root",
    "base_url",
    "crawler",
    "blacklist",
    "lists",
    "no_database",
    "kinds",
    "accept",
    "reject",
    "base_rate",
    "unsure",
    "model",
    "ocr",
    "languages",
    "text",
    "threads",
    "needs",
    "collection",
    "no_sync",
];

pub(crate) const VERSIONS: [(&str, &str); 2] = [("false", "replaced"), ("true", "kept as well")];

pub(crate) const DIGESTS: [(&str, &str); 3] = [
    ("mark", "imported and marked"),
    ("skip", "skipped"),
    ("ignore", "not looked for"),
];

pub(crate) const SWITCH: [(&str, &str); 2] = [("false", "off"), ("true", "on")];

pub(crate) const UNSURE: [(&str, &str); 2] = [
    ("import", "imported like others"),
    ("set-aside", "set aside for a librarian"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_has_the_names_of_the_original() {
        let counters = ImportCounters {
            all: 3,
            saved_new: 2,
            ..ImportCounters::default()
        };

        let counted = counted(&counters);

        assert_eq!(
            counted,
            [("all".to_owned(), 3), ("saved_New".to_owned(), 2)]
        );
    }
}
