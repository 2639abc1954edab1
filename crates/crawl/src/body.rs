//! The bytes of a capture while they are read.

use std::fmt;
use std::io::{self, Read};

/// The payload of a capture: without the head of HTTP, and decoded where it really is encoded.
///
/// It need not be read to its end. What cannot be read is an error that says what is wrong and where.
pub struct Body<'a> {
    reader: Box<dyn Read + 'a>,
    length: Option<u64>,
}

impl<'a> Body<'a> {
    /// The bytes that a reader has. `length` says how many, if that is known.
    pub fn new(reader: impl Read + 'a, length: Option<u64>) -> Self {
        Self {
            reader: Box::new(reader),
            length,
        }
    }

    /// No bytes, as for a revisit.
    pub fn empty() -> Self {
        Self::new(io::empty(), Some(0))
    }

    /// A body that cannot be read. The kind `NotFound` says that there is no file where one should be.
    pub fn failing(error: io::Error) -> Self {
        Self::new(Failing(Some(error)), None)
    }

    /// How many bytes there are, if that is known before they are read.
    pub fn length(&self) -> Option<u64> {
        self.length
    }
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let again = || io::Error::other("the body could not be read");
        Err(self.0.take().unwrap_or_else(again))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_can_be_told_apart() {
        let mut body = Body::failing(io::ErrorKind::NotFound.into());

        assert_eq!(
            body.read(&mut [0]).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        assert!(body.read(&mut [0]).is_err());
    }
}
