//! `./dev bench relay`: the relay beside Debezium, and beside a producer without a database.
//!
//! The three drain the same events, one after the other and round after round, on the same broker and the same database
//! server; what is reported is a ratio of medians. Deliberately absent: any knowledge of how the relay works, apart from
//! its cursor and its batches (`standing`).

mod bare;
mod debezium;
mod drain;
mod event;
mod latency;
mod outbox;
mod pace;
mod report;
mod rounds;
mod size;
mod standing;
mod waybill;
mod writers;

use anyhow::Result;

use self::debezium::{Debezium, Tuning};
use self::report::Report;
use self::rounds::{Rounds, WARM_UP};
use self::size::Size;
use crate::figure::Figure;
use crate::installation::DATABASE;
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
        let ours = self.run.database(DATABASE).await?;
        let peers = self.run.database(debezium::DATABASE).await?;
        let waybill = self.run.installation()?;
        self.run.progress.say("Starting Debezium");
        let peer = Debezium::install(self.run.stack, self.run.undertaking, &peers).await;
        let rounds = Rounds {
            stack: self.run.stack,
            progress: self.run.progress,
            size: self.size,
            ours,
            peers,
            waybill,
        };
        let mut report = Report::default();
        match peer {
            Ok(peer) => self.measure(&rounds, Some(&peer), &mut report).await,
            Err(error) => {
                let why = format!("Debezium does not run: {error:#}");
                self.run.progress.say(&why);
                report.without_peer(why.lines().next().unwrap_or_default());
                self.measure(&rounds, None, &mut report).await;
            }
        }
        Ok(report.figures())
    }

    async fn measure(&self, rounds: &Rounds<'_>, peer: Option<&Debezium>, report: &mut Report) {
        let progress = self.run.progress;
        let mut warm_up = Report::default();
        progress.say("Warming up");
        self.drain_all(rounds, WARM_UP, peer, &mut warm_up).await;
        for round in 1..=self.size.rounds {
            progress.say(&format!("Draining, round {round} of {}", self.size.rounds));
            self.drain_all(rounds, round, peer, report).await;
        }
        for round in 1..=self.size.rounds {
            progress.say(&format!("Writing at a pace, round {round} of {}", self.size.rounds));
            report.paced.measure(progress, async || rounds.pace_relay(round).await).await;
            if let Some(peer) = peer {
                for (series, tuning) in report.peer_paced.iter_mut().zip(Tuning::ALL) {
                    series.measure(progress, async || rounds.pace_peer(round, peer, tuning).await).await;
                }
            }
        }
    }

    async fn drain_all(
        &self,
        rounds: &Rounds<'_>,
        round: usize,
        peer: Option<&Debezium>,
        report: &mut Report,
    ) {
        let progress = self.run.progress;
        report.relay.measure(progress, async || rounds.drain_relay(round, false).await).await;
        report.bare.measure(progress, async || rounds.send_bare(round).await).await;
        report.held.measure(progress, async || rounds.drain_relay(round, true).await).await;
        if let Some(peer) = peer {
            for (series, tuning) in report.peer.iter_mut().zip(Tuning::ALL) {
                series.measure(progress, async || rounds.drain_peer(round, peer, tuning).await).await;
            }
        }
    }
}
