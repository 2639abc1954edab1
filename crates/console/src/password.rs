//! Passwords: argon2id with the parameters that OWASP recommends. It takes its time, so it belongs on a thread that may
//! block.

use std::sync::LazyLock;

use anyhow::anyhow;
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};

/// The shortest password that is taken.
pub const SHORTEST: usize = 10;
/// The longest, in bytes: hashing it costs time.
const LONGEST: usize = 1024;

/// What is kept of a password. Refuses those that are too short or too long, in words for people.
pub fn hash(password: &str) -> anyhow::Result<String> {
    check(password).map_err(|reason| anyhow!(reason))?;
    hash_unchecked(password)
}

/// Whether a password is the one that a hash was made of.
///
/// Without a hash, as for a name that nobody has, it takes as long and says no.
pub fn verify(password: &str, hash: Option<&str>) -> bool {
    // Made at the first login whoever it is, so that the time it takes tells nothing.
    let nobody = NOBODY.as_str();
    let Ok(parsed) = PasswordHash::new(hash.unwrap_or(nobody)) else {
        return false;
    };
    Argon2::default()
        .verify_password(password.as_bytes(), &parsed)
        .is_ok()
        && hash.is_some()
}

/// Why a password is not taken, for people.
pub(crate) fn check(password: &str) -> Result<(), String> {
    if password.chars().count() < SHORTEST {
        return Err(format!(
            "a password has at least {SHORTEST} characters; a few words in a row are easy to remember"
        ));
    }
    if password.len() > LONGEST {
        return Err(format!("a password has at most {LONGEST} bytes"));
    }
    Ok(())
}

fn hash_unchecked(password: &str) -> anyhow::Result<String> {
    let hash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(|error| anyhow!("the password cannot be hashed: {error}"))?;
    Ok(hash.to_string())
}

/// The hash of nobody's password.
static NOBODY: LazyLock<String> =
    LazyLock::new(|| hash_unchecked("nobody has this password").unwrap_or_default());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_known_again_by_their_hashes() {
        let hash = hash("correct horse battery").unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        assert!(verify("correct horse battery", Some(&hash)));
        assert!(!verify("correct horse batterz", Some(&hash)));
    }

    #[test]
    fn nobody_has_a_password() {
        assert!(!verify("nobody has this password", None));
        assert!(!verify("anything", Some("not a hash")));
    }

    #[test]
    fn short_passwords_are_refused_with_the_reason() {
        let error = hash("short").unwrap_err();
        assert!(error.to_string().contains("at least 10"), "{error}");
        assert!(hash(&"x".repeat(1025)).is_err());
    }
}
