//! The resource at the moment its record is written: its headers, and its bytes in one version.

use std::fs::File;
use std::io;

use super::Record;
use super::reading::{self, Ready};
use super::results::Digests;
use crate::record::helpers::Pending;
use crate::{Facts, NotFetched, Opened, Origin, headers};

/// The resource at the moment of writing.
#[derive(Debug)]
pub(crate) struct Resource {
    /// None if it is not known what a GET returns.
    pub(super) media_type: Option<String>,
    /// The headers of a GET that has status 200; none if nobody asked, or it has another.
    pub(super) headers: Option<Vec<(String, String)>>,
    pub(super) size: Option<u64>,
    pub(super) mtime: Option<i64>,
    /// The mark of the file that all this is about; none if it is not about a file.
    pub(super) mark: Option<i64>,
    pub(super) content: Content,
    /// Its digests, if they came with the content.
    pub(super) digests: Option<Digests>,
}

/// Where the resource's bytes are.
#[derive(Debug)]
pub(super) enum Content {
    /// By reference only.
    Reference {
        /// Why, if it is worth a word.
        reason: Option<String>,
        /// The file that is referred to, if it was opened.
        file: Option<(File, Facts)>,
    },
    /// Read already.
    Bytes(Vec<u8>),
    /// Read already, and in base64.
    Encoded(Vec<u8>),
    /// Being read by a helper.
    Coming(Pending<io::Result<Ready>>),
    /// To be read while it is written.
    File(File, Facts),
}

impl Content {
    /// By reference, and no word about it.
    pub(super) const UNSAID: Self = Self::Reference {
        reason: None,
        file: None,
    };

    fn unsaid_of(file: File, facts: Facts) -> Self {
        Self::Reference {
            reason: None,
            file: Some((file, facts)),
        }
    }

    pub(super) fn failed(reason: &str) -> Self {
        Self::Reference {
            reason: Some(reason.to_owned()),
            file: None,
        }
    }
}

/// How much a record is to say; each includes what stands above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Wanted {
    /// Media type, size and date.
    Description,
    /// The headers of a GET.
    Headers,
    /// The bytes, if it is to have them.
    Bytes,
    /// The same, but a helper reads them.
    BytesSoon,
}

