//! Digests and names as WARC files have them.

use std::io::{self, Read};

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use sha1::{Digest, Sha1};

/// A SHA-1 with its label, as in `sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ`.
pub(super) fn labelled(digest: Sha1) -> String {
    format!("sha1:{}", BASE32_NOPAD.encode(&digest.finalize()))
}

/// Passes all that a reader has to `see`, and returns how much it was.
pub(super) fn each_block(
    reader: &mut dyn Read,
    mut see: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<u64> {
    let mut block = vec![0; 64 * 1024];
    let mut length = 0;
    loop {
        let count = match reader.read(&mut block) {
            Ok(0) => return Ok(length),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        see(&block[..count])?;
        length += count as u64;
    }
}

/// A name for a record that no other has (RFC 9562, version 4).
pub(super) fn record_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(uuid(bytes, 4))
}

/// The name of a record that is made of these texts, and of no other (RFC 9562, version 8: made by rules of its own).
pub(super) fn named_id(texts: &[&str]) -> String {
    let mut digest = Sha1::new();
    for text in texts {
        digest.update((text.len() as u64).to_be_bytes());
        digest.update(text);
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.finalize()[..16]);
    uuid(bytes, 8)
}

fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0F | version << 4;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let digits = HEXLOWER.encode(&bytes);
    let groups = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ];
    format!("<urn:uuid:{}>", groups.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_well_known_one() {
        assert_eq!(
            labelled(Sha1::new()),
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
        );
    }

    #[test]
    fn record_ids_are_random_uuids() {
        let (one, other) = (record_id().unwrap(), record_id().unwrap());
        assert_ne!(one, other);
        assert_eq!(
            one.len(),
            "<urn:uuid:00000000-0000-4000-8000-000000000000>".len()
        );
        assert_eq!(&one[24..25], "4");
    }
}
