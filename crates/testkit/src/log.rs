//! What a process says, line by line, as a signal to wait on.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::thread;

use serde_json::Value;
use tokio::sync::watch;

/// How many lines of the end a panic shows.
const TAIL_LINES: usize = 40;

/// The lines that a process has written so far to standard output and standard error, in the order they came.
#[derive(Clone, Debug)]
pub struct Log {
    lines: watch::Receiver<Vec<String>>,
    writer: Arc<watch::Sender<Vec<String>>>,
}

impl Log {
    pub(crate) fn empty() -> Self {
        let (writer, lines) = watch::channel(Vec::new());
        Self { lines, writer: Arc::new(writer) }
    }

    /// Reads a pipe to its end in a thread of its own.
    pub(crate) fn follow(&self, pipe: impl Read + Send + 'static) {
        let writer = Arc::clone(&self.writer);
        thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                writer.send_modify(|lines| lines.push(line));
            }
        });
    }

    /// All lines so far.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lines.borrow().clone()
    }

    /// The last lines, as one text.
    #[must_use]
    pub fn tail(&self) -> String {
        let lines = self.lines.borrow();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }

    /// The first event, past or to come, that `wanted` gives something for. Lines that are no JSON are passed over.
    /// Pending for ever when none comes: the caller bounds it.
    pub async fn event<T>(&self, wanted: impl Fn(&Event<'_>) -> Option<T>) -> T {
        let mut lines = self.lines.clone();
        let mut seen = 0;
        loop {
            {
                let now = lines.borrow_and_update();
                for line in &now[seen..] {
                    let Ok(json) = serde_json::from_str::<Value>(line) else { continue };
                    if let Some(found) = wanted(&Event(&json)) {
                        return found;
                    }
                }
                seen = now.len();
            }
            // The writer lives as long as this log does, so this only ends with a new line.
            if lines.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

/// One JSON line of a process's log.
#[derive(Debug)]
pub struct Event<'a>(&'a Value);

impl Event<'_> {
    /// The event's message.
    #[must_use]
    pub fn message(&self) -> &str {
        self.field("message").unwrap_or_default()
    }

    /// A field of the event that holds a string.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.value(name).and_then(Value::as_str)
    }

    /// A field of the event that holds a whole number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        self.value(name).and_then(Value::as_i64)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        let nested = self.0.get("fields").and_then(|fields| fields.get(name));
        nested.or_else(|| self.0.get(name))
    }
}
