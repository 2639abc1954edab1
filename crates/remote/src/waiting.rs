//! Waits for a server, but neither longer than is good nor after somebody wants to stop.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use crate::Error;

/// How waiting ends without an answer.
#[derive(Clone, Copy)]
pub(crate) struct Waiting<'a> {
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
    pub(crate) silence: Duration,
}

impl Waiting<'_> {
    /// Waits for an answer.
    pub(crate) async fn on<T>(
        &self,
        whom: &str,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.within(self.silence, whom, answer).await
    }

    /// Waits for an answer, at most for `longest`.
    pub(crate) async fn within<T>(
        &self,
        longest: Duration,
        whom: &str,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let began = Instant::now();
        let mut answer = pin!(answer);
        loop {
            self.check()?;
            if let Ok(answer) = tokio::time::timeout(A_MOMENT, &mut answer).await {
                return answer;
            }
            if began.elapsed() >= longest {
                let seconds = longest.as_secs();
                return Err(Error::Lost(format!("{whom} was silent for {seconds} s")));
            }
        }
    }

    /// Lets time go by.
    pub(crate) async fn rest(&self, time: Duration) -> Result<(), Error> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.check()?;
            tokio::time::sleep(A_MOMENT.min(end.saturating_duration_since(Instant::now()))).await;
        }
        self.check()
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match (self.stop)() {
            true => Err(Error::Stopped),
            false => Ok(()),
        }
    }
}

const A_MOMENT: Duration = Duration::from_millis(100);
