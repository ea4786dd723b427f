//! The bodies of decisions: why, whether it is only tried out, and what else some of them say.

use std::borrow::Cow;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};
use waybill_operator::REASON_CHARACTERS_MAX;

use super::object::{OrNull, closed, flag};
use super::operation::text;
use crate::ops::{OVERLAP_SECONDS_MAX, RUNNING_LIMIT_MAX, WAITING_LIMIT_MAX};

/// A line with something in it.
const SAYING: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";

/// A decision that says no more than why.
pub(super) struct Reasoned;

/// What a tenant may have; what is absent stays.
pub(super) struct LimitsDecision;

/// How a key is followed by another one.
pub(super) struct RotationDecision;

fn decision(what: &str) -> ObjectBuilder {
    let reason =
        text(SAYING).max_length(Some(REASON_CHARACTERS_MAX)).description(Some("Why, for the record."));
    closed()
        .description(Some(what))
        .property("reason", reason)
        .property("dry_run", flag().description(Some("Everything is done but kept.")))
        .required("reason")
}

fn whole(format: KnownFormat, minimum: i64, maximum: Option<i64>) -> ObjectBuilder {
    let number = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(format)))
        .minimum(Some(minimum));
    number.maximum(maximum).or_null()
}

/// A limit that need not be.
fn liftable() -> ObjectBuilder {
    whole(KnownFormat::Int64, 1, None).description(Some("`null` lifts it."))
}

impl PartialSchema for Reasoned {
    fn schema() -> RefOr<Schema> {
        decision("A decision that says no more than why.").into()
    }
}

impl PartialSchema for LimitsDecision {
    fn schema() -> RefOr<Schema> {
        decision("What a tenant may have; what is absent stays.")
            .property("running_limit", whole(KnownFormat::Int32, 1, Some(RUNNING_LIMIT_MAX.into())))
            .property("waiting_limit", whole(KnownFormat::Int32, 1, Some(WAITING_LIMIT_MAX.into())))
            .property("rows_a_day_limit", liftable())
            .property("bytes_kept_limit", liftable())
            .into()
    }
}

impl PartialSchema for RotationDecision {
    fn schema() -> RefOr<Schema> {
        decision("How a key is followed by another one.")
            .property("overlap_seconds", whole(KnownFormat::Int64, 0, Some(OVERLAP_SECONDS_MAX)))
            .into()
    }
}

impl ToSchema for Reasoned {
    fn name() -> Cow<'static, str> {
        "Reasoned".into()
    }
}

impl ToSchema for LimitsDecision {
    fn name() -> Cow<'static, str> {
        "LimitsDecision".into()
    }
}

impl ToSchema for RotationDecision {
    fn name() -> Cow<'static, str> {
        "RotationDecision".into()
    }
}
