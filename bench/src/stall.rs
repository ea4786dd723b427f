//! Waiting for something that goes on, and not for something that stands.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// How long nothing may happen.
const STALL_MAX: Duration = Duration::from_secs(90);

/// How often to look: nobody tells a bystander, and looking must not cost what is measured.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// How far it was, and since when.
#[derive(Debug)]
pub(crate) struct Stall {
    done: u64,
    since: Instant,
}

impl Stall {
    pub(crate) fn watch() -> Self {
        Self { done: 0, since: Instant::now() }
    }

    /// Takes a look into account, and sleeps until the next one.
    pub(crate) async fn next(&mut self, done: u64) -> Result<()> {
        if done != self.done {
            *self = Self { done, since: Instant::now() };
        } else if self.since.elapsed() > STALL_MAX {
            bail!("nothing has moved for {} s, at {done}", STALL_MAX.as_secs());
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
        Ok(())
    }
}
