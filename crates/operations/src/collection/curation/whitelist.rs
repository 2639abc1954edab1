//! Whitelists: parents, or their hosts, ranked by their ingested documents and by how often these are cited, as seeds for
//! the next crawl.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};

use anyhow::bail;
use catalog::{ListKind, ParentQuery, Role};
use document::url::normalise;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::lists::{self, NewList, UrlList};
use super::table::Table;
use crate::{Actor, Context, Refusal, csv_cell};

/// How a whitelist is made.
#[derive(Debug, Clone, PartialEq, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhitelistOrder {
    /// Whether parents are listed or their hosts: `parent` (the default) or `host`.
    #[param(inline)]
    pub by: By,
    /// The weight of ingested documents; the default is 1.
    pub weight_ingested: f64,
    /// The weight of citations per ingested document; the default is 1.
    pub weight_citations: f64,
    /// Only those with so many ingested documents; the default is 1.
    pub minimum: u64,
    /// At most this many, the best first; all by default.
    pub limit: Option<u64>,
}

/// The entries of a whitelist: parents or hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The pages that link to documents.
    #[default]
    Parent,
    /// Their hosts.
    Host,
}

/// A URL of a whitelist.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Seed {
    /// Its place, from 1.
    pub rank: u64,
    /// The URL.
    pub url: String,
    /// Its host.
    pub host: String,
    /// The documents of the parent, or of all parents of the host.
    pub documents: u64,
    /// Those of them that a search engine ingested.
    pub ingested: u64,
    /// How often they are cited.
    pub citations: u64,
    /// Citations per ingested document.
    pub citation_rate: f64,
    /// The share of the greatest number of ingested documents times its weight, plus the same of the rate.
    pub score: f64,
}

/// How often a document is cited.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The number of the document.
    pub document: Option<i64>,
    /// Its URL, in place of the number.
    pub url: Option<String>,
    /// How often it is cited.
    pub citations: u32,
}

/// Citations of documents.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCitations {
    /// At most 10000.
    pub citations: Vec<Citation>,
}

/// The outcome of reading citations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct CitationsKept {
    /// Those that are kept.
    pub kept: u64,
    /// Those of numbers that no document has.
    pub unknown: u64,
}

/// A whitelist, best first. It has what its seeds are made of, which takes less memory than the seeds.
pub struct Whitelist {
    entries: Vec<Candidate>,
    scale: Scale,
}

/// The totals that scores are shares of, and their weights.
#[derive(Clone, Copy)]
struct Scale {
    most_ingested: u64,
    best_rate: f64,
    weight_ingested: f64,
    weight_citations: f64,
}

/// A parent or a host on its way to a whitelist.
struct Candidate {
    url: Box<str>,
    documents: u64,
    ingested: u64,
    citations: u64,
}

/// Makes a whitelist; this blocks. Its seeds are those of the catalog, or of a `parenturl.revised.csv`: `from`. Citations
/// are those that the catalog keeps, or of a CSV.
pub fn make(
    context: &Context,
    order: &WhitelistOrder,
    from: Option<&mut dyn Read>,
    citations: Option<&mut dyn Read>,
) -> anyhow::Result<Whitelist> {
    let weights = [order.weight_ingested, order.weight_citations];
    if weights
        .iter()
        .any(|weight| !weight.is_finite() || *weight < 0.0)
    {
        let reason = "a weight is 0 or a greater number";
        return Err(Refusal::invalid("weight_ingested", reason).into());
    }
    let cited = match citations {
        Some(table) => cited_in(context, table)?,
        None => cited_in_catalog(context)?,
    };
    let mut candidates = Candidates::new(order.by, cited);
    match from {
        Some(table) => candidates.of_table(table)?,
        None => candidates.of_catalog(context)?,
    }
    let all = std::mem::take(&mut candidates.all);
    // The citations of parents are counted.
    drop(candidates);
    Ok(Whitelist::of(order, all))
}

