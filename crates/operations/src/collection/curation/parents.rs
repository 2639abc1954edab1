//! Parents: the pages that link to documents. Listed, their links checked, and the list of good ones written.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use catalog::{LinkOutcome, NewJob, ParentEntry, ParentOrder, ParentQuery, Role};
use document::url::Normal;
use flows::{Holdings, LinkOptions, LinksChecked, ReportName};
use harvester::{ClientOptions, Stop};
use serde::{Deserialize, Serialize};
use store::Reader;
use utoipa::{IntoParams, ToSchema};

use crate::jobs::{self, Job};
use crate::sorting::named_order;
use crate::{Actor, CleanOrder, Context, Listed, Refusal, Time, csv_cell, lists, page_limit};

/// A page that links to documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Parent {
    /// Its number.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// The MD5 of its URL.
    pub md5: String,
    /// Its host.
    pub host: String,
    /// The documents that have it as their parent.
    pub documents: u64,
    /// Those of them that a search engine ingested.
    pub ingested: u64,
    /// When it was first seen to link to a document.
    pub first_crawl_date: Time,
    /// When it was last seen to.
    pub last_crawl_date: Time,
    /// `unchecked`, `alive`, `dead`, `unknown`, `disallowed` or `inside`.
    pub link: String,
    /// The status of the last answer, or what else is known.
    pub link_detail: Option<String>,
    /// When the link was last checked.
    pub link_checked: Option<Time>,
    /// Where redirects led.
    pub final_url: Option<String>,
}

/// Which parents are wanted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ParentFilter {
    /// Parents with this text in their URL.
    pub text: Option<String>,
    /// Parents of one host.
    pub host: Option<String>,
    /// Parents with a larger number, for the next page.
    pub after: Option<i64>,
    /// The order: `url`, `documents`, `ingested`, `last_crawl_date` or `link`. Without it they are in the order of their
    /// numbers. Lists of more than 10,000 parents cannot be sorted by `documents` or `ingested`.
    pub sort: Option<String>,
    /// Whether the largest come first in that order.
    pub descending: Option<bool>,
    /// Parents that are skipped, where there is an order.
    pub offset: Option<u64>,
    /// Parents on a page, at most 1000; the default is 100.
    pub limit: Option<u64>,
}

/// A cleaning of the parents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CleanParents {
    /// Blacklists that are kept in the catalog, by their names.
    pub lists: Vec<String>,
    /// The text of a blacklist: a host or a URL prefix a line.
    pub blacklist: Option<String>,
    /// Whether links are checked, and dead ones left out.
    pub check_links: bool,
    /// Links that were checked within so many days are not checked again; the default is 30.
    pub recheck_days: Option<u32>,
    /// The seconds between two requests to a host, in whole numbers; the default is 1.
    pub interval_seconds: Option<u32>,
}

/// The outcome of a cleaning of the parents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct CleanedParents {
    /// All parents.
    pub parents: u64,
    /// Those in the list.
    pub kept: u64,
    /// Those whose host is blacklisted.
    pub blacklisted: u64,
    /// Those that no document has.
    pub without_documents: u64,
    /// Those whose link is dead.
    pub dead: u64,
    /// Of those in the list: parents of which it is not known whether their link is alive, although links were checked.
    pub unknown: u64,
    /// The outcome of the link check, if there was one.
    #[schema(value_type = Option<Object>)]
    pub links: Option<LinksChecked>,
    /// Whether it was stopped before its end; then nothing is written.
    pub stopped: bool,
}

/// How a cleaning of the parents runs.
#[derive(Clone, Copy)]
pub struct CleanRun<'a> {
    /// How servers are asked for links.
    pub client: &'a ClientOptions,
    /// The way to stop.
    pub stop: &'a Stop,
    /// Hears how far it is: a number, and words.
    pub tell: &'a (dyn Fn(u64, String) + Sync),
}

