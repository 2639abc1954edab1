//! The words in braces by which the SQL of the two databases differs.
//!
//! - `{now}`: the database's clock, in seconds
//! - `{lock}`: keeps the rows that are read from other writers until the end of the transaction
//! - `{lock_free}`: the same, and leaves out the rows that another writer keeps
//! - `{first}`, in the place of `JOIN`: SQLite reads the table before it first
//! - `{id}`, `{number}`, `{clustered}`: a number given by the database, one given by us, a table kept in the order of its
//!   key
//! - `{each($1)}`: rows of a parameter that is a JSON array of arrays; `item.value->>0` is the first column
//! - `{texts($1)}`, `{integers($1)}`: the operator that compares with the first columns of such a parameter
//! - `{packed(column)}`: the numbers of a column as one text, separated by commas
//! - `{in_bytes}`, behind a text: it is sorted by its bytes, as Rust does
//! - `{field(column,key)}`: the text of a field of a column with JSON
//! - `{moment(column)}`: seconds as a moment for other programs: `timestamptz`, or a text of ISO 8601
//! - `{papers}`, `{paper(view)}`, `{read_only(view)}`: the schema of the views for other programs, the name of one, and the
//!   trigger that refuses to write to it
//! - `{process(column)}`: the number of the process that holds a lease
//! - `{search}`: what holds the words of records, to be searched for
//! - `{document_search}`: what holds the words of documents, to be searched for
//! - `{free_slot}`: the trigger by which a job that stops running frees its slot
//! - `{skip_run_numbers}`: makes jobs have numbers behind those of all harvests and imports from now on
//! - `{reword($1)}`: the statement that writes words, from pairs of a record's number and its words
//! - `{has_words($1)}`: the condition that words match a query
//! - `{reword_documents($1)}`: the statement that writes words of documents, from a number, the title and the text
//! - `{looked_up(table.column)}`: rows of `{each($1)}`, each with the row of the table that it is the key of
//! - `{found}`: `FROM` and `WHERE` for the records of repository `$1` in format `$2` with the identifiers of `$3`
//!
//! So a batch is one parameter, and its statement is the same whatever its size.

#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(feature = "postgres"),
    allow(dead_code, reason = "PostgreSQL is not built in")
)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// The words alone are kept, by the number of their record; the text is in its file. `words` takes texts apart, and the
/// tokenizer `ascii` leaves all that is not ASCII as it is.
const SQLITE_SEARCH: &str = "CREATE VIRTUAL TABLE record_search USING fts5(
    words, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE TRIGGER record_search_gone AFTER DELETE ON record BEGIN
    DELETE FROM record_search WHERE rowid = old.id;
END;";
const POSTGRES_SEARCH: &str = "CREATE TABLE record_search (
    record_id BIGINT PRIMARY KEY REFERENCES record (id) ON DELETE CASCADE,
    words tsvector NOT NULL);
CREATE INDEX record_search_by_word ON record_search USING GIN (words);";

/// The words of documents: those of the title apart, so that they can be asked for alone and count for more.
const SQLITE_DOCUMENT_SEARCH: &str = "CREATE VIRTUAL TABLE document_search USING fts5(
    title, words, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE TRIGGER document_search_gone AFTER DELETE ON content WHEN old.searchable = 1 BEGIN
    DELETE FROM document_search WHERE rowid = old.id;
END;";
const POSTGRES_DOCUMENT_SEARCH: &str = "CREATE TABLE document_search (
    content_id BIGINT PRIMARY KEY REFERENCES content (id) ON DELETE CASCADE,
    title tsvector NOT NULL,
    words tsvector NOT NULL);
CREATE INDEX document_search_by_title ON document_search USING GIN (title);
CREATE INDEX document_search_by_word ON document_search USING GIN (words);";

const SQLITE_FREE_SLOT: &str = "CREATE TRIGGER job_frees_slot AFTER UPDATE OF state ON job
WHEN old.state = 'running' AND new.state <> 'running' BEGIN
    DELETE FROM host_slot WHERE job_id = old.id;
END;";
const POSTGRES_FREE_SLOT: &str = "CREATE FUNCTION free_slot() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN DELETE FROM host_slot WHERE job_id = old.id; RETURN NULL; END';
CREATE TRIGGER job_frees_slot AFTER UPDATE OF state ON job
    FOR EACH ROW WHEN (old.state = 'running' AND new.state <> 'running') EXECUTE FUNCTION free_slot();";

