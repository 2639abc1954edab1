//! Documents, looked up and listed.

use serde::Serialize;

use super::DocumentState;
use super::judgements;
use crate::database::bounded::bounded;
use crate::database::conditions::{Conditions, containing};
use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction, Value};
use crate::imports::reversed;
use crate::records::rarity::{FEW, is_few};
use crate::{Catalog, Error, Judgement};

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
    /// The document that owns its bytes, if that is another one: the one that brought them, or the first of those that
    /// have them, if it has other bytes now.
    pub shared_with: Option<i64>,
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
    /// Its state in the search engine.
    pub state: DocumentState,
    /// Where in a container it lies.
    pub member: Option<String>,
    /// Where its content is from.
    pub source: Option<String>,
    /// Which digests of its archive are those of other bytes: `block`, `payload`, or `block, payload`.
    pub digest_mismatch: Option<String>,
    /// The import that brought its content.
    pub import: i64,
    /// The title of its text, if one is known.
    pub title: Option<String>,
    /// The language of its text, as a code of ISO 639-1.
    pub language: Option<String>,
    /// The group of contents whose texts say nearly the same; none if no other does.
    pub near: Option<i64>,
    /// The judgement of its text, if there is one.
    pub judgement: Option<Judgement>,
}

impl DocumentEntry {
    /// Whether its text lies in the collection: beside it, or as the document itself.
    pub fn has_text(&self) -> bool {
        let is_read = |judgement: &Judgement| judgement.outcome == "text";
        self.extension == "txt" || self.judgement.as_ref().is_some_and(is_read)
    }
}

/// Which documents are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Those in one language, as a code of ISO 639-1.
    pub language: Option<String>,
    /// Those of a host or of a domain and all that is below it.
    pub domain: Option<String>,
    /// Those of one group of near-duplicates.
    pub near: Option<i64>,
    /// Those with this in their URL.
    pub text: Option<String>,
    /// The order of the list.
    pub order: DocumentOrder,
    /// Whether the greatest come first; without it as the order says.
    pub descending: Option<bool>,
    /// Those behind the document with this number, for the next page.
    pub after: i64,
    /// Where a list by number ends: see [`Catalog::end_of_look`].
    pub end: Option<i64>,
    /// How many at most.
    pub limit: u64,
}

