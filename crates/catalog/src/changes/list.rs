//! Changes, page by page, for those who expose the catalog: records and documents as they are now, each at the
//! place of its last change.

use std::collections::{HashMap, HashSet};

use super::group::Kind;
use super::{ChangePosition, OF_DOCUMENTS, UNLISTED};
use crate::collection::{document, document_columns};
use crate::database::bounded::bounded;
use crate::database::conditions::Conditions;
use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction, Value};
use crate::records::entry::{add_sets, record};
use crate::records::statement::COLUMNS;
use crate::{Catalog, DocumentEntry, Error, RecordEntry};

/// A place in the list: behind a row of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListPosition {
    /// When the row changed, in seconds.
    pub at: i64,
    /// The group among those of its second.
    pub rank: i64,
    /// The number of the row in the group.
    pub id: i64,
}

/// Which changes are wanted.
#[derive(Debug, Clone, Default)]
pub struct ChangeQuery {
    /// Records in this format.
    pub metadata_prefix: Option<String>,
    /// Whether records in all formats are wanted.
    pub every_format: bool,
    /// Records of this repository only.
    pub repository: Option<i64>,
    /// Whether documents are wanted as well.
    pub documents: bool,
    /// Changes at this time or later, in seconds.
    pub from: i64,
    /// Changes at this time or before, in seconds.
    pub until: i64,
    /// Changes behind this place.
    pub after: Option<ListPosition>,
    /// How many rows at most.
    pub limit: usize,
}

/// A row that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its place.
    pub position: ListPosition,
    /// The current state of the subject.
    pub subject: Subject,
}

/// Something that is told to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A record, also one that its repository deleted.
    Record {
        /// The record.
        record: Box<RecordEntry>,
        /// Whether a repository with the same identifier was first.
        is_taken: bool,
        /// Whether it came with this change; else it was there before, or nothing is known.
        is_new: bool,
    },
    /// A document of the collection.
    Document(Box<DocumentEntry>),
    /// A record that is not in the catalog any more.
    GoneRecord(GoneRecord),
    /// A document that is not in the collection any more.
    GoneDocument(GoneDocument),
}

/// A record that is not in the catalog any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneRecord {
    /// The number of its repository, which may be gone as well.
    pub repository: i64,
    /// Its format.
    pub metadata_prefix: String,
    /// Its identifier.
    pub identifier: String,
    /// The sets that it was in.
    pub set_specs: Vec<String>,
    /// Whether a repository with the same identifier was first.
    pub is_taken: bool,
}

/// A document that is not in the collection any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoneDocument {
    /// Its number.
    pub id: i64,
    /// The host of its URL.
    pub host: String,
    /// Its media type.
    pub media_type: String,
    /// Its kind, if it was judged.
    pub kind: Option<String>,
}

/// Some changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangePage {
    /// In the order of their places.
    pub rows: Vec<Changed>,
    /// Whether there are no more behind them.
    pub exhausted: bool,
}

/// A group whose rows are to be read.
#[derive(Debug, Clone)]
struct Group {
    id: i64,
    kind: Kind,
    repository: i64,
    metadata_prefix: String,
    size: i64,
    is_initial: bool,
    at: i64,
    rank: i64,
}

/// How many groups are looked up at once.
const GROUPS: u64 = 200;

const GROUP: &str =
    "SELECT id, kind, repository_id, metadata_prefix, size, initial, at, rank FROM change_group";

impl Catalog {
    /// Rows in the order of their last change. What a page leaves out by a change of its own comes behind it.
    pub async fn changes(&self, query: &ChangeQuery) -> Result<ChangePage, Error> {
        let mut transaction = self.database.read().await?;
        let mut page = ChangePage::default();
        let mut after = query.after;
        while page.rows.len() < query.limit {
            let groups = groups(&mut transaction, query, after).await?;
            let Some(last) = groups.last() else {
                page.exhausted = true;
                break;
            };
            let behind = ListPosition {
                at: last.at,
                rank: last.rank,
                id: i64::MAX,
            };
            let mut rest = &groups[..];
            while let [first, ..] = rest
                && page.rows.len() < query.limit
            {
                let room = query.limit - page.rows.len();
                let (some, others) = rest.split_at(together(rest, room));
                let begun = after.filter(|after| (after.at, after.rank) == (first.at, first.rank));
                let begin = begun.map_or(0, |after| after.id);
                page.rows
                    .append(&mut rows(&mut transaction, some, begin, room).await?);
                rest = others;
            }
            after = Some(behind);
        }
        page.rows.truncate(query.limit);
        mark_taken(&mut transaction, &mut page.rows).await?;
        Ok(page)
    }

