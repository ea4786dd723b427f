//! What a caller asks for: the request of an export, checked field by field.

mod expiry;
mod file;
mod filter;
mod spec;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

pub use expiry::Expiry;
pub use file::{Compression, DELIMITERS, Format, FormatOptions, WideNumbers};
pub use filter::{
    Conditions, FILTER_COLUMNS_MAX, FILTER_VALUE_CHARACTERS_MAX, FILTER_VALUES_MAX, Filters, Operator, Range,
    whole_number,
};
pub use spec::Spec;

/// The longest name of an export, in characters.
pub const NAME_CHARACTERS_MAX: usize = 200;
/// The most columns one export may name.
pub const COLUMNS_MAX: usize = 500;
/// The longest column name, in bytes (Postgres' own bound on identifiers), and so in characters.
pub const COLUMN_BYTES_MAX: usize = 63;
/// The most labels of an export.
pub const LABELS_MAX: usize = 32;
/// The longest key of a label, in bytes.
pub const LABEL_KEY_BYTES_MAX: usize = 63;
/// The longest value of a label, in characters.
pub const LABEL_VALUE_CHARACTERS_MAX: usize = 200;
/// The most targets that one export may notify.
pub const NOTIFY_TARGETS_MAX: usize = 10;
/// The longest mail address, in bytes (RFC 5321, section 4.5.3.1.3, less the angle brackets).
pub const EMAIL_BYTES_MAX: usize = 254;
/// The longest target of any channel, in characters: what no target is below is a webhook's URL.
pub const TARGET_CHARACTERS_MAX: usize = 2_000;

/// The way in which somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// A mail over SMTP.
    Email,
    /// A signed HTTP request.
    Webhook,
}

impl Channel {
    /// Every channel.
    pub const ALL: [Self; 2] = [Self::Email, Self::Webhook];

    /// The channel as it is stored and answered.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Webhook => "webhook",
        }
    }

    /// The channel that is stored as this text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.as_str() == text)
    }
}

/// Who is told about an export's outcome, and how.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NotifyTarget {
    /// The way.
    pub channel: Channel,
    /// A mail address, or an `http` or `https` URL.
    pub target: String,
}

/// A request whose every field has its shape. Whether anybody could be told at its targets, and whether the data set has what
/// is asked for, are other questions: no schema of a body answers them.
///
/// A field that a first version did not have is left out of the canonical text while it is absent, so that the digests
/// of intents stay what they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExportRequest {
    /// The name of a data set.
    pub dataset: String,
    /// The format of the file.
    pub format: Format,
    /// Its options; what is absent is as the data set has it.
    #[serde(skip_serializing_if = "FormatOptions::is_empty")]
    pub options: FormatOptions,
    /// Its compression; `None` is the data set's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// The columns in the order of the file; `None` stands for all of the data set's.
    pub columns: Option<Vec<String>>,
    /// Which rows are wanted; empty for all of the tenant's.
    #[serde(skip_serializing_if = "Filters::is_empty")]
    pub filters: Filters,
    /// The name of one of the data set's orders; `None` is the data set's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// What people call it; searchable.
    pub name: Option<String>,
    /// Free keys and values; searchable.
    pub labels: BTreeMap<String, String>,
    /// Until when the file is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
    /// Who is told about the outcome.
    pub notify: Vec<NotifyTarget>,
}

/// What is wrong with one field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// The field, as a path such as `notify[1].target`; empty for the whole body.
    pub field: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

const FIELDS: [&str; 11] = [
    "dataset",
    "format",
    "options",
    "compression",
    "columns",
    "filters",
    "order",
    "name",
    "labels",
    "expiry",
    "notify",
];

