//! The fields that a line of a log can have.

use std::borrow::Cow;

/// A field, as formats name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Url,
    Parent,
    Date,
    MediaType,
    Status,
    Size,
    PathFromSeed,
    Depth,
    Digest,
    File,
    Seed,
}

impl Field {
    pub(super) const ALL: [Self; COUNT] = [
        Self::Url,
        Self::Parent,
        Self::Date,
        Self::MediaType,
        Self::Status,
        Self::Size,
        Self::PathFromSeed,
        Self::Depth,
        Self::Digest,
        Self::File,
        Self::Seed,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Parent => "parent",
            Self::Date => "date",
            Self::MediaType => "media_type",
            Self::Status => "status",
            Self::Size => "size",
            Self::PathFromSeed => "path_from_seed",
            Self::Depth => "depth",
            Self::Digest => "digest",
            Self::File => "file",
            Self::Seed => "seed",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }

    /// All names, for messages.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

/// How many fields there are.
pub(super) const COUNT: usize = 11;

/// The fields of a line. A placeholder for an empty field is absent.
#[derive(Debug, Default)]
pub(super) struct Fields<'l> {
    values: [Option<Cow<'l, [u8]>>; COUNT],
    /// The bytes are not there because the crawler had them already.
    pub(super) is_duplicate: bool,
}

impl<'l> Fields<'l> {
    pub(super) fn set(&mut self, field: Field, value: impl Into<Cow<'l, [u8]>>) {
        self.values[field as usize] = Some(value.into());
    }

    pub(super) fn get(&self, field: Field) -> Option<&[u8]> {
        self.values[field as usize].as_deref()
    }

    /// A field as text. Bytes that are no UTF-8 are shown as what they are: not known; but in URLs they count.
    pub(super) fn text(&self, field: Field) -> Option<Cow<'_, str>> {
        self.get(field).map(match field {
            Field::Url | Field::Parent => crate::url::text,
            _ => String::from_utf8_lossy,
        })
    }
}