/// The order of a list of documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DocumentOrder {
    /// By their numbers.
    #[default]
    Number,
    /// By their numbers, the greatest first.
    Newest,
    /// By the last crawl, the latest first.
    Updated,
    /// By the host, its last part first, so that a domain stands together.
    Host,
    /// By the media type.
    Type,
    /// By the title, documents without one last. No index has this order, nor the following ones.
    Title,
    /// By the size in bytes.
    Size,
    /// By the state in the search engine.
    State,
    /// By the kind.
    Kind,
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
            language: None,
            domain: None,
            near: None,
            text: None,
            order: DocumentOrder::default(),
            descending: None,
            after: 0,
            end: None,
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

    /// The numbers of the documents of URLs, by the MD5s that they were imported with.
    pub async fn documents_at(&self, md5s: &[String]) -> Result<Vec<i64>, Error> {
        let mut transaction = self.database.read().await?;
        let mut found = Vec::new();
        for part in md5s.chunks(BATCH) {
            let keys: Vec<_> = part.iter().map(|md5| (md5,)).collect();
            let sql = "SELECT id FROM document WHERE md5 {texts($1)} ORDER BY id";
            for row in transaction.rows(sql, [batch(&keys)]).await? {
                found.push(row.integer("id")?);
            }
        }
        Ok(found)
    }

    /// Documents, in the order of their numbers.
    pub async fn documents(&self, query: &DocumentQuery) -> Result<Vec<DocumentEntry>, Error> {
        let mut transaction = self.database.long_list().await?;
        let few = query.gather(&mut transaction).await?;
        let (sql, values) = query.statement(few.as_deref());
        let rows = transaction.rows(&sql, values).await?;
        rows.iter().map(document).collect()
    }

    /// How many documents a query has, counted up to `most`; none if people would wait for the number too long.
    pub async fn count_documents(
        &self,
        query: &DocumentQuery,
        most: u64,
    ) -> Result<Option<u64>, Error> {
        let (sql, values) = query.leading("SELECT 1 AS one", None, most);
        let sql = format!("SELECT count(*) AS number FROM ({sql}) AS counted");
        match self.database.quick_list().await?.row(&sql, values).await {
            Ok(row) => row.map_or(Ok(0), |row| row.count("number")).map(Some),
            Err(Error::TooLong) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where a page of a query for a part of URLs stops looking: the number of a document, or none if it looks at all
    /// that are left. No index has parts of URLs, so one page looks at some documents only.
    pub async fn end_of_look(&self, query: &DocumentQuery) -> Result<Option<i64>, Error> {
        if query.text.is_none() || query.is_narrow() || !query.goes_by_number() {
            return Ok(None);
        }
        let greatest = greatest(&mut self.database.read().await?).await?;
        let end = match (query.is_descending(), query.after) {
            (true, 0) => greatest - LOOK + 1,
            (true, after) => after - LOOK,
            (false, after) => after + LOOK,
        };
        Ok((0 < end && end < greatest).then_some(end))
    }
}

/// The greatest number of a document.
async fn greatest(transaction: &mut Transaction) -> Result<i64, Error> {
    let sql = "SELECT max(id) AS number FROM document";
    let row = transaction.row(sql, []).await?;
    let greatest = row.map_or(Ok(None), |row| row.maybe_integer("number"))?;
    Ok(greatest.unwrap_or_default())
}

/// The table that a statement reads first. Neither database knows which of several conditions is the rarest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    /// The documents, in the order that is asked for.
    Order,
    /// The contents that were judged as asked for.
    Contents,
    /// The documents of a time.
    Dates,
}

impl DocumentQuery {
    /// The table that leads to the fewest documents.
    pub(super) fn lead(&self) -> Lead {
        if self.is_narrow() {
            Lead::Order
        } else if self.judged().is_some() {
            Lead::Contents
        } else if self.since.is_some() || self.until.is_some() {
            Lead::Dates
        } else {
            Lead::Order
        }
    }

    /// Whether an index leads to few documents in the order of their numbers.
    fn is_narrow(&self) -> bool {
        self.host.is_some()
            || self.domain.is_some()
            || self.import.is_some()
            || self.parent.is_some()
            || self.content.is_some()
    }

    /// Whether a page of any list is read without sorting all of it, or looking for a part of URLs in all of it.
    pub fn is_read_in_order(&self) -> bool {
        self.order.is_indexed() && (self.text.is_none() || self.goes_by_number())
    }

    /// Whether a list is in the order of the numbers of documents, up or down.
    fn goes_by_number(&self) -> bool {
        matches!(self.order, DocumentOrder::Number | DocumentOrder::Newest)
    }

    /// The numbers of the documents, if they are few and an index leads to them. A list goes along the numbers of
    /// documents, and would meet what is rare too seldom.
    pub(super) async fn gather(
        &self,
        transaction: &mut Transaction,
    ) -> Result<Option<Vec<(i64,)>>, Error> {
        if self.lead() == Lead::Order {
            return Ok(None);
        }
        let statement = self.leading("SELECT document.id AS id", None, FEW + 1);
        few(transaction, statement).await
    }

