//! The links of a home page that lead to lists of what the site holds.

/// Links of a page, as they stand in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageLinks {
    /// Requests of OAI-PMH, and links that are named after it.
    pub repositories: Vec<String>,
    /// Capability lists: `<link rel="resourcesync">`.
    pub resource_sync: Vec<String>,
    /// Sitemaps: `<link rel="sitemap">`.
    pub sitemaps: Vec<String>,
}

/// Finds the links of a page in HTML. Only tags of links are looked at; nothing of the page is run.
pub fn page_links(html: &[u8]) -> PageLinks {
    let text = String::from_utf8_lossy(&html[..html.len().min(LONGEST)]);
    let mut links = PageLinks::default();
    for tag in text.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        let name = tag.split_ascii_whitespace().next().unwrap_or_default();
        if !name.eq_ignore_ascii_case("link") && !name.eq_ignore_ascii_case("a") {
            continue;
        }
        let Some(href) = attribute(tag, "href").filter(|href| href.len() <= LONGEST_URL) else {
            continue;
        };
        let rel = attribute(tag, "rel")
            .unwrap_or_default()
            .to_ascii_lowercase();
        let has = |word: &str| rel.split_ascii_whitespace().any(|rel| rel == word);
        let kind = if has("resourcesync") {
            &mut links.resource_sync
        } else if has("sitemap") {
            &mut links.sitemaps
        } else if href.to_ascii_lowercase().contains("verb=identify") {
            &mut links.repositories
        } else {
            continue;
        };
        if kind.len() < MOST && !kind.contains(&href) {
            kind.push(href);
        }
    }
    links
}

/// The value of an attribute.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find(name).map(|at| at + from) {
        from = at + name.len();
        let is_alone = lower[..at].ends_with(|c: char| c.is_ascii_whitespace());
        let rest = tag[from..].trim_start();
        if !is_alone || !rest.starts_with('=') {
            continue;
        }
        let value = rest[1..].trim_start();
        let value = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split(quote).next()?,
            _ => value.split_ascii_whitespace().next()?,
        };
        return Some(value.trim().replace("&amp;", "&"));
    }
    None
}

const LONGEST: usize = 1 << 20;
const LONGEST_URL: usize = 2000;
/// Nobody offers more ways to the same.
const MOST: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_known_by_their_relation_or_by_the_verb() {
        let links = page_links(
            br#"<html><head><LINK rel='resourcesync' href="/caps.xml"><link href=/map.xml rel=sitemap>
            <link rel="stylesheet" href="x.css"></head><body data-href="no">
            <a title="x" href="/oai?a=1&amp;verb=Identify">OAI</a><a>no</a><a href="/x">y</a><a href="/y"#,
        );
        assert_eq!(links.resource_sync, ["/caps.xml"]);
        assert_eq!(links.sitemaps, ["/map.xml"]);
        assert_eq!(links.repositories, ["/oai?a=1&verb=Identify"]);
    }
}