/// Parents, in the order of their numbers; `next` is for `after`.
pub async fn list(context: &Context, filter: &ParentFilter) -> Result<Listed<Parent>, Refusal> {
    let limit = page_limit(filter.limit);
    let query = ParentQuery {
        host: filter.host.as_deref().map(str::to_lowercase),
        text: filter.text.clone(),
        after: filter.after.unwrap_or(0),
        order: named_order(filter.sort.as_deref(), &ParentOrder::ALL, ParentOrder::name)?,
        descending: filter.descending.unwrap_or(false),
        offset: filter.offset.unwrap_or(0),
        limit: limit + 1,
    };
    let catalog = context.catalog();
    let all = ParentQuery {
        after: 0,
        ..query.clone()
    };
    let count = catalog.count_parents(&all, MAX_COUNT + 1).await?;
    if count > MAX_COUNT && query.order.is_some_and(ParentOrder::counts_documents) {
        let reason = "the documents of more than 10,000 parents are not counted at once; narrow the list, or take the \
             whitelist, which has the best of all";
        return Err(Refusal::invalid("sort", reason));
    }
    let parents = catalog.parents(&query).await?;
    let mut listed = Listed::page(parents, limit, |parent| parent.id);
    if query.order.is_some() {
        let end = query.offset.saturating_add(listed.items.len() as u64);
        listed.next = listed.next.map(|_| end.cast_signed());
    }
    (listed.total, listed.is_more) = (Some(count.min(MAX_COUNT)), count > MAX_COUNT);
    Ok(listed)
}

/// One parent.
pub async fn show(context: &Context, id: i64) -> Result<Parent, Refusal> {
    let parent = context.catalog().parent(id).await?;
    let missing = || Refusal::not_found(format!("there is no parent {id}"));
    Ok(parent.ok_or_else(missing)?.into())
}

/// Writes the parents that are worth another crawl as CSV, and those that are not with the reason to `removed`; this
/// blocks. With `check_links`, links are checked before.
pub fn clean(
    context: &Context,
    actor: &Actor,
    order: &CleanParents,
    run: CleanRun<'_>,
    output: &mut dyn Write,
    mut removed: Option<&mut dyn Write>,
) -> Result<CleanedParents, Refusal> {
    actor.require(Role::Operator)?;
    let CleanRun { client, stop, tell } = run;
    let blacklist = order.blacklist.as_deref();
    let rules = context.wait(lists::rules(context, &order.lists, blacklist))?;
    let mut cleaned = CleanedParents::default();
    if order.check_links {
        let options = link_options(order, client);
        let told = |links: &LinksChecked| tell(links.checked, links.said());
        let links = flows::check_links(context.holdings(), &rules, &options, stop, &told)?;
        cleaned.links = Some(links);
        cleaned.stopped = links.stopped;
        if links.stopped {
            return Ok(cleaned);
        }
    }
    let unwritten = |error: std::io::Error| {
        Refusal::from(anyhow::Error::from(error).context("the list cannot be written"))
    };
    output.write_all(HEAD.as_bytes()).map_err(unwritten)?;
    if let Some(removed) = &mut removed {
        removed.write_all(HEAD.as_bytes()).map_err(unwritten)?;
    }
    let mut query = ParentQuery {
        limit: PAGE,
        ..ParentQuery::default()
    };
    loop {
        let parents = context.wait(context.catalog().parents(&query))?;
        let Some(last) = parents.last() else { break };
        query.after = last.id;
        for parent in parents {
            cleaned.parents += 1;
            let refusal = rules.refuses(&normal(&parent));
            let link = parent.link.as_ref().filter(|_| order.check_links);
            let link = link.map(|link| link.outcome);
            let reason = match (refusal, parent.documents, link) {
                (Some(refusal), ..) => {
                    cleaned.blacklisted += 1;
                    refusal.to_string()
                }
                (None, 0, _) => {
                    cleaned.without_documents += 1;
                    "no document has it".to_owned()
                }
                (None, _, Some(LinkOutcome::Dead)) => {
                    cleaned.dead += 1;
                    let parent = Parent::from(parent.clone());
                    parent.status()
                }
                (None, _, link) => {
                    cleaned.kept += 1;
                    let is_known = link == Some(LinkOutcome::Alive);
                    cleaned.unknown += u64::from(order.check_links && !is_known);
                    let parent = Parent::from(parent);
                    let status = parent.status();
                    let line = parent.csv(&status);
                    output.write_all(line.as_bytes()).map_err(unwritten)?;
                    continue;
                }
            };
            if let Some(removed) = &mut removed {
                let line = Parent::from(parent).csv(&reason);
                removed.write_all(line.as_bytes()).map_err(unwritten)?;
            }
        }
        tell(cleaned.parents, cleaned.said());
        if stop.is_set() {
            cleaned.stopped = true;
            return Ok(cleaned);
        }
    }
    output.flush().map_err(unwritten)?;
    if let Some(removed) = &mut removed {
        removed.flush().map_err(unwritten)?;
    }
    let details = Some(cleaned.said());
    context.wait(context.audit(actor, "parents.clean", "parents", details));
    Ok(cleaned)
}

