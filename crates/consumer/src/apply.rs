//! Applying what was fetched of one partition: decode, then transaction after transaction until all of it is applied or
//! parked, or the partition is somebody else's.

use tokio_util::sync::CancellationToken;

use crate::backoff::Backoff;
use crate::codes;
use crate::complaint::Complaint;
use crate::crew::{Crew, Finished, Signal, Ticket};
use crate::effect::{DecodeError, Delivery, Effect, Poison};
use crate::failure::{Failure, chain};
use crate::record::Record;
use crate::transaction::{Holding, Piece, commit};

/// How often Postgres has to refuse one record's values before the record is parked: a constraint may have been hit by a
/// race.
const REJECTIONS_MAX: u32 = 3;

/// Applies `records`, which follow the holding's position in offset order. Says each commit to the poll thread.
pub(crate) async fn apply<E: Effect>(
    crew: &Crew<E>,
    ticket: Ticket,
    holding: Holding,
    records: Vec<Record>,
    cancel: &CancellationToken,
) -> Finished {
    let mut work = Work {
        crew,
        ticket,
        holding,
        complaint: crew.complaint(ticket.partition),
        backoff: Backoff::new(crew.options.backoff_max),
        rejections: 0,
    };
    let mut waiting = records;
    while !waiting.is_empty() {
        let (pieces, wait) = decode(&*crew.effect, &mut waiting);
        if let Err(finished) = work.commit_all(pieces, cancel).await {
            return finished;
        }
        if let Some(detail) = wait {
            work.complaint.raise(codes::RECORD_WAITING, &detail);
            if !work.backoff.wait(cancel).await {
                return Finished::Cancelled;
            }
        }
    }
    Finished::Applied
}

/// Decodes from the front of `records` up to a record that has to wait, and says what for. What is decoded is taken out.
fn decode<E: Effect>(effect: &E, records: &mut Vec<Record>) -> (Vec<Piece<E::Event>>, Option<String>) {
    let mut decoded = Vec::with_capacity(records.len());
    let mut wait = None;
    for record in records.iter() {
        match decode_one(effect, record) {
            Ok(delivery) => decoded.push(Ok(delivery)),
            Err(DecodeError::Poison(poison)) => decoded.push(Err(poison)),
            Err(DecodeError::Wait { reason, detail }) => {
                wait = Some(format!("offset {}: {reason}: {detail}", record.offset));
                break;
            }
        }
    }
    let taken = records.drain(..decoded.len());
    (taken.zip(decoded).map(|(record, outcome)| Piece { record, outcome }).collect(), wait)
}

fn decode_one<E: Effect>(effect: &E, record: &Record) -> Result<Delivery<E::Event>, DecodeError> {
    if record.header_name_lossy {
        let detail = "a header's name is not UTF-8; it is kept with replacement characters".to_owned();
        return Err(Poison { reason: codes::HEADER_NAME_NOT_UTF8, detail }.into());
    }
    let event = effect.decode(record)?;
    Ok(Delivery { offset: record.offset, timestamp_ms: record.timestamp_ms, event })
}

struct Work<'a, E> {
    crew: &'a Crew<E>,
    ticket: Ticket,
    holding: Holding,
    complaint: Complaint<'a>,
    backoff: Backoff,
    rejections: u32,
}

impl<E: Effect> Work<'_, E> {
    /// Commits all pieces, in as many transactions as it takes.
    async fn commit_all(
        &mut self,
        mut pieces: Vec<Piece<E::Event>>,
        cancel: &CancellationToken,
    ) -> Result<(), Finished> {
        let mut limit = pieces.len();
        while !pieces.is_empty() {
            if cancel.is_cancelled() {
                return Err(Finished::Cancelled);
            }
            let count = limit.clamp(1, pieces.len());
            match commit(self.crew, &self.holding, &pieces[..count]).await {
                Ok(next_offset) => {
                    self.holding.next_offset = next_offset;
                    self.crew.signal(Signal::Committed(self.ticket, next_offset));
                    self.complaint.clear();
                    self.backoff.reset();
                    self.rejections = 0;
                    pieces.drain(..count);
                    limit = limit.saturating_mul(2);
                }
                Err(failure) => {
                    self.crew.meter.failures.increment(1);
                    limit = self.after(failure, &mut pieces[..count], cancel).await?;
                }
            }
        }
        Ok(())
    }

    /// What follows from a transaction that did not commit. Answers how many pieces the next one may hold.
    async fn after(
        &mut self,
        failure: Failure,
        pieces: &mut [Piece<E::Event>],
        cancel: &CancellationToken,
    ) -> Result<usize, Finished> {
        let (code, limit) = match &failure {
            Failure::Fenced => {
                self.crew.meter.fenced.increment(1);
                tracing::warn!(
                    consumer_group = self.crew.options.group,
                    topic = self.crew.options.topic,
                    partition = self.ticket.partition,
                    fence = self.holding.fence,
                    next_offset = self.holding.next_offset,
                    "fenced"
                );
                return Err(Finished::Fenced);
            }
            Failure::Stopped(stop_at) => {
                let before = pieces.partition_point(|piece| piece.record.offset < *stop_at);
                if before > 0 && before < pieces.len() {
                    return Ok(before);
                }
                (codes::POSITION_STOPPED, pieces.len())
            }
            Failure::Poison { offset, poison } => {
                if set_aside(pieces, *offset, poison) {
                    return Ok(pieces.len());
                }
                (codes::BATCH_FAILING, pieces.len())
            }
            Failure::Rejected(cause) => {
                self.rejections += 1;
                if self.rejections >= REJECTIONS_MAX && pieces.len() == 1 {
                    let poison = Poison { reason: codes::EFFECT_REJECTED, detail: chain(&**cause) };
                    set_aside(pieces, pieces[0].record.offset, &poison);
                    return Ok(1);
                }
                (codes::BATCH_FAILING, pieces.len() / 2)
            }
            Failure::Unavailable(_) => (codes::POSTGRES_UNAVAILABLE, pieces.len()),
            Failure::Failing(_) => (codes::BATCH_FAILING, pieces.len()),
        };
        self.complaint.raise(code, &failure.chain());
        if self.backoff.wait(cancel).await { Ok(limit) } else { Err(Finished::Cancelled) }
    }
}

/// Marks the record at `offset` to be parked by the next transaction. `false` when no event is there.
fn set_aside<T>(pieces: &mut [Piece<T>], offset: i64, poison: &Poison) -> bool {
    let found = pieces.iter_mut().find(|piece| piece.record.offset == offset && piece.outcome.is_ok());
    found.map(|piece| piece.outcome = Err(poison.clone())).is_some()
}