    /// A statement for the documents of the filter, in the order in which an index leads to them: all of them, or those
    /// from a value of this order on.
    pub(super) fn leading(
        &self,
        select: &str,
        from: Option<i64>,
        limit: u64,
    ) -> (String, Vec<Value>) {
        let lead = self.lead();
        let mut conditions = Conditions::default();
        self.narrow_by(lead, &mut conditions);
        let (tables, key) = match lead {
            Lead::Contents => (CONTENTS_FIRST, "content.id"),
            Lead::Dates => (DOCUMENTS_FIRST, "document.update_date"),
            Lead::Order => (DOCUMENTS_FIRST, "document.id"),
        };
        // Without its contents a document need not be read: an index has the rest.
        let is_about_contents =
            self.is_about_contents() || select.contains("content.") || lead == Lead::Contents;
        let tables = if is_about_contents {
            tables
        } else {
            "FROM document"
        };
        conditions.only(&format!("{key} >= $n"), from);
        let order = from.map_or_else(String::new, |_| format!("ORDER BY {key}"));
        conditions.some(&format!("{select} {tables}"), &order, limit)
    }

    fn is_about_contents(&self) -> bool {
        self.judged().is_some() || self.state.is_some() || self.near.is_some()
    }

    /// The statement for the numbers of contents that were judged as asked for; `None` if nothing is asked for.
    fn judged(&self) -> Option<(String, Vec<Value>)> {
        let is_aside = self.state == Some(DocumentState::SetAside);
        if self.decision.is_none() && self.kind.is_none() && self.language.is_none() && !is_aside {
            return None;
        }
        let mut conditions = Conditions::default();
        conditions.only("decision = $n", self.decision.as_deref());
        conditions.only("kind = $n", self.kind.as_deref());
        conditions.only("language = $n", self.language.as_deref());
        if is_aside {
            conditions.always("aside = 1");
        }
        Some(conditions.some("SELECT id FROM content", "", FEW + 1))
    }

    /// The statement for a page, among `few` documents or all of them.
    fn statement(&self, few: Option<&[(i64,)]>) -> (String, Vec<Value>) {
        let mut conditions = Conditions::default();
        self.behind(&mut conditions);
        let sign = if self.is_descending() { ">=" } else { "<=" };
        conditions.only(&format!("document.id {sign} $n"), self.end);
        conditions.only("document.id {integers($n)}", few.map(batch));
        self.narrow(&mut conditions);
        let order = self.order_by();
        if self.order.is_indexed() {
            return conditions.some(&select(), &order, self.limit);
        }
        // Only the rows of the page are read as a whole, and not all that are sorted.
        let sorted = format!("SELECT document.id {TABLES}");
        let (sorted, values) = conditions.some(&sorted, &order, self.limit);
        let sql = format!("{} WHERE document.id IN ({sorted}) {order}", select());
        (sql, values)
    }

    fn is_descending(&self) -> bool {
        let usual = matches!(self.order, DocumentOrder::Newest | DocumentOrder::Updated);
        self.descending.unwrap_or(usual)
    }

    fn order_by(&self) -> String {
        let direction = if self.is_descending() { " DESC" } else { "" };
        let keys = self.order.keys(self.is_descending());
        let keys = keys.iter().chain(&["document.id"]);
        let keys: Vec<_> = keys.map(|key| format!("{key}{direction}")).collect();
        format!("ORDER BY {}", keys.join(", "))
    }

