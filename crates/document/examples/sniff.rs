//! Says what the first bytes of files are: `cargo run -p garner-document --example sniff -- FILE…`.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};

use document::media_type::{HEAD, decide};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let mut head = Vec::new();
        File::open(&path)?
            .take(HEAD as u64)
            .read_to_end(&mut head)?;
        let found = decide(None, &head);
        writeln!(io::stdout(), "{}\t{path}", found.decided)?;
    }
    Ok(())
}