/// PostgreSQL writes through a view to the table behind it.
const POSTGRES_PAPERS: &str = "CREATE SCHEMA IF NOT EXISTS papers;
CREATE FUNCTION papers.read_only() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''the views of the schema papers are read-only''; END';";

const LAST_RUN: &str = "(SELECT max(id) FROM job) + (SELECT COALESCE(max(id), 0) FROM history)
    + (SELECT COALESCE(max(id), 0) FROM import)";

/// Whether the row stands that marks the last number of a job.
const IS_MARKED: &str =
    "EXISTS (SELECT 1 FROM job WHERE kind = 'quiet' AND run_at = 0 AND created = 0)";

const PAIR: &str = "CAST(item.value->>0 AS BIGINT), (item.value->>1)";

const MATCH: &str = "repository_id = $1 AND metadata_prefix = $2 AND identifier = item.value->>0";

impl Dialect {
    pub(crate) fn translate(self, sql: &str) -> String {
        let mut parts = sql.split('{');
        let mut translated = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part
                .split_once('}')
                .and_then(|(word, rest)| Some((self.word(word)?, rest)))
            {
                Some((word, rest)) => {
                    translated.push_str(&word);
                    translated.push_str(rest);
                }
                None => {
                    translated.push('{');
                    translated.push_str(part);
                }
            }
        }
        translated
    }

    fn word(self, word: &str) -> Option<String> {
        let (word, parameter) = match word.split_once('(') {
            Some((word, rest)) => (word, rest.trim_end_matches(')')),
            None => (word, ""),
        };
        Some(match self {
            Self::Sqlite => sqlite(word, parameter)?,
            Self::Postgres => postgres(word, parameter)?,
        })
    }
}

fn sqlite(word: &str, parameter: &str) -> Option<String> {
    Some(match word {
        "now" => "CAST(strftime('%s', 'now') AS BIGINT)".to_owned(),
        "lock" | "lock_free" => String::new(),
        "first" => "CROSS JOIN".to_owned(),
        "in_bytes" => String::new(),
        "id" => "INTEGER PRIMARY KEY AUTOINCREMENT".to_owned(),
        "number" => "INTEGER PRIMARY KEY".to_owned(),
        "clustered" => "WITHOUT ROWID".to_owned(),
        "search" => SQLITE_SEARCH.to_owned(),
        "document_search" => SQLITE_DOCUMENT_SEARCH.to_owned(),
        "free_slot" => SQLITE_FREE_SLOT.to_owned(),
        "skip_run_numbers" => {
            format!(
                "UPDATE sqlite_sequence SET seq = {LAST_RUN} WHERE name = 'job' AND {IS_MARKED};"
            )
        }
        "packed" => format!("group_concat({parameter})"),
        "field" => {
            let (column, key) = parameter.split_once(',')?;
            format!("({column}->>{key})")
        }
        "moment" => format!("strftime('%Y-%m-%dT%H:%M:%SZ', {parameter}, 'unixepoch')"),
        "paper" => format!("papers_{parameter}"),
        // Views of SQLite cannot be written to.
        "papers" | "read_only" => String::new(),
        "process" => {
            format!("CAST(substr({parameter}, instr({parameter}, ' ') + 1) AS INTEGER)")
        }
        "reword" => {
            let item = sqlite("each", parameter)?;
            format!(
                "INSERT OR REPLACE INTO record_search (rowid, words) SELECT {PAIR} FROM {item} WHERE true"
            )
        }
        "has_words" => format!("record_search MATCH {parameter}"),
        "reword_documents" => {
            let item = sqlite("each", parameter)?;
            format!(
                "INSERT OR REPLACE INTO document_search (rowid, title, words)
                 SELECT {PAIR}, (item.value->>2) FROM {item} WHERE true"
            )
        }
        "each" => format!("(SELECT value FROM json_each({parameter})) AS item"),
        "looked_up" => {
            let (table, column) = parameter.split_once('.')?;
            let item = sqlite("each", "$1")?;
            format!("{item} CROSS JOIN {table} ON {table}.{column} = item.value->>0")
        }
        "found" => {
            let item = sqlite("each", "$3")?;
            format!("FROM {item} CROSS JOIN record WHERE {MATCH}")
        }
        "texts" => format!("IN (SELECT value->>0 FROM json_each({parameter}))"),
        "integers" => format!("IN (SELECT CAST(value->>0 AS BIGINT) FROM json_each({parameter}))"),
        _ => return None,
    })
}