    /// All rows with an identifier, the first that had it first; those of a format only, if one is named.
    pub async fn with_identifier(
        &self,
        identifier: &str,
        metadata_prefix: Option<&str>,
    ) -> Result<Vec<Changed>, Error> {
        let key = bounded(identifier);
        let mut transaction = self.database.read().await?;
        let mut found = Vec::new();
        for (kind, select) in [(Kind::Records, COLUMNS), (Kind::Tombstones, TOMBSTONE)] {
            let table = kind.table();
            let mut conditions = Conditions::default();
            conditions.only(&format!("{table}.identifier = $n"), Some(key.as_ref()));
            conditions.only(
                &format!("{table}.metadata_prefix = $n"),
                metadata_prefix.map(bounded).as_deref(),
            );
            if kind == Kind::Tombstones {
                conditions.always(&format!(
                    "tombstone.change_id <> {UNLISTED} AND repository_id <> 0"
                ));
            }
            let change = match kind {
                Kind::Records => CHANGE_OF_RECORD,
                _ => ", tombstone.change_id",
            };
            let select = format!("{select}{change} FROM {table}");
            let (sql, values) =
                conditions.some(&select, &format!("ORDER BY {table}.id"), MOST_ALIKE);
            let rows = transaction.rows(&sql, values).await?;
            let groups = groups_of(&mut transaction, kind, &rows).await?;
            found.append(&mut changed(&mut transaction, kind, &rows, &groups).await?);
        }
        mark_taken(&mut transaction, &mut found).await?;
        Ok(found)
    }

    /// A document and when it last changed, or its tombstone.
    pub async fn changed_document(&self, id: i64) -> Result<Option<Changed>, Error> {
        let mut transaction = self.database.read().await?;
        let sql = format!(
            "{} WHERE document.id = $1 AND document.change_id <> {UNLISTED}",
            document_columns(", document.change_id")
        );
        let rows = transaction.rows(&sql, [id.into()]).await?;
        let (kind, rows) = match rows.is_empty() {
            false => (Kind::Documents, rows),
            true => {
                let sql = format!(
                    "{TOMBSTONE}, change_id FROM tombstone
                     WHERE repository_id = 0 AND metadata_prefix = '' AND identifier = $1 AND change_id <> {UNLISTED}"
                );
                let rows = transaction.rows(&sql, [id.to_string().into()]).await?;
                (Kind::Tombstones, rows)
            }
        };
        let groups = groups_of(&mut transaction, kind, &rows).await?;
        Ok(changed(&mut transaction, kind, &rows, &groups).await?.pop())
    }

    /// The place behind the last change of all.
    pub async fn last_change(&self) -> Result<ChangePosition, Error> {
        let sql = "SELECT seq FROM change_state";
        let row = self.database.read().await?.row(sql, []).await?;
        let seq = row.map_or(Ok(0), |row| row.integer("seq"))?;
        Ok(ChangePosition {
            seq,
            ..ChangePosition::START
        })
    }

    /// The time of the last change, or of the last answer that named one; and that of the first change.
    pub async fn horizon(&self) -> Result<(i64, i64), Error> {
        let sql = "SELECT at, COALESCE((SELECT min(at) FROM change_group), at) AS earliest FROM change_state";
        let row = self.database.read().await?.row(sql, []).await?;
        row.map_or(Ok((0, 0)), |row| {
            Ok((row.integer("at")?, row.integer("earliest")?))
        })
    }

    /// Repositories that were removed: their numbers, base URLs and names.
    pub async fn former_repositories(&self) -> Result<Vec<(i64, String, Option<String>)>, Error> {
        let sql = "SELECT repository_id, base_url, name FROM former_repository
             WHERE NOT EXISTS (SELECT 1 FROM repository WHERE id = repository_id) ORDER BY repository_id";
        let rows = self.database.read().await?.rows(sql, []).await?;
        let former = |row: &Row| {
            Ok((
                row.integer("repository_id")?,
                row.text("base_url")?,
                row.maybe_text("name")?,
            ))
        };
        rows.iter().map(former).collect()
    }

