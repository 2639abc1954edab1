//! Sites that this process exposes: what they offer, what they hide and why, and who harvests them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use harvester::Client;
use harvester::check::CheckLimits;
use serde::Serialize;
use site::traffic::{Counts, TrafficReport};
use utoipa::ToSchema;

use crate::overview::ExposedSite;
use crate::repositories::{self, RepositoryCheck};
use crate::{Context, Refusal, Time};

/// A site that is being served.
pub trait ServedSite: Debug + Send + Sync {
    /// The site.
    fn site(&self) -> &site::Site;
    /// The address at which it answers: the port is chosen where 0 is configured.
    fn listening(&self) -> SocketAddr;
    /// The name of its repository.
    fn name(&self) -> &str;
    /// Where its repository answers.
    fn base_url(&self) -> &str;
    /// The lines of a robots.txt that advertise its repository.
    fn robots(&self) -> String;
    /// Whether the server answers with these lines where the site has no robots.txt.
    fn answers_robots(&self) -> bool;
}

/// The sites that this process serves by now, by their numbers; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct ServedSites(Arc<RwLock<BTreeMap<u64, Arc<dyn ServedSite>>>>);

impl ServedSites {
    /// Adds a site under the number that it has in the configuration, from 1 on.
    pub fn add(&self, number: u64, site: impl ServedSite + 'static) {
        let mut sites = self.0.write().unwrap_or_else(PoisonError::into_inner);
        sites.insert(number, Arc::new(site));
    }

    fn find(&self, number: u64) -> Option<Arc<dyn ServedSite>> {
        let sites = self.0.read().unwrap_or_else(PoisonError::into_inner);
        sites.get(&number).cloned()
    }
}

/// A site that this process exposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Site {
    /// Its number in the configuration, from 1 on.
    pub id: u64,
    /// The name of its repository; that of its directory until it is served.
    pub name: String,
    /// Its directory.
    pub root: String,
    /// The address at which it is served.
    pub listen: String,
    /// Whether it is served: not before its files were looked at.
    pub is_served: bool,
    /// Where its repository answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Items that are offered.
    pub items: u64,
    /// Items that were offered once.
    pub deleted: u64,
    /// Requests of OAI-PMH, ResourceSync and sitemaps that were answered.
    pub requests: u64,
    /// When the last one came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_request: Option<Time>,
}

/// A site with its counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SiteReport {
    /// The site.
    #[serde(flatten)]
    pub site: Site,
    /// Items that the web server beside which it stands does not give to everybody.
    pub restricted: u64,
    /// Media types, the most frequent first.
    pub types: Vec<TypeCount>,
    /// Changes of the last 30 days.
    pub days: Vec<DayCount>,
    /// Since when requests are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_since: Option<Time>,
    /// Requests by verb and outcome.
    pub verbs: Vec<VerbCount>,
    /// Records and headers that were given.
    pub records: u64,
    /// Bytes that were sent.
    pub bytes: u64,
    /// The lines that advertise the repository in a robots.txt.
    pub robots: String,
    /// Whether the server answers with these lines where the site has no robots.txt.
    pub answers_robots: bool,
}

/// A media type with its items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TypeCount {
    /// The media type.
    pub media_type: String,
    /// Its items.
    pub items: u64,
}

/// The items whose last change was on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DayCount {
    /// The first second of the day.
    pub day: Time,
    /// Items that are new or changed.
    pub changed: u64,
    /// Items that are gone.
    pub deleted: u64,
}

/// The requests with one verb and one outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct VerbCount {
    /// The verb, or the kind of document; `-` if it was none.
    pub verb: String,
    /// The code of the protocol's error, `failed` or `turned_away`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Requests.
    pub requests: u64,
    /// Records and headers given.
    pub records: u64,
}

/// The clients of a site, and the requests that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SiteClients {
    /// At most 500 clients of the last 90 days, the last one first.
    pub harvesters: Vec<SiteHarvester>,
    /// At most 200 requests of the last 90 days that were answered with an error, the last one first.
    pub errors: Vec<SiteError>,
}

/// A client: an address with one user agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SiteHarvester {
    /// The address.
    pub address: String,
    /// The `User-Agent`; empty if it sends none.
    pub agent: String,
    /// When it came first.
    pub first: Time,
    /// When it came last.
    pub last: Time,
    /// Its last verb.
    pub last_verb: String,
    /// Its requests.
    pub requests: u64,
    /// Those that were answered with an error.
    pub errors: u64,
    /// Records and headers that it was given.
    pub records: u64,
    /// Bytes that it was sent.
    pub bytes: u64,
}

