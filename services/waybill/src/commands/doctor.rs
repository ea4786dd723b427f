//! `waybill doctor`: looks at everything that Waybill needs, as each role sees it, and says what to do.
//!
//! It changes nothing but a file that it writes to the object store, or to where that will be made, and removes.

mod datasets;
mod finding;
mod kafka;
mod object_store;
mod outboxes;
mod postgres;
mod privileges;
mod settings;

use waybill_runtime::Config;

use super::CommandError;
use crate::codes;
use crate::exit::Exit;
use crate::output::Output;
use finding::{Findings, Level};

/// What `--help` ends with.
pub(crate) const EXAMPLES: &str = "\
Examples:
  waybill doctor
  waybill --config /etc/waybill.toml doctor
  waybill doctor --json | jq '.findings[] | select(.level == \"fail\")'

Exit codes:
  0 nothing keeps Waybill from working, though there may be something to look at
  1 something does, such as a missing migration, grant or topic
  5 something cannot be reached at all";

/// Checks everything; never stops at the first thing that is wrong.
pub(crate) async fn run(config: &Config, output: Output) -> Result<(), CommandError> {
    let mut findings = Findings::default();
    settings::check(config, &mut findings);
    object_store::check(config, &mut findings).await;
    postgres::check(config, &mut findings).await;
    outboxes::check(config, &mut findings).await;
    datasets::check(config, &mut findings).await;
    kafka::check(config, &mut findings).await;
    output.answer(&findings, Findings::text)?;
    let failures = findings.count(Level::Fail);
    if failures == 0 {
        return Ok(());
    }
    let exit = if findings.unreachable() { Exit::Unavailable } else { Exit::Failed };
    let things = if failures == 1 { "1 thing keeps".to_owned() } else { format!("{failures} things keep") };
    Err(CommandError::new(exit, codes::DOCTOR_FOUND_FAILURES, format!("{things} Waybill from working")))
}
