//! From drafts to a schema: every name is replaced by what it means.
//!
//! The second of two passes. It goes through the types in the order in which Avro's Java library does, because a default
//! that holds a record is judged when its field is made again, and that record may not be finished by then; Java refuses the
//! schema in that case, and in no other order would this refuse the same ones.

use std::collections::{HashMap, HashSet};

use crate::defaults::{self, Found, Shape};
use crate::error::{SchemaError, SchemaProblem};
use crate::parser::{Draft, Drafts};
use crate::schema::{Kind, Record, Schema, Type, TypeId};

/// How deep types may lie in one another, each written where it is first used; and how far names that are defined
/// further down may lead to one another.
pub const TYPE_DEPTH_MAX: usize = 512;

/// Makes the schema whose outermost type is that draft.
pub(crate) fn resolve(drafts: &Drafts, root: TypeId) -> Result<Schema, SchemaError> {
    let mut resolution = Resolution {
        drafts,
        made: vec![None; drafts.all.len()],
        types: Vec::with_capacity(drafts.all.len()),
        unfinished: HashSet::new(),
        visits: 0,
        settled: 0,
    };
    for id in drafts.named.iter().copied().chain([root]) {
        resolution.visit(id)?;
        resolution.settled = resolution.types.len();
    }
    let made = |id: TypeId| resolution.made[id.index()];
    // A type that is equal to a known one is that one.
    let root = match &drafts.all[root.index()] {
        Draft::Type { ty, .. } => {
            ty.named().and_then(|named| drafts.named(named.name.full())).unwrap_or(root)
        }
        Draft::Forward { name, path } => return Err(undefined(name, path)),
    };
    let named = drafts.named.iter().filter_map(|id| made(*id)).collect();
    let Some(root) = made(root) else {
        return Err(SchemaError::new(String::new(), SchemaProblem::NotASchema { found: "nothing" }));
    };
    check_depth(&resolution.types, root)?;
    Ok(Schema::new(resolution.types, root, named))
}

fn undefined(name: &str, path: &str) -> SchemaError {
    SchemaError::new(path.to_owned(), SchemaProblem::Undefined { name: name.to_owned() })
}

struct Resolution<'a> {
    drafts: &'a Drafts,
    /// What each draft has become.
    made: Vec<Option<TypeId>>,
    types: Vec<Type>,
    /// Records that have been begun and have no fields yet.
    unfinished: HashSet<TypeId>,
    /// How many visits lie in one another.
    visits: usize,
    /// How many types are finished with everything that they lead to: there is nothing to be done about them any more.
    settled: usize,
}

enum Step {
    Enter(TypeId),
    Leave(TypeId),
}

impl Shape for Resolution<'_> {
    fn shape(&self, id: TypeId) -> Found<'_> {
        if self.unfinished.contains(&id) { Found::Unfinished } else { Found::Type(&self.types[id.index()]) }
    }
}

