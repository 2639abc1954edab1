//! How records are kept: as files, in packs, or in the catalog itself. The `file` of a record tells where it is, so that a
//! repository may have records of all three.

use serde::{Deserialize, Serialize};

use crate::database::rows::batch;
use crate::database::{Transaction, Value};
use crate::repositories::entry::lock;
use crate::{Catalog, Error};

/// How records are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordWay {
    /// Each in a file of its own.
    #[default]
    Files,
    /// Many in a compressed file, in the data directory or in a store.
    Packs,
    /// In the catalog.
    Database,
}

/// Where records go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordStore {
    /// How they are kept.
    pub way: RecordWay,
    /// The store of packs; empty if they lie in the data directory.
    pub store: String,
}

/// The XML of a record that is kept in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordContent {
    /// Its name, as the record's `file` has it.
    pub name: String,
    /// The XML.
    pub xml: String,
}

/// A record that is kept elsewhere from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedRecord {
    /// The number of the record.
    pub id: i64,
    /// Its `file` before.
    pub from: String,
    /// Its `file` now.
    pub to: String,
}

impl RecordWay {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Files, Self::Packs, Self::Database];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Packs => "packs",
            Self::Database => "database",
        }
    }

    /// The way with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|way| way.name() == name)
    }
}

/// The `file` of a record in the catalog begins so.
pub const IN_DATABASE: &str = "~database/";
/// The `file` of a record in a pack of the data directory begins so.
pub const IN_PACKS: &str = "~packs/";
/// The `file` of a record in a pack of a store begins so.
pub const IN_STORE: &str = "~store/";

impl Catalog {
    /// Where records of a repository go that are harvested from now on.
    pub async fn record_store(&self, repository: i64) -> Result<RecordStore, Error> {
        let sql = "SELECT COALESCE((SELECT record_way FROM repository WHERE id = $1), way) AS way, store FROM record_store";
        let mut transaction = self.database.read().await?;
        let row = transaction.row(sql, [repository.into()]).await?;
        let row = row.as_ref();
        Ok(RecordStore {
            way: row
                .map_or(Ok(None), |row| row.maybe_text("way"))?
                .and_then(|way| RecordWay::parse(&way))
                .unwrap_or_default(),
            store: row.map_or(Ok(String::new()), |row| row.text("store"))?,
        })
    }

    /// The store of records, and how those of repositories are kept that do not say it themselves.
    pub async fn default_record_store(&self) -> Result<RecordStore, Error> {
        self.record_store(0).await
    }

    /// Says where records go from now on. What is not given stays.
    pub async fn settle_record_store(
        &self,
        way: Option<RecordWay>,
        store: Option<&str>,
    ) -> Result<(), Error> {
        let known = self.default_record_store().await?;
        let is_same = way.is_none_or(|way| way == known.way)
            && store.is_none_or(|store| store == known.store);
        if is_same {
            return Ok(());
        }
        let mut transaction = self.database.write().await?;
        let sql = "UPDATE record_store SET way = COALESCE($1, way), store = COALESCE($2, store)";
        let values = [way.map(RecordWay::name).into(), store.into()];
        transaction.execute(sql, values).await?;
        transaction.commit().await
    }

    /// Whether a record lies in a pack of a store.
    pub async fn has_stored_records(&self) -> Result<bool, Error> {
        let sql = "SELECT id FROM record WHERE file LIKE $1 LIMIT 1";
        let values = [format!("{IN_STORE}%").into()];
        let row = self.database.read().await?.row(sql, values).await?;
        Ok(row.is_some())
    }

