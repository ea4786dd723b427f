//! A consumer group's work on one topic, from joining to leaving.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use deadpool_postgres::Pool;
use rdkafka::consumer::BaseConsumer;
use rdkafka::error::KafkaError;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use crate::codes;
use crate::crew::{Crew, Signal};
use crate::failure::chain;
use crate::group::Membership;
use crate::inspector::Inspector;
use crate::metrics::Meter;
use crate::poll::PollThread;
use crate::{ConsumerError, ConsumerOptions, Effect, StatusSink, settings};

/// Consumes `options.topic` as `options.group` until `shutdown`, applying each batch through `effect` on connections of
/// `pool`, whose `search_path` finds the consumer's tables. How it is goes to `status`.
///
/// # Errors
/// Only what another try cannot cure; see [`ConsumerError`]. Lost connections are retried and shown as degraded.
pub async fn run<E: Effect>(
    options: ConsumerOptions,
    pool: Pool,
    effect: Arc<E>,
    status: Arc<dyn StatusSink>,
    shutdown: CancellationToken,
) -> Result<(), ConsumerError> {
    options.check()?;
    let group = options.group.clone();
    let patience = options.drain_timeout + options.leave_timeout;
    let client_error = |source| ConsumerError::Client { group: group.clone(), source };
    let (signals, inbox) = channel();
    let stop = CancellationToken::new();
    // Also when this future is dropped: its thread and its tasks end.
    let _stop_on_drop = stop.clone().drop_guard();
    let crew = Arc::new(Crew {
        inspector: Inspector::new(&settings::inspector(&options)).map_err(client_error)?,
        transactions: Semaphore::new(options.batches_in_flight_max.min(pool.status().max_size)),
        meter: Meter::new(&options.group, &options.topic),
        signals: signals.clone(),
        stop: stop.clone(),
        options,
        pool,
        effect,
        status,
    });
    let poll = poll_thread(&crew, &signals, inbox).map_err(client_error)?;
    let mut ended = spawn(poll).map_err(|source| ConsumerError::Thread { group: group.clone(), source })?;
    let watch = tokio::spawn(watch_topic(Arc::clone(&crew)));
    let result = tokio::select! {
        result = &mut ended => result,
        () = shutdown.cancelled() => {
            stop.cancel();
            crew.signal(Signal::Shutdown);
            match tokio::time::timeout(patience, ended).await {
                Ok(result) => result,
                Err(_elapsed) => {
                    tracing::warn!(consumer_group = group, "left the group to its timeout: no broker answers");
                    Ok(Ok(()))
                }
            }
        }
    };
    watch.abort();
    // Destroying a client joins its threads.
    drop(thread::spawn(move || drop(crew)));
    result.unwrap_or(Err(ConsumerError::PollThreadLost { group }))
}

fn poll_thread<E: Effect>(
    crew: &Arc<Crew<E>>,
    signals: &Sender<Signal>,
    inbox: Receiver<Signal>,
) -> Result<PollThread<E>, KafkaError> {
    let config = settings::member(&crew.options);
    let mut consumer: BaseConsumer<Membership> = config.create_with_context(Membership::default())?;
    let kafka_signalled = Arc::new(AtomicBool::new(false));
    let (signals, signalled) = (Mutex::new(signals.clone()), Arc::clone(&kafka_signalled));
    consumer.set_nonempty_callback(move || {
        if !signalled.swap(true, Ordering::SeqCst)
            && let Ok(signals) = signals.lock()
        {
            let _ = signals.send(Signal::Kafka);
        }
    });
    Ok(PollThread {
        consumer,
        topic: CString::new(crew.options.topic.as_str())?,
        crew: Arc::clone(crew),
        runtime: Handle::current(),
        signals: inbox,
        kafka_signalled,
        partitions: BTreeMap::new(),
        tickets: 0,
        uncommitted: BTreeMap::new(),
        commit_due: Instant::now(),
        is_refused: false,
    })
}

/// Starts the thread; the receiver gets its result once the client is closed.
fn spawn<E: Effect>(
    poll: PollThread<E>,
) -> Result<oneshot::Receiver<Result<(), ConsumerError>>, std::io::Error> {
    let (tell, ended) = oneshot::channel();
    thread::Builder::new().name("consumer-poll".into()).spawn(move || {
        let _ = tell.send(poll.run());
    })?;
    Ok(ended)
}

/// Compares the topic's id with the one before, from time to time: a topic that was made again under a running consumer
/// would else be read on at the old offsets. Also the one that notices when Kafka does not answer.
async fn watch_topic<E: Effect>(crew: Arc<Crew<E>>) {
    let mut complaint = crew.group_complaint("topic");
    let mut known: Option<Option<String>> = None;
    loop {
        match crew.inspector.topic_id(&crew.options.topic).await {
            Ok(id) => {
                match &id {
                    Some(_) => complaint.clear(),
                    None => complaint.raise(codes::TOPIC_MISSING, "Kafka knows no topic of that name"),
                }
                let before = known.replace(id.clone());
                if before.is_some_and(|before| before != id) {
                    crew.signal(Signal::TopicChanged);
                }
            }
            Err(error) => complaint.raise(codes::KAFKA_UNAVAILABLE, &chain(&error)),
        }
        let pause = tokio::time::sleep(crew.options.topic_check_interval);
        if crew.stop.run_until_cancelled(pause).await.is_none() {
            return;
        }
    }
}
