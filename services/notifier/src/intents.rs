//! From facts to notifications: one row for each target of each outcome, in the transaction that moves the position.
//!
//! A partition's high-water mark says up to where facts have been looked at. It is raised in the same transaction and
//! never lowered, so that a position that was moved back makes nothing, even if more targets are known today.
//! Deliberately absent: any sending.

use std::sync::Arc;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio_postgres::Transaction;
use uuid::Uuid;
use waybill_consumer::{Batch, Dedup, EffectError};
use waybill_contract::Fact;
use waybill_domain::export::NotifyTarget;
use waybill_domain::ids::NotificationId;
use waybill_store::notification::{self, NewNotification, Partition};
use waybill_subscription::FactEffect;

use crate::render::render;

/// What the outcome of an export tells each of its targets: one thing, once.
const KIND_OUTCOME: &str = "outcome";
/// The most notifications that one statement makes.
pub(crate) const INSERT_ROWS_MAX: usize = 1_000;

/// The notifier's effect on the events topic.
#[derive(Debug)]
pub struct Intents {
    wake: Arc<Notify>,
}

impl Intents {
    /// An effect that hints at `wake` that there may be something to send.
    pub const fn new(wake: Arc<Notify>) -> Self {
        Self { wake }
    }
}

#[async_trait]
impl FactEffect for Intents {
    fn dedup(&self) -> Dedup {
        Dedup::ByInbox
    }

    async fn apply(&self, tx: &Transaction<'_>, batch: &Batch<'_, Fact>) -> Result<(), EffectError> {
        let partition =
            Partition { topic: batch.topic, topic_id: batch.topic_id, partition: batch.partition };
        let high_water = notification::lock_high_water(tx, &partition).await.map_err(EffectError::failed)?;
        let news: Vec<NewNotification> = batch
            .events
            .iter()
            .filter(|delivery| delivery.offset >= high_water)
            .flat_map(|delivery| intents_of(&delivery.event))
            .collect();
        let mut made = 0;
        for some in news.chunks(INSERT_ROWS_MAX) {
            made += notification::insert_all(tx, some).await.map_err(EffectError::failed)?;
        }
        notification::raise_high_water(tx, &partition, batch.next_offset)
            .await
            .map_err(EffectError::failed)?;
        if made > 0 {
            // The commit follows; the sender looks again shortly after a hint, and its timer is the truth.
            self.wake.notify_one();
        }
        Ok(())
    }
}

/// What one fact makes: for an outcome, one notification for each target of the export.
fn intents_of(fact: &Fact) -> Vec<NewNotification> {
    fact.export.notify.iter().filter_map(|target| intent(fact, target)).collect()
}

fn intent(fact: &Fact, target: &NotifyTarget) -> Option<NewNotification> {
    let content = render(target.channel, fact)?;
    Some(NewNotification {
        notification_id: identity(fact, target, KIND_OUTCOME),
        source: fact.source.clone(),
        event_id: fact.event_id.clone(),
        channel: target.channel,
        target: target.target.clone(),
        kind: KIND_OUTCOME,
        tenant_id: fact.export.tenant_id.clone(),
        export_id: fact.export.export_id.clone(),
        subject: content.subject,
        body: content.body,
    })
}

/// The notification's id: the first 16 bytes of a SHA-256 over what it is the identity of, so that a receiver sees the
/// same id however often the row is made. Each part goes in with its length, so that no two identities read the same.
fn identity(fact: &Fact, target: &NotifyTarget, kind: &str) -> NotificationId {
    let mut hash = Sha256::new();
    for part in [&fact.source, &fact.event_id, target.channel.as_str(), &target.target, kind] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let mut first = [0; 16];
    first.copy_from_slice(&hash.finalize()[..16]);
    NotificationId::from_uuid(Uuid::from_bytes(first))
}

#[cfg(test)]
mod tests {
    use waybill_domain::export::Channel;
    use waybill_domain::job::{FactKind, JobState};

    use super::*;
    use crate::render::tests::fact;

    fn target(channel: Channel, target: &str) -> NotifyTarget {
        NotifyTarget { channel, target: target.to_owned() }
    }

    #[test]
    fn an_outcome_makes_one_notification_for_each_target() {
        let mut outcome = fact(FactKind::Succeeded, JobState::Succeeded);
        outcome.export.notify = vec![
            target(Channel::Email, "ann@example.com"),
            target(Channel::Webhook, "https://example.com/hook"),
        ];
        let made = intents_of(&outcome);
        assert_eq!(made.len(), 2);
        assert_eq!(made, intents_of(&outcome), "the same fact makes the same notifications");
        let mut request = outcome.clone();
        request.kind = FactKind::Requested;
        assert!(intents_of(&request).is_empty());
    }

    #[test]
    fn another_fact_channel_target_or_kind_is_another_identity() {
        let one = fact(FactKind::Succeeded, JobState::Succeeded);
        let mut other = one.clone();
        other.event_id = "evt_2".to_owned();
        let mail = target(Channel::Email, "ann@example.com");
        let ids = [
            identity(&one, &mail, KIND_OUTCOME),
            identity(&other, &mail, KIND_OUTCOME),
            identity(&one, &target(Channel::Webhook, "ann@example.com"), KIND_OUTCOME),
            identity(&one, &target(Channel::Email, "bob@example.com"), KIND_OUTCOME),
            identity(&one, &mail, "another"),
        ];
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
    }
}
