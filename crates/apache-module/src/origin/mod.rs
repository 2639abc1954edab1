//! httpd as the origin: says what of the index a requester may see, and gives headers and bytes as a GET does.

mod filtering;
pub(crate) mod handlers;
mod judge;
mod response;

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::fs::Metadata;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use site::{
    Body, Candidate, DynamicPolicy, Fetched, Ground, Look, NotFetched, Origin, Requester, SitePath,
};

use self::judge::{Filters, UnknownHandler, judge};
use self::response::response;
use crate::client::certificate;
use crate::config::directories::Directories;
use crate::flow_control::{self, Kind, Permit};
use crate::httpd::OK;
use crate::request::Request;
use crate::sys;
use crate::virtual_request::{Asking, Connection, Overrides};

/// The questions while one request is answered.
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

    /// The right to run one program.
    fn permit(&self) -> Result<Permit, NotFetched> {
        // SAFETY: `new` was promised that the original is being handled.
        let request = unsafe { Request::new(self.original) };
        let limit = request.server_config().flow_limits().programs;
        // Another one may be over in a moment.
        let patience = Instant::now() + PATIENCE;
        loop {
            let permit = flow_control::admit(Kind::Program, request.client(), limit, limit);
            match permit {
                Some(permit) => return Ok(permit),
                None if Instant::now() >= patience => return Err(NotFetched::Busy),
                None => std::thread::sleep(PAUSE),
            }
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
        let client = connection.client_user();
        let judged =
            judge(&request, &file, Filters::LookedAt, client).or_else(|UnknownHandler(handler)| {
                handlers::learn(handler, !sends_file(connection, path, &file));
                judge(&request, &file, Filters::LookedAt, client)
            });
        match judged.unwrap_or_else(|_| Look::NotServed("its handler is not known".to_owned())) {
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
        // A moment ago it may have been something else, and may have had other rules.
        let request = connection.look_up(&url_path(path), Overrides::UNKNOWN);
        // Its filters are not looked at once more: that would add them twice.
        let client = connection.client_user();
        let Ok(Look::Served(served)) = judge(&request, &file, Filters::LeftAlone, client) else {
            return Err(NotFetched::Refused);
        };
        let (limit, _permit) = match served.dynamic {
            None => (limit.min(LARGEST_REWRITTEN), None),
            Some(DynamicPolicy::Processed) => (limit, Some(self.permit()?)),
            Some(_) => return Err(NotFetched::Refused),
        };
        let (sink, status) = connection.run(&request, limit);
        response(sink, status, limit)
    }
}

/// Whether httpd sends the very file, although a handler is named for it. That runs the handler, so it is tried once
/// for each name.
fn sends_file(connection: &Connection<'_>, path: &SitePath, file: &Path) -> bool {
    let request = connection.look_up(&url_path(path), Overrides::UNKNOWN);
    if request.status != OK {
        return false;
    }
    let (sink, status) = connection.run(&request, LARGEST_REWRITTEN);
    let sent = response(sink, status, LARGEST_REWRITTEN);
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    match sent.map(|sent| sent.body) {
        Ok(Body::File(sent)) => {
            let (sent, own) = (sent.metadata().map(identity), file.metadata().map(identity));
            matches!((sent, own), (Ok(sent), Ok(own)) if sent == own)
        }
        _ => false,
    }
}

fn url_path(path: &SitePath) -> String {
    format!("/{}", path.to_url_path())
}

/// How long a program may wait for others to be over, and how often it is asked whether they are.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// How much is taken of a file that filters change.
const LARGEST_REWRITTEN: u64 = 1024 * 1024;

impl fmt::Debug for ApacheOrigin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApacheOrigin").finish_non_exhaustive()
    }
}
