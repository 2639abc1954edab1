//! How much is read, and how much is forgiven.

/// Whether records that are not well-formed are mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Leniency {
    /// A record that is not well-formed is left out and named.
    #[default]
    Strict,
    /// Damage is repaired where possible: bytes of another encoding, characters that XML forbids, bare
    /// ampersands, entities of HTML, and in records that lie whole in memory tags, attributes and comments that do not
    /// fit. The rest is left out and named.
    Repair,
}

/// The limits within which answers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadRules {
    /// Whether records are mended.
    pub leniency: Leniency,
    /// The longest record in bytes.
    pub record_limit: usize,
    /// The longest answer in bytes, decompressed.
    pub page_limit: u64,
    /// How deep elements may nest.
    pub depth_limit: usize,
}

impl Default for ReadRules {
    fn default() -> Self {
        Self {
            leniency: Leniency::Strict,
            record_limit: 64 << 20,
            page_limit: 4 << 30,
            // A record of its own may nest 256 deep.
            depth_limit: 260,
        }
    }
}
