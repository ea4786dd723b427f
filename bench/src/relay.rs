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

use std::path::Path;

use anyhow::{Context, Result};
use tokio_postgres::Client;
use waybill_devstack::Undertaking;

use self::debezium::{Debezium, Tuning};
use self::report::Report;
use self::rounds::{Rounds, WARM_UP};
use self::size::Size;
use crate::figure::Figure;
use crate::installation::{DATABASE, Installation};
use crate::postgres::connect;
use crate::progress::Progress;
use crate::stack::Stack;

/// One run.
#[derive(Debug)]
pub(crate) struct Bench<'run> {
    stack: &'run Stack,
    undertaking: &'run Undertaking,
    progress: &'run Progress,
    waybill: &'run Path,
    size: Size,
}

impl<'run> Bench<'run> {
    pub(crate) fn new(
        stack: &'run Stack,
        undertaking: &'run Undertaking,
        progress: &'run Progress,
        waybill: &'run Path,
        quick: bool,
    ) -> Self {
        let size = if quick { Size::QUICK } else { Size::FULL };
        Self { stack, undertaking, progress, waybill, size }
    }

    /// Measures everything, round after round.
    pub(crate) async fn run(&self) -> Result<Vec<Figure>> {
        let ours = self.database(DATABASE).await?;
        let peers = self.database(debezium::DATABASE).await?;
        let waybill = Installation::new(self.stack, self.undertaking, self.waybill)?;
        self.progress.say("Starting Debezium");
        let peer = Debezium::install(self.stack, self.undertaking, &peers).await;
        let rounds =
            Rounds { stack: self.stack, progress: self.progress, size: self.size, ours, peers, waybill };
        let mut report = Report::default();
        match peer {
            Ok(peer) => self.measure(&rounds, Some(&peer), &mut report).await,
            Err(error) => {
                let why = format!("Debezium does not run: {error:#}");
                self.progress.say(&why);
                report.without_peer(why.lines().next().unwrap_or_default());
                self.measure(&rounds, None, &mut report).await;
            }
        }
        Ok(report.figures())
    }

    async fn measure(&self, rounds: &Rounds<'_>, peer: Option<&Debezium>, report: &mut Report) {
        let progress = self.progress;
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
        let progress = self.progress;
        report.relay.measure(progress, async || rounds.drain_relay(round, false).await).await;
        report.bare.measure(progress, async || rounds.send_bare(round).await).await;
        report.held.measure(progress, async || rounds.drain_relay(round, true).await).await;
        if let Some(peer) = peer {
            for (series, tuning) in report.peer.iter_mut().zip(Tuning::ALL) {
                series.measure(progress, async || rounds.drain_peer(round, peer, tuning).await).await;
            }
        }
    }

    async fn database(&self, name: &str) -> Result<Client> {
        let admin = connect(&self.stack.database_url("postgres")).await?;
        admin.batch_execute(&format!("CREATE DATABASE {name}")).await.context("no database")?;
        connect(&self.stack.database_url(name)).await
    }
}
