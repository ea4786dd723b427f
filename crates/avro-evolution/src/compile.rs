//! From two schemas to a plan (Avro 1.12.0, "Schema Resolution").
//!
//! Whatever Avro's Java library reads is read here with the same outcome, down to its liberty to read a record under another
//! name. Beyond that, what the compatibility check calls compatible is read, which Java does not do in some corners; the
//! crate's documentation lists them.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::compatibility::{Checker, promotes};
use crate::default_bytes::{self, Default};
use crate::plan::{Items, Op, OpId, RecordOp, Step};
use crate::sameness::same_schema;
use crate::schema::{Enum, Field, Kind, Primitive, Record, Schema, Type, TypeId};

/// How deep two unions are compared to find out whether they are the same, and how deep a type is followed to find out how
/// few bytes it may have. Beyond it they count as different, and as having none.
const LOOK_DEPTH_MAX: usize = 64;

pub(crate) fn compile(writer: &Schema, reader: &Schema) -> (Vec<Op>, OpId) {
    let mut compiler = Compiler {
        writer,
        reader,
        checker: Checker::new(reader, writer),
        writers: Sizes::new(writer),
        readers: Sizes::new(reader),
        ops: Vec::new(),
        ids: HashMap::new(),
        waiting: VecDeque::new(),
    };
    // A reader who has the writer's schema takes everything as it is, whatever its aliases would say.
    let root = compiler.id(if same_schema(writer, reader) {
        Task::Own(reader.root())
    } else {
        Task::Resolve(writer.root(), reader.root())
    });
    // One after another, and not each within the one before: types may lead thousands of types deep.
    while let Some((task, OpId(id))) = compiler.waiting.pop_front() {
        let op = compiler.op(task);
        compiler.ops[id as usize] = op;
    }
    (compiler.ops, root)
}

/// One operation that is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Task {
    /// To read a writer's type as a reader's.
    Resolve(TypeId, TypeId),
    /// To read a writer's type as that branch of a reader's union.
    AsBranch(TypeId, TypeId, u32),
    /// To pass over a writer's type.
    Skip(TypeId),
    /// To read a reader's type as it is, for its defaults.
    Own(TypeId),
}

struct Compiler<'a> {
    writer: &'a Schema,
    reader: &'a Schema,
    checker: Checker<'a>,
    writers: Sizes<'a>,
    readers: Sizes<'a>,
    ops: Vec<Op>,
    ids: HashMap<Task, OpId>,
    waiting: VecDeque<(Task, OpId)>,
}

impl<'a> Compiler<'a> {
    /// The operation for that, now or soon.
    fn id(&mut self, task: Task) -> OpId {
        if let Some(known) = self.ids.get(&task) {
            return *known;
        }
        let id = OpId(u32::try_from(self.ops.len()).unwrap_or(u32::MAX));
        self.ops.push(Op::Null);
        self.ids.insert(task, id);
        self.waiting.push_back((task, id));
        id
    }

    fn op(&mut self, task: Task) -> Op {
        match task {
            Task::Resolve(writer, reader) => self.resolve(writer, reader),
            Task::AsBranch(writer, union, branch) => {
                let Kind::Union(branches) = &self.reader[union].kind else { return Op::Null };
                let op = self.id(Task::Resolve(writer, branches[branch as usize]));
                Op::Branch { union, branch, op }
            }
            Task::Skip(ty) => self.as_it_is(self.writer, ty, Task::Skip),
            Task::Own(ty) => self.as_it_is(self.reader, ty, Task::Own),
        }
    }

