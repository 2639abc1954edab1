//! The pages of the documentation that the program carries, and which of them helps with a page of the console.

/// A page of the documentation.
#[derive(Debug)]
pub(crate) struct HelpPage {
    /// Its path below `docs`, without the ending.
    pub(crate) name: &'static str,
    /// Markdown.
    pub(super) text: &'static str,
}

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        [$(HelpPage {
            name: $name,
            text: include_str!(concat!("../../../../docs/", $name, ".md")),
        }),*]
    };
}

/// All pages, section by section.
pub(super) static PAGES: &[HelpPage] = &pages![
    "README",
    "faq",
    "troubleshooting",
    "glossary",
    "guides/offer-a-site",
    "guides/offer-records",
    "guides/apache",
    "guides/wordpress",
    "guides/harvest",
    "guides/schedule",
    "guides/many-repositories",
    "guides/import",
    "guides/large-crawls",
    "guides/search-documents",
    "guides/curate",
    "guides/retrieve-documents",
    "guides/feed-a-search-engine",
    "guides/aggregate",
    "guides/operate",
    "guides/many-machines",
    "guides/migrate",
    "concepts/what-is-offered",
    "concepts/no-missed-update",
    "concepts/harvesting",
    "concepts/records",
    "concepts/scale",
    "concepts/libraries",
    "reference/console",
    "reference/up",
    "reference/filters",
    "reference/hooks",
    "reference/json",
    "reference/sql-views",
    "reference/classifier",
    "reference/text",
    "reference/counters",
    "reference/log-formats",
    "reference/command-line",
    "reference/configuration",
    "reference/http",
    "reference/apache",
    "reference/index-file",
    "security",
];

impl HelpPage {
    /// Its title: the first heading.
    pub(crate) fn title(&self) -> String {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches(['#', ' ']).replace('`', "")
    }

    /// The address of the page.
    pub(crate) fn address(&self) -> String {
        match self.name {
            "README" => "/help".to_owned(),
            name => format!("/help/{name}"),
        }
    }

    /// The heading that it is listed under.
    pub(super) fn section(&self) -> &'static str {
        match self.name.split_once('/').map(|(folder, _)| folder) {
            Some("guides") => "Guides",
            Some("concepts") => "Concepts",
            Some("reference") => "Reference",
            _ => "Documentation",
        }
    }
}

/// The page with this name.
pub(super) fn page(name: &str) -> Option<&'static HelpPage> {
    PAGES.iter().find(|page| page.name == name)
}

/// The address of the help for a page of the console.
pub(crate) fn page_for(path: &str) -> &'static str {
    let found = FOR.iter().find(|(place, _)| {
        let rest = path.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    found.map_or("/help", |(_, help)| help)
}

const FOR: &[(&str, &str)] = &[
    ("/alerts", "/help/reference/hooks"),
    ("/sites", "/help/guides/offer-a-site"),
    ("/aggregator", "/help/guides/aggregate"),
    ("/repositories", "/help/guides/harvest"),
    ("/records", "/help/concepts/records"),
    ("/imports", "/help/guides/import"),
    ("/documents", "/help/guides/search-documents"),
    ("/parents", "/help/guides/curate"),
    ("/lists", "/help/guides/curate"),
    ("/schedules", "/help/guides/schedule"),
    ("/runs", "/help/guides/schedule"),
    ("/jobs", "/help/guides/schedule"),
    ("/history", "/help/concepts/harvesting"),
    ("/rules", "/help/reference/filters"),
    ("/accounts", "/help/reference/console#people"),
    ("/audit", "/help/reference/console#people"),
    ("/system", "/help/guides/operate#watch"),
    ("/me", "/help/reference/console#time-zones"),
    ("/tokens", "/help/reference/console#the-api"),
    ("/api", "/help/reference/console#the-api"),
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::help::render;

    #[test]
    fn every_page_of_the_documentation_is_here() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for folder in ["", "guides", "concepts", "reference"] {
            for entry in fs::read_dir(docs.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let Some(name) = name.strip_suffix(".md") else {
                    continue;
                };
                let name = format!("{folder}/{name}");
                let name = name.trim_start_matches('/');
                assert!(page(name).is_some(), "{name} is not in PAGES");
            }
        }
    }

    /// Also those of pages that `/help` does not carry, such as README.md.
    #[test]
    fn links_of_all_pages_lead_to_files_and_headings_that_there_are() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let others = [
            "../README",
            "../ARCHITECTURE",
            "../CHANGELOG",
            "../CONTRIBUTING",
            "../SECURITY",
            "benchmarks/README",
            "benchmarks/table",
            "benchmarks/budget",
        ];
        let of_file = |path: &Path| -> HelpPage {
            let text = fs::read_to_string(path).unwrap();
            HelpPage {
                name: "page",
                text: text.leak(),
            }
        };
        let names = PAGES.iter().map(|page| page.name).chain(others);
        let (mut links, mut dead) = (0, Vec::new());
        for name in names {
            let file = docs.join(format!("{name}.md"));
            for link in render::links(&of_file(&file)) {
                if link.contains("://") || link.starts_with("mailto:") {
                    continue;
                }
                links += 1;
                let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
                let target = match path {
                    "" => file.clone(),
                    path => file.parent().unwrap().join(path),
                };
                let is_there = target.exists()
                    && (heading.is_empty()
                        || render::html(&of_file(&target)).contains(&format!("id=\"{heading}\"")));
                if !is_there {
                    dead.push(format!("{name}: {link}"));
                }
            }
        }
        assert!(links > 100, "{links}");
        assert!(dead.is_empty(), "{dead:#?}");
    }

    #[test]
    fn links_to_help_lead_to_pages_and_headings() {
        for (_, address) in FOR {
            let (path, heading) = address.split_once('#').unwrap_or((address, ""));
            let page = page(path.strip_prefix("/help/").unwrap()).expect(address);
            let html = render::html(page);
            assert!(
                heading.is_empty() || html.contains(&format!("id=\"{heading}\"")),
                "{address}"
            );
        }
        assert_eq!(page_for("/rules/7"), "/help/reference/filters");
        assert_eq!(page_for("/"), "/help");
    }
}
