//! A question to a repository for somebody who waits: it ends in time, whatever answers.

use std::time::Duration;

use harvester::{Client, ClientOptions, ErrorKind};
use operations::repositories::TOO_SLOW;
use operations::{Code, Refusal};

use crate::state::ConsoleState;

/// Asks a repository. The inner error is the fault of the repository.
pub(crate) async fn question<T: Send + 'static>(
    state: &ConsoleState,
    ask: impl FnOnce(&Client) -> anyhow::Result<T> + Send + 'static,
) -> Result<anyhow::Result<T>, Refusal> {
    question_with(state, state.outside().question(), ask).await
}

/// The same with options of one's own.
pub(crate) async fn question_with<T: Send + 'static>(
    state: &ConsoleState,
    mut options: ClientOptions,
    ask: impl FnOnce(&Client) -> anyhow::Result<T> + Send + 'static,
) -> Result<anyhow::Result<T>, Refusal> {
    let turn = state.turn_to_ask().await?;
    // A person can ask again, and sooner than a second attempt would.
    options.attempts = 1;
    options.connect_timeout = options.connect_timeout.min(CONNECT_TIMEOUT);
    options.read.page_limit = options.read.page_limit.min(MAX_ANSWER);
    let stop = options.stop.clone();
    let timer = tokio::spawn(async move {
        tokio::time::sleep(PATIENCE).await;
        stop.set();
    });
    let asked = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        ask(&Client::new(options)?)
    });
    let asked = tokio::time::timeout(PATIENCE + STOPPING, asked).await;
    timer.abort();
    let too_slow = || Refusal::new(Code::NoRepository, TOO_SLOW).into();
    match asked {
        Ok(asked) => {
            let asked = asked.map_err(anyhow::Error::from)?;
            Ok(asked.map_err(|error| match is_stopped(&error) {
                true => too_slow(),
                false => error,
            }))
        }
        Err(_) => Ok(Err(too_slow())),
    }
}

fn is_stopped(error: &anyhow::Error) -> bool {
    let known = error.downcast_ref::<harvester::Error>();
    known.is_some_and(|known| matches!(known.kind(), ErrorKind::Stopped))
}

const PATIENCE: Duration = Duration::from_secs(28);
/// The time in which a client notices that it is stopped.
const STOPPING: Duration = Duration::from_secs(2);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ANSWER: u64 = 64 << 20;