impl Record<'_> {
    /// The resource as it is now, as far as the record is to say it.
    pub(super) fn resource(&self, wanted: Wanted) -> Result<Resource, NotFetched> {
        if let Some(policy) = self.item.dynamic {
            return self.dynamic_resource(policy, wanted);
        }
        if let Some(origin) = self.view.origin.filter(|origin| origin.fetches_files()) {
            return match wanted {
                Wanted::Description => Ok(self.indexed_resource()),
                _ => self.fetched_resource(origin, wanted),
            };
        }
        let media_type = self.media_type();
        let Some(opened) = self.open() else {
            return Err(NotFetched::Refused);
        };
        let (content, facts) = self.content(opened.file, opened.facts, &media_type, wanted);
        let headers = match self.known_headers() {
            Some(headers) => headers.to_vec(),
            None => headers::of_file(&facts, &media_type),
        };
        Ok(Resource {
            content,
            headers: Some(headers),
            ..file_resource(media_type, &facts)
        })
    }

    /// The same, by its URL alone where it cannot be had now.
    pub(super) fn resource_or_reference(&self, wanted: Wanted) -> Resource {
        let resource = self.resource(wanted);
        resource.unwrap_or_else(|_| self.bare_reference())
    }

    /// Opens the file as a GET of the same requester would at this moment, whatever it was when it was indexed.
    /// Beside an origin nothing but the file that the origin was asked about will do.
    pub(super) fn open(&self) -> Option<Opened> {
        let row = &self.item.row;
        let opened = self.view.site.open_file(&row.path, &self.view.requester);
        opened
            .ok()
            .filter(|opened| self.view.origin.is_none() || opened.facts.mark == row.mark)
    }

    /// The media type by the origin, else by the table; empty where neither knows.
    pub(super) fn media_type(&self) -> String {
        let served = self.item.served.as_ref();
        let told = served.and_then(|served| served.media_type.clone());
        told.unwrap_or_else(|| self.indexed_media_type())
    }

    /// The headers of a GET that the origin told without being asked for them.
    pub(super) fn known_headers(&self) -> Option<&[(String, String)]> {
        self.item.served.as_ref()?.headers.as_deref()
    }

    pub(super) fn indexed_media_type(&self) -> String {
        let types = self.view.site.index.media_types();
        let entry = types.get(self.item.row.media_type);
        entry.map_or_else(String::new, |entry| entry.name.clone())
    }

    pub(super) fn by_value_limit(&self, media_type: &str) -> u64 {
        self.view.site.config.by_value.limit_of(media_type)
    }

    /// The bytes of a file if they are to be given, with the facts of that very version.
    pub(super) fn content(
        &self,
        file: File,
        facts: Facts,
        media_type: &str,
        wanted: Wanted,
    ) -> (Content, Facts) {
        if wanted < Wanted::Bytes || facts.size > self.by_value_limit(media_type) {
            return (Content::unsaid_of(file, facts), facts);
        }
        if self.view.site.is_trouble(self.item.row.id) {
            let reason = "the file changes while it is read; fetch it by its reference";
            let content = Content::Reference {
                reason: Some(reason.to_owned()),
                file: Some((file, facts)),
            };
            return (content, facts);
        }
        if wanted == Wanted::BytesSoon {
            let algorithms = self.view.site.config.fixity.algorithms.clone();
            let coming = self
                .view
                .assistance
                .begin(move |stop| reading::ready_ahead(file, facts, &algorithms, stop));
            return (Content::Coming(coming), facts);
        }
        match reading::ready(file, facts) {
            Ok(ready) => (ready.content, ready.facts),
            Err(error) => (self.unreadable(&error), facts),
        }
    }

    fn unreadable(&self, error: &io::Error) -> Content {
        tracing::warn!(
            "`{}` cannot be given by value: {error}",
            self.item.header.identifier
        );
        Content::failed("the file could not be read as a whole; fetch it by its reference")
    }

    /// Waits for what a helper is reading.
    pub(super) fn arrived(&self, resource: Resource) -> Resource {
        let Content::Coming(coming) = resource.content else {
            return resource;
        };
        let ready = match coming.wait() {
            Ok(ready) => ready,
            Err(error) => {
                return Resource {
                    content: self.unreadable(&error),
                    ..resource
                };
            }
        };
        let fetched = self.view.origin.is_some_and(Origin::fetches_files);
        let headers = match fetched || self.known_headers().is_some() {
            true => resource.headers,
            false => Some(headers::of_file(&ready.facts, &self.media_type())),
        };
        Resource {
            media_type: resource.media_type,
            headers,
            content: ready.content,
            digests: ready.digests,
            ..file_resource(String::new(), &ready.facts)
        }
    }

    /// The resource by its URL alone: nothing of the file at its place is told, not even its size.
    pub(super) fn bare_reference(&self) -> Resource {
        Resource {
            media_type: known(self.media_type()),
            headers: self.known_headers().map(<[_]>::to_vec),
            size: None,
            mtime: None,
            mark: None,
            content: Content::UNSAID,
            digests: None,
        }
    }

    /// A plain file as the index knows it, which is enough for a description.
    fn indexed_resource(&self) -> Resource {
        file_resource(self.media_type(), &self.item.row.facts())
    }
}

/// A media type that is not empty.
fn known(media_type: String) -> Option<String> {
    Some(media_type).filter(|media_type| !media_type.is_empty())
}

/// The resource of a file that nothing but its facts is known of.
pub(super) fn file_resource(media_type: String, facts: &Facts) -> Resource {
    Resource {
        media_type: known(media_type),
        headers: None,
        size: Some(facts.size),
        mtime: Some(facts.mtime),
        mark: Some(facts.mark),
        content: Content::UNSAID,
        digests: None,
    }
}