impl ExportRequest {
    /// Reads a request's JSON body, and names everything that is wrong with it at once.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<FieldError>> {
        let mut errors = Errors::default();
        let object = match serde_json::from_slice::<Value>(body) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Err(errors.and("", "must be a JSON object")),
            Err(error) => return Err(errors.and("", &format!("is not valid JSON: {error}"))),
        };
        for field in object.keys().filter(|field| !FIELDS.contains(&field.as_str())) {
            errors.add(field, &format!("is not a field of an export; the fields are {}", FIELDS.join(", ")));
        }
        // A null stands for an absent field.
        let field = |name: &str| object.get(name).filter(|value| !value.is_null());
        let dataset = dataset(field("dataset"), &mut errors);
        let format = file::format(field("format"), &mut errors);
        let options = field("options").map(|value| file::options(value, &mut errors));
        let request = Self {
            dataset,
            format,
            options: options.unwrap_or_default(),
            compression: field("compression").and_then(|value| file::compression(value, &mut errors)),
            columns: field("columns").map(|value| columns(value, &mut errors)),
            filters: field("filters").map(|value| filter::filters(value, &mut errors)).unwrap_or_default(),
            order: field("order").and_then(|value| order(value, &mut errors)),
            name: field("name").and_then(|value| name(value, &mut errors)),
            labels: field("labels").map(|value| labels(value, &mut errors)).unwrap_or_default(),
            expiry: field("expiry").and_then(|value| expiry::expiry(value, &mut errors)),
            notify: field("notify").map(|value| notify(value, &mut errors)).unwrap_or_default(),
        };
        if errors.0.is_empty() { Ok(request) } else { Err(errors.0) }
    }

    /// What is wrong with it that is wrong with any data set: targets at which nobody could be told, and options of another
    /// format.
    pub fn unfit(&self) -> Vec<FieldError> {
        let mut errors = Errors::default();
        file::check_options(self.options, self.format, &mut errors);
        for (index, target) in self.notify.iter().enumerate() {
            if let Err(problem) = target.check() {
                errors.add(&format!("notify[{index}]"), problem);
            }
        }
        errors.0
    }

    /// One text for each meaning: equal requests give equal bytes, however their JSON was written. What an intent's
    /// digest is taken of.
    pub fn canonical(&self) -> Vec<u8> {
        // Labels are sorted by their map, the other fields stand in declared order.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[derive(Default)]
struct Errors(Vec<FieldError>);

impl Errors {
    fn add(&mut self, field: &str, problem: &str) {
        self.0.push(FieldError { field: field.to_owned(), problem: problem.to_owned() });
    }

    fn and(mut self, field: &str, problem: &str) -> Vec<FieldError> {
        self.add(field, problem);
        self.0
    }
}

fn dataset(value: Option<&Value>, errors: &mut Errors) -> String {
    match value.map(Value::as_str) {
        Some(Some(text)) if is_dataset_name(text) => return text.to_owned(),
        None => errors.add("dataset", "is required: the name of a data set, as GET /v1/datasets lists them"),
        Some(_) => errors.add("dataset", "must be a data set's name: lower-case letters, digits, - and _"),
    }
    String::new()
}

/// Whether this may be the name of a data set or of an order: 1 to 63 of `a-z0-9_-`, beginning with a letter.
pub fn is_dataset_name(text: &str) -> bool {
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

fn order(value: &Value, errors: &mut Errors) -> Option<String> {
    let name = value.as_str().filter(|text| is_dataset_name(text));
    if name.is_none() {
        errors.add("order", "must be the name of an order, as GET /v1/datasets lists them");
    }
    name.map(str::to_owned)
}

fn columns(value: &Value, errors: &mut Errors) -> Vec<String> {
    let Some(items) = value.as_array().filter(|items| (1..=COLUMNS_MAX).contains(&items.len())) else {
        errors.add(
            "columns",
            &format!("must be an array of 1 to {COLUMNS_MAX} column names, or absent for all"),
        );
        return Vec::new();
    };
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let field = format!("columns[{index}]");
        match item.as_str().filter(|text| is_line(text, COLUMN_BYTES_MAX)) {
            None => errors.add(&field, "must be the name of a column"),
            Some(text) if !seen.insert(text) => errors.add(&field, "names a column for the second time"),
            Some(_) => {}
        }
    }
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn name(value: &Value, errors: &mut Errors) -> Option<String> {
    let text = value.as_str().filter(|text| is_line(text, NAME_CHARACTERS_MAX));
    if text.is_none() {
        errors.add(
            "name",
            &format!("must be 1 to {NAME_CHARACTERS_MAX} characters without control characters"),
        );
    }
    text.map(str::to_owned)
}

fn labels(value: &Value, errors: &mut Errors) -> BTreeMap<String, String> {
    let Some(object) = value.as_object().filter(|object| object.len() <= LABELS_MAX) else {
        errors.add("labels", &format!("must be an object of at most {LABELS_MAX} keys with text values"));
        return BTreeMap::new();
    };
    let mut labels = BTreeMap::new();
    for (key, value) in object {
        let field = format!("labels.{key}");
        let key_is_fit = (1..=LABEL_KEY_BYTES_MAX).contains(&key.len())
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if !key_is_fit {
            errors.add(&field, &format!("a key is 1 to {LABEL_KEY_BYTES_MAX} of A-Z a-z 0-9 . _ -"));
        }
        match value.as_str().filter(|text| text.is_empty() || is_line(text, LABEL_VALUE_CHARACTERS_MAX)) {
            Some(text) => drop(labels.insert(key.clone(), text.to_owned())),
            None => errors
                .add(&field, &format!("must be text of at most {LABEL_VALUE_CHARACTERS_MAX} characters")),
        }
    }
    labels
}

fn notify(value: &Value, errors: &mut Errors) -> Vec<NotifyTarget> {
    let Some(items) = value.as_array().filter(|items| items.len() <= NOTIFY_TARGETS_MAX) else {
        errors.add("notify", &format!("must be an array of at most {NOTIFY_TARGETS_MAX} targets"));
        return Vec::new();
    };
    let mut targets: Vec<NotifyTarget> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let field = format!("notify[{index}]");
        match notify_target(item) {
            Ok(target) if targets.contains(&target) => {
                errors.add(&field, "names a target for the second time");
            }
            Ok(target) => targets.push(target),
            Err(problem) => errors.add(&field, problem),
        }
    }
    targets
}

fn notify_target(item: &Value) -> Result<NotifyTarget, &'static str> {
    const SHAPE: &str = "must be {\"channel\": \"email\" or \"webhook\", \"target\": an address or a URL}";
    let object = item.as_object().filter(|object| object.len() == 2).ok_or(SHAPE)?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).ok_or(SHAPE);
    let channel = Channel::parse(text("channel")?).ok_or(SHAPE)?;
    let target = text("target")?.to_owned();
    if !is_line(&target, TARGET_CHARACTERS_MAX) {
        return Err("its target must be 1 to 2000 characters without control characters");
    }
    Ok(NotifyTarget { channel, target })
}

impl NotifyTarget {
    /// Whether somebody could be told there, as far as the text says.
    fn check(&self) -> Result<(), &'static str> {
        match self.channel {
            Channel::Email if !is_mail_address(&self.target) => {
                Err("its target must be a mail address such as a@example.org")
            }
            Channel::Webhook if !is_webhook_url(&self.target) => {
                Err("its target must be an http or https URL without user, password and fragment")
            }
            Channel::Email | Channel::Webhook => Ok(()),
        }
    }
}

/// An address that a mail server takes without quoting: one `@`, something on either side, nothing that could end
/// a header or a command. Whether it exists, only its server knows.
fn is_mail_address(text: &str) -> bool {
    let fit = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"<>()[],;:\\\"".contains(c))
    };
    text.len() <= EMAIL_BYTES_MAX
        && text.matches('@').count() == 1
        && text.split_once('@').is_some_and(|(local, domain)| fit(local) && fit(domain))
}

fn is_webhook_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none()
    })
}

fn is_line(text: &str, characters_max: usize) -> bool {
    (1..=characters_max).contains(&text.chars().count()) && !has_control(text)
}

fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}
