//! Whether a reader's schema reads what a writer's schema wrote, as Avro's Java library decides it
//! (`SchemaCompatibility` of 1.12.1).
//!
//! It is that decision, and not the specification's rules on resolution, by which registries accept versions, so its
//! corners are kept: equal short names are enough, reasons within the branches of a union are summed up in one, and
//! the reasons of a pair of types that is met again are repeated with the location of the first time. Deliberately
//! absent: what a default, a logical type or a doc means; that is for lint.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use crate::incompatibility::{Incomparable, Incompatibility, IncompatibilityKind};
use crate::name::Name;
use crate::schema::{Enum, Field, Kind, Primitive, Record, Schema, TypeId};

/// How many reasons are given. A schema that uses one record in many places gives that record's reasons as often, and
/// records that use each other twice would give them without bound.
pub const INCOMPATIBILITIES_MAX: usize = 1_000;

/// How many pairs of types are compared at most.
pub const PAIRS_MAX: usize = 500_000;

/// Everything that keeps `reader` from reading what `writer` wrote, in Java's order; nothing when it reads it. After
/// [`INCOMPATIBILITIES_MAX`] the rest is left out.
///
/// # Errors
/// When the question has no answer: see [`Incomparable`].
pub fn incompatibilities(reader: &Schema, writer: &Schema) -> Result<Vec<Incompatibility>, Incomparable> {
    let found = Checker::new(reader, writer).compare(reader.root(), writer.root())?;
    Ok(found.map_or_else(Vec::new, |found| found.to_vec()))
}

/// The reasons of one pair; none when it is compatible. Shared, because it may be met in many places.
type Reasons = Option<Rc<[Incompatibility]>>;

type Pair = (TypeId, TypeId);

enum Known {
    /// It is being compared further out: compatible unless proven otherwise.
    InProgress,
    Compared(Reasons),
}

/// Compares types of two schemas, and remembers what it found.
pub(crate) struct Checker<'a> {
    reader: &'a Schema,
    writer: &'a Schema,
    known: HashMap<Pair, Known>,
    open: Vec<Comparison<'a>>,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(reader: &'a Schema, writer: &'a Schema) -> Self {
        Self { reader, writer, known: HashMap::new(), open: Vec::new() }
    }

    /// Whether the one type reads the other. Where nobody knows, it does not.
    pub(crate) fn reads(&mut self, reader: TypeId, writer: TypeId) -> bool {
        matches!(self.compare(reader, writer), Ok(None))
    }

    fn compare(&mut self, reader: TypeId, writer: TypeId) -> Result<Reasons, Incomparable> {
        let outcome = self.compare_all(reader, writer);
        if outcome.is_err() {
            // What was in progress was not compared.
            self.known.retain(|_, known| matches!(known, Known::Compared(_)));
            self.open.clear();
        }
        outcome
    }

    /// What lies in one another is kept in a list and not on the stack: schemas may lead thousands of types deep.
    fn compare_all(&mut self, reader: TypeId, writer: TypeId) -> Result<Reasons, Incomparable> {
        let mut answer = self.ask(reader, writer, None)?;
        while let Some(mut comparison) = self.open.pop() {
            if let Some(found) = answer.take() {
                comparison.take(found, self);
            }
            match comparison.next(self)? {
                Step::Done(found) => {
                    self.known.insert(comparison.pair, Known::Compared(found.clone()));
                    answer = Some(found);
                }
                Step::Compare(reader, writer, location) => {
                    self.open.push(comparison);
                    answer = self.ask(reader, writer, location)?;
                }
            }
        }
        Ok(answer.flatten())
    }

    /// The answer, where there is one already; otherwise the comparison that gives it is opened.
    fn ask(
        &mut self,
        reader: TypeId,
        writer: TypeId,
        location: Location,
    ) -> Result<Option<Reasons>, Incomparable> {
        let (to, from) = (&self.reader[reader].kind, &self.writer[writer].kind);
        if let (Kind::Primitive(to), Kind::Primitive(from)) = (to, from)
            && to == from
        {
            return Ok(Some(None));
        }
        match self.known.get(&(reader, writer)) {
            Some(Known::InProgress) => return Ok(Some(None)),
            Some(Known::Compared(found)) => return Ok(Some(found.clone())),
            None => {}
        }
        if self.known.len() >= PAIRS_MAX {
            return Err(Incomparable::TooManyPairs { max: PAIRS_MAX });
        }
        self.known.insert((reader, writer), Known::InProgress);
        let rule = Rule::of(to, from);
        self.open.push(Comparison { pair: (reader, writer), location, rule, next: 0, found: Vec::new() });
        Ok(None)
    }
}

/// The way from the outermost type, or from the last union that was entered, innermost step first.
type Location = Option<Rc<Way>>;

struct Way {
    step: String,
    before: Location,
}

fn further(location: &Location, step: String) -> Location {
    Some(Rc::new(Way { step, before: location.clone() }))
}

