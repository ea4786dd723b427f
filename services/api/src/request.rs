//! What is read of a request before its handler runs: its id, its JSON body, its idempotency key, its ids.

use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;
use waybill_domain::export::whole_number;
use waybill_store::intent::IDEMPOTENCY_KEY_CHARACTERS_MAX;

use crate::app::App;
use crate::problem::{Answer, Kind, Problem};

/// The header that names a request, in the request and in its answer.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_CHARACTERS_MAX: usize = 128;

/// The header by which a caller names an intent.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The caller's name for this request where it gave a harmless one, otherwise a new one.
pub(crate) fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let harmless = |text: &&str| {
        (1..=REQUEST_ID_CHARACTERS_MAX).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    };
    given.filter(harmless).map_or_else(|| Uuid::now_v7().simple().to_string(), str::to_owned)
}

/// The caller's name for its intent. It is compared character by character, so nothing of it is trimmed or folded.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Answer<&str> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Err(Problem::new(
            &Kind::IDEMPOTENCY_KEY_REQUIRED,
            "The request has no header Idempotency-Key.",
        ));
    };
    if values.next().is_some() {
        return Err(Problem::new(
            &Kind::IDEMPOTENCY_KEY_INVALID,
            "The header Idempotency-Key stands several times in the request.",
        ));
    }
    let text = value.to_str().map_err(|_not_ascii| {
        Problem::new(&Kind::IDEMPOTENCY_KEY_INVALID, "The Idempotency-Key holds other than visible ASCII.")
    })?;
    if text.trim().is_empty() {
        return Err(Problem::new(&Kind::IDEMPOTENCY_KEY_REQUIRED, "The header Idempotency-Key is blank."));
    }
    if text.len() > IDEMPOTENCY_KEY_CHARACTERS_MAX {
        return Err(Problem::new(
            &Kind::IDEMPOTENCY_KEY_INVALID,
            format!(
                "The Idempotency-Key has {} characters; {IDEMPOTENCY_KEY_CHARACTERS_MAX} is the most.",
                text.len()
            ),
        ));
    }
    Ok(text)
}

/// The bytes of a body that is declared as JSON and within the bound.
pub(crate) struct JsonBody(pub(crate) Bytes);

impl FromRequest<App> for JsonBody {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Answer<Self> {
        let media_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !media_type.is_some_and(is_json) {
            return Err(Problem::new(
                &Kind::MEDIA_TYPE_UNSUPPORTED,
                format!("The body is declared as {}.", media_type.unwrap_or("nothing")),
            ));
        }
        // The bound is the router's own, `DefaultBodyLimit`.
        Bytes::from_request(request, app).await.map(Self).map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                let bytes_max = app.config().api.body_bytes_max;
                Problem::new(&Kind::BODY_TOO_LARGE, format!("The body has more than {bytes_max} bytes."))
            } else {
                Problem::field("", "ended before it was complete")
            }
        })
    }
}

impl JsonBody {
    /// The body as this shape. A number such as `7.0` is a whole one, as JSON Schema has it.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Answer<T> {
        let read = || serde_json::from_value(whole(serde_json::from_slice(&self.0)?));
        read().map_err(|error| Problem::field("", format!("is not as it should be: {error}")))
    }
}

/// The same with whole numbers as such, however they are written.
fn whole(value: Value) -> Value {
    match value {
        Value::Number(number) => whole_number(&number).map_or(Value::Number(number), Value::from),
        Value::Array(items) => items.into_iter().map(whole).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, whole(value))).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}

/// The parameters of a query string, as this shape.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Answer<Self> {
        // No text of Postgres can hold it, and so none of ours.
        if parts.uri.query().is_some_and(|query| query.contains("%00")) {
            return Err(Problem::field("query", "holds U+0000"));
        }
        Query::try_from_uri(&parts.uri).map(|Query(parameters)| Self(parameters)).map_err(|rejection| {
            Problem::field("query", format!("is not as it should be: {}", cause(&rejection)))
        })
    }
}

/// What serde says, without what axum puts before it.
fn cause(rejection: &QueryRejection) -> String {
    let mut cause: &dyn std::error::Error = rejection;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// The one id in a path, as it was sent. Every handler parses it strictly.
pub(crate) struct PathId(pub(crate) String);

impl FromRequestParts<App> for PathId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Answer<Self> {
        let path = Path::<String>::from_request_parts(parts, app).await;
        path.map(|Path(id)| Self(id)).map_err(|_not_utf8| {
            Problem::new(&Kind::ROUTE_NOT_FOUND, "There is nothing at a path that is not UTF-8.")
        })
    }
}

/// `application/json`, or a type that says of itself that it is JSON (RFC 6839).
fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: &HeaderName, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    #[test]
    fn a_harmless_request_id_is_kept_and_any_other_is_replaced() {
        assert_eq!(request_id(&headers(&REQUEST_ID, &["abc-1.2_3"])), "abc-1.2_3");
        for bad in ["", "a b", "a\"b", "ü", &"a".repeat(129)] {
            let made = request_id(&headers(&REQUEST_ID, &[bad]));
            assert_ne!(made, bad);
            assert_eq!(made.len(), 32);
        }
    }

    #[test]
    fn an_idempotency_key_is_taken_as_it_is() {
        assert_eq!(idempotency_key(&headers(&IDEMPOTENCY_KEY, &["Intent 7 "])).unwrap(), "Intent 7 ");
        assert_eq!(idempotency_key(&headers(&IDEMPOTENCY_KEY, &[&"k".repeat(255)])).unwrap().len(), 255);
    }

    #[test]
    fn a_missing_blank_long_strange_or_repeated_idempotency_key_is_refused() {
        let code = |values: &[&str]| idempotency_key(&headers(&IDEMPOTENCY_KEY, values)).unwrap_err().code();
        assert_eq!(code(&[]), "idempotency-key-required");
        assert_eq!(code(&["  "]), "idempotency-key-required");
        assert_eq!(code(&[&"k".repeat(256)]), "idempotency-key-invalid");
        assert_eq!(code(&["k\u{e9}"]), "idempotency-key-invalid");
        assert_eq!(code(&["a", "a"]), "idempotency-key-invalid");
    }

    #[test]
    fn json_is_known_by_its_media_type_alone() {
        for json in ["application/json", "Application/JSON; charset=utf-8", "application/ld+json"] {
            assert!(is_json(json), "{json}");
        }
        for other in ["", "text/plain", "text/json", "application/jsonx", "multipart/form-data"] {
            assert!(!is_json(other), "{other}");
        }
    }
}
