//! Orders that people keep under a name: retrievals, and templates of imports. What they say is text here.

use serde::Serialize;

use crate::database::Row;
use crate::{Catalog, Error};

/// The kind of a saved order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedKind {
    /// Documents to be retrieved.
    Retrieval,
    /// The settings of an import.
    Import,
    /// How far a search engine has been told of changes, by its URL.
    Feed,
    /// The findings and messages of an alert rule.
    Alert,
    /// A rule of alerts, by its name.
    AlertRule,
    /// A web server that is told of harvests, by the name of the hook.
    Webhook,
    /// That somebody has taken note of a cause of failures, by the cause.
    Cause,
}

/// An order under its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Saved {
    /// Its name, unique among those of its kind.
    pub name: String,
    /// The order: JSON.
    pub content: String,
    /// When it was saved, in seconds.
    pub changed: i64,
    /// By whom.
    pub changed_by: Option<String>,
}

impl Catalog {
    /// All orders of a kind, by name.
    pub async fn saved(&self, kind: SavedKind) -> Result<Vec<Saved>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM saved WHERE kind = $1");
        let mut transaction = self.database.list().await?;
        let rows = transaction.rows(&sql, [kind.name().into()]).await?;
        let mut saved = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        // The databases order texts differently.
        saved.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(saved)
    }

    /// The order with this name.
    pub async fn saved_as(&self, kind: SavedKind, name: &str) -> Result<Option<Saved>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM saved WHERE kind = $1 AND name = $2");
        let values = [kind.name().into(), name.into()];
        let row = self.database.read().await?.row(&sql, values).await?;
        row.as_ref().map(read).transpose()
    }

    /// Keeps an order under a name, instead of the one that has it.
    pub async fn save(
        &self,
        kind: SavedKind,
        name: &str,
        content: &str,
        changed_by: Option<&str>,
    ) -> Result<Saved, Error> {
        let mut transaction = self.database.write().await?;
        let sql = format!(
            "INSERT INTO saved (kind, name, content, changed, changed_by) VALUES ($1, $2, $3, {{now}}, $4)
             ON CONFLICT (kind, name) DO UPDATE SET content = excluded.content, changed = excluded.changed,
                 changed_by = excluded.changed_by
             RETURNING {COLUMNS}"
        );
        let values = [
            kind.name().into(),
            name.into(),
            content.into(),
            changed_by.into(),
        ];
        let row = transaction.row(&sql, values).await?;
        transaction.commit().await?;
        let lost = || Error::NameTaken {
            name: name.to_owned(),
        };
        read(&row.ok_or_else(lost)?)
    }

    /// Replaces an order if it is still the same as `before`; tells whether it was.
    pub async fn replace_saved(
        &self,
        kind: SavedKind,
        name: &str,
        before: Option<&str>,
        content: &str,
    ) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let changed = match before {
            Some(before) => {
                let sql = "UPDATE saved SET content = $4, changed = {now}
                    WHERE kind = $1 AND name = $2 AND content = $3";
                let values = [
                    kind.name().into(),
                    name.into(),
                    before.into(),
                    content.into(),
                ];
                transaction.execute(sql, values).await?
            }
            None => {
                let sql =
                    "INSERT INTO saved (kind, name, content, changed) VALUES ($1, $2, $3, {now})
                    ON CONFLICT (kind, name) DO NOTHING";
                let values = [kind.name().into(), name.into(), content.into()];
                transaction.execute(sql, values).await?
            }
        };
        transaction.commit().await?;
        Ok(changed > 0)
    }

    /// Forgets an order, and tells whether there was one.
    pub async fn remove_saved(&self, kind: SavedKind, name: &str) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM saved WHERE kind = $1 AND name = $2";
        let values = [kind.name().into(), name.into()];
        let removed = transaction.execute(sql, values).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }
}

impl SavedKind {
    fn name(self) -> &'static str {
        match self {
            Self::Retrieval => "retrieval",
            Self::Import => "import",
            Self::Feed => "feed",
            Self::Alert => "alert",
            Self::AlertRule => "alert_rule",
            Self::Webhook => "webhook",
            Self::Cause => "cause",
        }
    }
}

const COLUMNS: &str = "name, content, changed, changed_by";

fn read(row: &Row) -> Result<Saved, Error> {
    Ok(Saved {
        name: row.text("name")?,
        content: row.text("content")?,
        changed: row.integer("changed")?,
        changed_by: row.maybe_text("changed_by")?,
    })
}
