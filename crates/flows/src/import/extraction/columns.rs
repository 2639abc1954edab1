//! The columns of a result, in their order: one table for the writer and the reader.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::schema::types::{Type, TypePtr};

use super::row::Row;

/// A column: its name, and the field of a row that it has.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) values: Values,
}

/// How a field is read from and written into a row.
pub(super) enum Values {
    Text(fn(&Row) -> Option<&str>, fn(&mut Row, String)),
    Integer(fn(&Row) -> Option<i64>, fn(&mut Row, i64)),
    /// Seconds since 1970 in a row, milliseconds in a file.
    Time(fn(&Row) -> Option<i64>, fn(&mut Row, i64)),
    Number(fn(&Row) -> Option<f64>, fn(&mut Row, f64)),
    Flag(fn(&Row) -> Option<bool>, fn(&mut Row, bool)),
}

macro_rules! column {
    (Text $field:ident) => {
        column!(Text $field, |row: &Row| row.$field.as_deref())
    };
    ($kind:ident $field:ident) => {
        column!($kind $field, |row: &Row| row.$field)
    };
    ($kind:ident $field:ident, $get:expr) => {
        Column {
            name: stringify!($field),
            values: Values::$kind($get, |row, value| row.$field = Some(value)),
        }
    };
}

/// All columns. A change here is another format.
pub(super) const COLUMNS: [Column; 36] = [
    column!(Text row),
    column!(Text verdict),
    column!(Text reason),
    column!(Text counter),
    column!(Text url),
    column!(Text host),
    column!(Text member),
    column!(Text parent_url),
    column!(Integer depth),
    column!(Flag is_seed),
    column!(Time crawl_date),
    column!(Text last_modified),
    column!(Text declared_type),
    column!(Text sniffed_type),
    column!(Text media_type),
    column!(Text sha1),
    column!(Text sha256),
    column!(Integer size),
    column!(Text digest_mismatch),
    column!(Text archive),
    column!(Integer record_offset),
    column!(Integer bytes_offset),
    column!(Text text_outcome),
    column!(Text text_engine),
    column!(Text text_note),
    column!(Integer pages),
    column!(Text title),
    column!(Text language),
    column!(Text sketch),
    column!(Text decision),
    column!(Number probability),
    column!(Text kind),
    column!(Text kinds),
    column!(Text model),
    column!(Flag is_set_aside),
    column!(Text text),
];

impl Column {
    pub(super) fn physical(&self) -> Physical {
        match self.values {
            Values::Text(..) => Physical::BYTE_ARRAY,
            Values::Integer(..) | Values::Time(..) => Physical::INT64,
            Values::Number(..) => Physical::DOUBLE,
            Values::Flag(..) => Physical::BOOLEAN,
        }
    }

    fn field(&self) -> anyhow::Result<TypePtr> {
        let logical = match self.values {
            Values::Text(..) => Some(LogicalType::String),
            Values::Time(..) => Some(LogicalType::timestamp(true, TimeUnit::MILLIS)),
            Values::Integer(..) | Values::Number(..) | Values::Flag(..) => None,
        };
        let field = Type::primitive_type_builder(self.name, self.physical())
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        Ok(Arc::new(field.build()?))
    }
}

/// The schema of a result.
pub(super) fn schema() -> anyhow::Result<TypePtr> {
    let fields = COLUMNS.iter().map(Column::field);
    let fields = fields.collect::<anyhow::Result<Vec<_>>>()?;
    let schema = Type::group_type_builder("capture").with_fields(fields);
    Ok(Arc::new(schema.build()?))
}