    /// Passes over what the pages before have.
    fn behind(&self, conditions: &mut Conditions) {
        let sign = if self.is_descending() { "<" } else { ">" };
        let keys = self.order.keys(self.is_descending());
        if keys.is_empty() {
            let after = (sign == ">" || self.after > 0).then_some(self.after);
            return conditions.only(&format!("document.id {sign} $n"), after);
        }
        let keys = keys.join(", ");
        let last = keys
            .replace("content.", "last_content.")
            .replace("document.", "last.");
        let behind = format!(
            "({keys}, document.id) {sign} (SELECT {last}, last.id FROM document AS last
                 JOIN content AS last_content ON last_content.id = last.content_id WHERE last.id = $n)"
        );
        conditions.only(&behind, (self.after > 0).then_some(self.after));
    }

    /// Statements for the contents that one of the conditions leaves, each for one more than are few.
    pub(super) fn rare_contents(&self) -> Vec<(String, Vec<Value>)> {
        let mut rare = Vec::new();
        if self.is_narrow() {
            let narrow = Self {
                host: self.host.clone(),
                domain: self.domain.clone(),
                import: self.import,
                parent: self.parent,
                content: self.content,
                ..Self::default()
            };
            let mut conditions = Conditions::default();
            narrow.narrow(&mut conditions);
            rare.push(conditions.some("SELECT content_id AS id FROM document", "", FEW + 1));
        }
        rare.extend(self.judged());
        rare
    }

    /// The conditions of the filter.
    pub(super) fn narrow(&self, conditions: &mut Conditions) {
        self.narrow_by(Lead::Order, conditions);
    }

    /// The same for a statement that reads `lead` first. The empty text and the zero keep the databases from reading
    /// another index first.
    fn narrow_by(&self, lead: Lead, conditions: &mut Conditions) {
        let of_content = if lead == Lead::Contents { "" } else { " || ''" };
        let is_led = lead != Lead::Order || self.is_narrow();
        let has_dates = lead == Lead::Dates || self.order == DocumentOrder::Updated && !is_led;
        let of_dates = if has_dates { "" } else { " + 0" };
        let host = self.host.as_deref().map(|host| reversed(&bounded(host)));
        conditions.only("document.rev_host = $n", host);
        let domain = self
            .domain
            .as_deref()
            .map(|domain| reversed(&bounded(domain)));
        // `/` follows `.` in the order of characters.
        conditions.only(
            "(document.rev_host = $n OR (document.rev_host > $n || '.' AND document.rev_host < $n || '/'))",
            domain,
        );
        match self.state {
            Some(DocumentState::SetAside) if lead == Lead::Contents => {
                conditions.always("content.aside = 1");
            }
            Some(DocumentState::SetAside) => conditions.always("content.aside + 0 = 1"),
            Some(state) => {
                let zero = if is_led { " + 0" } else { "" };
                let condition = format!("document.state{zero} = $n");
                conditions.only(&condition, Some(state.number()));
                conditions.always("content.aside = 0");
            }
            None => {}
        }
        for (column, value) in [
            ("decision", &self.decision),
            ("kind", &self.kind),
            ("language", &self.language),
        ] {
            let condition = format!("content.{column}{of_content} = $n");
            conditions.only(&condition, value.as_deref());
        }
        conditions.only("content.near = $n", self.near);
        of_type(conditions, self.media_type.as_deref(), is_led);
        for (sign, value) in [(">=", self.since), ("<=", self.until)] {
            let condition = format!("document.update_date{of_dates} {sign} $n");
            conditions.only(&condition, value);
        }
        conditions.only("document.parent_id = $n", self.parent);
        conditions.only("document.content_id = $n", self.content);
        conditions.only("document.import_id = $n", self.import);
        conditions.only(
            "lower(document.url) LIKE $n ESCAPE '!'",
            self.text.as_deref().map(containing),
        );
    }
}

impl DocumentOrder {
    /// Whether an index has the order, so that a page of any list is read without sorting all of it.
    pub fn is_indexed(self) -> bool {
        matches!(
            self,
            Self::Number | Self::Newest | Self::Updated | Self::Host | Self::Type
        )
    }

    /// The columns that a list is sorted by before the numbers of documents. None is ever null.
    fn keys(self, is_descending: bool) -> &'static [&'static str] {
        match self {
            Self::Number | Self::Newest => &[],
            Self::Updated => &["document.update_date"],
            Self::Host => &["document.rev_host"],
            Self::Type => &["document.media_type"],
            Self::Title if is_descending => &[
                "CASE WHEN content.title IS NULL THEN 0 ELSE 1 END",
                TITLE_OR_URL,
            ],
            Self::Title => &[
                "CASE WHEN content.title IS NULL THEN 1 ELSE 0 END",
                TITLE_OR_URL,
            ],
            Self::Size => &["content.size"],
            Self::State => &["CASE WHEN content.aside = 1 THEN 3 ELSE document.state END"],
            Self::Kind => &["COALESCE(content.kind, '')"],
        }
    }
}

