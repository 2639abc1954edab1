//! Tables that people bring as CSV: read line by line, tolerant of separators, encodings of line ends and the order of
//! columns, and strict about the columns themselves.

use std::io::Read;

use ::csv::{ByteRecord, ReaderBuilder, Terminator};
use anyhow::{Context as _, bail};

use crate::csv::unmarked;

/// A table that is being read.
pub(crate) struct Table<R> {
    reader: ::csv::Reader<R>,
    record: ByteRecord,
    /// The places of the columns that were asked for.
    places: Vec<Option<usize>>,
    names: Vec<&'static str>,
    columns: usize,
}

impl<R: Read> Table<std::io::Chain<std::io::Cursor<Vec<u8>>, R>> {
    /// Reads the first line. `required` columns must be there, `optional` ones may be; others are ignored.
    pub(crate) fn open(
        mut from: R,
        required: &[&'static str],
        optional: &[&'static str],
    ) -> anyhow::Result<Self> {
        // The first bytes tell byte order mark and separator.
        let mut head = vec![0; HEAD];
        let mut length = 0;
        while length < head.len() {
            match from.read(&mut head[length..])? {
                0 => break,
                read => length += read,
            }
        }
        head.truncate(length);
        if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
            bail!("it is UTF-16; save it as CSV in UTF-8");
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let first = head.split(|byte| matches!(byte, b'\n' | b'\r')).next();
        let first = first.unwrap_or_default();
        let count = |separator: &u8| first.iter().filter(|byte| *byte == separator).count();
        let separator = [b',', b';', b'\t']
            .into_iter()
            .max_by_key(|one| (count(one), *one == b','));
        let mut reader = ReaderBuilder::new()
            .delimiter(separator.unwrap_or(b','))
            .flexible(true)
            .has_headers(false)
            .terminator(Terminator::CRLF)
            .from_reader(std::io::Cursor::new(head).chain(from));
        let mut record = ByteRecord::new();
        if !reader.read_byte_record(&mut record)? {
            bail!(
                "it is empty; its first line names the {}",
                columns(required)
            );
        }
        let names: Vec<_> = record.iter().map(column_name).collect();
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name)
                && (required.contains(&&**name) || optional.contains(&&**name))
            {
                bail!("line 1: the column `{name}` is there twice");
            }
        }
        let wanted: Vec<_> = required.iter().chain(optional).copied().collect();
        let place = |name: &&str| names.iter().position(|found| found == name);
        let places: Vec<_> = wanted.iter().map(place).collect();
        let missing = required.iter().filter(|name| place(name).is_none());
        let missing: Vec<_> = missing.copied().collect();
        if !missing.is_empty() {
            let found: String = names.join(", ").chars().take(200).collect();
            bail!("line 1: it lacks the {}; it has {found}", columns(&missing));
        }
        Ok(Self {
            columns: names.len(),
            reader,
            record,
            places,
            names: wanted,
        })
    }
}

/// `column url`, `columns url, ingested`
fn columns(names: &[&str]) -> String {
    let noun = if names.len() == 1 {
        "column"
    } else {
        "columns"
    };
    format!("{noun} {}", names.join(", "))
}

impl<R: Read> Table<R> {
    /// Reads the next line that is not empty; whether there is one.
    pub(crate) fn next(&mut self) -> anyhow::Result<bool> {
        loop {
            let line = self.reader.position().line();
            let is_there = self.reader.read_byte_record(&mut self.record);
            if !is_there.with_context(|| format!("line {line}"))? {
                return Ok(false);
            }
            let is_blank = self.record.len() == 1 && self.record[0].trim_ascii().is_empty();
            if self.record.len() != self.columns && !is_blank {
                bail!(
                    "line {}: it has {} cells, and the first line names {} columns",
                    self.line(),
                    self.record.len(),
                    self.columns
                );
            }
            if !is_blank {
                return Ok(true);
            }
        }
    }

    /// The number of the line that was read.
    pub(crate) fn line(&self) -> u64 {
        self.record.position().map_or(0, ::csv::Position::line)
    }

    /// Whether the table has a column.
    pub(crate) fn has(&self, name: &str) -> bool {
        let at = self.names.iter().position(|known| *known == name);
        at.is_some_and(|at| self.places[at].is_some())
    }

    /// The text of a column; empty if the table does not have it.
    pub(crate) fn text(&self, name: &str) -> anyhow::Result<&str> {
        let at = self.names.iter().position(|known| *known == name);
        let Some(at) = at.and_then(|at| self.places[at]) else {
            return Ok("");
        };
        match std::str::from_utf8(&self.record[at]) {
            Ok(text) => Ok(unmarked(text.trim())),
            Err(_) => bail!(
                "line {}, column {name}: it is not UTF-8; save the file in that encoding",
                self.line()
            ),
        }
    }

    /// The number in a column; 0 if it is empty.
    pub(crate) fn number(&self, name: &str) -> anyhow::Result<u64> {
        match self.text(name)? {
            "" => Ok(0),
            text => match text.parse() {
                Ok(number) => Ok(number),
                Err(_) => {
                    let text: String = text.chars().take(50).collect();
                    bail!("line {}, column {name}: `{text}` is no number", self.line())
                }
            },
        }
    }

    /// An error about a column of this line.
    pub(crate) fn wrong(&self, name: &str, reason: &str) -> anyhow::Error {
        anyhow::anyhow!("line {}, column {name}: {reason}", self.line())
    }
}

fn column_name(cell: &[u8]) -> String {
    let name = String::from_utf8_lossy(cell).trim().to_lowercase();
    name.replace([' ', '-'], "_")
}

const HEAD: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(text: &[u8]) -> Result<Vec<(String, u64)>, String> {
        let read = || -> anyhow::Result<_> {
            let mut table = Table::open(text, &["url", "citations"], &["note"])?;
            let mut rows = Vec::new();
            while table.next()? {
                rows.push((table.text("url")?.to_owned(), table.number("citations")?));
            }
            Ok(rows)
        };
        read().map_err(|error| error.to_string())
    }

    #[test]
    fn separators_marks_and_line_ends_do_not_matter() {
        let rows = vec![("http://a/".to_owned(), 7), ("=b;c".to_owned(), 0)];
        for text in [
            "url,citations\nhttp://a/,7\n\"\'=b;c\",\n",
            "\u{feff}Citations;URL;more\r\n7;http://a/;x\r\n\r\n;\"=b;c\";\r\n",
            "note\turl\tcitations\n\thttp://a/\t7\n\t=b;c\t0",
        ] {
            assert_eq!(sum(text.as_bytes()).as_ref(), Ok(&rows), "{text:?}");
        }
    }

    #[test]
    fn mistakes_name_line_and_column() {
        for (text, reason) in [
            (&b""[..], "it is empty"),
            (
                b"url\n",
                "line 1: it lacks the column citations; it has url",
            ),
            (
                b"url,URL,citations\n",
                "line 1: the column `url` is there twice",
            ),
            (
                b"url,citations\na,1\nb,x\n",
                "line 3, column citations: `x` is no number",
            ),
            (b"url,citations\na,-1\n", "line 2, column citations"),
            (b"url,citations\na\n", "line 2: it has 1 cells"),
            (
                b"url,citations\n\xe9,1\n",
                "line 2, column url: it is not UTF-8",
            ),
            (b"\xff\xfeu\0r\0l\0", "UTF-16"),
        ] {
            let error = sum(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
