//! What can be wrong with a record, and what has to follow from it.

use crate::codes;

/// Why an event could not be encoded or decoded.
///
/// The three kinds ask for three different things of the caller, so they are three types: a malformed record will be
/// the same at every later look and is parked; a record with an unknown schema id may become readable with the next
/// release or lock, so it **waits and must not be parked**; an event that cannot be encoded fails its transaction.
#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    /// The record breaks the contract: park it, whole, with the reason.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The record may be sound: wait, keep the position, try again.
    #[error(transparent)]
    UnknownSchemaId(#[from] UnknownSchemaId),
    /// The event cannot be written: roll back.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl ContractError {
    /// The kebab-case reason, as it stands in `parked.reason`, in the log and as a page in `docs/errors/`.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Malformed(malformed) => malformed.reason(),
            Self::UnknownSchemaId(_) => codes::SCHEMA_ID_UNKNOWN,
            Self::Encode(_) => codes::EVENT_NOT_ENCODABLE,
        }
    }

    /// Whether the same record may be readable later, so that it has to wait instead of being parked.
    pub fn must_wait(&self) -> bool {
        match self {
            Self::UnknownSchemaId(_) => true,
            Self::Malformed(_) | Self::Encode(_) => false,
        }
    }
}

/// The data was written with a schema that no embedded lock holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("schema id {id} is in no lock that this version knows")]
pub struct UnknownSchemaId {
    /// The id, as it stands in the wire format.
    pub id: u32,
}

/// A field whose value the contract does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field {field}: {detail}")]
pub struct InvalidField {
    /// The field, as the schema calls it.
    pub field: &'static str,
    /// What is wrong with it. Never the value itself, which may be a caller's text.
    pub detail: String,
}

