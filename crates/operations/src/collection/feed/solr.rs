//! Changes sent to Solr, from where the last time ended.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use catalog::{ChangePosition, NewJob, Role, SavedKind};
use flows::{Access, Holdings, Solr, counted};
use harvester::{ClientOptions, Stop};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{Change, ChangeKind, Page, begin, position};
use crate::documents::Document;
use crate::jobs::{Job, add};
use crate::{Actor, Context, Refusal};

/// Changes to be sent to Solr.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SolrOrder {
    /// The URL of a core or collection, such as `http://solr.example:8983/solr/papers`.
    pub url: String,
    /// Whether texts are sent, in the field `text`.
    #[serde(default = "yes")]
    pub text: bool,
    /// Whether documents that Solr takes are marked as ingested, and those that it refuses as failed.
    #[serde(default = "yes")]
    pub mark: bool,
    /// Where to begin instead of where the last time ended; `0` is the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The name of a file in the data directory with credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub access: Option<String>,
}

/// Counts of a push.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pushed {
    /// Documents that Solr took.
    pub added: u64,
    /// Documents that were removed there, if they were there.
    pub removed: u64,
    /// Documents that Solr refused.
    pub refused: u64,
    /// Documents that were sent without their text, because it is missing.
    pub without_text: u64,
    /// The place behind the last change that was sent.
    pub seq: String,
    /// Whether it was stopped before its end; the next time goes on from there.
    pub stopped: bool,
}