    /// Reads a type as itself.
    fn as_it_is(&mut self, schema: &'a Schema, ty: TypeId, task: fn(TypeId) -> Task) -> Op {
        let mut items = |part: &TypeId| {
            let sizes = if matches!(task(ty), Task::Own(_)) { &mut self.readers } else { &mut self.writers };
            let bytes_min = sizes.of(*part, 0);
            Items { op: self.id(task(*part)), bytes_min }
        };
        match &schema[ty].kind {
            Kind::Primitive(primitive) => same(*primitive),
            Kind::Array(part) => Op::Array(items(part)),
            Kind::Map(part) => Op::Map(items(part)),
            Kind::Fixed(fixed) => Op::Fixed { ty, size: fixed.size },
            Kind::Enum(symbols) => {
                Op::Enum { ty, symbols: (0..).map(Some).take(symbols.symbols.len()).collect() }
            }
            Kind::Union(branches) if matches!(task(ty), Task::Own(_)) => {
                // Each is the branch that it is, for whoever asks.
                let branches = (0..).zip(branches).map(|(branch, _)| self.own_branch(ty, branch));
                Op::Union(branches.collect())
            }
            Kind::Union(branches) => {
                Op::Union(branches.iter().map(|branch| self.id(task(*branch))).collect())
            }
            Kind::Record(record) => {
                let parts = (0..).zip(&record.fields);
                let steps =
                    parts.map(|(at, field)| Step::Field { at, op: self.id(task(field.ty)) }).collect();
                Op::Record(RecordOp { ty, steps, fields: record.fields.len(), in_order: true })
            }
        }
    }

    /// Made at once, because it needs no more than the branch's own operation.
    fn own_branch(&mut self, union: TypeId, branch: u32) -> OpId {
        let Kind::Union(branches) = &self.reader[union].kind else { return OpId(0) };
        let op = self.id(Task::Own(branches[branch as usize]));
        let id = OpId(u32::try_from(self.ops.len()).unwrap_or(u32::MAX));
        self.ops.push(Op::Branch { union, branch, op });
        id
    }

    fn resolve(&mut self, writer: TypeId, reader: TypeId) -> Op {
        let (from, to) = (&self.writer[writer], &self.reader[reader]);
        match (&from.kind, &to.kind) {
            (Kind::Union(branches), _) => Op::Union(self.writers_branches(writer, branches, reader)),
            (_, Kind::Union(branches)) => match self.readers_branch(writer, branches) {
                Some(branch) => {
                    let op = self.id(Task::Resolve(writer, branches[branch]));
                    Op::Branch { union: reader, branch: u32::try_from(branch).unwrap_or(u32::MAX), op }
                }
                None => unreadable(format!("no branch of its union reads the writer's {}", from.full_name())),
            },
            (Kind::Primitive(from), Kind::Primitive(to)) if from == to => same(*from),
            (Kind::Primitive(from), Kind::Primitive(to)) if promotes(*from, *to) => promotion(*from, *to),
            (Kind::Array(from), Kind::Array(to)) => Op::Array(self.items(*from, *to)),
            (Kind::Map(from), Kind::Map(to)) => Op::Map(self.items(*from, *to)),
            (Kind::Fixed(_) | Kind::Enum(_), Kind::Fixed(_) | Kind::Enum(_)) if !same_name(from, to) => {
                unreadable(format!(
                    "the writer's {} is not the reader's {}",
                    from.full_name(),
                    to.full_name()
                ))
            }
            (Kind::Fixed(one), Kind::Fixed(two)) if one.size == two.size => {
                Op::Fixed { ty: reader, size: two.size }
            }
            (Kind::Fixed(one), Kind::Fixed(two)) => {
                unreadable(format!("{} has {} bytes, and not {}", to.full_name(), two.size, one.size))
            }
            (Kind::Enum(one), Kind::Enum(two)) => Op::Enum { ty: reader, symbols: symbols(one, two) },
            (Kind::Record(one), Kind::Record(two)) => self.record(one, (reader, two)),
            _ => {
                unreadable(format!("the writer's {} does not become a {}", from.full_name(), to.full_name()))
            }
        }
    }

