//! What becomes of the broker, and of topics, while relays are killed.
//!
//! A topic that is deleted takes along what it holds, which no relay can help. So that everything can be reckoned up all the
//! same, it is read before: its writers pause until every row of theirs is in it, it is read to its end, it is deleted, and they
//! go on. What was read then and what the last topic of that name holds make one log. Deliberately not looked at: rows that
//! are in flight to a topic while it is deleted.

use rand::Rng;
use waybill_testkit::{PrivateBroker, Record};

use super::chaos::Chaos;
use super::writers::Gate;
use crate::relay::scene::{Scene, UNSENT};

/// The topic that is deleted and made again, with writers and keys of its own.
pub(super) const FLEETING: &str = "fleeting";
pub(super) const FLEETING_PARTITIONS: i32 = 2;

/// What a topic takes at most is here, as the broker's default has it, or for a while there.
const LIMIT: &str = "max.message.bytes";
const LIMIT_RAISED_BYTES: &str = "1048588";
const LIMIT_LOWERED_BYTES: &str = "20000";

/// A row that the lowered limit refuses. A batch of others stays below.
pub(super) const LARGE_BYTES: usize = 30_000;
pub(super) const LARGEST_BATCH_BYTES: i64 = 16_384;

/// So often what is refused is sent once more before that counts as a failure: the broker learns of a limit a moment after it
/// says so, and rows may be on their way by then.
const RETRIES_MAX: usize = 20;

/// The hold of the topic that was made again says which one it is now.
const MADE_AGAIN: &str = "
    SELECT split_part(split_part(detail, 'its id is ', 2), ',', 1) FROM outbox.holds
    WHERE scope = 'topic' AND topic = $1 AND code = 'relay-topic-recreated' AND ended_at IS NULL";

/// What is wrong with the broker's topics now.
pub(super) struct Troubles<'a> {
    broker: &'a PrivateBroker,
    /// The writers of [`FLEETING`].
    fleeting: Gate,
    topic: Fleeting,
    is_limit_lowered: bool,
    /// What [`FLEETING`] held each time before it was deleted.
    pub(super) records: Vec<Record>,
}

/// How the topic stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fleeting {
    Accepted,
    Deleted,
    MadeAgain,
}

impl<'a> Troubles<'a> {
    pub(super) fn of(broker: &'a PrivateBroker, fleeting: Gate) -> Self {
        Self { broker, fleeting, topic: Fleeting::Accepted, is_limit_lowered: false, records: Vec::new() }
    }
}

/// The rows of a topic that the cursor has not passed, or has parked.
async fn on_their_way(scene: &Scene, topic: &str) -> i64 {
    let unsent = scene.number(&format!("{UNSENT} AND topic = '{topic}'")).await;
    unsent + parked(scene, topic, "state IN ('refused', 'waiting')").await
}

async fn parked(scene: &Scene, topic: &str, which: &str) -> i64 {
    scene.number(&format!("SELECT count(*) FROM outbox.parked WHERE topic = '{topic}' AND {which}")).await
}

async fn holds(scene: &Scene, topic: &str, scope: &str) -> i64 {
    let open = "SELECT count(*) FROM outbox.holds WHERE ended_at IS NULL";
    scene.number(&format!("{open} AND topic = '{topic}' AND scope = '{scope}'")).await
}

impl Chaos<'_> {
    /// Kills the broker and starts it again on the same log; now and then a relay has to begin while there is none.
    pub(super) async fn kill_broker(&mut self) {
        self.troubles.broker.kill().await;
        self.told.brokers += 1;
        if self.random.random_bool(0.5) {
            let replacement = self.replacement();
            self.kill_one(replacement).await;
        }
        self.troubles.broker.run();
    }

    /// Lowers the limit, so that large rows are refused and parked, or raises it, and has them sent by an operator's command.
    pub(super) async fn turn_limit(&mut self) {
        let topic = self.scene.topic.clone();
        self.troubles.is_limit_lowered ^= true;
        if self.troubles.is_limit_lowered {
            return self.troubles.broker.configure_topic(&topic, LIMIT, LIMIT_LOWERED_BYTES).await;
        }
        let is_refused = async |scene: &Scene| parked(scene, &topic, "state = 'refused'").await > 0;
        self.until("a large row is refused", async |scene| is_refused(scene).await.then_some(())).await;
        self.troubles.broker.configure_topic(&topic, LIMIT, LIMIT_RAISED_BYTES).await;
        for _ in 0..RETRIES_MAX {
            let retry = ["parked", "retry", "--topic", &topic, "--code", "relay-row-refused"];
            self.scene.operate(&retry).await;
            let is_sent = self
                .until("what was refused is sent, or refused once more", async |scene| {
                    let is_sent = holds(scene, &topic, "key").await == 0;
                    (is_sent || is_refused(scene).await).then_some(is_sent)
                })
                .await;
            if is_sent {
                self.told.limits += 1;
                return;
            }
        }
        panic!("rows of {topic} are refused though its limit is as it was");
    }

    /// Deletes the topic, and makes it again then or later; or has the one that was made again accepted by an operator's command.
    pub(super) async fn turn_topic(&mut self) {
        if self.troubles.topic == Fleeting::Accepted {
            self.delete_topic().await;
            if self.random.random_bool(0.5) {
                self.make_topic_again().await;
            }
            return;
        }
        if self.troubles.topic == Fleeting::Deleted {
            self.make_topic_again().await;
        }
        let topic_id = self
            .until("the relay holds the topic that was made again", async |scene| {
                let found = scene.admin.query_opt(MADE_AGAIN, &[&FLEETING]).await.expect("the holds");
                found.map(|row| row.get::<_, String>(0))
            })
            .await;
        self.scene.operate(&["outbox", "accept-topic", FLEETING, "--topic-id", &topic_id]).await;
        self.until("the topic flows again", async |scene| {
            (holds(scene, FLEETING, "topic").await == 0).then_some(())
        })
        .await;
        self.troubles.topic = Fleeting::Accepted;
        self.told.topics += 1;
    }

    /// Everything that is in it is read before; nothing of its writers is on its way then.
    async fn delete_topic(&mut self) {
        let pause = self.troubles.fleeting.close().await;
        self.until("every row of the topic is in it", async |scene| {
            (on_their_way(scene, FLEETING).await == 0).then_some(())
        })
        .await;
        let broker = self.troubles.broker;
        self.troubles.records.extend(broker.read_to_end(FLEETING).await);
        broker.delete_topic(FLEETING).await;
        self.troubles.topic = Fleeting::Deleted;
        drop(pause);
    }

    async fn make_topic_again(&mut self) {
        self.troubles.broker.create_topic(FLEETING, FLEETING_PARTITIONS).await;
        self.troubles.topic = Fleeting::MadeAgain;
    }
}
