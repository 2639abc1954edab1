//! Bodies of requests and responses that tell the register what their connection waits for.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use crate::register::{Answering, State};

/// The body of a request.
#[derive(Debug)]
pub struct RequestBody {
    inner: Incoming,
    state: Arc<State>,
}

impl RequestBody {
    pub(crate) fn new(inner: Incoming, state: Arc<State>) -> Self {
        Self { inner, state }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(cx);
        self.state.set_body_awaited(frame.is_pending());
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.state.set_body_awaited(false);
    }
}

/// The body of a response; the request counts as being answered until it is dropped.
pub(crate) enum ResponseBody<B> {
    /// From the handler.
    Made {
        body: Pin<Box<B>>,
        _answering: Answering,
    },
    /// Of a request that no handler was asked for.
    Refusal(Option<Bytes>),
}

impl<B: Body<Data = Bytes>> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.get_mut() {
            Self::Made { body, .. } => body.as_mut().poll_frame(cx),
            Self::Refusal(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Made { body, .. } => body.is_end_stream(),
            Self::Refusal(text) => text.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Made { body, .. } => body.size_hint(),
            Self::Refusal(text) => {
                SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
        }
    }
}
