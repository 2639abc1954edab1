//! robots.txt (RFC 9309): which paths of a host a program may ask for.

use std::time::Duration;

/// The rules of a robots.txt for one program.
///
/// ```
/// use harvester::Robots;
///
/// let robots = Robots::parse(b"User-agent: *\nDisallow: /private/\nAllow: /private/papers$\n", "garner");
/// assert!(!robots.allows("/private/a.pdf"));
/// assert!(robots.allows("/private/papers"));
/// assert!(robots.allows("/"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Robots {
    rules: Vec<Rule>,
    delay: Option<Duration>,
    sitemaps: Vec<String>,
    base_urls: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    pattern: String,
    is_allowed: bool,
}

impl Robots {
    /// Reads the rules for `program`, or else those for all programs. What cannot be understood is skipped.
    pub fn parse(bytes: &[u8], program: &str) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let (mut own, mut all) = (None, None);
        let (mut sitemaps, mut base_urls) = (Vec::new(), Vec::new());
        let (mut is_own, mut is_all, mut in_names) = (false, false, false);
        for line in text.split(['\n', '\r']) {
            base_urls.extend(base_url(line).filter(|_| base_urls.len() < MOST_URLS));
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            let name = name.trim().to_ascii_lowercase();
            if name == "user-agent" {
                if !in_names {
                    (is_own, is_all) = (false, false);
                }
                in_names = true;
                // Some write `garner/1.0`.
                let named = value.split(['/', ' ']).next().unwrap_or_default();
                is_own |= named.eq_ignore_ascii_case(program);
                is_all |= named == "*";
                // A group without rules allows everything.
                if is_own {
                    own.get_or_insert_with(Self::default);
                }
                if is_all {
                    all.get_or_insert_with(Self::default);
                }
                continue;
            }
            // It belongs to no group.
            if name == "sitemap" && sitemaps.len() < MOST_URLS {
                sitemaps.extend(url(value));
            }
            if !matches!(&*name, "allow" | "disallow" | "crawl-delay") {
                continue;
            }
            in_names = false;
            for robots in [
                own.as_mut().filter(|_| is_own),
                all.as_mut().filter(|_| is_all),
            ] {
                robots
                    .into_iter()
                    .for_each(|robots: &mut Self| robots.add(&name, value));
            }
        }
        let rules: Self = own.or(all).unwrap_or_default();
        Self {
            sitemaps,
            base_urls,
            ..rules
        }
    }

    /// The sitemaps that it names, for whatever program.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// The base URLs of repositories that it names in comments, as `garner robots` writes them.
    pub fn base_urls(&self) -> &[String] {
        &self.base_urls
    }

    /// Whether a path, with its query, may be asked for: the longest rule that matches decides, and of two that are as
    /// long the one that allows.
    pub fn allows(&self, path: &str) -> bool {
        let matching = self
            .rules
            .iter()
            .filter(|rule| matches(&rule.pattern, path));
        let longest = matching.max_by_key(|rule| (rule.pattern.len(), rule.is_allowed));
        longest.is_none_or(|rule| rule.is_allowed)
    }

    /// The time between two requests that the host asks for. RFC 9309 does not know it, and many write it.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    fn add(&mut self, name: &str, value: &str) {
        match name {
            "crawl-delay" => {
                let seconds = value.parse().ok();
                let delay = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                self.delay = delay.or(self.delay);
            }
            // An empty rule matches nothing.
            _ if value.is_empty() || self.rules.len() >= MOST_RULES => {}
            _ => self.rules.push(Rule {
                pattern: value.chars().take(MOST_CHARACTERS).collect(),
                is_allowed: name == "allow",
            }),
        }
    }
}

/// The base URL in a comment: `# http://www.example.org/modoai?verb=Identify`.
fn base_url(line: &str) -> Option<String> {
    let comment = line.trim().strip_prefix('#')?.trim();
    url(comment.strip_suffix("?verb=Identify")?)
}

fn url(text: &str) -> Option<String> {
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    let is_plain = text.len() <= MOST_CHARACTERS && !text.contains(char::is_whitespace);
    (is_url && is_plain).then(|| text.to_owned())
}

/// Whether a pattern matches the beginning of a path; `*` stands for anything, and `$` at the end for the end.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return !is_whole || rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if is_whole && parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    true
}

/// A file can be half a megabyte long.
const MOST_RULES: usize = 10_000;
const MOST_CHARACTERS: usize = 2048;
/// A robots.txt may name more sitemaps; they can be put into an index.
const MOST_URLS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_decides() {
        let text = "User-agent: *\r\nDisallow: /\r\nAllow: /p/\r\nDisallow: /p/*.pdf$\r\nAllow: /p/special.pdf\r\n";
        let robots = Robots::parse(text.as_bytes(), "garner");

        for (path, is_allowed) in [
            ("/", false),
            ("/x", false),
            ("/p/x.html", true),
            ("/p/b.pdf", false),
            ("/p/b.pdf?x", true),
            ("/p/a.pdf", false),
            ("/p/special.pdf", true),
        ] {
            assert_eq!(robots.allows(path), is_allowed, "{path}");
        }
    }

    #[test]
    fn a_program_has_its_own_group() {
        let text = "User-agent: other\nUser-agent: Garner/2.0\nDisallow: /a # not this\nCrawl-delay: 2.5\n\nUser-agent: *\nDisallow: /\n";
        let robots = Robots::parse(text.as_bytes(), "garner");

        assert!(robots.allows("/b") && !robots.allows("/a/b"));
        assert_eq!(robots.delay(), Some(Duration::from_millis(2500)));
        assert!(!Robots::parse(text.as_bytes(), "third").allows("/b"));
    }

    #[test]
    fn sitemaps_and_repositories_are_named_outside_of_groups() {
        let text = "# told over OAI-PMH 2.0:\n# http://a.example/modoai?verb=Identify\nUser-agent: other\nDisallow: /\n\
            Sitemap: http://a.example/sitemap.xml\nsitemap:https://b.example/s.xml.gz # big\nSitemap: /relative.xml\n";
        let robots = Robots::parse(text.as_bytes(), "garner");

        assert_eq!(robots.base_urls(), ["http://a.example/modoai"]);
        assert_eq!(
            robots.sitemaps(),
            ["http://a.example/sitemap.xml", "https://b.example/s.xml.gz"]
        );
        assert!(robots.allows("/"));
    }

    #[test]
    fn what_is_no_robots_txt_allows_everything() {
        for text in [
            "",
            "<html>Disallow: /</html>",
            "Disallow: /",
            "User-agent: *\nDisallow:\n",
        ] {
            assert!(
                Robots::parse(text.as_bytes(), "garner").allows("/a"),
                "{text}"
            );
        }
        assert!(Robots::parse(&[0xff; 100], "garner").allows("/a"));
    }
}
