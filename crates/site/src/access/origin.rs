//! The web server that serves the files of a site, which can be asked what a GET would return.

use std::fs::File;
use std::sync::Arc;

use crate::{DynamicPolicy, Facts, Requester, SitePath};

/// The web server that serves the same files: another one, or the one that this code runs in.
pub trait Origin: std::fmt::Debug {
    /// The results of GETs with the requester's own credentials, in the order of the candidates.
    /// An error means that the server cannot be asked at all.
    fn look(&self, requester: &Requester, candidates: &[Candidate]) -> Result<Vec<Look>, String>;

    /// The result of a GET. A body in memory has at most `limit` bytes, a file has any length.
    fn fetch(
        &self,
        requester: &Requester,
        path: &SitePath,
        limit: u64,
    ) -> Result<Fetched, NotFetched>;

    /// Whether it can be asked as somebody without credentials: not where the connection itself is one.
    fn can_ask_as_nobody(&self) -> bool {
        true
    }

    /// Whether plain files are fetched as well, and not only what the server makes of others. Where they are
    /// not, their bytes are those of the file at the path, and their headers those of the look.
    fn fetches_files(&self) -> bool {
        false
    }
}

/// An origin that many requests share.
pub type SharedOrigin = Arc<dyn Origin + Send + Sync>;

/// Something to be confirmed.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Where.
    pub path: SitePath,
    /// The file it should be; none if it is gone or the server runs it.
    pub facts: Option<Facts>,
}

/// The server's word on a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// 200, and it is that file.
    Served(Served),
    /// Not to be seen by this requester: 401 or 403.
    Refused,
    /// Something else is there, or nothing: with the reason in words.
    NotServed(String),
}

/// The server's word on a candidate that it serves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    /// The headers of a GET, if they are known without a further question.
    pub headers: Option<Vec<(String, String)>>,
    /// The whole Content-Type, if it is known; empty where nobody can know it before a program has run.
    pub media_type: Option<String>,
    /// The policy for it if the server runs or changes the file rather than sending it; `Off` never comes
    /// here, for such a file is not served. None if the server does not say: then the index and the site's own
    /// policy count.
    pub dynamic: Option<DynamicPolicy>,
}

/// A response of the server.
#[derive(Debug)]
pub struct Fetched {
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Body,
}

/// The body of a response.
#[derive(Debug)]
pub enum Body {
    /// Bytes that the server made.
    Bytes(Vec<u8>),
    /// A file that the server sends as it is. Others may share its position, which is neither used nor moved.
    File(File),
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFetched {
    /// The requester does not get it, or not any longer.
    Refused,
    /// The server answers with this status instead of 200.
    Status(u16),
    /// As many programs as may run at once are running.
    Busy,
    /// The answer could not be taken as a whole.
    Failed {
        /// Why, in words.
        reason: String,
        /// The headers of the answer, if it was one with status 200.
        headers: Option<Vec<(String, String)>>,
    },
}
