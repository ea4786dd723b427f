//! A schema as text again: with everything that was said, and in a normal form.
//!
//! Each named type is written in full where it comes first, and by its name everywhere else. One case cannot be written so
//! that Avro's readers understand it, here and in Java: a type without a namespace that is named again within a
//! namespace that has a type of the same short name.

use std::collections::HashSet;

use crate::json::Json;
use crate::schema::{Field, Kind, Named, Order, Primitive, Schema, Type, TypeId};

/// Whether docs are part of a normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Docs {
    /// A schema with another doc has another normal form.
    Kept,
    /// It has the same.
    Dropped,
}

impl Schema {
    /// The whole schema on one line, as Avro's Java library writes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.fragment(self.root())
    }

    /// The same of one of its types.
    #[must_use]
    pub fn fragment(&self, id: TypeId) -> String {
        Writer { schema: self, known: HashSet::new(), form: Form::AsWritten }.ty(id, None).to_string()
    }

    /// A text that is the same for all ways to write this schema: names in full, attributes in one order, nothing that is
    /// so by default. It reads back as the same schema. Unlike in the canonical form, nothing is lost that may matter:
    /// defaults, aliases, logical types and attributes of one's own are in it.
    #[must_use]
    pub fn normalize(&self, docs: Docs) -> String {
        let form = Form::Normal { docs };
        Writer { schema: self, known: HashSet::new(), form }.ty(self.root(), None).to_string()
    }
}

#[derive(Clone, Copy)]
enum Form {
    AsWritten,
    Normal { docs: Docs },
}

struct Writer<'a> {
    schema: &'a Schema,
    known: HashSet<&'a str>,
    form: Form,
}

type Attributes = Vec<(String, Json)>;

fn put(attributes: &mut Attributes, name: &str, value: Json) {
    attributes.push((name.to_owned(), value));
}

fn string(text: &str) -> Json {
    Json::String(text.to_owned())
}

fn strings<'t>(texts: impl Iterator<Item = &'t str>) -> Json {
    Json::Array(texts.map(string).collect())
}

impl<'a> Writer<'a> {
    fn ty(&mut self, id: TypeId, namespace: Option<&str>) -> Json {
        let ty = &self.schema[id];
        if let Kind::Union(branches) = &ty.kind {
            return Json::Array(branches.iter().map(|branch| self.ty(*branch, namespace)).collect());
        }
        if let Some(named) = ty.named() {
            if !self.known.insert(named.name.full()) {
                return string(self.name_in(named, namespace));
            }
            return Json::Object(match self.form {
                Form::AsWritten => self.named_as_written(ty, named, namespace),
                Form::Normal { docs } => self.named_normal(ty, named, namespace, docs),
            });
        }
        let mut attributes = Vec::new();
        put(&mut attributes, "type", string(ty.kind.as_str()));
        match &ty.kind {
            Kind::Array(item) => put(&mut attributes, "items", self.ty(*item, namespace)),
            Kind::Map(value) => put(&mut attributes, "values", self.ty(*value, namespace)),
            Kind::Primitive(primitive) if ty.properties.is_empty() => return string(primitive.as_str()),
            Kind::Primitive(_) | Kind::Union(_) | Kind::Record(_) | Kind::Enum(_) | Kind::Fixed(_) => {}
        }
        attributes.extend(self.properties(&ty.properties));
        Json::Object(attributes)
    }

