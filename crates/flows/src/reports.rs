//! Reports of jobs, files for people: in `reports` of the data directory, or of the store, where every machine reads them.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use store::{Objects, Reader};

use crate::Holdings;
use crate::import::{Location, of_store};
use crate::records::objects_below;

/// The names of a report: of the file in a data directory, and of the object in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportName {
    file: String,
    object: String,
}

impl ReportName {
    /// The report of an import. Another catalog in the same store gives its number to another one.
    pub fn of_import(id: i64, started: i64) -> Self {
        Self {
            file: format!("import-{id}.jsonl"),
            object: format!("import-{id}-{started}.jsonl"),
        }
    }

    /// A report whose last one takes the place of the one before.
    pub fn last(name: &str) -> Self {
        Self {
            file: name.to_owned(),
            object: name.to_owned(),
        }
    }
}

impl Holdings {
    /// Whether reports go into a store.
    pub fn are_reports_stored(&self) -> anyhow::Result<bool> {
        Ok(self.report_store()?.is_some())
    }

    /// The place of a report, for people. The store is not asked whether it is there.
    pub fn report_place(&self, name: &ReportName) -> anyhow::Result<PathBuf> {
        Ok(match self.report_store()? {
            Some(store) => {
                let reports = Location::given(&store)?.below(REPORTS);
                Path::new(&reports.shown()).join(&name.object)
            }
            None => self.report_file(name),
        })
    }

    /// Where a report is written before [`Holdings::keep_report`], and stays if there is no store.
    pub fn report_file(&self, name: &ReportName) -> PathBuf {
        self.directory().join(REPORTS).join(&name.file)
    }

    /// Puts a report that is written into its place, and returns that. If the store is away, the file stays.
    pub fn keep_report(&self, name: &ReportName) -> anyhow::Result<PathBuf> {
        if let Some(objects) = self.report_objects()? {
            let path = self.report_file(name);
            let put = File::open(&path).and_then(|file| objects.put(&name.object, &file, false));
            let unkept = || format!("the report {} cannot be put into the store", path.display());
            put.with_context(unkept).map_err(of_store)?;
            // A copy that stays does no harm.
            let _ = std::fs::remove_file(&path);
        }
        self.report_place(name)
    }

    /// Opens a report, if it is there. One of a time without a store, or when it was away, is in the data directory.
    pub fn open_report(&self, name: &ReportName) -> anyhow::Result<Option<Reader>> {
        if let Some(objects) = self.report_objects()? {
            match objects.get(&name.object) {
                Ok(reader) => return Ok(Some(reader)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    let unread = || format!("the report `{}` cannot be read", name.object);
                    return Err(error).with_context(unread).map_err(of_store);
                }
            }
        }
        let path = self.report_file(name);
        let opened = File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((length, file)) => Ok(Some(Reader::new(Box::new(file), length))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// Removes reports. A store that is away keeps them, which the log tells.
    pub fn remove_reports(&self, names: &[ReportName]) {
        for name in names {
            // One that there never was is no loss, and one that stays does no harm.
            let _ = std::fs::remove_file(self.report_file(name));
        }
        let remove = || {
            if let Some(objects) = self.report_objects()? {
                for name in names {
                    objects.remove(&name.object)?;
                }
            }
            anyhow::Ok(())
        };
        if !names.is_empty()
            && let Err(error) = remove()
        {
            let reason = crate::message(&error);
            tracing::warn!("reports of imports that were removed stay in the store: {reason}");
        }
    }

    fn report_objects(&self) -> anyhow::Result<Option<Box<dyn Objects>>> {
        let store = self.report_store()?;
        store
            .map(|store| objects_below(&store, REPORTS))
            .transpose()
    }

    /// The store that the catalog names.
    fn report_store(&self) -> anyhow::Result<Option<String>> {
        let known = self.wait(self.catalog().default_record_store())?;
        Ok(Some(known.store).filter(|store| !store.is_empty()))
    }
}

const REPORTS: &str = "reports";
