//! Tags: words by which people group repositories.

use crate::{Catalog, Error};

impl Catalog {
    /// Adds tags to a repository and removes others. Returns those that it has afterwards.
    pub async fn change_tags(
        &self,
        id: i64,
        add: &[String],
        remove: &[String],
    ) -> Result<Vec<String>, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "SELECT tags FROM repository WHERE id = $1 {lock}";
        let row = transaction.row(sql, [id.into()]).await?;
        let row = row.ok_or(Error::UnknownRepository { id })?;
        let mut tags = tags_of(&row.text("tags")?);
        tags.retain(|tag| !remove.contains(tag));
        tags.extend_from_slice(add);
        tags.sort();
        tags.dedup();
        let sql = "UPDATE repository SET tags = $2 WHERE id = $1";
        let values = [id.into(), tags.join(",").into()];
        transaction.execute(sql, values).await?;
        transaction.commit().await?;
        Ok(tags)
    }

    /// All tags with the number of their repositories, in the order of the alphabet.
    pub async fn tags(&self) -> Result<Vec<(String, u64)>, Error> {
        let sql = "SELECT tags FROM repository WHERE tags <> ''";
        let rows = self.database.list().await?.rows(sql, []).await?;
        let mut counts = std::collections::BTreeMap::<String, u64>::new();
        for row in &rows {
            for tag in tags_of(&row.text("tags")?) {
                *counts.entry(tag).or_default() += 1;
            }
        }
        Ok(counts.into_iter().collect())
    }
}

pub(super) fn tags_of(column: &str) -> Vec<String> {
    let tags = column.split(',').filter(|tag| !tag.is_empty());
    tags.map(str::to_owned).collect()
}
