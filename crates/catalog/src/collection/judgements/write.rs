//! Judgements are written with the group that brought their documents, or alone by who judges again.

use std::collections::BTreeMap;

use serde::Serialize;

use super::JudgementRow;
use crate::changes::stamp_contents;
use crate::collection::{reviews, texts};
use crate::database::Transaction;
use crate::database::bounded::clean;
use crate::database::rows::{BATCH, batch};
use crate::imports::{changed, lock_collection};
use crate::{Catalog, Error};

/// The columns of a judgement, in the order of the statement that writes them.
#[derive(Serialize)]
struct Columns<'a>(
    &'a str,
    String,
    &'a str,
    Option<&'a str>,
    Option<u32>,
    Option<String>,
    Option<&'a str>,
    Option<i64>,
    Option<&'a str>,
    Option<String>,
    Option<&'a str>,
    i64,
    Option<String>,
    Option<&'a str>,
    Option<&'a str>,
);

impl Catalog {
    /// Writes judgements down, in the place of those that were there. What a librarian said stays.
    pub async fn judge(&self, judgements: &[JudgementRow]) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock_collection(&mut transaction).await?;
        write(&mut transaction, judgements).await?;
        // Reclassification has written its findings beside the documents, but not what others say of them.
        changed(&mut transaction).await?;
        transaction.commit().await
    }
}

/// Writes judgements. One without a decision leaves that of another standing: it comes from somebody who only wanted the
/// text.
pub(crate) async fn write(
    transaction: &mut Transaction,
    judgements: &[JudgementRow],
) -> Result<(), Error> {
    for part in judgements.chunks(BATCH) {
        // A statement may not meet a row twice. The last word counts, with the least of the URLs.
        let mut last: BTreeMap<&str, (&JudgementRow, &str)> = BTreeMap::new();
        for row in part {
            let known = last.get(row.sha1.as_str());
            let url = known.map_or(row.url.as_str(), |(_, url)| row.url.as_str().min(url));
            last.insert(&row.sha1, (row, url));
        }
        let columns: Vec<_> = last
            .into_values()
            .map(|(row, url)| columns_of(row, url))
            .collect();
        transaction.execute(UPSERT, [batch(&columns)]).await?;
        let sha1s: Vec<_> = columns.iter().map(|columns| columns.0).collect();
        repeat(transaction, &sha1s).await?;
    }
    Ok(())
}

/// Repeats in `content` what the judgements of these contents say, for the lists of documents.
pub(crate) async fn repeat(transaction: &mut Transaction, sha1s: &[&str]) -> Result<(), Error> {
    let sql =
        "UPDATE content SET decision = COALESCE(judgement.corrected_decision, judgement.decision),
             kind = COALESCE(judgement.corrected_kind, judgement.kind), aside = judgement.aside,
             title = COALESCE(judgement.title, content.title), language = COALESCE(judgement.language, content.language)
         FROM judgement WHERE judgement.sha1 = content.sha1 AND judgement.sha1 {texts($1)} AND (
             content.decision IS DISTINCT FROM COALESCE(judgement.corrected_decision, judgement.decision)
             OR content.kind IS DISTINCT FROM COALESCE(judgement.corrected_kind, judgement.kind)
             OR content.title IS DISTINCT FROM COALESCE(judgement.title, content.title)
             OR content.language IS DISTINCT FROM COALESCE(judgement.language, content.language)
             OR content.aside <> judgement.aside)
         RETURNING content.id AS id";
    for part in sha1s.chunks(BATCH) {
        let keys: Vec<_> = part.iter().map(|sha1| (sha1,)).collect();
        let rows = transaction.rows(sql, [batch(&keys)]).await?;
        let changed = rows.iter().map(|row| row.integer("id"));
        stamp_contents(transaction, &changed.collect::<Result<Vec<_>, _>>()?).await?;
        texts::queue(transaction, &keys).await?;
        reviews::follow(transaction, &keys).await?;
    }
    Ok(())
}

fn columns_of<'a>(row: &'a JudgementRow, url: &str) -> Columns<'a> {
    let millionths: Vec<_> = row.kinds.iter().map(|kind| kind.millionths()).collect();
    let kinds = match millionths.is_empty() {
        true => None,
        false => serde_json::to_string(&millionths).ok(),
    };
    Columns(
        &row.sha1,
        clean(url).into_owned(),
        &row.outcome,
        row.engine.as_deref(),
        row.pages,
        row.note.as_deref().map(|note| clean(note).into_owned()),
        row.decision.as_deref(),
        row.probability.map(super::Probability::millionths),
        row.kind.as_deref(),
        kinds,
        row.model.as_deref(),
        i64::from(row.is_aside),
        row.title.as_deref().map(|title| clean(title).into_owned()),
        row.language.as_deref(),
        row.sketch.as_deref(),
    )
}

const UPSERT: &str = "INSERT INTO judgement (sha1, url, outcome, engine, pages, note, decision, probability, kind, \
         kinds, model, aside, title, language, sketch) \
     SELECT item.value->>0, item.value->>1, item.value->>2, item.value->>3, CAST(item.value->>4 AS BIGINT), \
         item.value->>5, item.value->>6, CAST(item.value->>7 AS BIGINT), item.value->>8, item.value->>9, \
         item.value->>10, CAST(item.value->>11 AS BIGINT), item.value->>12, item.value->>13, item.value->>14 \
     FROM {each($1)} WHERE true \
     ON CONFLICT (sha1) DO UPDATE SET \
         url = CASE WHEN excluded.url < judgement.url THEN excluded.url ELSE judgement.url END, \
         outcome = excluded.outcome, engine = excluded.engine, pages = excluded.pages, note = excluded.note, \
         decision = COALESCE(excluded.decision, judgement.decision), \
         probability = CASE WHEN excluded.decision IS NULL THEN judgement.probability ELSE excluded.probability END, \
         kind = CASE WHEN excluded.decision IS NULL THEN judgement.kind ELSE excluded.kind END, \
         kinds = CASE WHEN excluded.decision IS NULL THEN judgement.kinds ELSE excluded.kinds END, \
         model = CASE WHEN excluded.decision IS NULL THEN judgement.model ELSE excluded.model END, \
         aside = CASE WHEN judgement.corrected_at IS NOT NULL THEN judgement.aside \
             WHEN excluded.decision IS NULL AND excluded.aside = 0 THEN judgement.aside ELSE excluded.aside END, \
         title = COALESCE(excluded.title, judgement.title), \
         language = COALESCE(excluded.language, judgement.language), \
         sketch = COALESCE(excluded.sketch, judgement.sketch)";
