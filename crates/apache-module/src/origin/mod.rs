//! httpd as the origin: says what of the index a requester may see, and gives headers and bytes as a GET does.

mod filtering;
mod judge;
mod response;

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use site::{
    Candidate, DynamicPolicy, Fetched, Ground, Look, NotFetched, Origin, Requester, SitePath,
};

use self::judge::{Filters, judge};
use self::response::response;
use crate::certificate;
use crate::directories::Directories;
use crate::sys;
use crate::virtual_request::{Asking, Connection, Overrides};

/// What is asked while one request is answered.
pub(crate) struct ApacheOrigin<'r> {
    original: *mut sys::request_rec,
    ground: Arc<Ground>,
    requester: Requester,
    own: OnceCell<Connection<'r>>,
    /// As somebody without credentials asks, to see what is public.
    nobody: OnceCell<Connection<'r>>,
    directories: RefCell<Directories>,
}

impl<'r> ApacheOrigin<'r> {
    /// # Safety
    /// `original` is being handled and outlives the origin.
    pub(crate) unsafe fn new(
        original: *mut sys::request_rec,
        ground: Arc<Ground>,
        requester: Requester,
    ) -> Self {
        Self {
            original,
            ground,
            requester,
            own: OnceCell::new(),
            nobody: OnceCell::new(),
            directories: RefCell::default(),
        }
    }

    /// The connection on which somebody asks.
    fn connection(&self, requester: &Requester) -> &Connection<'r> {
        let same = requester.authorization == self.requester.authorization
            && requester.cookie == self.requester.cookie
            && requester.keys == self.requester.keys
            && requester.address == self.requester.address;
        // SAFETY: `new` was promised that the original outlives this.
        let connect = |asking| unsafe { Connection::new(self.original, asking) };
        match (same, requester.address) {
            (false, IpAddr::V4(address)) => {
                let nobody = Asking::AsNobody(address);
                self.nobody.get_or_init(|| connect(nobody))
            }
            _ => self.own.get_or_init(|| connect(Asking::AsClient)),
        }
    }

    fn look_at(&self, connection: &Connection<'_>, path: &SitePath) -> Look {
        let mut directories = self.directories.borrow_mut();
        let directory = directories.directory(connection, &self.ground, &path.parent());
        let left_out = || Look::NotServed("it is left out by IndexIgnore or OaiSkip".to_owned());
        if directory.hides(path) {
            return left_out();
        }
        let Some(file) = self.ground.file_path(path) else {
            return Look::NotServed("no directory is configured for it".to_owned());
        };
        let request = connection.look_up(&url_path(path), directory.overrides);
        match judge(&request, &file, Filters::LookedAt) {
            Look::Served(_) if directory.hides_by(request.settings(), &self.ground, path) => {
                left_out()
            }
            look => look,
        }
    }
}

impl Origin for ApacheOrigin<'_> {
    fn look(&self, requester: &Requester, candidates: &[Candidate]) -> Result<Vec<Look>, String> {
        let connection = self.connection(requester);
        let looks = candidates
            .iter()
            .map(|candidate| self.look_at(connection, &candidate.path));
        Ok(looks.collect())
    }

    /// A certificate of the client's would speak for nobody too.
    fn can_ask_as_nobody(&self) -> bool {
        // SAFETY: `new` was promised that the original is being handled.
        !unsafe { certificate::is_verified(self.original) }
    }

    fn fetches_files(&self) -> bool {
        true
    }

    fn fetch(
        &self,
        requester: &Requester,
        path: &SitePath,
        limit: u64,
    ) -> Result<Fetched, NotFetched> {
        let connection = self.connection(requester);
        let file = self.ground.file_path(path).ok_or(NotFetched::Refused)?;
        // What it was a moment ago, when it was looked at, it need not be now, nor need its rules.
        let request = connection.look_up(&url_path(path), Overrides::UNKNOWN);
        // Its filters are not looked at once more: that would add them twice.
        let Look::Served(served) = judge(&request, &file, Filters::LeftAlone) else {
            return Err(NotFetched::Refused);
        };
        let limit = match served.dynamic {
            None => limit.min(LARGEST_REWRITTEN),
            Some(DynamicPolicy::Processed) => limit,
            Some(_) => return Err(NotFetched::Refused),
        };
        let (sink, status) = connection.run(&request, limit);
        response(sink, status, limit).map_err(NotFetched::Failed)
    }
}

fn url_path(path: &SitePath) -> String {
    format!("/{}", path.to_url_path())
}

/// How much is taken of a file that filters change.
const LARGEST_REWRITTEN: u64 = 1024 * 1024;

impl fmt::Debug for ApacheOrigin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApacheOrigin").finish_non_exhaustive()
    }
}
