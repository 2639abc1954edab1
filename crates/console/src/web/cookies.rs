//! The cookies of the console: the session, a message for the next page, light or dark, and whether first steps are hidden.

use axum::http::header::{COOKIE, HeaderMap, HeaderValue};

use operations::secret::hexadecimal;

/// How cookies are called and marked: browsers hold those with the prefix to this host and to https.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cookies {
    pub(crate) https: bool,
}

/// Whose cookie it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Name {
    Session,
    Flash,
    Theme,
    FirstSteps,
}

impl Cookies {
    /// The value that came with a request.
    pub(crate) fn read(self, headers: &HeaderMap, name: Name) -> Option<&str> {
        let name = self.name(name);
        let lines = headers.get_all(COOKIE).into_iter();
        let mut pairs = lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Sets a cookie for so many seconds; zero removes it. The value has to be plain.
    pub(crate) fn set(self, name: Name, value: &str, seconds: u64) -> Option<HeaderValue> {
        let secure = if self.https { "; Secure" } else { "" };
        // The theme is the script's too.
        let http_only = match name {
            Name::Theme => "",
            Name::Session | Name::Flash | Name::FirstSteps => "; HttpOnly",
        };
        let name = self.name(name);
        let text =
            format!("{name}={value}; Path=/; Max-Age={seconds}; SameSite=Lax{http_only}{secure}");
        HeaderValue::from_str(&text).ok()
    }

    fn name(self, name: Name) -> &'static str {
        match (name, self.https) {
            (Name::Session, true) => "__Host-garner",
            (Name::Session, false) => "garner",
            (Name::Flash, true) => "__Host-garner-flash",
            (Name::Flash, false) => "garner-flash",
            (Name::Theme, _) => "garner-theme",
            (Name::FirstSteps, _) => "garner-first-steps",
        }
    }
}

/// A message as a cookie can carry it.
pub(crate) fn encode(message: &str) -> String {
    let message: String = message.chars().take(LONGEST_MESSAGE).collect();
    hexadecimal(message.as_bytes())
}

/// The message that [`encode`] made a cookie of.
pub(crate) fn decode(cookie: &str) -> Option<String> {
    let digits = cookie.as_bytes();
    if digits.len() > LONGEST_MESSAGE * 8 {
        return None;
    }
    String::from_utf8(data_encoding::HEXLOWER.decode(digits).ok()?).ok()
}

const LONGEST_MESSAGE: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were() {
        for message in ["Added; “done” — 100 %", "", "\r\nSet-Cookie: a=b"] {
            assert_eq!(decode(&encode(message)).as_deref(), Some(message));
        }
        for bad in ["zz", "a€", "c3", &"00".repeat(5000)] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn sessions_are_for_this_host_and_not_for_scripts() {
        let set = |https| {
            let value = Cookies { https }.set(Name::Session, "abc", 60).unwrap();
            value.to_str().unwrap().to_owned()
        };
        assert_eq!(
            set(true),
            "__Host-garner=abc; Path=/; Max-Age=60; SameSite=Lax; HttpOnly; Secure"
        );
        assert_eq!(
            set(false),
            "garner=abc; Path=/; Max-Age=60; SameSite=Lax; HttpOnly"
        );
    }

    #[test]
    fn cookies_are_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=b; xgarner=1;garner=2"));
        headers.append(COOKIE, HeaderValue::from_static("garner-theme=dark"));
        let cookies = Cookies { https: false };
        assert_eq!(cookies.read(&headers, Name::Session), Some("2"));
        assert_eq!(cookies.read(&headers, Name::Theme), Some("dark"));
        assert_eq!(cookies.read(&headers, Name::Flash), None);
    }
}
