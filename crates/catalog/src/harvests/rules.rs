//! Rules by which schedules treat records: filter files and mapping files, kept as texts.
//!
//! The harvester reads them; here they are texts.

use serde::{Deserialize, Serialize};

use crate::database::conditions::Conditions;
use crate::database::{Row, Transaction};
use crate::{Catalog, Error};

/// The purpose of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RulesKind {
    /// A filter: which records are kept.
    Filter,
    /// A mapping: what is added to records.
    Mapping,
}

/// A filter or a mapping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rules {
    /// Their number.
    pub id: i64,
    /// Their purpose.
    pub kind: RulesKind,
    /// Their name, unique among those of their kind.
    pub name: String,
    /// The text of the file.
    pub content: String,
    /// How often they were written: whoever changes them tells which version was seen.
    pub version: i64,
    /// When they were written, in seconds.
    pub changed: i64,
    /// By whom.
    pub changed_by: Option<String>,
}

const COLUMNS: &str = "id, kind, name, content, version, changed, changed_by";

impl Catalog {
    /// All rules or those of a kind, by kind and name.
    pub async fn rules(&self, kind: Option<RulesKind>) -> Result<Vec<Rules>, Error> {
        let mut conditions = Conditions::default();
        conditions.only("kind = $n", kind.map(RulesKind::name));
        let select = format!("SELECT {COLUMNS} FROM rules");
        let (sql, values) = conditions.all(&select, "");
        let rows = self.database.list().await?.rows(&sql, values).await?;
        let mut rules = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        // The databases order texts differently.
        rules.sort_by(|a, b| (a.kind.name(), &a.name).cmp(&(b.kind.name(), &b.name)));
        Ok(rules)
    }

    /// The rules with this number.
    pub async fn rules_of(&self, id: i64) -> Result<Option<Rules>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM rules WHERE id = $1");
        let row = self.database.read().await?.row(&sql, [id.into()]).await?;
        row.as_ref().map(read).transpose()
    }

    /// Adds rules.
    pub async fn add_rules(
        &self,
        kind: RulesKind,
        name: &str,
        content: &str,
        changed_by: Option<&str>,
    ) -> Result<Rules, Error> {
        let mut transaction = self.database.write().await?;
        let sql = format!(
            "INSERT INTO rules (kind, name, content, changed, changed_by)
             VALUES ($1, $2, $3, {{now}}, $4) ON CONFLICT (kind, name) DO NOTHING RETURNING {COLUMNS}"
        );
        let values = [
            kind.name().into(),
            name.into(),
            content.into(),
            changed_by.into(),
        ];
        let row = transaction.row(&sql, values).await?;
        let row = row.ok_or_else(|| Error::NameTaken {
            name: name.to_owned(),
        })?;
        transaction.commit().await?;
        read(&row)
    }

    /// Writes rules anew. Refused if somebody else did so since `version`.
    pub async fn change_rules(
        &self,
        id: i64,
        version: i64,
        name: &str,
        content: &str,
        changed_by: Option<&str>,
    ) -> Result<Rules, Error> {
        let mut transaction = self.database.write().await?;
        let sql = format!("SELECT {COLUMNS} FROM rules WHERE id = $1 {{lock}}");
        let row = transaction.row(&sql, [id.into()]).await?;
        let held = read(&row.ok_or(Error::UnknownRules { id })?)?;
        if held.version != version {
            return Err(Error::Changed {
                what: format!("the {} `{}`", held.kind.name(), held.name),
            });
        }
        let sql = "SELECT id FROM rules WHERE kind = $1 AND name = $2 AND id <> $3";
        let values = [held.kind.name().into(), name.into(), id.into()];
        if transaction.row(sql, values).await?.is_some() {
            return Err(Error::NameTaken {
                name: name.to_owned(),
            });
        }
        let sql = format!(
            "UPDATE rules SET name = $2, content = $3, changed_by = $4, changed = {{now}}, version = version + 1
             WHERE id = $1 RETURNING {COLUMNS}"
        );
        let values = [id.into(), name.into(), content.into(), changed_by.into()];
        let row = transaction.row(&sql, values).await?;
        transaction.commit().await?;
        read(&row.ok_or(Error::UnknownRules { id })?)
    }

    /// Removes rules, and tells whether there were any. Refused while a schedule goes by them.
    pub async fn remove_rules(&self, id: i64) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let sql = format!("SELECT {COLUMNS} FROM rules WHERE id = $1 {{lock}}");
        let Some(row) = transaction.row(&sql, [id.into()]).await? else {
            return Ok(false);
        };
        let schedules = users(&mut transaction, id).await?;
        if !schedules.is_empty() {
            let name = read(&row)?.name;
            return Err(Error::InUse { name, schedules });
        }
        let sql = "DELETE FROM rules WHERE id = $1";
        transaction.execute(sql, [id.into()]).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// The schedules whose parameters name the rules.
async fn users(transaction: &mut Transaction, rules: i64) -> Result<Vec<String>, Error> {
    let mut users = Vec::new();
    let sql = "SELECT id, name, parameters FROM schedule ORDER BY id";
    for row in transaction.rows(sql, []).await? {
        let parameters = serde_json::from_str::<serde_json::Value>(&row.text("parameters")?);
        let parameters = parameters.unwrap_or_default();
        if ["filter", "normalise"]
            .iter()
            .any(|key| parameters[key].as_i64() == Some(rules))
        {
            let (id, name) = (row.integer("id")?, row.text("name")?);
            users.push(if name.is_empty() {
                id.to_string()
            } else {
                format!("{id} ({name})")
            });
        }
    }
    Ok(users)
}

fn read(row: &Row) -> Result<Rules, Error> {
    Ok(Rules {
        id: row.integer("id")?,
        kind: RulesKind::read(&row.text("kind")?),
        name: row.text("name")?,
        content: row.text("content")?,
        version: row.integer("version")?,
        changed: row.integer("changed")?,
        changed_by: row.maybe_text("changed_by")?,
    })
}

impl RulesKind {
    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Mapping => "mapping",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Filter, Self::Mapping]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    fn read(name: &str) -> Self {
        Self::parse(name).unwrap_or(Self::Mapping)
    }
}
