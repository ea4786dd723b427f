//! Which Kafka topic a name means: a topic that is deleted and made again has the same name and another id.
//!
//! rdkafka does not wrap DescribeTopics, so this calls librdkafka. All unsafe code for it is here. Deliberately absent:
//! what follows from an id, which is for whoever sends or reads.
#![expect(unsafe_code, reason = "librdkafka's C interface; each block says why it is sound")]

mod brokers;

use std::ffi::{CStr, CString, NulError, c_char, c_int};
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

use rdkafka::ClientConfig;
use rdkafka::bindings as ffi;
use rdkafka::client::{Client, ClientContext};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{IsError, KafkaError, RDKafkaErrorCode};
use rdkafka::types::RDKafkaAdminOp;

/// How Kafka writes the id of a topic that has none (brokers before 2.8).
const NO_TOPIC_ID: &str = "AAAAAAAAAAAAAAAAAAAAAA";
/// How much longer than the request's own timeout its answer is waited for.
const ANSWER_GRACE: Duration = Duration::from_secs(1);

/// Why a topic's id could not be learnt.
#[derive(Debug, thiserror::Error)]
pub enum TopicIdError {
    /// No client could be made of the settings.
    #[error("the Kafka client could not be made")]
    Client(#[source] KafkaError),
    /// The name holds a NUL byte.
    #[error("the topic's name is not one that Kafka could have")]
    Name(#[from] NulError),
    /// Kafka refused to describe the topic, or did not answer in time.
    #[error("Kafka did not describe the topic: {0}")]
    Kafka(RDKafkaErrorCode),
    /// The broker gives its topics no ids.
    #[error("the broker gives topics no ids; Waybill needs Kafka 2.8 or later")]
    NoIds,
    /// The thread that waited for Kafka was lost.
    #[error("the look-up was lost")]
    Lost(#[from] tokio::task::JoinError),
}

/// What Kafka says about one topic: `None` when there is none of that name, or why it does not say.
pub type Described = Result<Option<Topic>, TopicIdError>;

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its id, in the form that Kafka's own tools print (base64, URL-safe).
    pub id: String,
    /// How many partitions it has.
    pub partitions: usize,
}

/// Asks Kafka for a topic's id with a client of its own. `settings` are librdkafka's.
///
/// # Errors
/// See [`TopicIdError`].
pub async fn topic_id(
    settings: &[(String, String)],
    topic: &str,
    timeout: Duration,
) -> Result<Option<String>, TopicIdError> {
    let mut config = ClientConfig::new();
    config.extend(settings.iter().cloned());
    // Without a group it joins nothing, and closing it waits for nobody.
    config.remove("group.id");
    // Who asks for a topic does not make it.
    config.set("allow.auto.create.topics", "false");
    let topic = topic.to_owned();
    tokio::task::spawn_blocking(move || {
        let client: BaseConsumer = config.create().map_err(TopicIdError::Client)?;
        Ok(describe_one(client.client(), &topic, timeout)?.map(|topic| topic.id))
    })
    .await?
}

/// Asks over a client that is there already for one topic. Blocks.
///
/// # Errors
/// See [`TopicIdError`].
pub fn describe_one<C: ClientContext>(client: &Client<C>, topic: &str, timeout: Duration) -> Described {
    describe(client, &[topic], timeout)?.pop().unwrap_or(Err(NOT_ANSWERED))
}

/// Asks over a client that is there already for many topics at once. Blocks. The answers stand in the order of
/// the names. The client should not be one that makes topics (`allow.auto.create.topics`).
///
/// # Errors
/// When nothing was learnt about any of them: see [`TopicIdError`].
pub fn describe<C: ClientContext>(
    client: &Client<C>,
    topics: &[&str],
    timeout: Duration,
) -> Result<Vec<Described>, TopicIdError> {
    if topics.is_empty() {
        return Ok(Vec::new());
    }
    let deadline = Instant::now() + timeout;
    let names = topics.iter().map(|topic| CString::new(*topic)).collect::<Result<Vec<_>, _>>()?;
    let brokers = brokers::to_ask(client, &names, left_ms(deadline))?;
    // SAFETY: `client` outlives the queue, which its guard destroys once.
    let queue =
        unsafe { Guard::new(ffi::rd_kafka_queue_new(client.native_ptr()), ffi::rd_kafka_queue_destroy)? };
    if brokers.is_empty() {
        ask(client, &names, None, left_ms(deadline), &queue)?;
    }
    for broker in &brokers {
        ask(client, &names, Some(*broker), left_ms(deadline), &queue)?;
    }
    let mut answers = first_answer(&queue, brokers.len().max(1), deadline + ANSWER_GRACE)?;
    let answer = |topic: &&str| {
        let place = answers.iter().position(|(name, _)| name == topic);
        place.map_or(Err(NOT_ANSWERED), |place| answers.swap_remove(place).1)
    };
    Ok(topics.iter().map(answer).collect())
}

/// Asks one broker, or whichever librdkafka chooses, to describe topics. The answer comes to the queue.
fn ask<C: ClientContext>(
    client: &Client<C>,
    names: &[CString],
    broker: Option<i32>,
    timeout_ms: c_int,
    queue: &Guard<ffi::rd_kafka_queue_t>,
) -> Result<(), TopicIdError> {
    let mut pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    // SAFETY: `client` and `queue` outlive this block, so their pointers are valid throughout. `pointers` point to as many
    // NUL-terminated strings, which librdkafka copies before it returns. Collection and options are made here and destroyed
    // by their guards, exactly once, after the request was enqueued with its own references to what it needs.
    unsafe {
        let collection = Guard::new(
            ffi::rd_kafka_TopicCollection_of_topic_names(pointers.as_mut_ptr(), pointers.len()),
            ffi::rd_kafka_TopicCollection_destroy,
        )?;
        let options = Guard::new(
            ffi::rd_kafka_AdminOptions_new(
                client.native_ptr(),
                RDKafkaAdminOp::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS,
            ),
            ffi::rd_kafka_AdminOptions_destroy,
        )?;
        let refused =
            ffi::rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms, ptr::null_mut(), 0);
        if refused.is_error() {
            return Err(TopicIdError::Kafka(refused.into()));
        }
        if let Some(broker) = broker {
            let refused = ffi::rd_kafka_AdminOptions_set_broker(options.get(), broker, ptr::null_mut(), 0);
            if refused.is_error() {
                return Err(TopicIdError::Kafka(refused.into()));
            }
        }
        ffi::rd_kafka_DescribeTopics(client.native_ptr(), collection.get(), options.get(), queue.get());
    }
    Ok(())
}

/// Waits for the first of so many answers that says something, or the last one's error.
fn first_answer(
    queue: &Guard<ffi::rd_kafka_queue_t>,
    asked: usize,
    deadline: Instant,
) -> Result<Vec<(String, Described)>, TopicIdError> {
    let mut answer = Err(NOT_ANSWERED);
    for _ in 0..asked {
        // SAFETY: the queue is alive; the event is owned by its guard, which destroys it once.
        let event = unsafe {
            Guard::new(ffi::rd_kafka_queue_poll(queue.get(), left_ms(deadline)), ffi::rd_kafka_event_destroy)?
        };
        answer = read(&event);
        if answer.is_ok() {
            break;
        }
    }
    answer
}

/// What is left until then, in milliseconds: at least one, so that what is there already is still taken.
fn left_ms(deadline: Instant) -> c_int {
    let left = deadline.saturating_duration_since(Instant::now());
    c_int::try_from(left.as_millis()).unwrap_or(c_int::MAX).max(1)
}

/// Copies what an answer says about each topic.
fn read(event: &Guard<ffi::rd_kafka_event_t>) -> Result<Vec<(String, Described)>, TopicIdError> {
    // SAFETY: the event is owned by its guard, which outlives this function, and everything that is read from it (result,
    // array, name, error, id, text) is borrowed from it and copied before then. An event of another kind gives a null
    // result, which is checked; the array has `count` elements.
    unsafe {
        let failed = ffi::rd_kafka_event_error(event.get());
        if failed.is_error() {
            return Err(TopicIdError::Kafka(failed.into()));
        }
        let result = non_null(ffi::rd_kafka_event_DescribeTopics_result(event.get()))?;
        let mut count = 0;
        let described = ffi::rd_kafka_DescribeTopics_result_topics(result, &raw mut count);
        if described.is_null() {
            return Err(NOT_ANSWERED);
        }
        let mut answers = Vec::with_capacity(count);
        for index in 0..count {
            let description = non_null(*described.add(index))?;
            let name = CStr::from_ptr(non_null(ffi::rd_kafka_TopicDescription_name(description))?);
            answers.push((name.to_string_lossy().into_owned(), topic_of(description)));
        }
        Ok(answers)
    }
}

/// The topic that a description is of.
///
/// # Safety
/// `description` points to one whose event is alive.
unsafe fn topic_of(description: *const ffi::rd_kafka_TopicDescription_t) -> Described {
    // SAFETY: as the caller promises; error, id and text are borrowed from the description and copied here. Of the partitions
    // only the number is read.
    unsafe {
        let error = ffi::rd_kafka_TopicDescription_error(description);
        let code: RDKafkaErrorCode =
            if error.is_null() { RDKafkaErrorCode::NoError } else { ffi::rd_kafka_error_code(error).into() };
        if matches!(code, RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic) {
            return Ok(None);
        }
        if code != RDKafkaErrorCode::NoError {
            return Err(TopicIdError::Kafka(code));
        }
        let id = non_null(ffi::rd_kafka_TopicDescription_topic_id(description))?;
        let text = non_null(ffi::rd_kafka_Uuid_base64str(id))?;
        let id = as_kafka_writes(&CStr::from_ptr(text).to_string_lossy())?;
        let mut partitions = 0;
        ffi::rd_kafka_TopicDescription_partitions(description, &raw mut partitions);
        Ok(Some(Topic { id, partitions }))
    }
}

const NOT_ANSWERED: TopicIdError = TopicIdError::Kafka(RDKafkaErrorCode::OperationTimedOut);

/// librdkafka writes an id in plain base64, Kafka and its tools in the URL-safe alphabet.
fn as_kafka_writes(id: &str) -> Result<String, TopicIdError> {
    match id.replace('+', "-").replace('/', "_") {
        id if id == NO_TOPIC_ID => Err(TopicIdError::NoIds),
        id => Ok(id),
    }
}

fn non_null<T>(pointer: *const T) -> Result<*const T, TopicIdError> {
    if pointer.is_null() { Err(NOT_ANSWERED) } else { Ok(pointer) }
}

/// Something of librdkafka's that is destroyed when it goes out of scope.
struct Guard<T> {
    pointer: NonNull<T>,
    destroy: unsafe extern "C" fn(*mut T),
}

impl<T> Guard<T> {
    fn new(pointer: *mut T, destroy: unsafe extern "C" fn(*mut T)) -> Result<Self, TopicIdError> {
        NonNull::new(pointer).map(|pointer| Self { pointer, destroy }).ok_or(NOT_ANSWERED)
    }

    fn get(&self) -> *mut T {
        self.pointer.as_ptr()
    }
}

impl<T> Drop for Guard<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer was not null, is owned by this guard alone and is never handed out beyond its life.
        unsafe { (self.destroy)(self.pointer.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{NO_TOPIC_ID, TopicIdError, as_kafka_writes};

    #[test]
    fn a_topic_id_is_written_as_kafkas_tools_write_it() {
        assert_eq!(as_kafka_writes("x+Y/0aaaaaaaaaaaaaaaaQ").unwrap(), "x-Y_0aaaaaaaaaaaaaaaaQ");
        assert!(matches!(as_kafka_writes(NO_TOPIC_ID), Err(TopicIdError::NoIds)));
    }
}
