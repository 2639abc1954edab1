//! Values that are never shown: credentials and certificates. Flags name files, because others can see command lines.

use harvester::Credentials;

use super::{Parameter, Setting};

/// A value that debug output does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret<T>(pub T);

/// Certificates in PEM.
pub type Certificates = Secret<String>;

impl<T> std::fmt::Debug for Secret<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Secret(…)")
    }
}

impl Parameter for Secret<Credentials> {
    fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return Err(format!("write one line: {FORMS}"));
        };
        if let Some((word, token)) = line.trim().split_once(' ')
            && word.eq_ignore_ascii_case("bearer")
        {
            return Ok(Self(Credentials::Bearer(token.trim().to_owned())));
        }
        let Some((user, password)) = line.split_once(':') else {
            return Err(format!("write {FORMS}"));
        };
        Ok(Self(Credentials::Basic {
            user: user.to_owned(),
            password: password.to_owned(),
        }))
    }
}

impl Parameter for Secret<String> {
    fn read(text: &str) -> Result<Self, String> {
        match text.contains("-----BEGIN CERTIFICATE-----") {
            true => Ok(Self(text.to_owned())),
            false => Err("write certificates in PEM".to_owned()),
        }
    }
}

/// Reads a setting from the file that a flag names; an empty name means the default.
pub(super) fn in_file<T: Parameter>(name: &str) -> Result<Setting<T>, String> {
    if name.is_empty() {
        return Ok(Setting::Default);
    }
    let text = std::fs::read_to_string(name);
    let text = text.map_err(|error| format!("the file cannot be read: {error}"))?;
    match T::read(&text) {
        Ok(value) => Ok(Setting::To(value)),
        Err(remedy) => Err(format!("the file cannot be used; {remedy}")),
    }
}

/// Reads seconds into milliseconds.
pub(super) fn seconds(text: &str) -> Result<Setting<u64>, String> {
    if text.is_empty() {
        return Ok(Setting::Default);
    }
    let seconds: f64 = text.parse().map_err(|_| NOT_SECONDS)?;
    match (0.0..=86_400.0).contains(&seconds) {
        true => Ok(Setting::To((seconds * 1000.0).round() as u64)),
        false => Err(NOT_SECONDS.to_owned()),
    }
}

const FORMS: &str = "USER:PASSWORD or bearer TOKEN";
const NOT_SECONDS: &str = "write seconds, such as 30 or 0.5, up to a day (86400)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_a_name_and_a_password_or_a_token() {
        let read = |text: &str| {
            Secret::<Credentials>::read(text)
                .ok()
                .map(|secret| secret.0)
        };
        let basic = |user: &str, password: &str| {
            let (user, password) = (user.to_owned(), password.to_owned());
            Some(Credentials::Basic { user, password })
        };

        assert_eq!(read("me:a:b c \n"), basic("me", "a:b c "));
        assert_eq!(read("\nme:\r\n"), basic("me", ""));
        assert_eq!(
            read("Bearer abc\n"),
            Some(Credentials::Bearer("abc".to_owned()))
        );
        for wrong in ["\n", "me", "me:a\nyou:b\n"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn seconds_are_a_number_within_reason() {
        assert_eq!(seconds("0.5"), Ok(Setting::To(500)));
        assert_eq!(seconds(""), Ok(Setting::Default));
        for wrong in ["-1", "NaN", "inf", "1e9", "2 s"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