/// Keeps how often documents are cited, for whitelists to come.
pub async fn keep_citations(
    context: &Context,
    actor: &Actor,
    new: &NewCitations,
) -> Result<CitationsKept, Refusal> {
    actor.require(Role::Operator)?;
    let number = new.citations.len();
    if number > MAX_CITATIONS {
        let reason = format!("{number} are too many at once; send at most {MAX_CITATIONS}");
        return Err(Refusal::invalid("citations", reason));
    }
    let mut named = Vec::new();
    for citation in &new.citations {
        let document = match (citation.document, &citation.url) {
            (Some(id), None) => Named::Number(id),
            (None, Some(url)) => match normalise(url) {
                Ok(url) => Named::Url(url.md5),
                Err(error) => return Err(Refusal::invalid("citations", error.to_string())),
            },
            _ => return Err(Refusal::invalid("citations", "give a document or its url")),
        };
        named.push((document, citation.citations.into()));
    }
    let kept = keep(context, named, &mut HashSet::new()).await?;
    let details = Some(format!("{} documents", kept.kept));
    context
        .audit(actor, "citations.keep", "citations", details)
        .await;
    Ok(kept)
}

/// Keeps the citations of a CSV with the columns `document` or `url`, and `citations`; this blocks.
pub fn load_citations(
    context: &Context,
    actor: &Actor,
    table: &mut dyn Read,
) -> anyhow::Result<CitationsKept> {
    actor.require(Role::Operator)?;
    let (mut all, mut seen) = (CitationsKept::default(), HashSet::new());
    each_citation(table, &mut |part| {
        let kept = context.wait(keep(context, part, &mut seen))?;
        all.kept += kept.kept;
        all.unknown += kept.unknown;
        Ok(())
    })?;
    let details = Some(format!("{} documents", all.kept));
    context.wait(context.audit(actor, "citations.keep", "citations", details));
    Ok(all)
}

/// Keeps a whitelist in the catalog, under a name that no list has.
pub async fn save(
    context: &Context,
    actor: &Actor,
    name: &str,
    list: &Whitelist,
) -> Result<UrlList, Refusal> {
    let mut content = String::new();
    for entry in &list.entries {
        content.push_str(&entry.url);
        content.push('\n');
    }
    let new = NewList {
        kind: ListKind::Whitelist,
        name: name.to_owned(),
        content,
    };
    lists::add(context, actor, &new).await
}

/// Writes seeds one URL a line, as Heritrix reads them.
pub fn write_text(list: &Whitelist, out: &mut dyn Write) -> std::io::Result<()> {
    let mut entries = list.entries.iter();
    entries.try_for_each(|entry| writeln!(out, "{}", entry.url))
}

/// Writes seeds as CSV.
pub fn write_csv(list: &Whitelist, out: &mut dyn Write) -> std::io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    for seed in list.seeds() {
        let Seed {
            rank,
            documents,
            ingested,
            citations,
            citation_rate,
            score,
            ..
        } = &seed;
        let (url, host) = (csv_cell(&seed.url), csv_cell(&seed.host));
        write!(
            out,
            "{rank},{url},{host},{documents},{ingested},{citations},{citation_rate:.3},{score:.6}\r\n"
        )?;
    }
    Ok(())
}

/// The document that a citation is of.
enum Named {
    Number(i64),
    /// The MD5 under which imports know it.
    Url(String),
}

/// Keeps citations. `seen` are the documents that were counted before: the last of several numbers of one counts.
async fn keep(
    context: &Context,
    named: Vec<(Named, i64)>,
    seen: &mut HashSet<String>,
) -> Result<CitationsKept, Refusal> {
    let numbers = named.iter().filter_map(|(named, _)| named.number());
    let numbers: Vec<_> = numbers.collect();
    let urls = context.catalog().urls_of(&numbers).await?;
    let mut kept = CitationsKept::default();
    let mut rows = Vec::with_capacity(named.len());
    for (document, citations) in named {
        let md5 = match document {
            Named::Url(md5) => Some(md5),
            Named::Number(id) => urls.get(&id).cloned(),
        };
        match md5 {
            Some(md5) => rows.push((md5, citations)),
            None => kept.unknown += 1,
        }
    }
    for (md5, _) in &rows {
        kept.kept += u64::from(seen.insert(md5.clone()));
    }
    context.catalog().keep_citations(&rows).await?;
    Ok(kept)
}

