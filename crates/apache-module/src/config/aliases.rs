//! Aliases as `Alias`, `AliasMatch`, `ScriptAlias`, `ScriptAliasMatch` and `OaiRoot` give them.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use site::{Mount, SitePath};

use crate::httpd::Pool;
use crate::sys;

/// URLs that begin with something are files whose paths begin with something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alias {
    pub(super) url: Vec<u8>,
    pub(super) file: Vec<u8>,
}

impl Alias {
    /// An alias of a prefix.
    pub(super) fn new(url: &[u8], file: &[u8]) -> Self {
        Self {
            url: url.to_vec(),
            file: file.to_vec(),
        }
    }

    /// The alias of a regular expression that is just a prefix and a rest: `^/icons/(.*)` to `/srv/icons/$1`.
    /// The URLs of any other expression cannot be enumerated.
    pub(super) fn of_match(expression: &[u8], file: &[u8]) -> Option<Self> {
        let expression = expression.strip_prefix(b"^").unwrap_or(expression);
        let expression = expression.strip_suffix(b"$").unwrap_or(expression);
        let url = [b"(.*)".as_slice(), b"(.+)"]
            .iter()
            .find_map(|rest| expression.strip_suffix(*rest))?;
        let url = url.strip_suffix(b"/?").unwrap_or(url);
        let url = literal(url)?;
        let file = file.strip_suffix(b"$1")?;
        let plain = !file.contains(&b'$');
        plain.then(|| Self::new(&url, file))
    }

    /// The directory or file as a part of the site; none where the two ends do not fit together, so that no file
    /// below the one is below the other.
    pub(super) fn mount(&self) -> Option<Mount> {
        let slashed = |bytes: &[u8]| bytes.ends_with(b"/");
        if self.url.len() > 1 && slashed(&self.url) != slashed(&self.file) {
            return None;
        }
        let inner = trim_slashes(&self.url);
        let at = SitePath::new(inner)?;
        let path = Path::new(std::ffi::OsStr::from_bytes(&self.file));
        let path: PathBuf = path.components().collect();
        path.is_absolute().then_some(Mount { at, path })
    }
}

/// An `AliasMatch` or `ScriptAliasMatch` whose URLs cannot be enumerated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GeneralAlias {
    directive: String,
    expression: Vec<u8>,
    file: Vec<u8>,
}

impl GeneralAlias {
    /// None if the URLs can be enumerated.
    pub(super) fn new(directive: &str, expression: &[u8], file: &[u8]) -> Option<Self> {
        match Alias::of_match(expression, file) {
            Some(_) => None,
            None => Some(Self {
                directive: directive.to_owned(),
                expression: expression.to_vec(),
                file: file.to_vec(),
            }),
        }
    }

    /// Whether an `OaiRoot` names URLs of the expression and the directory that they lead to.
    pub(crate) fn is_covered_by(&self, root: &Alias, pool: Pool) -> bool {
        let literal = self.file.split(|byte| *byte == b'$').next();
        let literal = literal.unwrap_or_default();
        let directory = match literal.iter().rposition(|byte| *byte == b'/') {
            Some(end) => &literal[..end],
            None => literal,
        };
        let related = root.file.starts_with(directory) || directory.starts_with(&root.file);
        let expression = pool.string(&self.expression);
        let url = pool.string([&root.url, b"/x".as_slice()].concat());
        // SAFETY: the pool keeps the strings and the expression, which httpd has compiled before.
        related
            && unsafe {
                let compiled = sys::ap_pregcomp(pool.raw(), expression, 0);
                let none = std::ptr::null_mut();
                !compiled.is_null() && sys::ap_regexec(compiled, url, 0, none, 0) == 0
            }
    }

    /// The remedy.
    pub(crate) fn advice(&self) -> String {
        format!(
            "mod_oai: the URLs of {} {} for {} cannot be enumerated, so its files are not offered; OaiRoot can name a \
             directory and its URL path",
            self.directive,
            String::from_utf8_lossy(&self.expression),
            String::from_utf8_lossy(&self.file)
        )
    }
}

/// The text that a regular expression without operators stands for.
fn literal(expression: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut bytes = expression.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' => {
                let escaped = *bytes.next()?;
                if escaped.is_ascii_alphanumeric() {
                    return None;
                }
                text.push(escaped);
            }
            b'.' | b'*' | b'+' | b'?' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'|' | b'^'
            | b'$' => return None,
            byte => text.push(byte),
        }
    }
    Some(text)
}

fn trim_slashes(path: &[u8]) -> &[u8] {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    path.strip_suffix(b"/").unwrap_or(path)
}