/// Puts a cleaning of the parents into the queue. Its list is then at [`revised`].
pub async fn queue_clean(
    context: &Context,
    actor: &Actor,
    order: &CleanParents,
) -> Result<Job, Refusal> {
    actor.require(Role::Operator)?;
    let blacklist = order.blacklist.as_deref();
    lists::rules(context, &order.lists, blacklist).await?;
    if blacklist.is_some_and(|text| text.len() > MAX_TEXT) {
        let reason = "it has more than 1 MiB; keep it in the catalog with garner lists add, and name it in lists";
        return Err(Refusal::invalid("blacklist", reason));
    }
    let parameters = serde_json::to_string(&CleanOrder::Parents(order.clone()));
    let parameters = parameters.map_err(anyhow::Error::from)?;
    jobs::add(context, actor, NewJob::clean(parameters), None, None).await
}

/// Whether the last cleaning of the queue may have put a list somewhere. A store is not asked.
pub async fn has_revised(context: &Context) -> Result<bool, Refusal> {
    let has = |holdings: &Holdings| {
        let name = ReportName::last(REVISED);
        Ok(holdings.are_reports_stored()? || holdings.report_file(&name).is_file())
    };
    context.blocking(has).await
}

/// Opens the list of the last cleaning of the queue, wherever it is kept.
pub async fn revised(context: &Context) -> Result<Reader, Refusal> {
    let open = |holdings: &Holdings| holdings.open_report(&ReportName::last(REVISED));
    let missing = || Refusal::not_found("no cleaning of the parents has written a list yet");
    context.blocking(open).await?.ok_or_else(missing)
}

/// A cleaning for a job: its list takes the place of the one before when it is complete.
pub fn clean_for_job(
    context: &Context,
    actor: &Actor,
    order: &CleanParents,
    run: CleanRun<'_>,
) -> Result<CleanedParents, Refusal> {
    let (holdings, name) = (context.holdings(), ReportName::last(REVISED));
    let path = holdings.report_file(&name);
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(anyhow::Error::from)?;
    }
    let cleaned = replace_file(&path, |output| {
        let cleaned = clean(context, actor, order, run, output, None)?;
        Ok((!cleaned.stopped, cleaned))
    })?;
    if !cleaned.stopped {
        holdings.keep_report(&name)?;
    }
    Ok(cleaned)
}

