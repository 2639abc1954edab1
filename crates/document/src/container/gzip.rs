//! A gzip layer: its members one behind the other are one content, and what is no member behind them is nothing.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// Inflates a gzip stream.
pub(super) struct Gunzip<'r> {
    /// `None` when the end was reached.
    member: Option<GzDecoder<&'r mut dyn BufRead>>,
}

impl<'r> Gunzip<'r> {
    pub(super) fn new(reader: &'r mut dyn BufRead) -> Self {
        Self {
            member: Some(GzDecoder::new(reader)),
        }
    }
}

impl Read for Gunzip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(member) = &mut self.member else {
                return Ok(0);
            };
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(member) = self.member.take() else {
                return Ok(0);
            };
            let reader = member.into_inner();
            // Quirk: padding with zeros and other bytes behind the last member are ignored, as gzip itself does.
            if reader.fill_buf()?.first() == Some(&0x1F) {
                self.member = Some(GzDecoder::new(reader));
            }
        }
    }
}
