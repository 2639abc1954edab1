//! Answers of any length, sent while they are made.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use http_body::Frame;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// A body, and where its parts are put in. It ends when the sender is dropped; who reads too slowly keeps the sender
/// waiting, and who goes away makes it fail.
pub(crate) fn body() -> (Sender<Result<Bytes, std::io::Error>>, Body) {
    let (sender, receiver) = channel(4);
    (sender, Body::new(Streamed(receiver)))
}

struct Streamed(Receiver<Result<Bytes, std::io::Error>>);

impl http_body::Body for Streamed {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let part = std::task::ready!(self.0.poll_recv(context));
        Poll::Ready(part.map(|part| part.map(Frame::data)))
    }
}
