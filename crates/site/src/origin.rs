//! What a site needs of the web server it stands beside: to be asked what a GET would return.

use crate::{Facts, Requester, SitePath};

/// Another web server that serves the same files.
pub trait Origin: Send + Sync + std::fmt::Debug {
    /// What GETs with the requester's own credentials return, in the order of the candidates.
    /// An error means that the server cannot be asked at all.
    fn look(&self, requester: &Requester, candidates: &[Candidate]) -> Result<Vec<Look>, String>;

    /// What a GET returns for a file that the server runs, up to a number of bytes.
    fn fetch(&self, requester: &Requester, path: &SitePath, limit: u64) -> Result<Fetched, String>;
}

/// Something to be confirmed.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Where.
    pub path: SitePath,
    /// The file it should be; none if it is gone or the server runs it.
    pub facts: Option<Facts>,
}

/// What the server says of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// 200, and it is that file; with the headers.
    Served(Vec<(String, String)>),
    /// Not to be seen by this requester: 401 or 403.
    Refused,
    /// Something else is there, or nothing: with the reason in words.
    NotServed(String),
}

/// A response of a file that the server runs.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}
