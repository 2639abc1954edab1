//! The filters of a list: fields of a form that is sent by GET, so that they stay in the address.

use operations::Time;

use crate::parts::filter::{given, since, until};
use crate::parts::{Errors, Link, Typed};

/// A filter of a list.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub(crate) key: &'static str,
    pub(crate) label: &'static str,
    pub(crate) placeholder: &'static str,
    pub(crate) kind: FilterKind,
    /// The value that was asked for, as operations take it.
    pub(crate) value: String,
    /// The same as the form shows it.
    pub(crate) shown: String,
}

/// How a filter is filled in. Options and suggestions are pairs of a value and its words.
#[derive(Debug, Clone)]
pub(crate) enum FilterKind {
    /// Words; the first field of the form, and never folded away.
    Search,
    /// A text, with suggestions.
    Text(Vec<(String, String)>),
    /// One of a few values; the first is empty.
    Choice(Vec<(String, String)>),
    /// One of many values, which is found by typing its words.
    Combo(Vec<(String, String)>),
    /// A day.
    Date,
    /// Not in the form, but kept: the note says what the list is about.
    Kept(String),
}

/// The filters of a list, with what was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Filters {
    pub(super) asked: Typed,
    pub(crate) all: Vec<Filter>,
    pub(super) errors: Errors,
}

impl Filter {
    pub(crate) fn search(label: &'static str, placeholder: &'static str) -> Self {
        Self::new("text", label, FilterKind::Search).placeholder(placeholder)
    }

    /// A search by something else than words.
    pub(crate) fn named_search(
        key: &'static str,
        label: &'static str,
        placeholder: &'static str,
    ) -> Self {
        Self::new(key, label, FilterKind::Search).placeholder(placeholder)
    }

    pub(crate) fn text(key: &'static str, label: &'static str, placeholder: &'static str) -> Self {
        Self::new(key, label, FilterKind::Text(Vec::new())).placeholder(placeholder)
    }

    /// A text with suggestions.
    pub(crate) fn suggested(
        key: &'static str,
        label: &'static str,
        suggestions: Vec<(String, String)>,
    ) -> Self {
        Self::new(key, label, FilterKind::Text(suggestions))
    }

    /// A choice; the first value is empty and stands for all. Many values become a field that is typed in.
    pub(crate) fn choice<V: Into<String>, W: Into<String>>(
        key: &'static str,
        label: &'static str,
        options: impl IntoIterator<Item = (V, W)>,
    ) -> Self {
        let options = options.into_iter();
        let mut options: Vec<(String, String)> = options
            .map(|(value, words)| (value.into(), words.into()))
            .collect();
        if options.len() <= MOST_OPTIONS {
            return Self::new(key, label, FilterKind::Choice(options));
        }
        options.retain(|(value, _)| !value.is_empty());
        tell_apart(&mut options);
        Self::new(key, label, FilterKind::Combo(options)).placeholder("all; type to search")
    }

    pub(crate) fn date(key: &'static str, label: &'static str) -> Self {
        Self::new(key, label, FilterKind::Date)
    }

    /// A filter that links set, such as the import whose documents are listed; `note` says what is shown.
    pub(crate) fn kept(key: &'static str, note: impl Into<String>) -> Self {
        Self::new(key, "", FilterKind::Kept(note.into()))
    }

    fn new(key: &'static str, label: &'static str, kind: FilterKind) -> Self {
        Self {
            key,
            label,
            placeholder: "",
            kind,
            value: String::new(),
            shown: String::new(),
        }
    }

    pub(crate) fn placeholder(mut self, placeholder: &'static str) -> Self {
        self.placeholder = placeholder;
        self
    }

    /// Takes what was typed over, or tells why it cannot.
    fn take(&mut self, typed: &str) -> Result<(), String> {
        typed.trim().clone_into(&mut self.shown);
        self.value.clone_from(&self.shown);
        let FilterKind::Combo(options) = &self.kind else {
            return Ok(());
        };
        if self.shown.is_empty() {
            return Ok(());
        }
        let Some((value, words)) = chosen(options, &self.shown) else {
            self.value.clear();
            let label = self.label.to_lowercase();
            return Err(format!(
                "No {label} matches `{}`. Choose one of the suggestions.",
                self.shown
            ));
        };
        (self.value, self.shown) = (value.clone(), words.clone());
        Ok(())
    }

    /// Whether the form shows it among those that are folded away.
    pub(super) fn is_folded(&self) -> bool {
        !matches!(self.kind, FilterKind::Search | FilterKind::Kept(_))
    }
}

