//! What of a site is offered: rules on names, directories, URLs and programs. Each decision names its rule.

use std::fmt;

use regex::Regex;
use serde::Deserialize;

use crate::SitePath;

/// What is left out, as it stands in the configuration.
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
    /// What becomes of symbolic links.
    pub symlinks: Symlinks,
    /// What becomes of files that a server would run.
    pub dynamic: DynamicPolicy,
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
}

/// What is offered of a file that a server would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DynamicPolicy {
    /// Nothing.
    Off,
    /// Its URL, never its source.
    Reference,
    /// What the origin makes of it.
    Processed,
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

/// What the rules say of a path, whatever is or is not there on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Offered as the file it is.
    Offered,
    /// Offered as what a server makes of it.
    Dynamic(DynamicPolicy),
    /// Not offered, and why.
    LeftOut(Reason),
}

/// Why something is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is explained by what it prints")]
pub enum Reason {
    Name { component: String, pattern: String },
    Directory { directory: String },
    Url { pattern: String },
    Pattern { pattern: String },
    Program { extension: String },
    Covered { path: String },
    Unreadable { path: String },
    SymlinkOutside { target: String },
    SymlinkNotFollowed { target: String },
    SymlinkToOffered { target: String },
    SymlinkToDirectory { target: String },
    SymlinkIntoArea { target: String },
    NotAFile,
    IsDirectory,
    Missing,
}

/// The rules, ready to decide.
#[derive(Debug)]
pub struct Rules {
    config: OfferConfig,
    directories: Vec<SitePath>,
    covered: Vec<SitePath>,
    areas: Vec<SitePath>,
    patterns: Vec<Regex>,
}

impl Rules {
    /// Compiles the configuration; an error names the entry and the reason.
    pub fn compile(config: OfferConfig) -> Result<Self, String> {
        let mut directories = Vec::new();
        for directory in &config.skip_directories {
            let path = SitePath::from_url_path(directory).ok_or_else(|| {
                format!("offer.skip_directories: `{directory}` is not a path below the site's root")
            })?;
            directories.push(path);
        }
        let mut patterns = Vec::new();
        for pattern in &config.skip_patterns {
            let regex = Regex::new(pattern).map_err(|error| {
                let complaint = regex_complaint(&error);
                format!("offer.skip_patterns: `{pattern}` is not a regular expression: {complaint}")
            })?;
            patterns.push(regex);
        }
        let paths = |urls: &[String]| -> Vec<_> {
            let paths = urls.iter().map(|url| SitePath::from_url_path(url));
            paths.flatten().collect()
        };
        Ok(Self {
            covered: paths(&config.covered),
            areas: paths(&config.areas),
            config,
            directories,
            patterns,
        })
    }

    /// What becomes of symbolic links.
    pub fn symlinks(&self) -> Symlinks {
        self.config.symlinks
    }

    /// Decides on a path by all rules.
    pub fn decide(&self, path: &SitePath) -> Decision {
        self.hidden(path)
            .or_else(|| self.skipped(path))
            .map_or_else(|| self.decide_program(path), Decision::LeftOut)
    }

    /// Decides on a file in a directory that was not pruned: the directory's own names need no second look.
    pub(crate) fn decide_in_open_directory(&self, path: &SitePath) -> Decision {
        self.hidden_name(path.name())
            .or_else(|| self.skipped(path))
            .map_or_else(|| self.decide_program(path), Decision::LeftOut)
    }

    /// Why a directory's contents are neither offered nor looked at.
    pub fn prune(&self, directory: &SitePath) -> Option<Reason> {
        self.hidden_name(directory.name())
            .or_else(|| self.in_skipped_directory(directory))
    }

    /// Why a path is not served either: a name in it is one that a directory listing would leave out.
    pub fn hidden(&self, path: &SitePath) -> Option<Reason> {
        path.components()
            .find_map(|component| self.hidden_name(component))
    }

