//! Bytes given by value: in the record, or taken out of it.

use std::io::{self, Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};

use super::base64::{Decoder, NotBase64};
use super::{Error, SpooledValue};

/// The bytes of a resource that its record brought.
#[derive(Debug)]
pub enum Value<'a> {
    /// They stand in the record, not decoded yet.
    Inline(Inline<'a>),
    /// They were taken out while the record was read.
    Spooled(SpooledValue),
}

/// Bytes that stand in the record, not decoded yet.
#[derive(Debug)]
pub struct Inline<'a> {
    pub(super) text: Text<'a>,
    /// How the bytes were packed before they were put into the record, in this order.
    pub(super) codings: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Text<'a> {
    /// Pieces of base64, as they lie between comments and references.
    Base64(Vec<&'a str>),
    /// The text itself is the content.
    Plain(String),
}

impl Inline<'_> {
    /// Whether there is no text but blank space.
    pub(super) fn is_blank(&self) -> bool {
        match &self.text {
            Text::Base64(pieces) => pieces.iter().all(|piece| piece.trim().is_empty()),
            Text::Plain(text) => text.trim().is_empty(),
        }
    }

    /// One more than the bytes that it can have at most.
    pub(super) fn most_bytes(&self) -> usize {
        let length = match &self.text {
            Text::Base64(pieces) => {
                pieces.iter().map(|piece| piece.len()).sum::<usize>() / 4 * 3 + 3
            }
            Text::Plain(text) => text.len(),
        };
        match self.codings.is_empty() {
            true => length + 1,
            false => usize::MAX,
        }
    }

    /// A reader of the decoded bytes.
    pub(super) fn reader(&self, url: &str) -> Result<Box<dyn Read + '_>, Error> {
        let mut reader: Box<dyn Read + '_> = match &self.text {
            Text::Base64(pieces) => Box::new(Decoder::new(pieces)),
            Text::Plain(text) => Box::new(text.as_bytes()),
        };
        for coding in self.codings.iter().rev() {
            reader = match coding.to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => Box::new(MultiGzDecoder::new(reader)),
                "deflate" => Box::new(ZlibDecoder::new(reader)),
                "identity" => reader,
                _ => {
                    return Err(Error::ContentEncoding {
                        url: url.to_owned(),
                        coding: coding.clone(),
                    });
                }
            };
        }
        Ok(reader)
    }
}

/// The error of the record for an error of the reader.
pub(super) fn reading_error(url: &str, error: &io::Error) -> Error {
    let url = url.to_owned();
    match error.get_ref().is_some_and(|inner| inner.is::<NotBase64>()) {
        true => Error::Base64 { url },
        false => Error::Damaged {
            url,
            reason: error.to_string(),
        },
    }
}
