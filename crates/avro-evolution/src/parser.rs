//! From JSON to types that may still refer to names that nothing has defined yet.
//!
//! The first of two passes, divided as Avro's Java library divides them since 1.12: a name that is not known where it is
//! used stays a [`Draft::Forward`], which `resolution` puts right. What is accepted depends on that order in corners,
//! so it is kept here, too.

use std::collections::{HashMap, HashSet};

use crate::defaults::{self, Shape};
use crate::error::{SchemaError, SchemaProblem};
use crate::json::Json;
use crate::json_reader;
use crate::logical::LogicalType;
use crate::name::{Name, is_name};
use crate::pointer::Pointer;
use crate::resolution;
use crate::sameness::same_type;
use crate::schema::{Enum, Field, Fixed, Kind, Order, Primitive, Record, Schema, Type, TypeId};

/// The largest fixed type: what Java's arrays hold.
const FIXED_BYTES_MAX: i64 = i32::MAX as i64 - 8;

/// Attributes that have a meaning of their own on every type.
const TYPE_RESERVED: [&str; 10] =
    ["doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases"];
const ENUM_RESERVED: [&str; 11] = [
    "doc",
    "fields",
    "items",
    "name",
    "namespace",
    "size",
    "symbols",
    "values",
    "type",
    "aliases",
    "default",
];
const FIELD_RESERVED: [&str; 6] = ["default", "doc", "name", "order", "type", "aliases"];

/// A type on its way into a schema.
#[derive(Debug)]
pub(crate) enum Draft {
    /// Read; what it refers to are drafts.
    Type {
        ty: Type,
        /// Where its text is.
        path: String,
    },
    /// A name that was not known where it was used.
    Forward {
        name: String,
        /// Where it was used.
        path: String,
    },
}

/// The drafts of one schema and of what it refers to.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    pub(crate) all: Vec<Draft>,
    /// The named types in the order in which they were defined.
    pub(crate) named: Vec<TypeId>,
    by_name: HashMap<String, TypeId>,
}

pub(crate) fn parse(text: &str, references: &[Schema]) -> Result<Schema, SchemaError> {
    let json = json_reader::read(text)
        .map_err(|error| SchemaError::new(String::new(), SchemaProblem::Syntax(error)))?;
    let mut drafts = Drafts::default();
    for reference in references {
        drafts.take_over(reference)?;
    }
    let mut parser = Parser { drafts, path: Pointer::default() };
    let root = parser.schema(&json, None)?;
    resolution::resolve(&parser.drafts, root)
}

impl Drafts {
    pub(crate) fn named(&self, full_name: &str) -> Option<TypeId> {
        self.by_name.get(full_name).copied()
    }

    fn add(&mut self, draft: Draft) -> TypeId {
        self.all.push(draft);
        TypeId::at(self.all.len() - 1)
    }

    /// Makes a type known by its name, unless an equal one is.
    fn define(&mut self, id: TypeId) -> Result<(), SchemaError> {
        let Draft::Type { ty, path } = &self.all[id.index()] else { return Ok(()) };
        let Some(named) = ty.named() else { return Ok(()) };
        let full = named.name.full().to_owned();
        if let Some(part) = named.name.invalid_namespace_part() {
            let problem = SchemaProblem::InvalidName { name: part.to_owned() };
            return Err(SchemaError::new(path.clone(), problem));
        }
        match self.by_name.get(&full) {
            Some(&before) if !same_type(&self.all, before, id) => {
                Err(SchemaError::new(path.clone(), SchemaProblem::Redefined { name: full }))
            }
            Some(_) => Ok(()),
            None => {
                self.named.push(id);
                self.by_name.insert(full, id);
                Ok(())
            }
        }
    }

    /// Takes over what another schema defines. A type that two of them define is the first one's.
    fn take_over(&mut self, schema: &Schema) -> Result<(), SchemaError> {
        let known = |ty: &Type| ty.named().and_then(|named| self.named(named.name.full()));
        let first_own = self.all.len();
        let moved: Vec<TypeId> = schema
            .types()
            .iter()
            .zip(first_own..)
            .map(|(ty, at)| known(ty).unwrap_or_else(|| TypeId::at(at)))
            .collect();
        // First as it is, so that it can be compared with the one that takes its place.
        for ty in schema.types() {
            let mut ty = ty.clone();
            ty.refer(|part| TypeId::at(first_own + part.index()));
            self.add(Draft::Type { ty, path: String::new() });
        }
        for id in schema.named_types() {
            self.define(TypeId::at(first_own + id.index()))?;
        }
        for draft in &mut self.all[first_own..] {
            if let Draft::Type { ty, .. } = draft {
                ty.refer(|part| moved[part.index() - first_own]);
            }
        }
        Ok(())
    }
}

