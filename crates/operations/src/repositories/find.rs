//! Finds the base URL of a repository from what people have: an address without a scheme, a request copied from a
//! browser, or the home page of the site.

use std::time::Duration;

use flows::SelfDescription;
use harvester::{
    Client, ClientOptions, ErrorKind, Incompatibility, Misbehaviour, ProbeMethod, base_url_of,
};

use super::refuse;
use crate::{Code, Refusal};

/// A repository that was found.
#[derive(Debug)]
pub struct FoundRepository {
    /// Its own description.
    pub description: SelfDescription,
    /// The base URL differs from what was asked for.
    pub is_guessed: bool,
}

/// Asks the repository at an address about itself, and looks for it nearby if it is not there: the scheme may be
/// missing, and a home page or its robots.txt may lead to it. This blocks.
pub fn find(client: &Client, address: &str, brief: bool) -> Result<FoundRepository, Refusal> {
    let address = address.trim();
    let mut reasons = Vec::new();
    for base_url in addresses(address) {
        match asked(client, &base_url, brief) {
            Ok(description) => {
                let is_guessed = base_url != address;
                return Ok(FoundRepository {
                    description,
                    is_guessed,
                });
            }
            Err(error) if is_elsewhere(&error) => {
                let found = look_around(client, &base_url, brief);
                return found.ok_or_else(|| refuse(&error));
            }
            Err(error) => reasons.push(refuse(&error)),
        }
    }
    match (reasons.len(), reasons.into_iter().next()) {
        (1, Some(refusal)) => Err(refusal),
        (_, Some(refusal)) => {
            let reason = format!(
                "`{address}` was tried with https:// and http://. {}",
                refusal.reasons()
            );
            Err(Refusal::new(Code::NoRepository, reason).at("base_url"))
        }
        (_, None) => {
            let reason = "Type in where the repository answers.";
            Err(Refusal::new(Code::NoRepository, reason).at("base_url"))
        }
    }
}

fn asked(client: &Client, base_url: &str, brief: bool) -> anyhow::Result<SelfDescription> {
    let repository = client.repository(base_url)?;
    match brief {
        true => flows::introduce_briefly(&repository),
        false => flows::introduce(&repository),
    }
}

/// Whether a web server answers there, but no repository, which may then be at another path.
fn is_elsewhere(error: &anyhow::Error) -> bool {
    let known = error.downcast_ref::<harvester::Error>();
    known.is_some_and(|known| match known.kind() {
        ErrorKind::RepositoryMisbehaved(misbehaviour) => matches!(
            misbehaviour,
            Misbehaviour::WebPage
                | Misbehaviour::NotXml(_)
                | Misbehaviour::NotOaiPmh(_)
                | Misbehaviour::DocumentType
        ),
        ErrorKind::RepositoryIncompatible(Incompatibility::HttpStatus(status)) => {
            matches!(status, 400 | 404 | 405 | 410)
        }
        _ => false,
    })
}

/// Tries what a home page leads to, once each.
fn look_around(client: &Client, home: &str, brief: bool) -> Option<FoundRepository> {
    let options = client.options();
    let once = ClientOptions {
        attempts: 1,
        read_timeout: options.read_timeout.min(PATIENCE),
        ..options.clone()
    };
    let client = Client::new(once).ok()?;
    nearby(&client, home).into_iter().find_map(|base_url| {
        if client.options().stop.is_set() {
            return None;
        }
        let description = asked(&client, &base_url, brief).ok()?;
        Some(FoundRepository {
            description,
            is_guessed: true,
        })
    })
}

fn has_scheme(address: &str) -> bool {
    address.contains("://")
}

/// The addresses that a text may mean.
fn addresses(address: &str) -> Vec<String> {
    let with_scheme = match has_scheme(address) {
        _ if address.is_empty() => Vec::new(),
        true => vec![address.to_owned()],
        false if !looks_like_host(address) => vec![address.to_owned()],
        false => vec![format!("https://{address}"), format!("http://{address}")],
    };
    let addresses = with_scheme.into_iter();
    addresses
        .map(|address| base_url_of(&address).unwrap_or(address))
        .collect()
}

/// Whether a text without a scheme begins with the name or the address of a host.
pub(super) fn looks_like_host(text: &str) -> bool {
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let legal = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | '[' | ']' | ':');
    let has_end = name == "localhost"
        || name.starts_with('[')
        || name
            .rsplit_once('.')
            .is_some_and(|(front, end)| !front.is_empty() && !end.is_empty());
    has_end && host.chars().all(legal)
}

/// Base URLs that a page, the robots.txt of its host and habits lead to, the likely ones first.
fn nearby(client: &Client, home: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |url: String| {
        let url = base_url_of(&url).unwrap_or(url);
        if url != home && !found.contains(&url) && found.len() < MOST {
            found.push(url);
        }
    };
    let Some(origin) = origin(home) else {
        return found;
    };
    let is_home = matches!(&home[origin.len()..], "" | "/");
    if is_home {
        let robots = text(client, &format!("{origin}/robots.txt"));
        for url in in_robots(&robots, &origin) {
            add(url);
        }
    }
    for url in in_page(&text(client, home), home, &origin) {
        add(url);
    }
    // The address of a page does not stand for its whole host.
    for path in PATHS.iter().filter(|_| is_home) {
        add(format!("{origin}{path}"));
    }
    found
}

