//! Imports: what pages and API do alike.

use catalog::{ImportCounters, ImportEntry};

use crate::problem::Problem;
use crate::state::ConsoleState;

/// The import with this number.
pub(crate) async fn import(state: &ConsoleState, id: i64) -> Result<ImportEntry, Problem> {
    let found = state.catalog().import(id).await?;
    found.ok_or_else(|| Problem::not_found(format!("there is no import {id}")))
}

/// What was counted, by name; what is not there is left out.
pub(crate) fn counted(counters: &ImportCounters) -> Vec<(String, u64)> {
    let Ok(serde_json::Value::Object(counters)) = serde_json::to_value(counters) else {
        return Vec::new();
    };
    let counts = counters.into_iter();
    let counts = counts.filter_map(|(name, count)| Some((name, count.as_u64()?)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// So many skipped things are shown at once.
pub(crate) const WARNINGS_AT_ONCE: u64 = 1000;

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
