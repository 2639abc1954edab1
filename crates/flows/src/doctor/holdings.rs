//! A data directory and its catalog: files, permissions, disks, clocks, workers.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use catalog::Catalog;

use super::Checked;
use crate::import::place;
use crate::{DocumentFiles, DocumentPart, Holdings, message};

/// The disk of a place that garner keeps things in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceDisk {
    /// The content of the place: `data directory`, `catalog` or `documents`.
    pub name: &'static str,
    /// The place.
    pub path: PathBuf,
    /// Bytes that are free.
    pub free: u64,
    /// Bytes in all.
    pub size: u64,
}

/// Looks at a data directory and its catalog.
pub fn check_holdings(holdings: &Holdings) -> Vec<Checked> {
    let mut checked = vec![check_catalog(holdings), check_clock(holdings)];
    checked.extend(check_permissions(holdings));
    checked.extend(check_disk(holdings));
    match check_documents(holdings) {
        Ok(found) => checked.push(found),
        Err(error) => checked.push(Checked::problem(
            "documents",
            message(&error),
            "mount the disk of the collection, or see that its store answers and takes the keys; garner verify tells what is missing",
        )),
    }
    checked.extend(check_orphans(holdings));
    checked.extend(check_workers(holdings));
    checked
}

fn check_catalog(holdings: &Holdings) -> Checked {
    let location = holdings.catalog().location();
    let version = Catalog::schema_version();
    Checked::ok(
        "catalog",
        format!("{location} answers; its version is {version}"),
    )
}

/// The database's clock decides when jobs are due.
fn check_clock(holdings: &Holdings) -> Checked {
    let own = SystemTime::now().duration_since(UNIX_EPOCH);
    let own = own.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    });
    match holdings.wait(holdings.catalog().now()) {
        Ok(theirs) if (theirs - own).abs() <= CLOCK_SECONDS => {
            Checked::ok("clock", "this machine and the database agree on the time")
        }
        Ok(theirs) => Checked::problem(
            "clock",
            format!(
                "this machine's clock is {} seconds away from that of the database",
                (theirs - own).abs()
            ),
            "run an NTP client on both machines: apt install systemd-timesyncd",
        ),
        Err(error) => Checked::problem(
            "catalog",
            error.to_string(),
            "see that the database runs and that its disk has room",
        ),
    }
}

fn check_permissions(holdings: &Holdings) -> Vec<Checked> {
    let directory = holdings.directory();
    let shown = directory.display();
    let mut checked: Vec<_> = holdings
        .exposed()
        .into_iter()
        .map(|exposed| match exposed.split_once("; run: ") {
            Some((said, remedy)) => Checked::problem("permissions", said, remedy),
            None => Checked::problem("permissions", exposed.clone(), "chmod 700"),
        })
        .collect();
    if let Err(error) = tempfile::tempfile_in(directory) {
        checked.push(Checked::problem(
            "permissions",
            format!("the data directory {shown} cannot be written: {error}"),
            "run garner as the user who owns it: sudo -u garner garner …",
        ));
    }
    let own = rustix::process::geteuid().as_raw();
    let foreign = std::fs::metadata(directory).is_ok_and(|directory| directory.uid() != own);
    if foreign {
        checked.push(Checked::problem(
            "permissions",
            format!(
                "the data directory {shown} belongs to another user; files made now are not theirs"
            ),
            "run garner as the user who owns it: sudo -u garner garner …",
        ));
    }
    if checked.is_empty() {
        let said = format!("the data directory {shown} is this user's alone");
        checked.push(Checked::ok("permissions", said));
    }
    checked
}

/// The disks of the data directory, of the catalog and of documents, where these are elsewhere on this machine.
pub fn disks(holdings: &Holdings) -> Vec<PlaceDisk> {
    let mut places = vec![("data directory", holdings.directory().to_owned())];
    if let Some(folder) = holdings.catalog().file().and_then(Path::parent) {
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        if folder != holdings.directory() {
            places.push(("catalog", folder.to_owned()));
        }
    }
    if let Ok(Some(documents)) = holdings.wait(holdings.catalog().collection_place())
        && !documents.is_empty()
        && !place::is_store(&documents)
    {
        places.push(("documents", PathBuf::from(documents)));
    }
    let disks = places.into_iter().filter_map(|(name, path)| {
        let (free, size) = disk(&path).ok()?;
        Some(PlaceDisk {
            name,
            path,
            free,
            size,
        })
    });
    disks.collect()
}

