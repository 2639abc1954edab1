//! `--via auto`: finds the ways in which a site can be harvested, and chooses one.

use anyhow::{Context, bail};
use harvester::lists::{Lists, PageLinks, ResourceSync, page_links};
use harvester::{Client, ErrorKind, Repository, Robots};

use super::{Via, WELL_KNOWN};
use crate::harvest::HarvestOrder;

/// A way in which a site can be harvested.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Way {
    via: Via,
    url: String,
}

/// Settles the way of an order that leaves it to garner: the order for the URL and the way that were found. `notify` hears
/// of all that were found.
pub fn settle_way(
    client: &Client,
    order: &HarvestOrder,
    notify: &dyn Fn(&str),
) -> anyhow::Result<HarvestOrder> {
    if order.via != Via::Auto {
        return Ok(order.clone());
    }
    let search = Search {
        client,
        repository: client.repository(&order.base_url)?,
        order,
    };
    let (ways, tried) = search.ways()?;
    let Some(chosen) = ways.first() else {
        let remedy = match search.wants_files() {
            true => "if there is one, name its URL and --via",
            false => "with --unpack or --warc, ResourceSync and sitemaps are looked for as well",
        };
        bail!(
            "{} offers no way to be harvested: looked for {}; {remedy}",
            search.repository.base_url(),
            tried.join(", ")
        );
    };
    for way in &ways {
        notify(&format!("found {} at {}", way.via.described(), way.url));
    }
    notify(&format!(
        "chosen: --via {} {}",
        chosen.via.name(),
        chosen.url
    ));
    Ok(HarvestOrder {
        via: chosen.via,
        base_url: with_access(&chosen.url, &order.base_url),
        ..order.clone()
    })
}

struct Search<'a> {
    client: &'a Client,
    repository: Repository,
    order: &'a HarvestOrder,
}