/// Writes a file that takes its place when it is complete, as `write` says.
pub fn replace_file<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(bool, T), Refusal>,
) -> Result<T, Refusal> {
    let unwritten = || format!("`{}` cannot be written", path.display());
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let directory = directory.unwrap_or(Path::new("."));
    let create = || -> anyhow::Result<_> {
        if !directory.is_dir() {
            bail!(
                "`{}` cannot be written: there is no directory `{}`; make it, or name another file",
                path.display(),
                directory.display()
            );
        }
        // Others read it, as far as the umask of this process lets them.
        let mut builder = tempfile::Builder::new();
        builder.permissions(Permissions::from_mode(READABLE));
        builder.tempfile_in(directory).with_context(unwritten)
    };
    let mut out = std::io::BufWriter::new(create()?);
    let (is_complete, done) = write(&mut out)?;
    if is_complete {
        let place = || -> anyhow::Result<()> {
            let file = out.into_inner().map_err(|error| error.into_error());
            let file = file.with_context(unwritten)?;
            file.as_file().sync_all().with_context(unwritten)?;
            file.persist(path).with_context(unwritten)?;
            Ok(())
        };
        place()?;
    }
    Ok(done)
}

/// The mode of a file that others read.
const READABLE: u32 = 0o644;

fn link_options(order: &CleanParents, client: &ClientOptions) -> LinkOptions {
    let usual = LinkOptions::default();
    LinkOptions {
        client: client.clone(),
        recheck_days: order.recheck_days.unwrap_or(usual.recheck_days),
        interval: order.interval_seconds.map_or(usual.interval, |seconds| {
            std::time::Duration::from_secs(seconds.into())
        }),
        ..usual
    }
}

fn normal(parent: &ParentEntry) -> Normal {
    Normal {
        url: parent.url.clone(),
        host: parent.host.clone(),
        md5: String::new(),
    }
}

impl Parent {
    /// The state of its link in one cell.
    fn status(&self) -> String {
        match &self.link_detail {
            Some(detail) => format!("{} ({detail})", self.link),
            None => self.link.clone(),
        }
    }

    /// Its line of `parenturl.revised.csv`, with its end.
    fn csv(&self, status: &str) -> String {
        let cells = [
            csv_cell(&self.url),
            csv_cell(&self.host),
            self.documents.to_string(),
            self.ingested.to_string(),
            self.first_crawl_date.to_string(),
            self.last_crawl_date.to_string(),
            csv_cell(status),
        ];
        format!("{}\r\n", cells.join(","))
    }
}

impl CleanedParents {
    /// Describes the outcome in words.
    pub fn said(&self) -> String {
        let Self {
            parents,
            kept,
            blacklisted,
            without_documents,
            dead,
            unknown,
            ..
        } = self;
        let mut said = format!(
            "{kept} of {parents} parents kept: {blacklisted} blacklisted, {without_documents} without documents, {dead} dead"
        );
        if *unknown > 0 {
            said.push_str(&format!(
                "; of those kept, the links of {unknown} could not be checked"
            ));
        }
        said
    }
}

impl From<ParentEntry> for Parent {
    fn from(entry: ParentEntry) -> Self {
        let link = entry.link;
        Self {
            id: entry.id,
            url: entry.url,
            md5: entry.md5,
            host: entry.host,
            documents: entry.documents,
            ingested: entry.ingested,
            first_crawl_date: Time(entry.first_crawl_date),
            last_crawl_date: Time(entry.last_crawl_date),
            link: link
                .as_ref()
                .map_or("unchecked", |link| link.outcome.name())
                .to_owned(),
            link_checked: link.as_ref().map(|link| Time(link.checked)),
            link_detail: link.as_ref().and_then(|link| link.detail.clone()),
            final_url: link.and_then(|link| link.final_url),
        }
    }
}

/// The name of the list, as the Crawl Document Importer has it.
pub const REVISED: &str = "parenturl.revised.csv";
const HEAD: &str = "url,host,documents,ingested,first_crawl,last_crawl,status\r\n";
const PAGE: u64 = 1000;
const MAX_TEXT: usize = 1 << 20;

/// Parents are counted up to this number.
const MAX_COUNT: u64 = 10_000;
