//! An import of a part of the sources: a directory has grown since it was begun.

use std::collections::HashMap;

use crate::Error;
use crate::database::Transaction;
use crate::database::rows::batch;
use crate::imports::NewImport;

/// An import that did not come to its end and all of whose sources are among those of the new one. It has these as well
/// from now on, in the new order, and what was read of its own stays read.
pub(crate) async fn grown(
    transaction: &mut Transaction,
    new: &NewImport,
) -> Result<Option<i64>, Error> {
    let sql =
        "SELECT id FROM import WHERE state IN ('failed', 'cancelled') AND parameters = $1 AND keep_versions = $2
         ORDER BY id DESC LIMIT 20";
    let values = [new.parameters.as_str().into(), new.keep_versions.into()];
    for row in transaction.rows(sql, values).await? {
        let id = row.integer("id")?;
        if let Some(moved) = moved(transaction, new, id).await? {
            grow(transaction, new, id, &moved).await?;
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// The numbers of an import's sources, by those of the new one; `None` if it has others.
async fn moved(
    transaction: &mut Transaction,
    new: &NewImport,
    id: i64,
) -> Result<Option<HashMap<i64, i64>>, Error> {
    let mut places: HashMap<(String, String), i64> = HashMap::new();
    for (place, source) in (0..).zip(&new.sources) {
        places.insert((source.name.clone(), source.beginning.clone()), place);
    }
    let sql = "SELECT number, source, beginning FROM import_source WHERE import_id = $1";
    let mut moved = HashMap::new();
    for row in transaction.rows(sql, [id.into()]).await? {
        // One that is named twice is taken once, so that the second is read anew.
        let source = (row.text("source")?, row.text("beginning")?);
        let Some(place) = places.remove(&source) else {
            return Ok(None);
        };
        moved.insert(place, row.integer("number")?);
    }
    Ok(Some(moved).filter(|moved| !moved.is_empty()))
}

async fn grow(
    transaction: &mut Transaction,
    new: &NewImport,
    id: i64,
    moved: &HashMap<i64, i64>,
) -> Result<(), Error> {
    // Out of the way first: no two have one number at any time.
    let sql = "UPDATE import_source SET number = -1 - number WHERE import_id = $1";
    transaction.execute(sql, [id.into()]).await?;
    let kept: Vec<_> = moved.iter().map(|(to, from)| (-1 - from, to)).collect();
    let sql = "UPDATE import_source SET number = CAST(item.value->>1 AS BIGINT) FROM {each($2)}
         WHERE import_source.import_id = $1 AND import_source.number = CAST(item.value->>0 AS BIGINT)";
    transaction.execute(sql, [id.into(), batch(&kept)]).await?;
    let all = (0_i64..).zip(&new.sources);
    let added: Vec<_> = all
        .filter(|(place, _)| !moved.contains_key(place))
        .map(|(place, source)| (place, &source.name, &source.beginning))
        .collect();
    let sql = "INSERT INTO import_source (import_id, number, source, beginning)
         SELECT $1, CAST(item.value->>0 AS BIGINT), item.value->>1, item.value->>2 FROM {each($2)} WHERE true";
    transaction.execute(sql, [id.into(), batch(&added)]).await?;
    let sql = "UPDATE import SET target = $2 WHERE id = $1";
    transaction
        .execute(sql, [id.into(), new.target().into()])
        .await?;
    Ok(())
}
