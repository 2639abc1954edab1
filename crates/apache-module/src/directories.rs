//! Which names are left out of the offer: by `IndexIgnore`, as a directory listing leaves them out, and by `OaiSkip`.
//!
//! Each component of a path is judged by the settings of the directory it is in: `.git/config` is hidden because
//! `.git` is. The settings are asked of httpd once a directory and answer.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use site::{Ground, SitePath};

use crate::config::DirectoryConfig;
use crate::httpd::{bytes, c_string};
use crate::sys;
use crate::virtual_request::{Connection, Overrides};

/// The directories that were looked at for one answer.
#[derive(Default)]
pub(crate) struct Directories {
    known: HashMap<SitePath, Rc<Directory>>,
    /// How many of them keep what their `.htaccess` files say.
    keeping: usize,
}

/// What a directory leaves out.
pub(crate) struct Directory {
    /// Whether it is left out itself, with all that is in it.
    hidden: bool,
    /// What the `.htaccess` files on the way say.
    pub(crate) overrides: Overrides,
    /// Where it is.
    place: Vec<u8>,
    /// Patterns of `IndexIgnore`: for the whole path, and for the name.
    ignored: Vec<(CString, CString)>,
    /// Patterns of `OaiSkip`.
    skipped: Vec<CString>,
}

impl Directories {
    /// What is known of a directory.
    pub(crate) fn directory(
        &mut self,
        connection: &Connection<'_>,
        ground: &Ground,
        path: &SitePath,
    ) -> Rc<Directory> {
        if let Some(known) = self.known.get(path) {
            return Rc::clone(known);
        }
        let parent = match path.as_bytes().is_empty() {
            true => None,
            false => Some(self.directory(connection, ground, &path.parent())),
        };
        let mut directory = Directory::below(parent.as_deref(), ground, path);
        if !directory.hidden {
            directory.ask(connection, path, &mut self.keeping);
        }
        let directory = Rc::new(directory);
        self.known.insert(path.clone(), Rc::clone(&directory));
        directory
    }
}

impl Directory {
    /// A directory as far as its parent tells.
    fn below(parent: Option<&Self>, ground: &Ground, path: &SitePath) -> Self {
        let place = ground.file_path(path).unwrap_or_default();
        Self {
            hidden: parent.is_some_and(|parent| parent.hides(path)),
            overrides: parent.map_or(Overrides::UNKNOWN, |parent| parent.overrides),
            place: place.as_os_str().as_bytes().to_vec(),
            ignored: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Whether a file in it is left out by its name or by that of a directory on the way to it.
    pub(crate) fn hides(&self, file: &SitePath) -> bool {
        self.hidden || self.leaves_out(file)
    }

    /// Asks httpd for the settings of the directory. They are known before anybody is refused.
    fn ask(&mut self, connection: &Connection<'_>, path: &SitePath, keeping: &mut usize) {
        let url_path = match path.as_bytes().is_empty() {
            true => "/".to_owned(),
            false => format!("/{}/", path.to_url_path()),
        };
        let request = connection.look_up_directory(&url_path, self.overrides);
        let settings = request.directory().unwrap_or_else(|| {
            // It got nowhere, so what holds everywhere holds here. SAFETY: the request lives, and its server longer.
            unsafe { DirectoryConfig::of_server((*request.r).server) }
        });
        self.take(settings);
        if *keeping < MOST_KEEPING && request.has_read_overrides(self.overrides) {
            *keeping += 1;
            self.overrides = request.keep_overrides();
        }
    }

    fn take(&mut self, settings: &DirectoryConfig) {
        // SAFETY: patterns are C strings, as long as the settings live.
        let copy = |text| unsafe { c_string(bytes(text).unwrap_or_default()) };
        self.ignored = settings
            .ignored()
            .map(|pattern| (copy(pattern.place), copy(pattern.name)))
            .collect();
        self.skipped = settings
            .skipped()
            .map(|pattern| copy(pattern.name))
            .collect();
        if settings.skips_by_default() {
            self.skipped.push(SKIPPED_BY_DEFAULT.to_owned());
        }
    }

    /// Whether a name in this directory is left out.
    fn leaves_out(&self, path: &SitePath) -> bool {
        if self.ignored.is_empty() && self.skipped.is_empty() {
            return false;
        }
        let name = c_string(path.name());
        let place = c_string([&self.place, b"/".as_slice(), path.name()].concat());
        let url_path = c_string([b"/".as_slice(), path.as_bytes()].concat());
        let ignored = self
            .ignored
            .iter()
            .any(|(whole, last)| matches(&place, whole) && matches(&name, last));
        let skipped = |pattern: &CString| match pattern.as_bytes().first() {
            Some(b'/') => matches(&url_path, pattern),
            _ => path.name() != WELL_KNOWN && matches(&name, pattern),
        };
        ignored || self.skipped.iter().any(skipped)
    }
}

/// Whether a name matches a pattern in httpd's own way.
fn matches(name: &CStr, pattern: &CStr) -> bool {
    // SAFETY: both are C strings.
    unsafe { sys::ap_strcmp_match(name.as_ptr(), pattern.as_ptr()) == 0 }
}

/// Each that keeps what it has read takes about 16 KiB.
const MOST_KEEPING: usize = 1024;

/// What is skipped where `OaiSkip` says nothing: hidden files, as `IndexIgnore` is usually set for them.
const SKIPPED_BY_DEFAULT: &CStr = c".?*";

/// What is there to be found, whatever patterns say of hidden files (RFC 8615); `IndexIgnore` still counts.
const WELL_KNOWN: &[u8] = b".well-known";
