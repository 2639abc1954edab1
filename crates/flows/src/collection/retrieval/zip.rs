//! A ZIP archive (APPNOTE 6.3), written from its beginning to its end. Files are stored as they are: most documents are
//! compressed already, and to compress them again takes ten times as long as to copy them.
//!
//! By hand: names are ours, and sizes and checksums are known before a file is written, so that a local header, a central
//! one and the end are all that is needed. What exceeds 4 GiB or 65,535 files is written as ZIP64.

use std::io::{self, BufRead, Write};

use super::archive::copy;

pub(super) struct Zip<W: Write> {
    out: W,
    position: u64,
    /// The central directory, which ends the archive.
    central: Vec<u8>,
    files: u64,
}

impl<W: Write> Zip<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            position: 0,
            central: Vec::new(),
            files: 0,
        }
    }

    /// Adds a file of `length` bytes with this CRC-32. `modified` is in seconds.
    pub(super) fn file(
        &mut self,
        name: &str,
        modified: i64,
        length: u64,
        crc: u32,
        body: &mut dyn BufRead,
    ) -> io::Result<()> {
        let (date, offset) = (dos(modified), self.position);
        let mut wide = Vec::new();
        let size = narrow(length, &mut wide);
        // The local header has both sizes or none of them in its extra field.
        if !wide.is_empty() {
            wide.extend_from_slice(&length.to_le_bytes());
        }
        let extra = extra(&wide);
        let mut local = Vec::new();
        put(&mut local, &[0x0403_4b50], &[version(&extra), UTF8, STORED]);
        put(
            &mut local,
            &[date, crc, size, size],
            &[name.len() as u16, extra.len() as u16],
        );
        local.extend_from_slice(name.as_bytes());
        local.extend_from_slice(&extra);
        self.out.write_all(&local)?;
        copy(body, length, &mut self.out)?;
        self.position += local.len() as u64 + length;
        self.files += 1;
        self.enter(name, date, length, crc, offset);
        Ok(())
    }

    fn enter(&mut self, name: &str, date: u32, length: u64, crc: u32, offset: u64) {
        let mut wide = Vec::new();
        let size = narrow(length, &mut wide);
        if !wide.is_empty() {
            wide.extend_from_slice(&length.to_le_bytes());
        }
        let offset = narrow(offset, &mut wide);
        let extra = extra(&wide);
        let version = version(&extra);
        let central = &mut self.central;
        put(
            central,
            &[0x0201_4b50],
            &[UNIX | version, version, UTF8, STORED],
        );
        put(central, &[date, crc, size, size], &[]);
        // Name, extra field, comment, disk and attributes.
        put(
            central,
            &[],
            &[name.len() as u16, extra.len() as u16, 0, 0, 0],
        );
        put(central, &[0o100_644 << 16, offset], &[]);
        central.extend_from_slice(name.as_bytes());
        central.extend_from_slice(&extra);
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        let (start, length, files) = (self.position, self.central.len() as u64, self.files);
        let is_wide = start.max(length) >= WIDE.into() || files >= u16::MAX.into();
        let mut end = Vec::new();
        if is_wide {
            put(&mut end, &[0x0606_4b50], &[]);
            end.extend_from_slice(&44_u64.to_le_bytes());
            put(&mut end, &[], &[UNIX | ZIP64, ZIP64]);
            put(&mut end, &[0, 0], &[]);
            for number in [files, files, length, start] {
                end.extend_from_slice(&number.to_le_bytes());
            }
            put(&mut end, &[0x0706_4b50, 0], &[]);
            end.extend_from_slice(&(start + length).to_le_bytes());
            put(&mut end, &[1], &[]);
        }
        let files = u16::try_from(files).unwrap_or(u16::MAX);
        put(&mut end, &[0x0605_4b50], &[0, 0, files, files]);
        let [length, start] = [length, start].map(|number| narrow(number, &mut Vec::new()));
        put(&mut end, &[length, start], &[0]);
        self.out.write_all(&self.central)?;
        self.out.write_all(&end)?;
        Ok(self.out)
    }
}

/// A number of four bytes. A larger one is `WIDE` and stands in the extra field.
fn narrow(number: u64, wide: &mut Vec<u8>) -> u32 {
    match u32::try_from(number) {
        Ok(number) if number != WIDE => number,
        _ => {
            wide.extend_from_slice(&number.to_le_bytes());
            WIDE
        }
    }
}

fn extra(wide: &[u8]) -> Vec<u8> {
    let mut extra = Vec::new();
    if !wide.is_empty() {
        put(&mut extra, &[], &[1, wide.len() as u16]);
        extra.extend_from_slice(wide);
    }
    extra
}

fn version(extra: &[u8]) -> u16 {
    match extra.is_empty() {
        true => PLAIN,
        false => ZIP64,
    }
}

/// Numbers of four bytes, then those of two.
fn put(out: &mut Vec<u8>, long: &[u32], short: &[u16]) {
    long.iter()
        .for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
    short
        .iter()
        .for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

/// A moment as MS-DOS has it, in UTC: the time in the lower half, the date in the upper.
fn dos(seconds: i64) -> u32 {
    let moment = jiff::Timestamp::from_second(seconds).unwrap_or_default();
    let moment = moment.to_zoned(jiff::tz::TimeZone::UTC);
    let year = i32::from(moment.year()) - 1980;
    if !(0..128).contains(&year) {
        return 1 << 21 | 1 << 16;
    }
    let date = year << 9 | i32::from(moment.month()) << 5 | i32::from(moment.day());
    let (hour, minute, second) = (moment.hour(), moment.minute(), moment.second());
    let time = i32::from(hour) << 11 | i32::from(minute) << 5 | i32::from(second) >> 1;
    (date << 16 | time) as u32
}

/// Stands for a number that does not fit.
const WIDE: u32 = u32::MAX;
/// Names are UTF-8.
const UTF8: u16 = 1 << 11;
const STORED: u16 = 0;
/// The version of the format that a reader needs.
const PLAIN: u16 = 10;
const ZIP64: u16 = 45;
/// The attributes of files are those of Unix.
const UNIX: u16 = 3 << 8;

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn moments_are_those_of_ms_dos() {
        assert_eq!(dos(0), 0x0021_0000);
        // 2026-11-18T20:24:40Z
        assert_eq!(
            dos(1_795_033_480),
            (46 << 9 | 11 << 5 | 18) << 16 | 20 << 11 | 24 << 5 | 20
        );
    }

    /// Writes nothing, and counts.
    struct Sink;
    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_too_large_for_a_zip_is_zip64() {
        let mut zip = Zip::new(Sink);
        let length = 5_u64 << 30;
        let mut zeros = BufReader::new(io::repeat(0));
        zip.file("a", 0, length, 7, &mut zeros).unwrap();
        zip.file("b", 0, 1, 7, &mut zeros).unwrap();
        let wide = extra(&[length.to_le_bytes(), length.to_le_bytes()].concat());
        assert_eq!(&zip.central[47..47 + wide.len()], wide);
        // The second begins beyond 4 GiB.
        assert!(
            zip.central
                .ends_with(&extra(&(length + 30 + 1 + 20).to_le_bytes()))
        );
    }
}
