//! What an export is asked for with: the shape of the body, as narrow as a schema can say it.
//!
//! What it cannot say (whether anybody could be told at a target, whether the data set has a column, whether an option is one of
//! the format) is answered with 422 instead of 400, so that a body is either against this shape or refused for what it means.

use std::borrow::Cow;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AnyOfBuilder, ArrayBuilder, KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, SchemaType,
    Type,
};
use utoipa::{Number, PartialSchema, ToSchema};
use waybill_domain::export::{
    COLUMN_BYTES_MAX, COLUMNS_MAX, Channel, Compression, DELIMITERS, FILTER_COLUMNS_MAX,
    FILTER_VALUE_CHARACTERS_MAX, FILTER_VALUES_MAX, Format, LABEL_KEY_BYTES_MAX, LABEL_VALUE_CHARACTERS_MAX,
    LABELS_MAX, NAME_CHARACTERS_MAX, NOTIFY_TARGETS_MAX, TARGET_CHARACTERS_MAX,
};
use waybill_domain::span::DIGITS_MAX;

use super::exports::DATASET;
use super::object::{OrNull, closed, flag};
use super::operation::text;

/// No control characters.
const LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";

/// The body of `POST /v1/exports`.
pub(super) struct Asked;

impl PartialSchema for Asked {
    fn schema() -> RefOr<Schema> {
        let object = closed()
            .description(Some("What is asked for. What is `null` counts as absent."))
            .property("dataset", text(DATASET))
            .property("format", one_of(&Format::ALL.map(Format::as_str)).or_null())
            .property("options", options())
            .property("compression", one_of(&Compression::ALL.map(Compression::as_str)).or_null())
            .property("columns", columns())
            .property("filters", filters())
            .property("order", text(DATASET).or_null())
            .property("name", line(1, NAME_CHARACTERS_MAX).or_null())
            .property("labels", labels())
            .property("expiry", expiry())
            .property("notify", notify())
            .required("dataset");
        object.into()
    }
}

impl ToSchema for Asked {
    fn name() -> Cow<'static, str> {
        "Asked".into()
    }
}

fn one_of(values: &[&str]) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(values.iter().copied()))
}

fn line(characters_min: usize, characters_max: usize) -> ObjectBuilder {
    text(LINE).min_length(Some(characters_min)).max_length(Some(characters_max))
}

fn options() -> ObjectBuilder {
    let delimiters = DELIMITERS.map(String::from);
    closed()
        .description(Some("Of the format, as docs/formats.md has them."))
        .property("delimiter", one_of(&delimiters.each_ref().map(String::as_str)).or_null())
        .property("header", flag().or_null())
        .property("byte_order_mark", flag().or_null())
        .property("spreadsheet_safe", flag().or_null())
        .property("wide_numbers", one_of(&["number", "text"]).or_null())
        .or_null()
}

fn array(items: impl Into<RefOr<Schema>>, items_max: usize) -> ArrayBuilder {
    ArrayBuilder::new().items(items.into()).max_items(Some(items_max))
}

fn columns() -> ArrayBuilder {
    array(line(1, COLUMN_BYTES_MAX), COLUMNS_MAX)
        .min_items(Some(1))
        .unique_items(true)
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
}

fn notify() -> ArrayBuilder {
    let target = closed()
        .property("channel", one_of(&Channel::ALL.map(Channel::as_str)))
        .property("target", line(1, TARGET_CHARACTERS_MAX))
        .required("channel")
        .required("target");
    array(target, NOTIFY_TARGETS_MAX)
        .unique_items(true)
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
}

fn labels() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .max_properties(Some(LABELS_MAX))
        .property_names(Some(text(&format!("^[A-Za-z0-9._-]{{1,{LABEL_KEY_BYTES_MAX}}}$"))))
        .additional_properties(Some(RefOr::T(Schema::from(line(0, LABEL_VALUE_CHARACTERS_MAX)))))
        .or_null()
}

fn expiry() -> AnyOfBuilder {
    let length = text(&format!("^[0-9]{{1,{DIGITS_MAX}}}[smhd]$"));
    let time = SchemaFormat::KnownFormat(KnownFormat::DateTime);
    AnyOfBuilder::new()
        .description(Some("Until when the file is wanted: a length such as `7d`, or a time."))
        .item(length)
        .item(ObjectBuilder::new().schema_type(Type::String).format(Some(time)))
        .item(ObjectBuilder::new().schema_type(Type::Null))
}

fn filters() -> ObjectBuilder {
    let values = array(value(), FILTER_VALUES_MAX).min_items(Some(1));
    let conditions = closed()
        .min_properties(Some(1))
        .property("eq", value())
        .property("in", values)
        .property("range", range())
        .property("is_null", flag())
        .property("prefix", value());
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("By column, as docs/datasets.md has them."))
        .max_properties(Some(FILTER_COLUMNS_MAX))
        .property_names(Some(line(1, COLUMN_BYTES_MAX)))
        .additional_properties(Some(RefOr::T(Schema::from(conditions))))
        .or_null()
}

/// A text, a whole number or a truth value.
fn value() -> AnyOfBuilder {
    let whole = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(Number::Int(isize::MIN)))
        .maximum(Some(Number::UInt(usize::MAX)));
    let characters = text(r"^[^\x00]*$").max_length(Some(FILTER_VALUE_CHARACTERS_MAX));
    AnyOfBuilder::new().item(characters).item(whole).item(flag())
}

/// A bound below, a bound above, or one of each.
fn range() -> OneOfBuilder {
    let below = [None, Some("gte"), Some("gt")];
    let above = [None, Some("lte"), Some("lt")];
    let pairs = below.iter().flat_map(|below| above.iter().map(move |above| [*below, *above]));
    let pairs = pairs.filter(|pair| pair.iter().any(Option::is_some));
    pairs.fold(OneOfBuilder::new(), |made, pair| {
        let bounds = pair.into_iter().flatten();
        made.item(bounds.fold(closed(), |object, bound| object.property(bound, value()).required(bound)))
    })
}
