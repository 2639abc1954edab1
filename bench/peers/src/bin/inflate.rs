//! The floor: all members of a gzip file are inflated, and nothing is done with what comes out.

use std::fs::File;
use std::io::{BufReader, Read};

use flate2::bufread::MultiGzDecoder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: inflate FILE")?;
    let mut reader = MultiGzDecoder::new(BufReader::with_capacity(1 << 20, File::open(path)?));
    let mut block = vec![0; 1 << 16];
    let mut length = 0_u64;
    loop {
        match reader.read(&mut block)? {
            0 => break,
            count => length += count as u64,
        }
    }
    println!("{length}");
    Ok(())
}
