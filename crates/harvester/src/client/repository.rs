//! The six verbs of one repository.

use std::sync::Arc;

use oai::{ErrorCode, Granularity};
use reqwest::Url;

use super::list::{List, headers, records, sets};
use super::query::{Patience, Request, base_url, shown};
use super::{Arguments, Client, Credentials, Headers, PageStream, Records, same_host};
use crate::error::{Error, ErrorKind, Incompatibility, Misbehaviour};
use crate::read::{PageItem, Report};
use crate::record::{Identity, MetadataFormat, Record, Set, moment};
use crate::unpack::Spool;

/// A repository that can be asked.
///
/// ```no_run
/// use harvester::{Client, ClientOptions};
///
/// let client = Client::new(ClientOptions::default())?;
/// let repository = client.repository("http://repository.example/oai")?;
/// println!("{}", repository.identify()?.repository_name);
/// for record in repository.list_records("oai_dc", None, None, None) {
///     println!("{}", record?.header.identifier);
/// }
/// # Ok::<(), harvester::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Repository {
    client: Client,
    base: Url,
    credentials: Option<Credentials>,
    spool: Option<Arc<dyn Spool>>,
    patience: Patience,
    /// Whether it is a file that holds all answers.
    is_static: bool,
}

impl Repository {
    pub(super) fn new(client: Client, text: &str) -> Result<Self, Error> {
        let mut base = base_url(text)?;
        let mut credentials = client.options().credentials.clone();
        if !base.username().is_empty() || base.password().is_some() {
            credentials.get_or_insert_with(|| Credentials::Basic {
                user: decoded(base.username()),
                password: decoded(base.password().unwrap_or_default()),
            });
            let _ = base.set_username("");
            let _ = base.set_password(None);
        }
        client.trust(&base);
        Ok(Self {
            client,
            base,
            credentials,
            spool: None,
            patience: Patience::Usual,
            is_static: false,
        })
    }

    /// The same repository, whose records are given without the base64 of large files: it is decoded and written while it is
    /// read, and [`crate::unpack::attach`] joins it to its resource.
    pub fn spooling(&self, spool: Arc<dyn Spool>) -> Self {
        Self {
            spool: Some(spool),
            ..self.clone()
        }
    }

    /// The static repository at the same URL: a file with the answers to all verbs, which is read as a whole for each.
    pub fn as_static(&self) -> Self {
        Self {
            is_static: true,
            ..self.clone()
        }
    }

    /// Whether it is a file that holds all answers.
    pub fn is_static(&self) -> bool {
        self.is_static
    }

    /// The same repository, asked twice at most where its server fails: for verbs that a harvest can do without.
    pub fn brief(&self) -> Self {
        self.with_patience(Patience::Brief)
    }

    /// The same repository, asked twice at most where its server fails, unless the server says that it is busy.
    pub fn brief_unless_busy(&self) -> Self {
        self.with_patience(Patience::BriefUnlessBusy)
    }

    pub(crate) fn with_patience(&self, patience: Patience) -> Self {
        Self {
            patience,
            ..self.clone()
        }
    }

    /// The same repository, asked as everybody may ask it.
    pub fn without_credentials(&self) -> Self {
        Self {
            credentials: None,
            ..self.clone()
        }
    }

    /// Fails if the client was asked to stop.
    pub fn check_stop(&self) -> Result<(), Error> {
        self.client.check_stop()
    }

    /// Where the repository is, without credentials.
    pub fn base_url(&self) -> String {
        shown(&self.base)
    }

    /// Where long values go, if they are to be taken out of records.
    pub(super) fn spool(&self) -> Option<Arc<dyn Spool>> {
        self.spool.clone()
    }

    /// The client that asks.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The description of the repository by itself.
    pub fn identify(&self) -> Result<Identity, Error> {
        let (_, report) = self.read_whole(&[("verb", "Identify")])?;
        if report.identity.is_empty() {
            self.refuse_errors(&report, &[])?;
        }
        let identity = identity(&report).map_err(|error| error.at(&self.base_url()))?;
        match identity.protocol_version.as_str() {
            "2.0" | "" => Ok(identity),
            other => Err(Incompatibility::ProtocolVersion(other.to_owned()).into()),
        }
    }

    /// Whether the repository answers anything at all, so that a failure lies with one request. Any verb may be broken.
    pub fn is_alive(&self) -> bool {
        let brief = self.brief();
        brief.identify().is_ok()
            || brief.list_metadata_formats(None).is_ok()
            || brief.list_sets().next().is_none_or(|set| set.is_ok())
            || brief.has_lists()
    }

    /// Whether lists are answered in the protocol's own words.
    pub fn has_lists(&self) -> bool {
        let mut headers = self.list_identifiers("oai_dc", None, None, None);
        match headers.next() {
            Some(Err(error)) => matches!(
                error.kind(),
                ErrorKind::RepositoryIncompatible(Incompatibility::MetadataPrefix { .. })
            ),
            Some(Ok(_)) | None => true,
        }
    }

