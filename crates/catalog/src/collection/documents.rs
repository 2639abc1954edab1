//! Documents, looked up and listed.

use serde::Serialize;

use super::DocumentState;
use crate::bounded::bounded;
use crate::conditions::{Conditions, containing};
use crate::database::{Row, Value};
use crate::imports::reversed;
use crate::{Catalog, Error, Judgement, judgements};

/// A document of the collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentEntry {
    /// Its number.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// The MD5 of the URL, in hexadecimal.
    pub md5: String,
    /// The host of the URL.
    pub host: String,
    /// The number of its content, under which its file lies in the collection.
    pub content: i64,
    /// How the name of its file ends, without a dot.
    pub extension: String,
    /// The SHA-1 of its content, in hexadecimal.
    pub content_sha1: String,
    /// The SHA-256 of its content, in hexadecimal.
    pub content_sha256: String,
    /// How many bytes it has.
    pub size: u64,
    /// The media type that the server said.
    pub declared_type: Option<String>,
    /// The media type that the bytes look like.
    pub sniffed_type: Option<String>,
    /// The media type that was decided on.
    pub media_type: String,
    /// When it was first crawled, in seconds.
    pub discover_date: i64,
    /// When it was last crawled, in seconds, also if nothing had changed.
    pub update_date: i64,
    /// When its content was last crawled, in seconds.
    pub crawl_date: i64,
    /// The number of its parent.
    pub parent: Option<i64>,
    /// The URL of the page that links to it.
    pub parent_url: Option<String>,
    /// How many links away from a seed.
    pub depth: Option<u32>,
    /// Whether a crawl began with it.
    pub is_seed: Option<bool>,
    /// What became of it in a search engine.
    pub state: DocumentState,
    /// Where in a container it lies.
    pub member: Option<String>,
    /// Where its content is from.
    pub source: Option<String>,
    /// The import that brought its content.
    pub import: i64,
    /// What is known of its text, if anything is.
    pub judgement: Option<Judgement>,
}

/// Which documents are wanted.
#[derive(Debug, Clone)]
pub struct DocumentQuery {
    /// Those of one host.
    pub host: Option<String>,
    /// Those that stand so.
    pub state: Option<DocumentState>,
    /// Those of one media type.
    pub media_type: Option<String>,
    /// Those last crawled then or later, in seconds.
    pub since: Option<i64>,
    /// Those last crawled then or earlier, in seconds.
    pub until: Option<i64>,
    /// Those that one page links to, by its number.
    pub parent: Option<i64>,
    /// Those with one content, by its number.
    pub content: Option<i64>,
    /// Those whose content one import brought.
    pub import: Option<i64>,
    /// Those that were decided on so, by a librarian or else by a classifier: `accept`, `unsure` or `reject`.
    pub decision: Option<String>,
    /// Those of one kind, as a librarian or else a classifier says.
    pub kind: Option<String>,
    /// Those with this in their URL.
    pub text: Option<String>,
    /// Those with a greater number, for the next page.
    pub after: i64,
    /// How many at most.
    pub limit: u64,
}

impl Default for DocumentQuery {
    fn default() -> Self {
        Self {
            host: None,
            state: None,
            media_type: None,
            since: None,
            until: None,
            parent: None,
            content: None,
            import: None,
            decision: None,
            kind: None,
            text: None,
            after: 0,
            limit: 100,
        }
    }
}

impl Catalog {
    /// The document with this number.
    pub async fn document(&self, id: i64) -> Result<Option<DocumentEntry>, Error> {
        let sql = format!("{} WHERE document.id = $1", select());
        let row = self.database.read().await?.row(&sql, [id.into()]).await?;
        row.as_ref().map(document).transpose()
    }

    /// The document of a URL, by the MD5 that it was imported with.
    pub async fn document_at(&self, md5: &str) -> Result<Option<DocumentEntry>, Error> {
        let sql = format!("{} WHERE document.md5 = $1", select());
        let row = self.database.read().await?.row(&sql, [md5.into()]).await?;
        row.as_ref().map(document).transpose()
    }

