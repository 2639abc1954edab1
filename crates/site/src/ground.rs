//! The ground a site stands on: its root, the rules on what is offered, and the media types.

use std::thread;

use crate::facts::TOO_YOUNG;
use crate::media_types::MediaTypes;
use crate::root::Sighting;
use crate::{Error, Facts, OpenError, Opened, Root, Rules, SitePath};

/// All that is needed to say what a path is.
#[derive(Debug)]
pub struct Ground {
    /// Where the files are.
    pub root: Root,
    /// What of them is offered.
    pub rules: Rules,
    /// What they are.
    pub media_types: MediaTypes,
}

impl Ground {
    /// Looks at a path as it is now.
    pub fn look(&self, path: &SitePath) -> Sighting {
        self.root.look(path, &self.rules)
    }

    /// Opens a file for reading, as a GET does. The rules on names must have been asked before.
    pub fn open_file(&self, path: &SitePath) -> Result<Opened, OpenError> {
        self.root.open_file(path, self.rules.symlinks())
    }

    /// Makes sure that the root is there, and says whether it is another directory than before.
    pub fn renew_root(&self) -> Result<bool, Error> {
        self.root.renew().map_err(|source| Error::Root {
            path: self.root.path(),
            source,
        })
    }

    /// The facts of a file that is not just being written, as far as waiting a moment can help.
    pub(crate) fn settled(&self, path: &SitePath, facts: Facts) -> Facts {
        if !facts.is_young() {
            return facts;
        }
        thread::sleep(TOO_YOUNG);
        match self.look(path) {
            Sighting::File { facts, .. } => facts,
            _ => facts,
        }
    }
}
