//! Goes through a crawl as an importer of PDF does: parses every response and digests those of the type with SHA-1
//! and SHA-256. Prints how many there were.

use std::io::{self, Write};

use fastwarc::warc::iter::{ArchiveIterator, filter};
use fastwarc::warc::record::{AutoDecode, WarcRecordType};
use sha1::{Digest, Sha1};
use sha2::Sha256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: read_fastwarc FILE")?;
    let records = ArchiveIterator::from_path(path)?
        .with_parse_http(true)
        .with_decode_http_payload(AutoDecode::All)
        .with_filter(filter::has_record_type(WarcRecordType::Response));
    let mut found = 0;
    for record in records {
        let record = record?;
        let mut record = record.borrow_mut();
        if record.http_content_type().as_deref() != Some("application/pdf") {
            continue;
        }
        if let Some(reader) = record.reader_mut() {
            let mut digest = Digester(Sha1::new(), Sha256::new());
            io::copy(reader, &mut digest)?;
            std::hint::black_box((digest.0.finalize(), digest.1.finalize()));
            found += 1;
        }
    }
    println!("{found}");
    Ok(())
}

struct Digester(Sha1, Sha256);

impl Write for Digester {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        self.1.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
