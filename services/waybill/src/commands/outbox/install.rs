//! `waybill outbox install`: the structure of an outbox, its partitions and its privileges.

use super::CommandError;
use crate::codes;
use crate::exit::Exit;
use crate::output::Output;

/// What to install, where, and for whom.
#[derive(Debug, clap::Args)]
pub(crate) struct Install {
    /// The schema to make: a to z, 0 to 9 and _, not beginning with a number
    #[arg(long, value_name = "NAME")]
    schema: String,
    /// The database, and a login that may make schemas in it
    #[arg(long, value_name = "URL", env = "WAYBILL_OUTBOX_DATABASE_URL", hide_env_values = true)]
    database_url: String,
    /// A role that appends events; may be given several times
    #[arg(long = "writer", value_name = "ROLE")]
    writers: Vec<String>,
    /// A role that a relay logs in as; may be given several times
    #[arg(long = "relay", value_name = "ROLE")]
    relays: Vec<String>,
    /// A role that looks and changes nothing; may be given several times
    #[arg(long = "reader", value_name = "ROLE")]
    readers: Vec<String>,
    /// Say what would be done
    #[arg(long)]
    dry_run: bool,
}

/// Installs, or says what it would do.
#[expect(clippy::unused_async, reason = "it is about to connect")]
pub(crate) async fn run(install: &Install, _output: &Output) -> Result<(), CommandError> {
    let message = format!("{} cannot be installed yet", install.schema);
    Err(CommandError::new(Exit::Failed, codes::USAGE, message))
}
