//! The files that an import names, and where they have to lie.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use classifier::CDI_2012;
use crawl::{Limits, LogFormat, Roots};

use super::ImportOrder;
use crate::Mistake;

impl ImportOrder {
    /// All files and directories that are named, each with the field that names it. A log format or a model that
    /// is not built in is a file.
    pub fn files(&self) -> Vec<(&'static str, &Path)> {
        let format = self.log_format.as_deref();
        let format = format.filter(|format| !LogFormat::NAMES.contains(format));
        let model = self.texts.model.as_deref();
        let model = model.filter(|model| *model != CDI_2012);
        let mut files: Vec<_> = self
            .paths
            .iter()
            .map(|path| ("paths", path.as_path()))
            .collect();
        let others = [
            ("log", self.log.as_deref()),
            ("log_format", format.map(Path::new)),
            ("root", self.root.as_deref()),
            ("blacklist", self.blacklist.as_deref()),
            ("model", model.map(Path::new)),
        ];
        files.extend(
            others
                .into_iter()
                .filter_map(|(field, path)| Some((field, path?))),
        );
        files
    }

    /// How much of a crawl is borne with, and where its files may be opened.
    pub(in crate::import) fn limits(&self) -> Limits {
        Limits {
            roots: Roots::new(&self.within),
            ..Limits::default()
        }
    }

    /// The content of a file that the order names beside crawls.
    pub(in crate::import) fn read(&self, file: &Path) -> anyhow::Result<String> {
        let read = Roots::new(&self.within).read(file);
        let read = read.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        read.with_context(|| format!("`{}` cannot be read", file.display()))
    }

    /// Refuses files that do not lie where they have to, wherever links lead. It is the same whether one is elsewhere or
    /// nowhere, so that nobody finds out what else there is.
    pub fn check_places(&self) -> Result<(), Mistake> {
        match self.outside() {
            Some((field, path)) => Err(Mistake::new(
                field,
                format!(
                    "`{}` is nothing that lies in {}; write the whole path of something that does",
                    path.display(),
                    listed(&self.within)
                ),
            )),
            None => Ok(()),
        }
    }

    /// Lets the roots of today decide on an order whose giver may not name any file, whichever there were when it was
    /// given. Another stays as it is.
    pub fn hold_to(&mut self, roots: &[PathBuf]) -> anyhow::Result<()> {
        if self.within.is_empty() {
            return Ok(());
        }
        let named = self.files();
        if let Some((field, path)) = named.first().filter(|_| roots.is_empty()) {
            bail!(
                "{field}: `{}` is not imported: import.roots names no directory to this worker that operators may import from; {REMEDY}",
                path.display()
            );
        }
        self.within = roots.to_vec();
        if let Some((field, path)) = self.outside() {
            bail!(
                "{field}: `{}` is nothing that lies in {}, which is where import.roots lets operators import from by now; {REMEDY}",
                path.display(),
                listed(roots)
            );
        }
        Ok(())
    }

    /// The first file that does not lie where it has to, with the field that names it.
    fn outside(&self) -> Option<(&'static str, &Path)> {
        if self.within.is_empty() {
            return None;
        }
        let real = |path: &Path| path.canonicalize().ok();
        let within: Vec<_> = self.within.iter().filter_map(|root| real(root)).collect();
        let lies = |real: &PathBuf| within.iter().any(|root| real.starts_with(root));
        let mut files = self.files().into_iter();
        files.find(|(_, path)| !path.is_absolute() || !real(path).as_ref().is_some_and(lies))
    }
}

fn listed(places: &[PathBuf]) -> String {
    let places = places.iter().map(|place| place.display().to_string());
    places.collect::<Vec<_>>().join(" or ")
}

/// The remedy for an order that is not carried out any more.
const REMEDY: &str = "name the directory that it lies in there and start the worker again, or have an admin order it";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_where_they_have_to_wherever_links_lead() {
        let place = tempfile::tempdir().unwrap();
        let (root, outside) = (place.path().join("root"), place.path().join("root-2"));
        for directory in [&root, &outside] {
            std::fs::create_dir(directory).unwrap();
            std::fs::write(directory.join("a.warc"), "").unwrap();
        }
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let order = |path: &Path| ImportOrder {
            paths: vec![path.to_owned()],
            within: vec![root.clone()],
            ..ImportOrder::default()
        };

        order(&root).check_places().unwrap();
        order(&root.join("a.warc")).check_places().unwrap();
        for path in [
            outside.join("a.warc"),
            root.join("../root-2/a.warc"),
            root.join("link/a.warc"),
            root.join("nothing"),
            PathBuf::from("/etc/passwd"),
            PathBuf::from("a.warc"),
            PathBuf::from("ftp://a/b"),
        ] {
            let error = order(&path).check_places().unwrap_err().to_string();
            assert!(error.contains("is nothing that lies in"), "{error}");
        }
        let mut by_format = order(&root);
        by_format.log_format = Some("/etc/passwd".to_owned());
        assert!(by_format.check_places().is_err());
        by_format.log_format = Some("list".to_owned());
        by_format.check_places().unwrap();
        by_format.within.clear();
        by_format.paths = vec![outside];
        by_format.check_places().unwrap();
    }

    #[test]
    fn the_roots_of_today_decide_on_what_was_held_to_others() {
        let place = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| place.path().join(name));
        for root in [&old, &new] {
            std::fs::create_dir(root).unwrap();
            std::fs::write(root.join("a.warc"), "").unwrap();
        }
        let order = |within: &[&PathBuf]| ImportOrder {
            paths: vec![old.join("a.warc")],
            within: within.iter().copied().cloned().collect(),
            ..ImportOrder::default()
        };

        let refusal = |roots: &[PathBuf]| order(&[&old]).hold_to(roots).unwrap_err().to_string();
        let narrowed = refusal(std::slice::from_ref(&new));
        for said in [old.join("a.warc"), new.clone(), "import.roots".into()] {
            let said = said.to_str().unwrap();
            assert!(narrowed.contains(said), "`{said}` is not in {narrowed}");
        }
        assert!(
            refusal(&[]).contains("names no directory"),
            "{}",
            refusal(&[])
        );
        let mut moved = order(&[&new]);
        moved.hold_to(std::slice::from_ref(&old)).unwrap();
        assert_eq!(moved.within, std::slice::from_ref(&old));
        // An account that may name any file is not restricted.
        let mut free = order(&[]);
        free.hold_to(&[]).unwrap();
        assert!(free.within.is_empty());
    }
}