    fn items(&mut self, writer: TypeId, reader: TypeId) -> Items {
        let bytes_min = self.writers.of(writer, 0);
        Items { op: self.id(Task::Resolve(writer, reader)), bytes_min }
    }

    fn writers_branches(&mut self, writer: TypeId, branches: &[TypeId], reader: TypeId) -> Box<[OpId]> {
        let same = self.same_union(writer, reader, &mut HashSet::new(), 0);
        let each = (0..).zip(branches);
        // Two unions of the same branches are read branch by branch, whatever the names would say.
        each.map(|(index, branch)| {
            let as_branch = Task::AsBranch(*branch, reader, index);
            self.id(if same { as_branch } else { Task::Resolve(*branch, reader) })
        })
        .collect()
    }

    /// The branch of the reader's union that reads a writer's type.
    fn readers_branch(&mut self, writer: TypeId, branches: &[TypeId]) -> Option<usize> {
        let from = &self.writer[writer];
        let exact = self.exact_branch(from, branches);
        if let Some(exact) = exact.filter(|exact| self.fits(branches[*exact], writer)) {
            return Some(exact);
        }
        let mut fitting = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            if self.fits(*branch, writer) {
                fitting.push(index);
            }
        }
        // Of records of other names, Java takes the last one that has the same short name.
        let short = |index: &&usize| {
            let to = &self.reader[branches[**index]];
            matches!(to.kind, Kind::Record(_))
                && to.named().zip(from.named()).is_some_and(|(to, from)| to.name.short() == from.name.short())
        };
        fitting.iter().rev().find(short).or(fitting.first()).copied().or(exact)
    }

    /// The branch that is the same primitive, array or map, or that has the writer's name: by an alias before by its own,
    /// because an alias renames the writer's type.
    fn exact_branch(&self, from: &Type, branches: &[TypeId]) -> Option<usize> {
        let same_kind = |branch: &TypeId| {
            let to = &self.reader[*branch];
            match (&from.kind, &to.kind) {
                (Kind::Primitive(one), Kind::Primitive(two)) => one == two,
                (one, two) => std::mem::discriminant(one) == std::mem::discriminant(two),
            }
        };
        let Some(named) = from.named() else { return branches.iter().position(same_kind) };
        let found = |wanted: &dyn Fn(&Type) -> bool| {
            branches.iter().position(|branch| same_kind(branch) && wanted(&self.reader[*branch]))
        };
        let by_alias = found(&|to| to.named().is_some_and(|to| to.aliases.contains(named.name)));
        by_alias.or_else(|| found(&|to| to.full_name() == from.full_name()))
    }

    /// Whether a branch reads the writer's type. The names of records do not count here, as in Java.
    fn fits(&mut self, branch: TypeId, writer: TypeId) -> bool {
        let (Kind::Record(to), Kind::Record(from)) = (&self.reader[branch].kind, &self.writer[writer].kind)
        else {
            return self.checker.reads(branch, writer);
        };
        let Ok(pairing) = Pairing::new(from, to) else { return false };
        let pairs = pairing.sources.iter().zip(&to.fields);
        pairs.into_iter().all(|(source, field)| match source {
            Some(source) => self.checker.reads(field.ty, from.fields[*source].ty),
            None => field.default.is_some(),
        })
    }

    fn record(&mut self, from: &'a Record, (reader, to): (TypeId, &'a Record)) -> Op {
        let pairing = match Pairing::new(from, to) {
            Ok(pairing) => pairing,
            Err(why) => return unreadable(why),
        };
        let mut steps = Vec::with_capacity(to.fields.len());
        for (field, target) in from.fields.iter().zip(&pairing.targets) {
            steps.push(match target {
                Some(at) => {
                    let op = self.id(Task::Resolve(field.ty, to.fields[*at].ty));
                    Step::Field { at: u32::try_from(*at).unwrap_or(u32::MAX), op }
                }
                None => Step::Skip { op: self.id(Task::Skip(field.ty)) },
            });
        }
        let missing = to.fields.iter().enumerate().filter(|(at, _)| pairing.sources[*at].is_none());
        for (at, field) in missing {
            match self.default_of(from, to, field) {
                Ok(default) => {
                    let (at, op) = (u32::try_from(at).unwrap_or(u32::MAX), self.id(Task::Own(field.ty)));
                    steps.push(Step::Default { at, op, default });
                }
                Err(why) => return unreadable(why),
            }
        }
        let places = steps.iter().filter_map(|step| match step {
            Step::Field { at, .. } | Step::Default { at, .. } => Some(*at),
            Step::Skip { .. } => None,
        });
        let in_order = places.eq(0..u32::try_from(to.fields.len()).unwrap_or(u32::MAX));
        Op::Record(RecordOp { ty: reader, steps: steps.into(), fields: to.fields.len(), in_order })
    }

    fn default_of(&self, from: &Record, to: &Record, field: &Field) -> Result<Default, String> {
        let Some(default) = &field.default else {
            return Err(format!(
                "the writer's {} has no field {} for the reader's {}, and no default stands for it",
                from.name, field.name, to.name
            ));
        };
        default_bytes::of(self.reader, field.ty, default).map_err(|why| {
            format!("the default of the field {} of {} is no value: {why}", field.name, to.name)
        })
    }

    /// Whether two unions, or what lies in them, are the same but for namespaces, as Java has it.
    fn same_union(
        &self,
        writer: TypeId,
        reader: TypeId,
        assumed: &mut HashSet<(TypeId, TypeId)>,
        depth: usize,
    ) -> bool {
        let (from, to) = (&self.writer[writer], &self.reader[reader]);
        if let (Some(from), Some(to)) = (from.named(), to.named())
            && from.name.short() != to.name.short()
        {
            return false;
        }
        let mut same = |one: TypeId, two: TypeId| {
            depth < LOOK_DEPTH_MAX && self.same_union(one, two, assumed, depth + 1)
        };
        match (&from.kind, &to.kind) {
            (Kind::Primitive(from), Kind::Primitive(to)) => from == to,
            (Kind::Array(from), Kind::Array(to)) | (Kind::Map(from), Kind::Map(to)) => same(*from, *to),
            (Kind::Fixed(from), Kind::Fixed(to)) => from.size == to.size,
            (Kind::Enum(from), Kind::Enum(to)) => from.symbols == to.symbols,
            (Kind::Union(from), Kind::Union(to)) => {
                from.len() == to.len() && from.iter().zip(to).all(|(one, two)| same(*one, *two))
            }
            (Kind::Record(from), Kind::Record(to)) => {
                if !assumed.insert((writer, reader)) {
                    return true;
                }
                let mut same = |one: TypeId, two: TypeId| {
                    depth < LOOK_DEPTH_MAX && self.same_union(one, two, assumed, depth + 1)
                };
                from.fields.len() == to.fields.len()
                    && from
                        .fields
                        .iter()
                        .zip(&to.fields)
                        .all(|(one, two)| one.name == two.name && same(one.ty, two.ty))
            }
            _ => false,
        }
    }
}

