//! The resource as an origin gives it: what the server makes of a file, or the file that it sends.

use std::io;

use super::Record;
use super::resource::{Content, Resource, Wanted, file_resource};
use crate::{Body, DynamicPolicy, Facts, Fetched, NotFetched, Origin};

impl Record<'_> {
    /// A file that a server runs: nothing of its source is told, but to named users.
    pub(super) fn dynamic_resource(
        &self,
        policy: DynamicPolicy,
        wanted: Wanted,
    ) -> Result<Resource, NotFetched> {
        match (policy, self.view.origin) {
            (DynamicPolicy::Processed, Some(origin)) if wanted > Wanted::Description => {
                self.fetched_resource(origin, wanted)
            }
            (DynamicPolicy::Source, _) if wanted != Wanted::Headers => Ok(self.source(wanted)),
            _ => Ok(self.bare_reference()),
        }
    }

    /// The source of a program, in the version that the index knows. No header of a GET belongs to it.
    fn source(&self, wanted: Wanted) -> Resource {
        let (site, row) = (self.view.site, &self.item.row);
        let opened = site.open_source(&row.path, &self.view.requester).ok();
        let Some(opened) = opened.filter(|opened| opened.facts.mark == row.mark) else {
            return Resource {
                headers: None,
                ..self.bare_reference()
            };
        };
        let media_type = site.ground.media_types.of(row.path.name()).to_owned();
        let (content, facts) = self.content(opened.file, opened.facts, &media_type, wanted);
        Resource {
            content,
            ..file_resource(media_type, &facts)
        }
    }

    /// The result of a GET now, if it is not known already.
    pub(super) fn fetched_resource(
        &self,
        origin: &dyn Origin,
        wanted: Wanted,
    ) -> Result<Resource, NotFetched> {
        let mut resource = self.bare_reference();
        if wanted < Wanted::Bytes && self.known_headers().is_some() {
            return Ok(resource);
        }
        let limit = match wanted {
            Wanted::Bytes | Wanted::BytesSoon => {
                LARGEST_PROCESSED.min(self.by_value_limit(&self.media_type()))
            }
            // The bytes are not given, so it does not matter how many there are.
            _ => LARGEST_PROCESSED,
        };
        let failure = match origin.fetch(&self.view.requester, &self.item.row.path, limit) {
            Ok(fetched) => match self.resource_of(fetched, wanted) {
                Ok(resource) => {
                    self.note_answer(200, resource.media_type.as_deref());
                    return Ok(resource);
                }
                Err(error) => error.to_string(),
            },
            Err(NotFetched::Failed { reason, headers }) => {
                let media_type = headers.as_deref().and_then(content_type);
                if headers.is_some() {
                    self.note_answer(200, media_type.as_deref());
                }
                resource.media_type = media_type.or(resource.media_type);
                resource.headers = headers.or(resource.headers);
                reason
            }
            Err(not_fetched) => {
                if let NotFetched::Status(status) = not_fetched {
                    self.note_answer(status, None);
                    tracing::warn!(
                        "`{}` is not offered: the server answers {status}",
                        self.item.header.identifier
                    );
                }
                return Err(not_fetched);
            }
        };
        tracing::warn!(
            "`{}` cannot be fetched: {failure}",
            self.item.header.identifier
        );
        resource.content = Content::failed(match self.item.dynamic {
            Some(_) => "what the server makes of it could not be taken; fetch it by its reference",
            None => "what the server sends could not be taken; fetch it by its reference",
        });
        Ok(resource)
    }

    fn resource_of(&self, fetched: Fetched, wanted: Wanted) -> io::Result<Resource> {
        let media_type = content_type(&fetched.headers).unwrap_or_else(|| self.media_type());
        let bytes = match fetched.body {
            Body::File(file) => {
                let facts = Facts::of_file(&file)?;
                self.note_version(&facts);
                let (content, facts) = self.content(file, facts, &media_type, wanted);
                return Ok(Resource {
                    content,
                    headers: Some(fetched.headers),
                    ..file_resource(media_type, &facts)
                });
            }
            Body::Bytes(bytes) => bytes,
        };
        let resource = Resource {
            media_type: Some(media_type).filter(|media_type| !media_type.is_empty()),
            headers: Some(fetched.headers),
            ..self.bare_reference()
        };
        // The server was to send the file and makes something else of it. Nobody said that this may be given.
        if self.item.dynamic.is_none() {
            return Ok(resource);
        }
        Ok(Resource {
            size: Some(bytes.len() as u64),
            content: Content::Bytes(bytes),
            ..resource
        })
    }
}

impl Record<'_> {
    /// Remembers what a program answered: lists tell its media type, and leave out what a GET is refused.
    fn note_answer(&self, status: u16, media_type: Option<&str>) {
        if self.item.dynamic.is_some() {
            self.view.note_answer(&self.item.row, status, media_type);
        }
    }

    /// A version that the index does not know yet is given under the datestamp of the one before.
    fn note_version(&self, facts: &Facts) {
        let row = &self.item.row;
        if facts.mark == row.mark {
            return;
        }
        let noted = self.view.site.index.note_other_version(row.id, row.mark);
        if let Err(error) = noted {
            tracing::warn!("{error}");
        }
    }
}

fn content_type(headers: &[(String, String)]) -> Option<String> {
    let header = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    header.map(|(_, value)| value.clone())
}

/// The result of a file that a server runs.
const LARGEST_PROCESSED: u64 = 1024 * 1024;
