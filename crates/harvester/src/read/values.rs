//! Long values: the base64 of a large file is taken out of its record while that is read, and written where it is to go.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::page::PageReader;
use super::plain::close_of_tag;
use crate::Error;
use crate::unpack::{Spool, Spooling};

impl PageReader {
    /// Has long values taken out of records.
    pub(crate) fn spool_values(&mut self, spool: Option<Arc<dyn Spool>>) {
        self.spool = spool;
    }

    /// Takes the value out whose beginning lies at the end of what is in memory, up to its end. Returns where its mark
    /// begins; `None` if there is no long value, or nobody wants it taken out.
    pub(super) fn take_value_out(&mut self) -> Result<Option<usize>, Error> {
        let Some(spool) = &self.spool else {
            return Ok(None);
        };
        let Some(start) = self.long_value() else {
            return Ok(None);
        };
        let mark = format!("~{:016x}~", RandomState::new().hash_one(start));
        let mut spooling = Spooling::begin(&**spool, mark);
        let text = self.xml.get_mut();
        let taken = text.take_out(start, |piece| spooling.write(piece.as_bytes()));
        let taken = taken.map_err(|error| self.unreadable(&error))?;
        let text = self.xml.get_mut();
        text.put_in(start, spooling.mark());
        self.skipped += taken - spooling.mark().len() as u64;
        self.draft.values.push(spooling.finish());
        Ok(Some(start))
    }

    /// Where the text begins of an element that has base64, and so much of it that it is not kept in memory.
    fn long_value(&self) -> Option<usize> {
        let text = self.xml.get_ref().buffered();
        let name = self.draft.open.last()?;
        let element = &text[name.start..];
        if text.len() - name.end < LONG || memchr::memrchr(b'<', element.as_bytes()).is_some() {
            return None;
        }
        let close = close_of_tag(text.as_bytes(), name.end)?;
        let (tag, value) = (&text[name.end..close], &text[close + 1..]);
        // References are left to who reads piece by piece, and so is what was packed before it became base64.
        let is_plain = memchr::memchr(b'&', value.as_bytes()).is_none();
        let is_base64 = [" encoding=\"base64\"", " encoding='base64'"]
            .iter()
            .any(|attribute| tag.contains(attribute));
        let is_long = is_plain && is_base64 && !tag.contains("contentEncoding");
        (is_long && value.len() >= LONG).then_some(close + 1)
    }
}

