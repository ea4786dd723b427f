//! The kinds of problems: one constant a code, with what never changes about it.

use axum::http::StatusCode;
use waybill_operator::{
    PARKED_BEHIND, PARKED_NOT_FOUND, PARKED_SETTLED, REQUEST_INVALID, Refusal, TOPIC_UNRECORDED, Wording,
};
use waybill_outbox::parked::Rejection;

use crate::codes;

/// What all occurrences of one problem share.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The slug.
    pub(crate) code: &'static str,
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// The same in a few words.
    pub(crate) title: &'static str,
    /// What the caller should do.
    pub(crate) next: &'static str,
}

macro_rules! kinds {
    ($($name:ident $status:ident $title:literal $next:literal)*) => {
        impl Kind {
            $(pub(crate) const $name: Self = Self {
                code: codes::$name,
                status: StatusCode::$status,
                title: $title,
                next: $next,
            };)*

            /// Every kind, for the tests.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[
                $(Self::$name,)*
                Self::REQUEST_INVALID,
                Self::PARKED_NOT_FOUND,
                Self::PARKED_SETTLED,
                Self::PARKED_BEHIND,
                Self::TOPIC_UNRECORDED,
            ];
        }
    };
}

kinds! {
    AUTHENTICATION_REQUIRED UNAUTHORIZED "An API key is required"
        "Send the header `Authorization: Bearer wbk_…`."
    API_KEY_INVALID UNAUTHORIZED "The API key is not valid"
        "Check that the whole key was copied, and that it belongs to this deployment."
    API_KEY_EXPIRED UNAUTHORIZED "The API key has expired"
        "Ask an operator for a new key of the same service account; it finds the same exports."
    API_KEY_REVOKED UNAUTHORIZED "The API key was revoked"
        "Ask an operator for a new key of the same service account; it finds the same exports."
    SCOPE_MISSING FORBIDDEN "The API key lacks a scope"
        "Use a key that has the scope named in the detail."
    TENANT_SUSPENDED FORBIDDEN "The tenant is suspended"
        "Ask the operator of this deployment."
    TENANT_REQUIRED FORBIDDEN "Only a tenant's key can do this"
        "Use a key of a service account that belongs to a tenant."

    QUOTA_EXCEEDED TOO_MANY_REQUESTS "The tenant has as much as it may have"
        "Wait for `Retry-After`, or make room: GET /v1/usage shows every limit and its use."

    IDEMPOTENCY_KEY_REQUIRED BAD_REQUEST "An Idempotency-Key is required"
        "Choose a key for this intent, such as a UUID, and send the same one with every retry."
    IDEMPOTENCY_KEY_INVALID BAD_REQUEST "The Idempotency-Key is not valid"
        "Send one header of 1 to 255 visible ASCII characters."
    INTENT_MISMATCH UNPROCESSABLE_ENTITY "The intent stands for another request"
        "Send the first request again to get its export, or choose a new Idempotency-Key for a new export."
    BODY_TOO_LARGE PAYLOAD_TOO_LARGE "The body is too large"
        "Send a smaller body."
    MEDIA_TYPE_UNSUPPORTED UNSUPPORTED_MEDIA_TYPE "The body must be JSON"
        "Send the body as JSON with `Content-Type: application/json`."

    ROUTE_NOT_FOUND NOT_FOUND "There is nothing at this path"
        "See docs/api.md for what there is."
    METHOD_NOT_ALLOWED METHOD_NOT_ALLOWED "The method is not allowed"
        "Use one of the methods that the header `Allow` names."
    EXPORT_NOT_FOUND NOT_FOUND "There is no such export"
        "Check the id, and that the key belongs to the tenant that asked for the export."
    EXPORT_NOT_READY CONFLICT "The export has no result to read"
        "Read the export; its `state` says whether a result is still to come."
    RESULT_EXPIRED GONE "The result's time is over"
        "Ask for a new export; `expires_at` of the old one says when its file went."
    EXPORT_DELETED GONE "The export was deleted"
        "Ask for a new export; of this one only the record remains."
    RANGE_NOT_SATISFIABLE RANGE_NOT_SATISFIABLE "The file has no such bytes"
        "Ask for bytes below the size that `Content-Range` names, or for the whole."
    RESULT_MISSING INTERNAL_SERVER_ERROR "The result cannot be read"
        "Tell the operator of this deployment; the file must be restored or the export asked for anew."

    TENANT_NOT_FOUND NOT_FOUND "There is no such tenant"
        "See `waybill tenant list`."
    SERVICE_ACCOUNT_NOT_FOUND NOT_FOUND "There is no such service account"
        "Check the id; `waybill service-account create` makes one."
    API_KEY_NOT_FOUND NOT_FOUND "There is no such API key"
        "Check the id: `key_` and the 32 digits that stand in the key after `wbk_`."
    API_KEY_ENDED CONFLICT "The API key no longer works"
        "Make a new key of the same service account with `waybill api-key create`."
    NAME_TAKEN CONFLICT "The name is taken"
        "Use the one that has the name, or choose another name."
    DATASET_NOT_FOUND NOT_FOUND "There is no such data set"
        "See `GET /v1/datasets`; an operator sees them by `waybill dataset list`."
    DATASET_FILE_INVALID UNPROCESSABLE_ENTITY "The data set's file is not as it should be"
        "Correct what `problems` names; docs/datasets.md has every key."
    DATASET_CHECK_FAILED UNPROCESSABLE_ENTITY "The data set does not fit its database"
        "Do what the `hint` of each finding of the level `fail` says, then apply the file again."
    SOURCE_UNKNOWN UNPROCESSABLE_ENTITY "The configuration has no such source"
        "Correct `source` in the file, or add the source to the configuration of every api and every worker."
    SOURCE_UNAVAILABLE SERVICE_UNAVAILABLE "The data set's database cannot be reached"
        "Check the source's server, its address and its login in the api's configuration."
    REQUEST_UNFIT UNPROCESSABLE_ENTITY "The request asks for what cannot be had"
        "Correct what `errors` names: `GET /v1/datasets` says what each data set has and allows."
    COLUMN_NOT_EXPORTABLE UNPROCESSABLE_ENTITY "The format cannot hold a column exactly"
        "Choose another format, leave the column out, or have the data set export it as text."
    TRANSITION_NOT_ALLOWED CONFLICT "The export's state does not allow this"
        "Read the export: its `state` says what may follow, as docs/lifecycle.md draws it."

    OUTCOME_UNKNOWN SERVICE_UNAVAILABLE "Nobody knows whether the request was carried out"
        "Send the same request with the same Idempotency-Key: it finds the export, or makes it."
    OVERLOADED SERVICE_UNAVAILABLE "Too much at once"
        "Send the same request again after `Retry-After`."
    REQUEST_TIMEOUT SERVICE_UNAVAILABLE "The request took too long"
        "Send the same request again, with the same Idempotency-Key if it had one."
    DATABASE_UNAVAILABLE SERVICE_UNAVAILABLE "The database cannot be reached"
        "Send the same request again after `Retry-After`."
    OBJECT_STORE_UNAVAILABLE SERVICE_UNAVAILABLE "The object store cannot be reached"
        "Send the same request again after `Retry-After`."
    INTERNAL_ERROR INTERNAL_SERVER_ERROR "An error of ours"
        "Tell the operator of this deployment, with the answer's `X-Request-Id`."
}