/// The option that a text means: by its value, its words, or as the only one with these words in its own.
pub(crate) fn chosen<'a>(
    options: &'a [(String, String)],
    text: &str,
) -> Option<&'a (String, String)> {
    let by_value = options.iter().find(|(value, _)| value == text);
    let exact = by_value.or_else(|| options.iter().find(|(_, words)| words == text));
    exact.or_else(|| {
        let text = text.to_lowercase();
        let mut like = options
            .iter()
            .filter(|(_, words)| words.to_lowercase().contains(&text));
        let first = like.next();
        first.filter(|_| like.next().is_none())
    })
}

/// Adds its value to the words of every option that shares them with another.
pub(crate) fn tell_apart(options: &mut [(String, String)]) {
    let mut words: Vec<_> = options.iter().map(|(_, words)| words.clone()).collect();
    words.sort_unstable();
    let twice: Vec<_> = words.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    for (value, words) in options {
        if twice.iter().any(|pair| pair[0] == *words) {
            *words = format!("{words} ({value})");
        }
    }
}

impl Filters {
    pub(crate) fn new(asked: Typed) -> Self {
        Self {
            asked,
            all: Vec::new(),
            errors: Errors::default(),
        }
    }

    /// With a filter, whose value is taken from what was asked for.
    pub(crate) fn with(mut self, mut filter: Filter) -> Self {
        if let Err(error) = filter.take(self.asked.get(filter.key)) {
            self.errors.add(filter.key, error);
        }
        self.all.push(filter);
        self
    }

    /// With a filter for the address alone if it was asked for; `note` makes the words for its value.
    pub(crate) fn with_kept(self, key: &'static str, note: impl FnOnce(&str) -> String) -> Self {
        match given(self.asked.get(key)) {
            Some(value) => self.with(Filter::kept(key, note(&value))),
            None => self,
        }
    }

    /// The value of a filter; empty if nothing was asked for.
    pub(crate) fn get(&self, key: &str) -> &str {
        let filter = self.all.iter().find(|filter| filter.key == key);
        filter.map_or("", |filter| &filter.value)
    }

    /// The value of a filter, if it was asked for.
    pub(crate) fn given(&self, key: &str) -> Option<String> {
        given(self.get(key))
    }

    /// The value of a filter as a number; nothing if it is none.
    pub(crate) fn number(&self, key: &str) -> Option<i64> {
        self.get(key).parse().ok()
    }

    /// The first second of a day.
    pub(crate) fn since(&mut self, key: &'static str) -> Option<Time> {
        let text = self.get(key).to_owned();
        since(key, &text, &mut self.errors)
    }

    /// The last second of a day.
    pub(crate) fn until(&mut self, key: &'static str) -> Option<Time> {
        let text = self.get(key).to_owned();
        until(key, &text, &mut self.errors)
    }

    /// The list at `path` with these filters.
    pub(super) fn link(&self, path: &str) -> Link {
        let filters = self.all.iter();
        filters.fold(Link::to(path), |link, filter| {
            link.with(filter.key, &filter.value)
        })
    }

    /// How many are set of those that are folded away.
    pub(crate) fn folded(&self) -> usize {
        let set = self.all.iter().filter(|filter| filter.is_folded());
        set.filter(|filter| !filter.shown.is_empty()).count()
    }
}

/// A choice has at most so many options; more are found by typing.
const MOST_OPTIONS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn repositories() -> Filter {
        let name = |id: usize| match id {
            1 | 2 => "Library".to_owned(),
            id => format!("Faculty {id}"),
        };
        let all = (String::new(), "all".to_owned());
        let some = (1..30).map(|id| (id.to_string(), name(id)));
        Filter::choice("repository", "Repository", std::iter::once(all).chain(some))
    }

    #[test]
    fn one_of_many_is_found_by_its_number_its_words_or_a_part_of_them() {
        for (typed, value, shown) in [
            ("12", "12", "Faculty 12"),
            ("Faculty 3", "3", "Faculty 3"),
            ("faculty 29", "29", "Faculty 29"),
            ("Library (2)", "2", "Library (2)"),
        ] {
            let mut filter = repositories();
            filter.take(typed).unwrap();
            assert_eq!(
                (filter.value.as_str(), filter.shown.as_str()),
                (value, shown)
            );
        }
        for unclear in ["Faculty", "Library", "elsewhere"] {
            assert!(repositories().take(unclear).is_err(), "{unclear}");
        }
    }

    #[test]
    fn filters_stay_in_the_address_and_empty_ones_do_not() {
        let mut asked = Typed::default();
        asked.set("text", " sea ");
        asked.set("repository", "Faculty 5");
        asked.set("unknown", "x");

        let filters = Filters::new(asked)
            .with(Filter::search("Search", ""))
            .with(Filter::date("since", "Since"))
            .with(repositories());

        let link = filters.link("/records").to_string();
        assert_eq!(link, "/records?text=sea&repository=5");
        assert_eq!(filters.folded(), 1);
    }
}
