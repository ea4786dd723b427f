//! `./dev bench avro`: encoding and decoding, beside Avro's Java library and beside `apache-avro`.
//!
//! The same records for everybody, in turns of a fraction of a second, so that whatever else the machine does falls on all
//! of them. Deliberately absent: servers. Nothing here goes over a network or to a disk.

mod records;
mod report;
mod side;

use std::path::Path;

use anyhow::{Context, Result};
use waybill_devstack::{Undertaking, compile, fetch};

use self::records::{READER, WRITER};
use self::report::{Report, Who};
use self::side::{Java, Operation, Ours, Peer};
use crate::figure::Figure;
use crate::progress::Progress;

/// How long it goes on.
#[derive(Debug, Clone, Copy)]
struct Size {
    /// Turns of each side that count, and those before that let Java's compilers do their work.
    rounds: u32,
    warming: u32,
    /// How often a turn goes through all records.
    passes: u32,
}

impl Size {
    const FULL: Self = Self { rounds: 25, warming: 40, passes: 20 };
    const QUICK: Self = Self { rounds: 3, warming: 5, passes: 5 };
}

/// The bench.
#[derive(Debug)]
pub(crate) struct Bench<'run> {
    pub(crate) root: &'run Path,
    pub(crate) undertaking: &'run Undertaking,
    pub(crate) progress: &'run Progress,
    pub(crate) quick: bool,
}

impl Bench<'_> {
    /// Measures everything, round after round.
    pub(crate) fn run(&self) -> Result<Vec<Figure>> {
        let size = if self.quick { Size::QUICK } else { Size::FULL };
        let mut ours = Ours::prepare()?;
        let mut peer = Peer::prepare(&ours.data)?;
        let bytes: usize = ours.data.iter().map(Vec::len).sum();
        self.progress.say(&format!("{} records of {} B", ours.data.len(), bytes / ours.data.len()));
        let (mut java, folder) = self.java(&ours.data)?;
        let meter = self.progress.begin("warming up", size.warming.into());
        for round in 1..=size.warming {
            for operation in Operation::ALL {
                java.turn(operation, size.passes)?;
            }
            meter.set(round.into());
        }
        meter.end("Java has compiled what it will");
        let mut report = Report::default();
        let meter = self.progress.begin("rounds", size.rounds.into());
        for round in 1..=size.rounds {
            for operation in Operation::ALL {
                let passes = size.passes;
                report.add(operation, Who::Java, passes, java.turn(operation, passes)?)?;
                report.add(operation, Who::Values, passes, ours.values(operation, passes)?)?;
                report.add(operation, Who::Structs, passes, ours.structs(operation, passes)?)?;
                report.add(operation, Who::Peer, passes, peer.turn(operation, passes)?)?;
            }
            meter.set(round.into());
        }
        meter.end("all of them came to the same");
        drop(java);
        std::fs::remove_dir_all(&folder).context("the data stay")?;
        Ok(report.figures())
    }

    /// Java, with the schemas and the data in a folder.
    fn java(&self, data: &[Vec<u8>]) -> Result<(Java, std::path::PathBuf)> {
        let (jars, _) = fetch(self.undertaking, "avro", &self.root.join("ops/dev/avro/pom.xml"))?;
        let class_path = compile(self.undertaking, &jars, &self.root.join("ops/bench/avro/AvroBench.java"))?;
        let folder = std::env::temp_dir().join(format!("waybill-bench-avro-{}", std::process::id()));
        std::fs::create_dir_all(&folder).context("no folder for the data")?;
        self.undertaking.remove_when_interrupted(&folder);
        std::fs::write(folder.join("writer.avsc"), WRITER)?;
        std::fs::write(folder.join("reader.avsc"), READER)?;
        let mut all = Vec::new();
        for datum in data {
            all.extend(u32::try_from(datum.len())?.to_be_bytes());
            all.extend(datum);
        }
        std::fs::write(folder.join("data"), all)?;
        Ok((Java::start(&class_path, &folder)?, folder))
    }
}
