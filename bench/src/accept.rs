//! `./dev bench accept`: how fast exports are accepted beside `pgbench`, and how fast small ones go through everything.
//!
//! `pgbench` runs the very same statements: they are not written down here, but recorded from the server's log while the api
//! accepts one export. Deliberately absent: any knowledge of which statements those are.

mod callers;
mod pgbench;
mod recorded;
mod report;
mod script;
mod size;
mod through;

use anyhow::{Context, Result};
use tokio_postgres::Client;

use self::callers::Callers;
use self::pgbench::{Pgbench, Protocol};
use self::report::Report;
use self::size::{CALLERS, ROWS_PER_EXPORT, Size};
use crate::client::Caller;
use crate::figure::Figure;
use crate::installation::{DATABASE, Installation, Started};
use crate::lines::Table;
use crate::processor::Of;
use crate::run::Run;
use crate::series::Series;
use crate::shares::Shares;

/// The round that comes before the first and is not measured.
const WARM_UP: usize = 0;

/// What is exported.
const LINES: Table = Table { name: "lines", rows: ROWS_PER_EXPORT };

/// Who `pgbench`'s clients are, by their number, and ids for them that rise with time as the api's do.
const CLIENTS: &str = "
    CREATE SCHEMA bench;
    CREATE TABLE bench.callers AS
    SELECT
        (row_number() OVER (ORDER BY api_keys.api_key_id) - 1)::integer AS client,
        service_accounts.tenant_id AS ten,
        service_accounts.service_account_id AS sva,
        api_keys.api_key_id AS key
    FROM export.api_keys
    JOIN export.service_accounts USING (service_account_id)
    WHERE service_accounts.tenant_id IS NOT NULL;
    ALTER TABLE bench.callers ADD PRIMARY KEY (client);
    CREATE FUNCTION bench.id(prefix text) RETURNS text LANGUAGE sql VOLATILE AS $$
        SELECT prefix || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
            || '7' || substr(md5(random()::text), 1, 19)
    $$;
    GRANT USAGE ON SCHEMA bench TO waybill_api;
    GRANT SELECT ON bench.callers TO waybill_api;
    ANALYZE bench.callers;";

/// No export at all.
const EMPTY: &str = "TRUNCATE export.jobs, outbox.events CASCADE";

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
        let db = self.run.database(DATABASE).await?;
        let installation = self.run.installation()?;
        installation.run(&["topic", "apply"])?;
        let (callers, pgbench) = self.prepare(&db, &installation).await?;
        let mut report = Report::default();
        self.acceptances(&db, &installation, &callers, &pgbench, &mut report).await?;
        empty(&db).await?;
        self.run.progress.say(&format!("{} exports through everything", self.size.through));
        let through = through::Through { stack: self.run.stack, installation: &installation, db: &db };
        report
            .through
            .measure(self.run.progress, async || {
                through.run(self.run.progress, &callers, self.size.through).await
            })
            .await;
        Ok(report.figures())
    }

    /// Makes the callers, and records what the api says to Postgres when it accepts.
    async fn prepare(&self, db: &Client, installation: &Installation<'_>) -> Result<(Callers, Pgbench)> {
        self.run.progress.say("Recording what the api says to Postgres");
        // What a superuser sets for a login holds from that login's next connection on.
        db.batch_execute("ALTER ROLE waybill_api SET log_statement = 'all'").await?;
        let api = self.start_api(installation)?;
        let prepared = self.record(db, installation).await;
        api.check()?;
        api.stop()?;
        db.batch_execute("ALTER ROLE waybill_api RESET log_statement").await?;
        prepared
    }

    async fn record(&self, db: &Client, installation: &Installation<'_>) -> Result<(Callers, Pgbench)> {
        let operator = Caller::operator(installation, self.run.stack.known_port("api")?).await?;
        let callers = Callers::make(&operator, CALLERS).await?;
        LINES.make(db).await?;
        for tenant_id in callers.tenant_ids() {
            LINES.insert(db, tenant_id).await?;
        }
        LINES.settle(db).await?;
        operator.post("/v1/ops/datasets", &serde_json::json!({ "file": LINES.declaration() })).await?;
        db.batch_execute(CLIENTS).await.context("no callers")?;
        let recording = recorded::record(self.run.stack.service("postgres").log(), &callers).await?;
        self.run.progress.say(&format!("  {} statements an acceptance", recording.len()));
        Ok((callers, Pgbench::new(self.run.stack, &recording)?))
    }

    fn start_api(&self, installation: &Installation<'_>) -> Result<Started> {
        installation.start(self.run.stack.service("api"), &["api"], self.run.stack.port("api-management")?)
    }

    /// Who accepts, in turns.
    async fn acceptances(
        &self,
        db: &Client,
        installation: &Installation<'_>,
        callers: &Callers,
        pgbench: &Pgbench,
        report: &mut Report,
    ) -> Result<()> {
        let (size, progress) = (self.size, self.run.progress);
        let api = self.start_api(installation)?;
        callers.wait().await?;
        let mut warmed_up = Report::default();
        for round in WARM_UP..=size.rounds {
            let (report, each) = if round == WARM_UP {
                progress.say("Warming up");
                (&mut warmed_up, size.warm_up_each)
            } else {
                progress.say(&format!("Accepting, round {round} of {}", size.rounds));
                (&mut *report, size.each)
            };
            empty(db).await?;
            let ours = async || {
                let shares = self.shares(&[("api", Of::Process(api.pid))]);
                let accepted = callers.ask_all(progress, each, round).await?;
                progress.say(&format!("  api: {}; {}", accepted.describe(), shares.describe()));
                Ok(accepted)
            };
            report.accepted.measure(progress, ours).await;
            for (protocol, series) in
                [(Protocol::Extended, &mut report.pgbench), (Protocol::Prepared, &mut report.prepared)]
            {
                empty(db).await?;
                self.beside(db, pgbench, protocol, each, series).await;
            }
        }
        api.check()?;
        api.stop()?;
        Ok(())
    }

    async fn beside(
        &self,
        db: &Client,
        pgbench: &Pgbench,
        protocol: Protocol,
        each: u64,
        series: &mut Series<f64>,
    ) {
        let work = async || {
            let shares = self.shares(&[("pgbench", Of::Ended(std::process::id().cast_signed()))]);
            let rate = pgbench.run(db, protocol, each).await?;
            let shares = shares.describe();
            self.run.progress.say(&format!("  pgbench, {}: {rate:.0} a second; {shares}", protocol.name()));
            Ok(rate)
        };
        series.measure(self.run.progress, work).await;
    }

    fn shares(&self, others: &[(&'static str, Of)]) -> Shares {
        let postgres = self.run.stack.service("postgres").running().map_or(0, |running| running.pid);
        let shared = [
            // A connection is a child of the server's.
            ("postgres", Of::Family(postgres)),
            ("bench", Of::Process(std::process::id().cast_signed())),
        ];
        Shares::begin(&others.iter().copied().chain(shared).collect::<Vec<_>>())
    }
}

/// Everybody begins with no export at all, and with a log that no checkpoint is due for.
async fn empty(db: &Client) -> Result<()> {
    db.batch_execute(EMPTY).await.context("the exports cannot be emptied")?;
    db.batch_execute("CHECKPOINT").await.context("no checkpoint")
}
