//! Events that are committed one by one at a pace, and how soon each is acknowledged.

use anyhow::Result;
use rdkafka::Message;

use super::debezium::{Debezium, Tuning};
use super::event::Event;
use super::latency::Latencies;
use super::outbox::Outbox;
use super::rounds::{Rounds, per_second};
use super::size::PACE_PER_SECOND;
use super::waybill;
use super::writers::{self, Plan};
use crate::stall::Stall;
use crate::topic::Topic;

/// What comes before, so that everybody is awake: events, and how many of them in a second.
const PRELUDE_EVENTS: u64 = 2_000;
const PRELUDE_PER_SECOND: u64 = 1_000;

/// What a paced round came to.
#[derive(Debug)]
pub(crate) struct Paced {
    /// What the writers reached: on a slow disk that may be less than they were to.
    pub(crate) committed_per_s: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// None for the peer, and where the system does not tell.
    pub(crate) peak_resident_bytes: Option<u64>,
}

impl Rounds<'_> {
    /// Behind our outbox.
    pub(crate) async fn pace_relay(&self, round: usize) -> Result<Paced> {
        let relay = waybill::start(&self.waybill, self.stack)?;
        let processes = [("relay", relay.pid)];
        let paced = self.pace("relay", Outbox::Waybill, round, &processes).await;
        let checked = relay.check();
        let peak_resident_bytes = relay.stop()?;
        let paced = checked.and(paced)?;
        Ok(Paced { peak_resident_bytes, ..paced })
    }

    /// Behind Debezium's.
    pub(crate) async fn pace_peer(&self, round: usize, peer: &Debezium, tuning: Tuning) -> Result<Paced> {
        // Nothing of the earlier rounds is to be skipped once the pace begins: the prelude waits for that.
        peer.resume(tuning).await?;
        let paced = self.pace(tuning.slug(), Outbox::Debezium, round, &[("connect", peer.pid)]).await;
        let paused = peer.pause().await;
        let paced = paced?;
        paused.map(|()| paced)
    }

    async fn pace(
        &self,
        name: &str,
        outbox: Outbox,
        round: usize,
        processes: &[(&'static str, i32)],
    ) -> Result<Paced> {
        let prelude = self.topic(&format!("prelude-{name}"), round).await?;
        let mut plan = Plan {
            url: self.url(outbox),
            outbox,
            topic: prelude.name().to_owned(),
            events: PRELUDE_EVENTS,
            per_second: PRELUDE_PER_SECOND,
        };
        outbox.empty(self.db(outbox)).await?;
        writers::write(plan.clone()).await?;
        self.arrival(&prelude, PRELUDE_EVENTS).await?;
        outbox.empty(self.db(outbox)).await?;

        let topic = self.topic(&format!("paced-{name}"), round).await?;
        let events = self.size.paced_events();
        topic.name().clone_into(&mut plan.topic);
        (plan.events, plan.per_second) = (events, PACE_PER_SECOND);
        let meter = self.progress.begin(&format!("  {name}, {PACE_PER_SECOND} events/s"), events);
        let shares = self.shares(processes);
        let (commits, took) = writers::write(plan).await?;
        let shares = shares.describe();
        self.arrival(&topic, events).await?;
        let latencies = Latencies::read(&topic, &commits, events)?;
        let committed_per_s = per_second(events, took.as_secs_f64());
        let (p50_ms, p99_ms) = (latencies.percentile(50), latencies.percentile(99));
        meter.end(&format!(
            "{committed_per_s:.0} commits/s, acknowledged after {p50_ms:.1} ms (median), {p99_ms:.1} ms (p99); {shares}"
        ));
        Ok(Paced { committed_per_s, p50_ms, p99_ms, peak_resident_bytes: None })
    }

    /// Waits until the topic holds so many records.
    async fn arrival(&self, topic: &Topic, records: u64) -> Result<()> {
        let mut stall = Stall::watch();
        loop {
            let done = topic.records()?;
            if done >= records {
                return Ok(());
            }
            if let Err(stalled) = stall.next(done).await {
                return Err(stalled.context(absent(topic, done, records)?));
            }
        }
    }
}

/// Says which of the events that were committed are not in the topic.
fn absent(topic: &Topic, present: u64, committed: u64) -> Result<String> {
    let mut seen = vec![false; usize::try_from(committed)?];
    let mut unread = present;
    if unread > 0 {
        topic.read(|record| {
            let number = record.payload().and_then(Event::number_of);
            if let Some(entry) = number.and_then(|number| seen.get_mut(usize::try_from(number).ok()?)) {
                *entry = true;
            }
            unread -= 1;
            unread > 0
        })?;
    }
    let first = seen.iter().position(|seen| !seen).unwrap_or_default();
    let absent = seen.iter().filter(|seen| !**seen).count();
    Ok(format!("{absent} of {committed} committed events do not arrive, the first is number {first}"))
}