    /// The formats of the repository, or of one item.
    pub fn list_metadata_formats(
        &self,
        identifier: Option<&str>,
    ) -> Result<Vec<MetadataFormat>, Error> {
        let mut arguments = vec![("verb", "ListMetadataFormats")];
        arguments.extend(identifier.map(|identifier| ("identifier", identifier)));
        let (found, report) = self.read_whole(&arguments)?;
        if code(&report) == Some(Ok(ErrorCode::NoMetadataFormats)) {
            return Ok(Vec::new());
        }
        if found.is_empty() {
            self.refuse_errors(&report, &arguments)?;
        }
        let formats = found.into_iter().filter_map(|found| match found {
            PageItem::MetadataFormat(format) => Some(format),
            _ => None,
        });
        Ok(formats.collect())
    }

    /// The sets of the repository; none if it has no sets.
    pub fn list_sets(&self) -> impl Iterator<Item = Result<Set, Error>> + use<> {
        List::new(self.clone(), "ListSets", &[], sets)
    }

    /// One record.
    pub fn get_record(&self, identifier: &str, metadata_prefix: &str) -> Result<Record, Error> {
        let arguments = [
            ("verb", "GetRecord"),
            ("identifier", identifier),
            ("metadataPrefix", metadata_prefix),
        ];
        let (found, report) = self.read_whole(&arguments)?;
        if found.is_empty() {
            self.refuse_errors(&report, &arguments)?;
        }
        for found in found {
            match found {
                PageItem::Record(record) => {
                    let given = &record.header.identifier;
                    // Quirk: some repositories do not tell upper from lower case.
                    if given.trim().eq_ignore_ascii_case(identifier.trim()) {
                        return Ok(*record);
                    }
                    let misbehaviour = Misbehaviour::OtherRecord(given.clone());
                    return Err(Error::from(misbehaviour).at(&self.request(&arguments)));
                }
                PageItem::LeftOut(left_out) => {
                    let misbehaviour = Misbehaviour::Broken {
                        offset: 0,
                        after: None,
                        reason: left_out.reason,
                    };
                    return Err(Error::from(misbehaviour).at(&self.request(&arguments)));
                }
                _ => {}
            }
        }
        Err(Error::from(Misbehaviour::Missing("record")).at(&self.request(&arguments)))
    }

    /// The headers of all records, page by page. Dates are sent as they are given.
    pub fn list_identifiers(
        &self,
        metadata_prefix: &str,
        set: Option<&str>,
        from: Option<&str>,
        until: Option<&str>,
    ) -> Headers {
        let arguments = selection(metadata_prefix, set, from, until);
        List::new(self.clone(), "ListIdentifiers", &arguments, headers)
    }

    /// How many records a list has, as far as the first page of their headers tells.
    pub fn list_size(
        &self,
        metadata_prefix: &str,
        set: Option<&str>,
        from: Option<&str>,
        until: Option<&str>,
    ) -> Result<Option<u64>, Error> {
        let mut arguments = vec![("verb", "ListIdentifiers")];
        arguments.extend(selection(metadata_prefix, set, from, until));
        let (found, report) = self.read_whole(&arguments)?;
        if code(&report) == Some(Ok(ErrorCode::NoRecordsMatch)) {
            return Ok(Some(0));
        }
        self.refuse_errors(&report, &arguments)?;
        let token = report.token.unwrap_or_default();
        Ok(match token.value.is_empty() {
            true => Some(found.len() as u64),
            false => token.complete_list_size,
        })
    }

    /// All records, page by page. Dates are sent as they are given.
    pub fn list_records(
        &self,
        metadata_prefix: &str,
        set: Option<&str>,
        from: Option<&str>,
        until: Option<&str>,
    ) -> Records {
        let arguments = selection(metadata_prefix, set, from, until);
        List::new(self.clone(), "ListRecords", &arguments, records)
    }

