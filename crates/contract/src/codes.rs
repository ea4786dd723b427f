//! Why a record is parked or an event cannot be written: one slug each, with a page in `docs/errors/`.

/// A required attribute is absent.
pub const ATTRIBUTE_MISSING: &str = "attribute-missing";
/// One of CloudEvents' own attributes is the empty string.
pub const ATTRIBUTE_EMPTY: &str = "attribute-empty";
/// An attribute's header has a null value.
pub const ATTRIBUTE_NULL: &str = "attribute-null";
/// An attribute is there more than once.
pub const ATTRIBUTE_DUPLICATED: &str = "attribute-duplicated";
/// An attribute is not UTF-8.
pub const ATTRIBUTE_NOT_UTF8: &str = "attribute-not-utf8";
/// An attribute holds a control character or a noncharacter.
pub const ATTRIBUTE_CHARACTER_EXCLUDED: &str = "attribute-character-excluded";
/// A name that no attribute can have.
pub const ATTRIBUTE_NAME_INVALID: &str = "attribute-name-invalid";
/// An attribute's JSON value is of another type than the attribute.
pub const ATTRIBUTE_TYPE_MISMATCH: &str = "attribute-type-mismatch";
/// In structured mode a header says something else than the value.
pub const ATTRIBUTE_CONTRADICTED: &str = "attribute-contradicted";
/// An attribute is longer than its bound.
pub const ATTRIBUTE_TOO_LONG: &str = "attribute-too-long";
/// `ce_specversion` is another one than 1.0.
pub const SPECVERSION_UNSUPPORTED: &str = "specversion-unsupported";
/// `ce_source` is not a URI reference.
pub const SOURCE_NOT_A_URI: &str = "source-not-a-uri";
/// `ce_time` is not an RFC 3339 time.
pub const TIME_NOT_RFC3339: &str = "time-not-rfc3339";
/// `dataschema` is not a URI.
pub const DATASCHEMA_NOT_A_URI: &str = "dataschema-not-a-uri";
/// Structured mode's value is not one JSON object in UTF-8.
pub const STRUCTURED_NOT_JSON: &str = "structured-not-json";
/// `data` and `data_base64` are both there.
pub const DATA_TWICE: &str = "data-twice";
/// `data_base64` is not Base64.
pub const DATA_NOT_BASE64: &str = "data-not-base64";
/// `data` is not what its content type says.
pub const DATA_UNFIT: &str = "data-unfit";
/// `ce_type` is none that this version knows.
pub const EVENT_TYPE_UNKNOWN: &str = "event-type-unknown";
/// `ce_subject` is another export than the data's.
pub const SUBJECT_MISMATCH: &str = "subject-mismatch";
/// `content-type` is not the contract's media type.
pub const CONTENT_TYPE_UNSUPPORTED: &str = "content-type-unsupported";
/// The content type came as `ce_datacontenttype`.
pub const CONTENT_TYPE_MISPLACED: &str = "content-type-misplaced";
/// The record has no value.
pub const PAYLOAD_NULL: &str = "payload-null";
/// The value is too short for magic byte and schema id.
pub const PAYLOAD_TOO_SHORT: &str = "payload-too-short";
/// The value is larger than its bound.
pub const PAYLOAD_TOO_LARGE: &str = "payload-too-large";
/// The value does not begin with the wire format's magic byte.
pub const MAGIC_BYTE_UNKNOWN: &str = "magic-byte-unknown";
/// The schema id is in no lock that this version knows. The record waits; it is not parked.
pub const SCHEMA_ID_UNKNOWN: &str = "schema-id-unknown";
/// The schema id belongs to another record.
pub const SCHEMA_UNEXPECTED: &str = "schema-unexpected";
/// The data ends before its schema does.
pub const DATA_TRUNCATED: &str = "data-truncated";
/// The data is not Avro of its schema.
pub const DATA_MALFORMED: &str = "data-malformed";
/// Bytes are left after the data.
pub const DATA_TRAILING_BYTES: &str = "data-trailing-bytes";
/// A field holds a value that the contract does not allow.
pub const FIELD_INVALID: &str = "field-invalid";
/// An event could not be encoded.
pub const EVENT_NOT_ENCODABLE: &str = "event-not-encodable";
