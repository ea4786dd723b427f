//! Server-sent events, as a client reads them.

use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::bounded::within;

/// A stream of events that is being read.
#[derive(Debug)]
pub struct Events {
    response: Response,
    read: String,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What `Last-Event-ID` says of it.
    pub id: String,
    /// Its data.
    pub data: Value,
}

impl Events {
    pub(crate) fn of(response: Response) -> Self {
        Self { response, read: String::new() }
    }

    /// What was answered before the first event.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// The next event, or none when the stream has ended.
    ///
    /// # Panics
    /// When nothing comes in time, or what is no event.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.read.split_once("\n\n") {
                let event = event(block);
                self.read = rest.to_owned();
                if event.is_some() {
                    return event;
                }
                continue;
            }
            let part = within("an event, or the end", self.response.chunk()).await;
            match part.unwrap_or_else(|error| panic!("the stream broke off: {error:?}")) {
                Some(part) => self.read.push_str(&String::from_utf8_lossy(&part)),
                None => {
                    assert_eq!(self.read, "", "the stream ended within an event");
                    return None;
                }
            }
        }
    }
}

/// An event, if the block is one and no comment.
fn event(block: &str) -> Option<Event> {
    let field = |name: &str| {
        block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::to_owned)
    };
    let data = field("data")?;
    Some(Event {
        id: field("id").unwrap_or_default(),
        data: serde_json::from_str(&data).unwrap_or_else(|error| panic!("{data}: {error}")),
    })
}
