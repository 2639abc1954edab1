//! The repositories, to choose from.

use catalog::Repository;

use crate::parts::table::{chosen, tell_apart};
use crate::problem::Problem;
use crate::state::ConsoleState;

/// All repositories by name, as pairs of number and words, behind an entry that stands for none of them.
pub(crate) async fn repository_choices(
    state: &ConsoleState,
    none: &str,
) -> Result<Vec<(String, String)>, Problem> {
    let repositories = state.catalog().repositories().await?;
    let mut choices: Vec<_> = repositories
        .iter()
        .map(|repository| (repository.id.to_string(), called(repository)))
        .collect();
    choices.sort_by_cached_key(|(_, name)| name.to_lowercase());
    choices.insert(0, (String::new(), none.to_owned()));
    Ok(choices)
}

/// All repositories by name for a field that is typed in, each with words of its own.
pub(crate) async fn repository_suggestions(
    state: &ConsoleState,
) -> Result<Vec<(String, String)>, Problem> {
    let mut choices = repository_choices(state, "").await?;
    choices.remove(0);
    tell_apart(&mut choices);
    Ok(choices)
}

/// The repository that a text means, by its number, its name or a part of it: its number and its words.
pub(crate) fn pick(suggestions: &[(String, String)], text: &str) -> Result<(i64, String), String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("choose a repository".to_owned());
    }
    let found = chosen(suggestions, text);
    let found = found.and_then(|(id, words)| Some((id.parse().ok()?, words.clone())));
    found.ok_or_else(|| format!("no repository matches `{text}`; choose one of the suggestions"))
}

/// The name of a repository for people.
pub(crate) fn called(repository: &Repository) -> String {
    named(repository.identity.name.as_deref(), &repository.base_url)
}

/// The name that a repository has, or else where it answers.
pub(crate) fn named(name: Option<&str>, base_url: &str) -> String {
    let name = name.map(str::trim).filter(|name| !name.is_empty());
    let name = name.unwrap_or(base_url);
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// A repository may call itself anything.
const LONGEST: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_without_a_name_is_called_by_its_address() {
        let url = "http://a.example/oai";
        assert_eq!(named(Some("Maps"), url), "Maps");
        assert_eq!(named(Some("  "), url), url);
        assert_eq!(named(None, url), url);
        assert_eq!(
            named(Some(&"ä".repeat(500)), url).chars().count(),
            LONGEST + 1
        );
    }
}