    /// Documents, in the order of their numbers.
    pub async fn documents(&self, query: &DocumentQuery) -> Result<Vec<DocumentEntry>, Error> {
        let (sql, values) = query.statement();
        let rows = self.database.read().await?.rows(&sql, values).await?;
        rows.iter().map(document).collect()
    }
}

impl DocumentQuery {
    fn statement(&self) -> (String, Vec<Value>) {
        let mut conditions = Conditions::default();
        // What was only heard of has a number below zero.
        conditions.only("document.id > $n", Some(self.after.max(0)));
        let host = self.host.as_deref().map(|host| reversed(&bounded(host)));
        conditions.only("document.rev_host = $n", host);
        match self.state {
            Some(DocumentState::SetAside) => conditions.always("judgement.aside = 1"),
            Some(state) => {
                conditions.only("document.state = $n", Some(state.number()));
                conditions.always("COALESCE(judgement.aside, 0) = 0");
            }
            None => {}
        }
        conditions.only(
            "COALESCE(judgement.corrected_decision, judgement.decision) = $n",
            self.decision.as_deref(),
        );
        conditions.only(
            "COALESCE(judgement.corrected_kind, judgement.kind) = $n",
            self.kind.as_deref(),
        );
        conditions.only("document.media_type = $n", self.media_type.as_deref());
        conditions.only("document.update_date >= $n", self.since);
        conditions.only("document.update_date <= $n", self.until);
        conditions.only("document.parent_id = $n", self.parent);
        conditions.only("document.content_id = $n", self.content);
        conditions.only("document.import_id = $n", self.import);
        conditions.only(
            "lower(document.url) LIKE $n ESCAPE '!'",
            self.text.as_deref().map(containing),
        );
        conditions.some(&select(), "ORDER BY document.id", self.limit)
    }
}

fn select() -> String {
    SELECT.replacen("{judgement}", judgements::COLUMNS, 1)
}

const SELECT: &str = "SELECT document.id, document.url, document.md5, document.host, document.content_id, \
     content.extension, content.sha1, content.sha256, content.size, document.declared_type, document.sniffed_type, \
     document.media_type, document.discover_date, document.update_date, document.crawl_date, document.parent_id, \
     parent.url AS parent_url, document.depth, document.is_seed, document.state, document.member, document.source, \
     document.import_id, {judgement} \
     FROM document JOIN content ON content.id = document.content_id \
     LEFT JOIN parent ON parent.id = document.parent_id \
     LEFT JOIN judgement ON judgement.sha1 = content.sha1";

fn document(row: &Row) -> Result<DocumentEntry, Error> {
    let depth = row.maybe_integer("depth")?;
    let judgement = judgements::maybe(row)?;
    let is_aside = judgement
        .as_ref()
        .is_some_and(|judgement| judgement.is_aside);
    Ok(DocumentEntry {
        id: row.integer("id")?,
        url: row.text("url")?,
        md5: row.text("md5")?,
        host: row.text("host")?,
        content: row.integer("content_id")?,
        extension: row.text("extension")?,
        content_sha1: row.text("sha1")?,
        content_sha256: row.text("sha256")?,
        size: row.count("size")?,
        declared_type: row.maybe_text("declared_type")?,
        sniffed_type: row.maybe_text("sniffed_type")?,
        media_type: row.maybe_text("media_type")?.unwrap_or_default(),
        discover_date: row.integer("discover_date")?,
        update_date: row.integer("update_date")?,
        crawl_date: row.maybe_integer("crawl_date")?.unwrap_or_default(),
        parent: row.maybe_integer("parent_id")?,
        parent_url: row.maybe_text("parent_url")?,
        depth: depth.and_then(|depth| depth.try_into().ok()),
        is_seed: row.maybe_integer("is_seed")?.map(|flag| flag != 0),
        // Set aside is a property of the content, whatever was said of the document before.
        state: match is_aside {
            true => DocumentState::SetAside,
            false => DocumentState::of(row.integer("state")?),
        },
        member: row.maybe_text("member")?,
        source: row.maybe_text("source")?,
        import: row.integer("import_id")?,
        judgement,
    })
}
