//! The secret that signs tokens, kept beside the files: tokens outlive the process.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, bail};

/// The secret of a data directory, made if it has none.
pub fn token_secret(directory: &Path) -> anyhow::Result<Vec<u8>> {
    let path = directory.join("aggregator.key");
    let told = || format!("the key of tokens, {},", path.display());
    match std::fs::read(&path) {
        Ok(secret) if secret.len() == LENGTH => return Ok(secret),
        Ok(_) => bail!(
            "{} is damaged; remove it, and harvesters begin their lists again",
            told()
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", told())),
    }
    let mut secret = vec![0; LENGTH];
    getrandom::fill(&mut secret).context("the system gives no random bytes")?;
    let partial = directory.join(format!("aggregator.key.{}", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&partial)
        .with_context(|| format!("{} cannot be made", told()))?;
    file.write_all(&secret)?;
    file.sync_all()?;
    // Whole or not at all; of two processes that start at once the first has made it.
    let linked = std::fs::hard_link(&partial, &path);
    std::fs::remove_file(&partial)?;
    match linked {
        Ok(()) => Ok(secret),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(std::fs::read(&path)?),
        Err(error) => Err(error).with_context(|| format!("{} cannot be made", told())),
    }
}

const LENGTH: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_stays_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let secret = token_secret(directory.path()).unwrap();
        assert_eq!(token_secret(directory.path()).unwrap(), secret);
        std::fs::write(directory.path().join("aggregator.key"), "short").unwrap();
        assert!(token_secret(directory.path()).is_err());
    }
}
