//! The robots.txt of a site that has none.

use crate::config::RobotsConfig;

/// The whole of it.
pub fn file(base_url: &str, robots: &RobotsConfig) -> String {
    provider::robots::file(base_url, robots.exclusive)
}

/// The lines of Apache's configuration that have mod_oai announce itself, with those for the robots.txt of a site that has
/// one.
pub fn apache(base_url: &str, robots: &RobotsConfig) -> String {
    let mut text = format!(
        "# In the <VirtualHost> of the site. Where it has no sitemap.xml, robots.txt or .well-known/resourcesync of its\n\
         # own, mod_oai answers:\n\
         OaiAnnounce {}\n\n\
         # A robots.txt of its own should have these lines:\n",
        provider::robots::path_of(base_url)
    );
    for line in provider::robots::lines(base_url, robots.exclusive).lines() {
        text.push_str(format!("#   {line}").trim_end());
        text.push('\n');
    }
    text
}
