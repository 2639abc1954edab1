//! The floor: all members of a gzip file are inflated, and nothing is done with what comes out, but that of the first BYTES
//! of it the SHA-1 and the SHA-256 are computed.

use std::fs::File;
use std::io::{BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use sha1::{Digest, Sha1};
use sha2::Sha256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: inflate FILE [BYTES]")?;
    let bytes = std::env::args().nth(2).map_or(Ok(0), |bytes| bytes.parse())?;
    let mut left: usize = bytes;
    let (mut sha1, mut sha256) = (Sha1::new(), Sha256::new());
    let mut reader = MultiGzDecoder::new(BufReader::with_capacity(1 << 20, File::open(path)?));
    let mut block = vec![0; 1 << 16];
    let mut length = 0_u64;
    loop {
        match reader.read(&mut block)? {
            0 => break,
            count => {
                length += count as u64;
                let digested = &block[..count.min(left)];
                left -= digested.len();
                sha1.update(digested);
                sha256.update(digested);
            }
        }
    }
    std::hint::black_box((sha1.finalize(), sha256.finalize()));
    println!("{length}");
    Ok(())
}