/// A request that was answered with an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SiteError {
    /// When.
    pub at: Time,
    /// The client.
    pub address: String,
    /// The arguments of the request.
    pub request: String,
    /// The code of the protocol's error, `failed` or `turned_away`.
    pub error: String,
}

/// The files that are not offered, by reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HiddenFiles {
    /// Names that were looked at.
    pub looked_at: u64,
    /// Whether all names were looked at: at most 200,000, for at most five seconds.
    pub is_complete: bool,
    /// The reasons, the most frequent first.
    pub reasons: Vec<HiddenReason>,
}

/// One reason with what it hides. A hidden directory counts once, with everything in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HiddenReason {
    /// The reason, with the setting that says so.
    pub reason: String,
    /// Files and directories.
    pub count: u64,
    /// Some of them, as URL paths.
    pub examples: Vec<String>,
}

/// Why a URL is offered, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Explanation {
    /// The URL, as it was given.
    pub target: String,
    /// Whether it is offered to somebody without credentials.
    pub offered: bool,
    /// The reasons, in sentences.
    pub because: Vec<String>,
}

/// All sites that this process exposes.
pub async fn list(context: &Context) -> Result<Vec<Site>, Refusal> {
    let context = context.clone();
    let read = move || {
        let known = context.settings().sites.iter().zip(1..);
        let sites = known.map(|(exposed, id)| match context.settings().served.find(id) {
            Some(served) => {
                let traffic = served.site().traffic().report();
                Site::new(id, exposed, served.as_ref(), &traffic)
            }
            None => Ok(Site::starting(id, exposed)),
        });
        sites.collect()
    };
    blocking(read).await
}

/// The counts of a site.
pub async fn show(context: &Context, id: u64) -> Result<SiteReport, Refusal> {
    let exposed = exposed(context, id)?.clone();
    let Some(served) = context.settings().served.find(id) else {
        return Ok(SiteReport::starting(Site::starting(id, &exposed)));
    };
    blocking(move || {
        let traffic = served.site().traffic().report();
        let site = Site::new(id, &exposed, served.as_ref(), &traffic)?;
        let facts = served.site().facts().map_err(unavailable)?;
        let Counts { records, bytes, .. } = traffic.total();
        Ok(SiteReport {
            site,
            restricted: facts.restricted,
            types: facts
                .types
                .into_iter()
                .map(|(media_type, items)| TypeCount { media_type, items })
                .collect(),
            days: facts
                .days
                .iter()
                .map(|day| DayCount {
                    day: Time(day.day * DAY),
                    changed: day.changed,
                    deleted: day.deleted,
                })
                .collect(),
            counted_since: traffic.since.map(Time),
            verbs: traffic
                .verbs
                .into_iter()
                .map(|verb| VerbCount {
                    verb: verb.verb,
                    error: Some(verb.error).filter(|error| !error.is_empty()),
                    requests: verb.counts.requests,
                    records: verb.counts.records,
                })
                .collect(),
            records,
            bytes,
            robots: served.robots(),
            answers_robots: served.answers_robots(),
        })
    })
    .await
}

/// The clients of a site, and the requests that failed.
pub async fn clients(context: &Context, id: u64) -> Result<SiteClients, Refusal> {
    exposed(context, id)?;
    let Some(served) = context.settings().served.find(id) else {
        return Ok(SiteClients::default());
    };
    blocking(move || {
        let report = served.site().traffic().report();
        let harvesters = report
            .harvesters
            .into_iter()
            .map(|harvester| SiteHarvester {
                address: harvester.address,
                agent: harvester.agent,
                first: Time(harvester.first),
                last: Time(harvester.last),
                last_verb: harvester.last_verb,
                requests: harvester.counts.requests,
                errors: harvester.counts.errors,
                records: harvester.counts.records,
                bytes: harvester.counts.bytes,
            });
        let errors = report.mistakes.into_iter().map(|mistake| SiteError {
            at: Time(mistake.at),
            address: mistake.address,
            request: mistake.request,
            error: mistake.error,
        });
        Ok(SiteClients {
            harvesters: harvesters.collect(),
            errors: errors.collect(),
        })
    })
    .await
}

