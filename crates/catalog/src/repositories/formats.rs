//! Metadata formats, which repositories share, and which repository offers which.

use data_encoding::HEXLOWER;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::database::bounded::clean;
use crate::repositories::entry::lock;
use crate::{Catalog, Error};

/// A metadata format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MetadataFormat {
    /// `metadataPrefix`
    pub metadata_prefix: String,
    /// `schema`
    pub schema: String,
    /// `metadataNamespace`
    pub namespace: String,
}

impl Catalog {
    /// Takes over what ListMetadataFormats answered.
    pub async fn replace_formats(
        &self,
        repository: i64,
        formats: &[MetadataFormat],
    ) -> Result<(), Error> {
        let mut transaction = self.database.write().await?;
        lock(&mut transaction, repository).await?;
        let sql = "DELETE FROM format_mapping WHERE repository_id = $1";
        transaction.execute(sql, [repository.into()]).await?;
        for (position, format) in (0_i64..).zip(formats) {
            // An update of nothing makes both databases return the row that is there already.
            let sql = "INSERT INTO metadata_format (metadata_prefix, metadata_schema, metadata_namespace, digest)
                 VALUES ($1, $2, $3, $4)
                 ON CONFLICT (digest) DO UPDATE SET digest = excluded.digest RETURNING id";
            let values = [
                format.metadata_prefix.as_str().into(),
                format.schema.as_str().into(),
                format.namespace.as_str().into(),
                digest(format).into(),
            ];
            for row in transaction.rows(sql, values).await? {
                let sql = "INSERT INTO format_mapping (repository_id, format_id, position)
                     VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
                let values = [
                    repository.into(),
                    row.integer("id")?.into(),
                    position.into(),
                ];
                transaction.execute(sql, values).await?;
            }
        }
        transaction.commit().await
    }

    /// The formats that a repository offers, in its order.
    pub async fn formats(&self, repository: i64) -> Result<Vec<MetadataFormat>, Error> {
        let sql = "SELECT metadata_prefix, metadata_schema, metadata_namespace FROM format_mapping
             JOIN metadata_format ON metadata_format.id = format_mapping.format_id
             WHERE repository_id = $1 ORDER BY position";
        let mut transaction = self.database.read().await?;
        let rows = transaction.rows(sql, [repository.into()]).await?;
        rows.iter()
            .map(|row| {
                Ok(MetadataFormat {
                    metadata_prefix: row.text("metadata_prefix")?,
                    schema: row.text("metadata_schema")?,
                    namespace: row.text("metadata_namespace")?,
                })
            })
            .collect()
    }
}

/// The identity of a format: a digest of its three texts.
fn digest(format: &MetadataFormat) -> String {
    let mut digest = Sha256::new();
    for text in [&format.metadata_prefix, &format.schema, &format.namespace] {
        digest.update(clean(text).as_bytes());
        digest.update([0]);
    }
    HEXLOWER.encode(&digest.finalize())
}
