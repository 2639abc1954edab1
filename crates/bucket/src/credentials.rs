//! The keys to a store: from the environment, or from the file that Amazon's own tools read.

use std::io;
use std::path::PathBuf;

use crate::location::invalid;

/// A key, its secret, and for temporary ones the token.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) key: String,
    pub(crate) secret: String,
    pub(crate) token: Option<String>,
}

impl Credentials {
    pub(crate) fn find() -> io::Result<Self> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        if let (Some(key), Some(secret)) = (set("AWS_ACCESS_KEY_ID"), set("AWS_SECRET_ACCESS_KEY"))
        {
            let token = set("AWS_SESSION_TOKEN");
            return Ok(Self { key, secret, token });
        }
        let home = set("HOME").map(|home| PathBuf::from(home).join(".aws/credentials"));
        let file = set("AWS_SHARED_CREDENTIALS_FILE")
            .map(PathBuf::from)
            .or(home);
        let profile = set("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
        let text = file.and_then(|file| std::fs::read_to_string(file).ok());
        let found = text.and_then(|text| Self::of_profile(&text, &profile));
        found.ok_or_else(|| {
            invalid(
                "there are no keys to the store; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                    .to_owned(),
            )
        })
    }

    fn of_profile(text: &str, profile: &str) -> Option<Self> {
        let mut is_ours = false;
        let (mut key, mut secret, mut token) = (None, None, None);
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                is_ours = name.trim_end_matches(']').trim() == profile;
                continue;
            }
            let Some((name, value)) = line.split_once('=').filter(|_| is_ours) else {
                continue;
            };
            let value = Some(value.trim().to_owned());
            match name.trim() {
                "aws_access_key_id" => key = value,
                "aws_secret_access_key" => secret = value,
                "aws_session_token" => token = value,
                _ => {}
            }
        }
        Some(Self {
            key: key?,
            secret: secret?,
            token,
        })
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_in_its_file() {
        let text = "[default]\naws_access_key_id = A\n# no\naws_secret_access_key=B\n[other]\naws_access_key_id = C\n\
            aws_secret_access_key = geheim\naws_session_token = D\n";
        let default = Credentials::of_profile(text, "default").unwrap();
        assert_eq!(
            (default.key.as_str(), default.secret.as_str(), default.token),
            ("A", "B", None)
        );
        let other = Credentials::of_profile(text, "other").unwrap();
        assert_eq!(other.token.as_deref(), Some("D"));
        assert!(!format!("{other:?}").contains("geheim"));
        assert_eq!(Credentials::of_profile(text, "none"), None);
    }
}