const TITLE_OR_URL: &str = "lower(COALESCE(content.title, document.url))";

/// Asks for a media type; `image/*` stands for all of a family, `*/*` for any.
fn of_type(conditions: &mut Conditions, media_type: Option<&str>, is_led: bool) {
    let family = media_type.and_then(|name| name.strip_suffix('*'));
    match family.filter(|family| family.ends_with('/')) {
        None if is_led => conditions.only("document.media_type || '' = $n", media_type),
        None => conditions.only("document.media_type = $n", media_type),
        Some("*/") => {}
        Some(family) => conditions.only(
            "document.media_type LIKE $n ESCAPE '!'",
            Some(containing(family).trim_start_matches('%')),
        ),
    }
}

/// The numbers that a statement finds, unless there are more than [`FEW`].
async fn few(
    transaction: &mut Transaction,
    (sql, values): (String, Vec<Value>),
) -> Result<Option<Vec<(i64,)>>, Error> {
    let rows = transaction.rows(&sql, values).await?;
    if !is_few(rows.len() as u64) {
        return Ok(None);
    }
    let numbers = rows.iter().map(|row| Ok((row.integer("id")?,)));
    numbers.collect::<Result<_, _>>().map(Some)
}

/// The columns of documents and some more, with the tables that they are in.
pub(crate) fn document_columns(more: &str) -> String {
    select().replacen(
        " FROM document JOIN",
        &format!("{more} FROM document JOIN"),
        1,
    )
}

pub(super) fn select() -> String {
    SELECT.replacen("{judgement}", judgements::COLUMNS, 1)
}

/// The tables of a filter.
const TABLES: &str = "FROM document JOIN content ON content.id = document.content_id";
/// The same, with one of them read first.
const DOCUMENTS_FIRST: &str = "FROM document {first} content ON content.id = document.content_id";
const CONTENTS_FIRST: &str = "FROM content {first} document ON document.content_id = content.id";
/// Documents that a page looks at for a part of URLs.
const LOOK: i64 = 200_000;

const SELECT: &str = "SELECT document.id, document.url, document.md5, document.host, document.content_id, \
     content.extension, content.sha1, content.sha256, content.size, document.declared_type, document.sniffed_type, \
     document.media_type, document.discover_date, document.update_date, document.crawl_date, document.parent_id, \
     parent.url AS parent_url, document.depth, document.is_seed, document.state, document.member, document.source, \
     document.digest_mismatch, document.import_id, content.title AS text_title, content.language AS text_language, \
     content.near, \
     CASE WHEN document.id <> document.content_id THEN NULLIF(COALESCE(brought.id, \
         (SELECT min(other.id) FROM document AS other WHERE other.content_id = document.content_id)), document.id) END \
         AS shared_with, {judgement} \
     FROM document JOIN content ON content.id = document.content_id \
     LEFT JOIN document AS brought ON brought.id = document.content_id AND brought.content_id = document.content_id \
     LEFT JOIN parent ON parent.id = document.parent_id \
     LEFT JOIN judgement ON judgement.sha1 = content.sha1";

