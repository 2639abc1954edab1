//! The site's part of the configuration: one struct per concern, each with its defaults.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use crate::fixity::Algorithm;

/// How much of a resource goes into its `oai_didl` record.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ByValueConfig {
    /// Larger files are given by reference only.
    pub limit: ByteSize,
    /// Other limits for some media types; `video/*` = 0 leaves all videos to the reference.
    pub media_types: BTreeMap<String, ByteSize>,
}

/// Which digests are told.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FixityConfig {
    /// Any of md5, sha1 and sha256.
    pub algorithms: Vec<Algorithm>,
}

/// How the index follows the site.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IndexConfig {
    /// Whether directories are watched.
    pub watch: bool,
    /// At most how many.
    pub watch_limit: usize,
    /// Seconds between two scans of the whole site, where all directories are watched.
    pub rescan_seconds: u64,
    /// Seconds between two rounds of asking an origin whether it still shows what it showed.
    pub sweep_seconds: u64,
}

/// Media types beyond the table that is built in.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MediaTypesConfig {
    /// Files in the format of Apache's mime.types; later ones win.
    pub tables: Vec<PathBuf>,
    /// Media types by extension; these win over the tables.
    pub extensions: BTreeMap<String, String>,
    /// The media type of files that have no known extension.
    pub default: Option<String>,
}

/// A number of bytes, written as a number or with a unit: `"10 MiB"`, `"500 kB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

impl Default for ByValueConfig {
    fn default() -> Self {
        Self {
            // Quirk: lxml, and with it most harvesters in Python, cuts text at ten million characters
            // without a word; 7 MiB stay below that in base64.
            limit: ByteSize(7 * 1024 * 1024),
            media_types: BTreeMap::new(),
        }
    }
}

impl ByValueConfig {
    /// The limit for a media type: the entry of the type itself, of its kind, or the general one.
    pub fn limit_of(&self, media_type: &str) -> u64 {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let kind = essence.split('/').next().unwrap_or_default();
        let entry = self
            .media_types
            .get(essence)
            .or_else(|| self.media_types.get(&format!("{kind}/*")));
        entry.unwrap_or(&self.limit).0
    }
}

impl Default for FixityConfig {
    fn default() -> Self {
        Self {
            algorithms: vec![Algorithm::Sha256],
        }
    }
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self {
            watch: true,
            watch_limit: 100_000,
            rescan_seconds: 600,
            sweep_seconds: 60,
        }
    }
}

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "kb" => 1000,
            "kib" | "k" => 1 << 10,
            "mb" => 1_000_000,
            "mib" | "m" => 1 << 20,
            "gb" => 1_000_000_000,
            "gib" | "g" => 1 << 30,
            _ => {
                return Err(format!(
                    "`{text}` is not a size; write it like `500 kB` or `10 MiB`"
                ));
            }
        };
        let number: Result<u64, _> = number.parse();
        let size = number.ok().and_then(|number| number.checked_mul(unit));
        size.map(Self)
            .ok_or_else(|| format!("`{text}` is not a size; write it like `500 kB` or `10 MiB`"))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(u64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(number) => Ok(Self(number)),
            Form::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_units() {
        for (text, size) in [
            ("0", 0),
            ("17", 17),
            ("10 MiB", 10 << 20),
            ("500kB", 500_000),
            ("1 g", 1 << 30),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(size)), "{text}");
        }
        for text in ["", "MiB", "-1", "1 parsec", "99999999999 GiB"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_nearest_limit_counts() {
        let mut config = ByValueConfig::default();
        config.media_types.insert("video/*".to_owned(), ByteSize(0));
        config
            .media_types
            .insert("video/ogg".to_owned(), ByteSize(5));

        assert_eq!(config.limit_of("video/mp4"), 0);
        assert_eq!(config.limit_of("video/ogg; x=y"), 5);
        assert_eq!(config.limit_of("text/html"), 7 << 20);
    }
}
