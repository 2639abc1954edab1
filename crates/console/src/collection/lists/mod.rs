//! Blacklists and whitelists.

pub(crate) mod api;
pub(crate) mod edit;
pub(crate) mod list;

use catalog::ListKind;
use operations::lists::{self, ListsQuery};

use crate::problem::Problem;
use crate::state::ConsoleState;

/// The blacklists, to choose from.
pub(crate) async fn choices(state: &ConsoleState) -> Result<Vec<(String, String)>, Problem> {
    let query = ListsQuery {
        kind: Some(ListKind::Blacklist),
    };
    let none = (String::new(), "none".to_owned());
    let lists = lists::list(state.context(), query).await?.into_iter();
    let lists = lists.map(|list| {
        let words = format!("{} ({} entries)", list.name, list.entries);
        (list.name, words)
    });
    Ok([none].into_iter().chain(lists).collect())
}
