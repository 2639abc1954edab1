//! The bytes of an object as they come. An object that breaks off is resumed, unless it changed.

use std::io::{self, Read};

use bytes::{Buf, Bytes};
use reqwest::Response;

use crate::Bucket;

/// An object that is being read.
#[derive(Debug)]
pub(crate) struct Reader {
    bucket: Bucket,
    path: String,
    response: Response,
    block: Bytes,
    /// The `ETag` of the object: one that changed is not resumed.
    tag: Option<String>,
    /// How many bytes came, and how many are to come.
    at: u64,
    left: u64,
    /// How often it may still be resumed.
    resumptions: u32,
}

impl Reader {
    pub(crate) fn new(bucket: Bucket, path: &str, response: Response, length: u64) -> Self {
        let tag = response.headers().get("etag");
        let tag = tag.and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        Self {
            bucket,
            path: path.to_owned(),
            response,
            block: Bytes::new(),
            tag,
            at: 0,
            left: length,
            resumptions: RESUMPTIONS,
        }
    }

    /// Takes the next block.
    fn advance(&mut self) -> io::Result<()> {
        let why = match self.bucket.chunk(&mut self.response) {
            Ok(Some(block)) => {
                let length = block.len() as u64;
                let left = self.left.checked_sub(length);
                self.left = left.ok_or_else(|| broken("it is too long"))?;
                (self.at, self.block) = (self.at + length, block);
                return Ok(());
            }
            Ok(None) => "it ends too early".to_owned(),
            Err(error) => error.without_url().to_string(),
        };
        let Some(tag) = self.tag.as_deref().filter(|_| self.resumptions > 0) else {
            return Err(broken(&why));
        };
        self.resumptions -= 1;
        self.response = self.bucket.begin(&self.path, Some((self.at, tag)))?;
        Ok(())
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.block.is_empty() {
            if self.left == 0 {
                return Ok(0);
            }
            self.advance()?;
        }
        let length = buffer.len().min(self.block.len());
        self.block.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

fn broken(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::ConnectionAborted,
        format!("the object breaks off: {why}"),
    )
}

const RESUMPTIONS: u32 = 8;
