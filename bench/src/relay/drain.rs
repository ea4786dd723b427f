//! Draining a committed backlog.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio_postgres::Client;

use super::debezium::{Debezium, Tuning};
use super::outbox::Outbox;
use super::rounds::{Rounds, WARM_UP, per_second};
use super::standing::{Cost, Look, Standing};
use super::waybill;
use crate::installation::Started;
use crate::postgres::connect;
use crate::stall::{LOOK_INTERVAL, Stall};
use crate::topic::Topic;

/// How long a started relay may take until it holds the lease.
const LEASE_MAX: Duration = Duration::from_secs(30);

/// A backlog that the relay drained.
#[derive(Debug)]
pub(crate) struct Drain {
    pub(crate) events_per_s: f64,
    /// While nothing else wrote.
    pub(crate) wal_bytes_per_event: f64,
    pub(crate) dead_tuples_per_batch: f64,
    pub(crate) updates_per_batch: f64,
    /// None where the system does not tell.
    pub(crate) peak_resident_bytes: Option<u64>,
}

impl Rounds<'_> {
    /// The relay, from the moment when it holds the lease until its cursor has passed every row; while a transaction
    /// that began before the first row is held open, or not.
    pub(crate) async fn drain_relay(&self, round: usize, is_held: bool) -> Result<Drain> {
        let topic = self.topic(if is_held { "held" } else { "relay" }, round).await?;
        self.ours.batch_execute("TRUNCATE outbox.batches").await?;
        let held = if is_held { Some(self.open_transaction().await?) } else { None };
        let rows = self.rows(round);
        self.fill(Outbox::Waybill, topic.name(), rows).await?;
        let look = Look::prepare(&self.ours).await?;
        let (cost, before) = (Cost::read(&self.ours).await?, look.standing().await?);
        let relay = waybill::start(&self.waybill, self.stack)?;
        let drained = self.drained(&relay, &look, before, rows, is_held).await;
        let peak_resident_bytes = relay.stop()?;
        let (took, batches) = drained?;
        drop(held);
        let cost = Cost::read_after_relay(&self.ours).await?.since(cost);
        let records = topic.records()?;
        if records != rows {
            bail!("the relay sent {records} records for {rows} rows");
        }
        Ok(Drain {
            events_per_s: per_second(rows, took.as_secs_f64()),
            wal_bytes_per_event: per_part(cost.wal_bytes, rows),
            dead_tuples_per_batch: per_part(cost.dead_tuples, batches),
            updates_per_batch: per_part(cost.updates, batches),
            peak_resident_bytes,
        })
    }

    /// How long the drain took, in how many batches.
    async fn drained(
        &self,
        relay: &Started,
        look: &Look<'_>,
        before: Standing,
        rows: u64,
        is_held: bool,
    ) -> Result<(Duration, u64)> {
        let asked = Instant::now();
        while look.standing().await?.fence == before.fence {
            relay.check()?;
            if asked.elapsed() > LEASE_MAX {
                bail!("the relay took no lease within {} s", LEASE_MAX.as_secs());
            }
            tokio::time::sleep(LOOK_INTERVAL / 5).await;
        }
        let begun = Instant::now();
        let title = if is_held { "  relay, beside an open transaction" } else { "  relay" };
        let meter = self.progress.begin(title, rows);
        let shares = self.shares(&[("relay", relay.pid)]);
        let mut stall = Stall::watch();
        loop {
            let now = look.standing().await?;
            let done = now.acknowledged - before.acknowledged;
            if done >= rows {
                let (took, batches) = (begun.elapsed(), now.batches - before.batches);
                let rate = per_second(rows, took.as_secs_f64());
                meter.end(&format!("{rate:.0} events/s in {batches} batches; {}", shares.describe()));
                return Ok((took, batches));
            }
            meter.set(done);
            if let Err(stalled) = stall.next(done).await {
                relay.check()?;
                return Err(stalled);
            }
        }
    }

    /// A writer that has begun, written something somewhere, and does not end.
    async fn open_transaction(&self) -> Result<Client> {
        let writer = connect(&self.url(Outbox::Waybill)).await?;
        writer.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()").await?;
        Ok(writer)
    }

    /// Debezium, from the first record that it sends to the last one, in events a second: neither its start nor the log
    /// that it has to skip counts.
    pub(crate) async fn drain_peer(&self, round: usize, peer: &Debezium, tuning: Tuning) -> Result<f64> {
        let rows = if round == WARM_UP { self.size.peer_warm_up_rows } else { self.size.rows };
        let topic = &self.topic(tuning.slug(), round).await?;
        self.fill(Outbox::Debezium, topic.name(), rows).await?;
        peer.resume(tuning).await?;
        let already = arrived(topic, 1, peer, |_| ()).await?;
        let begun = Instant::now();
        let shares = self.shares(&[("connect", peer.pid)]);
        let meter = self.progress.begin(&format!("  {}", tuning.name()), rows);
        arrived(topic, rows, peer, |done| meter.set(done)).await?;
        let rate = per_second(rows.saturating_sub(already), begun.elapsed().as_secs_f64());
        meter.end(&format!("{rate:.0} events/s; {}", shares.describe()));
        peer.pause().await?;
        Ok(rate)
    }
}

/// Waits until Debezium has sent so many records, and gives how many these then are.
async fn arrived(topic: &Topic, records: u64, peer: &Debezium, each: impl Fn(u64)) -> Result<u64> {
    let mut stall = Stall::watch();
    loop {
        let done = topic.records()?;
        if done >= records {
            return Ok(done);
        }
        each(done);
        if let Err(stalled) = stall.next(done).await {
            peer.check().await?;
            return Err(stalled.context("Debezium stands"));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn per_part(whole: u64, parts: u64) -> f64 {
    whole as f64 / parts as f64
}