/// The beginning of what is at a URL; one redirect is followed.
fn text(client: &Client, url: &str) -> String {
    let probe = |url: &str| {
        client
            .probe(ProbeMethod::Get(MOST_BYTES), url, PATIENCE)
            .ok()
    };
    let mut probed = probe(url);
    if let Some(location) = probed.as_ref().and_then(|probed| probed.location.clone()) {
        probed = probe(&location);
    }
    let probed = probed.filter(|probed| probed.status == 200);
    probed.map_or_else(String::new, |probed| {
        String::from_utf8_lossy(&probed.beginning).into_owned()
    })
}

/// The scheme and the host of a URL.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest
        .split(['/', '?', '#'])
        .next()
        .filter(|host| !host.is_empty())?;
    Some(format!("{scheme}://{host}"))
}

/// A comment with a request, as garner and `mod_oai` write it, and allowed paths that look like a repository.
fn in_robots(robots: &str, origin: &str) -> Vec<String> {
    let mut urls: Vec<String> = robots
        .split_whitespace()
        .filter(|word| word.starts_with("http") && word.contains("verb=Identify"))
        .map(str::to_owned)
        .collect();
    let allowed = robots.lines().filter_map(|line| {
        let (name, path) = line.split_once(':')?;
        let path = path.trim();
        let is_likely = name.trim().eq_ignore_ascii_case("allow") && path.contains("oai");
        (is_likely && path.starts_with('/')).then(|| format!("{origin}{path}"))
    });
    urls.extend(allowed);
    urls
}

/// Links of a page that look like a repository, on its own host only.
fn in_page(page: &str, home: &str, origin: &str) -> Vec<String> {
    let mut urls = Vec::new();
    for part in page.split("href=").skip(1) {
        let Some(quote) = part.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            continue;
        };
        let Some(link) = part[1..].split(quote).next() else {
            continue;
        };
        let link = link.replace("&amp;", "&");
        let lower = link.to_ascii_lowercase();
        if !(lower.contains("oai") || lower.contains("verb=identify")) || link.len() > 500 {
            continue;
        }
        let url = match link.as_str() {
            link if link.contains("://") => link.to_owned(),
            link if link.starts_with("//") => continue,
            link if link.starts_with('/') => format!("{origin}{link}"),
            link => {
                let base = home.split(['?', '#']).next().unwrap_or(home);
                let end = base
                    .rfind('/')
                    .filter(|end| *end > origin.len())
                    .unwrap_or(base.len());
                format!("{}/{link}", &base[..end])
            }
        };
        if url.starts_with(origin) {
            urls.push(url);
        }
    }
    urls
}

/// Where repositories usually answer: garner, DSpace, EPrints, Invenio, Dataverse, Pure, OJS, bepress.
const PATHS: [&str; 11] = [
    "/modoai",
    "/oai",
    "/oai/request",
    "/server/oai/request",
    "/cgi/oai2",
    "/oai2d",
    "/oai2",
    "/ws/oai",
    "/oai-pmh",
    "/do/oai/",
    "/index.php/index/oai",
];
/// The most base URLs that are tried.
const MOST: usize = 16;
const MOST_BYTES: usize = 256 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_guessed_and_a_request_is_taken_apart() {
        assert_eq!(
            addresses("a.example/oai"),
            ["https://a.example/oai", "http://a.example/oai"]
        );
        assert_eq!(
            addresses("localhost:8080/oai")[1],
            "http://localhost:8080/oai"
        );
        assert_eq!(
            addresses("http://a.example/oai?verb=Identify"),
            ["http://a.example/oai"]
        );
        for rubbish in [
            "",
            "hello",
            "foo bar.example",
            "mailto:a@b.example",
            ".x",
            "a.",
        ] {
            assert!(!looks_like_host(rubbish), "{rubbish}");
        }
    }

    #[test]
    fn robots_and_pages_lead_to_the_repository_of_their_own_host() {
        let robots = "# The repository:\n# http://a.example/modoai?verb=Identify\nUser-agent: *\nAllow: /modoai\n\
                      Disallow: /oai-private\nAllow: /x\n";
        assert_eq!(
            in_robots(robots, "http://a.example"),
            [
                "http://a.example/modoai?verb=Identify",
                "http://a.example/modoai"
            ]
        );
        let page = "<a href='/cgi/oai2?verb=Identify&amp;x=1'>OAI</a><a href=\"http://b.example/oai\">\
                    <a href=\"//c.example/oai\"><link href=oai><a href=\"oai\"><a href=\"javascript:oai()\">";
        assert_eq!(
            in_page(page, "http://a.example/d/index.html", "http://a.example"),
            [
                "http://a.example/cgi/oai2?verb=Identify&x=1",
                "http://a.example/d/oai",
                "http://a.example/d/javascript:oai()",
            ]
        );
    }
}