fn pointer(location: &Location) -> String {
    let mut steps = Vec::new();
    let mut at = location;
    while let Some(way) = at {
        steps.push(way.step.as_str());
        at = &way.before;
    }
    steps.reverse();
    format!("/{}", steps.join("/"))
}

/// How two types are compared.
enum Rule<'a> {
    /// Nothing has to be looked at: the one becomes the other.
    Compatible,
    /// Neither is nor becomes the other.
    Mismatch,
    /// What they hold, one step further.
    Part(&'static str, TypeId, TypeId),
    /// Names, and then their own.
    Fixed(usize, usize),
    Enums(&'a Enum, &'a Enum),
    Records(&'a Record, &'a Record),
    /// Every branch of the writer's, each by the whole reader's type; its reasons are the reasons.
    WritersBranches(&'a [TypeId]),
    /// Every branch of the writer's, by the reader's union; one reason for each branch that is missing.
    UnionByUnion(&'a [TypeId]),
    /// Any branch of the reader's.
    ReadersBranches(&'a [TypeId]),
}

impl<'a> Rule<'a> {
    fn of(reader: &'a Kind, writer: &'a Kind) -> Self {
        match (reader, writer) {
            (Kind::Array(to), Kind::Array(from)) => Self::Part("items", *to, *from),
            (Kind::Map(to), Kind::Map(from)) => Self::Part("values", *to, *from),
            (Kind::Fixed(to), Kind::Fixed(from)) => Self::Fixed(to.size, from.size),
            (Kind::Enum(to), Kind::Enum(from)) => Self::Enums(to, from),
            (Kind::Record(to), Kind::Record(from)) => Self::Records(to, from),
            (Kind::Union(_), Kind::Union(branches)) => Self::UnionByUnion(branches),
            (_, Kind::Union(branches)) => Self::WritersBranches(branches),
            (Kind::Union(branches), _) => Self::ReadersBranches(branches),
            (Kind::Primitive(to), Kind::Primitive(from)) if promotes(*from, *to) => Self::Compatible,
            _ => Self::Mismatch,
        }
    }
}

/// One pair that is being compared.
struct Comparison<'a> {
    pair: Pair,
    location: Location,
    rule: Rule<'a>,
    /// Which part comes next.
    next: usize,
    found: Vec<Incompatibility>,
}

enum Step {
    Compare(TypeId, TypeId, Location),
    Done(Reasons),
}

impl<'a> Comparison<'a> {
    /// The answer about the part that was asked last.
    fn take(&mut self, found: Reasons, checker: &Checker<'a>) {
        match (&self.rule, found) {
            (Rule::ReadersBranches(branches), None) => {
                // One is enough: there is nothing more to ask, and nothing to say.
                self.next = branches.len();
                self.rule = Rule::Compatible;
            }
            (Rule::ReadersBranches(_), Some(_)) | (_, None) => {}
            (Rule::UnionByUnion(branches), Some(_)) => {
                // What is wrong within the branch is not said: the branch is missing.
                let branch = self.next - 1;
                let message = lacking(&checker.writer[branches[branch]].kind);
                let location = further(&self.location, branch.to_string());
                self.add(IncompatibilityKind::MissingUnionBranch, message, &location);
            }
            (_, Some(found)) => {
                let room = INCOMPATIBILITIES_MAX.saturating_sub(self.found.len());
                self.found.extend(found.iter().take(room).cloned());
            }
        }
    }

    fn add(&mut self, kind: IncompatibilityKind, message: String, location: &Location) {
        let (reader, writer) = self.pair;
        if self.found.len() < INCOMPATIBILITIES_MAX {
            self.found.push(Incompatibility { kind, location: pointer(location), message, reader, writer });
        }
    }

    fn next(&mut self, checker: &Checker<'a>) -> Result<Step, Incomparable> {
        let (reader, writer) = self.pair;
        let part = self.next;
        self.next += 1;
        match self.rule {
            Rule::Compatible => {}
            Rule::Mismatch => {
                let kinds = [&checker.reader[reader].kind, &checker.writer[writer].kind].map(upper);
                let message =
                    format!("reader type: {} not compatible with writer type: {}", kinds[0], kinds[1]);
                self.add(IncompatibilityKind::TypeMismatch, message, &self.location.clone());
            }
            Rule::Part(step, to, from) if part == 0 => {
                return Ok(Step::Compare(to, from, further(&self.location, step.to_owned())));
            }
            Rule::Part(..) => {}
            Rule::Fixed(to, from) => {
                self.names(checker);
                if to != from {
                    let message = format!("expected: {from}, found: {to}");
                    let location = further(&self.location, "size".to_owned());
                    self.add(IncompatibilityKind::FixedSizeMismatch, message, &location);
                }
            }
            Rule::Enums(to, from) => {
                self.names(checker);
                if let Some(message) = missing_symbols(to, from) {
                    let location = further(&self.location, "symbols".to_owned());
                    self.add(IncompatibilityKind::MissingEnumSymbols, message, &location);
                }
            }
            Rule::Records(to, from) => return self.next_field(part, to, from, checker),
            Rule::WritersBranches(branches) => {
                if let Some(branch) = branches.get(part) {
                    return Ok(Step::Compare(reader, *branch, further(&self.location, part.to_string())));
                }
            }
            Rule::UnionByUnion(branches) => {
                if let Some(branch) = branches.get(part) {
                    return Ok(Step::Compare(reader, *branch, None));
                }
            }
            Rule::ReadersBranches(branches) => match branches.get(part) {
                Some(branch) => return Ok(Step::Compare(*branch, writer, None)),
                None => {
                    let message = lacking(&checker.writer[writer].kind);
                    self.add(IncompatibilityKind::MissingUnionBranch, message, &self.location.clone());
                }
            },
        }
        Ok(self.done())
    }

    fn done(&mut self) -> Step {
        Step::Done(if self.found.is_empty() { None } else { Some(std::mem::take(&mut self.found).into()) })
    }

    /// Goes on at that field until there is something to ask.
    fn next_field(
        &mut self,
        part: usize,
        read: &Record,
        written: &Record,
        checker: &Checker<'a>,
    ) -> Result<Step, Incomparable> {
        if part == 0 {
            self.names(checker);
        }
        for (index, field) in read.fields.iter().enumerate().skip(part) {
            self.next = index + 1;
            let step = format!("fields/{index}");
            let of = match writers_field(read, field, written)? {
                Some(of) => of.ty,
                None if field.default.is_some() => continue,
                // An enum's default is none for a field. Java then compares the enum with the writer's record.
                None if has_default_symbol(&checker.reader[field.ty].kind) => self.pair.1,
                None => {
                    let kind = IncompatibilityKind::ReaderFieldMissingDefaultValue;
                    let location = further(&self.location, step);
                    self.add(kind, field.name.clone(), &location);
                    continue;
                }
            };
            return Ok(Step::Compare(field.ty, of, further(&self.location, format!("{step}/type"))));
        }
        Ok(self.done())
    }

    fn names(&mut self, checker: &Checker<'a>) {
        let named = (checker.reader[self.pair.0].named(), checker.writer[self.pair.1].named());
        let (Some(read), Some(written)) = named else { return };
        // An alias without a namespace, on a type that has one, means nothing here: Java looks for it with a dot in front.
        let means = |alias: &Name| {
            alias == written.name && (alias.namespace().is_some() || read.name.namespace().is_none())
        };
        if read.name.short() != written.name.short() && !read.aliases.iter().any(means) {
            let message = format!("expected: {}", written.name.full());
            let location = further(&self.location, "name".to_owned());
            self.add(IncompatibilityKind::NameMismatch, message, &location);
        }
    }
}

/// The writer's field that a reader's field is read from.
fn writers_field<'w>(
    record: &Record,
    field: &Field,
    written: &'w Record,
) -> Result<Option<&'w Field>, Incomparable> {
    let names = std::iter::once(&field.name).chain(&field.aliases);
    let mut found = names.filter_map(|name| written.field(name)).map(|(_, field)| field);
    let first = found.next();
    if found.next().is_some() {
        let (record, field) = (record.name.full().to_owned(), field.name.clone());
        return Err(Incomparable::AmbiguousField { record, field });
    }
    Ok(first)
}

