//! Gets resources that records refer to, with the manners and the limits of everything else that is asked for.

use std::io::{self, Read};

use reqwest::Url;

use super::query::Request;
use super::{Body, Repository};
use crate::error::{Error, Incompatibility};
use crate::{Misbehaviour, Quirks};

/// A resource that a server has begun to send. It reads as the body, whose end is its proper end or an error.
pub struct Download {
    /// The status: one of success.
    pub status: u16,
    /// The headers, as (name, value).
    pub fields: Vec<(String, String)>,
    body: Body,
}

impl Repository {
    /// Gets a resource, uncompressed. It may lie on another host; what opens the repository is for its own host alone,
    /// and a repository on the internet cannot lead to addresses that are not.
    pub fn download(&self, url: &str) -> Result<Download, Error> {
        let wrong = |reason: String| Error::from(Misbehaviour::Reference(url.to_owned(), reason));
        let target = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        let credentials = self.credentials_for(&target);
        let client = self.client();
        client.check_reference(self.base(), &target, credentials.is_some())?;
        let mut quirks = Quirks::default();
        let answer = client.fetch(&Request::resource(&target), credentials, &mut quirks)?;
        if !(200..300).contains(&answer.status) {
            return Err(Error::from(Incompatibility::HttpStatus(answer.status)).at(url));
        }
        let fields = answer.headers.iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        });
        Ok(Download {
            status: answer.status,
            fields: fields.collect(),
            body: answer.body,
        })
    }
}

impl Read for Download {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.body.read(out)
    }
}
