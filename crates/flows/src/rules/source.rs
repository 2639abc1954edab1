//! Where the rules of a harvest come from.

use std::borrow::Cow;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use rules::filter::Filters;
use rules::normalise::Mappings;

use crate::harvest::digest;

/// A file of rules, or rules that are kept elsewhere under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleSource {
    /// A file on this machine.
    File(PathBuf),
    /// A text, such as the catalog keeps it.
    Text {
        /// The name.
        name: String,
        /// The text.
        content: String,
    },
}

impl RuleSource {
    pub(crate) fn filters(&self) -> anyhow::Result<Filters> {
        match self {
            Self::File(path) => Ok(Filters::load(path)?),
            Self::Text { name, content } => Filters::parse(content.as_bytes())
                .map_err(|error| anyhow!("the filter `{name}`: {error}")),
        }
    }

    pub(crate) fn mappings(&self) -> anyhow::Result<Mappings> {
        match self {
            Self::File(path) => Ok(Mappings::load(path)?),
            Self::Text { name, content } => Mappings::parse(content.as_bytes())
                .map_err(|error| anyhow!("the mapping `{name}`: {error}")),
        }
    }

    /// The note that the history keeps: the name, and the digest of the text of the rules.
    pub(crate) fn noted(&self) -> anyhow::Result<(String, String)> {
        let name = match self {
            Self::File(path) => {
                let path = std::path::absolute(path)?;
                path.to_string_lossy().into_owned()
            }
            Self::Text { name, .. } => name.clone(),
        };
        Ok((name, digest::of_bytes(&self.content()?)))
    }

    fn content(&self) -> anyhow::Result<Cow<'_, [u8]>> {
        match self {
            Self::File(path) => {
                let bytes = std::fs::read(path);
                let bytes =
                    bytes.with_context(|| format!("`{}` cannot be read", path.display()))?;
                Ok(Cow::Owned(bytes))
            }
            Self::Text { content, .. } => Ok(Cow::Borrowed(content.as_bytes())),
        }
    }
}

impl From<PathBuf> for RuleSource {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILTER: &str = r#"<filters match="any"><filter xpath="//a" regexp="b"/></filters>"#;

    #[test]
    fn the_same_rules_are_the_same_wherever_they_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("filter.xml");
        std::fs::write(&path, FILTER).unwrap();
        let file = RuleSource::from(path.clone());
        let text = RuleSource::Text {
            name: "coasts".to_owned(),
            content: FILTER.to_owned(),
        };

        let (in_file, as_text) = (file.noted().unwrap(), text.noted().unwrap());

        assert_eq!(in_file.0, path.to_str().unwrap());
        assert_eq!(as_text.0, "coasts");
        assert_eq!(in_file.1, as_text.1);
    }

    #[test]
    fn rules_that_cannot_be_used_are_named() {
        let text = RuleSource::Text {
            name: "coasts".to_owned(),
            content: "<filters/>".to_owned(),
        };
        let error = text.filters().unwrap_err().to_string();
        assert!(error.starts_with("the filter `coasts`: line 1"), "{error}");
        let error = text.mappings().unwrap_err().to_string();
        assert!(error.starts_with("the mapping `coasts`: line 1"), "{error}");
    }
}
