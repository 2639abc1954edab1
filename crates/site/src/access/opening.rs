//! Opening a file for somebody: the one place that says whether a requester gets its bytes, for a GET and for
//! a record alike.

use crate::{OpenError, Opened, Requester, Site, SitePath, Verdict};

/// Why a requester does not get a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// There is nothing, or nothing that may be known of.
    NotFound,
    /// It is a directory.
    Directory,
    /// No password would help; with the reason.
    Forbidden(&'static str),
    /// A password of this realm is needed.
    Unauthorized(String),
}

impl Site {
    /// Opens a file if the rules, its area and the file system let this requester have it.
    ///
    /// The path may lead elsewhere now than when it was last looked at, so both are judged: the path asked for, and
    /// the place where a link led.
    pub fn open_file(&self, path: &SitePath, requester: &Requester) -> Result<Opened, Refusal> {
        let opened = self.open_source(path, requester)?;
        let program = |name: &[u8]| self.ground.rules.program_extension(name).is_some();
        if program(path.name()) || program(&opened.name) {
            return Err(Refusal::Forbidden(
                "it is a program for another server, and its source is not given out",
            ));
        }
        Ok(opened)
    }

    /// The same, also for a program. Nothing but the records of named users may tell what it reads.
    pub(crate) fn open_source(
        &self,
        path: &SitePath,
        requester: &Requester,
    ) -> Result<Opened, Refusal> {
        Refusal::check(self.access.verdict(path, requester))?;
        if self.ground.rules.hidden(path).is_some() {
            return Err(Refusal::NotFound);
        }
        let opened = self
            .ground
            .open_file(path)
            .map_err(|error| Refusal::of(error, path))?;
        // A link must not lead around what protects its target.
        Refusal::check(self.access.verdict(&opened.path, requester))?;
        Ok(opened)
    }
}

impl Refusal {
    /// Turns a verdict that is not open into the refusal it means.
    pub fn check(verdict: Verdict) -> Result<(), Self> {
        match verdict {
            Verdict::Open => Ok(()),
            Verdict::Forbidden => Err(Self::Forbidden("it is not for this address")),
            Verdict::Unauthorized(realm) => Err(Self::Unauthorized(realm)),
        }
    }

    fn of(error: OpenError, path: &SitePath) -> Self {
        match error {
            OpenError::Missing | OpenError::Link => Self::NotFound,
            OpenError::Forbidden => Self::Forbidden("its permissions forbid it"),
            OpenError::Directory(_) => Self::Directory,
            OpenError::Io(error) => {
                tracing::warn!("`/{}` cannot be opened: {error}", path.display());
                Self::Forbidden("it cannot be read")
            }
        }
    }
}
