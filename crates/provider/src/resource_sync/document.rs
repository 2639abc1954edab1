//! The names of the documents. A list that is longer than a document may be is an index of parts; the name of a part says
//! where it begins and ends, so that the server keeps nothing of it.

use oai::{Datestamp, Position};

/// A document of ResourceSync, or a sitemap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncDocument {
    /// Its kind.
    pub kind: SyncKind,
    /// The part of the list, if its index named one.
    pub part: Option<Part>,
}

/// The kinds of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncKind {
    /// All URLs, for search engines.
    Sitemap,
    /// The Source Description, which names the capability list.
    Description,
    /// The Capability List, which names the lists.
    CapabilityList,
    /// All resources, with digests where they are known.
    ResourceList,
    /// The last change of each resource, deletions included.
    ChangeList,
}

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The time of the index that named it.
    pub at: Datestamp,
    /// The end of the part before it.
    pub after: Option<Position>,
    /// Its last position; the last part has none.
    pub until: Option<Position>,
}

impl SyncKind {
    /// All of them.
    const ALL: [Self; 5] = [
        Self::Sitemap,
        Self::Description,
        Self::CapabilityList,
        Self::ResourceList,
        Self::ChangeList,
    ];

    /// The name, as it is written in logs and in `rs:md`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::Description => "description",
            Self::CapabilityList => "capabilitylist",
            Self::ResourceList => "resourcelist",
            Self::ChangeList => "changelist",
        }
    }

    /// Whether it lists resources, so that it may be long.
    pub fn is_list(self) -> bool {
        match self {
            Self::Sitemap | Self::ResourceList | Self::ChangeList => true,
            Self::Description | Self::CapabilityList => false,
        }
    }

    /// The path below the repository's, without the ending.
    fn stem(self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::Description => "resourcesync",
            Self::CapabilityList => "resourcesync/capabilitylist",
            Self::ResourceList => "resourcesync/resourcelist",
            Self::ChangeList => "resourcesync/changelist",
        }
    }
}

impl SyncDocument {
    /// The whole document of a kind.
    pub fn whole(kind: SyncKind) -> Self {
        Self { kind, part: None }
    }

    /// The document at a path below that of the repository, such as `resourcesync/changelist.xml`.
    pub fn below_repository(path: &str) -> Option<Self> {
        let kinds = SyncKind::ALL.into_iter();
        kinds.filter_map(|kind| Self::of_kind(kind, path)).next()
    }

    /// The document at a path below the root of the site, such as `.well-known/resourcesync`. A part of the sitemap lies
    /// in the same directory as its index, for it may name only what is below its own directory.
    pub fn below_site(path: &str) -> Option<Self> {
        match path {
            ".well-known/resourcesync" => Some(Self::whole(SyncKind::Description)),
            path => Self::of_kind(SyncKind::Sitemap, path),
        }
    }

    /// Its path below that of the repository.
    pub fn path(&self) -> String {
        let stem = self.kind.stem();
        match (self.kind, &self.part) {
            (SyncKind::Description, _) => stem.to_owned(),
            (_, None) => format!("{stem}.xml"),
            (_, Some(part)) => format!("{stem}-{}.xml", part.name()),
        }
    }

    fn of_kind(kind: SyncKind, path: &str) -> Option<Self> {
        if kind == SyncKind::Description {
            return (path == kind.stem()).then(|| Self::whole(kind));
        }
        let rest = path.strip_prefix(kind.stem())?.strip_suffix(".xml")?;
        if rest.is_empty() {
            return Some(Self::whole(kind));
        }
        let part = Part::parse(rest.strip_prefix('-')?)?;
        kind.is_list().then_some(Self {
            kind,
            part: Some(part),
        })
    }
}

impl Part {
    fn name(&self) -> String {
        let position = |position: Option<Position>, none: &str| match position {
            Some(position) => format!("{}.{}", position.datestamp.seconds(), position.id),
            None => none.to_owned(),
        };
        let (after, until) = (position(self.after, BEGIN), position(self.until, END));
        format!("{}_{after}_{until}", self.at.seconds())
    }

    fn parse(name: &str) -> Option<Self> {
        let fields: Vec<&str> = name.split('_').collect();
        let [at, after, until] = fields[..] else {
            return None;
        };
        let position = |field: &str, none: &str| {
            if field == none {
                return Some(None);
            }
            let (seconds, id) = field.split_once('.')?;
            Some(Some(Position {
                datestamp: datestamp(seconds)?,
                id: id.parse().ok()?,
            }))
        };
        let part = Self {
            at: datestamp(at)?,
            after: position(after, BEGIN)?,
            until: position(until, END)?,
        };
        // One name for one part: `+1` and `01` are numbers as well.
        (part.name() == name).then_some(part)
    }
}

fn datestamp(seconds: &str) -> Option<Datestamp> {
    Some(Datestamp::from_seconds(seconds.parse().ok()?))
}

/// Stands for the beginning and the end of a list.
const BEGIN: &str = "begin";
const END: &str = "end";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_as_what_it_was() {
        let position = |seconds, id| {
            Some(Position {
                datestamp: Datestamp::from_seconds(seconds),
                id,
            })
        };
        for kind in SyncKind::ALL {
            let whole = SyncDocument::whole(kind);
            assert_eq!(SyncDocument::below_repository(&whole.path()), Some(whole));
        }
        for (after, until) in [
            (None, position(-5, 7)),
            (position(-5, -7), position(1_794_775_747, 50_000)),
            (position(1_794_775_747, 50_000), None),
        ] {
            let part = Some(Part {
                at: Datestamp::from_seconds(1_794_775_800),
                after,
                until,
            });
            for kind in SyncKind::ALL.into_iter().filter(|kind| kind.is_list()) {
                let document = SyncDocument { kind, part };
                let path = document.path();
                assert_eq!(SyncDocument::below_repository(&path), Some(document));
                assert_eq!(
                    SyncDocument::below_site(&path).is_some(),
                    kind == SyncKind::Sitemap
                );
            }
        }
    }

    #[test]
    fn other_names_are_nobodys() {
        for path in [
            "",
            "sitemap",
            "sitemap.xml.gz",
            "sitemap-.xml",
            "sitemap-1_begin.xml",
            "sitemap-1_begin_end_end.xml",
            "sitemap-1_begin_+1.1.xml",
            "sitemap-1_end_begin.xml",
            "sitemap-x_begin_end.xml",
            "sitemap-1_1.99999999999999999999_end.xml",
            "resourcesync.xml",
            "resourcesync/",
            "resourcesync/sitemap.xml",
            "resourcesync/capabilitylist-1_begin_end.xml",
            "../sitemap.xml",
        ] {
            assert_eq!(SyncDocument::below_repository(path), None, "{path}");
            assert_eq!(SyncDocument::below_site(path), None, "{path}");
        }
    }
}
