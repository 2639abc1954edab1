//! Errors, sorted by whose move is next.

use std::fmt;
use std::time::Duration;

use crate::client::span;

/// A failure with the request it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    kind: ErrorKind,
    request: Option<String>,
}

/// Whose move is next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ErrorKind {
    /// The repository broke the protocol: its people have to mend it.
    #[error("the repository breaks the protocol: {0}")]
    RepositoryMisbehaved(Misbehaviour),
    /// The repository lacks what was asked of it: ask for something else.
    #[error("the repository does not offer this: {0}")]
    RepositoryIncompatible(Incompatibility),
    /// The way to the repository, or the repository for now: try later.
    #[error("the repository cannot be reached: {0}")]
    Transport(String),
    /// The repository says that it is overloaded or away for a while: try later.
    #[error("the repository asks to come back later: {0}")]
    Busy(String),
    /// The repository asks for a longer wait than the client makes: try again after it.
    #[error(
        "the repository asks to wait {} (Retry-After), longer than the limit of {}",
        span(*.wait),
        span(*.limit)
    )]
    AskedToWait {
        /// The realm or scheme it asks for.
        wait: Duration,
        /// The longest wait that the client makes.
        limit: Duration,
    },
    /// The call cannot be carried out: the caller's move.
    #[error("{0}")]
    Usage(String),
    /// The caller asked to stop.
    #[error("stopped as asked")]
    Stopped,
}

/// One way of breaking the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misbehaviour {
    /// A web page, mostly an error page, where XML was due.
    #[error("it answers with a web page instead of XML")]
    WebPage,
    /// The body is not XML from its first byte on.
    #[error("its answer is not XML; it begins with `{0}`")]
    NotXml(String),
    /// XML of another kind.
    #[error("its answer is XML with the root element `{0}`, not `OAI-PMH`")]
    NotOaiPmh(String),
    /// XML of another kind where a static repository was due.
    #[error("it is XML with the root element `{0}`, not a static repository")]
    NotStatic(String),
    /// A document type declaration: the door to entity bombs and foreign files.
    #[error("its answer has a document type declaration, which is not allowed and not read")]
    DocumentType,
    /// The XML breaks.
    #[error("its answer cannot be read from byte {offset} on{}: {reason}", behind(.after))]
    Broken {
        /// Where, counted in decoded bytes.
        offset: u64,
        /// The last record that could be read.
        after: Option<String>,
        /// The fault there.
        reason: String,
    },
    /// The body ends before the document does.
    #[error("its answer ends in the middle, at byte {offset}{}", behind(.after))]
    Truncated {
        /// Where, counted in decoded bytes.
        offset: u64,
        /// The last record that could be read.
        after: Option<String>,
    },
    /// Elements within elements within elements.
    #[error("its answer nests elements more than {limit} deep{}", behind(.after))]
    TooDeep {
        /// How deep is read.
        limit: usize,
        /// The last record that could be read.
        after: Option<String>,
    },
    /// More bytes than are read.
    #[error("its answer is longer than {limit} bytes{}", behind(.after))]
    TooLong {
        /// How many are read.
        limit: u64,
        /// The last record that could be read.
        after: Option<String>,
    },
    /// Bytes that are no text.
    #[error("its answer has more than {limit} bytes or characters that XML forbids{}", behind(.after))]
    NotText {
        /// How many are tolerated.
        limit: usize,
        /// The last record that could be read.
        after: Option<String>,
    },
    /// The same resumptionToken again and again.
    #[error("it gives the resumptionToken `{0}` again, so the list would never end")]
    TokenRepeated(String),
    /// A list that begins again and again.
    #[error("its list repeats itself: the page that begins with `{0}` came before")]
    ListRepeated(String),
    /// Pages without records, each with a token.
    #[error("{0} pages in a row are empty and promise more")]
    EmptyPages(u32),
    /// Tokens that expire before they can be used.
    #[error("its resumptionTokens expire before the list can be read, even in small parts")]
    TokensExpire,
    /// An answer without the element that was asked for.
    #[error("its answer lacks `{0}`")]
    Missing(&'static str),
    /// Another record than the one that was asked for.
    #[error("it answers with another record, `{0}`")]
    OtherRecord(String),
    /// An error code that the protocol does not have.
    #[error("it answers with the unknown error `{code}`: {message}")]
    UnknownError {
        /// As sent.
        code: String,
        /// As sent.
        message: String,
    },
    /// An error that does not fit what was asked.
    #[error("it answers `{code}` to a request that is right: {message}")]
    UnfittingError {
        /// As sent.
        code: String,
        /// As sent.
        message: String,
    },
    /// Too many parts of a harvest failed one after the other.
    #[error(
        "{0} parts of the list in a row could not be read; asking for records one by one (ListIdentifiers) may help; \
         the last one: {1}"
    )]
    Hopeless(u32, String),
    /// A record refers to something that is no URL.
    #[error("it refers to `{0}`, which cannot be got: {1}")]
    Reference(String, String),
    /// A redirect that must not be followed.
    #[error("it redirects to {0}")]
    Redirect(String),
}

/// One thing that a repository lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Incompatibility {
    /// The metadata format.
    #[error("unknown metadata prefix `{prefix}`{}", choice(.offered))]
    MetadataPrefix {
        /// The name that was asked for.
        prefix: String,
        /// The names there are, as far as known.
        offered: Vec<String>,
    },
    /// The set.
    #[error("there is no set `{0}` any longer, or there never was")]
    Set(String),
    /// Any sets.
    #[error("it has no sets")]
    NoSets,
    /// The record.
    #[error("there is no record `{0}`")]
    Identifier(String),
    /// Another version of the protocol.
    #[error("it speaks version {0} of the protocol, not 2.0")]
    ProtocolVersion(String),
    /// An answer of the web server, not of the repository.
    #[error("the server answers {0}{wanted}", wanted = wanted(.0))]
    HttpStatus(u16),
    /// A request that it refuses.
    #[error("it refuses the request: {0}")]
    Refused(String),
}

impl Error {
    /// Makes an error of a kind.
    pub fn new(kind: ErrorKind) -> Self {
        Self {
            kind,
            request: None,
        }
    }

    /// Whose move is next.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The URL that was asked, without credentials.
    pub fn request(&self) -> Option<&str> {
        self.request.as_deref()
    }

    /// Names the request, unless one is named already.
    pub(crate) fn at(mut self, request: &str) -> Self {
        self.request.get_or_insert_with(|| request.to_owned());
        self
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage(message.into()))
    }

    pub(crate) fn transport(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Transport(message.into()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        match &self.request {
            Some(request) => write!(f, " ({request})"),
            None => Ok(()),
        }
    }
}

impl From<Misbehaviour> for Error {
    fn from(misbehaviour: Misbehaviour) -> Self {
        Self::new(ErrorKind::RepositoryMisbehaved(misbehaviour))
    }
}

impl From<Incompatibility> for Error {
    fn from(incompatibility: Incompatibility) -> Self {
        Self::new(ErrorKind::RepositoryIncompatible(incompatibility))
    }
}

fn wanted(status: &u16) -> &'static str {
    match status {
        401 | 403 => ", so it wants to be given credentials, or other ones",
        407 => ", so the proxy wants to be given credentials",
        _ => "",
    }
}

fn behind(identifier: &Option<String>) -> String {
    match identifier {
        Some(identifier) => format!(", after the record `{identifier}`"),
        None => String::new(),
    }
}

fn choice(prefixes: &[String]) -> String {
    if prefixes.is_empty() {
        return String::new();
    }
    format!("; this repository offers {}", prefixes.join(", "))
}
