//! The clock by which pages show times: the time zone of the account, or UTC where the address asks for it by `utc=1`.
//!
//! It goes with the task that answers a request, so that every time on every page is shown alike.

use std::future::Future;

use axum::http::Uri;
use jiff::Zoned;
use operations::TimeZone;
use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static CLOCK: Clock;
}

/// The clock of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    /// The time zone of the account.
    zone: TimeZone,
    /// Whether the address asks for UTC.
    is_utc: bool,
    /// The address without its wish.
    here: String,
}

impl Clock {
    pub(crate) fn new(zone: &str, uri: &Uri) -> Self {
        let query = uri.query().unwrap_or_default();
        let parts = query.split('&').filter(|part| !part.is_empty());
        let (wishes, others): (Vec<_>, Vec<_>) = parts.partition(|part| *part == WISH);
        let separator = if others.is_empty() { "" } else { "?" };
        Self {
            zone: TimeZone::read(zone).unwrap_or_default(),
            is_utc: !wishes.is_empty(),
            here: format!("{}{separator}{}", uri.path(), others.join("&")),
        }
    }

    /// The clock of this request; UTC outside of one.
    pub(crate) fn current() -> Self {
        CLOCK.try_with(Clone::clone).unwrap_or_default()
    }

    /// Answers a request by this clock.
    pub(crate) fn scope<F: Future>(self, answer: F) -> TaskLocalFuture<Self, F> {
        CLOCK.scope(self, answer)
    }

    /// Whether the address asks for UTC; times have their seconds then.
    pub(crate) fn is_utc(&self) -> bool {
        self.is_utc
    }

    /// Whether the account reads UTC anyway.
    pub(crate) fn is_always_utc(&self) -> bool {
        self.zone.is_utc()
    }

    /// The time zone of the account.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// The address without its wish, if it has one.
    pub(crate) fn without_wish(&self) -> Option<Uri> {
        self.is_utc.then(|| self.here.parse().ok()).flatten()
    }

    /// The same page with times in UTC, or without.
    pub(crate) fn switched(&self) -> String {
        let separator = if self.here.contains('?') { '&' } else { '?' };
        match self.is_utc {
            true => self.here.clone(),
            false => format!("{}{separator}{WISH}", self.here),
        }
    }

    /// A moment, in seconds, as this clock shows it.
    pub(crate) fn at(&self, seconds: i64) -> Zoned {
        match self.is_utc {
            true => TimeZone::default().at(seconds),
            false => self.zone.at(seconds),
        }
    }
}

const WISH: &str = "utc=1";

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn times_are_those_of_the_account_unless_the_address_asks_for_utc() {
        let shown = |uri: &'static str| {
            let clock = Clock::new("Europe/Berlin", &Uri::from_static(uri));
            clock.scope(async {
                let clock = Clock::current();
                (clock.at(0).strftime("%H:%M").to_string(), clock.switched())
            })
        };
        let own = shown("/jobs?state=failed").await;
        assert_eq!(
            own,
            ("01:00".to_owned(), "/jobs?state=failed&utc=1".to_owned())
        );
        let utc = shown("/jobs?utc=1&state=failed").await;
        assert_eq!(utc, ("00:00".to_owned(), "/jobs?state=failed".to_owned()));
        assert_eq!(shown("/").await.1, "/?utc=1");
        assert_eq!(
            Clock::current().at(0).strftime("%H:%M").to_string(),
            "00:00"
        );
    }
}