/// Reads citations some at a time.
fn each_citation(
    table: &mut dyn Read,
    each: &mut dyn FnMut(Vec<(Named, i64)>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut table = Table::open(table, &["citations"], &["document", "url"])?;
    if !table.has("document") && !table.has("url") {
        bail!("line 1: the column document or url is missing");
    }
    let mut part = Vec::new();
    while table.next()? {
        let citations = i64::try_from(table.number("citations")?).unwrap_or(i64::MAX);
        let citations = citations.min(u32::MAX.into());
        let named = match (table.text("document")?, table.text("url")?) {
            ("", "") => bail!("line {}: neither document nor url is given", table.line()),
            ("", url) => match normalise(url) {
                Ok(url) => Named::Url(url.md5),
                Err(error) => return Err(table.wrong("url", &error.to_string())),
            },
            (number, _) => match number.parse() {
                Ok(number) => Named::Number(number),
                Err(_) => return Err(table.wrong("document", "it is no number")),
            },
        };
        part.push((named, citations));
        if part.len() >= PART {
            each(std::mem::take(&mut part))?;
        }
    }
    each(part)
}

/// The citations of parents, by the MD5 of their URLs.
type Cited = HashMap<Box<str>, u64>;

fn cited_in(context: &Context, table: &mut dyn Read) -> anyhow::Result<Cited> {
    let mut cited = Cited::new();
    each_citation(table, &mut |part| add_cited(context, part, &mut cited))?;
    Ok(cited)
}

fn cited_in_catalog(context: &Context) -> anyhow::Result<Cited> {
    let mut cited = Cited::new();
    let mut after = String::new();
    loop {
        let page = context.wait(context.catalog().citations(&after, PART as u64))?;
        let Some((last, _)) = page.last() else {
            return Ok(cited);
        };
        after.clone_from(last);
        let named = page.into_iter();
        let named = named.map(|(md5, citations)| (Named::Url(md5), citations));
        add_cited(context, named.collect(), &mut cited)?;
    }
}

fn add_cited(context: &Context, part: Vec<(Named, i64)>, cited: &mut Cited) -> anyhow::Result<()> {
    let numbers = part.iter().filter_map(|(named, _)| named.number());
    let numbers: Vec<_> = numbers.collect();
    let urls = part.iter().filter_map(|(named, _)| match named {
        Named::Url(md5) => Some(md5.clone()),
        Named::Number(_) => None,
    });
    let urls: Vec<_> = urls.collect();
    let parents = context.wait(context.catalog().parents_of(&numbers, &urls))?;
    for (named, citations) in part {
        let parent = match named {
            Named::Number(id) => parents.0.get(&id),
            Named::Url(md5) => parents.1.get(&md5),
        };
        if let Some(parent) = parent {
            let citations = u64::try_from(citations).unwrap_or_default();
            *cited.entry(parent.as_str().into()).or_default() += citations;
        }
    }
    Ok(())
}

/// Candidates as they are gathered.
struct Candidates {
    by: By,
    cited: Cited,
    all: Vec<Candidate>,
    /// The places of hosts among them.
    hosts: HashMap<Box<str>, usize>,
}

impl Candidates {
    fn new(by: By, cited: Cited) -> Self {
        Self {
            by,
            cited,
            all: Vec::new(),
            hosts: HashMap::new(),
        }
    }

    fn of_catalog(&mut self, context: &Context) -> anyhow::Result<()> {
        let mut query = ParentQuery {
            limit: PAGE,
            ..ParentQuery::default()
        };
        loop {
            let parents = context.wait(context.catalog().parents(&query))?;
            let Some(last) = parents.last() else {
                return Ok(());
            };
            query.after = last.id;
            for parent in parents {
                if parent.documents > 0 {
                    let counts = (parent.documents, parent.ingested);
                    self.add(&parent.url, &parent.host, &parent.md5, counts);
                }
            }
        }
    }

    fn of_table(&mut self, table: &mut dyn Read) -> anyhow::Result<()> {
        let required = ["url", "ingested"];
        let mut table = Table::open(table, &required, &["documents"])?;
        while table.next()? {
            let url = match normalise(table.text("url")?) {
                Ok(url) => url,
                Err(error) => return Err(table.wrong("url", &error.to_string())),
            };
            let counts = (table.number("documents")?, table.number("ingested")?);
            self.add(&url.url, &url.host, &url.md5, counts);
        }
        Ok(())
    }

    fn add(&mut self, url: &str, host: &str, md5: &str, (documents, ingested): (u64, u64)) {
        let citations = self.cited.get(md5).copied().unwrap_or_default();
        if self.by == By::Host {
            if let Some(at) = self.hosts.get(host) {
                let known = &mut self.all[*at];
                known.documents += documents;
                known.ingested += ingested;
                known.citations += citations;
                return;
            }
            self.hosts.insert(host.into(), self.all.len());
        }
        self.all.push(Candidate {
            url: match self.by {
                By::Parent => url.into(),
                By::Host => origin(url).into(),
            },
            documents,
            ingested,
            citations,
        });
    }
}

impl Whitelist {
    /// The best candidates. Of two with the same score the one with more ingested documents is better, and then the one
    /// whose URL comes first.
    fn of(order: &WhitelistOrder, mut entries: Vec<Candidate>) -> Self {
        entries.retain(|candidate| candidate.ingested >= order.minimum);
        let ingested = entries.iter().map(|one| one.ingested);
        let scale = Scale {
            most_ingested: ingested.max().unwrap_or_default(),
            best_rate: entries.iter().map(Candidate::rate).fold(0.0, f64::max),
            weight_ingested: order.weight_ingested,
            weight_citations: order.weight_citations,
        };
        entries.sort_unstable_by(|a, b| {
            let by_score = scale.score(b).total_cmp(&scale.score(a));
            let by_ingested = || b.ingested.cmp(&a.ingested);
            by_score
                .then_with(by_ingested)
                .then_with(|| a.url.cmp(&b.url))
        });
        let limit = order.limit.unwrap_or(u64::MAX);
        entries.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Self { entries, scale }
    }

    /// Its seeds.
    pub fn seeds(&self) -> impl Iterator<Item = Seed> + '_ {
        (1..).zip(&self.entries).map(|(rank, one)| Seed {
            rank,
            host: normalise(&one.url).map(|url| url.host).unwrap_or_default(),
            citation_rate: one.rate(),
            score: self.scale.score(one),
            documents: one.documents,
            ingested: one.ingested,
            citations: one.citations,
            url: one.url.to_string(),
        })
    }

    /// The number of its seeds.
    pub fn count(&self) -> usize {
        self.entries.len()
    }
}

