//! A file that gets its name when it is whole, and is none of the files that it is made from.

use std::fs::{self, File, Metadata};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::NamedTempFile;

/// Has `write` fill a file, which takes its place at the end. Whatever lies there stays if that fails.
pub(super) fn write_file<T>(
    path: &Path,
    sources: &[PathBuf],
    write: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let unwritten = || format!("`{}` cannot be written", path.display());
    let there = fs::metadata(path).ok();
    if let Some(there) = &there {
        if sources.iter().any(|source| is_among(there, source)) {
            bail!(
                "`{}` is the archive itself, and would be lost; name another file",
                path.display()
            );
        }
        // A terminal, a pipe: nothing is lost there.
        if !there.is_file() {
            let mut out = File::create(path).with_context(unwritten)?;
            let written = write(&mut out)?;
            out.flush().with_context(unwritten)?;
            return Ok(written);
        }
    }
    // The target of a link is replaced, and not the link.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mode = there.map_or(0o666, |there| there.permissions().mode());
    let mut out = BufWriter::new(beside(&place, mode).with_context(unwritten)?);
    let written = write(&mut out)?;
    let file = out
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error);
    file.with_context(unwritten)?
        .persist(&place)
        .with_context(unwritten)?;
    Ok(written)
}

fn beside(path: &Path, mode: u32) -> std::io::Result<NamedTempFile> {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    tempfile::Builder::new()
        .permissions(fs::Permissions::from_mode(mode & 0o777))
        .tempfile_in(directory.unwrap_or(Path::new(".")))
}

/// Whether a file is a source or lies below it, under whatever name.
fn is_among(file: &Metadata, source: &Path) -> bool {
    let Ok(metadata) = fs::metadata(source) else {
        return false;
    };
    if !metadata.is_dir() {
        return (metadata.dev(), metadata.ino()) == (file.dev(), file.ino());
    }
    let entries = fs::read_dir(source).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| !path.is_symlink())
        .any(|path| is_among(file, &path))
}
