//! File names. A name never decides what a file is; it tells which files must not be passed over in silence, and what to
//! look for first in a file whose beginning is damaged.

use super::layout::{Codec, Format};

/// The format and compression that a file name claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::archive) struct Named {
    /// It is called as a WARC or ARC file or a WACZ is.
    pub(in crate::archive) is_archive: bool,
    pub(in crate::archive) is_wacz: bool,
    /// It is called as a file that lies beside archives: an index, a checksum.
    is_beside: bool,
    /// The program that compressed it, if nothing here can undo that.
    packed: Option<&'static str>,
    /// A crawler is writing it.
    pub(in crate::archive) is_open: bool,
    pub(in crate::archive) codec: Codec,
    pub(in crate::archive) format: Format,
}

/// Why a file is not read although its name says that it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::archive) struct Refused {
    pub(in crate::archive) reason: String,
    /// Records may be lost with it.
    pub(in crate::archive) is_loss: bool,
}

impl Named {
    pub(in crate::archive) fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let closed = name.strip_suffix(".open").unwrap_or(&name);
        let last = closed.rsplit('.').next().unwrap_or_default();
        let mut behind = name.split(".arc").skip(1);
        let is_arc = behind.any(|rest| !rest.starts_with(char::is_alphabetic));
        let is_wacz = last == "wacz";
        let packed = match last {
            "bz2" => Some("bzip2"),
            "xz" => Some("xz"),
            _ => None,
        };
        Self {
            is_archive: is_wacz || is_arc || name.contains(".warc") || name.contains(".wacz"),
            is_wacz,
            is_beside: BESIDE.contains(&last) || name.contains(".cdx"),
            packed,
            is_open: closed.len() < name.len(),
            codec: match last {
                "gz" => Codec::Gzip,
                "zst" | "zstd" => Codec::Zstd,
                _ => Codec::Plain,
            },
            format: match is_arc {
                true => Format::Arc,
                false => Format::Warc,
            },
        }
    }

    /// Whether records are looked for in all of the file if they are not where they should be.
    pub(in crate::archive) fn wants_search(&self) -> bool {
        self.is_archive && !self.is_beside
    }

    /// Why a file is not read in which nothing was found. `None` if nobody expects to hear of it.
    pub(in crate::archive) fn refused(&self) -> Option<Refused> {
        let is_loss = self.wants_search();
        let reason = match self.packed {
            Some(program) => {
                format!("it is compressed with {program}, which is not read; unpack it first")
            }
            None if is_loss => "no WARC or ARC record was found in it".to_owned(),
            None if self.is_archive => "it is no archive, and is not read".to_owned(),
            None => return None,
        };
        Some(Refused { reason, is_loss })
    }
}

/// How files are called that lie beside archives.
const BESIDE: [&str; 16] = [
    "cdx", "cdxj", "idx", "md5", "sha1", "sha256", "sha512", "asc", "sig", "txt", "log", "json",
    "jsonl", "xml", "html", "csv",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_archives_are_told_from_others() {
        for name in [
            "a.warc",
            "A.WARC.GZ",
            "d/a.warc.zst",
            "a.arc",
            "a.arc.gz.open",
            "a.arc1",
            "a.wacz",
            "a.warc.gz.bak",
            "a.warc.bz2",
        ] {
            let refused = Named::of(name).refused();
            assert!(refused.is_some_and(|refused| refused.is_loss), "{name}");
        }
        for name in [
            "a.warc.gz.cdx",
            "a.warc.os.cdx.gz",
            "a.arc.md5",
            "logs.tar.xz",
        ] {
            let refused = Named::of(name).refused();
            assert!(refused.is_some_and(|refused| !refused.is_loss), "{name}");
        }
        for name in ["a.pdf", "a.archive", "warc", "arc.d/a.gz", "a.gz"] {
            assert_eq!(Named::of(name).refused(), None, "{name}");
        }
    }

    #[test]
    fn names_tell_what_to_look_for_first() {
        let named = Named::of("x/a.arc.gz.open");
        assert_eq!((named.codec, named.format), (Codec::Gzip, Format::Arc));
        assert!(named.is_open);
        let named = Named::of("a.warc.zst");
        assert_eq!((named.codec, named.format), (Codec::Zstd, Format::Warc));
    }
}
