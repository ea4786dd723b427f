//! Connections that are lent to a request, and what becomes of one whose request is given up.
//!
//! A caller that goes away, or a request that takes too long, may leave the server at a statement, such as one that waits
//! for a lock. The pool would find out only when the next one is about to get that connection, and have it wait for seconds,
//! for each such connection anew. So one that a request gives up is asked at once whether it is idle, beside everything
//! else, and is closed when it is not. Deliberately absent: cancelling the statement. It ends by itself, unheard.

use std::cell::Cell;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Object};
use tokio::runtime::Handle;

/// How long a statement may still take whose request was given up.
const END_MS_MAX: u64 = 250;

thread_local! {
    /// Whether this thread is dropping a request that is not over.
    static GIVES_UP: Cell<bool> = const { Cell::new(false) };
}

/// A connection of the pool.
pub(crate) struct Lent(Option<Object>);

impl From<Object> for Lent {
    fn from(object: Object) -> Self {
        Self(Some(object))
    }
}

impl Deref for Lent {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        let Some(object) = &self.0 else { unreachable!("only its drop takes it") };
        object
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut ClientWrapper {
        let Some(object) = &mut self.0 else { unreachable!("only its drop takes it") };
        object
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if GIVES_UP.get()
            && let (Some(object), Ok(runtime)) = (self.0.take(), Handle::try_current())
        {
            runtime.spawn(give_back(object));
        }
    }
}

/// Gives a connection back once it is idle, or closes it where that takes too long.
async fn give_back(object: Object) {
    let idle = object.simple_query("");
    if !matches!(tokio::time::timeout(Duration::from_millis(END_MS_MAX), idle).await, Ok(Ok(_))) {
        drop(Object::take(object));
    }
}

/// A request that may be dropped before it is over.
pub(crate) struct Running<T>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T> Running<T> {
    pub(crate) fn new(running: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(running)))
    }
}

impl<T> Future for Running<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(running) = &mut self.0 else { return Poll::Pending };
        let polled = running.as_mut().poll(cx);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            GIVES_UP.set(true);
            drop(running);
            GIVES_UP.set(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::mpsc::{Sender, channel};

    use futures_util::FutureExt;

    use super::*;

    /// Says when it is dropped whether its request is being given up.
    struct Held(Sender<bool>);

    impl Drop for Held {
        fn drop(&mut self) {
            self.0.send(GIVES_UP.get()).unwrap();
        }
    }

    fn holding(held: Held, until: impl Future<Output = ()> + Send + 'static) -> Running<()> {
        Running::new(async move {
            let _held = held;
            until.await;
        })
    }

    #[test]
    fn only_what_a_request_holds_that_is_dropped_before_it_is_over_is_given_up() {
        let (dropped, seen) = channel();
        let mut over = holding(Held(dropped.clone()), ready(()));
        assert_eq!((&mut over).now_or_never(), Some(()));
        drop(over);
        assert_eq!(seen.recv(), Ok(false), "it was over");
        let mut left = holding(Held(dropped), pending());
        assert_eq!((&mut left).now_or_never(), None);
        drop(left);
        assert_eq!(seen.recv(), Ok(true));
        assert!(!GIVES_UP.get(), "what is dropped next is none of its");
    }
}
