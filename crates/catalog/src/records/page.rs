//! A page of a harvest: its records, its counts and the way to the next one, committed together.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::changes::{Kind, bury_records, open, revive_records};
use crate::database::bounded::{bounded, clean, in_full};
use crate::database::rows::{BATCH, batch};
use crate::database::{Row, Transaction};
use crate::harvests::runs::count;
use crate::records::holding::Holding;
use crate::records::keeping::add_contents;
use crate::records::memberships::{Memberships, Sets};
use crate::repositories::entry::lock;
use crate::{Catalog, Counts, Error, RecordContent, Run, Warning};

/// A record as it was harvested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordRow {
    /// Its identifier, of any length.
    pub identifier: String,
    /// Its datestamp in seconds, if it could be read.
    pub datestamp: Option<i64>,
    /// Whether its status is `deleted`.
    pub deleted: bool,
    /// Where it is kept, as the store names it.
    pub file: Option<String>,
    /// The digest of its content, in hexadecimal.
    pub sha256: Option<String>,
    /// The sets that its header names.
    pub set_specs: Vec<String>,
    /// When it was harvested, in seconds.
    pub harvested: i64,
    /// The result of validation.
    pub validation: Validation,
}

/// The result of validating a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Validation {
    /// It was right.
    Ok,
    /// It was mended.
    Repaired,
    /// It was left out; only its header is known.
    Skipped,
    /// The filter does not accept it any more; what was held of it before stays.
    Filtered,
}

/// The outcome of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was not known.
    New,
    /// It was known and is different now.
    Updated,
    /// It is as it was.
    Unchanged,
    /// It is deleted now and was not known to be.
    Deleted,
    /// This harvest has committed the same already; it is not counted again.
    Repeated,
}

/// A page to be committed.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageCommit<'a> {
    /// Its records. If an identifier comes twice, the last counts.
    pub rows: &'a [RecordRow],
    /// The XML of those that are kept in the catalog.
    pub contents: &'a [RecordContent],
    /// Identifiers of records that are not to be held any more, for instance because a filter leaves them out now.
    pub dropped: &'a [String],
    /// Where to go on; `None` keeps nothing to go on from.
    pub resume_state: Option<&'a str>,
    /// Counts that the rows do not give: requests, bytes, filtered, failed and skipped records without a row.
    /// It is added to what they do tell.
    pub counts: Counts,
    /// The skipped and repaired records.
    pub warnings: &'a [Warning],
    /// The oddities tolerated so far, as JSON, in place of those before.
    pub quirks: Option<&'a str>,
}

/// The row of a record before the page.
struct Held {
    id: i64,
    datestamp: Option<i64>,
    deleted: bool,
    file: Option<String>,
    sha256: Option<String>,
    validation: String,
    run: i64,
    /// The numbers of its sets.
    sets: BTreeSet<i64>,
}

impl Catalog {
    /// Commits a page: all of it or nothing. Tells for each row, in their order, what it was.
    pub async fn commit_page(
        &self,
        run: &mut Run,
        page: PageCommit<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        let mut transaction = self.database.write().await?;
        // Harvests of other sets or formats may hold the same repository's sets, and the same records.
        lock(&mut transaction, run.repository).await?;
        run.lease.renew(&mut transaction).await?;
        let mut outcomes = Vec::with_capacity(page.rows.len());
        let mut holding = Holding::default();
        for rows in page.rows.chunks(BATCH) {
            outcomes.append(&mut write(&mut transaction, run, rows, &mut holding).await?);
        }
        for identifiers in page.dropped.chunks(BATCH) {
            drop_records(&mut transaction, run, identifiers, &mut holding).await?;
        }
        holding.write(&mut transaction, run).await?;
        keep_contents(&mut transaction, run, &page).await?;
        for warnings in page.warnings.chunks(BATCH) {
            warn(&mut transaction, run, warnings).await?;
        }
        let mut counts = page.counts;
        counts += counted(page.rows, &outcomes);
        count(&mut transaction, run, counts).await?;
        let sql =
            "UPDATE history SET resume_state = $2, quirks = COALESCE($3, quirks) WHERE id = $1";
        let values = [
            run.id().into(),
            page.resume_state.into(),
            page.quirks.into(),
        ];
        transaction.execute(sql, values).await?;
        run.lease.hold_job(&mut transaction).await?;
        transaction.commit().await?;
        run.committed(counts, page.resume_state);
        Ok(outcomes)
    }
}

fn counted(rows: &[RecordRow], outcomes: &[Outcome]) -> Counts {
    let mut counts = Counts::default();
    for (row, outcome) in rows.iter().zip(outcomes) {
        if row.validation == Validation::Skipped {
            counts.skipped += u64::from(*outcome != Outcome::Repeated);
            continue;
        }
        // It is counted as filtered.
        if row.validation == Validation::Filtered {
            continue;
        }
        match outcome {
            Outcome::New => counts.new += 1,
            Outcome::Updated => counts.updated += 1,
            Outcome::Unchanged => counts.unchanged += 1,
            Outcome::Deleted => counts.deleted += 1,
            Outcome::Repeated => continue,
        }
        if row.validation == Validation::Repaired {
            counts.repaired += 1;
        }
    }
    counts
}