pub(crate) fn document(row: &Row) -> Result<DocumentEntry, Error> {
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
        shared_with: row.maybe_integer("shared_with")?,
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
        digest_mismatch: row.maybe_text("digest_mismatch")?,
        import: row.integer("import_id")?,
        title: row.maybe_text("text_title")?,
        language: row.maybe_text("text_language")?,
        near: row.maybe_integer("near")?,
        judgement,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    /// How SQLite goes at a statement.
    async fn plan(catalog: &Catalog, (sql, values): (String, Vec<Value>)) -> String {
        let mut transaction = catalog.database.read().await.unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let rows = transaction.rows(&sql, values).await.unwrap();
        let steps = rows.iter().map(|row| row.text("detail").unwrap());
        steps.collect::<Vec<_>>().join("; ")
    }

    /// Adds a document with a number of its own.
    async fn add(catalog: &Catalog, number: i64) {
        let mut transaction = catalog.database.write().await.unwrap();
        for sql in [
            "INSERT INTO content (id, sha1, sha256, size, media_type, extension) VALUES ($1, $2, $2, 1, 'a/b', 'b')",
            "INSERT INTO document (id, content_id, url, md5, host, rev_host, discover_date, update_date, import_id,
                 media_type, content_sha1, crawl_date)
             VALUES ($1, $1, 'http://a.example/paper-' || $2, $2, 'a.example', 'example.a', 1, 1, 1, 'a/b', $2, 1)",
        ] {
            let values = [number.into(), number.to_string().as_str().into()];
            transaction.execute(sql, values).await.unwrap();
        }
        transaction.commit().await.unwrap();
    }

    /// Issue 21: a part of a URL was looked for among all of 5,000,000 documents for a page.
    #[tokio::test]
    async fn a_page_for_a_part_of_a_url_looks_at_some_documents_and_leads_to_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.sqlite");
        let catalog = Catalog::open(path.to_str().unwrap()).await.unwrap();
        let numbers = [1, LOOK, 2 * LOOK + 7, 3 * LOOK + 9];
        for number in numbers {
            add(&catalog, number).await;
        }
        for (order, mut expected) in [
            (DocumentOrder::Number, numbers.to_vec()),
            (DocumentOrder::Newest, numbers.to_vec()),
        ] {
            let mut query = DocumentQuery {
                text: Some("Paper".to_owned()),
                order,
                ..DocumentQuery::default()
            };
            if query.is_descending() {
                expected.reverse();
            }
            let (mut found, mut pages) = (Vec::new(), 0);
            loop {
                query.end = catalog.end_of_look(&query).await.unwrap();
                let page = catalog.documents(&query).await.unwrap();
                assert!(page.len() < 3, "{page:?}");
                found.extend(page.iter().map(|document| document.id));
                pages += 1;
                match query.end {
                    Some(end) => query.after = end,
                    None => break,
                }
            }
            assert_eq!((found, pages), (expected, 4), "{order:?}");
        }
        let of_host = DocumentQuery {
            text: Some("paper".to_owned()),
            host: Some("a.example".to_owned()),
            ..DocumentQuery::default()
        };
        assert_eq!(catalog.end_of_look(&of_host).await.unwrap(), None);
    }

    /// Issue 18: a decision that few documents have took 14 seconds among 5,000,000.
    #[tokio::test]
    async fn rare_documents_are_gathered_by_an_index_and_others_met_in_their_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.sqlite");
        let catalog = Catalog::open(path.to_str().unwrap()).await.unwrap();
        let decided = DocumentQuery {
            decision: Some("reject".to_owned()),
            ..DocumentQuery::default()
        };
        let aside = DocumentQuery {
            state: Some(DocumentState::SetAside),
            ..DocumentQuery::default()
        };
        let typed = DocumentQuery {
            media_type: Some("text/html".to_owned()),
            ..DocumentQuery::default()
        };
        let dated = DocumentQuery {
            since: Some(1),
            ..typed.clone()
        };

        for (statement, index) in [
            (decided.judged().unwrap(), "INDEX content_by_decision"),
            (aside.judged().unwrap(), "INDEX content_aside"),
            (typed.statement(None), "INDEX document_by_type"),
            (
                decided.leading("SELECT 1 AS one", None, 9),
                "INDEX content_by_decision",
            ),
            (
                dated.leading("SELECT 1 AS one", None, 9),
                "INDEX document_by_update",
            ),
            (
                decided.statement(Some(&[(1,)])),
                "document USING INTEGER PRIMARY KEY",
            ),
            (
                decided.statement(None),
                "document USING INTEGER PRIMARY KEY",
            ),
            (aside.statement(None), "document USING INTEGER PRIMARY KEY"),
        ] {
            let sql = statement.0.clone();
            let plan = plan(&catalog, statement).await;
            assert!(plan.contains(index), "{sql}: {plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{sql}: {plan}");
        }
    }
}
