//! A question to a repository that somebody waits for: it has an end, whatever answers.

use std::time::Duration;

use anyhow::anyhow;
use harvester::{Client, ErrorKind};

use crate::plain_words::TOO_SLOW;
use crate::problem::Problem;
use crate::state::ConsoleState;

/// Asks a repository. The inner error is what is wrong with it.
pub(crate) async fn question<T: Send + 'static>(
    state: &ConsoleState,
    ask: impl FnOnce(&Client) -> anyhow::Result<T> + Send + 'static,
) -> Result<anyhow::Result<T>, Problem> {
    let turn = state.turn_to_ask().await?;
    let mut options = state.outside().question();
    // Whoever waits can ask again, and sooner than a second attempt would.
    options.attempts = 1;
    options.connect_timeout = options.connect_timeout.min(CONNECTING);
    options.read.page_limit = options.read.page_limit.min(LONGEST_ANSWER);
    let stop = options.stop.clone();
    let timer = tokio::spawn(async move {
        tokio::time::sleep(PATIENCE).await;
        stop.set();
    });
    let asked = state.blocking(move |_| {
        let _turn = turn;
        ask(&Client::new(options)?)
    });
    let asked = tokio::time::timeout(PATIENCE + STOPPING, asked).await;
    timer.abort();
    match asked {
        Ok(asked) => Ok(asked?.map_err(|error| match is_stopped(&error) {
            true => anyhow!(TOO_SLOW),
            false => error,
        })),
        Err(_) => Ok(Err(anyhow!(TOO_SLOW))),
    }
}

fn is_stopped(error: &anyhow::Error) -> bool {
    let known = error.downcast_ref::<harvester::Error>();
    known.is_some_and(|known| matches!(known.kind(), ErrorKind::Stopped))
}

const PATIENCE: Duration = Duration::from_secs(28);
/// What a client takes to hear that it is to stop.
const STOPPING: Duration = Duration::from_secs(2);
const CONNECTING: Duration = Duration::from_secs(10);
const LONGEST_ANSWER: u64 = 64 << 20;