impl Shape for Drafts {
    /// As Java has it, a name that is not known yet is judged as a record without fields.
    fn shape(&self, id: TypeId) -> defaults::Found<'_> {
        match &self.all[id.index()] {
            Draft::Type { ty, .. } => defaults::Found::Type(ty),
            Draft::Forward { .. } => defaults::Found::EmptyRecord,
        }
    }
}

impl Type {
    /// Changes what it refers to.
    pub(crate) fn refer(&mut self, mut to: impl FnMut(TypeId) -> TypeId) {
        match &mut self.kind {
            Kind::Array(part) | Kind::Map(part) => *part = to(*part),
            Kind::Union(branches) => branches.iter_mut().for_each(|branch| *branch = to(*branch)),
            Kind::Record(record) => record.fields.iter_mut().for_each(|field| field.ty = to(field.ty)),
            Kind::Primitive(_) | Kind::Enum(_) | Kind::Fixed(_) => {}
        }
    }
}

struct Parser {
    drafts: Drafts,
    path: Pointer,
}

impl Parser {
    fn error(&self, problem: SchemaProblem) -> SchemaError {
        SchemaError::new(self.path.to_string(), problem)
    }

    fn within<T>(
        &mut self,
        part: &str,
        work: impl FnOnce(&mut Self) -> Result<T, SchemaError>,
    ) -> Result<T, SchemaError> {
        self.path.push(part);
        let outcome = work(self)?;
        self.path.pop();
        Ok(outcome)
    }

    fn schema(&mut self, json: &Json, namespace: Option<&str>) -> Result<TypeId, SchemaError> {
        match json {
            Json::String(name) => Ok(self.reference(name, namespace)),
            Json::Array(branches) => self.union(branches, namespace),
            Json::Object(properties) => self.object(json, properties, namespace),
            Json::Null | Json::Bool(_) | Json::Integer(_) | Json::BigInteger(_) | Json::Float(_) => {
                Err(self.error(SchemaProblem::NotASchema { found: json.kind() }))
            }
        }
    }

    /// The type that a name means here: a primitive, one of this namespace, or one without.
    fn reference(&mut self, name: &str, namespace: Option<&str>) -> TypeId {
        let path = self.path.to_string();
        if let Some(primitive) = Primitive::called(name) {
            let ty = Type { kind: Kind::Primitive(primitive), logical: None, properties: Vec::new() };
            return self.drafts.add(Draft::Type { ty, path });
        }
        let full = match namespace {
            Some(namespace) if !name.contains('.') => format!("{namespace}.{name}"),
            _ => name.to_owned(),
        };
        let known = self.drafts.named(&full).or_else(|| self.drafts.named(name));
        known.unwrap_or_else(|| self.drafts.add(Draft::Forward { name: full, path }))
    }

    fn object(
        &mut self,
        json: &Json,
        properties: &[(String, Json)],
        namespace: Option<&str>,
    ) -> Result<TypeId, SchemaError> {
        let remedy = "say which type it is, such as \"record\" or \"string\"";
        let name = self.required_text(json, "type", remedy)?;
        let (kind, reserved): (Kind, &[&str]) = match name {
            "record" | "error" => (self.record(json, namespace, name == "error")?, &TYPE_RESERVED),
            "enum" => (self.symbols(json, namespace)?, &ENUM_RESERVED),
            "fixed" => (self.fixed(json, namespace)?, &TYPE_RESERVED),
            "array" => (Kind::Array(self.part(json, "items", namespace)?), &TYPE_RESERVED),
            "map" => (Kind::Map(self.part(json, "values", namespace)?), &TYPE_RESERVED),
            _ => match Primitive::called(name) {
                Some(primitive) => (Kind::Primitive(primitive), &TYPE_RESERVED),
                // A name in an object means what it means alone, and the attributes beside it mean nothing.
                None => return Ok(self.reference(name, namespace)),
            },
        };
        let mut ty = Type { kind, logical: None, properties: unreserved(properties, reserved) };
        let copied = matches!(ty.kind, Kind::Record(_) | Kind::Array(_) | Kind::Map(_));
        if copied && ty.properties.iter().any(|(_, value)| value.holds_big_integer()) {
            return Err(self.error(SchemaProblem::OversizedInteger));
        }
        ty.logical = LogicalType::of(&ty);
        let id = self.drafts.add(Draft::Type { ty, path: self.path.to_string() });
        self.drafts.define(id)?;
        Ok(id)
    }

