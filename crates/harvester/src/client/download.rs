//! Gets resources that records refer to, with the manners and the limits of everything else that is asked for.

use std::io::{self, Read};

use reqwest::Url;

use super::query::{Request, Validators};
use super::{Body, Repository};
use crate::error::{Error, Incompatibility};
use crate::{Misbehaviour, Quirks};

/// A resource that a server has begun to send. It reads as the body, whose end is its proper end or an error.
pub struct Download {
    /// The status: one of success.
    pub status: u16,
    /// Where it came from, after all redirects.
    pub url: String,
    /// The headers, as (name, value).
    pub fields: Vec<(String, String)>,
    body: Body,
}

/// The answer of a server that was asked for a resource in another state than a known one.
pub enum Revisited {
    /// It is still in that state.
    Unchanged,
    /// There is no such resource any more: the server answers 404 or 410.
    Gone(u16),
    /// The resource.
    Changed(Box<Download>),
}

impl Repository {
    /// Gets a resource, uncompressed. It may lie on another host; what opens the repository is for its own host alone,
    /// and a repository on the internet cannot lead to addresses that are not.
    pub fn download(&self, url: &str) -> Result<Download, Error> {
        let gone = |status| Error::from(Incompatibility::HttpStatus(status)).at(url);
        match self.revisit(url, &Validators::default())? {
            Revisited::Changed(download) => Ok(*download),
            Revisited::Gone(status) => Err(gone(status)),
            Revisited::Unchanged => Err(gone(304)),
        }
    }

    /// The same for a resource of which one state is known.
    pub fn revisit(&self, url: &str, known: &Validators) -> Result<Revisited, Error> {
        let wrong = |reason: String| Error::from(Misbehaviour::Reference(url.to_owned(), reason));
        let target = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        let credentials = self.credentials_for(&target);
        let client = self.client();
        client.check_reference(self.base(), &target, credentials.is_some())?;
        let mut quirks = Quirks::default();
        let request = Request::resource(&target).with_conditions(known.clone());
        let answer = client.fetch(&request, credentials, &mut quirks)?;
        match answer.status {
            200..300 => {}
            304 if *known != Validators::default() => return Ok(Revisited::Unchanged),
            status @ (404 | 410) => return Ok(Revisited::Gone(status)),
            status => return Err(Error::from(Incompatibility::HttpStatus(status)).at(url)),
        }
        let fields = answer.headers.iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        });
        Ok(Revisited::Changed(Box::new(Download {
            status: answer.status,
            url: super::query::shown(&answer.url),
            fields: fields.collect(),
            body: answer.body,
        })))
    }
}

impl Download {
    /// The value of a header; case does not count in names.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl Read for Download {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.body.read(out)
    }
}
