//! Files that jobs retrieved: they lie in the data directory as long as the catalog has their jobs.

use std::path::PathBuf;

use super::Format;
use crate::Holdings;

/// The file that a job retrieves.
pub fn retrieval_file(holdings: &Holdings, job: i64, format: Format) -> PathBuf {
    let ending = match format {
        Format::Warc => "warc.gz",
        format => format.name(),
    };
    directory(holdings).join(format!("{PREFIX}{job}.{ending}"))
}

/// Removes the files of jobs that are gone.
pub fn sweep_retrievals(holdings: &Holdings) -> Result<(), catalog::Error> {
    let Ok(files) = std::fs::read_dir(directory(holdings)) else {
        return Ok(());
    };
    for file in files.flatten() {
        let name = file.file_name();
        let name = name.to_string_lossy();
        let number = name.trim_start_matches('.').strip_prefix(PREFIX);
        let number = number.and_then(|rest| rest.split('.').next()?.parse().ok());
        let Some(job) = number else { continue };
        if holdings.wait(holdings.catalog().job(job))?.is_none()
            && let Err(error) = std::fs::remove_file(file.path())
        {
            tracing::warn!("{} cannot be removed: {error}", file.path().display());
        }
    }
    Ok(())
}

fn directory(holdings: &Holdings) -> PathBuf {
    holdings.directory().join("retrievals")
}

const PREFIX: &str = "retrieval-";