    /// Says how records of a repository are kept that are harvested from now on.
    pub async fn set_record_way(&self, repository: i64, way: RecordWay) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock(&mut transaction, repository).await?;
        let sql = "UPDATE repository SET record_way = $2 WHERE id = $1";
        let values = [repository.into(), way.name().into()];
        transaction.execute(sql, values).await?;
        transaction.commit().await
    }

    /// The XML of a record that is kept in the catalog.
    pub async fn record_content(&self, name: &str) -> Result<Option<String>, Error> {
        let sql = "SELECT xml FROM record_content WHERE name = $1";
        let row = self.database.read().await?.row(sql, [name.into()]).await?;
        row.map(|row| row.text("xml")).transpose()
    }

    /// Takes over that records are kept elsewhere, as far as they still are where they were. Tells how many were.
    pub async fn move_records(
        &self,
        repository: i64,
        moved: &[MovedRecord],
        contents: &[RecordContent],
    ) -> Result<u64, Error> {
        let mut transaction = self.database.write().await?;
        lock(&mut transaction, repository).await?;
        let rows: Vec<_> = moved.iter().map(|it| (it.id, &it.from, &it.to)).collect();
        let sql = "UPDATE record SET file = (item.value->>2) FROM {each($1)}
             WHERE record.id = CAST(item.value->>0 AS BIGINT) AND record.file = (item.value->>1)
             RETURNING file";
        let mut taken = std::collections::HashSet::new();
        for row in transaction.rows(sql, [batch(&rows)]).await? {
            taken.insert(row.text("file")?);
        }
        let released = moved.iter().filter(|it| taken.contains(&it.to));
        let released: Vec<_> = released.map(|it| it.from.as_str()).collect();
        remove_contents(&mut transaction, &released).await?;
        let contents = contents.iter().filter(|it| taken.contains(&it.name));
        add_contents(&mut transaction, repository, contents).await?;
        transaction.commit().await?;
        Ok(taken.len() as u64)
    }

    /// How many records of packs were replaced or removed since the packs of a repository and a format were compacted, and
    /// how many records are held.
    pub async fn replaced_records(
        &self,
        repository: i64,
        metadata_prefix: &str,
    ) -> Result<(u64, u64), Error> {
        let sql = "SELECT replaced, records FROM holding WHERE repository_id = $1 AND metadata_prefix = $2";
        let values = [repository.into(), metadata_prefix.into()];
        let row = self.database.read().await?.row(sql, values).await?;
        row.map_or(Ok((0, 0)), |row| {
            Ok((row.count("replaced")?, row.count("records")?))
        })
    }

    /// Notes that the packs of a repository and a format were compacted.
    pub async fn compacted(&self, repository: i64, metadata_prefix: &str) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        let sql =
            "UPDATE holding SET replaced = 0 WHERE repository_id = $1 AND metadata_prefix = $2";
        let values: [Value; 2] = [repository.into(), metadata_prefix.into()];
        transaction.execute(sql, values).await?;
        transaction.commit().await
    }
}

/// Adds XML to the catalog.
pub(crate) async fn add_contents(
    transaction: &mut Transaction,
    repository: i64,
    contents: impl Iterator<Item = &RecordContent>,
) -> Result<(), Error> {
    let sql = "INSERT INTO record_content (name, repository_id, xml)
         SELECT item.value->>0, $1, item.value->>1 FROM {each($2)} WHERE true
         ON CONFLICT (name) DO NOTHING";
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut contents = contents.peekable();
    while let Some(content) = contents.next() {
        bytes += content.xml.len();
        rows.push((content.name.as_str(), content.xml.as_str()));
        if bytes >= MOST_BYTES || contents.peek().is_none() {
            let values = [repository.into(), batch(&rows)];
            transaction.execute(sql, values).await?;
            rows.clear();
            bytes = 0;
        }
    }
    Ok(())
}

/// Removes XML of which no record speaks any more. Names of files and packs do no harm.
pub(crate) async fn remove_contents(
    transaction: &mut Transaction,
    files: &[impl AsRef<str>],
) -> Result<(), Error> {
    let files = files.iter().map(AsRef::as_ref);
    let names = files.filter(|file| file.starts_with(IN_DATABASE));
    let names: Vec<_> = names.map(|name| (name,)).collect();
    if !names.is_empty() {
        let sql = "DELETE FROM record_content WHERE name {texts($1)}";
        transaction.execute(sql, [batch(&names)]).await?;
    }
    Ok(())
}

/// How much XML a statement takes.
const MOST_BYTES: usize = 4 << 20;
