//! A line of a CDXJ index: the sort key, the time, and the rest as JSON, byte for byte as cdxj-indexer writes it.

use std::fmt::Write;

/// A line of a CDXJ index.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CdxjLine {
    /// The sort key of the URL.
    pub key: String,
    /// Fourteen digits.
    pub timestamp: String,
    /// The URL.
    pub url: String,
    /// The media type that the server declared, or `warc/revisit`.
    pub mime: Option<String>,
    /// The status of HTTP.
    pub status: Option<String>,
    /// The digest of the payload.
    pub digest: String,
    /// How many bytes of the file the record has.
    pub length: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// The name of the file.
    pub filename: String,
}

impl CdxjLine {
    /// The line, with its end.
    pub fn to_line(&self) -> String {
        let mut line = format!("{} {} {{\"url\": ", self.key, self.timestamp);
        quoted(&mut line, &self.url);
        let (length, offset) = (self.length.to_string(), self.offset.to_string());
        let fields = [
            ("mime", self.mime.as_deref()),
            ("status", self.status.as_deref()),
            ("digest", Some(self.digest.as_str())),
            ("length", Some(length.as_str())),
            ("offset", Some(offset.as_str())),
            ("filename", Some(self.filename.as_str())),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                // A text takes everything.
                let _ = write!(line, ", \"{name}\": ");
                quoted(&mut line, value);
            }
        }
        line.push_str("}\n");
        line
    }
}

/// JSON in ASCII alone: readers of indexes compare bytes.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_ascii_and_has_only_what_is_known() {
        let line = CdxjLine {
            key: "example,a)/".to_owned(),
            timestamp: "20260301080000".to_owned(),
            url: "http://a.example/é\"\u{1f600}".to_owned(),
            digest: "sha1:A".to_owned(),
            length: 3,
            offset: 4,
            filename: "a.warc".to_owned(),
            ..CdxjLine::default()
        };

        assert_eq!(
            line.to_line(),
            "example,a)/ 20260301080000 {\"url\": \"http://a.example/\\u00e9\\\"\\ud83d\\ude00\", \
             \"digest\": \"sha1:A\", \"length\": \"3\", \"offset\": \"4\", \"filename\": \"a.warc\"}\n"
        );
    }
}
