//! How a command ends: what a script sees, and what a person reads.

use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

use serde_json::{Value, json};

/// What a script can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did not work, for a reason that none of the others names.
    Failed,
    /// The command, a flag or the configuration is wrong.
    Usage,
    /// What the command is about does not exist.
    NotFound,
    /// Waybill understood and said no.
    Refused,
    /// Postgres, Kafka, the object store or the api cannot be reached: the same command may work later.
    Unavailable,
}

impl Exit {
    /// The number. 0 is done, and is never an error.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::Unavailable => 5,
        }
    }

    /// [`Self::Unavailable`] when something underneath `error` says that a dependency cannot be reached, otherwise
    /// [`Self::Failed`].
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            if is_unreachable(error) {
                return Self::Unavailable;
            }
            next = error.source();
        }
        Self::Failed
    }
}

fn is_unreachable(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<waybill_runtime::PoolError>() {
        return error.is_dependency();
    }
    if let Some(error) = error.downcast_ref::<tokio_postgres::Error>() {
        return error.is_closed() || error.code().is_some_and(waybill_store::is_away);
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        let kinds = [
            io::ErrorKind::ConnectionRefused,
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionAborted,
            io::ErrorKind::NotConnected,
            io::ErrorKind::TimedOut,
            io::ErrorKind::HostUnreachable,
            io::ErrorKind::NetworkUnreachable,
        ];
        return kinds.contains(&error.kind());
    }
    error
        .downcast_ref::<rdkafka::error::KafkaError>()
        .and_then(rdkafka::error::KafkaError::rdkafka_error_code)
        .is_some_and(|code| {
            use rdkafka::types::RDKafkaErrorCode::{
                AllBrokersDown, BrokerTransportFailure, OperationTimedOut, Resolve,
            };
            [AllBrokersDown, BrokerTransportFailure, OperationTimedOut, Resolve].contains(&code)
        })
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

/// Why a command was not done.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// What the process exits with.
    pub(crate) exit: Exit,
    /// The slug with a page in `docs/errors/`.
    pub(crate) code: String,
    /// One sentence.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    members: Vec<(&'static str, String)>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl CommandError {
    /// An error that ends the command with `exit`.
    pub(crate) fn new(exit: Exit, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            exit,
            code: code.into(),
            message: message.into(),
            hint: None,
            members: Vec::new(),
            source: None,
        }
    }

    /// Keeps the error underneath.
    pub(crate) fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Says what to do.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Tells a script one thing more, under a name of its own.
    pub(crate) fn with_member(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.members.push((name, value.into()));
        self
    }

    /// The error as a script reads it.
    pub(crate) fn json(&self) -> Value {
        let mut body = json!({
            "code": self.code,
            "message": self.message,
            "causes": self.causes(),
            "hint": self.hint,
            "exit": self.exit.number(),
        });
        for (name, value) in &self.members {
            body[*name] = value.as_str().into();
        }
        body
    }

    /// The causes from the outermost to the innermost, each said once: drivers like to repeat their source.
    pub(crate) fn causes(&self) -> Vec<String> {
        waybill_runtime::causes(self).split_off(1)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CommandError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandError, Exit};

    #[test]
    fn each_way_to_end_has_the_number_that_the_design_gives_it() {
        let numbers =
            [Exit::Failed, Exit::Usage, Exit::NotFound, Exit::Refused, Exit::Unavailable].map(Exit::number);
        assert_eq!(numbers, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_cause_that_only_repeats_the_one_before_is_said_once() {
        let inner = CommandError::new(Exit::Failed, "a", "connection refused");
        let middle =
            CommandError::new(Exit::Failed, "b", "cannot connect: connection refused").with_source(inner);
        let outer = CommandError::new(Exit::Unavailable, "c", "the database is away").with_source(middle);
        assert_eq!(outer.causes(), ["cannot connect: connection refused"]);
    }
}