impl Scale {
    fn score(&self, one: &Candidate) -> f64 {
        let share = |value: f64, of: f64| if of > 0.0 { value / of } else { 0.0 };
        self.weight_ingested * share(one.ingested as f64, self.most_ingested as f64)
            + self.weight_citations * share(one.rate(), self.best_rate)
    }
}

/// The URL of the host of a URL.
fn origin(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..]
        .find(['/', '?'])
        .map_or(url.len(), |at| start + at);
    format!("{}/", &url[..end])
}

impl Named {
    fn number(&self) -> Option<i64> {
        match self {
            Self::Number(id) => Some(*id),
            Self::Url(_) => None,
        }
    }
}

impl Candidate {
    fn rate(&self) -> f64 {
        match self.ingested {
            0 => 0.0,
            ingested => self.citations as f64 / ingested as f64,
        }
    }
}

impl Default for WhitelistOrder {
    fn default() -> Self {
        Self {
            by: By::Parent,
            weight_ingested: 1.0,
            weight_citations: 1.0,
            minimum: 1,
            limit: None,
        }
    }
}

const HEAD: &str = "rank,url,host,documents,ingested,citations,citation_rate,score\r\n";
const PART: usize = 5000;
const PAGE: u64 = 1000;
const MAX_CITATIONS: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(by: By) -> Candidates {
        let mut candidates = Candidates::new(by, [("m2".into(), 30)].into());
        candidates.add("http://a.example/x/", "a.example", "m1", (5, 4));
        candidates.add("http://b.example:8080/y?z", "b.example", "m2", (3, 3));
        candidates.add("http://a.example/z/", "a.example", "m3", (9, 0));
        candidates
    }

    fn urls(order: &WhitelistOrder) -> Vec<String> {
        let list = Whitelist::of(order, candidates(order.by).all);
        list.seeds().map(|seed| seed.url).collect()
    }

    #[test]
    fn weights_decide_and_what_was_never_ingested_is_left_out() {
        let order = WhitelistOrder::default();
        assert_eq!(
            urls(&order),
            ["http://b.example:8080/y?z", "http://a.example/x/"]
        );

        let by_number = WhitelistOrder {
            weight_citations: 0.0,
            limit: Some(1),
            ..order.clone()
        };
        assert_eq!(urls(&by_number), ["http://a.example/x/"]);

        let by_host = WhitelistOrder {
            by: By::Host,
            weight_citations: 0.0,
            ..order
        };
        assert_eq!(
            urls(&by_host),
            ["http://a.example/", "http://b.example:8080/"]
        );
    }
}
