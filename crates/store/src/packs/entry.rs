//! Where a record lies in a pack: `NAME.xml.gz#BLOCK+OFFSET+LENGTH`.

use std::fmt;

use super::EXTENSION;

/// The place of a record in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackEntry {
    /// The name of the pack, with the directories above it.
    pub pack: String,
    /// The offset of its block in the pack, in bytes.
    pub block: u64,
    /// The offset of the record in the block when that is inflated.
    pub offset: u64,
    /// How many bytes it has.
    pub length: u64,
}

impl PackEntry {
    /// Reads an entry as it was written; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (pack, place) = text.rsplit_once('#')?;
        let mut numbers = place.split('+');
        let mut number = || {
            let digits = numbers.next()?;
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| is_plain)
        };
        let entry = Self {
            pack: pack.to_owned(),
            block: number()?,
            offset: number()?,
            length: number()?,
        };
        let is_name = |name: &str| {
            !name.is_empty() && !name.starts_with('.') && !name.contains(char::is_control)
        };
        let is_plain = pack.ends_with(EXTENSION) && pack.split('/').all(is_name);
        (is_plain && numbers.next().is_none() && entry.end().is_some_and(|end| end <= LONGEST))
            .then_some(entry)
    }

    /// The offset behind the record in its block.
    pub(super) fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.length)
    }
}

impl fmt::Display for PackEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pack,
            block,
            offset,
            length,
        } = self;
        write!(f, "{pack}#{block}+{offset}+{length}")
    }
}

/// No record is nearly as long.
const LONGEST: u64 = 1 << 32;
