//! The tables of a catalog, as the database itself describes them.

use crate::Error;
use crate::database::{Database, Transaction};

/// A table and its columns, each with its type.
pub(super) struct Table {
    pub(super) name: String,
    columns: Vec<(String, String)>,
}

impl Table {
    /// The statement that gives each row as a JSON array.
    pub(super) fn select(&self, is_sqlite: bool) -> String {
        let columns: Vec<_> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let columns = columns.join(", ");
        let row = match is_sqlite {
            true => format!("json_array({columns})"),
            false => format!("CAST(json_build_array({columns}) AS TEXT)"),
        };
        // A row may refer to an earlier one of the same table.
        let order = match self.columns.iter().any(|(name, _)| name == "id") {
            true => " ORDER BY id",
            false => "",
        };
        format!("SELECT {row} AS row FROM {}{order}", self.name)
    }

    /// The statement that takes a JSON array of such rows.
    pub(super) fn insert(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let values: Vec<_> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, (_, kind))| match kind.to_ascii_lowercase().as_str() {
                "text" => format!("item.value->>{at}"),
                kind => format!("CAST(item.value->>{at} AS {kind})"),
            })
            .collect();
        format!(
            "INSERT INTO {} ({}) SELECT {} FROM {{each($1)}}",
            self.name,
            names.join(", "),
            values.join(", ")
        )
    }
}

/// The first table that shows that a catalog is in use.
pub(super) async fn in_use(to: &mut Transaction) -> Result<Option<&'static str>, Error> {
    for table in USED {
        if count(to, table).await? > 0 {
            return Ok(Some(table));
        }
    }
    Ok(None)
}

/// How many rows a table has.
pub(super) async fn count(transaction: &mut Transaction, table: &str) -> Result<u64, Error> {
    let sql = format!("SELECT count(*) AS number FROM {table}");
    let row = transaction.row(&sql, []).await?;
    row.map_or(Ok(0), |row| row.count("number"))
}

/// The tables that both catalogs have, in an order in which rows can be added: what others refer to comes first.
pub(super) async fn list(
    from: &Database,
    reading: &mut Transaction,
    to: &Database,
    writing: &mut Transaction,
) -> Result<Vec<Table>, Error> {
    // Others may have tables in the same database of PostgreSQL.
    let mut names = names(from, reading).await?;
    let theirs = self::names(to, writing).await?;
    names.retain(|name| theirs.contains(name));
    let references = references(to, writing).await?;
    let mut ordered: Vec<String> = Vec::new();
    while ordered.len() < names.len() {
        let is_ready = |name: &&String| {
            !ordered.contains(*name)
                && references.iter().all(|(child, parent)| {
                    child != *name
                        || parent == *name
                        || ordered.contains(parent)
                        || !names.contains(parent)
                })
        };
        let Some(next) = names.iter().find(is_ready).cloned() else {
            // A circle of tables: the database is going to say which rows it misses.
            let rest = names.iter().filter(|name| !ordered.contains(name)).cloned();
            let rest: Vec<_> = rest.collect();
            ordered.extend(rest);
            break;
        };
        ordered.push(next);
    }
    let mut tables = Vec::new();
    for name in ordered {
        let columns = columns(to, writing, &name).await?;
        tables.push(Table { name, columns });
    }
    Ok(tables)
}

/// Makes numbers that were given once stay given, also those of rows that are gone.
pub(super) async fn copy_sequences(
    from: &Database,
    reading: &mut Transaction,
    to: &Database,
    writing: &mut Transaction,
) -> Result<(), Error> {
    for (table, last) in sequences(from, reading).await? {
        match to.is_sqlite() {
            true => {
                let values = || [table.as_str().into(), last.into()];
                let sql = "DELETE FROM sqlite_sequence WHERE name = $1";
                writing.execute(sql, [table.as_str().into()]).await?;
                let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)";
                writing.execute(sql, values()).await?;
            }
            false if last > 0 => {
                let sql = "SELECT setval(pg_get_serial_sequence($1, 'id'), $2) AS set";
                let values = [table.as_str().into(), last.into()];
                writing.rows(sql, values).await?;
            }
            false => {}
        }
    }
    Ok(())
}