fn check_disk(holdings: &Holdings) -> Vec<Checked> {
    let checked = disks(holdings).into_iter().map(|disk| {
        let percent = disk.free * 100 / disk.size.max(1);
        let gigabytes = disk.free as f64 / 1e9;
        let said = format!(
            "the disk of the {} {} has {gigabytes:.1} GB free ({percent} %)",
            disk.name,
            disk.path.display()
        );
        match disk.free < LOW_BYTES {
            true => Checked::problem("disk", said, ROOM),
            false if percent < LOW_PERCENT => Checked::warning("disk", said, ROOM),
            false => Checked::ok("disk", said),
        }
    });
    checked.collect()
}

/// The bytes that are free on the disk of a directory, and all of them.
pub fn disk(place: &Path) -> std::io::Result<(u64, u64)> {
    let disk = rustix::fs::fstatvfs(File::open(place)?)?;
    Ok((disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize))
}

/// The newest documents have their files. `garner verify` compares all of them.
fn check_documents(holdings: &Holdings) -> anyhow::Result<Checked> {
    let catalog = holdings.catalog();
    let contents = holdings.wait(catalog.count_contents())?;
    if contents == 0 {
        return Ok(Checked::ok("documents", "the collection is empty"));
    }
    let query = catalog::DocumentQuery {
        limit: SAMPLE,
        ..catalog::DocumentQuery::default()
    };
    let documents = holdings.wait(catalog.documents(&query))?;
    let files = DocumentFiles::open(holdings, None)?;
    let mut missing = Vec::new();
    for document in &documents {
        let size = files.size(document, DocumentPart::Document)?;
        if size.is_none() {
            missing.push(document.id.to_string());
        }
    }
    if missing.is_empty() {
        let said = format!(
            "{contents} contents; a sample of {} has its files",
            documents.len()
        );
        return Ok(Checked::ok("documents", said));
    }
    Ok(Checked::problem(
        "documents",
        format!(
            "{} of {} documents have no file: {}",
            missing.len(),
            documents.len(),
            missing.join(", ")
        ),
        "garner verify finds all of them; restore their files from a backup",
    ))
}

/// Directories of records that no repository has.
fn check_orphans(holdings: &Holdings) -> Vec<Checked> {
    let Ok(repositories) = holdings.wait(holdings.catalog().repositories()) else {
        return Vec::new();
    };
    let Ok(entries) = std::fs::read_dir(holdings.directory().join("records")) else {
        return Vec::new();
    };
    let mut orphans = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let is_known = repositories.iter().any(|repository| {
            let base = holdings.base_directory(repository);
            base.starts_with(&path) || path.starts_with(&base)
        });
        let name = entry.file_name().to_string_lossy().into_owned();
        if !is_known && !name.starts_with('.') && path.is_dir() {
            orphans.push(name);
        }
    }
    orphans.sort();
    match orphans.is_empty() {
        true => vec![Checked::ok(
            "orphans",
            "every directory of records has its repository",
        )],
        false => vec![Checked::warning(
            "orphans",
            format!(
                "{} directories in records belong to no repository: {}",
                orphans.len(),
                orphans.join(", ")
            ),
            "move them away if nothing else uses them; garner verify lists single files",
        )],
    }
}

/// Jobs wait for nobody.
fn check_workers(holdings: &Holdings) -> Vec<Checked> {
    let catalog = holdings.catalog();
    let Ok(workers) = holdings.wait(catalog.workers()) else {
        return Vec::new();
    };
    let Ok(totals) = holdings.wait(catalog.totals()) else {
        return Vec::new();
    };
    let waiting = totals.jobs.scheduled;
    vec![match (workers.len(), waiting) {
        (0, 0) => Checked::ok("workers", "no jobs wait, and no worker runs"),
        (0, waiting) => Checked::problem(
            "workers",
            format!("{waiting} jobs wait and no worker runs"),
            "start garner up or garner worker: systemctl start garner",
        ),
        (1, waiting) => Checked::ok(
            "workers",
            format!("1 process with workers runs; {waiting} jobs wait"),
        ),
        (running, waiting) => Checked::ok(
            "workers",
            format!("{running} processes with workers run; {waiting} jobs wait"),
        ),
    }]
}

/// The remedy for a disk that is nearly full.
const ROOM: &str = "make room, or move the data to a larger disk";
const CLOCK_SECONDS: i64 = 5;
const LOW_BYTES: u64 = 500_000_000;
const LOW_PERCENT: u64 = 5;
const SAMPLE: u64 = 50;
