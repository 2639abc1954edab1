//! Media types of files by the extension of their names.
//!
//! The table in `mime.types` is built in; more lines of the same form can be added. A type here carries no
//! parameters: which charset a text is in cannot be known from its name.

use std::collections::HashMap;

use thiserror::Error;

/// Maps the extensions of file names to media types.
///
/// ```
/// use site::media_types::MediaTypes;
///
/// let types = MediaTypes::embedded();
/// assert_eq!(types.of(b"report.PDF"), "application/pdf");
/// ```
#[derive(Debug, Clone)]
pub struct MediaTypes {
    names: Vec<Box<str>>,
    /// Lower-case extension to index in `names`, so that each type is stored once.
    extensions: HashMap<Box<[u8]>, usize>,
    default: Box<str>,
}

/// Says what is wrong with an extension or a media type.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MediaTypesError {
    /// The type does not have the form of RFC 6838, 4.2.
    #[error("`{0}` is not a media type; write it as `type/subtype`, without parameters")]
    MediaType(String),
    /// The extension could never be found in a file name.
    #[error(
        "`{0}` is not an extension; write what follows the last dot, at most {EXTENSION_BYTES} bytes"
    )]
    Extension(String),
    /// A line of a table is wrong.
    #[error("line {line}: {problem}")]
    Line {
        /// The line's number, from 1.
        line: usize,
        /// The mistake in it.
        problem: Box<MediaTypesError>,
    },
}

impl MediaTypes {
    /// Returns the built-in table, with `application/octet-stream` for all it does not know.
    pub fn embedded() -> Self {
        let mut types = Self {
            names: Vec::new(),
            extensions: HashMap::new(),
            default: "application/octet-stream".into(),
        };
        types
            .extend(EMBEDDED)
            .expect("the built-in table has been read by a test");
        types
    }

    /// Adds the lines of a `mime.types` table; later lines win. A table with an error changes nothing.
    pub fn extend(&mut self, table: &str) -> Result<(), MediaTypesError> {
        let mut entries = Vec::new();
        for (index, line) in table.lines().enumerate() {
            let in_line = |problem| MediaTypesError::Line {
                line: index + 1,
                problem: Box::new(problem),
            };
            let mut words = line
                .split_whitespace()
                .take_while(|word| !word.starts_with('#'));
            let Some(media_type) = words.next() else {
                continue;
            };
            let media_type = parse_media_type(media_type).map_err(in_line)?;
            for extension in words {
                let extension = parse_extension(extension).map_err(in_line)?;
                entries.push((extension, media_type.clone()));
            }
        }
        for (extension, media_type) in entries {
            self.insert(extension, media_type);
        }
        Ok(())
    }

    /// Sets the type of one extension, given with or without its dot.
    pub fn set(&mut self, extension: &str, media_type: &str) -> Result<(), MediaTypesError> {
        let media_type = parse_media_type(media_type)?;
        self.insert(parse_extension(extension)?, media_type);
        Ok(())
    }

    /// Sets the type of files without an extension or with an unknown one.
    pub fn set_default(&mut self, media_type: &str) -> Result<(), MediaTypesError> {
        self.default = parse_media_type(media_type)?;
        Ok(())
    }

    /// Returns the type of a file by its name or path: its last extension counts, in any letter case.
    ///
    /// The dot that hides a file does not begin an extension: `.profile` gets the default type.
    pub fn of(&self, name: &[u8]) -> &str {
        self.find(name).unwrap_or(&self.default)
    }

    fn find(&self, name: &[u8]) -> Option<&str> {
        // Names are long and extensions short: looking from the end finds the dot at once.
        let stop = name.iter().rposition(|&byte| matches!(byte, b'.' | b'/'))?;
        let hides_file = stop == 0 || name[stop - 1] == b'/';
        if name[stop] == b'/' || hides_file {
            return None;
        }
        let extension = &name[stop + 1..];
        let mut buffer = [0; EXTENSION_BYTES];
        let lower = buffer.get_mut(..extension.len())?;
        lower.copy_from_slice(extension);
        lower.make_ascii_lowercase();
        let index = *self.extensions.get(&*lower)?;
        self.names.get(index).map(|name| &**name)
    }

    fn insert(&mut self, extension: Box<[u8]>, media_type: Box<str>) {
        // A table names the extensions of a type together, so the last name is the likely one.
        let known = self.names.iter().rposition(|name| *name == media_type);
        let index = known.unwrap_or_else(|| {
            self.names.push(media_type);
            self.names.len() - 1
        });
        self.extensions.insert(extension, index);
    }
}

impl Default for MediaTypes {
    fn default() -> Self {
        Self::embedded()
    }
}

/// A media type without its parameters.
pub fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

fn parse_media_type(text: &str) -> Result<Box<str>, MediaTypesError> {
    match text.split_once('/') {
        Some((top, sub)) if is_restricted_name(top) && is_restricted_name(sub) => {
            Ok(text.to_ascii_lowercase().into())
        }
        _ => Err(MediaTypesError::MediaType(text.to_owned())),
    }
}

/// RFC 6838, 4.2: `restricted-name`.
fn is_restricted_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
    name.len() <= 127
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(allowed)
}