/// A value that is shorter stays in its record.
const LONG: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::io::{self, BufReader, Cursor, Read};

    use super::*;
    use crate::buffers::Buffer;
    use crate::read::{Found, ReadRules, Report};
    use crate::record::Record;
    use crate::unpack::{self, Spooled};

    #[derive(Debug)]
    struct Memory;

    impl Spool for Memory {
        fn create(&self) -> io::Result<Box<dyn Spooled>> {
            Ok(Box::new(Kept(Cursor::default())))
        }

        fn limit(&self) -> u64 {
            u64::MAX
        }
    }

    struct Kept(Cursor<Vec<u8>>);

    impl Read for Kept {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(out)
        }
    }

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl io::Seek for Kept {
        fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    impl Spooled for Kept {}

    fn record(number: usize, value: &str) -> String {
        format!(
            "<record><header><identifier>a:{number}</identifier><datestamp>2020-01-01</datestamp></header><metadata>\
             <d:DIDL xmlns:d=\"urn:mpeg:mpeg21:2002:02-DIDL-NS\"><d:Item><d:Component>\
             <d:Resource mimeType=\"a/b\" encoding=\"base64\">{value}</d:Resource>\
             <d:Resource ref=\"http://a.example/{number}\"/></d:Component></d:Item></d:DIDL></metadata></record>"
        )
    }

    fn page(records: &str) -> String {
        format!(
            "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><ListRecords>{records}\
             <resumptionToken>t</resumptionToken></ListRecords></OAI-PMH>"
        )
    }

    fn read(page: &str, block: usize) -> (Vec<Record>, Report) {
        let body = Cursor::new(page.as_bytes().to_vec());
        let body = Box::new(BufReader::with_capacity(block, body));
        let rules = ReadRules::default();
        let mut reader = PageReader::open(body, false, None, rules, Buffer::default()).unwrap();
        reader.spool_values(Some(Arc::new(Memory)));
        let mut records = Vec::new();
        while let Some(found) = reader.next().unwrap() {
            match found {
                Found::Record(record) => records.push(*record),
                other => panic!("{other:?}"),
            }
        }
        (records, std::mem::take(reader.report()))
    }

    /// The value of a record with one resource.
    fn value_of(mut record: Record) -> Vec<u8> {
        let resources = unpack::resources(&record.xml).unwrap();
        let value = record.values.remove(0);
        assert!(value.is_of(&resources[0]));
        let bytes: Box<dyn Any> = value.into_bytes(&resources[0]).unwrap();
        bytes.downcast::<Kept>().unwrap().0.into_inner()
    }

    #[test]
    fn long_values_are_taken_out_and_short_ones_stay() {
        let bytes: Vec<u8> = (0..900_000_u32).map(|n| (n % 251) as u8).collect();
        let long = base64_simd::STANDARD.encode_to_string(&bytes);
        let lines: Vec<&str> = long
            .as_bytes()
            .chunks(76)
            .map(|line| str::from_utf8(line).unwrap())
            .collect();
        let records = [
            record(1, "aGVsbG8="),
            record(2, &long),
            record(3, &lines.join("\n")),
            record(4, "aGVsbG8="),
        ];
        let page = page(&records.concat());
        for block in [1000, 64 << 10, 10 << 20] {
            let (found, report) = read(&page, block);

            assert_eq!(report.bytes, page.len() as u64, "{block}");
            assert_eq!(report.token.unwrap().value, "t");
            assert_eq!(found.len(), 4);
            for (number, record) in found.into_iter().enumerate() {
                assert_eq!(record.header.identifier, format!("a:{}", number + 1));
                match number {
                    1 | 2 if block < long.len() => {
                        assert!(record.xml.len() < 1000);
                        assert_eq!(value_of(record), bytes);
                    }
                    1 | 2 => {}
                    _ => assert!(record.values.is_empty()),
                }
            }
        }
    }

    #[test]
    fn what_is_odd_elsewhere_in_the_record_does_not_matter() {
        let long = "AAAA".repeat(200_000);
        let odd = record(1, &long).replace("</metadata>", "<!-- odd --></metadata>");
        let (found, _) = read(&page(&odd), 64 << 10);

        let record = found.into_iter().next().unwrap();
        assert!(String::from_utf8_lossy(&record.xml).contains("<!-- odd -->"));
        assert_eq!(value_of(record), vec![0; 600_000]);
    }

    #[test]
    fn values_with_references_and_packed_ones_stay_in_their_records() {
        let long = "AAAA".repeat(200_000);
        let with_references = record(1, &format!("AAAA&#13;{long}"));
        let packed = record(2, &long).replace(" encoding=", " contentEncoding=\"gzip\" encoding=");
        let (found, _) = read(&page(&[with_references, packed].concat()), 64 << 10);

        for record in found {
            assert!(record.values.is_empty());
            assert!(record.xml.len() > long.len());
        }
    }

    #[test]
    fn a_value_that_is_interrupted_is_not_taken_for_whole() {
        let long = "AAAA".repeat(200_000);
        let interrupted = record(1, &format!("{long}<!-- -->{long}"));
        let (found, _) = read(&page(&interrupted), 64 << 10);

        let record = &found[0];
        let resources = unpack::resources(&record.xml).unwrap();
        assert!(!record.values[0].is_of(&resources[0]));
        assert!(resources[0].copy_to(&mut io::sink(), u64::MAX).is_err());
    }
}
