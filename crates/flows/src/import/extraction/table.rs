//! Rows as a Parquet file: written in groups, and read again with suspicion.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use parquet::basic::{Compression, GzipLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::columns::{COLUMNS, Column, Values, schema};
use super::row::Row;
use crate::Failure;
use crate::harvest::panic_message;

/// A file of rows that is being written.
pub(super) struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    rows: Vec<Row>,
    weight: usize,
    count: u64,
}

impl<W: Write + Send> TableWriter<W> {
    pub(super) fn new(out: W) -> anyhow::Result<Self> {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("garner ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::GZIP(GzipLevel::default()))
            .build();
        Ok(Self {
            file: SerializedFileWriter::new(out, schema()?, Arc::new(properties))?,
            rows: Vec::new(),
            weight: 0,
            count: 0,
        })
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: Row) -> anyhow::Result<()> {
        self.weight += row.weight();
        self.rows.push(row);
        self.count += 1;
        match self.rows.len() >= ROWS || self.weight >= WEIGHT {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Ends the file with facts about it.
    pub(super) fn finish(mut self, facts: String) -> anyhow::Result<()> {
        self.flush()?;
        self.file
            .append_key_value_metadata(KeyValue::new(FACTS.to_owned(), facts));
        self.file.close()?;
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in &COLUMNS {
            write(&mut group, column, &self.rows)?;
        }
        group.close()?;
        self.rows.clear();
        self.weight = 0;
        Ok(())
    }
}

fn write<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
    rows: &[Row],
) -> anyhow::Result<()> {
    match &column.values {
        Values::Text(get, _) => {
            put::<ByteArrayType, W>(group, rows, |row| get(row).map(ByteArray::from))
        }
        Values::Integer(get, _) => put::<Int64Type, W>(group, rows, get),
        Values::Time(get, _) => put::<Int64Type, W>(group, rows, |row| {
            get(row).map(|seconds| seconds.saturating_mul(1000))
        }),
        Values::Number(get, _) => put::<DoubleType, W>(group, rows, get),
        Values::Flag(get, _) => put::<BoolType, W>(group, rows, get),
    }
}

fn put<D: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[Row],
    get: impl Fn(&Row) -> Option<D::T>,
) -> anyhow::Result<()> {
    let mut values = Vec::new();
    let mut levels = Vec::with_capacity(rows.len());
    for row in rows {
        let value = get(row);
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    let mut column = group.next_column()?.context("a column is missing")?;
    column
        .typed::<D>()
        .write_batch(&values, Some(&levels), None)?;
    column.close()?;
    Ok(())
}

/// A file of rows that is being read.
pub(in crate::import) struct TableReader {
    file: SerializedFileReader<File>,
    name: String,
}

impl TableReader {
    /// Opens a file of rows. One of another program, or without a column, is refused.
    pub(in crate::import) fn open(file: File, name: &Path) -> anyhow::Result<Self> {
        let name = name.display().to_string();
        let file = guarded(&name, || Ok(SerializedFileReader::new(file)?))?;
        let reader = Self { file, name };
        if reader.facts().is_none() {
            return Err(reader.refused("it was not written by garner extract"));
        }
        let schema = reader.file.metadata().file_metadata().schema_descr_ptr();
        for column in &COLUMNS {
            let mut found = schema.columns().iter();
            let found = found.find(|found| found.path().parts() == [column.name]);
            let Some(found) = found else {
                return Err(reader.refused(&format!("it has no column `{}`", column.name)));
            };
            let is_plain = found.max_def_level() == 1 && found.max_rep_level() == 0;
            if found.physical_type() != column.physical() || !is_plain {
                let reason = format!("its column `{}` is of another type", column.name);
                return Err(reader.refused(&reason));
            }
        }
        Ok(reader)
    }

    /// The facts that stand at the end of the file.
    pub(in crate::import) fn facts(&self) -> Option<&str> {
        let mut pairs = self
            .file
            .metadata()
            .file_metadata()
            .key_value_metadata()?
            .iter();
        pairs.find(|pair| pair.key == FACTS)?.value.as_deref()
    }

    /// How many groups of rows there are.
    pub(in crate::import) fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Reads a group of rows.
    pub(in crate::import) fn group(&self, number: usize) -> anyhow::Result<Vec<Row>> {
        guarded(&self.name, || self.read(number))
    }

    fn read(&self, number: usize) -> anyhow::Result<Vec<Row>> {
        let group = self.file.get_row_group(number)?;
        let metadata = group.metadata();
        let count = usize::try_from(metadata.num_rows()).unwrap_or(usize::MAX);
        if count > ROWS || metadata.total_byte_size() > LARGEST {
            bail!("a group of its rows is larger than any that garner writes");
        }
        let mut rows = vec![Row::default(); count];
        let schema = metadata.schema_descr();
        for column in &COLUMNS {
            let mut columns = schema.columns().iter();
            let at = columns.position(|found| found.path().parts() == [column.name]);
            let reader = group.get_column_reader(at.context("a column is missing")?)?;
            read(column, reader, &mut rows)?;
        }
        Ok(rows)
    }

    fn refused(&self, reason: &str) -> anyhow::Error {
        refused(&self.name, reason)
    }
}

fn refused(name: &str, reason: &str) -> anyhow::Error {
    let message = format!("`{name}` is no result of an extraction: {reason}");
    Failure::new(Failure::NOT_A_RESULT, message).into()
}

/// The reader of Parquet is told lies by damaged files, and some make it panic.
fn guarded<T>(name: &str, read: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let done = catch_unwind(AssertUnwindSafe(read));
    let done = done.unwrap_or_else(|panic| bail!("{}", panic_message(&*panic)));
    done.map_err(|error| refused(name, &format!("{error:#}")))
}

fn read(column: &Column, reader: ColumnReader, rows: &mut [Row]) -> anyhow::Result<()> {
    match (&column.values, reader) {
        (Values::Text(_, set), ColumnReader::ByteArrayColumnReader(reader)) => {
            take(reader, rows, |row, value: ByteArray| {
                set(row, std::str::from_utf8(value.data())?.to_owned());
                Ok(())
            })
        }
        (Values::Integer(_, set), ColumnReader::Int64ColumnReader(reader)) => {
            take(reader, rows, |row, value| {
                set(row, value);
                Ok(())
            })
        }
        (Values::Time(_, set), ColumnReader::Int64ColumnReader(reader)) => {
            take(reader, rows, |row, value: i64| {
                set(row, value.div_euclid(1000));
                Ok(())
            })
        }
        (Values::Number(_, set), ColumnReader::DoubleColumnReader(reader)) => {
            take(reader, rows, |row, value| {
                set(row, value);
                Ok(())
            })
        }
        (Values::Flag(_, set), ColumnReader::BoolColumnReader(reader)) => {
            take(reader, rows, |row, value| {
                set(row, value);
                Ok(())
            })
        }
        _ => bail!("its column `{}` is of another type", column.name),
    }
}

fn take<D: DataType>(
    mut reader: ColumnReaderImpl<D>,
    rows: &mut [Row],
    set: impl Fn(&mut Row, D::T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut at = 0;
    while at < rows.len() {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let (records, _, _) =
            reader.read_records(rows.len() - at, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            bail!("a column ends before the others");
        }
        let mut values = values.into_iter();
        for level in levels {
            let row = rows.get_mut(at).context("a column has too many values")?;
            if level > 0 {
                set(row, values.next().context("a value is missing")?)?;
            }
            at += 1;
        }
    }
    Ok(())
}

/// The key of the facts at the end of a file.
const FACTS: &str = "garner.extract";
/// A group of rows is written when there are so many, or so many bytes of them.
const ROWS: usize = 50_000;
const WEIGHT: usize = 32 << 20;
/// A group that expands to more bytes is none that was written here.
const LARGEST: i64 = 4 << 30;

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom};

    use super::*;

    fn row(url: &str) -> Row {
        Row {
            row: Some("document".to_owned()),
            url: Some(url.to_owned()),
            depth: Some(-3),
            is_seed: Some(false),
            crawl_date: Some(1_354_000_000),
            probability: Some(0.25),
            text: Some("é\0".to_owned()),
            ..Row::default()
        }
    }

    fn written(rows: &[Row]) -> File {
        let file = tempfile::tempfile().unwrap();
        let mut table = TableWriter::new(file.try_clone().unwrap()).unwrap();
        for row in rows {
            table.push(row.clone()).unwrap();
        }
        table.finish("{}".to_owned()).unwrap();
        file
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let rows = [
            row("http://a.example/"),
            Row::default(),
            row("http://b.example/"),
        ];

        let reader = TableReader::open(written(&rows), Path::new("x")).unwrap();

        assert_eq!(reader.facts(), Some("{}"));
        assert_eq!(reader.groups(), 1);
        assert_eq!(reader.group(0).unwrap(), rows);
        assert_eq!(
            TableReader::open(written(&[]), Path::new("x"))
                .unwrap()
                .groups(),
            0
        );
    }

    #[test]
    fn files_of_other_programs_and_those_without_a_column_are_refused() {
        let file = |schema: &str, facts: Option<&str>| {
            let file = tempfile::tempfile().unwrap();
            let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
            let out = file.try_clone().unwrap();
            let properties = Arc::new(WriterProperties::builder().build());
            let mut writer = SerializedFileWriter::new(out, Arc::new(schema), properties).unwrap();
            if let Some(facts) = facts {
                let pair = KeyValue::new(FACTS.to_owned(), facts.to_owned());
                writer.append_key_value_metadata(pair);
            }
            writer.close().unwrap();
            file
        };
        for (schema, facts, said) in [
            (
                "message a { OPTIONAL INT64 b; }",
                None,
                "was not written by garner",
            ),
            (
                "message a { OPTIONAL INT64 b; }",
                Some("{}"),
                "no column `row`",
            ),
            (
                "message a { OPTIONAL INT64 row; }",
                Some("{}"),
                "column `row` is of another type",
            ),
            (
                "message a { REQUIRED BYTE_ARRAY row; }",
                Some("{}"),
                "of another type",
            ),
        ] {
            let Err(error) = TableReader::open(file(schema, facts), Path::new("x")) else {
                panic!("{schema} is read");
            };
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn damaged_files_are_refused_or_read_and_never_panic() {
        let whole = written(&vec![row("http://a.example/"); 20]);
        let length = whole.metadata().unwrap().len();
        for at in (0..length).step_by(7) {
            let mut file = written(&vec![row("http://a.example/"); 20]);
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(&[0xa5]).unwrap();
            if let Ok(reader) = TableReader::open(file, Path::new("x")) {
                for group in 0..reader.groups() {
                    let _ = reader.group(group);
                }
            }
        }
        let cut = written(&[row("http://a.example/")]);
        cut.set_len(length / 2).unwrap();
        assert!(TableReader::open(cut, Path::new("x")).is_err());
    }
}
