//! Downloads without a list: all files below a directory, whose URLs follow from their paths.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, bail};
use crawl::{LogFormat, Roots};
use oai::Datestamp;
use tempfile::NamedTempFile;

/// A list of the files below a directory, in the order of their paths: date and path on each line.
pub(in crate::import) fn list(
    root: &Path,
    roots: &Roots,
    refused: &mut Vec<(PathBuf, String)>,
) -> anyhow::Result<NamedTempFile> {
    let file = NamedTempFile::new().context("no temporary file can be made")?;
    let mut out = BufWriter::new(file);
    walk(root, "", roots, &mut out, refused)?;
    let file = out.into_inner().map_err(|error| error.into_error());
    file.context("the list of downloads cannot be written")
}

/// The format of such a list, or of one that only has paths.
pub(in crate::import) fn format(base_url: &str, with_dates: bool) -> anyhow::Result<LogFormat> {
    let base = document::url::normalise(base_url)
        .with_context(|| format!("`{base_url}` is not a URL that others could begin with"))?;
    let slash = match base.url.ends_with('/') {
        true => "",
        false => "/",
    };
    let layout = match with_dates {
        true => "columns = ['date', 'file']\nseparator = 'tab'\n",
        false => "",
    };
    // A normalised URL has none of the characters that mean something in TOML or in a template.
    if base.url.contains(['"', '{', '}', '\\']) {
        bail!("`{base_url}` is not a URL that others could begin with");
    }
    let toml = format!(
        "based_on = 'ftp-list'\n{layout}[values]\nurl = \"{}{slash}{{file}}\"\n",
        base.url
    );
    Ok(LogFormat::parse(&toml)?)
}

/// Lists a directory and those below it. Links are not followed.
fn walk(
    directory: &Path,
    below: &str,
    roots: &Roots,
    out: &mut impl Write,
    refused: &mut Vec<(PathBuf, String)>,
) -> anyhow::Result<()> {
    let unreadable = || format!("`{}` cannot be read", directory.display());
    let mut names = roots.names(directory).with_context(unreadable)?;
    names.sort_unstable();
    for name in names {
        let path = directory.join(&name);
        let metadata = path.symlink_metadata().with_context(unreadable)?;
        let name = match name.into_string() {
            Ok(name) if !name.contains(['\t', '\n', '\r']) => name,
            _ => {
                let reason = "its name cannot stand in a URL; rename it".to_owned();
                refused.push((path, reason));
                continue;
            }
        };
        if metadata.is_dir() {
            walk(&path, &format!("{below}{name}/"), roots, out, refused)?;
        } else if metadata.is_file() {
            let modified = metadata.modified().ok();
            let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let seconds = since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0));
            let date = Datestamp::from_seconds(seconds);
            writeln!(out, "{date}\t{below}{name}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_in_order_and_links_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        std::fs::create_dir_all(root.join("b/c")).unwrap();
        for name in ["b/c/2.pdf", "a.pdf", "b/odd\tname"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc", root.join("etc")).unwrap();
        let mut refused = Vec::new();

        let list = list(root, &Roots::default(), &mut refused).unwrap();

        let text = std::fs::read_to_string(list.path()).unwrap();
        let paths: Vec<_> = text
            .lines()
            .map(|line| line.split_once('\t').unwrap().1)
            .collect();
        assert_eq!(paths, ["a.pdf", "b/c/2.pdf"]);
        assert_eq!(refused.len(), 1);
    }

    #[test]
    fn a_base_is_a_url() {
        assert!(format("ftp://ftp.example/pub", true).is_ok());
        assert!(format("https://a.example/{b}'/", false).is_ok());
        assert!(format("nonsense", false).is_err());
    }
}