/// What is refused about an outbox is said in the words of whoever is asked without this api, too.
impl Kind {
    pub(crate) const REQUEST_INVALID: Self = Self::worded(StatusCode::BAD_REQUEST, &REQUEST_INVALID);
    const PARKED_NOT_FOUND: Self = Self::worded(StatusCode::NOT_FOUND, &PARKED_NOT_FOUND);
    const PARKED_SETTLED: Self = Self::worded(StatusCode::CONFLICT, &PARKED_SETTLED);
    const PARKED_BEHIND: Self = Self::worded(StatusCode::CONFLICT, &PARKED_BEHIND);
    const TOPIC_UNRECORDED: Self = Self::worded(StatusCode::NOT_FOUND, &TOPIC_UNRECORDED);

    const fn worded(status: StatusCode, wording: &Wording) -> Self {
        Self { code: wording.code, status, title: wording.title, next: wording.next }
    }

    /// The kind of a refusal.
    pub(super) fn of(refusal: &Refusal) -> &'static Self {
        match refusal {
            Refusal::Invalid { .. } => &Self::REQUEST_INVALID,
            Refusal::NotParked { .. } => &Self::PARKED_NOT_FOUND,
            Refusal::Rejected { rejection: Rejection::Settled { .. }, .. } => &Self::PARKED_SETTLED,
            Refusal::Rejected { rejection: Rejection::Behind { .. }, .. } => &Self::PARKED_BEHIND,
            Refusal::TopicUnrecorded { .. } => &Self::TOPIC_UNRECORDED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn every_kind_has_a_title_a_remedy_and_an_error_status() {
        for kind in Kind::ALL {
            assert!(kind.status.is_client_error() || kind.status.is_server_error(), "{kind:?}");
            assert!(!kind.title.is_empty() && kind.next.ends_with('.'), "{kind:?}");
        }
    }
}
