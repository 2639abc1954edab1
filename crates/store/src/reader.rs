//! The bytes of a file, wherever it lies.

use std::fs::File;
use std::io::{self, Read};

/// A file that is being read from its beginning.
pub struct Reader {
    bytes: Box<dyn Read + Send>,
    length: u64,
}

impl Reader {
    /// Bytes, and how many there are.
    pub fn new(bytes: Box<dyn Read + Send>, length: u64) -> Self {
        Self { bytes, length }
    }

    pub(crate) fn of_file(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self::new(Box::new(file), length))
    }

    /// How many bytes it has in all.
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reader({} bytes)", self.length)
    }
}
