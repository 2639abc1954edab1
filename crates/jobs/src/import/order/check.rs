//! Finds what no import could be made with.

use anyhow::{Context, bail};

use super::ImportCrawl;
use crate::import::fetched::address;

impl ImportCrawl {
    /// Finds what no import could be made with. What is said begins with the name of the field.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.paths.is_empty() && self.log.is_none() {
            bail!("paths: nothing to import; name archives, directories, or a log");
        }
        for (field, path) in self.files() {
            let can_be_fetched = ["paths", "log", "root"].contains(&field);
            if can_be_fetched && address(path).context(field)?.is_some() {
                continue;
            }
            let path = path.to_string_lossy();
            if path.contains("://") {
                bail!(
                    "{field}: `{path}` is a URL where a file or directory is due; ftp://, ftps:// and sftp:// can be fetched"
                );
            }
            if path.is_empty() || path.len() > LONGEST_PATH || path.contains('\0') {
                bail!("{field}: this cannot be the path of a file");
            }
        }
        if self.types.is_empty() || self.types.len() > MOST_TYPES {
            bail!("types: name one media type, and {MOST_TYPES} at most");
        }
        for name in &self.types {
            if !is_media_type(name) {
                bail!("types: `{name}` is not a media type; write one such as application/pdf");
            }
        }
        if !LENGTHS.contains(&self.max_url_length) {
            let (least, most) = (LENGTHS.start(), LENGTHS.end());
            bail!("max_url_length: write a number from {least} to {most}");
        }
        if !(1..=MOST_THREADS).contains(&self.threads) {
            bail!("threads: write a number from 1 to {MOST_THREADS}");
        }
        let texts = [("base_url", &self.base_url), ("crawler", &self.crawler)];
        for (field, text) in texts {
            if text.as_ref().is_some_and(|text| text.len() > LONGEST_PATH) {
                bail!("{field}: this is longer than {LONGEST_PATH} bytes");
            }
        }
        Ok(())
    }
}

/// Whether a name is that of a media type, without parameters.
fn is_media_type(name: &str) -> bool {
    let plain = |part: &str| {
        let odd = |c: char| !(c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c));
        !part.is_empty() && !part.contains(odd)
    };
    let parts = name.split_once('/');
    parts.is_some_and(|(kind, subtype)| plain(kind) && plain(subtype)) && name.len() <= LONGEST_TYPE
}

/// What the longest URL may be set to.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=1_000_000;
const LONGEST_PATH: usize = 4096;
const LONGEST_TYPE: usize = 255;
const MOST_TYPES: usize = 1000;
const MOST_THREADS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_and_named() {
        let long = format!("[\"/{}\"]", "x".repeat(5000));
        for (json, said) in [
            ("{}", "paths: nothing to import"),
            (r#"{"paths":["gopher://a/b"]}"#, "paths: `gopher://a/b` is"),
            (
                r#"{"paths":["a"],"blacklist":"ftp://a/b"}"#,
                "blacklist: `ftp",
            ),
            (r#"{"paths":["a\u0000b"]}"#, "paths: this cannot be"),
            (&format!("{{\"paths\":{long}}}"), "paths: this cannot be"),
            (r#"{"paths":["a"],"types":["pdf"]}"#, "types: `pdf` is not"),
            (r#"{"paths":["a"],"types":[]}"#, "types: name one"),
            (r#"{"paths":["a"],"max_url_length":3}"#, "max_url_length:"),
            (r#"{"paths":["a"],"threads":0}"#, "threads:"),
            (r#"{"log":"a","root":"http://x"}"#, "root: `http://x`"),
        ] {
            let error = ImportCrawl::parse(json).unwrap().check().unwrap_err();
            assert!(error.to_string().starts_with(said), "{json}: {error}");
        }
        for json in [r#"{"paths":["a"]}"#, r#"{"paths":["ftp://a/b"]}"#] {
            ImportCrawl::parse(json).unwrap().check().unwrap();
        }
    }
}
