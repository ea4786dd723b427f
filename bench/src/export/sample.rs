//! What one file cost.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::processor::{Of, time};
use crate::stack::Stack;

/// What one file cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// Processor time of the server and of who wrote the file.
    pub(crate) processor: Duration,
    /// From the wish to the file.
    pub(crate) elapsed: Duration,
    /// The most memory that the writing process ever had resident, where it is told.
    pub(crate) peak_resident_bytes: Option<u64>,
    pub(crate) bytes: u64,
}

impl Sample {
    pub(crate) fn describe(&self) -> String {
        let memory = self.peak_resident_bytes.map(|bytes| format!(", {} MB resident", bytes / 1_000_000));
        format!(
            "{:.2} s of processor in {:.2} s, {} MB{}",
            self.processor.as_secs_f64(),
            self.elapsed.as_secs_f64(),
            self.bytes / 1_000_000,
            memory.unwrap_or_default()
        )
    }
}

/// Who wrote: the client beside the server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Writer {
    /// A process that runs on.
    Process(i32),
    /// Programs that this process starts and waits for meanwhile.
    Children,
}

/// The processor time of a server and a writer, from here on.
#[derive(Debug)]
pub(crate) struct Account {
    server: Of,
    writer: Writer,
    begun: Instant,
    before: Duration,
}

impl Account {
    pub(crate) fn open(stack: &Stack, writer: Writer) -> Result<Self> {
        let running = stack.service("postgres").running().context("Postgres does not run")?;
        // A connection is a child of the server's; one that has ended is in what the server has waited for.
        let server = Of::Family(running.pid);
        let before = time(server) + taken(writer);
        Ok(Self { server, writer, begun: Instant::now(), before })
    }

    pub(crate) fn close(&self, peak_resident_bytes: Option<u64>, bytes: u64) -> Sample {
        let after = time(self.server) + taken(self.writer);
        Sample {
            processor: after.saturating_sub(self.before),
            elapsed: self.begun.elapsed(),
            peak_resident_bytes,
            bytes,
        }
    }
}

fn taken(writer: Writer) -> Duration {
    time(match writer {
        Writer::Process(pid) => Of::Process(pid),
        Writer::Children => Of::Ended(std::process::id().cast_signed()),
    })
}
