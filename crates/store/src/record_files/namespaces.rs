//! The first directories of identifiers of the form `oai:…`, one spelling each.
//!
//! `ilLib` keeps its capitals, as it stands in the identifiers. If `illib` comes later, it is the one that gets a
//! mark; which was first is seen from the directories that are there.

use std::collections::HashMap;
use std::path::Path;

use super::place::Namespace;
use crate::Error;
use crate::directory::Directory;

/// The spellings in use.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// From the spelling without capitals; `None` until they are asked for.
    spellings: Option<HashMap<String, String>>,
}

impl Namespaces {
    /// The directory of a namespace.
    pub(super) fn directory(
        &mut self,
        namespace: &Namespace,
        base: &Directory,
    ) -> Result<String, Error> {
        let spellings = match &mut self.spellings {
            Some(spellings) => spellings,
            None => self.spellings.insert(read(base)?),
        };
        let wanted = &namespace.directory;
        let folded = wanted.to_ascii_lowercase();
        match spellings.get(&folded) {
            Some(spelling) if spelling == wanted => return Ok(wanted.clone()),
            None if spellings.len() < MOST => {
                spellings.insert(folded, wanted.clone());
                return Ok(wanted.clone());
            }
            _ => {}
        }
        Ok(format!("{wanted}~u{:x}", namespace.capitals))
    }
}

fn read(base: &Directory) -> Result<HashMap<String, String>, Error> {
    let mut spellings = HashMap::new();
    base.names(Path::new(""), |name, is_directory| {
        if let Ok(name) = std::str::from_utf8(name)
            && is_directory
            && spellings.len() < MOST
        {
            spellings.insert(name.to_ascii_lowercase(), name.to_owned());
        }
    })?;
    Ok(spellings)
}

/// A repository has a handful. A hostile one cannot fill the memory: those beyond are marked, seen or not.
const MOST: usize = 20_000;