    fn part(
        &mut self,
        json: &Json,
        property: &'static str,
        namespace: Option<&str>,
    ) -> Result<TypeId, SchemaError> {
        let missing = SchemaProblem::Missing { property, remedy: "write the type of what is in it" };
        let part = json.get(property).ok_or_else(|| self.error(missing))?;
        self.within(property, |this| this.schema(part, namespace))
    }

    fn union(&mut self, branches: &[Json], namespace: Option<&str>) -> Result<TypeId, SchemaError> {
        let mut ids = Vec::with_capacity(branches.len());
        let mut names = HashSet::with_capacity(branches.len());
        for (index, branch) in branches.iter().enumerate() {
            ids.push(self.within(&index.to_string(), |this| {
                let id = this.schema(branch, namespace)?;
                let Draft::Type { ty, .. } = &this.drafts.all[id.index()] else { return Ok(id) };
                if matches!(ty.kind, Kind::Union(_)) {
                    return Err(this.error(SchemaProblem::NestedUnion));
                }
                if !names.insert(ty.full_name().to_owned()) {
                    let name = ty.full_name().to_owned();
                    return Err(this.error(SchemaProblem::DuplicateBranch { name }));
                }
                Ok(id)
            })?);
        }
        let ty = Type { kind: Kind::Union(ids), logical: None, properties: Vec::new() };
        Ok(self.drafts.add(Draft::Type { ty, path: self.path.to_string() }))
    }

