//! Every refusal and failure, as RFC 9457 has it: `application/problem+json` with `type`, `title`, `status`,
//! `detail`, and our members `code` (the slug), `next` (what to do) and, for bad fields, `errors`.

mod kind;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use waybill_domain::export::FieldError;
use waybill_operator::Refusal;
use waybill_outbox::parked::Rejection;
use waybill_runtime::chain;

pub(crate) use kind::Kind;

/// What every problem's `type` begins with; the code follows. A name, not an address: it stays what it is wherever
/// the documentation moves.
const TYPE_PREFIX: &str = "urn:waybill:problem:";

/// How long a caller should wait before it tries again what failed for a passing reason.
pub(crate) const RETRY_AFTER_SECONDS: u32 = 1;

/// What a handler answers with.
pub(crate) type Answer<T> = Result<T, Problem>;

/// An answer that is not what the caller wanted.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: &'static Kind,
    detail: String,
    members: Vec<(&'static str, Value)>,
    headers: Vec<(HeaderName, String)>,
}

impl Problem {
    /// A problem of this kind; `detail` speaks of this one occurrence and holds nothing that the caller may not see.
    pub(crate) fn new(kind: &'static Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), members: Vec::new(), headers: Vec::new() }
    }

    /// A request with bad fields.
    pub(crate) fn fields(errors: &[FieldError]) -> Self {
        Self::listing(&Kind::REQUEST_INVALID, errors)
    }

    /// Another problem with fields.
    pub(crate) fn listing(kind: &'static Kind, errors: &[FieldError]) -> Self {
        let detail = match errors {
            [only] if only.field.is_empty() => format!("The body {}.", only.problem),
            [only] => format!("{} {}.", only.field, only.problem),
            several => format!("{} fields are not as they should be.", several.len()),
        };
        Self::new(kind, detail).with("errors", json!(errors))
    }

    /// A request with one bad field.
    pub(crate) fn field(field: &str, problem: impl Into<String>) -> Self {
        Self::fields(&[FieldError { field: field.to_owned(), problem: problem.into() }])
    }

    /// The same with one more member.
    pub(crate) fn with(mut self, member: &'static str, value: Value) -> Self {
        self.members.push((member, value));
        self
    }

    /// The same with a time before which there is no use in another try.
    pub(crate) fn retry_after(self, seconds: u32) -> Self {
        self.header(RETRY_AFTER, seconds.to_string())
    }

    /// The same with a header.
    pub(crate) fn header(mut self, name: HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// A defect of ours or of what is stored: logged here with its sources, of which the caller sees none.
    pub(crate) fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(code = Kind::INTERNAL_ERROR.code, error = %chain(error), "a request failed");
        Self::new(&Kind::INTERNAL_ERROR, "The request could not be carried out because of an error of ours.")
    }

    /// The object store failed a request: logged here with the cause, of which the caller sees none.
    pub(crate) fn store_unavailable(error: &(dyn std::error::Error + 'static)) -> Self {
        let (kind, detail) = (&Kind::OBJECT_STORE_UNAVAILABLE, chain(error));
        tracing::warn!(code = kind.code, detail, "the object store failed a request");
        Self::new(kind, "The object store did not answer.")
    }

    /// The HTTP status.
    #[cfg(test)]
    pub(crate) fn status(&self) -> StatusCode {
        self.kind.status
    }

    /// The slug.
    #[cfg(test)]
    pub(crate) fn code(&self) -> &'static str {
        self.kind.code
    }

    /// The body's members, in the order in which they are read best.
    fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("type".to_owned(), format!("{TYPE_PREFIX}{}", self.kind.code).into());
        body.insert("title".to_owned(), self.kind.title.into());
        body.insert("status".to_owned(), self.kind.status.as_u16().into());
        body.insert("detail".to_owned(), self.detail.clone().into());
        body.insert("code".to_owned(), self.kind.code.into());
        body.insert("next".to_owned(), self.kind.next.into());
        for (member, value) in &self.members {
            body.insert((*member).to_owned(), value.clone());
        }
        Value::Object(body)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let (kind, detail) = (Kind::of(&refusal), refusal.to_string());
        match refusal {
            Refusal::Invalid { field, problem } => Self::field(field, problem),
            Refusal::Rejected { rejection: Rejection::Settled { state }, .. } => {
                Self::new(kind, detail).with("state", state.as_str().into())
            }
            Refusal::Rejected { rejection: Rejection::Behind { refused_seq }, .. } => {
                Self::new(kind, detail).with("refused_seq", refused_seq.into())
            }
            Refusal::NotParked { .. } | Refusal::TopicUnrecorded { .. } => Self::new(kind, detail),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.kind.status, self.body().to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.kind.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS.into());
        }
        if self.kind.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"waybill\""));
        }
        for (name, value) in self.headers {
            // Numbers and what we wrote ourselves, which every header may hold.
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_code_three_times_and_says_what_to_do() {
        let body = Problem::new(&Kind::EXPORT_NOT_FOUND, "There is no export exp_1.").body();
        assert_eq!(body["type"], "urn:waybill:problem:export-not-found");
        assert_eq!(body["code"], "export-not-found");
        assert_eq!(body["status"], 404);
        assert!(!body["next"].as_str().unwrap().is_empty());
    }

    #[test]
    fn one_bad_field_is_named_in_the_detail_and_several_are_counted() {
        let error = |field: &str| FieldError { field: field.to_owned(), problem: "is wrong".to_owned() };
        assert_eq!(Problem::fields(&[error("name")]).detail, "name is wrong.");
        assert_eq!(Problem::fields(&[error("")]).detail, "The body is wrong.");
        let two = Problem::fields(&[error("name"), error("labels")]);
        assert_eq!(two.detail, "2 fields are not as they should be.");
        assert_eq!(two.body()["errors"][1]["field"], "labels");
    }

    #[test]
    fn what_may_be_tried_again_says_when() {
        let response = Problem::new(&Kind::OVERLOADED, "").into_response();
        assert_eq!(response.headers()[RETRY_AFTER], "1");
        assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
        let refused = Problem::new(&Kind::EXPORT_NOT_READY, "").into_response();
        assert!(!refused.headers().contains_key(RETRY_AFTER));
    }
}
