//! Answers of any length, sent while they are made.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body::Frame;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Bytes as the body of an answer, however many there are. The turn is over when all of them are sent, or when the one who
/// reads them has stopped.
pub(crate) fn of(bytes: impl Read + Send + 'static, turn: OwnedSemaphorePermit) -> Body {
    let (sender, body) = body();
    tokio::task::spawn_blocking(move || {
        let _turn = turn;
        send(bytes, sender, PATIENCE);
    });
    body
}

/// A body, and where its parts are put in. It ends when the sender is dropped; who reads too slowly keeps the sender
/// waiting, and who goes away makes it fail.
pub(crate) fn body() -> (Sender<Result<Bytes, io::Error>>, Body) {
    let (sender, receiver) = channel(4);
    (sender, Body::new(Streamed(receiver)))
}

struct Streamed(Receiver<Result<Bytes, io::Error>>);

impl http_body::Body for Streamed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let part = std::task::ready!(self.0.poll_recv(context));
        Poll::Ready(part.map(|part| part.map(Frame::data)))
    }
}

/// Sends bytes in parts; this blocks. Who does not take a part for so long is given up.
fn send(mut bytes: impl Read, sender: Sender<io::Result<Bytes>>, patience: Duration) {
    let runtime = Handle::current();
    loop {
        let mut part = Vec::with_capacity(PART);
        let read = (&mut bytes).take(PART as u64).read_to_end(&mut part);
        let part = match read {
            Ok(0) => return,
            Ok(_) => Ok(Bytes::from(part)),
            Err(error) => Err(error),
        };
        let is_broken = part.is_err();
        let sent = async { tokio::time::timeout(patience, sender.send(part)).await };
        match runtime.block_on(sent) {
            Ok(Ok(())) if !is_broken => {}
            Ok(_) => return,
            Err(_) => {
                // A reader that continues late must not take a part for the whole.
                let late = io::Error::new(io::ErrorKind::TimedOut, "it was not read for too long");
                runtime.spawn(async move { sender.send(Err(late)).await });
                return;
            }
        }
    }
}

const PART: usize = 64 << 10;
/// How long a part may wait to be read.
const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_stops_reading_is_given_up_and_told_so() {
        let long = io::repeat(0).take(100 * PART as u64);

        let (sender, body) = body();
        let sending = tokio::task::spawn_blocking(|| send(long, sender, Duration::from_millis(50)));
        let ended = tokio::time::timeout(Duration::from_secs(20), sending).await;
        ended.expect("the thread is free again").unwrap();
        assert!(axum::body::to_bytes(body, usize::MAX).await.is_err());
    }
}
