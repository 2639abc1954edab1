//! Measures what it costs to have a page of record files safe on the disk.
//!
//!     cargo run --release -p garner-store --example durability -- DIRECTORY FILES PAGES
#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use std::path::PathBuf;
use std::time::Instant;

use store::{Durability, Layout, RecordFiles};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or("DIRECTORY")?);
    let files: usize = arguments.next().ok_or("FILES")?.parse()?;
    let pages: usize = arguments.next().ok_or("PAGES")?.parse()?;
    let xml = vec![b'x'; 1500];
    for durability in [Durability::None, Durability::Page] {
        let base = directory.join(format!("{durability:?}"));
        let records = RecordFiles::open(&base, Layout::default(), durability)?;
        let start = Instant::now();
        for page in 0..pages {
            for file in 0..files {
                records.write(&format!("oai:x:{page}.{file}"), None, &xml)?;
            }
            records.sync()?;
        }
        let each = start.elapsed() / u32::try_from(files * pages)?;
        println!("{durability:?}: {each:?} a file");
    }
    Ok(())
}
