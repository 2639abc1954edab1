//! One resource of a list: got if it has changed, checked, and made a record of in `oai_didl`.
//!
//! The record holds the headers of the answer and the digests, so that the next request can be conditional. The bytes
//! stand in no record: they wait in a spool until the record is stored.

use std::io::{self, Read, Write};

use oai::Datestamp;
use oai::format::{didl, http_header};
use oai::xml::{Writer, is_legal};

use super::{Entry, Lists};
use crate::client::Revisited;
use crate::record::{Header, Record, moment};
use crate::unpack::{self, Checked, Digest, Spool, SpooledBody};
use crate::{Download, Error, Misbehaviour, Repository, Validators};

/// The rules for where redirects lead.
pub trait Admission {
    /// Whether a URL may be asked for. May wait until it may.
    fn admits(&self, url: &str) -> Result<bool, Error>;
}

/// Gets resources.
#[derive(Clone, Copy)]
pub struct Fetch<'a> {
    /// The lists that name it.
    pub lists: &'a Lists,
    /// The site.
    pub repository: &'a Repository,
    /// Where the bytes wait.
    pub spool: &'a dyn Spool,
    /// Asked about each redirect.
    pub admission: &'a dyn Admission,
}

/// The state of a resource when it was last got, as its record tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredState {
    /// The marks for a conditional request.
    pub validators: Validators,
    /// The digests of the bytes.
    pub digests: Vec<Digest>,
    /// The length in bytes.
    pub length: Option<u64>,
    /// When it was got, by the server's clock, in seconds.
    pub fetched: Option<i64>,
}

/// The answer.
#[derive(Debug)]
pub enum Fetched {
    /// The resource is in the state that is known.
    Unchanged,
    /// It does not exist any more: the server answers 404 or 410.
    Gone(u16),
    /// It is new, or has changed.
    Record(Box<Record>),
    /// It is not what the list says, or too large.
    Unusable(String),
    /// It is redirected to another host, which does not belong to the site.
    Elsewhere(String),
    /// It is redirected to a URL that must not be asked for.
    Forbidden(String),
}

impl StoredState {
    /// Reads a record that was made by [`Fetch::get`]. `None` if it is another one.
    pub fn of(record: &[u8]) -> Option<Self> {
        let resource = unpack::resources(record).ok()?.into_iter().next()?;
        let http = resource.http?;
        let text = |name| http.field(name).map(str::to_owned);
        let fetched = http
            .field("Date")
            .and_then(|date| httpdate::parse_http_date(date).ok());
        let fetched = fetched.and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok());
        Some(Self {
            validators: Validators {
                etag: text("ETag"),
                last_modified: text("Last-Modified"),
            },
            length: http
                .field("Content-Length")
                .and_then(|length| length.parse().ok()),
            fetched: fetched.and_then(|since| i64::try_from(since.as_secs()).ok()),
            digests: resource.digests,
        })
    }

    /// Whether the bytes are those that a list tells the digests of. `None` if the digests are of other kinds.
    pub fn has_digests(&self, listed: &[Digest]) -> Option<bool> {
        let mut common = listed.iter().filter_map(|listed| {
            let mut own = self.digests.iter();
            let own = own.find(|own| own.algorithm == listed.algorithm)?;
            Some(own.hex == listed.hex)
        });
        let first = common.next()?;
        Some(first && common.all(|is_same| is_same))
    }
}

