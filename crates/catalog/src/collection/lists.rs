//! Named blacklists and whitelists. Here they are texts.

use serde::{Deserialize, Serialize};

use crate::database::Row;
use crate::database::conditions::Conditions;
use crate::{Catalog, Error};

/// The purpose of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ListKind {
    /// Hosts and URL prefixes that are not wanted.
    Blacklist,
    /// URLs for a crawl to begin with.
    Whitelist,
}

/// A named list, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlList {
    /// Its number.
    pub id: i64,
    /// Its purpose.
    pub kind: ListKind,
    /// Its name, which no other list has.
    pub name: String,
    /// How many entries it has.
    pub entries: u64,
    /// How often it was written: whoever changes it tells which version was seen.
    pub version: i64,
    /// When it was written, in seconds.
    pub changed: i64,
    /// By whom.
    pub changed_by: Option<String>,
}

/// The text of a list.
#[derive(Debug, Clone, Copy)]
pub struct ListContent<'a> {
    /// Its name.
    pub name: &'a str,
    /// A line for each entry, and comments.
    pub text: &'a str,
    /// How many entries it has.
    pub entries: u64,
    /// The account that writes it.
    pub by: Option<&'a str>,
}

impl Catalog {
    /// Lists by kind and name.
    pub async fn url_lists(&self, kind: Option<ListKind>) -> Result<Vec<UrlList>, Error> {
        let mut conditions = Conditions::default();
        conditions.only("kind = $n", kind.map(ListKind::name));
        let (sql, values) = conditions.all(&format!("SELECT {COLUMNS} FROM url_list"), "");
        let rows = self.database.list().await?.rows(&sql, values).await?;
        let mut lists = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        // The databases order texts differently.
        lists.sort_by(|a, b| (a.kind.name(), &a.name).cmp(&(b.kind.name(), &b.name)));
        Ok(lists)
    }

    /// The list with this number.
    pub async fn url_list(&self, id: i64) -> Result<Option<UrlList>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM url_list WHERE id = $1");
        let row = self.database.read().await?.row(&sql, [id.into()]).await?;
        row.as_ref().map(read).transpose()
    }

    /// The list with this name.
    pub async fn url_list_named(&self, name: &str) -> Result<Option<UrlList>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM url_list WHERE name = $1");
        let row = self.database.read().await?.row(&sql, [name.into()]).await?;
        row.as_ref().map(read).transpose()
    }

    /// The text of a list.
    pub async fn url_list_text(&self, id: i64) -> Result<Option<String>, Error> {
        let sql = "SELECT content FROM url_list WHERE id = $1";
        let row = self.database.read().await?.row(sql, [id.into()]).await?;
        row.map(|row| row.text("content")).transpose()
    }

    /// Adds a list.
    pub async fn add_url_list(
        &self,
        kind: ListKind,
        content: ListContent<'_>,
    ) -> Result<UrlList, Error> {
        let mut transaction = self.database.write().await?;
        let sql = format!(
            "INSERT INTO url_list (kind, name, content, entries, changed, changed_by)
             VALUES ($1, $2, $3, $4, {{now}}, $5) ON CONFLICT (name) DO NOTHING RETURNING {COLUMNS}"
        );
        let values = [
            kind.name().into(),
            content.name.into(),
            content.text.into(),
            content.entries.into(),
            content.by.into(),
        ];
        let row = transaction.row(&sql, values).await?;
        let row = row.ok_or_else(|| Error::NameTaken {
            name: content.name.to_owned(),
        })?;
        transaction.commit().await?;
        read(&row)
    }

    /// Writes a list anew. Refused if somebody else did so since `version`.
    pub async fn change_url_list(
        &self,
        id: i64,
        version: i64,
        content: ListContent<'_>,
    ) -> Result<UrlList, Error> {
        let mut transaction = self.database.write().await?;
        let sql = format!("SELECT {COLUMNS} FROM url_list WHERE id = $1 {{lock}}");
        let row = transaction.row(&sql, [id.into()]).await?;
        let held = read(&row.ok_or(Error::UnknownList { id })?)?;
        if held.version != version {
            return Err(Error::Changed {
                what: format!("the {} `{}`", held.kind.name(), held.name),
            });
        }
        let sql = "SELECT id FROM url_list WHERE name = $1 AND id <> $2";
        let values = [content.name.into(), id.into()];
        if transaction.row(sql, values).await?.is_some() {
            return Err(Error::NameTaken {
                name: content.name.to_owned(),
            });
        }
        let sql = format!(
            "UPDATE url_list SET name = $2, content = $3, entries = $4, changed_by = $5, changed = {{now}},
                 version = version + 1 WHERE id = $1 RETURNING {COLUMNS}"
        );
        let values = [
            id.into(),
            content.name.into(),
            content.text.into(),
            content.entries.into(),
            content.by.into(),
        ];
        let row = transaction.row(&sql, values).await?;
        transaction.commit().await?;
        read(&row.ok_or(Error::UnknownList { id })?)
    }

    /// Removes a list, and tells whether there was one.
    pub async fn remove_url_list(&self, id: i64) -> Result<bool, Error> {
        let mut transaction = self.database.write().await?;
        let sql = "DELETE FROM url_list WHERE id = $1";
        let removed = transaction.execute(sql, [id.into()]).await?;
        transaction.commit().await?;
        Ok(removed > 0)
    }
}

const COLUMNS: &str = "id, kind, name, entries, version, changed, changed_by";

fn read(row: &Row) -> Result<UrlList, Error> {
    Ok(UrlList {
        id: row.integer("id")?,
        kind: ListKind::parse(&row.text("kind")?).unwrap_or(ListKind::Whitelist),
        name: row.text("name")?,
        entries: row.count("entries")?,
        version: row.integer("version")?,
        changed: row.integer("changed")?,
        changed_by: row.maybe_text("changed_by")?,
    })
}

impl ListKind {
    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blacklist => "blacklist",
            Self::Whitelist => "whitelist",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Blacklist, Self::Whitelist]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}