    fn record(&mut self, json: &Json, namespace: Option<&str>, is_error: bool) -> Result<Kind, SchemaError> {
        let name = self.name(json, namespace)?;
        let Some(Json::Array(described)) = json.get("fields") else {
            let remedy = "give the record an array of fields, an empty one if it has none";
            return Err(self.error(SchemaProblem::Missing { property: "fields", remedy }));
        };
        let mut fields = Vec::with_capacity(described.len());
        let mut by_name = HashMap::with_capacity(described.len());
        self.within("fields", |this| {
            for (index, described) in described.iter().enumerate() {
                this.within(&index.to_string(), |this| {
                    let field = this.field(described, name.namespace())?;
                    if by_name.insert(field.name.as_str().into(), index).is_some() {
                        return Err(this.error(SchemaProblem::DuplicateField { name: field.name }));
                    }
                    fields.push(field);
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        let aliases = self.aliases(json, &name)?;
        Ok(Kind::Record(Record { name, aliases, doc: text(json, "doc"), is_error, fields, by_name }))
    }

    fn field(&mut self, json: &Json, namespace: Option<&str>) -> Result<Field, SchemaError> {
        let name = self.required_text(json, "name", "give the field a name")?.to_owned();
        let remedy = "write the type of the field's values";
        let missing = SchemaProblem::Missing { property: "type", remedy };
        let ty = json.get("type").ok_or_else(|| self.error(missing))?;
        let ty = self.within("type", |this| this.schema(ty, namespace))?;
        let order = match json.get("order").map(|order| order.as_str().map(str::to_uppercase)) {
            None => Order::Ascending,
            Some(Some(order)) if order == "ASCENDING" => Order::Ascending,
            Some(Some(order)) if order == "DESCENDING" => Order::Descending,
            Some(Some(order)) if order == "IGNORE" => Order::Ignore,
            Some(_) => return Err(self.error(SchemaProblem::InvalidOrder)),
        };
        if !is_name(&name) {
            return Err(self.error(SchemaProblem::InvalidName { name }));
        }
        let mut default = json.get("default").cloned();
        if let Draft::Type {
            ty: Type { kind: Kind::Primitive(Primitive::Float | Primitive::Double), .. },
            ..
        } = &self.drafts.all[ty.index()]
            && let Some(Json::String(text)) = &default
        {
            let Some(number) = defaults::number_in_text(text) else {
                return Err(self.error(defaults::invalid(
                    &self.drafts,
                    &name,
                    ty,
                    &Json::String(text.clone()),
                )));
            };
            default = Some(Json::Float(number));
        }
        if let Some(default) = &default
            && !matches!(defaults::is_valid(&self.drafts, ty, default), Ok(true))
        {
            return Err(self.error(defaults::invalid(&self.drafts, &name, ty, default)));
        }
        let Json::Object(properties) = json else { return Err(self.error(SchemaProblem::InvalidOrder)) };
        let aliases = self.alias_texts(json)?;
        let properties = unreserved(properties, &FIELD_RESERVED);
        Ok(Field { name, aliases, doc: text(json, "doc"), ty, default, order, properties })
    }

    fn symbols(&mut self, json: &Json, namespace: Option<&str>) -> Result<Kind, SchemaError> {
        let name = self.name(json, namespace)?;
        let Some(Json::Array(described)) = json.get("symbols") else {
            let remedy = "give the enum an array of its symbols";
            return Err(self.error(SchemaProblem::Missing { property: "symbols", remedy }));
        };
        let mut symbols: Vec<String> = Vec::with_capacity(described.len());
        let mut seen = HashSet::with_capacity(described.len());
        self.within("symbols", |this| {
            for symbol in described {
                let Some(symbol) = symbol.as_str().filter(|symbol| is_name(symbol)) else {
                    return Err(this.error(SchemaProblem::InvalidName { name: symbol.to_string() }));
                };
                if !seen.insert(symbol) {
                    return Err(this.error(SchemaProblem::DuplicateSymbol { symbol: symbol.to_owned() }));
                }
                symbols.push(symbol.to_owned());
            }
            Ok(())
        })?;
        let default = text(json, "default");
        if let Some(symbol) = default.as_ref().filter(|default| !seen.contains(default.as_str())) {
            return Err(self.error(SchemaProblem::UnknownDefaultSymbol { symbol: symbol.clone() }));
        }
        let aliases = self.aliases(json, &name)?;
        Ok(Kind::Enum(Enum { name, aliases, doc: text(json, "doc"), symbols, default }))
    }

    fn fixed(&mut self, json: &Json, namespace: Option<&str>) -> Result<Kind, SchemaError> {
        let name = self.name(json, namespace)?;
        let size = match json.get("size") {
            Some(Json::Integer(size)) if (0..=FIXED_BYTES_MAX).contains(size) => usize::try_from(*size).ok(),
            _ => None,
        };
        let remedy = "write how many bytes a value has, from 0 to 2147483639";
        let missing = SchemaProblem::Missing { property: "size", remedy };
        let size = size.ok_or_else(|| self.error(missing))?;
        let aliases = self.aliases(json, &name)?;
        Ok(Kind::Fixed(Fixed { name, aliases, doc: text(json, "doc"), size }))
    }

    /// The name that a named type gives itself.
    fn name(&self, json: &Json, surrounding: Option<&str>) -> Result<Name, SchemaError> {
        let space = json.get("namespace").and_then(Json::as_str).or(surrounding);
        let written = self.required_text(json, "name", "give the type a name")?;
        let name =
            Name::written(written, space).map_err(|name| self.error(SchemaProblem::InvalidName { name }))?;
        if Primitive::called(name.full()).is_some() {
            return Err(self.error(SchemaProblem::PrimitiveName { name: name.full().to_owned() }));
        }
        Ok(name)
    }

    fn aliases(&self, json: &Json, name: &Name) -> Result<Vec<Name>, SchemaError> {
        let mut aliases = Vec::new();
        for alias in self.alias_texts(json)? {
            let alias = Name::written(&alias, name.namespace())
                .map_err(|name| self.error(SchemaProblem::InvalidName { name }))?;
            if !aliases.contains(&alias) {
                aliases.push(alias);
            }
        }
        Ok(aliases)
    }

    fn alias_texts(&self, json: &Json) -> Result<Vec<String>, SchemaError> {
        let Some(aliases) = json.get("aliases") else { return Ok(Vec::new()) };
        let Json::Array(aliases) = aliases else { return Err(self.error(SchemaProblem::InvalidAliases)) };
        let mut texts: Vec<String> = Vec::with_capacity(aliases.len());
        let mut seen = HashSet::with_capacity(aliases.len());
        for alias in aliases {
            let alias = alias.as_str().ok_or_else(|| self.error(SchemaProblem::InvalidAliases))?;
            if seen.insert(alias) {
                texts.push(alias.to_owned());
            }
        }
        Ok(texts)
    }

    fn required_text<'j>(
        &self,
        json: &'j Json,
        property: &'static str,
        remedy: &'static str,
    ) -> Result<&'j str, SchemaError> {
        let found = json.get(property).and_then(Json::as_str);
        found.ok_or_else(|| self.error(SchemaProblem::MissingText { property, remedy }))
    }
}

fn text(json: &Json, property: &str) -> Option<String> {
    json.get(property).and_then(Json::as_str).map(str::to_owned)
}

fn unreserved(properties: &[(String, Json)], reserved: &[&str]) -> Vec<(String, Json)> {
    properties.iter().filter(|(name, _)| !reserved.contains(&name.as_str())).cloned().collect()
}