impl Fetch<'_> {
    /// Gets the resource of an entry, unless it is in a state that is known. What breaks off is asked for again.
    pub fn get(&self, entry: &Entry, known: Option<&StoredState>) -> Result<Fetched, Error> {
        let options = self.repository.client().options();
        let validators = known
            .map(|known| known.validators.clone())
            .unwrap_or_default();
        let mut attempt = 1;
        loop {
            let download = match self.ask(&entry.url, &validators)? {
                Ok(download) => download,
                Err(fetched) => return Ok(fetched),
            };
            let reason = match self.take(entry, download, known)? {
                Ok(fetched) => return Ok(fetched),
                Err(reason) => reason,
            };
            if attempt >= ATTEMPTS {
                return Ok(Fetched::Unusable(reason));
            }
            options
                .pace
                .sleep(options.first_wait * attempt, &options.stop);
            self.repository.client().check_stop()?;
            attempt += 1;
        }
    }

    /// Asks for a resource and follows redirects; the inner error is an answer without a body.
    fn ask(&self, url: &str, validators: &Validators) -> Result<Result<Download, Fetched>, Error> {
        let mut url = url.to_owned();
        for _ in 0..=self.repository.client().options().redirects {
            let to = match self.repository.revisit_step(&url, validators)? {
                Revisited::Unchanged => return Ok(Err(Fetched::Unchanged)),
                Revisited::Gone(status) => return Ok(Err(Fetched::Gone(status))),
                Revisited::Changed(download) => return Ok(Ok(*download)),
                Revisited::Redirected(to) => to,
            };
            if let Some(host) = self.lists.foreign_host(&to) {
                return Ok(Err(Fetched::Elsewhere(host)));
            }
            if !self.admission.admits(&to)? {
                return Ok(Err(Fetched::Forbidden(to)));
            }
            url = to;
        }
        Err(Error::from(Misbehaviour::Redirect("itself again and again".to_owned())).at(&url))
    }

    /// Takes an answer; the inner error is a reason to ask again.
    fn take(
        &self,
        entry: &Entry,
        mut download: Download,
        known: Option<&StoredState>,
    ) -> Result<Result<Fetched, String>, Error> {
        let mut body = SpooledBody::begin(self.spool);
        let mut checked = Checked::new(io::sink(), &entry.url, &entry.metadata.digests);
        let mut block = vec![0; BLOCK];
        loop {
            let length = match download.read(&mut block) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) => {
                    self.repository.client().check_stop()?;
                    return Ok(Err(format!("it breaks off: {error}")));
                }
            };
            let _ = checked.write_all(&block[..length]);
            if !body.write(&block[..length]) {
                break;
            }
        }
        if let Some(limit) = body.exceeded_limit() {
            let reason =
                format!("it is longer than {limit} bytes; raise --resource-limit to have it");
            return Ok(Ok(Fetched::Unusable(reason)));
        }
        // Bytes that could not be written are the store's to tell.
        let length = body.length();
        if let Some(listed) = entry.metadata.length.filter(|listed| *listed != length) {
            let reason = format!(
                "it has {length} bytes, and the list says {listed}; it may have changed since"
            );
            return Ok(Err(reason));
        }
        if let Err(error) = checked.finish() {
            return Ok(Err(format!(
                "{error}; it may have changed since the list was written"
            )));
        }
        let value = body.finish(0);
        let is_same = known.is_some_and(|known| {
            let own = known.digests.iter();
            let mut own = own.filter(|own| own.algorithm == unpack::Algorithm::Sha256);
            own.any(|own| own.hex == value.sha256())
        });
        // Without a date in the list, only the bytes tell whether something has changed.
        if is_same && entry.lastmod.is_none() {
            return Ok(Ok(Fetched::Unchanged));
        }
        Ok(Ok(Fetched::Record(Box::new(
            self.record(entry, &download, value, length),
        ))))
    }

    fn record(
        &self,
        entry: &Entry,
        download: &Download,
        mut value: unpack::SpooledValue,
        length: u64,
    ) -> Record {
        let told = entry
            .lastmod
            .as_deref()
            .or(entry.metadata.datetime.as_deref());
        let modified = || {
            let date = httpdate::parse_http_date(download.field("Last-Modified")?).ok()?;
            let since = date.duration_since(std::time::UNIX_EPOCH).ok()?;
            Some(Datestamp::from_seconds(
                i64::try_from(since.as_secs()).ok()?,
            ))
        };
        let now = || {
            let now = self.repository.client().options().pace.now();
            let since = now
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap_or_default();
            Datestamp::from_seconds(i64::try_from(since.as_secs()).unwrap_or(0))
        };
        let datestamp = told.and_then(moment).or_else(modified).unwrap_or_else(now);
        let header = Header {
            identifier: entry.url.clone(),
            datestamp: datestamp.to_string(),
            ..Header::default()
        };
        let mut fields = fields(download);
        if !fields.iter().any(|(name, _)| name == "Content-Length") {
            fields.push(("Content-Length".to_owned(), length.to_string()));
        }
        let mut digests = vec![("sha-256", value.sha256().to_owned())];
        for digest in &entry.metadata.digests {
            if digest.algorithm != unpack::Algorithm::Sha256 {
                digests.push((digest.algorithm.name(), digest.hex.clone()));
            }
        }
        let media_type = download
            .field("Content-Type")
            .or(entry.metadata.media_type.as_deref());
        let media_type = media_type
            .and_then(|it| it.split(';').next())
            .map(str::trim);
        let media_type = media_type
            .filter(|it| !it.is_empty())
            .unwrap_or(UNKNOWN_TYPE);
        let (xml, at) = written(&header, media_type, (download.status, &fields), &digests)
            .unwrap_or_else(|_| unreachable!("memory takes all that is written"));
        value.move_to(at);
        Record {
            header,
            xml,
            repairs: Vec::new(),
            values: vec![value],
        }
    }
}

/// The record of a resource that a list tells to be deleted.
pub(crate) fn deleted(url: &str, datestamp: &str) -> Record {
    Record {
        header: Header {
            identifier: url.to_owned(),
            datestamp: datestamp.to_owned(),
            set_specs: Vec::new(),
            deleted: true,
        },
        xml: Vec::new(),
        repairs: Vec::new(),
        values: Vec::new(),
    }
}

