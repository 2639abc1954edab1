//! Signs webhooks as the specification Standard Webhooks has it: the id and the time are signed with the message, so that
//! nobody can send it once more later, or under another id.

use anyhow::Context;
use base64_simd::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The value of the header `webhook-signature`.
pub(super) fn sign(secret: &str, id: &str, time: u64, body: &[u8]) -> anyhow::Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key(secret)?)?;
    mac.update(format!("{id}.{time}.").as_bytes());
    mac.update(body);
    let signature = mac.finalize().into_bytes();
    Ok(format!("v1,{}", STANDARD.encode_to_string(signature)))
}

/// The bytes of a secret: those that base64 stands for behind `whsec_`, or the text itself.
pub(super) fn key(secret: &str) -> anyhow::Result<Vec<u8>> {
    match secret.strip_prefix("whsec_") {
        Some(encoded) => STANDARD
            .decode_to_vec(encoded)
            .context("a secret that begins with `whsec_` is base64 behind it, with padding"),
        None => Ok(secret.as_bytes().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;

    #[test]
    fn signatures_are_those_of_the_specification() {
        let signature = sign(SECRET, ID, 1_614_265_330, BODY).unwrap();
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn id_time_and_body_are_all_signed() {
        let signed = sign(SECRET, ID, 1_614_265_330, BODY).unwrap();
        for (id, time, body) in [
            ("msg_2", 1_614_265_330, BODY),
            (ID, 1_614_265_331, BODY),
            (ID, 1_614_265_330, &b"{}"[..]),
        ] {
            assert_ne!(sign(SECRET, id, time, body).unwrap(), signed);
        }
        let plain = sign("a long random text", ID, 1_614_265_330, BODY).unwrap();
        assert_ne!(plain, signed);
        assert!(sign("whsec_not base64", ID, 1, BODY).is_err());
    }
}
