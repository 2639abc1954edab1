//! The memory of one run, for imports without a catalog: URLs and contents, in a few bytes each.

use std::collections::HashMap;

use catalog::{CaptureOutcome, CaptureRow, ContentRow};

/// URLs with their newest content, and contents.
#[derive(Debug, Default)]
pub(in crate::import) struct Seen {
    urls: HashMap<u128, (i64, u128)>,
    /// All contents that were seen, and how many URLs have them by now.
    contents: HashMap<u128, u64>,
}

impl Seen {
    /// Notes a content that is there already.
    pub(in crate::import) fn know(&mut self, sha1: &str) {
        self.contents.entry(key(sha1)).or_default();
    }

    /// Whether a capture brings bytes that were not seen before.
    pub(in crate::import) fn is_new(&self, row: &CaptureRow) -> bool {
        match &row.content {
            ContentRow::Bytes { sha1, .. } => !self.contents.contains_key(&key(sha1)),
            ContentRow::Revisit { .. } | ContentRow::EdgeOnly => false,
        }
    }

    /// The outcome for a capture, after those before it; as the catalog would say.
    pub(in crate::import) fn see(&mut self, row: &CaptureRow) -> CaptureOutcome {
        let url = key(&row.md5);
        let ContentRow::Bytes { sha1, .. } = &row.content else {
            return match self.urls.contains_key(&url) {
                true => CaptureOutcome::Revisited,
                false => CaptureOutcome::RevisitUnknown,
            };
        };
        let content = key(sha1);
        let holders = self.contents.entry(content).or_default();
        let Some((crawled, known)) = self.urls.get_mut(&url) else {
            self.urls.insert(url, (row.crawled, content));
            *holders += 1;
            return match holders {
                1 => CaptureOutcome::New,
                _ => CaptureOutcome::NewUrl,
            };
        };
        if *known == content {
            *crawled = row.crawled.max(*crawled);
            return CaptureOutcome::Unchanged;
        }
        if (row.crawled, content) < (*crawled, *known) {
            return CaptureOutcome::Older;
        }
        *holders += 1;
        let before = std::mem::replace(known, content);
        *crawled = row.crawled;
        if let Some(holders) = self.contents.get_mut(&before) {
            *holders -= 1;
        }
        CaptureOutcome::NewVersion
    }
}

/// The first 128 bits of a digest in hexadecimal digits.
fn key(digest: &str) -> u128 {
    let digits = digest.get(..32).unwrap_or_default();
    u128::from_str_radix(digits, 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(url: u8, content: Option<u8>, crawled: i64) -> CaptureRow {
        let digest = |of: u8| format!("{of:02x}").repeat(20);
        CaptureRow {
            url: String::new(),
            md5: digest(url),
            host: String::new(),
            parent: None,
            depth: None,
            is_seed: None,
            crawled,
            content: match content {
                Some(content) => ContentRow::Bytes {
                    sha1: digest(content),
                    sha256: String::new(),
                    size: 1,
                    extension: "pdf".to_owned(),
                },
                None => ContentRow::Revisit { sha1: None },
            },
            declared_type: None,
            sniffed_type: None,
            media_type: String::new(),
            member: None,
            source: String::new(),
            digest_mismatch: None,
        }
    }

    #[test]
    fn captures_are_told_apart_by_url_content_and_date() {
        let mut seen = Seen::default();
        let mut see = |url, content, crawled| seen.see(&row(url, content, crawled));

        assert_eq!(see(1, None, 1), CaptureOutcome::RevisitUnknown);
        assert_eq!(see(1, Some(7), 2), CaptureOutcome::New);
        assert_eq!(see(2, Some(7), 2), CaptureOutcome::NewUrl);
        assert_eq!(see(1, Some(7), 3), CaptureOutcome::Unchanged);
        assert_eq!(see(1, Some(8), 4), CaptureOutcome::NewVersion);
        assert_eq!(see(1, Some(7), 3), CaptureOutcome::Older);
        assert_eq!(see(1, None, 9), CaptureOutcome::Revisited);
        // Nobody has the first content of this one any more when the next comes.
        assert_eq!(see(3, Some(9), 1), CaptureOutcome::New);
        assert_eq!(see(3, Some(10), 2), CaptureOutcome::NewVersion);
        assert_eq!(see(4, Some(9), 3), CaptureOutcome::New);
    }
}