/// The files of a site that are not offered, by reason. This reads directories, within limits.
pub async fn hidden(context: &Context, id: u64) -> Result<HiddenFiles, Refusal> {
    let served = served(context, id)?;
    blocking(move || {
        let hidden = served.site().hidden();
        let reasons = hidden.reasons.into_iter().map(|reason| HiddenReason {
            reason: reason.reason,
            count: reason.count,
            examples: reason.examples,
        });
        Ok(HiddenFiles {
            looked_at: hidden.looked_at,
            is_complete: hidden.is_complete,
            reasons: reasons.collect(),
        })
    })
    .await
}

/// Why a URL or a URL path of a site is offered, or why not.
pub async fn explain(context: &Context, id: u64, url: &str) -> Result<Explanation, Refusal> {
    let served = served(context, id)?;
    let url = url.trim().to_owned();
    if url.is_empty() || url.len() > LONGEST_URL {
        let reason = "type in a URL of the site, or its path such as /index.html";
        return Err(Refusal::invalid("url", reason));
    }
    blocking(move || {
        let explained = served.site().explain(&url, None, None);
        let explained = explained.map_err(|reason| Refusal::invalid("url", reason))?;
        Ok(Explanation {
            target: explained.target,
            offered: explained.offered,
            because: explained.because,
        })
    })
    .await
}

/// The base URL of a site, if it is served by now.
pub fn base_url(context: &Context, id: u64) -> Result<String, Refusal> {
    Ok(served(context, id)?.base_url().to_owned())
}

/// Checks whether the repository of a site keeps the rules of OAI-PMH; this blocks. It is asked without pauses: it is our own.
pub fn check(client: &Client, base_url: &str) -> Result<RepositoryCheck, Refusal> {
    let limits = CheckLimits {
        interval: std::time::Duration::ZERO,
        ..CheckLimits::default()
    };
    repositories::check(client, base_url, &limits)
}

fn exposed(context: &Context, id: u64) -> Result<&ExposedSite, Refusal> {
    let index = id
        .checked_sub(1)
        .and_then(|index| usize::try_from(index).ok());
    let found = index.and_then(|index| context.settings().sites.get(index));
    found.ok_or_else(|| Refusal::not_found(format!("this process exposes no site {id}")))
}

fn served(context: &Context, id: u64) -> Result<Arc<dyn ServedSite>, Refusal> {
    exposed(context, id)?;
    let served = context.settings().served.find(id);
    served.ok_or_else(|| Refusal::conflict("the site is not served yet: its files are being read"))
}

/// Does what reads an index or a directory on a thread where that is fine.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(anyhow::Error::from)?
}

fn unavailable(error: site::Error) -> Refusal {
    anyhow::Error::from(error).into()
}

impl Site {
    fn new(
        id: u64,
        exposed: &ExposedSite,
        served: &dyn ServedSite,
        traffic: &TrafficReport,
    ) -> Result<Self, Refusal> {
        let (items, deleted) = served.site().totals().map_err(unavailable)?;
        let last = traffic.harvesters.first();
        Ok(Self {
            name: served.name().to_owned(),
            listen: served.listening().to_string(),
            is_served: true,
            base_url: Some(served.base_url().to_owned()),
            items,
            deleted,
            requests: traffic.total().requests,
            last_request: last.map(|harvester| Time(harvester.last)),
            ..Self::starting(id, exposed)
        })
    }

    /// A site whose files are being read.
    fn starting(id: u64, exposed: &ExposedSite) -> Self {
        let name = exposed.root.trim_end_matches('/').rsplit('/').next();
        Self {
            id,
            name: name.unwrap_or_default().to_owned(),
            root: exposed.root.clone(),
            listen: exposed.listen.clone(),
            is_served: false,
            base_url: None,
            items: 0,
            deleted: 0,
            requests: 0,
            last_request: None,
        }
    }
}

impl SiteReport {
    fn starting(site: Site) -> Self {
        Self {
            site,
            restricted: 0,
            types: Vec::new(),
            days: Vec::new(),
            counted_since: None,
            verbs: Vec::new(),
            records: 0,
            bytes: 0,
            robots: String::new(),
            answers_robots: false,
        }
    }
}

const DAY: i64 = 86_400;
const LONGEST_URL: usize = 8192;