async fn write(
    transaction: &mut Transaction,
    run: &Run,
    rows: &[RecordRow],
    holding: &mut Holding,
) -> Result<Vec<Outcome>, Error> {
    let keys: Vec<Cow<'_, str>> = rows.iter().map(|row| bounded(&row.identifier)).collect();
    // One statement cannot write a row twice, so of several with one identifier only the last is looked at.
    let last: HashMap<&str, usize> = (0..)
        .zip(&keys)
        .map(|(at, key)| (key.as_ref(), at))
        .collect();
    let mut held = held(transaction, run, &keys).await?;
    let sets = Sets::read(transaction, run.repository, rows).await?;
    let mut memberships = Memberships::default();

    let mut outcomes = vec![Outcome::Repeated; rows.len()];
    let (mut changed, mut seen, mut before) = (Vec::new(), Vec::new(), HashMap::new());
    let mut added = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let key = keys[at].as_ref();
        if last[key] != at {
            continue;
        }
        let held = held.remove(key);
        let wanted = sets.of(row);
        let same_sets = held.as_ref().is_none_or(|held| held.sets == wanted);
        outcomes[at] = outcome(held.as_ref(), row, same_sets, run);
        match held {
            Some(held) if same_sets && held.is_same(row) => {
                if held.run != run.id() {
                    seen.push((held.id,));
                }
            }
            held => {
                if let Some(file) = held.as_ref().and_then(|held| held.file.as_ref())
                    && row.file.as_ref() != Some(file)
                {
                    holding.release(file);
                }
                changed.push(at);
                if held.is_none() {
                    added.push(keys[at].as_ref());
                }
                holding.change(held.as_ref().map(|held| held.deleted), Some(row.deleted));
                before.insert(
                    key,
                    (held.map(|held| held.sets).unwrap_or_default(), wanted),
                );
            }
        }
    }

    revive_records(transaction, run.target(), &added).await?;
    for (identifier, id) in upsert(transaction, run, rows, &keys, &changed).await? {
        if let Some((held, wanted)) = before.get(identifier.as_str()) {
            memberships.change(id, held, wanted);
        }
    }
    memberships.write(transaction).await?;
    if !seen.is_empty() {
        let sql = "UPDATE record SET run_id = $1
             WHERE id {integers($2)}";
        transaction
            .execute(sql, [run.id().into(), batch(&seen)])
            .await?;
    }
    Ok(outcomes)
}

