//! Passwords: argon2id with the parameters that OWASP recommends. Hashing takes a core and 19 MiB for a while, so at
//! most two are hashed at the same time.

use std::sync::LazyLock;

use anyhow::anyhow;
use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use tokio::sync::Semaphore;

use crate::Refusal;
use crate::turn::turn;

/// The hash of a password that was checked.
pub(crate) async fn hash(password: &str) -> Result<String, Refusal> {
    let password = password.to_owned();
    Ok(in_turn(move || hash_now(&password)).await??)
}

/// Whether `hash` was made of `password`. Without a hash, as for a name that nobody has, it takes as long and says no.
pub(crate) async fn verify(password: &str, hash: Option<String>) -> Result<bool, Refusal> {
    let password = password.to_owned();
    in_turn(move || verify_now(&password, hash.as_deref())).await
}

/// Why a password is refused, for people.
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

async fn in_turn<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let turn = turn(&TURNS, "too many people log in at the moment; try again").await?;
    let work = move || {
        // The work holds its place until it ends, also when nobody waits for it any more.
        let _turn = turn;
        work()
    };
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| anyhow::Error::from(error).into())
}

fn verify_now(password: &str, hash: Option<&str>) -> bool {
    // Computed at the first login of anybody, so that the time it takes tells nothing.
    let nobody = NOBODY.as_str();
    let Ok(parsed) = PasswordHash::new(hash.unwrap_or(nobody)) else {
        return false;
    };
    let fits = Argon2::default().verify_password(password.as_bytes(), &parsed);
    fits.is_ok() && hash.is_some()
}

/// The hash of a password, without a check and for code that may block.
pub fn hash_now(password: &str) -> anyhow::Result<String> {
    let hash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(|error| anyhow!("the password cannot be hashed: {error}"))?;
    Ok(hash.to_string())
}

/// The hash of nobody's password.
static NOBODY: LazyLock<String> =
    LazyLock::new(|| hash_now("nobody has this password").unwrap_or_default());
static TURNS: Semaphore = Semaphore::const_new(2);

/// The fewest characters of a password.
const SHORTEST: usize = 10;
/// The most bytes of a password: hashing it costs time.
const LONGEST: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_known_again_by_their_hashes() {
        let hash = hash_now("correct horse battery").unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        assert!(verify_now("correct horse battery", Some(&hash)));
        assert!(!verify_now("correct horse batterz", Some(&hash)));
    }

    #[test]
    fn nobody_has_a_password() {
        assert!(!verify_now("nobody has this password", None));
        assert!(!verify_now("anything", Some("not a hash")));
    }

    #[test]
    fn short_passwords_are_refused_with_the_reason() {
        let reason = check("short").unwrap_err();
        assert!(reason.contains("at least 10"), "{reason}");
        assert!(check(&"x".repeat(1025)).is_err());
        assert!(check("correct horse battery").is_ok());
    }
}
