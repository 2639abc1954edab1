//! Large files by value: read and encoded while they are sent.

use std::fs::File;
use std::io::{self, Read, Write};

use oai::format::didl::Didl;

use super::Record;
use super::reading::{FromStart, is_unchanged};
use crate::Facts;

impl Record<'_> {
    /// Streams a file. If it changes under way the bytes cannot be called back: the answer breaks off, and
    /// for a while the file goes by reference, so that the harvest gets past it.
    pub(super) fn stream<W: Write>(
        &self,
        didl: &mut Didl<'_, W>,
        media_type: &str,
        file: &File,
        facts: &Facts,
    ) -> io::Result<()> {
        let mut reader = WatchedReader {
            file: FromStart::new(file),
            broke: false,
        };
        let written = didl.by_value(media_type, &mut reader, facts.size);
        let broke = reader.broke
            || written
                .as_ref()
                .is_err_and(|error| error.kind() == io::ErrorKind::UnexpectedEof);
        if broke || (written.is_ok() && !is_unchanged(file, facts)) {
            self.view.site.note_trouble(self.item.row.id);
            let message = format!(
                "`{}` changed while it was read",
                self.item.header.identifier
            );
            return Err(io::Error::other(message));
        }
        written
    }
}

/// Tells a file that cannot be read from an output that cannot be written.
struct WatchedReader<'a> {
    file: FromStart<'a>,
    broke: bool,
}

impl Read for WatchedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.file.read(buffer);
        self.broke |= result
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        result
    }
}
