//! A robots.txt that advertises the repository and the sitemap.

use crate::resource_sync::{SyncDocument, SyncKind};

/// The lines that advertise a repository: its path, and the sitemap that lies below it. An exclusive one asks robots to
/// keep to the repository.
pub fn lines(base_url: &str, exclusive: bool) -> String {
    let mut lines = String::from("User-agent: *\n");
    lines.push_str(&format!("Allow: {}\n", path_of(base_url)));
    if exclusive {
        lines.push_str("Disallow: /\n");
    }
    let sitemap = SyncDocument::whole(SyncKind::Sitemap).path();
    lines.push_str(&format!("\nSitemap: {base_url}/{sitemap}\n"));
    lines
}

/// A whole robots.txt, for a site that has none.
pub fn file(base_url: &str, exclusive: bool) -> String {
    format!(
        "# What this site holds, and what has changed since a date, is told over OAI-PMH 2.0:\n\
         # {base_url}?verb=Identify\n{}",
        lines(base_url, exclusive)
    )
}

/// The path of a base URL: what robots see, which need not be the path on this server behind a proxy.
pub fn path_of(base_url: &str) -> String {
    format!("/{}", base_url.splitn(4, '/').nth(3).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_may_be_asked_to_keep_to_the_repository() {
        let base_url = "http://www.example.org/modoai";
        assert_eq!(
            lines(base_url, false),
            "User-agent: *\nAllow: /modoai\n\nSitemap: http://www.example.org/modoai/sitemap.xml\n"
        );
        assert!(lines(base_url, true).contains("Allow: /modoai\nDisallow: /\n"));
    }
}
