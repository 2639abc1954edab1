//! An import as a form has it: texts that people typed, whatever they are, kept until they can be read.

use std::path::{Path, PathBuf};

use jobs::{DigestRule, ImportCrawl, TextOrder};
use serde::Deserialize;

use crate::parts::Errors;

/// The fields of the form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct ImportForm {
    /// A path a line.
    pub(crate) paths: String,
    /// With commas between them.
    pub(crate) types: String,
    pub(crate) open: String,
    /// `replace` or `keep`
    pub(crate) versions: String,
    /// `mark`, `skip` or `ignore`
    pub(crate) digests: String,
    /// `off` or `on`
    pub(crate) content_filter: String,
    pub(crate) log: String,
    pub(crate) log_format: String,
    pub(crate) root: String,
    pub(crate) base_url: String,
    pub(crate) crawler: String,
    pub(crate) blacklist: String,
    pub(crate) max_url_length: String,
}

impl ImportForm {
    /// The form of an import.
    pub(crate) fn of(order: &ImportCrawl) -> Self {
        let path = |path: &Option<PathBuf>| path.as_deref().map(shown).unwrap_or_default();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let paths: Vec<_> = order.paths.iter().map(|path| shown(path)).collect();
        Self {
            paths: paths.join("\n"),
            types: order.types.join(", "),
            open: opened(order).join(", "),
            versions: if order.keep_versions {
                "keep"
            } else {
                "replace"
            }
            .to_owned(),
            digests: order.digests.name().to_owned(),
            content_filter: if order.texts.content_filter {
                "on"
            } else {
                "off"
            }
            .to_owned(),
            log: path(&order.log),
            log_format: text(&order.log_format),
            root: path(&order.root),
            base_url: text(&order.base_url),
            crawler: text(&order.crawler),
            blacklist: path(&order.blacklist),
            max_url_length: order.max_url_length.to_string(),
        }
    }

    /// The import that is meant, as far as it can be read. What the form does not show stays as it was.
    pub(crate) fn order(&self, before: ImportCrawl, errors: &mut Errors) -> ImportCrawl {
        let open = match self.open.trim() {
            "" => vec!["none".to_owned()],
            _ => listed(&self.open),
        };
        let open = jobs::containers(&open).unwrap_or_else(|error| {
            errors.add("open", jobs::message(&error));
            before.open
        });
        let length = self.max_url_length.trim().parse().unwrap_or_else(|_| {
            errors.add("max_url_length", "write a whole number");
            before.max_url_length
        });
        let texts = TextOrder {
            content_filter: self.content_filter == "on",
            ..before.texts.clone()
        };
        let lines = self.paths.lines().map(str::trim);
        ImportCrawl {
            paths: lines
                .filter(|line| !line.is_empty())
                .map(PathBuf::from)
                .collect(),
            types: listed(&self.types.to_ascii_lowercase()),
            open,
            keep_versions: self.versions == "keep",
            digests: DigestRule::of(&self.digests).unwrap_or(before.digests),
            texts,
            log: said(&self.log).map(PathBuf::from),
            log_format: said(&self.log_format),
            root: said(&self.root).map(PathBuf::from),
            base_url: said(&self.base_url),
            crawler: said(&self.crawler),
            blacklist: said(&self.blacklist).map(PathBuf::from),
            max_url_length: length,
            ..before
        }
    }

    /// Field by field, in the order of the form.
    pub(crate) fn fields(&self) -> Vec<(&'static str, String)> {
        let paths: Vec<_> = self.paths.lines().collect();
        [
            ("Paths", &paths.join(" ")),
            ("Media types", &self.types),
            ("Containers", &self.open),
            ("Older contents", &self.versions),
            ("Digest mismatches", &self.digests),
            ("Content filter", &self.content_filter),
            ("Log", &self.log),
            ("Format of the log", &self.log_format),
            ("Files of the log", &self.root),
            ("URLs begin with", &self.base_url),
            ("Crawler", &self.crawler),
            ("Blacklist", &self.blacklist),
            ("Longest URL", &self.max_url_length),
        ]
        .map(|(label, value)| {
            let value = value.trim();
            (label, if value.is_empty() { "–" } else { value }.to_owned())
        })
        .into()
    }

    /// Whether there is something among the rare settings that has to be seen.
    pub(crate) fn has_more(&self, usual: &Self, errors: &Errors) -> bool {
        let rare = |form: &Self| {
            [
                form.log.clone(),
                form.log_format.clone(),
                form.root.clone(),
                form.base_url.clone(),
                form.crawler.clone(),
                form.blacklist.clone(),
                form.max_url_length.clone(),
            ]
        };
        rare(self) != rare(usual) || RARE.iter().any(|field| errors.of(field).is_some())
    }
}

/// The containers that are opened, by name.
pub(crate) fn opened(order: &ImportCrawl) -> Vec<String> {
    let open = &order.open;
    let all = [(open.gzip, "gzip"), (open.tar, "tar"), (open.zip, "zip")];
    let named = all.into_iter().filter(|(is, _)| *is);
    named.map(|(_, name)| name.to_owned()).collect()
}

/// Words with commas between them.
fn listed(words: &str) -> Vec<String> {
    let words = words.split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn said(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub(crate) const VERSIONS: [(&str, &str); 2] = [("replace", "replaced"), ("keep", "kept as well")];

pub(crate) const DIGESTS: [(&str, &str); 3] = [
    ("mark", "imported and marked"),
    ("skip", "skipped"),
    ("ignore", "not looked for"),
];

pub(crate) const CONTENT_FILTER: [(&str, &str); 2] = [("off", "off"), ("on", "on")];

const RARE: [&str; 7] = [
    "log",
    "log_format",
    "root",
    "base_url",
    "crawler",
    "blacklist",
    "max_url_length",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_is_not_touched_changes_nothing() {
        let json = r#"{"paths":["/a b","/c"],"types":["text/html"],"open":[],"keep_versions":true,"digests":"skip","log":"/l",
            "log_format":"list","root":"/r","base_url":"http://a/","crawler":"mine","blacklist":"/x",
            "max_url_length":99,"threads":3,"collection":"/d","within":["/"]}"#;
        for before in [ImportCrawl::parse(json).unwrap(), ImportCrawl::default()] {
            let mut errors = Errors::default();

            let again = ImportForm::of(&before).order(before.clone(), &mut errors);

            assert_eq!(format!("{again:?}"), format!("{before:?}"));
            assert!(errors.is_empty(), "{errors:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_field() {
        let form = ImportForm {
            paths: " /a \r\n\r\n/b".to_owned(),
            types: "Text/HTML,, ".to_owned(),
            open: "rar".to_owned(),
            max_url_length: "long".to_owned(),
            ..ImportForm::default()
        };
        let mut errors = Errors::default();

        let order = form.order(ImportCrawl::default(), &mut errors);

        assert_eq!(order.paths, [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert_eq!(order.types, ["text/html"]);
        assert!(errors.of("open").unwrap().contains("no container"));
        assert!(errors.of("max_url_length").is_some());
    }
}