/// `{found}` and `{looked_up}` are no plain joins, because these would be planned by how many rows a table seems to have.
/// While it is first filled nothing is known of that, and every page would read all of the repository's rows. This way
/// each identifier is looked up.
fn postgres(word: &str, parameter: &str) -> Option<String> {
    let rows = format!("json_array_elements(CAST({parameter} AS json))");
    Some(match word {
        "now" => "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS BIGINT)".to_owned(),
        // Rows that refer to these can be added meanwhile: jobs of a repository that is being harvested.
        "lock" => "FOR NO KEY UPDATE".to_owned(),
        "first" => "JOIN".to_owned(),
        "in_bytes" => "COLLATE \"C\"".to_owned(),
        "lock_free" => "FOR NO KEY UPDATE SKIP LOCKED".to_owned(),
        "id" => "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY".to_owned(),
        "number" => "BIGINT PRIMARY KEY".to_owned(),
        "clustered" => String::new(),
        "search" => POSTGRES_SEARCH.to_owned(),
        "document_search" => POSTGRES_DOCUMENT_SEARCH.to_owned(),
        "free_slot" => POSTGRES_FREE_SLOT.to_owned(),
        "packed" => format!("string_agg(CAST({parameter} AS TEXT), ',')"),
        "field" => {
            let (column, key) = parameter.split_once(',')?;
            format!("(CAST({column} AS json)->>{key})")
        }
        "moment" => format!("to_timestamp({parameter})"),
        "paper" => format!("papers.{parameter}"),
        "papers" => POSTGRES_PAPERS.to_owned(),
        "read_only" => format!(
            "CREATE TRIGGER read_only INSTEAD OF INSERT OR UPDATE OR DELETE ON papers.{parameter}
                FOR EACH ROW EXECUTE FUNCTION papers.read_only();"
        ),
        "process" => format!("CAST(substring({parameter} from '^[^ ]+ ([0-9]+)') AS BIGINT)"),
        "skip_run_numbers" => {
            format!(
                "SELECT setval(pg_get_serial_sequence('job', 'id'), {LAST_RUN}) WHERE {IS_MARKED};"
            )
        }
        "reword" => {
            let item = postgres("each", parameter)?;
            format!(
                "INSERT INTO record_search (record_id, words) SELECT {PAIR}::tsvector FROM {item}
                 ON CONFLICT (record_id) DO UPDATE SET words = excluded.words"
            )
        }
        "has_words" => format!("record_search.words @@ CAST({parameter} AS tsquery)"),
        "reword_documents" => {
            let item = postgres("each", parameter)?;
            format!(
                "INSERT INTO document_search (content_id, title, words)
                 SELECT {PAIR}::tsvector, (item.value->>2)::tsvector FROM {item}
                 ON CONFLICT (content_id) DO UPDATE SET title = excluded.title, words = excluded.words"
            )
        }
        "each" => format!("{rows} AS item(value)"),
        "looked_up" => {
            let (table, column) = parameter.split_once('.')?;
            let row = format!("SELECT * FROM {table} WHERE {column} = item.value->>0 LIMIT 1");
            let item = postgres("each", "$1")?;
            format!("{item} CROSS JOIN LATERAL ({row}) AS {table}")
        }
        "found" => {
            let record = format!("SELECT * FROM record WHERE {MATCH} LIMIT 1");
            let item = postgres("each", "$3")?;
            format!("FROM {item} CROSS JOIN LATERAL ({record}) AS record WHERE true")
        }
        "texts" => format!("= ANY(ARRAY(SELECT item.value->>0 FROM {rows} AS item(value)))"),
        "integers" => {
            format!(
                "= ANY(ARRAY(SELECT CAST(item.value->>0 AS BIGINT) FROM {rows} AS item(value)))"
            )
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_words_are_translated() {
        let sql = "SELECT '{}', '{a' FROM {each($2)} WHERE x {lock} {";

        let translated = Dialect::Postgres.translate(sql);

        assert_eq!(
            translated,
            "SELECT '{}', '{a' FROM json_array_elements(CAST($2 AS json)) AS item(value) WHERE x FOR NO KEY UPDATE {"
        );
    }
}
