//! Which directories are left out of the offer, with all that is in them, and what the others leave out.
//!
//! Each component of a path is judged by the settings of the directory it is in: `.git/config` is hidden because
//! `.git` is. The settings are asked of httpd once a directory and answer.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;

use site::{Ground, SitePath};

use crate::config::DirectoryConfig;
use crate::config::patterns::{Patterns, leaves_out};
use crate::virtual_request::{Connection, Overrides};

/// The directories that were looked at for one answer.
#[derive(Default)]
pub(crate) struct Directories {
    known: HashMap<SitePath, Rc<Directory>>,
    /// How many of them keep what their `.htaccess` files say.
    keeping: usize,
}

/// The names that a directory skips.
pub(crate) struct Directory {
    /// Whether it is left out itself, with all that is in it.
    hidden: bool,
    /// The settings of the `.htaccess` files on the way.
    pub(crate) overrides: Overrides,
    /// Where it is.
    place: PathBuf,
    /// The names that it skips; none if its own URL leads elsewhere, so that nobody knows its settings but its files.
    patterns: Option<Patterns>,
    /// Directories on the way, perhaps this one too, whose names could not be judged by the settings of where they are.
    unjudged: Vec<SitePath>,
}

impl Directories {
    /// The settings of a directory.
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
            directory.ask(connection, ground, path, &mut self.keeping);
        }
        let directory = Rc::new(directory);
        self.known.insert(path.clone(), Rc::clone(&directory));
        directory
    }
}

impl Directory {
    /// A directory as far as its parent tells.
    fn below(parent: Option<&Self>, ground: &Ground, path: &SitePath) -> Self {
        let mut unjudged = Vec::new();
        if let Some(parent) = parent {
            unjudged.clone_from(&parent.unjudged);
            unjudged.extend(parent.patterns.is_none().then(|| path.clone()));
        }
        Self {
            hidden: parent.is_some_and(|parent| parent.hides(path)),
            overrides: parent.map_or(Overrides::UNKNOWN, |parent| parent.overrides),
            place: ground.file_path(path).unwrap_or_default(),
            patterns: None,
            unjudged,
        }
    }

    /// Whether a file in it is left out by its name or by that of a directory on the way to it, as far as is known
    /// before the file is looked up.
    pub(crate) fn hides(&self, file: &SitePath) -> bool {
        let patterns = self.patterns.as_ref();
        self.hidden || patterns.is_some_and(|patterns| patterns.leave_out(&self.place, file))
    }

    /// Whether a file in it is left out by the settings of its own request, to which `<Files>` and `.htaccess` have
    /// added whatever they say of it.
    pub(crate) fn hides_by(
        &self,
        settings: &DirectoryConfig,
        ground: &Ground,
        file: &SitePath,
    ) -> bool {
        let hidden = |path: &SitePath| leaves_out(settings, &place_around(ground, path), path);
        leaves_out(settings, &self.place, file) || self.unjudged.iter().any(hidden)
    }

    /// Asks httpd for the settings of the directory. They are known before anybody is refused.
    fn ask(
        &mut self,
        connection: &Connection<'_>,
        ground: &Ground,
        path: &SitePath,
        keeping: &mut usize,
    ) {
        let url_path = match path.as_bytes().is_empty() {
            true => "/".to_owned(),
            false => format!("/{}/", path.to_url_path()),
        };
        let request = connection.look_up_directory(&url_path, self.overrides);
        let leads_here = request.leads_to_directory(self.place.as_os_str().as_bytes());
        if let Some(settings) = request.directory().filter(|_| leads_here) {
            let patterns = Patterns::of(settings);
            let hidden = |path: &SitePath| patterns.leave_out(&place_around(ground, path), path);
            self.hidden = std::mem::take(&mut self.unjudged).iter().any(hidden);
            self.patterns = Some(patterns);
        }
        if *keeping < MOST_KEEPING && request.has_read_overrides(self.overrides) {
            *keeping += 1;
            self.overrides = request.keep_overrides();
        }
    }
}

/// Where the directory is that a path is in.
fn place_around(ground: &Ground, path: &SitePath) -> PathBuf {
    ground.file_path(&path.parent()).unwrap_or_default()
}

/// Each that keeps what it has read takes about 16 KiB.
const MOST_KEEPING: usize = 1024;
