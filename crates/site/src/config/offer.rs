//! The offer of a site, as it stands in the configuration.

use std::path::PathBuf;

use serde::Deserialize;

/// The rules of the offer, as they stand in the configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OfferConfig {
    /// Wildcard patterns (`*`, `?`) for names that a directory listing would leave out; they hold for every
    /// component of a path, and what they match is not served either.
    pub skip_names: Vec<String>,
    /// Directories, as URL paths.
    pub skip_directories: Vec<String>,
    /// Wildcard patterns for URL paths, escapes decoded.
    pub skip_urls: Vec<String>,
    /// Regular expressions for URL paths, escapes decoded.
    pub skip_patterns: Vec<String>,
    /// The treatment of symbolic links.
    pub symlinks: Symlinks,
    /// The treatment of files that a server would run.
    pub dynamic: DynamicPolicy,
    /// The users who are given the source of such files, where `dynamic` is `source`.
    pub source: Option<SourceConfig>,
    /// The extensions of such files.
    pub dynamic_extensions: Vec<String>,
    /// URL paths at which the server answers itself, so that files there cannot be reached.
    #[serde(skip)]
    pub covered: Vec<String>,
    /// The URL paths of protected areas: links into them are not offered from elsewhere.
    #[serde(skip)]
    pub areas: Vec<String>,
}

/// Which symbolic links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Symlinks {
    /// None.
    None,
    /// Those that stay below the root.
    Inside,
    /// All, also those that leave the root.
    All,
    /// All, and each file under every name it has: another server decides on links. Not for a configuration file.
    #[serde(skip)]
    Every,
}

/// The named users who are given the source of programs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceConfig {
    /// Their names.
    pub users: Vec<String>,
    /// The file of their passwords.
    pub htpasswd: PathBuf,
    /// The offer of the same files to everybody else.
    #[serde(default = "nothing")]
    pub others: DynamicPolicy,
}

/// The offer of a file that a server would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DynamicPolicy {
    /// Nothing.
    Off,
    /// Its URL, never its source.
    Reference,
    /// The answer of the origin.
    Processed,
    /// Its source, to named users alone.
    Source,
}

impl OfferConfig {
    /// The offer of a program to somebody who is given sources, or is not.
    pub(crate) fn policy(&self, is_source_user: bool) -> DynamicPolicy {
        match (self.dynamic, &self.source) {
            (DynamicPolicy::Source, _) if is_source_user => DynamicPolicy::Source,
            (DynamicPolicy::Source, Some(source)) => source.others,
            (DynamicPolicy::Source, None) => DynamicPolicy::Off,
            (policy, _) => policy,
        }
    }

    /// Whether programs are in the index and yet not for everybody.
    pub(crate) fn hides_programs(&self) -> bool {
        self.dynamic == DynamicPolicy::Source && self.policy(false) == DynamicPolicy::Off
    }

    /// Refuses a source without named users, and users without a source.
    pub(crate) fn check_source(&self) -> Result<(), &'static str> {
        match (self.dynamic, &self.source) {
            (DynamicPolicy::Source, None) => Err(
                "offer.dynamic = \"source\" gives the source of programs to named users only: name them in [offer.source] with `users` and `htpasswd`",
            ),
            (DynamicPolicy::Source, Some(source)) if source.users.is_empty() => Err(
                "offer.source.users is empty: name the users who are given the source of programs",
            ),
            (DynamicPolicy::Source, Some(source)) if source.others == DynamicPolicy::Source => Err(
                "offer.source.others: the source is for named users only; the others can have `off`, `reference` or `processed`",
            ),
            (policy, Some(_)) if policy != DynamicPolicy::Source => {
                Err("[offer.source] has no effect unless offer.dynamic = \"source\"")
            }
            _ => Ok(()),
        }
    }
}

fn nothing() -> DynamicPolicy {
    DynamicPolicy::Off
}

impl Default for OfferConfig {
    fn default() -> Self {
        let own = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect();
        Self {
            skip_names: own(&[".*", "*~", "*#", "RCS", "CVS", "*,v", "*,t"]),
            skip_directories: Vec::new(),
            skip_urls: Vec::new(),
            skip_patterns: Vec::new(),
            symlinks: Symlinks::Inside,
            dynamic: DynamicPolicy::Off,
            source: None,
            dynamic_extensions: own(&[
                "php", "php3", "php4", "php5", "php7", "php8", "phtml", "phps", "cgi", "fcgi",
                "pl", "shtml", "shtm", "stm", "jsp", "jspx", "asp", "aspx", "ashx", "asmx", "cfm",
                "cfml", "wsgi", "rhtml",
            ]),
            covered: Vec::new(),
            areas: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_file_cannot_leave_links_to_another_server() {
        let error = serde_json::from_str::<Symlinks>("\"every\"").unwrap_err();

        assert!(
            (error.to_string()).contains("expected one of `none`, `inside`, `all`"),
            "{error}"
        );
    }
}
