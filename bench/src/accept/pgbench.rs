//! `pgbench`, accepting exports by the statements that the api was seen to say.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tokio_postgres::Client;

use super::recorded::Recording;
use super::script::script;
use super::size::{ACCEPTANCES_PER_SCRIPT, CALLERS};
use crate::installation::{DATABASE, PASSWORD};
use crate::stack::Stack;

/// How it says a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Parsed and planned each time, as the api's are.
    Extended,
    /// Parsed once a connection.
    Prepared,
}

impl Protocol {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Extended => "extended",
            Self::Prepared => "prepared",
        }
    }
}

/// A `pgbench` with a script.
#[derive(Debug)]
pub(crate) struct Pgbench {
    program: PathBuf,
    script: PathBuf,
    variables: Vec<(String, String)>,
    port: u16,
}

impl Pgbench {
    /// Writes the script.
    pub(crate) fn new(stack: &Stack, recording: &Recording) -> Result<Self> {
        let psql = stack.psql(DATABASE)?;
        // It comes with the server.
        let program = PathBuf::from(psql.get_program()).with_file_name("pgbench");
        let made = script(recording, ACCEPTANCES_PER_SCRIPT)?;
        let path = stack.dir().join("accept.sql");
        std::fs::write(&path, made.text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { program, script: path, variables: made.variables, port: stack.known_port("postgres")? })
    }

    /// How many exports it accepts a second, when each client accepts so many.
    pub(crate) async fn run(&self, db: &Client, protocol: Protocol, each: u64) -> Result<f64> {
        let scripts = each / ACCEPTANCES_PER_SCRIPT;
        let mut command = tokio::process::Command::new(&self.program);
        command.args(["--no-vacuum", "--jobs", "2", "--protocol", protocol.name()]);
        command.args(["--client", &CALLERS.to_string(), "--transactions", &scripts.to_string()]);
        for (name, text) in &self.variables {
            command.arg("--define").arg(format!("{name}={text}"));
        }
        command.arg("--file").arg(&self.script).env("PGPASSWORD", PASSWORD).env("PGHOST", "127.0.0.1");
        command.env("PGPORT", self.port.to_string()).env("PGUSER", "waybill_api").env("PGDATABASE", DATABASE);
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output =
            command.output().await.with_context(|| format!("{} does not start", self.program.display()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let failed =
            || format!("pgbench: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        ensure!(output.status.success(), failed());
        let stands = db.query_one("SELECT count(*) FROM export.intents", &[]).await?.get::<_, i64>(0);
        let wanted = each * CALLERS as u64;
        ensure!(stands.unsigned_abs() == wanted, "pgbench accepted {stands} of {wanted} exports");
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let rate = scripts_per_s(&said).with_context(failed)? * ACCEPTANCES_PER_SCRIPT as f64;
        Ok(rate)
    }
}

/// Runs of the script a second, once it was connected.
fn scripts_per_s(said: &str) -> Option<f64> {
    let line = said.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_what_pgbench_says() {
        let said = "latency average = 1.2 ms\ntps = 812.337 (without initial connection time)\n";
        assert_eq!(scripts_per_s(said), Some(812.337));
        assert_eq!(scripts_per_s("latency average = 1.2 ms\n"), None);
    }
}
