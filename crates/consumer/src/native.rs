//! The calls into librdkafka that rdkafka does not wrap: a topic's id, a partition's cached end, and headers whose names
//! are not UTF-8 (rdkafka panics on those). All unsafe code of this crate is here.
#![expect(unsafe_code, reason = "librdkafka's C interface; each block says why it is sound")]

use std::ffi::{CStr, CString, NulError, c_int};
use std::ptr::{self, NonNull};
use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::bindings as ffi;
use rdkafka::client::{Client, ClientContext};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{IsError, KafkaError, RDKafkaErrorCode};
use rdkafka::message::BorrowedMessage;
use rdkafka::types::{RDKafkaAdminOp, RDKafkaRespErr};

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

/// Asks Kafka for a topic's id, in the form that Kafka's own tools print (base64, URL-safe); `None` when there is no topic
/// of that name. `settings` are librdkafka's.
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
    let topic = topic.to_owned();
    tokio::task::spawn_blocking(move || {
        let client: BaseConsumer = config.create().map_err(TopicIdError::Client)?;
        describe_topic_id(client.client(), &topic, timeout)
    })
    .await?
}

/// The same over a client that is there already. Blocks.
pub(crate) fn describe_topic_id<C: ClientContext>(
    client: &Client<C>,
    topic: &str,
    timeout: Duration,
) -> Result<Option<String>, TopicIdError> {
    let name = CString::new(topic)?;
    let mut names = [name.as_ptr()];
    let timeout_ms = c_int::try_from(timeout.as_millis()).unwrap_or(c_int::MAX);
    let answer_ms = timeout_ms.saturating_add(ANSWER_GRACE.as_millis() as c_int);
    // SAFETY: `client` outlives this block, so its pointer is valid throughout. `names` points to one NUL-terminated
    // string, which librdkafka copies before it returns. Collection, options and queue are made here and destroyed by
    // their guards, exactly once, after the request was enqueued with its own references to what it needs.
    let event = unsafe {
        let topics = Guard::new(
            ffi::rd_kafka_TopicCollection_of_topic_names(names.as_mut_ptr(), names.len()),
            ffi::rd_kafka_TopicCollection_destroy,
        )?;
        let options = Guard::new(
            ffi::rd_kafka_AdminOptions_new(
                client.native_ptr(),
                RDKafkaAdminOp::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS,
            ),
            ffi::rd_kafka_AdminOptions_destroy,
        )?;
        let queue = Guard::new(ffi::rd_kafka_queue_new(client.native_ptr()), ffi::rd_kafka_queue_destroy)?;
        let refused =
            ffi::rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms, ptr::null_mut(), 0);
        if refused.is_error() {
            return Err(TopicIdError::Kafka(refused.into()));
        }
        ffi::rd_kafka_DescribeTopics(client.native_ptr(), topics.get(), options.get(), queue.get());
        Guard::new(ffi::rd_kafka_queue_poll(queue.get(), answer_ms), ffi::rd_kafka_event_destroy)?
    };
    // SAFETY: the event is owned by its guard until the end of this function, and everything that is read from it
    // (result, array, description, error, id, text) is borrowed from it and copied before then. An event of another
    // kind gives a null result, which is checked.
    unsafe {
        let failed = ffi::rd_kafka_event_error(event.get());
        if failed.is_error() {
            return Err(TopicIdError::Kafka(failed.into()));
        }
        let result = non_null(ffi::rd_kafka_event_DescribeTopics_result(event.get()))?;
        let mut count = 0;
        let described = ffi::rd_kafka_DescribeTopics_result_topics(result, &mut count);
        if described.is_null() || count != 1 {
            return Err(NOT_ANSWERED);
        }
        let description = non_null(*described)?;
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
        as_kafka_writes(&CStr::from_ptr(text).to_string_lossy()).map(Some)
    }
}

/// The end of a partition as the client last saw it while fetching; `None` before the first fetch. Does not block.
pub(crate) fn cached_end<C: ClientContext>(client: &Client<C>, topic: &CStr, partition: i32) -> Option<i64> {
    let (mut low, mut high) = (-1, -1);
    // SAFETY: the client's pointer is valid while `client` is borrowed, the name is NUL-terminated, and both offsets
    // are written before the call returns.
    let failed = unsafe {
        ffi::rd_kafka_get_watermark_offsets(
            client.native_ptr(),
            topic.as_ptr(),
            partition,
            &raw mut low,
            &raw mut high,
        )
    };
    (!failed.is_error() && high >= 0).then_some(high)
}

/// A record's headers as text and bytes, and whether a name had to be changed to become text.
pub(crate) struct ReadHeaders {
    pub(crate) pairs: Vec<(String, Option<Vec<u8>>)>,
    pub(crate) lossy: bool,
}

/// Copies a message's headers.
pub(crate) fn headers(message: &BorrowedMessage<'_>) -> ReadHeaders {
    let mut read = ReadHeaders { pairs: Vec::new(), lossy: false };
    let mut headers = ptr::null_mut();
    // SAFETY: the message is borrowed, so its pointer is valid, and so are the headers, which it owns. Name and value
    // are borrowed from them and copied before the next call; a value that is not null has `length` bytes.
    unsafe {
        if ffi::rd_kafka_message_headers(message.ptr(), &raw mut headers)
            != RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR
        {
            return read;
        }
        for index in 0..ffi::rd_kafka_header_cnt(headers) {
            let (mut name, mut value, mut length) = (ptr::null(), ptr::null(), 0);
            let failed =
                ffi::rd_kafka_header_get_all(headers, index, &raw mut name, &raw mut value, &raw mut length);
            if failed.is_error() || name.is_null() {
                continue;
            }
            let name = CStr::from_ptr(name);
            read.lossy |= name.to_str().is_err();
            let value =
                (!value.is_null()).then(|| std::slice::from_raw_parts(value.cast::<u8>(), length).to_vec());
            read.pairs.push((name.to_string_lossy().into_owned(), value));
        }
    }
    read
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
