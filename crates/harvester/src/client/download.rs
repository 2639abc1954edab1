//! Gets resources that records refer to, with the manners and the limits of everything else that is asked for.

use std::io::{self, BufReader, Read};

use reqwest::Url;

use super::Repository;
use super::query::{Request, Validators, shown};
use crate::error::{Error, Incompatibility};
use crate::read::decoded;
use crate::{Misbehaviour, Quirks};

/// A resource that a server has begun to send. It reads as the body, whose end is its proper end or an error.
pub struct Download {
    /// The status: one of success.
    pub status: u16,
    /// Where it came from, after all redirects.
    pub url: String,
    /// The headers, as (name, value). Those of a coding that was undone are not among them.
    pub fields: Vec<(String, String)>,
    body: Box<dyn Read + Send>,
}

/// The answer of a server that was asked for a resource in another state than a known one.
pub enum Revisited {
    /// It is still in that state.
    Unchanged,
    /// There is no such resource any more: the server answers 404 or 410.
    Gone(u16),
    /// The resource.
    Changed(Box<Download>),
    /// It is at this URL, for a request that follows no redirects.
    Redirected(String),
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
            Revisited::Redirected(to) => Err(Error::from(Misbehaviour::Redirect(to)).at(url)),
        }
    }

    /// The same for a resource of which one state is known.
    pub fn revisit(&self, url: &str, known: &Validators) -> Result<Revisited, Error> {
        self.visit(url, known, true)
    }

    /// The same for a caller who looks at each redirect before it is followed.
    pub(crate) fn revisit_step(&self, url: &str, known: &Validators) -> Result<Revisited, Error> {
        self.visit(url, known, false)
    }

    fn visit(&self, url: &str, known: &Validators, follows: bool) -> Result<Revisited, Error> {
        let wrong = |reason: String| Error::from(Misbehaviour::Reference(url.to_owned(), reason));
        let target = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        let credentials = self.credentials_for(&target);
        let client = self.client();
        client.check_reference(self.base(), &target, credentials.is_some())?;
        let mut quirks = Quirks::default();
        let mut request = Request::resource(&target).with_conditions(known.clone());
        if !follows {
            request = request.without_redirects();
        }
        let answer = client.fetch(&request, credentials, &mut quirks)?;
        if !follows
            && let Some(to) = super::redirect_target(&target, answer.status, &answer.headers)
        {
            return Ok(Revisited::Redirected(shown(&to.map_err(wrong)?)));
        }
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
        let download = Download {
            status: answer.status,
            url: shown(&answer.url),
            fields: fields.collect(),
            body: Box::new(answer.body),
        };
        let decoded = download.decoded().map_err(wrong)?;
        Ok(Revisited::Changed(Box::new(decoded)))
    }
}

impl Download {
    /// The value of a header; case does not count in names.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Undoes a coding that was not asked for. A file that is compressed itself stays as it is: servers tell its own
    /// compression as a coding.
    fn decoded(mut self) -> Result<Self, String> {
        let coding = self.field("Content-Encoding").unwrap_or_default().trim();
        let coding = coding.to_ascii_lowercase();
        if coding.is_empty() || coding == "identity" || is_compressed_file(&self.url) {
            return Ok(self);
        }
        let body = Box::new(BufReader::new(self.body));
        let Some(plain) = decoded(body, &coding) else {
            return Err(format!(
                "it comes with the Content-Encoding `{coding}`, which was not asked for and cannot be undone"
            ));
        };
        self.body = plain;
        let is_of_coding = |name: &str| {
            name.eq_ignore_ascii_case("Content-Encoding")
                || name.eq_ignore_ascii_case("Content-Length")
        };
        self.fields.retain(|(name, _)| !is_of_coding(name));
        Ok(self)
    }
}

/// Whether a URL names a compressed file.
fn is_compressed_file(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        let mut endings = COMPRESSED.iter();
        endings.any(|compressed| compressed.eq_ignore_ascii_case(ending))
    })
}

const COMPRESSED: [&str; 8] = ["gz", "tgz", "gzip", "svgz", "z", "zst", "br", "warc"];

impl Read for Download {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.body.read(out)
    }
}
