//! Files that are not offered, counted by reason.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use rustix::fs::RawDir;

use crate::{Ground, Reason, Sighting, SitePath};

/// The files that are not offered, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Names that were looked at.
    pub looked_at: u64,
    /// Whether all names were looked at: a large site exceeds the limits.
    pub is_complete: bool,
    /// The reasons, the most frequent first.
    pub reasons: Vec<HiddenReason>,
}

/// One reason with what it hides. A hidden directory counts once, with everything in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenReason {
    /// The reason, with the setting that says so.
    pub reason: String,
    /// Files and directories.
    pub count: u64,
    /// Some of them, as URL paths.
    pub examples: Vec<String>,
}

/// Looks at every name of a site, within limits.
pub(crate) fn look(ground: &Ground) -> Hidden {
    let began = Instant::now();
    let mut looking = Looking {
        ground,
        reasons: BTreeMap::new(),
        looked_at: 0,
    };
    let mut waiting = vec![SitePath::root()];
    let mut is_complete = true;
    while let Some(directory) = waiting.pop() {
        match looking.directory(&directory, began, &mut waiting) {
            Ok(true) => {}
            Ok(false) => {
                is_complete = false;
                break;
            }
            Err(error) => looking.add(
                &format!("the directory cannot be read: {error}"),
                &directory,
            ),
        }
    }
    let mut reasons: Vec<_> = looking.reasons.into_values().collect();
    reasons.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.reason.cmp(&b.reason)));
    Hidden {
        looked_at: looking.looked_at,
        is_complete,
        reasons,
    }
}

struct Looking<'a> {
    ground: &'a Ground,
    reasons: BTreeMap<String, HiddenReason>,
    looked_at: u64,
}

impl Looking<'_> {
    /// Looks at the names in a directory. False means that a limit is reached.
    fn directory(
        &mut self,
        directory: &SitePath,
        began: Instant,
        waiting: &mut Vec<SitePath>,
    ) -> io::Result<bool> {
        let opened = self.ground.open_directory(directory)?;
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        let mut entries = RawDir::new(&opened, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if self.looked_at >= MOST_NAMES || began.elapsed() > LONGEST {
                return Ok(false);
            }
            self.looked_at += 1;
            let path = directory.join(name);
            match self.ground.look(&path) {
                Sighting::Directory => waiting.push(path),
                Sighting::File { .. } => {}
                // It went away between two looks.
                Sighting::LeftOut(Reason::Missing) => {}
                Sighting::LeftOut(reason) => self.add(&reason.kind(), &path),
                Sighting::Unknown(error) => {
                    self.add(&format!("the file system does not say: {error}"), &path);
                }
            }
        }
        Ok(true)
    }

    fn add(&mut self, reason: &str, path: &SitePath) {
        let reason = match self.reasons.contains_key(reason) || self.reasons.len() < MOST_REASONS {
            true => reason,
            false => "other reasons",
        };
        let hidden = self.reasons.entry(reason.to_owned()).or_default();
        hidden.reason = reason.to_owned();
        hidden.count += 1;
        if hidden.examples.len() < EXAMPLES {
            hidden.examples.push(format!("/{}", path.to_url_path()));
        }
    }
}

const BUFFER_BYTES: usize = 32 * 1024;
const MOST_NAMES: u64 = 200_000;
const LONGEST: Duration = Duration::from_secs(5);
const MOST_REASONS: usize = 100;
const EXAMPLES: usize = 20;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::SiteConfig;

    #[test]
    fn hidden_files_are_counted_by_the_setting_that_hides_them() {
        let directory = tempfile::tempdir().unwrap();
        let site = directory.path();
        for name in ["a.html", "b.php", "c.php", ".git/config", "d/e~"] {
            let place = site.join(name);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, name).unwrap();
        }
        let config = SiteConfig::new(site, site, "http://a/", "http://a/oai");

        let hidden = look(&config.ground().unwrap());

        let counts: Vec<_> = hidden.reasons.iter().map(|reason| reason.count).collect();
        assert_eq!(counts, [2, 1, 1], "{hidden:?}");
        let programs = &hidden.reasons[0];
        assert!(programs.reason.contains("`.php`"), "{programs:?}");
        let mut examples = programs.examples.clone();
        examples.sort();
        assert_eq!(examples, ["/b.php", "/c.php"]);
        assert_eq!((hidden.looked_at, hidden.is_complete), (6, true));
    }
}
