//! The way to a server: opened when it is needed, and again when it was lost.

use std::time::Duration;

use crate::fetch::{FetchEvent, Options};
use crate::session::Session;
use crate::waiting::Waiting;
use crate::{Address, Error};

/// A connection that may break.
pub(crate) struct Link<'a> {
    address: &'a Address,
    options: &'a Options<'a>,
    waiting: Waiting<'a>,
    session: Option<Session<'a>>,
    /// How often in a row it was lost without anything having come.
    failures: u32,
    /// Whether it was there at all. A server that never answered is hardly the one that is meant.
    was_there: bool,
}

impl<'a> Link<'a> {
    pub(crate) fn new(
        address: &'a Address,
        options: &'a Options<'a>,
        waiting: Waiting<'a>,
    ) -> Self {
        Self {
            address,
            options,
            waiting,
            session: None,
            failures: 0,
            was_there: false,
        }
    }

    /// The session, which is begun if there is none.
    pub(crate) async fn session(&mut self) -> Result<&mut Session<'a>, Error> {
        let usable = self.session.take().filter(|session| !session.is_broken());
        let session = match usable {
            Some(session) => session,
            None => {
                let Options {
                    access,
                    admits,
                    limits,
                    ..
                } = self.options;
                Session::open(self.address, access, *admits, self.waiting, limits).await?
            }
        };
        self.was_there = true;
        Ok(self.session.insert(session))
    }

    /// Notes that something came.
    pub(crate) fn went_on(&mut self) {
        self.failures = 0;
    }

    /// Waits before the server is asked again, or gives it up.
    pub(crate) async fn lost(&mut self, why: String) -> Result<(), Error> {
        self.session = None;
        self.failures += 1;
        let limits = &self.options.limits;
        let most = match self.was_there {
            true => limits.attempts,
            false => limits.attempts.min(FIRST_ATTEMPTS),
        };
        if self.failures >= most {
            let failures = self.failures;
            return Err(Error::Lost(format!(
                "{why}; given up after {failures} attempts"
            )));
        }
        let wait = limits.first_wait * 2_u32.saturating_pow(self.failures - 1);
        let wait = wait.min(limits.longest_wait);
        let note = format!("{why}; trying again in {}", shown(wait));
        (self.options.tell)(FetchEvent::Note(&note));
        self.waiting.rest(wait).await
    }
}

fn shown(wait: Duration) -> String {
    match wait.as_secs() {
        0 => format!("{} ms", wait.as_millis()),
        seconds => format!("{seconds} s"),
    }
}

/// A slip in the name of the host should not take minutes.
const FIRST_ATTEMPTS: u32 = 3;
