//! The bytes of an object as they come.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use reqwest::Response;
use tokio::runtime::Runtime;

/// An object that is being read.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) response: Response,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) block: Bytes,
    /// How many bytes are to come.
    pub(crate) left: u64,
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.block.is_empty() {
            if self.left == 0 {
                return Ok(0);
            }
            let chunk = self.runtime.block_on(self.response.chunk());
            let chunk = chunk.map_err(|error| broken(&error.without_url().to_string()))?;
            self.block = chunk.ok_or_else(|| broken("it ends too early"))?;
            let length = self.block.len() as u64;
            self.left = self
                .left
                .checked_sub(length)
                .ok_or_else(|| broken("it is too long"))?;
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
