//! What a round works with, and what each of its parts begins with.

use anyhow::Result;
use tokio_postgres::Client;

use super::bare;
use super::debezium;
use super::event::Event;
use super::outbox::Outbox;
use super::size::{PARTITIONS, Size};
use super::waybill;
use crate::installation::{DATABASE, Installation};
use crate::processor::Of;
use crate::progress::Progress;
use crate::shares::Shares;
use crate::stack::Stack;
use crate::topic::Topic;

/// The round that comes before the first and is not measured: everybody's code gets compiled and cached in it.
pub(crate) const WARM_UP: usize = 0;

/// What a run works with.
pub(crate) struct Rounds<'run> {
    pub(crate) stack: &'run Stack,
    pub(crate) progress: &'run Progress,
    pub(crate) size: Size,
    /// The relay's database.
    pub(crate) ours: Client,
    /// Debezium's.
    pub(crate) peers: Client,
    pub(crate) waybill: Installation<'run>,
}

impl Rounds<'_> {
    /// The limit: events a second of a producer that has no database behind it.
    pub(crate) async fn send_bare(&self, round: usize) -> Result<f64> {
        let rows = self.rows(round);
        let topic = self.topic("bare", round).await?;
        let mut settings = waybill::producer_settings(&self.waybill)?;
        settings.push(("bootstrap.servers", self.stack.bootstrap()));
        let events: Vec<Event> = (0..rows).map(Event::of).collect();
        let meter = self.progress.begin("  bare producer", rows);
        let shares = self.shares(&[]);
        let took = bare::send(&settings, topic.name(), &events, &meter)?;
        let rate = per_second(rows, took.as_secs_f64());
        meter.end(&format!("{rate:.0} events/s; {}", shares.describe()));
        Ok(rate)
    }

    /// The rows of a round: fewer when it only warms up.
    pub(super) fn rows(&self, round: usize) -> u64 {
        if round == WARM_UP { self.size.warm_up_rows } else { self.size.rows }
    }

    /// A topic that nothing was ever written to.
    pub(super) async fn topic(&self, name: &str, round: usize) -> Result<Topic> {
        Topic::create(&self.stack.bootstrap(), &format!("bench.{name}.{round}"), PARTITIONS).await
    }

    pub(super) fn db(&self, outbox: Outbox) -> &Client {
        match outbox {
            Outbox::Waybill => &self.ours,
            Outbox::Debezium => &self.peers,
        }
    }

    pub(super) fn url(&self, outbox: Outbox) -> String {
        self.stack.database_url(match outbox {
            Outbox::Waybill => DATABASE,
            Outbox::Debezium => debezium::DATABASE,
        })
    }

    /// Empties the outbox and commits a backlog.
    pub(super) async fn fill(&self, outbox: Outbox, topic: &str, rows: u64) -> Result<()> {
        let db = self.db(outbox);
        outbox.empty(db).await?;
        let meter = self.progress.begin("  commit the backlog", rows);
        outbox.fill(db, topic, rows, &meter).await?;
        meter.end(&format!("{rows} rows"));
        Ok(())
    }

    /// The processor's time of everybody, beginning now.
    pub(super) fn shares(&self, others: &[(&'static str, i32)]) -> Shares {
        let pid_of = |name| self.stack.service(name).running().map_or(0, |running| running.pid);
        let others = others.iter().map(|&(name, pid)| (name, Of::Process(pid)));
        let shared = [
            // A connection is a child of the server's.
            ("postgres", Of::Family(pid_of("postgres"))),
            ("kafka", Of::Process(pid_of("kafka"))),
            ("bench", Of::Process(std::process::id().cast_signed())),
        ];
        Shares::begin(&others.chain(shared).collect::<Vec<_>>())
    }
}

/// Events a second.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(super) fn per_second(events: u64, seconds: f64) -> f64 {
    events as f64 / seconds
}
