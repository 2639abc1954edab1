//! HMAC with SHA-256 (RFC 2104), by which the receiver of a webhook knows who sent it.

use sha2::{Digest, Sha256};

/// The signature of a message, in hexadecimal.
pub(super) fn sign(secret: &[u8], message: &[u8]) -> String {
    let mut key = [0; BLOCK];
    match secret.len() > BLOCK {
        true => key[..32].copy_from_slice(&Sha256::digest(secret)),
        false => key[..secret.len()].copy_from_slice(secret),
    }
    let padded = |pad: u8| key.map(|byte| byte ^ pad);
    let inner = Sha256::new_with_prefix(padded(0x36)).chain_update(message);
    let outer = Sha256::new_with_prefix(padded(0x5c)).chain_update(inner.finalize());
    let bytes = outer.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The block of SHA-256.
const BLOCK: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_standard() {
        // RFC 4231, test cases 2 and 6.
        assert_eq!(
            sign(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            sign(
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First"
            ),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
