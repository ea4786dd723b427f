//! What is asked of Kafka beside the sending: which topics there are, and whether a held one takes rows again.
//!
//! Each question is a task of its own, so that nothing waits for its answer; they end with the relay that asked.

use std::collections::HashSet;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::KafkaResult;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use waybill_outbox::hold;
use waybill_outbox::window::{PageLimits, WindowError};
use waybill_topic_identity::{Described, TopicIdError, describe};

use crate::delivery::{Cause, Trouble};
use crate::error::DatabaseError;
use crate::options::Options;
use crate::probe;
use crate::topics::{Identified, judge};

/// How long Kafka may take to say which topics there are.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// How long the database may take to say what it knows of a topic. A connection that carries nothing any more is found so.
const DATABASE_ANSWER_MAX: Duration = Duration::from_secs(5);

/// The most queued events that one look clears away: connection errors queue up in a client that nobody polls.
const EVENTS_MAX: usize = 100;

/// One row: the first of a hold.
const HEAD: PageLimits = PageLimits { rows_max: 1, bytes_max: 1 };

/// So many topics are tried at once: each costs a producer, and a connection of the pool for a moment.
const PROBES_MAX: usize = 2;

/// What was found.
#[derive(Debug)]
pub(crate) enum News {
    /// About a topic before its first row.
    Identified { topic: String, identified: Identified },
    /// About every topic that is sent to.
    Checked { topics: Vec<(String, Identified)> },
    /// About a held topic.
    Probed { hold_id: i64, probed: Probed },
}

/// What a probe found.
#[derive(Debug)]
pub(crate) enum Probed {
    /// Kafka acknowledged the hold's first row, or refused it for itself.
    Ready,
    /// It still takes nothing, and why.
    Held { trouble: Trouble, detail: String },
    /// There was no answer.
    Unclear { detail: String },
}

/// Asks.
pub(crate) struct Watch {
    asker: Arc<Asker>,
    tasks: JoinSet<Option<News>>,
    identifying: HashSet<String>,
    probing: HashSet<i64>,
    is_checking: bool,
}

impl Watch {
    pub(crate) fn start(
        pool: Pool,
        settings: Vec<(String, String)>,
        options: &Options,
        fence: i64,
    ) -> KafkaResult<Self> {
        let mut config = ClientConfig::new();
        config.extend(settings.iter().cloned());
        // Without a group it joins nothing, and closing it waits for nobody.
        config.remove("group.id");
        // Who asks for a topic does not make it.
        config.set("allow.auto.create.topics", "false");
        let client = Some(Arc::new(config.create()?));
        Ok(Self {
            asker: Arc::new(Asker {
                client,
                pool,
                settings,
                options: options.clone(),
                fence,
                probes: Semaphore::new(PROBES_MAX),
            }),
            tasks: JoinSet::new(),
            identifying: HashSet::new(),
            probing: HashSet::new(),
            is_checking: false,
        })
    }

    /// Asks which topic that is, once at a time.
    pub(crate) fn identify(&mut self, topic: &str) {
        if self.identifying.insert(topic.to_owned()) {
            let (asker, topic) = (Arc::clone(&self.asker), topic.to_owned());
            self.tasks.spawn(async move {
                let identified = asker.identify(&topic).await;
                Some(News::Identified { topic, identified })
            });
        }
    }

    /// Asks whether the topics that are sent to are still the same.
    pub(crate) fn check(&mut self, topics: Vec<String>) {
        if !self.is_checking && !topics.is_empty() {
            self.is_checking = true;
            let asker = Arc::clone(&self.asker);
            self.tasks.spawn(async move { Some(News::Checked { topics: asker.check(topics).await }) });
        }
    }

    /// Tries whether a held topic takes rows again.
    pub(crate) fn probe(&mut self, hold_id: i64, topic: &str) {
        if self.probing.insert(hold_id) {
            let (asker, topic) = (Arc::clone(&self.asker), topic.to_owned());
            self.tasks.spawn(async move {
                let probed = asker.probe(hold_id, &topic).await;
                Some(News::Probed { hold_id, probed })
            });
        }
    }

    /// Whether that is being tried.
    pub(crate) fn is_probing(&self, hold_id: i64) -> bool {
        self.probing.contains(&hold_id)
    }

    /// The next answer; for ever when nothing was asked. Cancel safe.
    pub(crate) async fn news(&mut self) -> News {
        loop {
            let Some(done) = self.tasks.join_next().await else { pending().await };
            // A task that was lost is asked for again, because whoever needs its answer still does.
            let Ok(Some(news)) = done else {
                self.identifying.clear();
                self.probing.clear();
                self.is_checking = false;
                continue;
            };
            match &news {
                News::Identified { topic, .. } => drop(self.identifying.take(topic)),
                News::Checked { .. } => self.is_checking = false,
                News::Probed { hold_id, .. } => drop(self.probing.take(hold_id)),
            }
            return news;
        }
    }
}

