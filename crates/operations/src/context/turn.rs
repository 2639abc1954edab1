//! A limit on work that is done at the same time.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{Code, Refusal};

/// Waits for a free place, but not for long; `busy` is the reason of the refusal then.
pub(crate) async fn turn(
    places: &'static Semaphore,
    busy: &str,
) -> Result<SemaphorePermit<'static>, Refusal> {
    match tokio::time::timeout(MAX_WAIT, places.acquire()).await {
        Ok(Ok(permit)) => Ok(permit),
        _ => Err(Refusal::new(Code::Overloaded, busy)),
    }
}

const MAX_WAIT: Duration = Duration::from_secs(5);
