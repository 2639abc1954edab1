//! Which URLs are refused: those of a blacklist, and those that are too long.

use std::collections::HashSet;
use std::fmt;

use super::Normal;
use super::normalise;

/// A blacklist and a limit.
///
/// The list has a host or a URL prefix on each line; what follows `#` after a blank or at the beginning of a line is a
/// comment. A host stands for itself and for all hosts below it: `edu.com` refuses `www.edu.com`, not `xedu.com`;
/// `*.edu.com` means the same. Lines may end with CRLF, and a byte order mark at the beginning is skipped.
///
/// ```
/// use document::url::{Rules, normalise};
///
/// let rules = Rules::parse("example.com  # nothing but spam\nhttp://example.org/private/")?;
/// assert!(rules.refuses(&normalise("http://www.example.com/a.pdf").unwrap()).is_some());
/// assert!(rules.refuses(&normalise("http://example.org/public/a.pdf").unwrap()).is_none());
/// # Ok::<(), document::url::RulesError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    hosts: HashSet<Box<str>>,
    /// Sorted, and none begins with another, so that the one at or before a URL is the only one to look at.
    prefixes: Vec<String>,
    /// The longest URL, in bytes of its normalised form, that is not refused.
    pub max_length: usize,
}

/// Why a URL is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Its host, or one above it, is in the list.
    Host(String),
    /// It begins with a prefix of the list.
    Prefix(String),
    /// It is too long.
    Length {
        /// How long it is.
        length: usize,
        /// How long it may be.
        limit: usize,
    },
}

/// A line of a blacklist that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} of the blacklist is `{text}`, which is neither a host nor a URL; correct or remove it"
)]
pub struct RulesError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The text there.
    pub text: String,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            hosts: HashSet::new(),
            prefixes: Vec::new(),
            max_length: MAX_LENGTH,
        }
    }
}

impl Rules {
    /// Reads a blacklist.
    pub fn parse(list: &str) -> Result<Self, RulesError> {
        let mut rules = Self::default();
        for (line, entry) in entries(list) {
            rules.add(entry).ok_or_else(|| RulesError {
                line,
                text: entry.chars().take(200).collect(),
            })?;
        }
        rules.tidy();
        Ok(rules)
    }

    /// Refuses what another list refuses, too.
    pub fn extend(&mut self, other: Self) {
        self.hosts.extend(other.hosts);
        self.prefixes.extend(other.prefixes);
        self.tidy();
    }

    /// Refuses URLs that are longer than so many bytes.
    pub fn with_max_length(self, max_length: usize) -> Self {
        Self { max_length, ..self }
    }

    /// Whether and why a URL is refused.
    pub fn refuses(&self, normal: &Normal) -> Option<Refusal> {
        let length = normal.url.len();
        if length > self.max_length {
            return Some(Refusal::Length {
                length,
                limit: self.max_length,
            });
        }
        if let Some(host) = self.listed_host(&normal.host) {
            return Some(Refusal::Host(host.to_owned()));
        }
        let behind = self.prefixes.partition_point(|p| **p <= *normal.url);
        let prefix = self.prefixes.get(behind.checked_sub(1)?)?;
        let listed = normal.url.starts_with(prefix);
        listed.then(|| Refusal::Prefix(prefix.clone()))
    }

    fn listed_host(&self, host: &str) -> Option<&str> {
        let mut rest = Some(host.trim_end_matches('.'));
        while let Some(host) = rest {
            if let Some(listed) = self.hosts.get(host) {
                return Some(listed);
            }
            rest = host.split_once('.').map(|(_, above)| above);
        }
        None
    }

    fn add(&mut self, entry: &str) -> Option<()> {
        for entry in blacklist_entry(entry)? {
            match entry.contains("://") {
                true => self.prefixes.push(entry),
                false => {
                    self.hosts.insert(entry.into_boxed_str());
                }
            }
        }
        Some(())
    }

    /// Whether it refuses nothing but long URLs.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.prefixes.is_empty()
    }

    fn tidy(&mut self) {
        self.prefixes.sort_unstable();
        self.prefixes
            .dedup_by(|later, kept| later.starts_with(&**kept));
    }
}

impl Refusal {
    /// The entry of the list, if one is the reason.
    pub fn entry(&self) -> Option<&str> {
        match self {
            Self::Host(entry) | Self::Prefix(entry) => Some(entry),
            Self::Length { .. } => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(f, "the host `{host}` is in the blacklist"),
            Self::Prefix(prefix) => write!(f, "the prefix `{prefix}` is in the blacklist"),
            Self::Length { length, limit } => {
                write!(f, "its {length} bytes are more than the limit of {limit}")
            }
        }
    }
}

/// The entries of a list of hosts or URLs, without blank lines and comments, each with the number of its line.
pub fn entries(list: &str) -> impl Iterator<Item = (usize, &str)> {
    let list = list.strip_prefix('\u{feff}').unwrap_or(list);
    let lines = list.lines().enumerate();
    let entries = lines.map(|(index, line)| (index + 1, without_comment(line)));
    entries.filter(|(_, entry)| !entry.is_empty())
}