impl Search<'_> {
    /// The ways that were found, the best first, and the places that were looked at.
    fn ways(&self) -> anyhow::Result<(Vec<Way>, Vec<String>)> {
        let url = self.repository.base_url();
        let lists = Lists::new(&self.repository, self.order.other_hosts);
        let mut tried = vec![format!("OAI-PMH at {url}")];
        let mut ways = Vec::new();
        if self.is_repository(&url)? {
            let is_enough = self.gives_files(&url);
            ways.push(way(Via::Oai, url.clone()));
            if is_enough {
                return Ok((ways, tried));
            }
        } else if self.repository.as_static().brief().identify().is_ok() {
            return Ok((vec![way(Via::Static, url)], tried));
        }
        let robots = lists.bytes(&lists.at("/robots.txt")).unwrap_or_default();
        let robots = Robots::parse(&robots, "garner");
        let links = lists.bytes(&lists.at("/")).unwrap_or_default();
        let links = absolute(&lists, page_links(&links));
        self.repository.check_stop()?;
        if ways.is_empty() {
            let usual = [lists.at("/modoai")];
            let named = usual
                .iter()
                .chain(&links.repositories)
                .chain(robots.base_urls());
            for base_url in named.filter(|url| lists.foreign_host(url).is_none()) {
                let told = format!("OAI-PMH at {base_url}");
                if tried.contains(&told) {
                    continue;
                }
                tried.push(told);
                if self.is_repository(base_url).unwrap_or(false) {
                    ways.push(way(Via::Oai, base_url.clone()));
                    break;
                }
            }
        }
        if self.wants_files() {
            let mut listed = self.lists(&lists, &links, &robots, &mut tried)?;
            // A repository without files is of less use than lists of them.
            match ways.first() {
                Some(first) if !self.gives_files(&first.url) => {
                    listed.append(&mut ways);
                    ways = listed;
                }
                _ => ways.append(&mut listed),
            }
        }
        Ok((ways, tried))
    }

    /// The lists of a site.
    fn lists(
        &self,
        lists: &Lists,
        links: &PageLinks,
        robots: &Robots,
        tried: &mut Vec<String>,
    ) -> anyhow::Result<Vec<Way>> {
        let mut ways = Vec::new();
        let url = self.repository.base_url();
        let well_known = lists.at(WELL_KNOWN);
        let given = (!lists.is_home()).then_some(&url);
        let places = given
            .into_iter()
            .chain([&well_known])
            .chain(&links.resource_sync);
        for place in places {
            tried.push(format!("ResourceSync at {place}"));
            if ResourceSync::find(lists, place).is_ok() {
                ways.push(way(Via::ResourceSync, place.clone()));
                break;
            }
            self.repository.check_stop()?;
        }
        let usual = lists.at("/sitemap.xml");
        let places = given
            .into_iter()
            .chain(robots.sitemaps())
            .chain(&links.sitemaps)
            .chain([&usual]);
        for place in places {
            tried.push(format!("a sitemap at {place}"));
            if lists.get(place).is_ok_and(|list| super::is_sitemap(&list)) {
                // robots.txt may name several, which are found again from the home page.
                let of_robots = robots.sitemaps().contains(place);
                let url = if of_robots {
                    lists.at("/")
                } else {
                    place.clone()
                };
                ways.push(way(Via::Sitemap, url));
                break;
            }
            self.repository.check_stop()?;
        }
        Ok(ways)
    }

    /// Whether a repository answers at a URL. A site that cannot be reached at all is an error.
    fn is_repository(&self, url: &str) -> anyhow::Result<bool> {
        let url = with_access(url, &self.order.base_url);
        let Err(error) = self.client.repository(&url)?.brief_unless_busy().identify() else {
            return Ok(true);
        };
        match error.kind() {
            ErrorKind::Stopped
            | ErrorKind::Busy(_)
            | ErrorKind::AskedToWait { .. }
            | ErrorKind::Transport(_)
            | ErrorKind::Usage(_) => Err(error).context("the site cannot be asked"),
            _ => Ok(false),
        }
    }

    fn wants_files(&self) -> bool {
        self.order.unpack.is_some() || self.order.warc.is_some()
    }

    /// Whether a repository gives what is wanted of it.
    fn gives_files(&self, url: &str) -> bool {
        let formats = || {
            let url = with_access(url, &self.order.base_url);
            let repository = self.client.repository(&url).ok()?;
            repository.brief().list_metadata_formats(None).ok()
        };
        !self.wants_files()
            || formats().is_none_or(|formats| {
                let didl = oai::format::didl::PREFIX;
                formats.iter().any(|format| format.metadata_prefix == didl)
            })
    }
}

fn way(via: Via, url: String) -> Way {
    Way { via, url }
}

/// A URL with the credentials that `given` holds, if both are on one host.
fn with_access(url: &str, given: &str) -> String {
    let parts = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        Some((
            scheme.to_owned(),
            rest[..end].to_owned(),
            rest[end..].to_owned(),
        ))
    };
    let (Some((scheme, host, rest)), Some((_, authority, _))) = (parts(url), parts(given)) else {
        return url.to_owned();
    };
    match authority.rsplit_once('@') {
        Some((access, own)) if own.eq_ignore_ascii_case(&host) => {
            format!("{scheme}://{access}@{host}{rest}")
        }
        _ => url.to_owned(),
    }
}

/// The links of the home page as URLs; those of repositories without their requests.
fn absolute(lists: &Lists, links: PageLinks) -> PageLinks {
    let each = |links: Vec<String>| -> Vec<String> {
        let links = links.iter().filter_map(|link| lists.resolved(link));
        links.collect()
    };
    let base = |url: String| {
        let end = url
            .to_ascii_lowercase()
            .find("verb=identify")
            .unwrap_or(url.len());
        url[..end].trim_end_matches(['?', '&']).to_owned()
    };
    PageLinks {
        repositories: each(links.repositories).into_iter().map(base).collect(),
        resource_sync: each(links.resource_sync),
        sitemaps: each(links.sitemaps),
    }
}