    /// The extension of a name that makes a server run the file instead of sending it.
    pub fn program_extension(&self, name: &[u8]) -> Option<&str> {
        // Apache runs `page.php.en` as well, so every extension counts.
        let mut extensions = name.split(|byte| *byte == b'.').skip(1);
        extensions.find_map(|extension| {
            self.config
                .dynamic_extensions
                .iter()
                .map(String::as_str)
                .find(|dynamic| dynamic.as_bytes().eq_ignore_ascii_case(extension))
        })
    }

    /// Whether a link leads into a protected area that it does not lie in itself.
    pub(crate) fn leads_into_area(&self, link: &SitePath, target: &SitePath) -> bool {
        let area_of = |path: &SitePath| {
            let holding = self.areas.iter().filter(|area| path.is_within(area));
            holding.max_by_key(|area| area.as_bytes().len())
        };
        let area = area_of(target);
        area.is_some() && area != area_of(link)
    }

    fn decide_program(&self, path: &SitePath) -> Decision {
        match (self.program_extension(path.name()), self.config.dynamic) {
            (None, _) => Decision::Offered,
            (Some(extension), DynamicPolicy::Off) => Decision::LeftOut(Reason::Program {
                extension: extension.to_owned(),
            }),
            (Some(_), policy) => Decision::Dynamic(policy),
        }
    }

    fn hidden_name(&self, component: &[u8]) -> Option<Reason> {
        // RFC 8615: what stands below is there to be found.
        if component == b".well-known" {
            return None;
        }
        let mut patterns = self.config.skip_names.iter();
        let pattern = patterns.find(|pattern| wildcard(pattern.as_bytes(), component))?;
        Some(Reason::Name {
            component: String::from_utf8_lossy(component).into_owned(),
            pattern: pattern.clone(),
        })
    }

    fn in_skipped_directory(&self, path: &SitePath) -> Option<Reason> {
        if let Some(covered) = self.covered.iter().find(|covered| path.is_within(covered)) {
            return Some(Reason::Covered {
                path: format!("/{}", covered.to_url_path()),
            });
        }
        let mut directories = self.directories.iter();
        let directory = directories.find(|directory| path.is_within(directory))?;
        Some(Reason::Directory {
            directory: format!("/{}/", directory.display()),
        })
    }