/// An entry of a blacklist in its one spelling: a host, or a URL prefix for each scheme that it means. `None` if it is
/// neither.
pub fn blacklist_entry(entry: &str) -> Option<Vec<String>> {
    if entry.contains("://") {
        return Some(vec![normalise(entry).ok()?.url]);
    }
    if entry.contains('/') {
        let prefixes = ["http", "https"].map(|scheme| normalise(&format!("{scheme}://{entry}")));
        let prefixes = prefixes.into_iter().map(|prefix| Some(prefix.ok()?.url));
        return prefixes.collect();
    }
    // Written in many ways by people and by other programs; all of them mean the host and those below it.
    let host = entry.trim_start_matches("*.").trim_matches('.');
    let host = normalise(&format!("http://{host}/")).ok()?.host;
    // A wildcard elsewhere would never match.
    (!host.contains('*')).then(|| vec![host])
}

fn without_comment(line: &str) -> &str {
    let starts = line.match_indices('#').map(|(at, _)| at);
    let mut comments = starts.filter(|&at| at == 0 || line[..at].ends_with([' ', '\t']));
    let end = comments.next().unwrap_or(line.len());
    line[..end].trim()
}

/// More than enough for every document that people link to, and less than some databases and servers take.
const MAX_LENGTH: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(rules: &Rules, url: &str) -> Option<String> {
        let refusal = rules.refuses(&normalise(url).unwrap());
        refusal.map(|refusal| refusal.to_string())
    }

    #[test]
    fn hosts_are_refused_with_those_below_them_and_no_others() {
        let rules = Rules::parse("edu.com\n.example.ORG\n*.example.net\n").unwrap();

        for url in [
            "http://edu.com/",
            "http://www.edu.com:8080/x",
            "https://a.b.edu.com./",
            "http://example.org/",
            "http://www.example.org/",
            "ftp://example.net/",
        ] {
            assert!(refusal(&rules, url).is_some(), "{url}");
        }
        for url in ["http://xedu.com/", "http://com/", "http://edu.com.org/"] {
            assert_eq!(refusal(&rules, url), None, "{url}");
        }
        assert_eq!(
            refusal(&rules, "http://www.edu.com/").unwrap(),
            "the host `edu.com` is in the blacklist"
        );
    }

    #[test]
    fn prefixes_are_refused_whatever_stands_before_and_behind_them_in_the_list() {
        let list = "http://h/a/b\nhttp://h/a\nhttp://h/a-z\nHTTP://h/~x/\nh2.example/private\n# http://h/\n\nhttp://h/p#q # why";
        let rules = Rules::parse(list).unwrap();

        for (url, prefix) in [
            ("http://h/a/z", Some("http://h/a")),
            ("http://h/a", Some("http://h/a")),
            ("http://h/abc", Some("http://h/a")),
            ("http://h/%7Ex/y", Some("http://h/~x/")),
            ("http://h/p?x", Some("http://h/p")),
            (
                "https://h2.example/private/x",
                Some("https://h2.example/private"),
            ),
            ("http://h/", None),
            ("http://h/~x", None),
            ("http://h/A", None),
            ("https://h/a", None),
        ] {
            let expected =
                prefix.map(|prefix| format!("the prefix `{prefix}` is in the blacklist"));
            assert_eq!(refusal(&rules, url), expected, "{url}");
        }
    }

    #[test]
    fn long_urls_are_refused_and_never_cut() {
        let rules = Rules::default().with_max_length(20);

        assert_eq!(refusal(&rules, "http://h/12345678901"), None);
        assert_eq!(
            refusal(&rules, "http://h/123456789012").unwrap(),
            "its 21 bytes are more than the limit of 20"
        );
    }

    #[test]
    fn lines_that_are_neither_are_named() {
        let error = Rules::parse("example.org\n\nnot a host\n").unwrap_err();

        assert_eq!(
            error.to_string(),
            "line 3 of the blacklist is `not a host`, which is neither a host nor a URL; correct or remove it"
        );
    }

    #[test]
    fn lists_of_other_systems_are_read() {
        let list = "\u{feff}bücher.example\r\n# spam\r\n*.Example.ORG\t# all of it\r\n";
        let rules = Rules::parse(list).unwrap();

        for url in ["http://xn--bcher-kva.example/", "http://a.b.example.org/"] {
            assert!(refusal(&rules, url).is_some(), "{url}");
        }
        let error = Rules::parse("a.example\nwww.*.example\n").unwrap_err();
        assert_eq!(error.line, 2);
    }

    #[test]
    fn lists_can_be_put_together() {
        let mut rules = Rules::parse("http://h/a/b").unwrap();
        rules.extend(Rules::parse("http://h/a\nexample.org").unwrap());

        assert!(refusal(&rules, "http://h/a/b/c").is_some());
        assert!(refusal(&rules, "http://h/ax").is_some());
        assert!(refusal(&rules, "http://example.org/").is_some());
    }
}
