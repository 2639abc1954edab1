//! The resource as an origin gives it: what the server makes of a file, or the file that it sends.

use std::io;

use super::Record;
use super::resource::{Content, Resource, Wanted, file_resource};
use crate::{Body, DynamicPolicy, Facts, Fetched, NotFetched, Origin};

impl Record<'_> {
    /// A file that a server runs: nothing of its source is told.
    pub(super) fn dynamic_resource(&self, policy: DynamicPolicy, wanted: Wanted) -> Resource {
        match (policy, self.view.origin) {
            (DynamicPolicy::Processed, Some(origin)) if wanted > Wanted::Description => {
                self.fetched_resource(origin, wanted)
            }
            _ => self.bare_reference(),
        }
    }

    /// What a GET returns now, if it is not known already.
    pub(super) fn fetched_resource(&self, origin: &dyn Origin, wanted: Wanted) -> Resource {
        let mut resource = self.bare_reference();
        if wanted < Wanted::Bytes && self.known_headers().is_some() {
            return resource;
        }
        let limit = match wanted {
            Wanted::Bytes | Wanted::BytesSoon => {
                LARGEST_PROCESSED.min(self.by_value_limit(&resource.media_type))
            }
            // The bytes are not given, so it does not matter how many there are.
            _ => LARGEST_PROCESSED,
        };
        let failure = match origin.fetch(&self.view.requester, &self.item.row.path, limit) {
            Ok(fetched) => match self.resource_of(fetched, wanted) {
                Ok(resource) => return resource,
                Err(error) => error.to_string(),
            },
            Err(NotFetched::Refused) => return resource,
            Err(NotFetched::Failed(reason)) => reason,
        };
        tracing::warn!(
            "`{}` cannot be fetched: {failure}",
            self.item.header.identifier
        );
        resource.content = Content::failed(match self.item.dynamic {
            Some(_) => "what the server makes of it could not be taken; fetch it by its reference",
            None => "what the server sends could not be taken; fetch it by its reference",
        });
        resource
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
                    headers: fetched.headers,
                    ..file_resource(media_type, &facts)
                });
            }
            Body::Bytes(bytes) => bytes,
        };
        let resource = Resource {
            media_type,
            headers: fetched.headers,
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

/// What a file that a server runs may return.
const LARGEST_PROCESSED: u64 = 1024 * 1024;
