//! The one transaction by which a batch has its effect, its dedup, its parked records and its position, or none of them.

use std::sync::Arc;
use std::time::Instant;

use deadpool_postgres::Object;
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;
use waybill_fault_points::{Point, reach};

use crate::crew::Crew;
use crate::effect::{Batch, Dedup, Delivery, Effect, EventKey, Poison};
use crate::failure::Failure;
use crate::inbox::{self, Identity};
use crate::position::{Move, Moved, advance};
use crate::record::Record;
use crate::{codes, parked};

/// How long a transaction may sit idle before Postgres ends it, in milliseconds as Postgres takes them.
const IDLE_TIMEOUT_MS: &str = "20000";
/// How long it may wait for one lock.
const LOCK_TIMEOUT_MS: &str = "30000";

/// A partition as its holder knows it.
#[derive(Debug, Clone)]
pub(crate) struct Holding {
    pub(crate) topic_id: Arc<str>,
    pub(crate) fence: i64,
    pub(crate) next_offset: i64,
}

/// A record and what became of it: an event, or the reason to park it.
#[derive(Debug)]
pub(crate) struct Piece<T> {
    pub(crate) record: Record,
    pub(crate) outcome: Result<Delivery<T>, Poison>,
}

/// Commits `pieces`, of which there is one at least, and answers the position that is stored now.
pub(crate) async fn commit<E: Effect>(
    crew: &Crew<E>,
    holding: &Holding,
    pieces: &[Piece<E::Event>],
) -> Result<i64, Failure> {
    // Never closed; a closed semaphore would only mean that nothing is limited any more.
    let _permit = crew.transactions.acquire().await.ok();
    let mut client = crew.pool.get().await.map_err(|cause| Failure::Unavailable(cause.into()))?;
    let began = Instant::now();
    let tried =
        tokio::time::timeout(crew.options.batch_timeout, on(&mut client, crew, holding, pieces)).await;
    let committed = tried.unwrap_or_else(|elapsed| Err(Failure::Unavailable(elapsed.into())));
    match committed {
        Ok(next_offset) => {
            crew.meter.batch_seconds.record(began.elapsed().as_secs_f64());
            crew.meter.batches.increment(1);
            crew.meter.records.increment(pieces.len() as u64);
            reach(Point::ConsumerCommitted);
            Ok(next_offset)
        }
        Err(failure) => {
            if let Failure::Unavailable(_) | Failure::Failing(_) = failure {
                // It may be half-open, of a server that turned read-only, or in a transaction: nobody gets it again.
                drop(Object::take(client));
            }
            Err(failure)
        }
    }
}

async fn on<E: Effect>(
    client: &mut Object,
    crew: &Crew<E>,
    holding: &Holding,
    pieces: &[Piece<E::Event>],
) -> Result<i64, Failure> {
    let tx = client.transaction().await?;
    let next_offset = within(&tx, crew, holding, pieces).await?;
    tx.commit().await?;
    Ok(next_offset)
}

async fn within<E: Effect>(
    tx: &Transaction<'_>,
    crew: &Crew<E>,
    holding: &Holding,
    pieces: &[Piece<E::Event>],
) -> Result<i64, Failure> {
    let Some(last) = pieces.last() else { return Ok(holding.next_offset) };
    // A hole that compaction or a transaction's marker left is passed like a record.
    let next_offset = last.record.offset + 1;
    tx.query_typed(
        include_str!("transaction/bound.sql"),
        &[(&IDLE_TIMEOUT_MS, Type::TEXT), (&LOCK_TIMEOUT_MS, Type::TEXT)],
    )
    .await?;
    let place = crew.place(last.record.partition);
    let step = Move { fence: holding.fence, expected: holding.next_offset, next: next_offset };
    // The position first: its row lock keeps two holders from working on the same records at once.
    match advance(tx, place, step).await? {
        Moved::Yes => {}
        Moved::Fenced => return Err(Failure::Fenced),
        Moved::Stopped(stop_at) => return Err(Failure::Stopped(stop_at)),
    }
    for piece in pieces {
        if let Err(poison) = &piece.outcome {
            parked::park(tx, place.group, &holding.topic_id, &piece.record, poison).await?;
            crew.meter.parked.increment(1);
        }
    }
    let events = fresh(tx, crew, pieces).await?;
    if !events.is_empty() {
        let batch = Batch {
            group: place.group,
            topic: place.topic,
            topic_id: &holding.topic_id,
            partition: place.partition,
            next_offset,
            events,
        };
        crew.effect.apply(tx, &batch).await?;
    }
    Ok(next_offset)
}

/// The events that have had no effect yet.
async fn fresh<'a, E: Effect>(
    tx: &Transaction<'_>,
    crew: &Crew<E>,
    pieces: &'a [Piece<E::Event>],
) -> Result<Vec<&'a Delivery<E::Event>>, Failure> {
    let events: Vec<_> = pieces.iter().filter_map(|piece| piece.outcome.as_ref().ok()).collect();
    if crew.effect.dedup() == Dedup::ByEffect || events.is_empty() {
        return Ok(events);
    }
    let identified: Vec<(Identity, &Delivery<E::Event>)> =
        events.into_iter().map(|delivery| (identity(crew, &delivery.event), delivery)).collect();
    let identities = identified.iter().map(|(identity, _)| identity).collect();
    let mut new = inbox::record(tx, &crew.options.group, identities).await?;
    // The first of two copies in one batch takes the key; the second finds it gone.
    let (fresh, copies): (Vec<_>, Vec<_>) =
        identified.iter().partition(|(identity, _)| new.remove(&identity.key));
    refuse_collision(tx, &crew.options.group, &copies).await?;
    crew.meter.duplicates.increment(copies.len() as u64);
    Ok(fresh.into_iter().map(|(_, delivery)| *delivery).collect())
}

fn identity<E: Effect>(crew: &Crew<E>, event: &E::Event) -> Identity {
    Identity { key: crew.effect.event_key(event), fingerprint: crew.effect.fingerprint(event) }
}

/// A copy that says something else than the event under its key is none.
async fn refuse_collision<T>(
    tx: &Transaction<'_>,
    group: &str,
    copies: &[&(Identity, &Delivery<T>)],
) -> Result<(), Failure> {
    let identities: Vec<&Identity> = copies.iter().map(|(identity, _)| identity).collect();
    if identities.iter().all(|identity| identity.fingerprint.is_none()) {
        return Ok(());
    }
    let recorded = inbox::recorded(tx, group, &identities).await?;
    for (identity, delivery) in copies {
        let EventKey { source, id } = &identity.key;
        let stands = recorded.get(&identity.key).filter(|recorded| identity.collides_with(recorded));
        if let Some(stands) = stands {
            let mine = identity.fingerprint.as_deref().unwrap_or_default();
            let detail = format!(
                "source {source:?} and id {id:?} stand for an event with the fingerprint {}, this one has {}",
                hex(stands),
                hex(mine)
            );
            let poison = Poison { reason: codes::IDENTITY_COLLISION, detail };
            return Err(Failure::Poison { offset: delivery.offset, poison });
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
