//! A tar archive (POSIX ustar), written from its beginning to its end. Sizes of 8 GiB and more are written in binary, as
//! GNU tar and libarchive read and write them.
//!
//! By hand: the names are ours, plain and short, so that nothing of the format is left but one block for each file.

use std::io::{self, BufRead, Write};

use super::archive::copy;

pub(super) struct Tar<W: Write> {
    out: W,
}

impl<W: Write> Tar<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out }
    }

    /// Adds a file of `length` bytes. `modified` is in seconds.
    pub(super) fn file(
        &mut self,
        name: &str,
        modified: i64,
        length: u64,
        body: &mut dyn BufRead,
    ) -> io::Result<()> {
        self.out.write_all(&header(name, modified, length)?)?;
        copy(body, length, &mut self.out)?;
        let over = length % BLOCK as u64;
        let padding = if over == 0 { 0 } else { BLOCK - over as usize };
        self.out.write_all(&[0; BLOCK][..padding])
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&[0; 2 * BLOCK])?;
        Ok(self.out)
    }
}

fn header(name: &str, modified: i64, length: u64) -> io::Result<[u8; BLOCK]> {
    if name.len() > LONGEST_NAME {
        return Err(io::Error::other("a name is too long for a tar archive"));
    }
    let mut header = [0; BLOCK];
    header[..name.len()].copy_from_slice(name.as_bytes());
    octal(&mut header[100..108], 0o644);
    octal(&mut header[108..116], 0);
    octal(&mut header[116..124], 0);
    match length < 1 << 33 {
        true => octal(&mut header[124..136], length),
        false => {
            header[124] = 0x80;
            header[128..136].copy_from_slice(&length.to_be_bytes());
        }
    }
    octal(&mut header[136..148], modified.max(0).unsigned_abs());
    header[148..156].fill(b' ');
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    octal(&mut header[148..155], sum);
    Ok(header)
}

/// A number in octal digits, and a NUL behind them.
fn octal(field: &mut [u8], number: u64) {
    let digits = field.len() - 1;
    let text = format!("{number:0digits$o}\0");
    // Times after the year 2242 need a digit more than there are.
    let text = &text[text.len().saturating_sub(field.len())..];
    field.copy_from_slice(text.as_bytes());
}

const BLOCK: usize = 512;
const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_octal_and_large_ones_binary() {
        let small = header("a", 1, 511).unwrap();
        assert_eq!(&small[124..136], b"00000000777\0");
        let large = header("a", 1, 1 << 33).unwrap();
        assert_eq!(large[124..136], [0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
        assert!(header(&"a".repeat(101), 1, 1).is_err());
    }
}