    /// The formats that records are held in, or were, with what the first repository that offers one says of it.
    pub async fn all_formats_held(&self) -> Result<Vec<crate::MetadataFormat>, Error> {
        let mut transaction = self.database.read().await?;
        let sql = "SELECT holding.metadata_prefix, metadata_format.metadata_schema, metadata_format.metadata_namespace
             FROM holding
             LEFT JOIN format_mapping ON format_mapping.repository_id = holding.repository_id
                 AND format_mapping.format_id IN
                     (SELECT id FROM metadata_format WHERE metadata_prefix = holding.metadata_prefix)
             LEFT JOIN metadata_format ON metadata_format.id = format_mapping.format_id
             ORDER BY holding.repository_id";
        let mut formats: Vec<crate::MetadataFormat> = Vec::new();
        for row in transaction.rows(sql, []).await? {
            let metadata_prefix = row.text("metadata_prefix")?;
            let schema = row.maybe_text("metadata_schema")?.unwrap_or_default();
            let namespace = row.maybe_text("metadata_namespace")?.unwrap_or_default();
            let known = formats
                .iter_mut()
                .find(|known| known.metadata_prefix == metadata_prefix);
            match known {
                Some(known) if known.schema.is_empty() => {
                    known.schema = schema;
                    known.namespace = namespace;
                }
                Some(_) => {}
                None => formats.push(crate::MetadataFormat {
                    metadata_prefix,
                    schema,
                    namespace,
                }),
            }
        }
        // Tombstones are told in the format of their records.
        let sql = "SELECT DISTINCT metadata_prefix FROM change_group WHERE kind = 2 AND repository_id <> 0";
        for row in transaction.rows(sql, []).await? {
            let metadata_prefix = row.text("metadata_prefix")?;
            if !formats
                .iter()
                .any(|known| known.metadata_prefix == metadata_prefix)
            {
                formats.push(crate::MetadataFormat {
                    metadata_prefix,
                    schema: String::new(),
                    namespace: String::new(),
                });
            }
        }
        formats.sort_by(|a, b| a.metadata_prefix.cmp(&b.metadata_prefix));
        Ok(formats)
    }

    /// Values of a facet of documents, from its index: at most `limit` values behind one.
    pub async fn document_facets(&self, facet: Facet, limit: usize) -> Result<Vec<String>, Error> {
        let (table, column) = match facet {
            Facet::Kind => ("content", "kind"),
            Facet::MediaType => ("document", "media_type"),
            Facet::Host => ("document", "rev_host"),
        };
        // From one value to the next by the index: to gather them from all rows takes seconds.
        let sql = format!("SELECT min({column}) AS value FROM {table} WHERE {column} > $1");
        let mut transaction = self.database.read().await?;
        let mut values: Vec<String> = Vec::new();
        while values.len() < limit {
            let last = values.last().map_or("", String::as_str);
            let row = transaction.row(&sql, [last.into()]).await?;
            match row.map_or(Ok(None), |row| row.maybe_text("value"))? {
                Some(value) => values.push(value),
                None => break,
            }
        }
        Ok(values)
    }
}

/// A facet of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facet {
    /// The kind of their content.
    Kind,
    /// Their media type.
    MediaType,
    /// The host of their URL, turned around: `org.example.www`.
    Host,
}

/// How many rows with one identifier are looked at.
const MOST_ALIKE: u64 = 1_000;

const CHANGE_OF_RECORD: &str = ", record.change_id, record.first_change_id";

const TOMBSTONE: &str = "SELECT tombstone.id, tombstone.subject_id, tombstone.repository_id, tombstone.metadata_prefix, \
     COALESCE(tombstone.identifier_in_full, tombstone.identifier) AS identifier, tombstone.set_specs, tombstone.host, \
     tombstone.media_type, tombstone.kind";

