//! A COPY, read in pieces of many rows.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use futures_util::Stream;
use tokio_postgres::{Client, CopyOutStream, Error};

use super::handover::Handover;

/// The rows that a COPY sends. Dropped before its end, it leaves the COPY to its connection, which is to be dropped, too.
pub struct CopyOut<'connection> {
    rows: &'connection Handover,
    /// The driver's own reading of the COPY. Rows pass it by: it has its end, or its error.
    end: Pin<Box<CopyOutStream>>,
    has_ended: bool,
}

impl<'connection> CopyOut<'connection> {
    pub(super) async fn begin(
        client: &Client,
        rows: &'connection Handover,
        statement: &str,
    ) -> Result<Self, Error> {
        rows.begin();
        let begun = client.copy_out(statement).await;
        if begun.is_err() {
            rows.end();
        }
        Ok(Self { rows, end: Box::pin(begun?), has_ended: false })
    }

    /// The next bytes, cut anywhere: whoever reads them finds the rows. `None`: the server has sent all.
    ///
    /// # Errors
    /// Postgres broke the COPY off, or does not answer.
    pub async fn next(&mut self) -> Result<Option<BytesMut>, Error> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// How many rows the server says it sent. `None` before a later statement of its connection was answered.
    #[must_use]
    pub fn rows_sent(&self) -> Option<u64> {
        self.rows.rows_copied()
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<BytesMut>, Error>> {
        loop {
            if let Some(piece) = self.rows.take(cx) {
                return Poll::Ready(Ok(Some(piece)));
            }
            if self.has_ended {
                return Poll::Ready(Ok(None));
            }
            match ready!(self.end.as_mut().poll_next(cx)) {
                Some(Ok(row)) => return Poll::Ready(Ok(Some(BytesMut::from(row)))),
                // The last piece was put down before the driver could see the end.
                None => self.ended(),
                Some(Err(error)) => {
                    self.ended();
                    return Poll::Ready(Err(error));
                }
            }
        }
    }

    fn ended(&mut self) {
        self.has_ended = true;
        self.rows.end();
    }
}

impl Drop for CopyOut<'_> {
    fn drop(&mut self) {
        self.rows.leave();
    }
}
