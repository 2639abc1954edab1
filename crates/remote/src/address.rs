//! The address of a remote source: `ftp://host/directory/`, `ftps://…`, `sftp://user@host/directory/`.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

use crate::Error;
use crate::name::objection;

/// The way files are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// FTP, readable by everybody on the way.
    Ftp,
    /// FTP that is encrypted after `AUTH TLS`.
    Ftps,
    /// The file transfer of SSH.
    Sftp,
}

/// A file or a directory on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) scheme: Scheme,
    pub(crate) user: Option<String>,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The names on the way, as bytes.
    pub(crate) path: Vec<Vec<u8>>,
    /// Whether it begins where the user is after the login, and not at the root.
    pub(crate) from_home: bool,
    /// Whether it can only be a directory.
    pub(crate) is_directory: bool,
    url: Url,
}

impl Address {
    /// Whether a path is no path but an address, as far as its beginning tells.
    pub fn is_meant(path: &Path) -> bool {
        let schemes = ["ftp://", "ftps://", "sftp://"];
        path.to_str().is_some_and(|path| {
            let begins = |scheme: &&str| {
                path.get(..scheme.len())
                    .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
            };
            schemes.iter().any(begins)
        })
    }

    /// Reads an address. A password has no place in it: it would show in the list of processes and in the history.
    pub fn parse(text: &str) -> Result<Self, Error> {
        // Whatever is wrong with it, the text itself may hold a password, and is not said.
        let wrong = |why: &str| Error::Address(format!("the address {why}"));
        let url = Url::parse(text).map_err(|error| wrong(&format!("is not a URL: {error}")))?;
        let scheme = match url.scheme() {
            "ftp" => Scheme::Ftp,
            "ftps" => Scheme::Ftps,
            "sftp" => Scheme::Sftp,
            other => {
                return Err(wrong(&format!(
                    "begins with `{other}:`; ftp://, ftps:// and sftp:// can be fetched"
                )));
            }
        };
        if url.password().is_some() {
            return Err(wrong(&format!(
                "of {} has a password in it, which others see in the list of processes; write it into ~/.netrc",
                url.host_str().unwrap_or_default()
            )));
        }
        let Some(host) = url.host_str().filter(|host| !host.is_empty()) else {
            return Err(wrong("names no host"));
        };
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong(
                "has a `?` or `#`; write %3F or %23 if it is a part of a name",
            ));
        }
        let user = percent_decode_str(url.username()).decode_utf8();
        let user = user.map_err(|_| wrong("names a user who is not UTF-8"))?;
        let user = Some(user.into_owned()).filter(|user| !user.is_empty());
        if user
            .as_deref()
            .is_some_and(|user| user.contains(char::is_control))
        {
            return Err(wrong("names a user with control characters"));
        }
        let (path, from_home) = path(scheme, url.path()).map_err(|why| wrong(&why))?;
        Ok(Self {
            scheme,
            user,
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port().unwrap_or(scheme.port()),
            is_directory: path.is_empty() || url.path().ends_with('/'),
            path,
            from_home,
            url,
        })
    }

    /// The URL that files have from here, without the user: what is imported keeps it.
    pub fn base_url(&self, is_directory: bool) -> String {
        let mut url = self.url.clone();
        // Neither can fail where there is a host.
        let _ = url.set_username("");
        if is_directory && !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        url.into()
    }

    /// The host, for messages.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// A directory for all that one user sees of one server.
    pub(crate) fn place(&self) -> PathBuf {
        let scheme = match self.scheme {
            Scheme::Ftp => "ftp",
            Scheme::Ftps => "ftps",
            Scheme::Sftp => "sftp",
        };
        let user = match &self.user {
            Some(user) => format!("{}@", plain(user)),
            None => String::new(),
        };
        let port = match self.port == self.scheme.port() {
            true => String::new(),
            false => format!("_{}", self.port),
        };
        // The same names are other files where they begin elsewhere.
        let begin = match (self.scheme, self.from_home) {
            (Scheme::Sftp, true) => "~",
            (Scheme::Ftp | Scheme::Ftps, false) => "%2F",
            _ => "",
        };
        Path::new(scheme).join(format!("{user}{}{port}{begin}", plain(&self.host)))
    }
}