impl Resolution<'_> {
    /// Makes a draft and everything that it leads to, in Java's order: the fields of a record first to last, the branches
    /// of a union last to first.
    fn visit(&mut self, start: TypeId) -> Result<(), SchemaError> {
        self.visits += 1;
        let mut entered = HashSet::new();
        let mut steps = vec![Step::Enter(start)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Leave(id) => self.leave(id)?,
                Step::Enter(id) => {
                    let settled = self.made[id.index()].is_some_and(|made| made.index() < self.settled);
                    if settled || !entered.insert(id) {
                        continue;
                    }
                    match &self.drafts.all[id.index()] {
                        Draft::Forward { name, path } => self.look_up(id, name, path)?,
                        Draft::Type { ty, .. } => {
                            self.enter(id, ty);
                            steps.push(Step::Leave(id));
                            let parts = ty.parts();
                            let in_order = matches!(ty.kind, Kind::Record(_));
                            let parts = parts.iter().map(|part| Step::Enter(*part));
                            if in_order { steps.extend(parts.rev()) } else { steps.extend(parts) }
                        }
                    }
                }
            }
        }
        self.visits -= 1;
        Ok(())
    }

    fn look_up(&mut self, id: TypeId, name: &str, path: &str) -> Result<(), SchemaError> {
        if self.made[id.index()].is_some() {
            return Ok(());
        }
        let meant = self.drafts.named(name).ok_or_else(|| undefined(name, path))?;
        if self.made[meant.index()].is_none() {
            if self.visits >= TYPE_DEPTH_MAX {
                return Err(SchemaError::new(
                    path.to_owned(),
                    SchemaProblem::TooDeep { max: TYPE_DEPTH_MAX },
                ));
            }
            self.visit(meant)?;
        }
        self.made[id.index()] = self.made[meant.index()];
        Ok(())
    }

    /// A record is there before its fields are, so that they can refer to it.
    fn enter(&mut self, id: TypeId, ty: &Type) {
        let Kind::Record(record) = &ty.kind else { return };
        if self.made[id.index()].is_none() {
            let (name, aliases, doc) = (record.name.clone(), record.aliases.clone(), record.doc.clone());
            let is_error = record.is_error;
            let begun = Record { name, aliases, doc, is_error, fields: Vec::new(), by_name: HashMap::new() };
            let (logical, properties) = (ty.logical, ty.properties.clone());
            let made = self.add(Type { kind: Kind::Record(begun), logical, properties });
            self.made[id.index()] = Some(made);
            self.unfinished.insert(made);
        }
    }

    fn leave(&mut self, id: TypeId) -> Result<(), SchemaError> {
        let Draft::Type { ty, path } = &self.drafts.all[id.index()] else { return Ok(()) };
        match (&ty.kind, self.made[id.index()]) {
            (Kind::Record(record), Some(made)) if self.unfinished.contains(&made) => {
                self.finish(record, made, path)
            }
            (_, Some(_)) => Ok(()),
            (_, None) => {
                let mut made = ty.clone();
                made.refer(|part| self.made_of(part));
                if let Kind::Union(branches) = &made.kind {
                    self.check_branches(branches, path)?;
                }
                self.made[id.index()] = Some(self.add(made));
                Ok(())
            }
        }
    }

    fn finish(&mut self, record: &Record, made: TypeId, path: &str) -> Result<(), SchemaError> {
        let mut fields = Vec::with_capacity(record.fields.len());
        for (index, field) in record.fields.iter().enumerate() {
            let mut field = field.clone();
            field.ty = self.made_of(field.ty);
            if let Some(default) = &field.default {
                let problem = match defaults::is_valid(self, field.ty, default) {
                    Ok(true) => None,
                    Ok(false) => Some(defaults::invalid(self, &field.name, field.ty, default)),
                    Err(defaults::Unfinished) => {
                        Some(SchemaProblem::UnfinishedDefault { field: field.name.clone() })
                    }
                };
                if let Some(problem) = problem {
                    return Err(SchemaError::new(format!("{path}/fields/{index}"), problem));
                }
            }
            fields.push(field);
        }
        self.unfinished.remove(&made);
        if let Kind::Record(begun) = &mut self.types[made.index()].kind {
            begun.by_name = record.by_name.clone();
            begun.fields = fields;
        }
        Ok(())
    }

    /// Once more, because what a name means was not known before.
    fn check_branches(&self, branches: &[TypeId], path: &str) -> Result<(), SchemaError> {
        let mut names = HashSet::new();
        for (index, branch) in branches.iter().enumerate() {
            let name = self.types[branch.index()].full_name();
            if !names.insert(name) {
                let problem = SchemaProblem::DuplicateBranch { name: name.to_owned() };
                return Err(SchemaError::new(format!("{path}/{index}"), problem));
            }
        }
        Ok(())
    }

    fn add(&mut self, ty: Type) -> TypeId {
        self.types.push(ty);
        TypeId::at(self.types.len() - 1)
    }

    /// Parts are made before what holds them, except for records, which are there when they are begun.
    fn made_of(&self, part: TypeId) -> TypeId {
        self.made[part.index()].unwrap_or(part)
    }
}

/// Whether everything that goes through the types in the order of their text can do so without fear for its stack.
fn check_depth(types: &[Type], root: TypeId) -> Result<(), SchemaError> {
    let mut seen = vec![false; types.len()];
    let mut waiting = vec![(root, 1)];
    while let Some((id, depth)) = waiting.pop() {
        if depth > TYPE_DEPTH_MAX {
            return Err(SchemaError::new(String::new(), SchemaProblem::TooDeep { max: TYPE_DEPTH_MAX }));
        }
        if !std::mem::replace(&mut seen[id.index()], true) {
            waiting.extend(types[id.index()].parts().into_iter().rev().map(|part| (part, depth + 1)));
        }
    }
    Ok(())
}