async fn held(
    transaction: &mut Transaction,
    run: &Run,
    keys: &[Cow<'_, str>],
) -> Result<HashMap<String, Held>, Error> {
    let keys: HashSet<(&str,)> = keys.iter().map(|key| (key.as_ref(),)).collect();
    let keys: Vec<_> = keys.into_iter().collect();
    let sql = "SELECT id, identifier, datestamp, deleted, file, sha256, validation, run_id,
             (SELECT string_agg(CAST(set_id AS TEXT), ',') FROM record_set WHERE record_id = record.id) AS sets
         {found}";
    let values = [
        run.repository.into(),
        run.metadata_prefix.as_str().into(),
        batch(&keys),
    ];
    let mut held = HashMap::with_capacity(keys.len());
    for row in transaction.rows(sql, values).await? {
        let known = Held {
            id: row.integer("id")?,
            datestamp: row.maybe_integer("datestamp")?,
            deleted: row.flag("deleted")?,
            file: row.maybe_text("file")?,
            sha256: row.maybe_text("sha256")?,
            validation: row.text("validation")?,
            run: row.integer("run_id")?,
            sets: numbers(row.maybe_text("sets")?.as_deref()),
        };
        held.insert(row.text("identifier")?, known);
    }
    Ok(held)
}

fn outcome(held: Option<&Held>, row: &RecordRow, same_sets: bool, run: &Run) -> Outcome {
    let Some(held) = held else {
        return if row.deleted {
            Outcome::Deleted
        } else {
            Outcome::New
        };
    };
    if row.deleted && !held.deleted {
        return Outcome::Deleted;
    }
    // A tombstone has no content that could have changed.
    let same = row.deleted || (same_sets && held.has_same_content(row));
    match same {
        true if held.run == run.id() => Outcome::Repeated,
        true => Outcome::Unchanged,
        false => Outcome::Updated,
    }
}

fn numbers(list: Option<&str>) -> BTreeSet<i64> {
    let numbers = list.unwrap_or_default().split(',');
    numbers.filter_map(|number| number.parse().ok()).collect()
}

/// Writes the rows and gives the identifiers and numbers of the records.
async fn upsert(
    transaction: &mut Transaction,
    run: &Run,
    rows: &[RecordRow],
    keys: &[Cow<'_, str>],
    changed: &[usize],
) -> Result<Vec<(String, i64)>, Error> {
    if changed.is_empty() {
        return Ok(Vec::new());
    }
    let values: Vec<_> = changed
        .iter()
        .map(|at| {
            let row = &rows[*at];
            (
                &keys[*at],
                in_full(&row.identifier),
                row.datestamp,
                i64::from(row.deleted),
                row.file.as_deref(),
                row.sha256.as_deref(),
                row.harvested,
                row.validation.name(),
            )
        })
        .collect();
    let group = open(transaction, Kind::Records, run.target(), changed.len()).await?;
    let sql = "INSERT INTO record (repository_id, metadata_prefix, run_id, identifier, identifier_in_full, datestamp,
             deleted, file, sha256, harvested, validation, changed_by, change_id, first_change_id)
         SELECT $1, $2, $3, item.value->>0, item.value->>1, CAST(item.value->>2 AS BIGINT),
             CAST(item.value->>3 AS BIGINT), item.value->>4, item.value->>5, CAST(item.value->>6 AS BIGINT),
             item.value->>7, $3, $5, $5
         FROM {each($4)} WHERE true
         ON CONFLICT (repository_id, metadata_prefix, identifier) DO UPDATE SET
             run_id = excluded.run_id, datestamp = excluded.datestamp, deleted = excluded.deleted,
             file = excluded.file, sha256 = excluded.sha256, harvested = excluded.harvested,
             validation = excluded.validation, changed_by = excluded.changed_by, change_id = excluded.change_id
         RETURNING id, identifier";
    let values = [
        run.repository.into(),
        run.metadata_prefix.as_str().into(),
        run.id().into(),
        batch(&values),
        group.into(),
    ];
    let written = transaction.rows(sql, values).await?;
    let pair = |row: &Row| Ok((row.text("identifier")?, row.integer("id")?));
    written.iter().map(pair).collect()
}

/// Keeps the XML of records that are kept in the catalog. Of several with one identifier only the last is held.
async fn keep_contents(
    transaction: &mut Transaction,
    run: &Run,
    page: &PageCommit<'_>,
) -> Result<(), Error> {
    if page.contents.is_empty() {
        return Ok(());
    }
    let files = page.rows.iter().map(|row| (&row.identifier, &row.file));
    let last: HashMap<_, _> = files.collect();
    let held: HashSet<_> = last.values().filter_map(|file| file.as_ref()).collect();
    let contents = page.contents.iter().filter(|it| held.contains(&it.name));
    add_contents(transaction, run.repository, contents).await
}

async fn drop_records(
    transaction: &mut Transaction,
    run: &Run,
    identifiers: &[String],
    holding: &mut Holding,
) -> Result<(), Error> {
    let keys: Vec<_> = identifiers.iter().map(|text| (bounded(text),)).collect();
    let values = [
        run.repository.into(),
        run.metadata_prefix.as_str().into(),
        batch(&keys),
    ];
    let mut dropped = Vec::with_capacity(keys.len());
    let found = transaction
        .rows("SELECT id, deleted, file {found}", values)
        .await?;
    for row in found {
        dropped.push(row.integer("id")?);
        holding.change(Some(row.flag("deleted")?), None);
        if let Some(file) = row.maybe_text("file")? {
            holding.release(&file);
        }
    }
    if !dropped.is_empty() {
        bury_records(transaction, run.target(), &dropped).await?;
        let dropped: Vec<_> = dropped.iter().map(|id| (id,)).collect();
        let sql = "DELETE FROM record WHERE id {integers($1)}";
        transaction.execute(sql, [batch(&dropped)]).await?;
    }
    Ok(())
}

async fn warn(transaction: &mut Transaction, run: &Run, warnings: &[Warning]) -> Result<(), Error> {
    let warnings: Vec<_> = warnings
        .iter()
        .map(|warning| {
            let lost = i64::from(warning.lost);
            let identifier = warning.identifier.as_deref().map(clean);
            (identifier, clean(&warning.reason), lost)
        })
        .collect();
    let sql = "INSERT INTO warning (history_id, identifier, reason, lost)
         SELECT $1, item.value->>0, item.value->>1, CAST(item.value->>2 AS BIGINT) FROM {each($2)} WHERE true";
    transaction
        .execute(sql, [run.id().into(), batch(&warnings)])
        .await?;
    Ok(())
}

impl Held {
    fn has_same_content(&self, row: &RecordRow) -> bool {
        self.datestamp == row.datestamp && self.deleted == row.deleted && self.sha256 == row.sha256
    }

    /// Whether nothing of the row would change.
    fn is_same(&self, row: &RecordRow) -> bool {
        self.has_same_content(row)
            && self.file == row.file
            && self.validation == row.validation.name()
    }
}

impl Validation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Repaired => "repaired",
            Self::Skipped => "skipped",
            Self::Filtered => "filtered",
        }
    }

    pub(crate) fn parse(name: &str) -> Self {
        match name {
            "repaired" => Self::Repaired,
            "skipped" => Self::Skipped,
            "filtered" => Self::Filtered,
            _ => Self::Ok,
        }
    }
}