/// Which of a writer's fields is which of a reader's.
struct Pairing {
    /// For each of the writer's fields, the reader's.
    targets: Vec<Option<usize>>,
    /// For each of the reader's fields, the writer's.
    sources: Vec<Option<usize>>,
}

impl Pairing {
    /// An alias renames the writer's field, and so comes before a field of that very name.
    fn new(from: &Record, to: &Record) -> Result<Self, String> {
        let mut renamed: HashMap<&str, usize> = HashMap::new();
        for (at, field) in to.fields.iter().enumerate() {
            renamed.extend(field.aliases.iter().map(|alias| (alias.as_str(), at)));
        }
        let mut targets = Vec::with_capacity(from.fields.len());
        let mut sources = vec![None; to.fields.len()];
        for (source, field) in from.fields.iter().enumerate() {
            let target = renamed.get(field.name.as_str()).copied().or_else(|| Some(to.field(&field.name)?.0));
            if let Some(target) = target
                && sources[target].replace(source).is_some()
            {
                return Err(format!(
                    "the field {} of {} means several of the writer's",
                    to.fields[target].name, to.name
                ));
            }
            targets.push(target);
        }
        Ok(Self { targets, sources })
    }
}

fn unreadable(why: String) -> Op {
    Op::Unreadable(why.into())
}