/// The writer's symbols that the reader does not know, as a message, unless a default stands for them.
fn missing_symbols(reader: &Enum, writer: &Enum) -> Option<String> {
    if reader.default.is_some() {
        return None;
    }
    let known: HashSet<&str> = reader.symbols.iter().map(String::as_str).collect();
    let symbols = writer.symbols.iter().map(String::as_str);
    let missing: BTreeSet<&str> = symbols.filter(|symbol| !known.contains(symbol)).collect();
    if missing.is_empty() {
        return None;
    }
    Some(format!("[{}]", missing.into_iter().collect::<Vec<_>>().join(", ")))
}

fn has_default_symbol(kind: &Kind) -> bool {
    matches!(kind, Kind::Enum(Enum { default: Some(_), .. }))
}

/// Whether a value of the one becomes a value of the other (Avro 1.12.0, "Schema Resolution").
pub(crate) fn promotes(from: Primitive, to: Primitive) -> bool {
    use Primitive::{Bytes, Double, Float, Int, Long, String};
    matches!(
        (from, to),
        (Int, Long | Float | Double)
            | (Long, Float | Double)
            | (Float, Double)
            | (String, Bytes)
            | (Bytes, String)
    )
}

fn lacking(kind: &Kind) -> String {
    format!("reader union lacking writer type: {}", upper(kind))
}

fn upper(kind: &Kind) -> String {
    kind.as_str().to_uppercase()
}
