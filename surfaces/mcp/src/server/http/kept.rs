//! Something that lasts as long as an answer takes to be written.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    response::Response,
};
use http_body::{Frame, SizeHint};

/// A body, and what lasts as long.
struct Kept<T> {
    body: Body,
    _with: T,
}

/// Keeps `with` until the last piece of the answer is written, or the client is gone.
pub fn keep_until_written<T: Send + Unpin + 'static>(response: Response, with: T) -> Response {
    response.map(|body| Body::new(Kept { body, _with: with }))
}

impl<T: Unpin> HttpBody for Kept<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