fn parse_extension(text: &str) -> Result<Box<[u8]>, MediaTypesError> {
    let extension = text.strip_prefix('.').unwrap_or(text);
    let fits = (1..=EXTENSION_BYTES).contains(&extension.len());
    let strange = |c: char| matches!(c, '.' | '/') || c.is_whitespace() || c.is_control();
    if !fits || extension.contains(strange) {
        return Err(MediaTypesError::Extension(text.to_owned()));
    }
    Ok(extension.to_ascii_lowercase().into_bytes().into())
}

const EMBEDDED: &str = include_str!("mime.types");

/// The longest extension looked up; it fits on the stack, where it is lower-cased without an allocation.
const EXTENSION_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_built_in_table_is_large_and_names_nothing_twice() {
        let lines: Vec<_> = EMBEDDED
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .collect();
        let words = lines.iter().flat_map(|line| line.split_whitespace());
        let count = words.clone().count();

        let types = MediaTypes::embedded();

        assert_eq!(words.collect::<HashSet<_>>().len(), count);
        assert_eq!(types.names.len(), lines.len());
        assert_eq!(types.extensions.len(), count - lines.len());
        assert!(types.names.len() >= 250, "{}", types.names.len());
        assert!(types.extensions.len() >= 450, "{}", types.extensions.len());
    }

    #[test]
    fn knows_the_types_of_common_files() {
        let types = MediaTypes::embedded();

        for (name, expected) in [
            ("index.html", "text/html"),
            ("a.js", "text/javascript"),
            ("a.mjs", "text/javascript"),
            ("a.json", "application/json"),
            ("README.md", "text/markdown"),
            ("a.webp", "image/webp"),
            ("a.avif", "image/avif"),
            ("a.jpeg", "image/jpeg"),
            ("a.woff2", "font/woff2"),
            ("a.wasm", "application/wasm"),
            ("a.warc", "application/warc"),
            ("a.php", "application/x-httpd-php"),
            ("a.eps", "application/postscript"),
            ("a.epub", "application/epub+zip"),
            ("a.odt", "application/vnd.oasis.opendocument.text"),
            (
                "a.docx",
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            ),
            ("x.tar.gz", "application/gzip"),
        ] {
            assert_eq!(types.of(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn the_last_extension_counts_in_any_letter_case() {
        let types = MediaTypes::embedded();

        assert_eq!(types.of(b"REPORT.PDF"), "application/pdf");
        assert_eq!(types.of(b"page.html.Txt"), "text/plain");
        assert_eq!(types.of(b"v1.2/caf\xe9.png"), "image/png");
    }

    #[test]
    fn files_without_a_known_extension_get_the_default_type() {
        let mut types = MediaTypes::embedded();
        let names: [&[u8]; 9] = [
            b"",
            b"README",
            b"name.",
            b".png",
            b"dir/.png",
            b"dir.png/file",
            b"a.unheard-of",
            b"a.\xff\xfe",
            b"a.an-extension-longer-than-any-table-would-have-it",
        ];

        for name in names {
            assert_eq!(types.of(name), "application/octet-stream");
        }
        types.set_default("Text/Plain").unwrap();
        assert_eq!(types.of(b"README"), "text/plain");
    }

    #[test]
    fn later_lines_win() {
        let mut types = MediaTypes::embedded();
        let table = "# ours\r\n\r\nApplication/X-Ours  .pdf TXT # as agreed\r\ntext/x-theirs txt\r\nimage/x-none\r\n";

        types.extend(table).unwrap();

        assert_eq!(types.of(b"a.pdf"), "application/x-ours");
        assert_eq!(types.of(b"a.txt"), "text/x-theirs");
        types.set(".Txt", "text/plain").unwrap();
        assert_eq!(types.of(b"a.txt"), "text/plain");
    }

    #[test]
    fn an_error_names_the_line_and_changes_nothing() {
        let mut types = MediaTypes::embedded();

        let error = types
            .extend("text/x-new pdf\n\ntext/html; charset=utf-8 html\n")
            .unwrap_err();

        assert_eq!(
            error.to_string(),
            "line 3: `text/html;` is not a media type; write it as `type/subtype`, without parameters"
        );
        assert_eq!(types.of(b"a.pdf"), "application/pdf");
    }

    #[test]
    fn rejects_what_is_no_media_type() {
        let mut types = MediaTypes::embedded();

        for wrong in [
            "", "text", "text/", "/html", "a/b/c", "+a/b", "a/ b", "té/xt", "*/*",
        ] {
            assert!(types.set("x", wrong).is_err(), "{wrong}");
            assert!(types.set_default(wrong).is_err(), "{wrong}");
        }
        assert!(types.set("x", &format!("a/{}", "b".repeat(128))).is_err());
        assert!(types.set("x", &format!("a/{}", "b".repeat(127))).is_ok());
    }

    #[test]
    fn rejects_what_is_no_extension() {
        let mut types = MediaTypes::embedded();

        for wrong in ["", ".", "tar.gz", "a/b", "a b"] {
            assert!(types.set(wrong, "text/plain").is_err(), "{wrong}");
        }
        let error = types.extend("text/plain tar.gz").unwrap_err();
        assert!(error.to_string().starts_with("line 1: `tar.gz`"), "{error}");
    }
}
