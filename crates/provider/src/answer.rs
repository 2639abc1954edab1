//! One request in, one answer out. The verbs are in `verbs`.

use std::io::Write;

use oai::{Arguments, ErrorCode, ListVerb, MetadataPrefix, Request, Response, TokenKey, Verb};

use crate::view::View;
use crate::{Description, Error, PageLimits, assets};

/// A repository, as far as its answers have it in common.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Where the repository answers.
    pub base_url: String,
    /// Its name for people.
    pub repository_name: String,
    /// Whom to write to.
    pub admin_emails: Vec<String>,
    /// Containers that say more about it.
    pub descriptions: Vec<Description>,
    /// Content codings the server offers besides identity.
    pub compressions: Vec<String>,
    /// How long pages may get.
    pub limits: PageLimits,
    /// The secret of its tokens.
    pub token_key: TokenKey,
}

/// The outcome of a request, for the log and the counters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The verb, if it was one of the six.
    pub verb: Option<Verb>,
    /// Records or headers given.
    pub records: u64,
    /// The code of the first error, if the answer was one.
    pub error: Option<ErrorCode>,
}

/// A failure on the way to an answer: one to be told in XML, or one that prevents it.
pub(crate) enum Failure {
    Protocol(Vec<oai::Error>),
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Other(error.into())
    }
}

impl From<oai::Error> for Failure {
    fn from(error: oai::Error) -> Self {
        Self::Protocol(vec![error])
    }
}

/// Whether a request may take long to answer: lists, sets that are asked for type by type, and records that may be long.
pub fn takes_long(arguments: &Arguments) -> bool {
    Verb::of(arguments).is_ok_and(|verb| match verb {
        Verb::ListIdentifiers | Verb::ListRecords | Verb::ListSets | Verb::GetRecord => true,
        Verb::Identify | Verb::ListMetadataFormats => false,
    })
}

/// Whether a request goes on with a list that began earlier. Such a list ends where it was to end when it began: what
/// changed since is not in it.
pub fn goes_on(arguments: &Arguments) -> bool {
    arguments.get("resumptionToken").is_some()
}

impl Provider {
    /// Answers one request from a view.
    ///
    /// Nothing is written before it is clear whether the answer is an error of the protocol. A failure
    /// after that leaves the output incomplete: the caller must break the connection, not end it.
    pub fn answer<V: View, W: Write>(
        &self,
        view: &V,
        arguments: &Arguments,
        mut out: W,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome {
            verb: Verb::of(arguments).ok(),
            ..Outcome::default()
        };
        let answer = Answer {
            provider: self,
            view,
            arguments,
        };
        match answer.write(&mut out) {
            Ok(records) => outcome.records = records,
            Err(Failure::Other(error)) => return Err(error),
            Err(Failure::Protocol(errors)) => {
                outcome.error = errors.first().map(|error| error.code);
                let style_sheet = assets::path(&self.base_url, assets::STYLE_SHEET);
                Response::errors(
                    out,
                    Some(&style_sheet),
                    view.response_date(),
                    &self.base_url,
                    arguments,
                    &errors,
                )?;
            }
        }
        Ok(outcome)
    }
}

/// One answer in the making. Every method that can fail with an error of the protocol does so before
/// it writes.
pub(crate) struct Answer<'a, V> {
    pub(crate) provider: &'a Provider,
    pub(crate) view: &'a V,
    arguments: &'a Arguments,
}

impl<V: View> Answer<'_, V> {
    fn write<W: Write>(&self, out: W) -> Result<u64, Failure> {
        let request = Request::parse(self.arguments).map_err(Failure::Protocol)?;
        match request {
            Request::Identify => self.identify(out),
            Request::ListMetadataFormats { identifier } => {
                self.list_metadata_formats(out, identifier)
            }
            Request::ListSets { resumption_token } => self.list_sets(out, resumption_token),
            Request::GetRecord {
                identifier,
                metadata_prefix,
            } => self.get_record(out, &identifier, &metadata_prefix),
            Request::ListIdentifiers(list) => self.list(out, ListVerb::ListIdentifiers, list),
            Request::ListRecords(list) => self.list(out, ListVerb::ListRecords, list),
        }
    }

    /// An item that exists, else the error for one that does not.
    pub(crate) fn item(&self, identifier: &str) -> Result<V::Item, Failure> {
        let item = self.view.item(identifier)?;
        item.ok_or_else(|| no_item(identifier).into())
    }

    pub(crate) fn check_format(&self, prefix: &MetadataPrefix) -> Result<(), Failure> {
        let formats = self.view.metadata_formats();
        if formats
            .iter()
            .any(|format| format.prefix == prefix.as_str())
        {
            return Ok(());
        }
        let offered: Vec<_> = formats
            .iter()
            .map(|format| format.prefix.as_str())
            .collect();
        let message = format!(
            "unknown metadata prefix `{prefix}`; this repository offers {}",
            offered.join(", ")
        );
        Err(oai::Error::new(ErrorCode::CannotDisseminateFormat, message).into())
    }

    pub(crate) fn begin<W: Write>(&self, out: W, verb: Verb) -> Result<Response<W>, Failure> {
        let style_sheet = assets::path(&self.provider.base_url, assets::STYLE_SHEET);
        let mut response = Response::begin(
            out,
            Some(&style_sheet),
            self.view.response_date(),
            &self.provider.base_url,
            self.arguments,
        )?;
        response.begin_verb(verb)?;
        Ok(response)
    }
}

pub(crate) fn no_item(identifier: &str) -> oai::Error {
    let message = format!("there is no item `{identifier}` here");
    oai::Error::new(ErrorCode::IdDoesNotExist, message)
}

pub(crate) fn busy() -> Error {
    let message = "as many programs as may run for harvesters at once are running";
    Error::Unavailable(message.to_owned())
}

pub(crate) fn end<W: Write>(
    mut response: Response<W>,
    verb: Verb,
    records: u64,
) -> Result<u64, Failure> {
    response.end_verb(verb)?;
    response.finish()?;
    Ok(records)
}
