//! Everybody that encodes and decodes, and how long they take.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::types::Value as PeerValue;
use apache_avro::writer::datum::GenericDatumWriter;
use waybill_avro_evolution::{Plan, Schema, Value};
use waybill_devstack::find_java;

use super::records::{LaterScan, READER, Scan, WRITER, scans};

/// What is done with every record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Encode,
    Decode,
    /// With a later reader's schema.
    Evolved,
}

impl Operation {
    pub(crate) const ALL: [Self; 3] = [Self::Encode, Self::Decode, Self::Evolved];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Encode => "encode",
            Self::Decode => "decode",
            Self::Evolved => "evolved",
        }
    }
}

/// What one turn came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) nanoseconds: f64,
    /// The bytes that were written, or the sum of a field of what was read: the same for everybody.
    pub(crate) sum: i64,
}

/// Times some passes over all records.
fn timed(passes: u32, mut pass: impl FnMut() -> Result<i64>) -> Result<Turn> {
    let begun = Instant::now();
    let mut sum = 0;
    for _ in 0..passes {
        sum += pass()?;
    }
    Ok(Turn { nanoseconds: begun.elapsed().as_nanos() as f64, sum })
}

/// Where the field that is summed stands in the records of both schemas.
const SEQUENCE: [usize; 2] = [4, 0];

/// Our own library, with values and with structs.
pub(crate) struct Ours {
    schema: Schema,
    same: Plan,
    evolved: Plan,
    pub(crate) data: Vec<Vec<u8>>,
    structs: Vec<Scan>,
    values: Vec<Value>,
    out: Vec<u8>,
}

impl Ours {
    pub(crate) fn prepare() -> Result<Self> {
        let schema = Schema::parse(WRITER)?;
        let later = Schema::parse(READER)?;
        let (same, evolved) = (Plan::of(&schema), Plan::new(&schema, &later));
        let structs = scans();
        let mut data = Vec::with_capacity(structs.len());
        for scan in &structs {
            let mut datum = Vec::new();
            schema.serialize(scan, &mut datum)?;
            data.push(datum);
        }
        let values = data.iter().map(|datum| same.decode(datum)).collect::<Result<_, _>>()?;
        Ok(Self { schema, same, evolved, data, structs, values, out: Vec::new() })
    }

    /// Values that know no type of the program's.
    pub(crate) fn values(&mut self, operation: Operation, passes: u32) -> Result<Turn> {
        let Self { schema, same, evolved, data, values, out, .. } = self;
        let decode = |plan: &Plan, sequence: usize| {
            let mut sum = 0;
            for datum in data.iter() {
                let Value::Record(_, fields) = black_box(plan.decode(datum)?) else { bail!("no record") };
                let Value::Long(sequence) = fields[sequence] else { bail!("no sequence") };
                sum += sequence;
            }
            Ok(sum)
        };
        timed(passes, || match operation {
            Operation::Encode => {
                let mut bytes = 0;
                for value in values.iter() {
                    out.clear();
                    schema.encode(value, out)?;
                    bytes += i64::try_from(black_box(&*out).len())?;
                }
                Ok(bytes)
            }
            Operation::Decode => decode(same, SEQUENCE[0]),
            Operation::Evolved => decode(evolved, SEQUENCE[1]),
        })
    }

    /// The program's own types.
    pub(crate) fn structs(&mut self, operation: Operation, passes: u32) -> Result<Turn> {
        let Self { schema, same, evolved, data, structs, out, .. } = self;
        timed(passes, || {
            let mut sum = 0;
            match operation {
                Operation::Encode => {
                    for scan in structs.iter() {
                        out.clear();
                        schema.serialize(scan, out)?;
                        sum += i64::try_from(black_box(&*out).len())?;
                    }
                }
                Operation::Decode => {
                    for datum in data.iter() {
                        sum += black_box(same.deserialize::<Scan>(datum)?).sequence;
                    }
                }
                Operation::Evolved => {
                    for datum in data.iter() {
                        sum += black_box(evolved.deserialize::<LaterScan>(datum)?).sequence;
                    }
                }
            }
            Ok(sum)
        })
    }
}

/// The `apache-avro` of crates.io. It encodes and decodes structs; with a reader's schema it has values only.
pub(crate) struct Peer {
    written: apache_avro::Schema,
    read: apache_avro::Schema,
    data: Vec<Vec<u8>>,
    structs: Vec<Scan>,
    out: Vec<u8>,
}

impl Peer {
    pub(crate) fn prepare(data: &[Vec<u8>]) -> Result<Self> {
        let [written, read] = [WRITER, READER].map(apache_avro::Schema::parse_str);
        Ok(Self { written: written?, read: read?, data: data.to_vec(), structs: scans(), out: Vec::new() })
    }

    pub(crate) fn turn(&mut self, operation: Operation, passes: u32) -> Result<Turn> {
        let Self { written, read, data, structs, out } = self;
        let writer = GenericDatumWriter::builder(written).build()?;
        let same = GenericDatumReader::builder(written).build()?;
        let evolved = GenericDatumReader::builder(written).reader_schema(read).build()?;
        timed(passes, || {
            let mut sum = 0;
            match operation {
                Operation::Encode => {
                    for scan in structs.iter() {
                        out.clear();
                        writer.write_ser(out, scan)?;
                        sum += i64::try_from(black_box(&*out).len())?;
                    }
                }
                Operation::Decode => {
                    for datum in data.iter() {
                        sum += black_box(same.read_deser::<Scan>(&mut &datum[..])?).sequence;
                    }
                }
                Operation::Evolved => {
                    for datum in data.iter() {
                        let value = black_box(evolved.read_value(&mut &datum[..])?);
                        let PeerValue::Record(fields) = value else { bail!("no record") };
                        let PeerValue::Long(sequence) = fields[SEQUENCE[1]].1 else { bail!("no sequence") };
                        sum += sequence;
                    }
                }
            }
            Ok(sum)
        })
    }
}

/// Avro's own Java library, in a process of its own.
pub(crate) struct Java {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Java {
    /// `folder` holds the schemas and the data.
    pub(crate) fn start(class_path: &str, folder: &Path) -> Result<Self> {
        let mut command = Command::new(find_java());
        command.args(["-Xmx1g", "-cp", class_path, "AvroBench"]).arg(folder);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("Java does not start")?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { bail!("Java has no pipes") };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    pub(crate) fn turn(&mut self, operation: Operation, passes: u32) -> Result<Turn> {
        writeln!(self.input, "{} {passes}", operation.name()).context("Java takes nothing")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer).context("Java gives nothing")?;
        let (nanoseconds, sum) = answer.trim().split_once(' ').context("Java has ended")?;
        Ok(Turn { nanoseconds: nanoseconds.parse()?, sum: sum.parse()? })
    }
}

impl Drop for Java {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