/// Groups of a query from a place on.
async fn groups(
    transaction: &mut Transaction,
    query: &ChangeQuery,
    after: Option<ListPosition>,
) -> Result<Vec<Group>, Error> {
    let mut conditions = Conditions::default();
    match after {
        // The rest of a group that was begun is behind the place as well.
        Some(after) => {
            let at = conditions.parameter(after.at);
            let rank = conditions.parameter(match after.id {
                i64::MAX => after.rank + 1,
                _ => after.rank,
            });
            conditions.always(&format!("(at, rank) >= ({at}, {rank})"));
        }
        None => conditions.only("at >= $n", Some(query.from)),
    }
    conditions.only("at <= $n", Some(query.until));
    let prefix = query.metadata_prefix.as_deref().map(bounded);
    let mut wanted = Vec::new();
    let repository = match query.repository {
        Some(repository) => format!("= {repository}"),
        None => "<> 0".to_owned(),
    };
    if query.every_format {
        wanted.push(format!("repository_id {repository}"));
    } else if let Some(prefix) = &prefix {
        let prefix = conditions.parameter(prefix.as_ref());
        wanted.push(format!(
            "(repository_id {repository} AND metadata_prefix = {prefix})"
        ));
    }
    if query.documents {
        wanted.push(format!("repository_id = {}", OF_DOCUMENTS.0));
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    conditions.always(&format!("({})", wanted.join(" OR ")));
    let (sql, values) = conditions.some(GROUP, "ORDER BY at, rank", GROUPS);
    let rows = transaction.rows(&sql, values).await?;
    rows.iter().map(group).collect()
}

fn group(row: &Row) -> Result<Group, Error> {
    Ok(Group {
        id: row.integer("id")?,
        kind: Kind::of(row.integer("kind")?),
        repository: row.integer("repository_id")?,
        metadata_prefix: row.text("metadata_prefix")?,
        size: row.integer("size")?,
        is_initial: row.flag("initial")?,
        at: row.integer("at")?,
        rank: row.integer("rank")?,
    })
}

/// How many of the groups are read by one statement: small ones of one kind that fit. Those of an earlier version of the
/// catalog have no number of their own.
fn together(groups: &[Group], room: usize) -> usize {
    let mut rows = 0;
    let fits = |group: &&Group| {
        rows += usize::try_from(group.size).unwrap_or(usize::MAX);
        rows <= room && group.kind == groups[0].kind && !group.is_initial
    };
    groups.iter().take_while(fits).count().max(1)
}

/// The rows of some groups: of several all of them, of one those behind a number.
async fn rows(
    transaction: &mut Transaction,
    groups: &[Group],
    after: i64,
    room: usize,
) -> Result<Vec<Changed>, Error> {
    let kind = groups[0].kind;
    let table = kind.table();
    let mut conditions = Conditions::default();
    let mut order = String::new();
    let mut limit = u64::MAX;
    if let [group] = groups {
        let number = match group.is_initial {
            true => 0,
            false => group.id,
        };
        conditions.only(&format!("{table}.change_id = $n"), Some(number));
        if kind == Kind::Records {
            conditions.only(
                "record.metadata_prefix = $n",
                Some(group.metadata_prefix.as_str()),
            );
            conditions.only("record.repository_id = $n", Some(group.repository));
        }
        conditions.only(&format!("{table}.id > $n"), Some(after));
        order = format!("ORDER BY {table}.id");
        limit = room as u64;
    } else {
        let keys: Vec<_> = groups.iter().map(|group| (group.id,)).collect();
        conditions.only(
            &format!("{table}.change_id {{integers($n)}}"),
            Some(batch(&keys)),
        );
        let first = conditions.parameter(groups[0].id);
        conditions.only(
            &format!("({table}.change_id <> {first} OR {table}.id > $n)"),
            Some(after),
        );
    }
    let select = match kind {
        Kind::Records => format!("{COLUMNS}{CHANGE_OF_RECORD} FROM record"),
        Kind::Documents => document_columns(", document.change_id"),
        Kind::Tombstones => format!("{TOMBSTONE}, tombstone.change_id FROM tombstone"),
    };
    let (sql, values) = conditions.some(&select, &order, limit);
    let rows = transaction.rows(&sql, values).await?;
    let by_number: HashMap<i64, &Group> = groups
        .iter()
        .map(|group| match group.is_initial {
            true => (0, group),
            false => (group.id, group),
        })
        .collect();
    let mut places = Vec::with_capacity(rows.len());
    for row in &rows {
        places.push(
            by_number
                .get(&row.integer("change_id")?)
                .map(|group| (group.at, group.rank)),
        );
    }
    changed(transaction, kind, &rows, &places).await
}

/// The places of the groups of rows, in their order.
async fn groups_of(
    transaction: &mut Transaction,
    kind: Kind,
    rows: &[Row],
) -> Result<Vec<Option<(i64, i64)>>, Error> {
    let mut places = Vec::with_capacity(rows.len());
    for row in rows {
        let number = row.integer("change_id")?;
        let (sql, values): (_, Vec<Value>) = match (number, kind) {
            (0, Kind::Records) => (
                format!(
                    "{GROUP} WHERE initial = 1 AND repository_id = $1 AND metadata_prefix = $2"
                ),
                vec![
                    row.integer("repository_id")?.into(),
                    row.text("metadata_prefix")?.into(),
                ],
            ),
            (0, _) => (
                format!("{GROUP} WHERE initial = 1 AND repository_id = 0"),
                Vec::new(),
            ),
            (number, _) => (format!("{GROUP} WHERE id = $1"), vec![number.into()]),
        };
        let group = transaction.row(&sql, values).await?;
        let group = group.as_ref().map(group_of).transpose()?;
        places.push(group);
    }
    Ok(places)
}

fn group_of(row: &Row) -> Result<(i64, i64), Error> {
    Ok((row.integer("at")?, row.integer("rank")?))
}

/// The rows of one kind, in the order of their places.
async fn changed(
    transaction: &mut Transaction,
    kind: Kind,
    rows: &[Row],
    places: &[Option<(i64, i64)>],
) -> Result<Vec<Changed>, Error> {
    let mut records = Vec::new();
    if kind == Kind::Records {
        records = rows.iter().map(record).collect::<Result<Vec<_>, _>>()?;
        for records in records.chunks_mut(BATCH) {
            add_sets(transaction, records).await?;
        }
    }
    let mut records = records.into_iter();
    let mut changed = Vec::with_capacity(rows.len());
    for (row, place) in rows.iter().zip(places) {
        let subject = match kind {
            Kind::Records => match records.next() {
                Some(record) => Subject::Record {
                    record: Box::new(record),
                    is_taken: false,
                    is_new: row.integer("first_change_id")? == row.integer("change_id")?,
                },
                None => continue,
            },
            Kind::Documents => Subject::Document(Box::new(document(row)?)),
            Kind::Tombstones => tombstone(row)?,
        };
        let Some((at, rank)) = *place else { continue };
        let id = row.integer("id")?;
        changed.push(Changed {
            position: ListPosition { at, rank, id },
            subject,
        });
    }
    changed.sort_by_key(|changed| changed.position);
    Ok(changed)
}

fn tombstone(row: &Row) -> Result<Subject, Error> {
    let repository = row.integer("repository_id")?;
    if repository == OF_DOCUMENTS.0 {
        return Ok(Subject::GoneDocument(GoneDocument {
            id: row.integer("subject_id")?,
            host: row.maybe_text("host")?.unwrap_or_default(),
            media_type: row.maybe_text("media_type")?.unwrap_or_default(),
            kind: row.maybe_text("kind")?,
        }));
    }
    let set_specs = row.maybe_text("set_specs")?.unwrap_or_default();
    Ok(Subject::GoneRecord(GoneRecord {
        repository,
        metadata_prefix: row.text("metadata_prefix")?,
        identifier: row.text("identifier")?,
        set_specs: set_specs.lines().map(str::to_owned).collect(),
        is_taken: false,
    }))
}

/// Marks records whose identifier another repository had first. Which was first does not change: also records that are gone
/// keep their numbers.
async fn mark_taken(transaction: &mut Transaction, rows: &mut [Changed]) -> Result<(), Error> {
    let sql = "SELECT (SELECT count(*) FROM repository) + (SELECT count(*) FROM former_repository) AS number";
    let row = transaction.row(sql, []).await?;
    if row.map_or(Ok(0), |row| row.integer("number"))? < 2 {
        return Ok(());
    }
    let identifiers: HashSet<_> = rows
        .iter()
        .filter_map(|row| row.subject.identifier().map(bounded))
        .collect();
    let identifiers: Vec<_> = identifiers.into_iter().map(|key| (key,)).collect();
    let mut first: HashMap<String, (i64, i64)> = HashMap::new();
    for keys in identifiers.chunks(BATCH) {
        for (table, number) in [("record", "id"), ("tombstone", "subject_id")] {
            let sql = format!(
                "SELECT identifier, repository_id, min({number}) AS number FROM {table}
                 WHERE identifier {{texts($1)}} AND repository_id <> 0 GROUP BY identifier, repository_id"
            );
            for row in transaction.rows(&sql, [batch(keys)]).await? {
                let this = (row.integer("number")?, row.integer("repository_id")?);
                let known = first.entry(row.text("identifier")?).or_insert(this);
                *known = this.min(*known);
            }
        }
    }
    for row in rows {
        let key = row
            .subject
            .identifier()
            .map(|identifier| bounded(identifier).into_owned());
        let Some((_, owner)) = key.and_then(|key| first.get(&key)) else {
            continue;
        };
        match &mut row.subject {
            Subject::Record {
                record, is_taken, ..
            } => *is_taken = record.repository != *owner,
            Subject::GoneRecord(gone) => gone.is_taken = gone.repository != *owner,
            _ => {}
        }
    }
    Ok(())
}

impl Subject {
    /// The identifier of a record, as its repository gave it.
    fn identifier(&self) -> Option<&str> {
        match self {
            Self::Record { record, .. } => Some(&record.identifier),
            Self::GoneRecord(gone) => Some(&gone.identifier),
            Self::Document(_) | Self::GoneDocument(_) => None,
        }
    }
}