fn same(primitive: Primitive) -> Op {
    match primitive {
        Primitive::Null => Op::Null,
        Primitive::Boolean => Op::Boolean,
        Primitive::Int => Op::Int,
        Primitive::Long => Op::Long,
        Primitive::Float => Op::Float,
        Primitive::Double => Op::Double,
        Primitive::Bytes => Op::Bytes,
        Primitive::String => Op::String,
    }
}

fn promotion(from: Primitive, to: Primitive) -> Op {
    match (from, to) {
        (Primitive::Int, Primitive::Long) => Op::IntAsLong,
        (Primitive::Int, Primitive::Float) => Op::IntAsFloat,
        (Primitive::Int, Primitive::Double) => Op::IntAsDouble,
        (Primitive::Long, Primitive::Float) => Op::LongAsFloat,
        (Primitive::Long, Primitive::Double) => Op::LongAsDouble,
        (Primitive::Float, Primitive::Double) => Op::FloatAsDouble,
        (Primitive::Bytes, Primitive::String) => Op::BytesAsString,
        // A text's bytes are bytes as they are; and nothing else promotes.
        (_, to) => same(to),
    }
}

/// The reader's symbol for each of the writer's: the same one, or the reader's default.
fn symbols(writer: &Enum, reader: &Enum) -> Box<[Option<u32>]> {
    let places: HashMap<&str, u32> = reader.symbols.iter().map(String::as_str).zip(0..).collect();
    let default = reader.default.as_deref().and_then(|default| places.get(default));
    writer.symbols.iter().map(|symbol| places.get(symbol.as_str()).or(default).copied()).collect()
}

/// Short names count, and aliases.
fn same_name(writer: &Type, reader: &Type) -> bool {
    let (Some(from), Some(to)) = (writer.named(), reader.named()) else { return false };
    std::mem::discriminant(&writer.kind) == std::mem::discriminant(&reader.kind)
        && (from.name.short() == to.name.short() || to.aliases.contains(from.name))
}

/// The least number of bytes that a value of each type has, or less.
struct Sizes<'a> {
    schema: &'a Schema,
    /// 0 for one that is being looked at: a type that holds itself ends nowhere anyway.
    known: HashMap<TypeId, usize>,
}

impl<'a> Sizes<'a> {
    fn new(schema: &'a Schema) -> Self {
        Self { schema, known: HashMap::new() }
    }

    fn of(&mut self, id: TypeId, depth: usize) -> usize {
        match &self.schema[id].kind {
            Kind::Primitive(Primitive::Null) => 0,
            Kind::Primitive(Primitive::Float) => 4,
            Kind::Primitive(Primitive::Double) => 8,
            Kind::Fixed(fixed) => fixed.size,
            Kind::Primitive(_) | Kind::Array(_) | Kind::Map(_) | Kind::Union(_) | Kind::Enum(_) => 1,
            Kind::Record(record) => {
                if let Some(known) = self.known.get(&id) {
                    return *known;
                }
                self.known.insert(id, 0);
                let mut size: usize = 0;
                for field in record.fields.iter().take_while(|_| depth < LOOK_DEPTH_MAX) {
                    size = size.saturating_add(self.of(field.ty, depth + 1));
                }
                self.known.insert(id, size);
                size
            }
        }
    }
}