impl Scheme {
    fn port(self) -> u16 {
        match self {
            Self::Ftp | Self::Ftps => 21,
            Self::Sftp => 22,
        }
    }
}

/// The names of a path, and whether it begins at home. With FTP it does, unless it begins with `%2F`; with SFTP it does
/// if it begins with `~`.
fn path(scheme: Scheme, text: &str) -> Result<(Vec<Vec<u8>>, bool), String> {
    let mut text = text.trim_start_matches('/');
    let from_home = match scheme {
        Scheme::Sftp => {
            let rest = text
                .strip_prefix("~")
                .filter(|rest| rest.is_empty() || rest.starts_with('/'));
            text = rest.unwrap_or(text);
            rest.is_some()
        }
        Scheme::Ftp | Scheme::Ftps => {
            let begins = text
                .get(..3)
                .is_some_and(|begin| begin.eq_ignore_ascii_case("%2f"));
            if begins {
                text = &text[3..];
            }
            !begins
        }
    };
    let mut names = Vec::new();
    for part in text.split('/').filter(|part| !part.is_empty()) {
        let name = percent_decode_str(part).collect::<Vec<u8>>();
        if let Some(why) = objection(&name) {
            return Err(format!("has the name `{part}` in it: {why}"));
        }
        names.push(name);
    }
    Ok((names, from_home))
}

/// A text from an address as a part of the name of a directory: two that differ stay different.
fn plain(text: &str) -> String {
    let name = utf8_percent_encode(text, UNSAFE).to_string();
    match name.starts_with('.') {
        true => format!("%2E{}", &name[1..]),
        false => name,
    }
}

const UNSAFE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b':');

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn an_address_says_how_whom_and_what() {
        let address = parsed("sftp://an%20archivist@crawls.example:2222/data/a%20b/");
        assert_eq!(address.user.as_deref(), Some("an archivist"));
        assert_eq!(
            (address.host.as_str(), address.port),
            ("crawls.example", 2222)
        );
        assert_eq!(address.path, [b"data".to_vec(), b"a b".to_vec()]);
        assert!(address.is_directory && !address.from_home);
        assert_eq!(
            address.base_url(true),
            "sftp://crawls.example:2222/data/a%20b/"
        );
        assert_eq!(
            address.place(),
            Path::new("sftp/an%20archivist@crawls.example_2222")
        );
    }

    #[test]
    fn a_path_begins_at_home_or_at_the_root() {
        assert!(parsed("ftp://a.example/pub").from_home);
        assert!(!parsed("ftp://a.example/%2Fpub").from_home);
        assert_eq!(parsed("ftp://a.example/%2Fpub").path, [b"pub"]);
        assert!(parsed("sftp://a.example/~/pub").from_home);
        assert!(parsed("sftp://a.example/~pub").path == [b"~pub"]);
        assert_eq!(
            parsed("ftp://[::1]:2121/").place(),
            Path::new("ftp/::1_2121")
        );
    }

    #[test]
    fn what_must_not_stand_in_an_address_is_refused_without_being_repeated() {
        for text in [
            "ftp://user:geheim@a.example/",
            "http://a.example/",
            "sftp:///pub",
            "ftp://a.example/a%2F..%2Fb",
            "ftp://a.example/a%0D%0ADELE%20b",
            "ftp://a.example/a?b",
            "sftp://a.example/%2e%2e%2f",
            "ftp://us%0Aer@a.example/",
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(!error.contains("geheim"), "{error}");
        }
    }

    #[test]
    fn paths_are_told_from_addresses() {
        assert!(Address::is_meant(Path::new("FTP://a.example/")));
        assert!(Address::is_meant(Path::new("sftp://a.example/")));
        assert!(!Address::is_meant(Path::new("ftp:/a")));
        assert!(!Address::is_meant(Path::new("/data/ftp://a")));
    }
}