    /// The credentials: the client's, or those in its URL.
    pub fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    /// The credentials of the repository, if the URL is on its own host.
    pub(super) fn credentials_for(&self, url: &Url) -> Option<&Credentials> {
        self.credentials().filter(|_| same_host(&self.base, url))
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// One page, not asked for yet.
    pub(crate) fn page(&self, arguments: &Arguments<'_>) -> PageStream {
        if self.is_static {
            let request = Request::resource(&self.base).with_patience(self.patience);
            return PageStream::new(self.clone(), request).of_static(arguments);
        }
        let request = Request::new(&self.base, arguments).with_patience(self.patience);
        PageStream::new(self.clone(), request)
    }

    /// A request for messages.
    pub(crate) fn request(&self, arguments: &Arguments<'_>) -> String {
        Request::new(&self.base, arguments).shown()
    }

    fn read_whole(&self, arguments: &Arguments<'_>) -> Result<(Vec<PageItem>, Report), Error> {
        let mut page = self.page(arguments);
        let mut all = Vec::new();
        while let Some(found) = page.next()? {
            if matches!(found, PageItem::Void) {
                all.clear();
                continue;
            }
            if all.len() == MOST_FOUND {
                break;
            }
            all.push(found);
        }
        Ok((all, page.finish().0))
    }

    pub(super) fn refuse_errors(
        &self,
        report: &Report,
        arguments: &Arguments<'_>,
    ) -> Result<(), Error> {
        match refusal(report, arguments) {
            Some(error) => Err(error.at(&self.request(arguments))),
            None => Ok(()),
        }
    }
}

/// The first error of an answer: its code, or what stands in its place.
pub(crate) fn code(report: &Report) -> Option<Result<ErrorCode, &str>> {
    let (code, _) = report.errors.first()?;
    let known = CODES.into_iter().find(|known| known.as_str() == code);
    Some(known.ok_or(code.as_str()))
}

/// The error for an answer with errors.
pub(crate) fn refusal(report: &Report, arguments: &Arguments<'_>) -> Option<Error> {
    let (sent, message) = report.errors.first()?;
    let value = |name: &str| {
        let argument = arguments.iter().find(|(argument, _)| *argument == name);
        argument.map_or_else(String::new, |(_, value)| (*value).to_owned())
    };
    let message = message.chars().take(500).collect::<String>();
    let known = code(report)?;
    let Ok(known) = known else {
        return Some(
            Misbehaviour::UnknownError {
                code: sent.chars().take(100).collect(),
                message,
            }
            .into(),
        );
    };
    Some(match known {
        ErrorCode::BadArgument => Incompatibility::Refused(message).into(),
        ErrorCode::CannotDisseminateFormat => Incompatibility::MetadataPrefix {
            prefix: value("metadataPrefix"),
            offered: Vec::new(),
        }
        .into(),
        ErrorCode::IdDoesNotExist => Incompatibility::Identifier(value("identifier")).into(),
        ErrorCode::NoSetHierarchy => Incompatibility::NoSets.into(),
        _ => Misbehaviour::UnfittingError {
            code: known.to_string(),
            message,
        }
        .into(),
    })
}

fn identity(report: &Report) -> Result<Identity, Error> {
    if report.verb.as_deref() != Some("Identify") {
        return Err(Misbehaviour::Missing("Identify").into());
    }
    let texts = |name: &'static str| {
        let children = report.identity.iter();
        children
            .filter(move |(child, _)| child == name)
            .map(|(_, text)| text.clone())
    };
    let text = |name| texts(name).next().unwrap_or_default();
    let earliest = text("earliestDatestamp");
    // The stated granularity wins over the look of the datestamp; days are safe if none is stated.
    let granularity = match text("granularity").to_ascii_lowercase().as_str() {
        "yyyy-mm-ddthh:mm:ssz" => Granularity::Second,
        "yyyy-mm-dd" => Granularity::Day,
        _ if earliest.contains('T') => Granularity::Second,
        _ => Granularity::Day,
    };
    Ok(Identity {
        repository_name: text("repositoryName"),
        base_url: text("baseURL"),
        protocol_version: text("protocolVersion"),
        admin_emails: texts("adminEmail").collect(),
        earliest_datestamp: moment(&earliest),
        deleted_record: text("deletedRecord"),
        granularity,
    })
}

fn selection<'a>(
    metadata_prefix: &'a str,
    set: Option<&'a str>,
    from: Option<&'a str>,
    until: Option<&'a str>,
) -> Vec<(&'static str, &'a str)> {
    let mut arguments = vec![("metadataPrefix", metadata_prefix)];
    arguments.extend(set.map(|set| ("set", set)));
    arguments.extend(from.map(|from| ("from", from)));
    arguments.extend(until.map(|until| ("until", until)));
    arguments
}

/// Undoes the percent encoding of a name or password in a URL.
fn decoded(text: &str) -> String {
    let arguments = oai::Arguments::parse(&format!("x={}", text.replace('+', "%2B")));
    arguments.get("x").unwrap_or_default().to_owned()
}

const CODES: [ErrorCode; 8] = [
    ErrorCode::BadArgument,
    ErrorCode::BadResumptionToken,
    ErrorCode::BadVerb,
    ErrorCode::CannotDisseminateFormat,
    ErrorCode::IdDoesNotExist,
    ErrorCode::NoRecordsMatch,
    ErrorCode::NoMetadataFormats,
    ErrorCode::NoSetHierarchy,
];
/// Nothing that is read as a whole has more parts.
const MOST_FOUND: usize = 10_000;
