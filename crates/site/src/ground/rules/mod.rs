//! The offer of a site: rules on names, directories, URLs and programs. Each decision names its rule.

mod reason;
pub(crate) mod wildcard;

use regex::Regex;

pub use self::reason::Reason;
use self::wildcard::wildcard;
use crate::SitePath;
use crate::config::{DynamicPolicy, OfferConfig, Symlinks};
use crate::ground::path::deciding;

/// The decision of the rules on a path, whatever is or is not there on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Offered as the file it is.
    Offered,
    /// Offered as what a server makes of it.
    Dynamic(DynamicPolicy),
    /// Not offered, and why.
    LeftOut(Reason),
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
        config.check_source()?;
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

    /// The treatment of symbolic links.
    pub fn symlinks(&self) -> Symlinks {
        self.config.symlinks
    }

    /// Whether programs are offered to some users only, and to nobody else.
    pub(crate) fn hides_programs(&self) -> bool {
        self.config.hides_programs()
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
        let area_of = |path| deciding(&self.areas, |area| area, path);
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

/// The mistake in a regular expression, in one line: the parser draws a picture before it comes to the point.
pub(crate) fn regex_complaint(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
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
