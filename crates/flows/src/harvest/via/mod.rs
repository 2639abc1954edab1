//! The ways to harvest a site: OAI-PMH, or lists that it publishes for other crawlers.
//!
//! However a site is read, its records go through one pipeline: the reader of lists stands beside the reader of
//! repositories, and makes a record in `oai_didl` of each resource.

mod discovery;
mod manners;
mod site;
mod visit;

use anyhow::{Context, bail};
use harvester::lists::{Fault, List, ListError, Lists, ResourceSync};
use harvester::{Client, Repository};
use serde::{Deserialize, Serialize};

pub use self::discovery::settle_way;
use self::manners::Manners;
pub(super) use self::site::{Reached, SiteReader};
use super::HarvestOrder;
use crate::introduction::SelfDescription;

/// The way in which a site is harvested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// OAI-PMH.
    #[default]
    Oai,
    /// ResourceSync: resource lists and change lists.
    ResourceSync,
    /// Sitemaps, with conditional requests.
    Sitemap,
    /// A static repository: one file with all records.
    Static,
    /// The best of these that the site offers.
    Auto,
}

impl Via {
    /// Whether it is the default. The reference is what serde gives.
    pub(super) fn is_oai(&self) -> bool {
        *self == Self::Oai
    }

    /// Whether resources are read from lists, and not records from a repository.
    pub fn reads_lists(self) -> bool {
        matches!(self, Self::ResourceSync | Self::Sitemap)
    }

    /// The name in orders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oai => "oai",
            Self::ResourceSync => "resourcesync",
            Self::Sitemap => "sitemap",
            Self::Static => "static",
            Self::Auto => "auto",
        }
    }

    /// The name for people.
    fn described(self) -> &'static str {
        match self {
            Self::Oai => "OAI-PMH",
            Self::ResourceSync => "ResourceSync",
            Self::Sitemap => "a sitemap",
            Self::Static => "a static repository",
            Self::Auto => "a way",
        }
    }
}

/// The repository or the site of an order, as it is asked.
pub(super) fn remote(client: &Client, order: &HarvestOrder) -> anyhow::Result<Repository> {
    let remote = client.repository(&order.base_url)?;
    Ok(match order.via {
        Via::Static => remote.as_static(),
        _ => remote,
    })
}

/// The source of a harvest.
pub(super) enum Source {
    /// A repository that answers verbs.
    Repository,
    /// A site with lists.
    Site(Box<Site>),
}

/// A site with lists that were found.
pub(super) struct Site {
    lists: Lists,
    found: Found,
    manners: Manners,
}

/// The lists of a site.
enum Found {
    ResourceSync(Box<ResourceSync>),
    /// The URLs of sitemaps.
    Sitemaps(Vec<String>),
}

impl Source {
    /// Finds the source of an order.
    pub(super) fn find(
        client: &Client,
        order: &HarvestOrder,
        notify: &dyn Fn(&str),
    ) -> anyhow::Result<Self> {
        let repository = client.repository(&order.base_url)?;
        let lists = Lists::new(&repository, order.other_hosts);
        let (found, manners) = match order.via {
            Via::Oai | Via::Static | Via::Auto => return Ok(Self::Repository),
            Via::ResourceSync => {
                let found =
                    Found::ResourceSync(Box::new(resource_sync(&lists, &repository.base_url())?));
                (found, Manners::none())
            }
            Via::Sitemap => {
                let manners = Manners::robots(&repository);
                let sitemaps = sitemaps(&lists, &repository, &manners)?;
                notify(&format!("sitemaps: {}", shortened(&sitemaps)));
                (Found::Sitemaps(sitemaps), manners)
            }
        };
        Ok(Self::Site(Box::new(Site {
            lists,
            found,
            manners,
        })))
    }

    /// The site, if it is one with lists.
    pub(super) fn site(&self) -> Option<&Site> {
        match self {
            Self::Repository => None,
            Self::Site(site) => Some(site),
        }
    }
}

/// Describes a site that has no words for itself.
pub(super) fn describe(repository: &Repository, via: Via) -> SelfDescription {
    let base_url = repository.base_url();
    let place = base_url
        .split_once("://")
        .map_or(&*base_url, |(_, place)| place);
    let host = place.split('/').next().unwrap_or(place);
    let kind = match via {
        Via::ResourceSync => "ResourceSync",
        _ => "sitemap",
    };
    SelfDescription::of_site(&base_url, format!("{host} ({kind})"))
}

/// Finds the lists of ResourceSync: at the URL, or at the well-known one of its host.
fn resource_sync(lists: &Lists, url: &str) -> anyhow::Result<ResourceSync> {
    let well_known = lists.at(WELL_KNOWN);
    let mut tried = Vec::new();
    if !lists.is_home() {
        match ResourceSync::find(lists, url) {
            Ok(found) => return Ok(found),
            Err(fault) => tried.push(reached(fault)?),
        }
    }
    if url != well_known {
        match ResourceSync::find(lists, &well_known) {
            Ok(found) => return Ok(found),
            Err(fault) => tried.push(reached(fault)?),
        }
    }
    bail!(
        "no ResourceSync was found: {}; name the URL of a description or a capability list, or try --via sitemap",
        tried.join("; ")
    )
}

/// Finds the sitemaps of a site: at the URL, in its robots.txt, or where they usually are.
fn sitemaps(
    lists: &Lists,
    repository: &Repository,
    manners: &Manners,
) -> anyhow::Result<Vec<String>> {
    let url = repository.base_url();
    let mut tried = Vec::new();
    let is_list = |url: &str, tried: &mut Vec<String>| -> anyhow::Result<bool> {
        let fault = match lists.get(url) {
            Ok(list) if is_sitemap(&list) => return Ok(true),
            Ok(_) => {
                tried.push(format!(
                    "{url} is a list of ResourceSync that names no pages"
                ));
                return Ok(false);
            }
            Err(reason) => Fault {
                url: url.to_owned(),
                reason,
            },
        };
        // A list that is there and damaged is what was meant.
        let is_meant = matches!(
            fault.reason,
            ListError::Broken(_) | ListError::TooLong(_) | ListError::TooManyEntries(_)
        );
        let told = reached(fault)?;
        if is_meant {
            bail!("{told}");
        }
        tried.push(told);
        Ok(false)
    };
    if !lists.is_home() && is_list(&url, &mut tried)? {
        return Ok(vec![url]);
    }
    let named = manners
        .sitemaps(&url)
        .context("robots.txt cannot be read")?;
    if !named.is_empty() {
        return Ok(named);
    }
    tried.push("its robots.txt names none".to_owned());
    let usual = lists.at("/sitemap.xml");
    if url != usual && is_list(&usual, &mut tried)? {
        return Ok(vec![usual]);
    }
    bail!(
        "no sitemap was found: {}; name the URL of a sitemap",
        tried.join("; ")
    )
}

fn is_sitemap(list: &List) -> bool {
    let capability = list.metadata.capability.as_deref();
    capability.is_none_or(|it| it == "resourcelist")
}

/// The reason why a list is not usable, unless that of a site which cannot be asked for anything.
fn reached(fault: Fault) -> anyhow::Result<String> {
    match fault.reason {
        ListError::Unreached(error) => Err(error.into()),
        reason => Ok(format!("{}: {reason}", fault.url)),
    }
}

fn shortened(urls: &[String]) -> String {
    match urls {
        [first, second, third, .., _] => {
            format!("{first}, {second}, {third} and {} more", urls.len() - 3)
        }
        few => few.join(", "),
    }
}

const WELL_KNOWN: &str = "/.well-known/resourcesync";
