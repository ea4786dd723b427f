//! A Postgres server of one's own, for a test that ends it at once.

use std::sync::{Mutex, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio_postgres::Client;
use waybill_devstack::{Credentials, Durability, Postgres};

use crate::bounded::eventually;
use crate::database::connect;
use crate::own::{Premises, gone, signal, stop};

/// Nothing but a commit, or whoever asks for it, writes the log to disk: with these, and its log writer frozen, what was
/// committed asynchronously is lost with the server.
const FLUSHED_BY_NOBODY_ELSE: [&str; 3] =
    ["wal_writer_delay=10s", "bgwriter_lru_maxpages=0", "autovacuum=off"];

/// A server that no other test uses, durable as in production. Stopped and removed when this goes out of scope.
pub struct PrivatePostgres {
    postgres: Postgres,
    premises: Premises,
    /// The log writer, as long as it is frozen.
    frozen: Mutex<Option<Pid>>,
}

impl PrivatePostgres {
    /// Starts one with these settings (`name=value`) and waits until it answers.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(settings: &[&str]) -> Self {
        let server = Self::fresh(settings);
        server.run();
        server
    }

    /// Starts a standby of this one with these settings and waits until it answers.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn standby(&self, settings: &[&str]) -> Self {
        let mut standby = Self::fresh(settings);
        let followed = standby.postgres.follow(&self.postgres, &standby.premises.undertaking);
        followed.unwrap_or_else(|error| panic!("{error}"));
        standby.run();
        standby
    }

    fn fresh(settings: &[&str]) -> Self {
        let premises = Premises::fresh("postgres");
        let credentials = Credentials::load(&premises.layout);
        let mut credentials = credentials.unwrap_or_else(|error| panic!("{error}"));
        let mut ports = premises.ports();
        let postgres = Postgres::of(&premises.layout, &mut ports, &mut credentials, Durability::Durable);
        let postgres = FLUSHED_BY_NOBODY_ELSE
            .iter()
            .chain(settings)
            .fold(postgres.unwrap_or_else(|error| panic!("{error}")), |postgres, setting| {
                postgres.with_setting(setting)
            });
        Self { postgres, premises, frozen: Mutex::new(None) }
    }

    /// Starts it again after a [`PrivatePostgres::crash`], on the same data and under the same address. It then recovers.
    ///
    /// # Panics
    /// When it does not start.
    pub fn run(&self) {
        self.postgres.start(&self.premises.undertaking).unwrap_or_else(|error| panic!("{error}"));
        self.postgres.wait_ready().unwrap_or_else(|error| panic!("{error}"));
    }

    /// The URL of its administrator.
    #[must_use]
    pub fn url(&self) -> String {
        self.postgres.admin_url("postgres")
    }

    /// From now on an asynchronous commit reaches the disk only together with a synchronous one.
    ///
    /// # Panics
    /// When it does not answer.
    pub async fn freeze_log_writer(&self) {
        let client = connect(&self.url()).await;
        eventually("the log's writer to be stopped where it holds no lock", async || {
            let (pid, _) = log_writer(&client).await;
            kill(pid, Signal::SIGSTOP).unwrap_or_else(|error| panic!("{error}"));
            let (_, is_asleep) = log_writer(&client).await;
            if !is_asleep {
                // It may be writing, and whoever commits would wait for it.
                kill(pid, Signal::SIGCONT).unwrap_or_else(|error| panic!("{error}"));
                return None;
            }
            *self.frozen.lock().unwrap_or_else(PoisonError::into_inner) = Some(pid);
            Some(())
        })
        .await;
    }

    /// Ends it at once, as `pg_ctl stop -m immediate` does and a power cut would: without a checkpoint, and with what of its
    /// log is not on disk.
    ///
    /// # Panics
    /// When it does not run.
    pub async fn crash(&self) {
        signal(self.postgres.service(), Signal::SIGQUIT);
        self.end_log_writer();
        gone(self.postgres.service()).await;
    }

    /// A frozen process would not hear that it is to end. It runs no more than that once the server is ending.
    fn end_log_writer(&self) {
        if let Some(pid) = self.frozen.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = kill(pid, Signal::SIGKILL);
        }
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        // At once, for nobody needs its data any more.
        if let Some(running) = self.postgres.service().running() {
            let _ = kill(Pid::from_raw(running.pid), Signal::SIGQUIT);
        }
        self.end_log_writer();
        stop(self.postgres.service());
        let _ = self.postgres.remove();
    }
}

/// The process that writes the log in the background, and whether it does nothing at this moment.
async fn log_writer(client: &Client) -> (Pid, bool) {
    let question = "SELECT pid, wait_event IS NOT DISTINCT FROM 'WalWriterMain' FROM pg_stat_activity
        WHERE backend_type = 'walwriter'";
    let row = client.query_one(question, &[]).await.unwrap_or_else(|error| panic!("{question}: {error:?}"));
    (Pid::from_raw(row.get(0)), row.get(1))
}