    fn skipped(&self, path: &SitePath) -> Option<Reason> {
        if let Some(reason) = self.in_skipped_directory(path) {
            return Some(reason);
        }
        if self.config.skip_urls.is_empty() && self.patterns.is_empty() {
            return None;
        }
        let mut url = Vec::from(b"/");
        url.extend_from_slice(path.as_bytes());
        let mut wildcards = self.config.skip_urls.iter();
        if let Some(pattern) = wildcards.find(|pattern| wildcard(pattern.as_bytes(), &url)) {
            return Some(Reason::Url {
                pattern: pattern.clone(),
            });
        }
        let text = String::from_utf8_lossy(&url);
        let pattern = self
            .patterns
            .iter()
            .find(|pattern| pattern.is_match(&text))?;
        Some(Reason::Pattern {
            pattern: pattern.to_string(),
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { component, pattern } => {
                write!(
                    f,
                    "the name `{component}` matches `{pattern}` (offer.skip_names)"
                )
            }
            Self::Directory { directory } => {
                write!(f, "it lies in `{directory}` (offer.skip_directories)")
            }
            Self::Url { pattern } => write!(f, "its URL matches `{pattern}` (offer.skip_urls)"),
            Self::Pattern { pattern } => {
                write!(f, "its URL matches `{pattern}` (offer.skip_patterns)")
            }
            Self::Program { extension } => write!(
                f,
                "a server would run `.{extension}` files instead of sending them (offer.dynamic = \"off\")"
            ),
            Self::Covered { path } => write!(f, "the server itself answers at `{path}`"),
            Self::Unreadable { path } => {
                write!(f, "`{path}` cannot be read: its permissions forbid it")
            }
            Self::SymlinkOutside { target } => write!(
                f,
                "it is a symbolic link that leaves the site, to `{target}` (offer.symlinks = \"inside\")"
            ),
            Self::SymlinkNotFollowed { target } => {
                write!(
                    f,
                    "it is a symbolic link to `{target}` (offer.symlinks = \"none\")"
                )
            }
            Self::SymlinkToOffered { target } => {
                write!(
                    f,
                    "it is a symbolic link to `{target}`, which is offered under its own URL"
                )
            }
            Self::SymlinkToDirectory { target } => write!(
                f,
                "it is a symbolic link to the directory `{target}`; what lies there is not offered through it"
            ),
            Self::SymlinkIntoArea { target } => write!(
                f,
                "it is a symbolic link to `{target}`, which lies in a protected area of its own"
            ),
            Self::NotAFile => f.write_str("it is neither a file nor a directory"),
            Self::IsDirectory => f.write_str("it is a directory; only the files in it are offered"),
            Self::Missing => f.write_str("there is no such file"),
        }
    }
}

/// What is wrong with a regular expression, in one line: the parser draws a picture before it comes to the point.
pub(crate) fn regex_complaint(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

/// Matches `*` (any run) and `?` (any byte), as directory listings do.
fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            retry = Some((p + 1, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == b'?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((after_star, from)) = retry {
            retry = Some((after_star, from + 1));
            p = after_star;
            t = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(change: impl FnOnce(&mut OfferConfig)) -> Rules {
        let mut config = OfferConfig::default();
        change(&mut config);
        Rules::compile(config).unwrap()
    }

    fn decide(rules: &Rules, path: &str) -> Decision {
        rules.decide(&SitePath::new(path).unwrap())
    }

    #[test]
    fn names_of_listings_are_left_out_on_every_component() {
        let rules = rules(|_| {});
        for path in [
            "index.html~",
            "a#",
            ".git/config",
            "a/.htaccess",
            "x/CVS/Root",
            "RCS",
            "y,v",
            ".x",
        ] {
            assert!(
                matches!(decide(&rules, path), Decision::LeftOut(Reason::Name { .. })),
                "{path}"
            );
        }
        for path in [
            "index.html",
            "a/b.c",
            "README",
            ".well-known/security.txt",
            "a~b",
            "#a",
        ] {
            assert_eq!(decide(&rules, path), Decision::Offered, "{path}");
        }
    }

    #[test]
    fn directories_urls_and_patterns_are_left_out() {
        let rules = rules(|config| {
            config.skip_directories = vec!["/tmp/".to_owned()];
            config.skip_urls = vec!["/drafts/*.pdf".to_owned()];
            config.skip_patterns = vec![r"\.bak\d*$".to_owned()];
        });
        let left_out = ["tmp/a", "tmp", "drafts/x/y.pdf", "old.bak", "old.bak2"];
        assert!(
            left_out
                .iter()
                .all(|path| decide(&rules, path) != Decision::Offered)
        );
        let offered = ["tmpa", "drafts/x.html", "bak"];
        assert!(
            offered
                .iter()
                .all(|path| decide(&rules, path) == Decision::Offered)
        );
    }

    #[test]
    fn programs_are_known_by_any_of_their_extensions() {
        let rules = rules(|config| config.dynamic = DynamicPolicy::Reference);
        for path in ["a.php", "b/c.PHP", "page.php.en", "x.shtml"] {
            assert_eq!(
                decide(&rules, path),
                Decision::Dynamic(DynamicPolicy::Reference),
                "{path}"
            );
        }
        assert_eq!(decide(&rules, "php"), Decision::Offered);
        assert_eq!(decide(&rules, "aphp"), Decision::Offered);
    }

    #[test]
    fn wildcards_backtrack() {
        assert!(wildcard(b"*a*b", b"xaxbxab"));
        assert!(wildcard(b"a?c", b"abc"));
        assert!(!wildcard(b"a?c", b"ac"));
        assert!(wildcard(b"*", b""));
        assert!(!wildcard(b"", b"x"));
    }

    #[test]
    fn broken_patterns_are_refused_with_their_place() {
        let config = OfferConfig {
            skip_patterns: vec!["(".to_owned()],
            ..OfferConfig::default()
        };
        assert!(
            Rules::compile(config)
                .unwrap_err()
                .contains("skip_patterns")
        );
    }
}
