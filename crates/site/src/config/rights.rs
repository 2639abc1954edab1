//! The rights on records, by patterns of URLs.

use serde::Deserialize;

use crate::SitePath;
use crate::ground::rules::wildcard::wildcard;

/// The rights on the records of some files, or of all.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RightsConfig {
    /// The URL of a licence, or the text of a statement.
    pub statement: String,
    /// Wildcard patterns of URL paths, escapes decoded; all without any.
    #[serde(default)]
    pub urls: Vec<String>,
}

impl RightsConfig {
    /// Checks a list of rights.
    pub fn check(all: &[Self]) -> Result<(), String> {
        for own in all {
            if own.statement.trim().is_empty() {
                return Err(
                    "a statement of rights is empty; write a text or the URL of a licence"
                        .to_owned(),
                );
            }
            if let Some(wrong) = own.urls.iter().find(|url| !url.starts_with(['/', '*'])) {
                return Err(format!(
                    "the rights `{}`: the pattern `{wrong}` begins with neither / nor *, so nothing can match it",
                    own.statement
                ));
            }
        }
        Ok(())
    }

    /// The statement on a path: the first that is for it.
    pub(crate) fn of<'c>(all: &'c [Self], path: &SitePath) -> Option<&'c str> {
        if all.is_empty() {
            return None;
        }
        let url = [b"/", path.as_bytes()].concat();
        let is_for = |own: &&Self| {
            let mut urls = own.urls.iter();
            own.urls.is_empty() || urls.any(|pattern| wildcard(pattern.as_bytes(), &url))
        };
        all.iter().find(is_for).map(|own| own.statement.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_statement_for_a_path_counts() {
        let rights = |statement: &str, urls: &[&str]| RightsConfig {
            statement: statement.to_owned(),
            urls: urls.iter().map(|url| (*url).to_owned()).collect(),
        };
        let all = [rights("a", &["/x/*"]), rights("b", &[])];
        let of = |path: &str| RightsConfig::of(&all, &SitePath::new(path).unwrap());

        assert_eq!((of("x/1"), of("y")), (Some("a"), Some("b")));
        assert_eq!(
            RightsConfig::of(&all[..1], &SitePath::new("y").unwrap()),
            None
        );
        assert!(RightsConfig::check(&[rights("a", &["x"])]).is_err());
        assert!(RightsConfig::check(&[rights(" ", &[])]).is_err());
    }
}
