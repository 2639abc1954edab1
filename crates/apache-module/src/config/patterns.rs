//! Which names are left out of the offer: by `IndexIgnore`, as a directory listing leaves them out, and by `OaiSkip`.

use std::cell::LazyCell;
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use site::SitePath;

use crate::config::DirectoryConfig;
use crate::httpd::c_string;
use crate::sys;

/// The patterns of a directory, kept for longer than its settings.
pub(crate) struct Patterns {
    /// Patterns of `IndexIgnore`: for the whole path, and for the name.
    ignored: Vec<(CString, CString)>,
    /// Patterns of `OaiSkip`.
    skipped: Vec<CString>,
}

impl Patterns {
    pub(crate) fn of(settings: &DirectoryConfig) -> Self {
        let ignored = ignored(settings).map(|(place, name)| (place.to_owned(), name.to_owned()));
        Self {
            ignored: ignored.collect(),
            skipped: skipped(settings).map(CStr::to_owned).collect(),
        }
    }

    /// Whether a name in the directory at a place is left out.
    pub(crate) fn leave_out(&self, place: &Path, path: &SitePath) -> bool {
        let ignored = self.ignored.iter();
        any_matches(
            ignored.map(|(place, name)| (place.as_c_str(), name.as_c_str())),
            self.skipped.iter().map(CString::as_c_str),
            place,
            path,
        )
    }
}

/// Whether settings leave out a name in the directory at a place. It is asked of every file that is offered, so nothing
/// is made that no pattern needs.
pub(crate) fn leaves_out(settings: &DirectoryConfig, place: &Path, path: &SitePath) -> bool {
    any_matches(ignored(settings), skipped(settings), place, path)
}

fn ignored(settings: &DirectoryConfig) -> impl Iterator<Item = (&CStr, &CStr)> {
    let patterns = settings.ignored();
    patterns.map(|pattern| (pattern.place(), pattern.name()))
}

fn skipped(settings: &DirectoryConfig) -> impl Iterator<Item = &CStr> {
    let by_default = settings.skips_by_default().then_some(SKIPPED_BY_DEFAULT);
    let patterns = settings.skipped().map(|pattern| pattern.name());
    patterns.chain(by_default)
}

fn any_matches<'p>(
    mut ignored: impl Iterator<Item = (&'p CStr, &'p CStr)>,
    mut skipped: impl Iterator<Item = &'p CStr>,
    place: &Path,
    path: &SitePath,
) -> bool {
    let name = LazyCell::new(|| c_string(path.name()));
    let whole = LazyCell::new(|| {
        let place = place.as_os_str().as_bytes();
        c_string([place, b"/".as_slice(), path.name()].concat())
    });
    let url_path = LazyCell::new(|| c_string([b"/".as_slice(), path.as_bytes()].concat()));
    ignored.any(|(place, last)| matches(&name, last) && matches(&whole, place))
        || skipped.any(|pattern| match pattern.to_bytes().first() {
            Some(b'/') => matches(&url_path, pattern),
            // Most often it is the default, which most names are told from by their first byte.
            Some(b'.') if !path.name().starts_with(b".") => false,
            _ => path.name() != WELL_KNOWN && matches(&name, pattern),
        })
}

/// Whether a name matches a pattern in httpd's own way.
fn matches(name: &CStr, pattern: &CStr) -> bool {
    // SAFETY: both are C strings.
    unsafe { sys::ap_strcmp_match(name.as_ptr(), pattern.as_ptr()) == 0 }
}

/// The names that are skipped where `OaiSkip` says nothing: hidden files, as `IndexIgnore` is usually set for them.
const SKIPPED_BY_DEFAULT: &CStr = c".?*";

/// A directory that is there to be found, whatever patterns say of hidden files (RFC 8615); `IndexIgnore` still counts.
const WELL_KNOWN: &[u8] = b".well-known";
