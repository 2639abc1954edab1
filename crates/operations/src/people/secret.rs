//! Secrets that open a session or the API: random, shown once, and kept as digests only.

use sha2::{Digest as _, Sha256};

/// 256 random bits as 64 hexadecimal digits.
pub fn random() -> anyhow::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
    Ok(hexadecimal(&bytes))
}

/// The digest of a secret, which is kept in its place. A secret has 256 random bits, so that a plain digest cannot be guessed back.
pub fn digest(secret: &str) -> String {
    hexadecimal(&Sha256::digest(secret.as_bytes()))
}

/// The bytes as lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_long_and_never_the_same() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
        assert_ne!(digest(&one), digest(&other));
        assert_ne!(digest(&one), one);
    }
}
