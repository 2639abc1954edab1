//! A file that a record speaks of.

use std::io::{ErrorKind, Read, Write};
use std::ops::Range;
use std::time::SystemTime;

use super::value::{Value, reading_error};
use super::{Checked, Digest, Error, Handle};

/// A file: its URL, what was recorded of it, and its bytes or where they are.
#[derive(Debug)]
pub struct Resource<'a> {
    /// The URL, or another identifier if the record has no URL of it.
    pub url: String,
    /// The media type.
    pub media_type: Option<String>,
    /// The answer that a GET returned, or would have returned.
    pub http: Option<HttpHeader>,
    /// When it was last modified.
    pub modified: Option<SystemTime>,
    /// The digests of its bytes.
    pub digests: Vec<Digest>,
    /// The bytes, if the record brought them.
    pub value: Option<Value<'a>>,
    /// Where the element of the value stands in the record.
    pub(super) element: Range<usize>,
    /// Where the bytes can be got, if the record says so.
    pub reference: Option<String>,
}

/// The status and the headers of an HTTP response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpHeader {
    /// The status.
    pub status: u16,
    /// The fields as (name, value).
    pub fields: Vec<(String, String)>,
}

impl HttpHeader {
    /// The value of a field; case does not count in names.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl Resource<'_> {
    /// Writes the bytes that stand in the record and checks their digests; returns how many there are, or `None` if
    /// none do. What was written before an error must not be used.
    pub fn copy_to(&self, out: &mut dyn Write, limit: u64) -> Result<Option<u64>, Error> {
        let Some(Value::Inline(value)) = &self.value else {
            return Ok(None);
        };
        let mut reader = value.reader(&self.url)?;
        let mut checked = self.checked(out);
        let mut block = vec![0; value.most_bytes().min(BLOCK)];
        let mut left = limit;
        loop {
            let count = match reader.read(&mut block) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(reading_error(&self.url, &error)),
            };
            left = left
                .checked_sub(count as u64)
                .ok_or_else(|| Error::TooLarge {
                    url: self.url.clone(),
                    limit,
                })?;
            checked
                .write_all(&block[..count])
                .map_err(|source| Error::Output {
                    url: self.url.clone(),
                    source,
                })?;
        }
        checked.finish().map(Some)
    }

    /// Takes the bytes that were taken out of the record, after checking their digests; `None` if none were.
    pub fn take_spooled(&mut self) -> Option<Result<Handle, Error>> {
        match self.value.take()? {
            Value::Spooled(value) => Some(value.into_handle(self)),
            inline => {
                self.value = Some(inline);
                None
            }
        }
    }

    /// The same without the bytes, if there were any.
    pub fn without_value(self) -> Resource<'static> {
        Resource {
            url: self.url,
            media_type: self.media_type,
            http: self.http,
            modified: self.modified,
            digests: self.digests,
            value: None,
            element: 0..0,
            reference: self.reference,
        }
    }

    /// An output that checks what is written to it against the recorded digests, for bytes got by reference.
    pub fn checked<W: Write>(&self, out: W) -> Checked<W> {
        Checked::new(out, &self.url, &self.digests)
    }
}

/// A multiple of the three bytes that four digits of base64 stand for, and of the pages of a file.
const BLOCK: usize = 252 * 1024;