impl Entry {
    /// The record of the entry's resource, which the list tells to be deleted.
    pub fn deletion(&self) -> Record {
        let told = self
            .metadata
            .datetime
            .as_deref()
            .or(self.lastmod.as_deref());
        let datestamp = told.and_then(moment).map(|date| date.to_string());
        deleted(&self.url, &datestamp.unwrap_or_default())
    }
}

/// The headers that tell something of the resource, and not of the exchange.
fn fields(download: &Download) -> Vec<(String, String)> {
    let plain = |value: &str| value.chars().filter(|c| is_legal(*c)).collect::<String>();
    let kept = KEPT.iter().filter_map(|name| {
        let value = download.field(name)?;
        Some(((*name).to_owned(), plain(value)))
    });
    kept.collect()
}

/// The record as XML, and where in it the text of the value would stand.
fn written(
    header: &Header,
    media_type: &str,
    (status, fields): (u16, &[(String, String)]),
    digests: &[(&str, String)],
) -> io::Result<(Vec<u8>, usize)> {
    let mut out = Vec::new();
    let mut at = 0;
    let mut xml = Writer::new(&mut out);
    xml.start("record", &[("xmlns", OAI)])?;
    xml.start("header", &[])?;
    xml.element("identifier", &[], &header.identifier)?;
    xml.element("datestamp", &[], &header.datestamp)?;
    xml.end("header")?;
    xml.start("metadata", &[])?;
    let document = format!("{}#{}", header.identifier, header.datestamp);
    let mut didl = didl::Didl::begin(&mut xml, &document, &header.identifier)?;
    didl.modified(&header.datestamp)?;
    didl.descriptor(|xml| http_header::write(xml, http_header::NAMESPACE, status, fields))?;
    didl.begin_component()?;
    let digests: Vec<_> = digests
        .iter()
        .map(|(name, hex)| (*name, hex.as_str()))
        .collect();
    didl.digests(&digests)?;
    didl.by_encoded_value(media_type, |out| {
        at = out.len();
        Ok(())
    })?;
    didl.finish_by_reference(media_type, &header.identifier)?;
    xml.end("metadata")?;
    xml.end("record")?;
    Ok((out, at))
}

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";
const UNKNOWN_TYPE: &str = "application/octet-stream";
const KEPT: [&str; 8] = [
    "Date",
    "Content-Type",
    "Content-Length",
    "Content-Language",
    "Content-Encoding",
    "Content-Disposition",
    "Last-Modified",
    "ETag",
];
const ATTEMPTS: u32 = 3;
const BLOCK: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_tells_the_state_of_its_resource_and_where_its_bytes_go() {
        let header = Header {
            identifier: "http://a.example/x?a=1&b=2".to_owned(),
            datestamp: "2024-01-02T03:04:05Z".to_owned(),
            ..Header::default()
        };
        let fields = [
            ("ETag", "\"a<b\""),
            ("Content-Length", "5"),
            ("Date", "Tue, 02 Jan 2024 03:04:06 GMT"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let digests = [("sha-256", "ab".to_owned()), ("md5", "cd".to_owned())];

        let (xml, at) = written(&header, "text/plain", (200, &fields), &digests).unwrap();

        let mut resources = unpack::resources(&xml).unwrap();
        assert_eq!(resources[0].url, header.identifier);
        assert_eq!(resources[0].reference.as_deref(), Some(&*header.identifier));
        let stored = StoredState::of(&xml).unwrap();
        assert_eq!(stored.validators.etag.as_deref(), Some("\"a<b\""));
        assert_eq!(
            (stored.length, stored.fetched),
            (Some(5), Some(1_704_164_646))
        );
        let listed = |algorithm, hex: &str| Digest {
            algorithm,
            hex: hex.to_owned(),
        };
        assert_eq!(
            stored.has_digests(&[listed(unpack::Algorithm::Md5, "cd")]),
            Some(true)
        );
        assert_eq!(
            stored.has_digests(&[listed(unpack::Algorithm::Md5, "ce")]),
            Some(false)
        );
        assert_eq!(
            stored.has_digests(&[listed(unpack::Algorithm::Sha1, "cd")]),
            None
        );
        let mut body = SpooledBody::begin(&Memory);
        assert!(body.write(b"hello"));
        let left = unpack::attach(&mut resources, vec![body.finish(at)]);
        assert!(left.is_empty());
    }

    #[derive(Debug)]
    struct Memory;

    impl Spool for Memory {
        fn create(&self) -> io::Result<unpack::Handle> {
            Ok(Box::new(Kept(io::Cursor::new(Vec::new()))))
        }

        fn limit(&self) -> u64 {
            1000
        }
    }

    #[derive(Debug)]
    struct Kept(io::Cursor<Vec<u8>>);

    impl unpack::Spooled for Kept {
        fn place(
            self: Box<Self>,
            _: &str,
            _: Option<std::time::SystemTime>,
        ) -> Result<(), unpack::PlaceError> {
            Ok(())
        }
    }

    impl Read for Kept {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(out)
        }
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl io::Seek for Kept {
        fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }
}
