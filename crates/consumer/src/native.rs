//! The calls into librdkafka that rdkafka does not wrap: a partition's cached end, and headers whose names are not UTF-8
//! (rdkafka panics on those). All unsafe code of this crate is here.
#![expect(unsafe_code, reason = "librdkafka's C interface; each block says why it is sound")]

use std::ffi::CStr;
use std::ptr;

use rdkafka::bindings as ffi;
use rdkafka::client::{Client, ClientContext};
use rdkafka::error::IsError;
use rdkafka::message::BorrowedMessage;
use rdkafka::types::RDKafkaRespErr;

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
