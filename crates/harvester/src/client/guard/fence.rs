//! Where a client does not go: to what is not the web, out of encryption, behind walls.

use reqwest::Url;

use crate::client::query::{self, Request};
use crate::client::{Client, Failed, refused};
use crate::error::{Error, ErrorKind, Misbehaviour};

impl Client {
    /// Whether something that a record refers to may be asked for. The same holds as for redirects.
    pub(in crate::client) fn check_reference(
        &self,
        base: &Url,
        target: &Url,
        secret: bool,
    ) -> Result<(), Error> {
        match self.objection(base, target, secret) {
            Some(reason) => Err(Misbehaviour::Reference(query::shown(target), reason).into()),
            None => Ok(()),
        }
    }

    pub(in crate::client) fn check_redirect(
        &self,
        from: &Url,
        to: &Url,
        secret: bool,
    ) -> Result<(), Failed> {
        match self.objection(from, to, secret) {
            Some(reason) => Err(refused(&format!("{}, {reason}", query::shown(to)))),
            None => Ok(()),
        }
    }

    /// Why one URL must not be gone to from another.
    fn objection(&self, from: &Url, to: &Url, secret: bool) -> Option<String> {
        if !matches!(to.scheme(), "http" | "https") {
            return Some("which is not the web".to_owned());
        }
        if secret && from.scheme() == "https" && to.scheme() == "http" {
            return Some("which is without encryption".to_owned());
        }
        if !self.shared.guard.allows(from, to) {
            return Some(self.shared.guard.reason(to.host_str().unwrap_or_default()));
        }
        None
    }

    /// Whether an address may be asked for, as far as can be told before a connection is made. Names are looked up when
    /// that happens, or by a proxy, which knows nothing of our rules.
    pub(in crate::client) fn check_address(&self, url: &Url) -> Result<(), Failed> {
        let guard = &self.shared.guard;
        let inside = || Failed::Inside(url.host_str().unwrap_or_default().to_owned());
        if !guard.admits_literal(url) {
            return Err(inside());
        }
        let Some(name) = guard.name_to_look_up(url) else {
            return Ok(());
        };
        let look_up = tokio::net::lookup_host((name, 0));
        let Some(found) = self.shared.driver.wait(look_up) else {
            return Err(Failed::Finally(Error::new(ErrorKind::Stopped)));
        };
        match found.is_ok_and(|found| !guard.admits_all(name, found)) {
            true => Err(inside()),
            false => Ok(()),
        }
    }

    /// An address that must not be connected to: whose fault that is depends on who named it.
    pub(in crate::client) fn fenced(
        &self,
        request: &Request,
        first: bool,
        url: &Url,
        host: &str,
    ) -> Failed {
        let reason = self.shared.guard.reason(host);
        Failed::Finally(match (first, request.is_for_a_verb()) {
            (true, true) => Error::usage(reason),
            (true, false) => Misbehaviour::Reference(query::shown(url), reason).into(),
            (false, _) => Misbehaviour::Redirect(format!("{}, {reason}", query::shown(url))).into(),
        })
    }
}
