//! Finds what no import could be made with.

use super::ImportOrder;
use crate::Mistake;
use crate::import::sources::fetched::is_remote;

impl ImportOrder {
    /// Finds settings that no import could be made with.
    pub fn check(&self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let mut refuse = |field, reason: String| mistakes.push(Mistake::new(field, reason));
        if self.paths.is_empty() && self.log.is_none() {
            let reason = "nothing to import; name archives, directories, or a log";
            refuse("paths", reason.to_owned());
        }
        for (field, path) in self.files() {
            let can_be_fetched = ["paths", "log", "root"].contains(&field);
            match is_remote(path) {
                Ok(true) if can_be_fetched => continue,
                Err(error) if can_be_fetched => {
                    refuse(field, crate::message(&error));
                    continue;
                }
                _ => {}
            }
            let path = path.to_string_lossy();
            if path.contains("://") {
                refuse(
                    field,
                    format!(
                        "`{path}` is a URL where a file or directory is due; ftp://, ftps://, sftp:// and s3:// can be fetched"
                    ),
                );
            } else if path.is_empty() || path.len() > LONGEST_PATH || path.contains('\0') {
                refuse(field, "this cannot be the path of a file".to_owned());
            }
        }
        if self.lists.len() > MOST_LISTS {
            refuse("lists", format!("name at most {MOST_LISTS}"));
        }
        if let Some(folder) = &self.no_database {
            let path = folder.to_string_lossy();
            if path.is_empty()
                || path.len() > LONGEST_PATH
                || path.contains('\0')
                || path.contains("://")
            {
                refuse(
                    "no_database",
                    format!("`{path}` is no directory of this machine"),
                );
            }
        }
        if self.types.is_empty() || self.types.len() > MOST_TYPES {
            let reason = format!("name one media type, and {MOST_TYPES} at most");
            refuse("types", reason);
        }
        for name in &self.types {
            if !is_media_type(name) {
                let reason = format!(
                    "`{name}` is not a media type; write one such as application/pdf or image/*"
                );
                refuse("types", reason);
            }
        }
        if !LENGTHS.contains(&self.max_url_length) {
            let (least, most) = (LENGTHS.start(), LENGTHS.end());
            let reason = format!("write a number from {least} to {most}");
            refuse("max_url_length", reason);
        }
        if !(1..=MOST_THREADS).contains(&self.threads) {
            let reason = format!("write a number from 1 to {MOST_THREADS}");
            refuse("threads", reason);
        }
        if self.needs.len() > MOST_TAGS || !self.needs.iter().all(|tag| is_tag(tag)) {
            refuse("needs", TAGS.to_owned());
        }
        let texts = [("base_url", &self.base_url), ("crawler", &self.crawler)];
        for (field, text) in texts {
            if text.as_ref().is_some_and(|text| text.len() > LONGEST_PATH) {
                refuse(field, format!("this is longer than {LONGEST_PATH} bytes"));
            }
        }
        if let Some(place) = &self.collection
            && place.contains("://")
            && !place.starts_with("s3://")
        {
            let remedy = "write a directory or s3://BUCKET/PREFIX";
            let reason = format!("documents cannot go to `{place}`; {remedy}");
            refuse("collection", reason);
        }
        if let Err(error) = self.texts.policy.check() {
            refuse("accept", format!("accept and reject: {error}"));
        }
        mistakes
    }
}

/// Whether a text can be a tag of workers.
pub fn is_tag(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=100).contains(&text.len()) && text.chars().all(is_plain)
}

/// How tags of workers are written.
pub const TAGS: &str = "write at most 20 tags of letters, digits, -, _ and .";
const MOST_TAGS: usize = 20;

/// Whether a name is that of a media type, without parameters.
fn is_media_type(name: &str) -> bool {
    let plain = |part: &str| {
        let odd = |c: char| !(c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c));
        !part.is_empty() && !part.contains(odd)
    };
    let parts = name.split_once('/');
    let is_type = |(kind, subtype): (&str, &str)| match (kind, subtype) {
        ("*", "*") => true,
        (kind, "*") => plain(kind),
        (kind, subtype) => plain(kind) && plain(subtype),
    };
    parts.is_some_and(is_type) && name.len() <= LONGEST_TYPE
}

/// The largest value of the longest URL.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=1_000_000;
const LONGEST_PATH: usize = 4096;
const LONGEST_TYPE: usize = 255;
const MOST_TYPES: usize = 1000;
const MOST_LISTS: usize = 100;
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
            let mistakes = ImportOrder::parse(json).unwrap().check();
            assert_eq!(mistakes.len(), 1, "{json}: {mistakes:?}");
            let mistake = mistakes[0].to_string();
            assert!(mistake.starts_with(said), "{json}: {mistake}");
        }
        for json in [r#"{"paths":["a"]}"#, r#"{"paths":["ftp://a/b"]}"#] {
            assert_eq!(ImportOrder::parse(json).unwrap().check(), []);
        }
    }
}