/// The last number that each table gave.
async fn sequences(
    database: &Database,
    transaction: &mut Transaction,
) -> Result<Vec<(String, i64)>, Error> {
    if database.is_sqlite() {
        let rows = transaction.rows("SELECT name, seq FROM sqlite_sequence", []);
        let rows = rows.await?;
        let rows = rows
            .iter()
            .map(|row| Ok((row.text("name")?, row.integer("seq")?)));
        return rows.collect();
    }
    let sql = "SELECT CAST(table_name AS TEXT) AS name,
                      pg_get_serial_sequence(quote_ident(table_name), 'id') AS sequence
               FROM information_schema.columns
               WHERE table_schema = current_schema() AND column_name = 'id' AND is_identity = 'YES'";
    let mut found = Vec::new();
    for row in transaction.rows(sql, []).await? {
        let (name, sequence) = (row.text("name")?, row.text("sequence")?);
        let sql = format!(
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM {sequence}"
        );
        let row = transaction.row(&sql, []).await?;
        found.push((name, row.map_or(Ok(0), |row| row.integer("last"))?));
    }
    Ok(found)
}

async fn names(database: &Database, transaction: &mut Transaction) -> Result<Vec<String>, Error> {
    let sql = match database.is_sqlite() {
        true => {
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
        }
        false => {
            "SELECT CAST(tablename AS TEXT) AS name FROM pg_tables WHERE schemaname = current_schema()
             ORDER BY tablename"
        }
    };
    let rows = transaction.rows(sql, []).await?;
    let names: Result<Vec<_>, _> = rows.iter().map(|row| row.text("name")).collect();
    let is_copied = |name: &String| {
        name != "catalog_schema" && !SEARCH.iter().any(|search| name.starts_with(search))
    };
    Ok(names?.into_iter().filter(is_copied).collect())
}

/// Which table refers to which.
async fn references(
    database: &Database,
    transaction: &mut Transaction,
) -> Result<Vec<(String, String)>, Error> {
    let sql = match database.is_sqlite() {
        true => {
            "SELECT m.name AS child, f.\"table\" AS parent
             FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'"
        }
        false => {
            "SELECT CAST(child.relname AS TEXT) AS child, CAST(parent.relname AS TEXT) AS parent
             FROM pg_constraint
             JOIN pg_class AS child ON child.oid = conrelid
             JOIN pg_class AS parent ON parent.oid = confrelid
             WHERE contype = 'f' AND child.relnamespace = to_regnamespace(current_schema())"
        }
    };
    let rows = transaction.rows(sql, []).await?;
    let rows = rows
        .iter()
        .map(|row| Ok((row.text("child")?, row.text("parent")?)));
    rows.collect()
}

async fn columns(
    database: &Database,
    transaction: &mut Transaction,
    table: &str,
) -> Result<Vec<(String, String)>, Error> {
    let sql = match database.is_sqlite() {
        true => "SELECT name, type AS kind FROM pragma_table_info($1) ORDER BY cid",
        false => {
            "SELECT CAST(column_name AS TEXT) AS name, CAST(data_type AS TEXT) AS kind
             FROM information_schema.columns
             WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position"
        }
    };
    let rows = transaction.rows(sql, [table.into()]).await?;
    let rows = rows
        .iter()
        .map(|row| Ok((row.text("name")?, row.text("kind")?)));
    rows.collect()
}

/// Tables that have rows once somebody used the catalog.
const USED: [&str; 6] = [
    "repository",
    "document",
    "account",
    "schedule",
    "import",
    "history",
];

/// Tables of the search, which each database has in its own form.
const SEARCH: [&str; 2] = ["record_search", "document_search"];