/// Why an event cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A field holds what no reader would accept.
    #[error(transparent)]
    Field(#[from] InvalidField),
    /// An attribute holds what no reader would accept.
    #[error("cannot write the attribute")]
    Attribute(#[source] Malformed),
    /// The event is larger than any reader accepts.
    #[error("the payload has {bytes} bytes, the most is {bytes_max}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// The embedded schemas lack the event's record.
    #[error("no embedded schema for {subject}")]
    NoSchema {
        /// The record's full name.
        subject: &'static str,
    },
    /// The value does not fit its schema.
    #[error("avro")]
    Avro(#[source] Box<apache_avro::Error>),
}

/// How a record breaks the contract.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A required attribute is absent (CloudEvents 1.0.2, "Required Attributes").
    #[error("there is no attribute {attribute}")]
    AttributeMissing {
        /// The attribute that should be there.
        attribute: &'static str,
    },
    /// One of CloudEvents' own attributes is empty: "MUST be a non-empty string".
    #[error("attribute {attribute} is empty")]
    AttributeEmpty {
        /// The empty attribute.
        attribute: String,
    },
    /// An attribute's header has a null value.
    #[error("attribute {attribute} has a header without a value")]
    AttributeNull {
        /// The attribute.
        attribute: String,
    },
    /// An attribute is there more than once; which one counts would be a guess.
    #[error("attribute {attribute} is there more than once")]
    AttributeDuplicated {
        /// The attribute.
        attribute: String,
    },
    /// An attribute is not UTF-8 (Kafka Protocol Binding, section 3.2.3).
    #[error("attribute {attribute} is not UTF-8")]
    AttributeNotUtf8 {
        /// The attribute.
        attribute: String,
        /// Where it stops being UTF-8.
        source: std::str::Utf8Error,
    },
    /// An attribute holds a character that CloudEvents' type system excludes from strings.
    #[error("attribute {attribute} holds a control character or a noncharacter")]
    AttributeCharacter {
        /// The attribute.
        attribute: String,
    },
    /// An attribute is longer than it may be.
    #[error("attribute {attribute} has {bytes} bytes, the most is {}", crate::ATTRIBUTE_BYTES_MAX)]
    AttributeTooLong {
        /// The attribute.
        attribute: String,
        /// Its length.
        bytes: usize,
    },
    /// No name of an attribute (CloudEvents 1.0.2, "Attribute Naming Convention").
    #[error("{found:?} is no attribute's name: those are lower-case letters and digits of ASCII")]
    AttributeName {
        /// What the record says.
        found: String,
    },
    /// A JSON value of another type than the attribute has (JSON Event Format, section 2.2).
    #[error("attribute {attribute} is of a type that it cannot have")]
    AttributeType {
        /// The attribute.
        attribute: String,
    },
    /// In structured mode a header says something else than the value.
    #[error("attribute {attribute} has a header that says something else than the value")]
    AttributeContradicted {
        /// The attribute.
        attribute: String,
    },
    /// Another version of the envelope.
    #[error("ce_specversion is {found:?}, not {:?}", crate::SPEC_VERSION)]
    SpecVersion {
        /// What the record says.
        found: String,
    },
    /// Not a URI reference (RFC 3986, section 4.1).
    #[error("ce_source is not a URI reference")]
    Source,
    /// Not an RFC 3339 time, or one that no clock shows.
    #[error("ce_time is not an RFC 3339 time")]
    Time,
    /// Not a URI (RFC 3986, section 3).
    #[error("dataschema is not a URI")]
    DataSchema,
    /// Structured mode's value is not one JSON object in UTF-8.
    #[error("the value is not the JSON of an event")]
    StructuredNotJson {
        /// Where it stops being it.
        source: serde_json::Error,
    },
    /// `data` and `data_base64` in one event (JSON Event Format, section 3.1.1).
    #[error("both data and data_base64 are there")]
    DataTwice,
    /// `data_base64` is not Base64 (RFC 4648, section 4).
    #[error("data_base64 is not Base64")]
    DataBase64 {
        /// Where it stops being it.
        source: base64::DecodeError,
    },
    /// `data` is not what its content type says.
    #[error("data {detail}")]
    DataUnfit {
        /// In which way.
        detail: &'static str,
    },
    /// A type that is not asked for here.
    #[error("ce_type {found:?} is none that this reader knows")]
    Type {
        /// What the record says.
        found: String,
    },
    /// The envelope speaks of another export than the data.
    #[error("ce_subject is another export than the data's")]
    Subject,
    /// Another media type, or none at all.
    #[error("the content type is {found:?}, which is not read here")]
    ContentType {
        /// What the record says.
        found: String,
    },
    /// The binding maps `datacontenttype` to `content-type` and to nothing else (section 3.2.1).
    #[error("the content type stands in ce_datacontenttype instead of content-type")]
    ContentTypeMisplaced,
    /// No value. These topics are not compacted: nothing is a tombstone here.
    #[error("the record has no value")]
    PayloadNull,
    /// Less than a magic byte and a schema id.
    #[error("the value has {bytes} bytes, magic byte and schema id alone take 5")]
    PayloadTooShort {
        /// Its size.
        bytes: usize,
    },
    /// Larger than these topics take.
    #[error("the value has {bytes} bytes, the most is {}", crate::PAYLOAD_BYTES_MAX)]
    PayloadTooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Not Confluent's wire format.
    #[error("the value begins with byte {found}, not 0")]
    MagicByte {
        /// The byte.
        found: u8,
    },
    /// The id is known, but as the schema of something else.
    #[error("schema id {id} is of {found}, not of {wanted}")]
    SchemaUnexpected {
        /// The id.
        id: u32,
        /// Whose schema it is.
        found: String,
        /// Whose it should be.
        wanted: &'static str,
    },
    /// The data ends too early.
    #[error("the data ends before its schema does")]
    DataTruncated,
    /// The data is not what its schema says.
    #[error("avro")]
    Data(#[source] Box<apache_avro::Error>),
    /// The data ends too late.
    #[error("{bytes} bytes are left after the data")]
    TrailingBytes {
        /// How many.
        bytes: usize,
    },
    /// A field holds what the contract does not allow.
    #[error(transparent)]
    Field(#[from] InvalidField),
}

impl Malformed {
    /// The kebab-case reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::AttributeMissing { .. } => codes::ATTRIBUTE_MISSING,
            Self::AttributeEmpty { .. } => codes::ATTRIBUTE_EMPTY,
            Self::AttributeNull { .. } => codes::ATTRIBUTE_NULL,
            Self::AttributeDuplicated { .. } => codes::ATTRIBUTE_DUPLICATED,
            Self::AttributeNotUtf8 { .. } => codes::ATTRIBUTE_NOT_UTF8,
            Self::AttributeCharacter { .. } => codes::ATTRIBUTE_CHARACTER_EXCLUDED,
            Self::AttributeTooLong { .. } => codes::ATTRIBUTE_TOO_LONG,
            Self::AttributeName { .. } => codes::ATTRIBUTE_NAME_INVALID,
            Self::AttributeType { .. } => codes::ATTRIBUTE_TYPE_MISMATCH,
            Self::AttributeContradicted { .. } => codes::ATTRIBUTE_CONTRADICTED,
            Self::SpecVersion { .. } => codes::SPECVERSION_UNSUPPORTED,
            Self::Source => codes::SOURCE_NOT_A_URI,
            Self::Time => codes::TIME_NOT_RFC3339,
            Self::DataSchema => codes::DATASCHEMA_NOT_A_URI,
            Self::StructuredNotJson { .. } => codes::STRUCTURED_NOT_JSON,
            Self::DataTwice => codes::DATA_TWICE,
            Self::DataBase64 { .. } => codes::DATA_NOT_BASE64,
            Self::DataUnfit { .. } => codes::DATA_UNFIT,
            Self::Type { .. } => codes::EVENT_TYPE_UNKNOWN,
            Self::Subject => codes::SUBJECT_MISMATCH,
            Self::ContentType { .. } => codes::CONTENT_TYPE_UNSUPPORTED,
            Self::ContentTypeMisplaced => codes::CONTENT_TYPE_MISPLACED,
            Self::PayloadNull => codes::PAYLOAD_NULL,
            Self::PayloadTooShort { .. } => codes::PAYLOAD_TOO_SHORT,
            Self::PayloadTooLarge { .. } => codes::PAYLOAD_TOO_LARGE,
            Self::MagicByte { .. } => codes::MAGIC_BYTE_UNKNOWN,
            Self::SchemaUnexpected { .. } => codes::SCHEMA_UNEXPECTED,
            Self::DataTruncated => codes::DATA_TRUNCATED,
            Self::Data(_) => codes::DATA_MALFORMED,
            Self::TrailingBytes { .. } => codes::DATA_TRAILING_BYTES,
            Self::Field(_) => codes::FIELD_INVALID,
        }
    }
}
