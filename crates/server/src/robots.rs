//! A robots.txt that advertises the repository.

use crate::config::RobotsConfig;

/// The path of a base URL: what robots see, which need not be the path on this server behind a proxy.
pub fn path_of(base_url: &str) -> String {
    format!("/{}", base_url.splitn(4, '/').nth(3).unwrap_or_default())
}

/// The lines that advertise a repository at a path of the site.
pub fn lines(base_path: &str, robots: &RobotsConfig) -> String {
    let mut lines = String::from("User-agent: *\n");
    lines.push_str(&format!("Allow: {base_path}\n"));
    if robots.exclusive {
        lines.push_str("Disallow: /\n");
    }
    lines
}

/// A whole robots.txt, for a site that has none.
pub fn file(base_url: &str, robots: &RobotsConfig) -> String {
    format!(
        "# What this site holds, and what has changed since a date, is told over OAI-PMH 2.0:\n\
         # {base_url}?verb=Identify\n{}",
        lines(&path_of(base_url), robots)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_may_be_asked_to_keep_to_the_repository() {
        let mut robots = RobotsConfig::default();
        assert_eq!(lines("/modoai", &robots), "User-agent: *\nAllow: /modoai\n");
        robots.exclusive = true;
        assert_eq!(
            lines("/modoai", &robots),
            "User-agent: *\nAllow: /modoai\nDisallow: /\n"
        );
    }
}
