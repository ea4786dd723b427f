//! Schemas by chance: every kind of type, few names, so that they meet again, and now and then something that is refused.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Map, Value, json};

pub(crate) const PRIMITIVES: [&str; 8] =
    ["null", "boolean", "int", "long", "float", "double", "bytes", "string"];
const NAMES: [&str; 8] = ["A", "B", "C", "D", "E", "F", "Größe", "array"];
const NAMESPACES: [&str; 3] = ["n", "n.m", "o"];
pub(crate) const FIELDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
pub(crate) const SYMBOLS: [&str; 5] = ["S", "T", "U", "V", "W"];

/// How deep a schema nests at most.
const DEPTH_MAX: usize = 4;

pub(crate) struct Generator<'r> {
    rng: &'r mut StdRng,
    /// Full names of what is defined or being defined, with its definition where it is complete.
    known: Vec<(String, Option<Value>)>,
    /// Types that may hold themselves are not finished: how many more a record may have.
    budget: usize,
}

/// One schema.
pub(crate) fn schema(rng: &mut StdRng) -> Value {
    let budget = rng.random_range(1..=10);
    let mut generator = Generator { rng, known: Vec::new(), budget };
    // Mostly a record, as it is in life.
    if generator.rng.random_bool(0.7) { generator.record(0, None) } else { generator.ty(0, None, true) }
}

/// What stands where a type should be, without any other: for mutations.
pub(crate) fn small(rng: &mut StdRng) -> Value {
    let mut generator = Generator { rng, known: Vec::new(), budget: 1 };
    let depth = DEPTH_MAX - generator.rng.random_range(0..2);
    generator.ty(depth, None, true)
}

/// A value that could be the default of that type, in the reach of what it says itself.
pub(crate) fn default_of(rng: &mut StdRng, ty: &Value) -> Value {
    Generator { rng, known: Vec::new(), budget: 0 }.default(ty, 0)
}