/// Something that happens while changes are sent.
#[derive(Debug, Clone, Copy)]
pub enum SolrEvent<'a> {
    /// So far.
    Progress(&'a Pushed),
    /// Solr refuses a document.
    Refused {
        /// The number of the document.
        id: i64,
        /// Its URL.
        url: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// A document is sent without its text.
    Incomplete {
        /// The number of the document.
        id: i64,
        /// Its URL.
        url: &'a str,
        /// Why.
        problem: &'a str,
    },
}

/// How far a core or collection is.
#[derive(Debug, Serialize, Deserialize)]
struct Cursor {
    seq: String,
    /// Whether something was sent that was not made visible since.
    is_uncommitted: bool,
}

/// Sends to Solr what changed since the last time; this blocks.
pub fn push(
    context: &Context,
    actor: &Actor,
    order: &SolrOrder,
    options: &ClientOptions,
    stop: &Stop,
    tell: &mut dyn FnMut(SolrEvent<'_>),
) -> Result<Pushed, Refusal> {
    actor.require(Role::Operator)?;
    check(order)?;
    let solr = Solr::new(&order.url, options, stop)?;
    let mut pushing = Pushing {
        context,
        solr,
        order,
        pushed: Pushed::default(),
        tell,
    };
    pushing.all(stop)?;
    let pushed = pushing.pushed;
    let details = Some(pushed.said());
    let subject = format!("Solr at {}", order.url);
    context.wait(context.audit(actor, "feed.solr", subject, details));
    Ok(pushed)
}

/// Puts sending into the queue. `access` opens Solr.
pub async fn queue(
    context: &Context,
    actor: &Actor,
    mut order: SolrOrder,
    access: Option<Access>,
) -> Result<Job, Refusal> {
    actor.require(Role::Operator)?;
    check(&order)?;
    order.access = None;
    if let Some(access) = access {
        order.access = access.keep(context.holdings(), &order.url)?;
    }
    let parameters = serde_json::to_string(&order).map_err(anyhow::Error::from)?;
    let details = Some(order.url.clone());
    add(context, actor, NewJob::feed(parameters), None, details).await
}

/// Does what a job of the queue is to do; this blocks.
pub fn push_for(
    holdings: &Arc<Holdings>,
    order: &SolrOrder,
    options: &ClientOptions,
    stop: &Stop,
    tell: &mut dyn FnMut(SolrEvent<'_>),
) -> Result<Pushed, Refusal> {
    let context = Context::new(Arc::clone(holdings));
    let mut options = options.clone();
    if let Some(name) = &order.access {
        Access::load(holdings, name, &order.url)?.apply(&mut options);
    }
    // The job itself is in the audit trail.
    push(
        &context,
        &Actor::command_line(),
        order,
        &options,
        stop,
        tell,
    )
}

impl SolrOrder {
    /// Reads the parameters of a job.
    pub fn parse(json: &str) -> anyhow::Result<Self> {
        serde_json::from_str(json).context("the parameters of the job cannot be read")
    }
}

impl Pushed {
    /// In words.
    pub fn said(&self) -> String {
        let Self {
            added,
            removed,
            refused,
            without_text,
            ..
        } = self;
        let mut said = format!("{} sent, {removed} removed", counted(*added, "document"));
        for (number, what) in [
            (*without_text, "sent without their missing texts"),
            (*refused, "refused"),
        ] {
            if number > 0 {
                said.push_str(&format!(", {number} {what}"));
            }
        }
        said
    }
}

fn check(order: &SolrOrder) -> Result<(), Refusal> {
    position(order.since.as_deref())?;
    let wrong = |reason: &str| Err(Refusal::invalid("url", reason));
    match harvester::canonical_base_url(&order.url) {
        // The client speaks of repositories.
        Err(error) => wrong(
            &error
                .to_string()
                .replace("a base URL", "the URL of a core or collection"),
        ),
        // Everybody may read the parameters of a job.
        Ok(_) if order.url.contains('@') => {
            wrong("give the password with --credentials, not in the URL")
        }
        Ok(_) if order.url.contains(['?', '#']) => {
            wrong("write the URL of a core or collection alone, without ? and #")
        }
        Ok(_) => Ok(()),
    }
}

fn yes() -> bool {
    true
}

struct Pushing<'a> {
    context: &'a Context,
    solr: Solr,
    order: &'a SolrOrder,
    pushed: Pushed,
    tell: &'a mut dyn FnMut(SolrEvent<'_>),
}

impl Pushing<'_> {
    fn all(&mut self, stop: &Stop) -> Result<(), Refusal> {
        let cursor = self.cursor()?;
        let mut is_uncommitted = cursor.as_ref().is_some_and(|cursor| cursor.is_uncommitted);
        let stored = cursor.map(|cursor| cursor.seq);
        let since = self.order.since.as_deref().or(stored.as_deref());
        let mut since = self.context.wait(begin(self.context, since))?;
        loop {
            self.pushed.seq = since.to_string();
            self.pushed.stopped = stop.is_set();
            if self.pushed.stopped {
                return Ok(());
            }
            let page = self.context.wait(Page::read(self.context, since, PAGE))?;
            let Some(next) = page.next else { break };
            self.page(page)?;
            since = next;
            is_uncommitted = true;
            self.keep(since, true)?;
            (self.tell)(SolrEvent::Progress(&self.pushed));
        }
        if is_uncommitted {
            self.solr.commit()?;
            self.keep(since, false)?;
        }
        Ok(())
    }

    /// Sends a page. Each document is in it once, so that the order of additions and removals does not matter.
    fn page(&mut self, page: Page) -> Result<(), Refusal> {
        let files = self.context.document_files()?;
        let (mut gone, mut documents, mut size) = (Vec::new(), Vec::new(), 0);
        for mut change in page.changes(Path::new("")) {
            if self.order.text {
                change.read_text(&files)?;
            }
            let Change {
                change: ChangeKind::New | ChangeKind::Updated,
                document: Some(document),
                text,
                problem,
                ..
            } = change
            else {
                gone.push(change.id.to_string());
                continue;
            };
            if let Some(problem) = &problem {
                self.pushed.without_text += 1;
                (self.tell)(SolrEvent::Incomplete {
                    id: document.id,
                    url: &document.url,
                    problem,
                });
            }
            size += text.as_ref().map_or(0, String::len);
            documents.push(fields(&document, text));
            // Solr refuses requests that are too large.
            if size > LONGEST {
                self.add(&std::mem::take(&mut documents))?;
                size = 0;
            }
        }
        self.add(&documents)?;
        self.solr.delete(&gone)?;
        self.pushed.removed += gone.len() as u64;
        Ok(())
    }

    fn add(&mut self, documents: &[Value]) -> Result<(), Refusal> {
        let refused = self.solr.add(documents)?;
        let id = |document: &Value| document["id"].as_str().and_then(|id| id.parse().ok());
        for (place, reason) in &refused {
            let document = &documents[*place];
            (self.tell)(SolrEvent::Refused {
                id: id(document).unwrap_or_default(),
                url: document["url"].as_str().unwrap_or_default(),
                reason,
            });
        }
        self.pushed.refused += refused.len() as u64;
        self.pushed.added += (documents.len() - refused.len()) as u64;
        if !self.order.mark {
            return Ok(());
        }
        let is_refused = |place: usize| refused.iter().any(|(refused, _)| *refused == place);
        let (mut taken, mut failed) = (Vec::new(), Vec::new());
        for (place, document) in documents.iter().enumerate() {
            match is_refused(place) {
                true => failed.extend(id(document)),
                false => taken.extend(id(document)),
            }
        }
        let catalog = self.context.catalog();
        for (ids, state) in [
            (taken, catalog::DocumentState::Ingested),
            (failed, catalog::DocumentState::Failed),
        ] {
            if !ids.is_empty() {
                self.context.wait(catalog.set_state(&ids, state))?;
            }
        }
        Ok(())
    }

    fn cursor(&self) -> Result<Option<Cursor>, Refusal> {
        let saved = self
            .context
            .catalog()
            .saved_as(SavedKind::Feed, &self.order.url);
        let saved = self.context.wait(saved)?;
        let cursor = saved.map(|saved| serde_json::from_str(&saved.content));
        Ok(cursor.transpose().map_err(anyhow::Error::from)?)
    }

    fn keep(&self, since: ChangePosition, is_uncommitted: bool) -> Result<(), Refusal> {
        let cursor = Cursor {
            seq: since.to_string(),
            is_uncommitted,
        };
        let content = serde_json::to_string(&cursor).map_err(anyhow::Error::from)?;
        let catalog = self.context.catalog();
        let saved = catalog.save(SavedKind::Feed, &self.order.url, &content, None);
        self.context.wait(saved)?;
        Ok(())
    }
}

/// A document with the fields that a search engine needs; those that are not known are absent.
fn fields(document: &Document, text: Option<String>) -> Value {
    let Ok(Value::Object(all)) = serde_json::to_value(document) else {
        return Value::Null;
    };
    let mut fields = Map::new();
    for (name, value) in all {
        if FIELDS.contains(&&*name) && !value.is_null() {
            fields.insert(name, value);
        }
    }
    fields.insert("id".to_owned(), document.id.to_string().into());
    fields.extend(text.map(|text| ("text".to_owned(), text.into())));
    fields.into()
}

const FIELDS: [&str; 18] = [
    "url",
    "member",
    "host",
    "parent_url",
    "media_type",
    "size",
    "title",
    "language",
    "kind",
    "decision",
    "probability",
    "discover_date",
    "update_date",
    "crawl_date",
    "content_sha1",
    "content_sha256",
    "import",
    "file",
];
const PAGE: u64 = 500;
/// Texts of one request at most, in bytes; one text may be longer.
const LONGEST: usize = 8 << 20;
