//! Passwords from a `.netrc` file, as ftp, curl and wget read it.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::Error;
use crate::secret::Secret;

/// A user and a password for a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: Option<String>,
    pub(crate) password: Option<Secret>,
}

/// Finds a host in a file, and the user there if one is named. A file that others can read is refused, as ftp does.
pub(crate) fn look_up(file: &Path, host: &str, user: Option<&str>) -> Result<Option<Login>, Error> {
    let text = match read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::disk("read", file, error)),
    };
    let found = find(&text, host, user);
    if found.as_ref().is_some_and(|login| login.password.is_some()) {
        let metadata = std::fs::metadata(file).map_err(|error| Error::disk("read", file, error))?;
        if metadata.permissions().mode() & 0o077 != 0 {
            let file = file.display();
            return Err(Error::Refused(format!(
                "others can read the passwords in `{file}`; chmod 600 '{file}'"
            )));
        }
    }
    Ok(found)
}

fn read(file: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)?
        .take(LONGEST)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn find(text: &str, host: &str, user: Option<&str>) -> Option<Login> {
    let mut entry: Option<Login> = None;
    let mut tokens = tokens(text).into_iter();
    let mut found = Vec::new();
    while let Some(token) = tokens.next() {
        match token.as_str() {
            "machine" | "default" => {
                found.extend(entry.take());
                let is_default = token == "default";
                let machine = if is_default { None } else { tokens.next() };
                let is_host = machine.is_some_and(|name| name.eq_ignore_ascii_case(host));
                if is_default || is_host {
                    entry = Some(Login {
                        user: None,
                        password: None,
                    });
                }
            }
            "login" | "password" | "account" => {
                let value = tokens.next();
                match (&mut entry, token.as_str()) {
                    (Some(entry), "login") => entry.user = value,
                    (Some(entry), "password") => entry.password = value.map(Secret::new),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found.extend(entry);
    let fits = |login: &Login| match (user, login.user.as_deref()) {
        (Some(user), Some(named)) => user == named,
        _ => true,
    };
    found.into_iter().find(fits)
}

/// The words of a file, without comments and macros; one in quotation marks may hold spaces.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with('#') {
            let (token, behind) = token(rest);
            if token == "macdef" {
                // A macro goes on to the next empty line.
                for line in lines.by_ref() {
                    if line.trim().is_empty() {
                        break;
                    }
                }
                break;
            }
            tokens.push(token);
            rest = behind.trim_start();
        }
    }
    tokens
}

fn token(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut token = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (token, &quoted[at + 1..]),
            '\\' => token.extend(chars.next().map(|(_, c)| c)),
            c => token.push(c),
        }
    }
    (token, "")
}

const LONGEST: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# mine\nmachine a.example login me password geheim\n\
        machine a.example\n  login other\n  password \"two \\\"words\\\"\"\n\
        macdef init\nmachine b.example password no\n\ndefault login anonymous password me@here\n";

    fn found(host: &str, user: Option<&str>) -> (Option<String>, Option<String>) {
        let login = find(FILE, host, user).unwrap();
        let password = login.password.map(|password| password.expose().to_owned());
        (login.user, password)
    }

    #[test]
    fn a_host_and_a_user_are_found() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(found("A.example", None), (some("me"), some("geheim")));
        assert_eq!(
            found("a.example", Some("other")),
            (some("other"), some("two \"words\""))
        );
        assert_eq!(
            found("b.example", None),
            (some("anonymous"), some("me@here"))
        );
        assert_eq!(find(FILE, "b.example", Some("me")), None);
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_and_passwords_are_not_shown() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("netrc");
        std::fs::write(&file, FILE).unwrap();
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode));
        mode(0o644).unwrap();
        let error = look_up(&file, "a.example", None).unwrap_err().to_string();
        assert!(
            error.contains("chmod 600") && !error.contains("geheim"),
            "{error}"
        );
        mode(0o600).unwrap();
        let login = look_up(&file, "a.example", None).unwrap();
        assert!(login.is_some() && !format!("{login:?}").contains("geheim"));
        assert_eq!(
            look_up(&directory.path().join("none"), "a", None).unwrap(),
            None
        );
    }
}