/// What the questions are asked with.
struct Asker {
    /// Always there until the end.
    client: Option<Arc<BaseConsumer>>,
    pool: Pool,
    settings: Vec<(String, String)>,
    options: Options,
    fence: i64,
    /// A turn for each probe.
    probes: Semaphore,
}

impl Drop for Asker {
    fn drop(&mut self) {
        // With brokers down its end can take long, and nobody need wait for it.
        let client = self.client.take();
        std::thread::spawn(move || drop(client));
    }
}

impl Asker {
    async fn identify(&self, topic: &str) -> Identified {
        let described = self.describe(vec![topic.to_owned()]).await;
        let described = described.and_then(|mut answers| answers.pop().unwrap_or(Ok(None)));
        let judged = async {
            let db = self.pool.get().await?;
            let recorded = hold::recorded_id(&**db, topic).await?;
            let identified = judge(described, recorded.as_deref());
            if let (Identified::Is(found), None) = (&identified, recorded) {
                let recorded = hold::record_topic(&**db, self.fence, topic, &found.id).await?;
                return Ok::<_, DatabaseError>(judge(Ok(Some(found.clone())), Some(&recorded)));
            }
            Ok(identified)
        };
        in_time(judged)
            .await
            .unwrap_or_else(|error| Identified::Unclear { detail: waybill_runtime::chain(&error) })
    }

    async fn check(&self, topics: Vec<String>) -> Vec<(String, Identified)> {
        let recorded = async {
            let db = self.pool.get().await?;
            Ok::<_, DatabaseError>(hold::topics(&**db).await.map_err(WindowError::from)?)
        };
        let (Ok(answers), Ok(recorded)) = (self.describe(topics.clone()).await, in_time(recorded).await)
        else {
            return Vec::new();
        };
        let id_of = |topic: &str| {
            recorded.iter().find(|record| record.topic == topic).map(|record| record.topic_id.as_str())
        };
        topics
            .into_iter()
            .zip(answers)
            .map(|(topic, described)| {
                let identified = judge(described, id_of(&topic));
                (topic, identified)
            })
            .collect()
    }

    async fn probe(&self, hold_id: i64, topic: &str) -> Probed {
        let Ok(_turn) = self.probes.acquire().await else {
            return Probed::Unclear { detail: "the relay ends".to_owned() };
        };
        match self.identify(topic).await {
            Identified::Held { trouble, detail } => return Probed::Held { trouble, detail },
            Identified::Unclear { detail } => return Probed::Unclear { detail },
            Identified::Is(_) => {}
        }
        let head = async {
            let db = self.pool.get().await?;
            Ok::<_, DatabaseError>(hold::page(&**db, hold_id, 0, HEAD).await?)
        };
        let page = match in_time(head).await {
            Ok(page) => page,
            Err(error) => return Probed::Unclear { detail: waybill_runtime::chain(&error) },
        };
        // A hold without a row to send asks for nothing but the topic.
        let Some(row) = page.rows.first() else { return Probed::Ready };
        match probe::send(&self.settings, &self.options, row).await {
            Ok(()) => Probed::Ready,
            Err(error) => match Cause::of(&error) {
                // That is about the row: the topic takes others.
                Cause::Refused => Probed::Ready,
                Cause::Topic(trouble) => Probed::Held { trouble, detail: error.to_string() },
                Cause::Purged | Cause::Followed | Cause::Outdated | Cause::Unavailable => {
                    Probed::Unclear { detail: error.to_string() }
                }
            },
        }
    }

    /// Describes topics on a thread that may block.
    async fn describe(&self, topics: Vec<String>) -> Result<Vec<Described>, TopicIdError> {
        let Some(client) = self.client.clone() else { return Ok(Vec::new()) };
        tokio::task::spawn_blocking(move || {
            for _ in 0..EVENTS_MAX {
                if client.poll(Duration::ZERO).is_none() {
                    break;
                }
            }
            let names: Vec<&str> = topics.iter().map(String::as_str).collect();
            describe(client.client(), &names, ANSWER_MAX)
        })
        .await?
    }
}

/// What the database answers, or that it does not.
async fn in_time<T>(asked: impl Future<Output = Result<T, DatabaseError>>) -> Result<T, DatabaseError> {
    timeout(DATABASE_ANSWER_MAX, asked).await.unwrap_or(Err(DatabaseError::Silent))
}
