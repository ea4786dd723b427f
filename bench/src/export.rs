//! `./dev bench export`: files of exports beside `psql` and beside DuckDB.
//!
//! Everybody writes the same rows of the same table to the same disk, one after the other and round after round; what is compared
//! is the processor time of server and client together. Waybill's side is an export from its request to its outcome: its
//! worker also reads back what it wrote and takes its digest, and the others do not. Deliberately absent: any knowledge
//! of how the worker works.

mod ours;
mod peer;
mod report;
mod sample;
mod shape;
mod size;

use anyhow::Result;

use self::ours::Ours;
use self::peer::Peers;
use self::report::Report;
use self::shape::Shape;
use self::size::Size;
use crate::figure::Figure;
use crate::installation::DATABASE;
use crate::lines::Table;
use crate::run::Run;

/// The bench.
#[derive(Debug)]
pub(crate) struct Bench<'run> {
    run: &'run Run<'run>,
    size: Size,
}

impl<'run> Bench<'run> {
    pub(crate) const fn new(run: &'run Run<'run>) -> Self {
        Self { run, size: if run.quick { Size::QUICK } else { Size::FULL } }
    }

    /// Measures everything, round after round.
    pub(crate) async fn run(&self) -> Result<Vec<Figure>> {
        let (progress, size) = (self.run.progress, self.size);
        let db = self.run.database(DATABASE).await?;
        let installation = self.run.installation()?;
        installation.run(&["topic", "apply"])?;
        let ours = Ours::begin(self.run.stack, &installation).await?;
        let [main, small, large] =
            [("lines", size.rows), ("lines_few", size.rows_few), ("lines_many", size.rows_many)]
                .map(|(name, rows)| Table { name, rows });
        for table in [&main, &small, &large] {
            table.fill(&db, ours.tenant_id(), progress).await?;
            ours.declare(table).await?;
        }
        let peers = Peers::prepare(self.run.stack, self.run.undertaking, ours.tenant_id());
        let mut report = Report::default();
        for round in 1..=size.rounds {
            for shape in Shape::ALL {
                progress.say(&format!("{}, round {round} of {}", shape.name(), size.rounds));
                let series = report.of(shape);
                series.ours.measure(progress, async || ours.export(&main, shape).await).await;
                series.peer.measure(progress, async || peers.write(&main, shape)).await;
            }
            for (table, series) in [(&small, &mut report.few), (&large, &mut report.many)] {
                progress.say(&format!("{} rows, round {round} of {}", table.rows, size.rounds));
                series.measure(progress, async || ours.export(table, Shape::Csv).await).await;
            }
        }
        ours.end()?;
        Ok(report.figures(size))
    }
}