impl Generator<'_> {
    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts.choose(self.rng).copied().unwrap_or_default()
    }

    fn ty(&mut self, depth: usize, namespace: Option<&str>, may_be_union: bool) -> Value {
        let deep = depth >= DEPTH_MAX || self.budget == 0;
        match self.rng.random_range(0..if deep { 12 } else { 24 }) {
            0..=6 => self.primitive(),
            7..=8 => self.reference(namespace),
            9 => self.symbols(namespace),
            10 => self.fixed(namespace),
            11 => self.logical(),
            12..=13 => {
                let items = self.ty(depth + 1, namespace, true);
                self.decorated(json!({"type": "array", "items": items}))
            }
            14..=15 => {
                let values = self.ty(depth + 1, namespace, true);
                self.decorated(json!({"type": "map", "values": values}))
            }
            16..=19 if may_be_union => self.union(depth, namespace),
            _ => self.record(depth, namespace),
        }
    }

    fn primitive(&mut self) -> Value {
        let name = self.pick(&PRIMITIVES);
        if self.rng.random_bool(0.1) { self.decorated(json!({"type": name})) } else { json!(name) }
    }

    fn reference(&mut self, namespace: Option<&str>) -> Value {
        if self.known.is_empty() {
            return self.primitive();
        }
        let (full, _) = &self.known[self.rng.random_range(0..self.known.len())];
        let (space, short) =
            full.rsplit_once('.').map_or((None, full.as_str()), |(space, short)| (Some(space), short));
        let name = if space == namespace && self.rng.random_bool(0.6) { short } else { full };
        if self.rng.random_bool(0.05) { json!({"type": name, "x": 1}) } else { json!(name) }
    }

    fn union(&mut self, depth: usize, namespace: Option<&str>) -> Value {
        let mut branches: Vec<Value> = Vec::new();
        if self.rng.random_bool(0.5) {
            branches.push(json!("null"));
        }
        for _ in 0..self.rng.random_range(0..4) {
            let branch = self.ty(depth + 1, namespace, false);
            let kind = |branch: &Value| {
                let unnamed = branch.is_object() && branch.get("name").is_none();
                if unnamed { branch["type"].clone() } else { branch.clone() }
            };
            // Two branches of a kind are refused, which is seen often enough.
            if self.rng.random_bool(0.02) || branches.iter().all(|known| kind(known) != kind(&branch)) {
                branches.push(branch);
            }
        }
        json!(branches)
    }

    /// The attributes that name a type, and its full name.
    fn name(&mut self, namespace: Option<&str>) -> (Map<String, Value>, String) {
        let mut attributes = Map::new();
        let free: Vec<&str> = NAMES
            .iter()
            .copied()
            .filter(|name| !self.known.iter().any(|(full, _)| full.rsplit('.').next() == Some(name)))
            .collect();
        let short = if free.is_empty() || self.rng.random_bool(0.03) {
            format!("{}{}", self.pick(&NAMES), self.rng.random_range(0..4))
        } else {
            self.pick(&free).to_owned()
        };
        let full = match self.rng.random_range(0..6) {
            0 => {
                let space = self.pick(&NAMESPACES);
                attributes.insert("name".into(), json!(short));
                attributes.insert("namespace".into(), json!(space));
                format!("{space}.{short}")
            }
            1 => {
                let full = format!("{}.{short}", self.pick(&NAMESPACES));
                attributes.insert("name".into(), json!(full));
                full
            }
            2 if self.rng.random_bool(0.2) => {
                attributes.insert("name".into(), json!(short));
                attributes.insert("namespace".into(), json!(""));
                short
            }
            _ => {
                attributes.insert("name".into(), json!(short));
                namespace.map_or_else(|| short.clone(), |space| format!("{space}.{short}"))
            }
        };
        if self.rng.random_bool(0.1) {
            let alias = self.pick(&["A", "B", "n.A", "o.B", ".C", "X"]);
            attributes.insert("aliases".into(), json!([alias]));
        }
        if self.rng.random_bool(0.1) {
            attributes.insert("doc".into(), json!("What it is."));
        }
        (attributes, full)
    }

    fn record(&mut self, depth: usize, namespace: Option<&str>) -> Value {
        self.budget = self.budget.saturating_sub(1);
        let (mut attributes, full) = self.name(namespace);
        let kind = if self.rng.random_bool(0.03) { "error" } else { "record" };
        attributes.insert("type".into(), json!(kind));
        self.known.push((full.clone(), None));
        let space = full.rsplit_once('.').map(|(space, _)| space.to_owned());
        let names = FIELDS.iter().take(self.rng.random_range(0..=FIELDS.len()));
        let mut fields = Vec::new();
        for name in names {
            fields.push(self.field(name, depth, space.as_deref()));
        }
        attributes.insert("fields".into(), json!(fields));
        self.complete(&full, attributes)
    }

    fn field(&mut self, name: &str, depth: usize, namespace: Option<&str>) -> Value {
        let ty = self.ty(depth + 1, namespace, true);
        let mut field = json!({"name": name, "type": ty});
        if self.rng.random_bool(0.4) {
            field["default"] = self.default(&ty, 0);
        }
        if self.rng.random_bool(0.05) {
            field["aliases"] = json!([self.pick(&["g", "h", "f"])]);
        }
        if self.rng.random_bool(0.05) {
            field["order"] = json!(self.pick(&["ascending", "descending", "ignore", "Ignore"]));
        }
        if self.rng.random_bool(0.05) {
            field["doc"] = json!("What it says.");
        }
        if self.rng.random_bool(0.05) {
            field["owner"] = json!({"team": "t", "since": 2.5});
        }
        field
    }

    fn symbols(&mut self, namespace: Option<&str>) -> Value {
        let (mut attributes, full) = self.name(namespace);
        attributes.insert("type".into(), json!("enum"));
        let count = self.rng.random_range(1..=SYMBOLS.len());
        let symbols: Vec<&str> = SYMBOLS.choose_multiple(self.rng, count).copied().collect();
        if self.rng.random_bool(0.3) {
            attributes.insert("default".into(), json!(symbols[0]));
        }
        attributes.insert("symbols".into(), json!(symbols));
        self.known.push((full.clone(), None));
        self.complete(&full, attributes)
    }

    fn fixed(&mut self, namespace: Option<&str>) -> Value {
        let (mut attributes, full) = self.name(namespace);
        attributes.insert("type".into(), json!("fixed"));
        attributes.insert("size".into(), json!(*[0, 1, 4, 12, 16].choose(self.rng).unwrap_or(&4)));
        if self.rng.random_bool(0.3) {
            let logical = self.pick(&["decimal", "duration", "uuid"]);
            attributes.insert("logicalType".into(), json!(logical));
            attributes.insert("precision".into(), json!(self.rng.random_range(1..12)));
        }
        self.known.push((full.clone(), None));
        self.complete(&full, attributes)
    }

    fn complete(&mut self, full: &str, attributes: Map<String, Value>) -> Value {
        let ty = self.decorated(Value::Object(attributes));
        if let Some((_, definition)) = self.known.iter_mut().rev().find(|(known, _)| known == full) {
            *definition = Some(ty.clone());
        }
        ty
    }

    fn logical(&mut self) -> Value {
        let (ty, logical) = *[
            ("int", "date"),
            ("int", "time-millis"),
            ("long", "time-micros"),
            ("long", "timestamp-millis"),
            ("long", "timestamp-micros"),
            ("long", "local-timestamp-nanos"),
            ("string", "uuid"),
            ("bytes", "big-decimal"),
            ("bytes", "decimal"),
            ("string", "date"),
            ("long", "no-such-type"),
        ]
        .choose(self.rng)
        .unwrap_or(&("int", "date"));
        let mut ty = json!({"type": ty, "logicalType": logical});
        if logical == "decimal" {
            ty["precision"] = json!(self.rng.random_range(0..12));
            ty["scale"] = json!(self.rng.random_range(0..6));
        }
        self.decorated(ty)
    }

    fn decorated(&mut self, mut ty: Value) -> Value {
        if self.rng.random_bool(0.03) {
            let key = self.pick(&["x", "default", "order", "avro.java.string", "java-class"]);
            ty[key] = [json!("String"), json!([1, {"b": null}]), json!(1e3)]
                .choose(self.rng)
                .cloned()
                .unwrap_or_default();
        }
        ty
    }

    fn default(&mut self, ty: &Value, depth: usize) -> Value {
        // Now and then one that does not fit.
        if self.rng.random_bool(0.01) || depth > 8 {
            return [json!(null), json!(1), json!("S"), json!({}), json!([])]
                .choose(self.rng)
                .cloned()
                .unwrap_or_default();
        }
        match ty {
            Value::Array(branches) => {
                let at = if self.rng.random_bool(0.8) {
                    0
                } else {
                    self.rng.random_range(0..branches.len().max(1))
                };
                branches.get(at).map_or(Value::Null, |branch| self.default(branch, depth + 1))
            }
            Value::String(name) => self.default_by_name(name, depth),
            Value::Object(_) => match ty["type"].as_str() {
                Some("array") => {
                    let items = &ty["items"];
                    (0..self.rng.random_range(0..3)).map(|_| self.default(items, depth + 1)).collect()
                }
                Some("map") => {
                    let values = &ty["values"];
                    if self.rng.random_bool(0.5) {
                        json!({})
                    } else {
                        json!({"k": self.default(values, depth + 1)})
                    }
                }
                Some("record" | "error") => {
                    let mut value = Map::new();
                    for field in ty["fields"].as_array().map(Vec::as_slice).unwrap_or_default() {
                        if field.get("default").is_none() || self.rng.random_bool(0.5) {
                            let name = field["name"].as_str().unwrap_or_default().to_owned();
                            let of = self.default(&field["type"], depth + 1);
                            value.insert(name, of);
                        }
                    }
                    Value::Object(value)
                }
                Some("enum") => {
                    let symbols = ty["symbols"].as_array().map(Vec::as_slice).unwrap_or_default();
                    symbols.choose(self.rng).cloned().unwrap_or_default()
                }
                Some("fixed") => {
                    let size = ty["size"].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
                    json!("\u{ff}".repeat(size.min(64)))
                }
                Some(name) => self.default_by_name(name, depth),
                None => Value::Null,
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => Value::Null,
        }
    }

    fn default_by_name(&mut self, name: &str, depth: usize) -> Value {
        match name {
            "null" => Value::Null,
            "boolean" => json!(self.rng.random_bool(0.5)),
            "int" => json!(self.rng.random::<i32>() >> self.rng.random_range(0..32)),
            "long" => json!(self.rng.random::<i64>() >> self.rng.random_range(0..64)),
            "float" | "double" => [json!(1), json!(0.5), json!(-2.25e10), json!("NaN"), json!("1.5")]
                .choose(self.rng)
                .cloned()
                .unwrap_or_default(),
            "bytes" => json!("a\u{80}"),
            "string" => json!("text"),
            other => {
                let meant = |full: &str| full == other || full.rsplit('.').next() == Some(other);
                let found = self.known.iter().find(|(full, _)| meant(full)).and_then(|(_, ty)| ty.clone());
                found.map_or_else(|| json!({}), |ty| self.default(&ty, depth + 1))
            }
        }
    }
}
