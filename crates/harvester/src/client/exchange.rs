//! Asks a repository something and gives the answer as it is: for the check of its manners, which no repair may hide.

use std::io::Read;

use super::Repository;
use super::query::{Patience, Request, shown};
use crate::error::Error;
use crate::{Misbehaviour, Quirks};

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The request as a URL, without credentials.
    pub url: String,
    /// The status.
    pub status: u16,
    /// The header `Content-Type`.
    pub content_type: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Repository {
    /// Asks with these arguments, which need not be legal, by GET or as a form; twice at most, and uncompressed.
    pub fn exchange(
        &self,
        arguments: &[(&str, &str)],
        is_form: bool,
        most_bytes: u64,
    ) -> Result<Exchange, Error> {
        let request = Request::new(self.base(), arguments)
            .with_patience(Patience::BriefUnlessBusy)
            .verbatim(is_form);
        let url = shown(request.target(super::query::Sending::Get).0);
        let mut quirks = Quirks::default();
        let mut answer = self
            .client()
            .fetch(&request, self.credentials(), &mut quirks)?;
        let mut body = Vec::new();
        let read = (&mut answer.body)
            .take(most_bytes + 1)
            .read_to_end(&mut body);
        read.map_err(|error| Error::transport(error.to_string()).at(&url))?;
        if body.len() as u64 > most_bytes {
            let limit = most_bytes;
            return Err(Error::from(Misbehaviour::TooLong { limit, after: None }).at(&url));
        }
        let content_type = answer.headers.get(reqwest::header::CONTENT_TYPE);
        let content_type = content_type.map(|value| String::from_utf8_lossy(value.as_bytes()));
        Ok(Exchange {
            url,
            status: answer.status,
            content_type: content_type.map(std::borrow::Cow::into_owned),
            body,
        })
    }
}
