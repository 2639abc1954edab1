//! Large values: the base64 of a large file is taken out of its record while that is read, and written where it is to go.

use std::sync::Arc;

use memchr::memmem;

use super::page::PageReader;
use super::plain::close_of_tag;
use crate::Error;
use crate::unpack::{Spool, SpooledValue, Spooling};

impl PageReader {
    /// Has large values taken out of records.
    pub(crate) fn spool_values(&mut self, spool: Option<Arc<dyn Spool>>) {
        self.spool = spool;
    }

    /// Takes out the value whose beginning lies at the end of the text in memory, up to its end. Returns where it stood, or
    /// `None` if there is no large value, or none is to be taken out.
    pub(super) fn take_value_out(&mut self) -> Result<Option<usize>, Error> {
        let Some(spool) = &self.spool else {
            return Ok(None);
        };
        let Some(start) = self.long_value() else {
            return Ok(None);
        };
        let mut spooling = Spooling::begin(&**spool, start);
        let text = self.xml.get_mut();
        let taken = text.take_out(start, |piece| spooling.write(piece.as_bytes()));
        self.skipped += taken.map_err(|error| self.unreadable(&error))?;
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

/// The body of a record with a note at each offset in `places`, for a record that is mended as a whole. `None` if the record
/// has such a note of its own.
pub(super) fn note_places(body: &[u8], places: &[usize]) -> Option<Vec<u8>> {
    if memmem::find(body, PLACE.as_bytes()).is_some() {
        return None;
    }
    let mut noted = Vec::with_capacity(body.len() + 32 * places.len());
    let mut done = 0;
    for (number, place) in places.iter().enumerate() {
        noted.extend_from_slice(body.get(done..*place)?);
        noted.extend_from_slice(note(number).as_bytes());
        done = *place;
    }
    noted.extend_from_slice(&body[done..]);
    Some(noted)
}

/// Takes the notes out of a record again, and moves each value to where its note was.
pub(super) fn find_places(xml: &mut Vec<u8>, values: &mut [SpooledValue]) -> Option<()> {
    for (number, value) in values.iter_mut().enumerate() {
        let note = note(number);
        let at = memmem::find(xml, note.as_bytes())?;
        xml.drain(at..at + note.len());
        value.move_to(at);
    }
    Some(())
}

fn note(number: usize) -> String {
    format!("{PLACE}{number}?>")
}

/// Begins the processing instruction that notes a place.
const PLACE: &str = "<?garner-value ";
/// A value that is shorter stays in its record.
const LONG: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};

    use super::*;
    use crate::buffers::Buffer;
    use crate::read::{PageItem, ReadRules, Report};
    use crate::record::Record;
    use crate::unpack::{self, Handle};

    #[derive(Debug)]
    struct Memory;

    impl Spool for Memory {
        fn create(&self) -> io::Result<Handle> {
            Ok(Box::new(Cursor::new(Vec::new())))
        }

        fn limit(&self) -> u64 {
            u64::MAX
        }
    }

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
        read_by(page, block, ReadRules::default())
    }

    fn read_by(page: &str, block: usize, rules: ReadRules) -> (Vec<Record>, Report) {
        let body = Cursor::new(page.as_bytes().to_vec());
        let body = Box::new(BufReader::with_capacity(block, body));
        let mut reader = PageReader::open(body, false, None, rules, Buffer::default()).unwrap();
        reader.spool_values(Some(Arc::new(Memory)));
        let mut records = Vec::new();
        while let Some(found) = reader.next().unwrap() {
            match found {
                PageItem::Record(record) => records.push(*record),
                other => panic!("{other:?}"),
            }
        }
        (records, std::mem::take(reader.report()))
    }

    /// The value of a record with one resource.
    fn value_of(record: Record) -> Result<Vec<u8>, unpack::Error> {
        let mut resources = unpack::resources(&record.xml).unwrap();
        assert!(unpack::attach(&mut resources, record.values).is_empty());
        let mut handle = resources[0].take_spooled().expect("a spooled value")?;
        let mut bytes = Vec::new();
        handle.seek(SeekFrom::Start(0)).unwrap();
        handle.read_to_end(&mut bytes).unwrap();
        Ok(bytes)
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
                        assert_eq!(value_of(record).unwrap(), bytes);
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
        assert_eq!(value_of(record).unwrap(), vec![0; 600_000]);
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

        let record = found.into_iter().next().unwrap();
        assert!(matches!(
            value_of(record),
            Err(unpack::Error::Base64 { .. })
        ));
    }

    #[test]
    fn values_keep_their_places_in_records_that_are_mended() {
        let long = "AAAA".repeat(200_000);
        let in_place = record(1, &long).replace("</metadata>", "R&D &eacute;</metadata>");
        let as_a_whole = record(2, &long).replace("</metadata>", "<dc:b>x<c></dc:b></metadata>");
        let page = page(&[in_place, as_a_whole].concat());
        let rules = ReadRules {
            leniency: crate::Leniency::Repair,
            ..ReadRules::default()
        };
        let (found, _) = read_by(&page, 64 << 10, rules);

        assert_eq!(found.len(), 2);
        for record in found {
            assert!(!record.repairs.is_empty());
            assert!(!String::from_utf8_lossy(&record.xml).contains(PLACE));
            assert_eq!(value_of(record).unwrap(), vec![0; 600_000]);
        }
    }
}