    /// A name that means this type in that namespace.
    fn name_in(&self, named: Named<'a>, namespace: Option<&str>) -> &'a str {
        let name = named.name;
        let short = name.namespace().is_some() && name.namespace() == namespace;
        let short = short && Primitive::called(name.short()).is_none() && !is_kind(name.short());
        if short && matches!(self.form, Form::AsWritten) { name.short() } else { name.full() }
    }

    fn named_as_written(&mut self, ty: &'a Type, named: Named<'a>, namespace: Option<&str>) -> Attributes {
        let mut attributes = Vec::new();
        put(&mut attributes, "type", string(declared_kind(ty)));
        put(&mut attributes, "name", string(named.name.short()));
        let own = named.name.namespace();
        if own != namespace {
            put(&mut attributes, "namespace", string(own.unwrap_or_default()));
        }
        if let Some(doc) = named.doc {
            put(&mut attributes, "doc", string(doc));
        }
        self.contents(&mut attributes, ty, own);
        attributes.extend(self.properties(&ty.properties));
        if !named.aliases.is_empty() {
            let alias = |alias: &'a crate::name::Name| self.name_in(Named { name: alias, ..named }, own);
            put(&mut attributes, "aliases", strings(named.aliases.iter().map(alias)));
        }
        attributes
    }

    fn named_normal(
        &mut self,
        ty: &'a Type,
        named: Named<'a>,
        namespace: Option<&str>,
        docs: Docs,
    ) -> Attributes {
        let mut attributes = Vec::new();
        put(&mut attributes, "name", string(named.name.full()));
        let own = named.name.namespace();
        if own.is_none() && namespace.is_some() {
            put(&mut attributes, "namespace", string(""));
        }
        put(&mut attributes, "type", string(declared_kind(ty)));
        if let Some(doc) = named.doc.filter(|_| docs == Docs::Kept) {
            put(&mut attributes, "doc", string(doc));
        }
        if !named.aliases.is_empty() {
            // One without a namespace would take the type's own.
            let full = |alias: &crate::name::Name| match (alias.namespace(), own) {
                (None, Some(_)) => format!(".{}", alias.full()),
                _ => alias.full().to_owned(),
            };
            let aliases = named.aliases.iter().map(|alias| Json::String(full(alias))).collect();
            put(&mut attributes, "aliases", Json::Array(aliases));
        }
        self.contents(&mut attributes, ty, own);
        attributes.extend(self.properties(&ty.properties));
        attributes
    }

    fn contents(&mut self, attributes: &mut Attributes, ty: &'a Type, namespace: Option<&str>) {
        match &ty.kind {
            Kind::Record(record) => {
                let fields = record.fields.iter().map(|field| self.field(field, namespace)).collect();
                put(attributes, "fields", Json::Array(fields));
            }
            Kind::Enum(symbols) => {
                put(attributes, "symbols", strings(symbols.symbols.iter().map(String::as_str)));
                if let Some(default) = &symbols.default {
                    put(attributes, "default", string(default));
                }
            }
            Kind::Fixed(fixed) => put(attributes, "size", Json::Integer(fixed.size as i64)),
            Kind::Primitive(_) | Kind::Array(_) | Kind::Map(_) | Kind::Union(_) => {}
        }
    }

    fn field(&mut self, field: &'a Field, namespace: Option<&str>) -> Json {
        let mut attributes = Vec::new();
        put(&mut attributes, "name", string(&field.name));
        put(&mut attributes, "type", self.ty(field.ty, namespace));
        let with_doc = !matches!(self.form, Form::Normal { docs: Docs::Dropped });
        if let Some(doc) = field.doc.as_ref().filter(|_| with_doc) {
            put(&mut attributes, "doc", string(doc));
        }
        if let Some(default) = &field.default {
            put(&mut attributes, "default", default.clone());
        }
        if field.order != Order::Ascending {
            put(&mut attributes, "order", string(field.order.as_str()));
        }
        if !field.aliases.is_empty() {
            put(&mut attributes, "aliases", strings(field.aliases.iter().map(String::as_str)));
        }
        attributes.extend(self.properties(&field.properties));
        Json::Object(attributes)
    }

    fn properties(&self, properties: &Attributes) -> Attributes {
        match self.form {
            Form::AsWritten => properties.clone(),
            Form::Normal { .. } => sorted(properties),
        }
    }
}

/// What a named type was declared as.
fn declared_kind(ty: &Type) -> &'static str {
    let is_error = matches!(&ty.kind, Kind::Record(record) if record.is_error);
    if is_error { "error" } else { ty.kind.as_str() }
}

/// Whether Java would take the name for that of a kind of types.
fn is_kind(name: &str) -> bool {
    ["record", "enum", "array", "map", "union", "fixed"].contains(&name)
}

/// By name, at every depth.
fn sorted(properties: &Attributes) -> Attributes {
    let mut properties: Attributes =
        properties.iter().map(|(name, value)| (name.clone(), sorted_value(value))).collect();
    properties.sort_by(|one, two| one.0.cmp(&two.0));
    properties
}

fn sorted_value(value: &Json) -> Json {
    match value {
        Json::Object(properties) => Json::Object(sorted(properties)),
        Json::Array(items) => Json::Array(items.iter().map(sorted_value).collect()),
        Json::Null
        | Json::Bool(_)
        | Json::Integer(_)
        | Json::BigInteger(_)
        | Json::Float(_)
        | Json::String(_) => value.clone(),
    }
}
