//! Compressed answers, streamed.

use std::io::{self, Write};

/// Passes all on but flushes: the gzip encoder would cut its stream at every flush.
pub(crate) struct Unflushed<'a, W>(pub(crate) &'a mut W);

impl<W: Write> Write for Unflushed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
