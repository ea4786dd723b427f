//! `waybill run`: roles in this process, until a signal.

mod catalog;
mod start;
mod supervisor;

use std::process;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use waybill_runtime::shutdown::{ROLE_LIMIT, Signals};
use waybill_runtime::{Config, Context, Health, Role, management, metrics, telemetry};

use crate::cli::RoleName;
use crate::codes;
use crate::exit::{CommandError, Exit};

const EXAMPLES: &str = "\
Examples:
  waybill run api
  waybill run relay reconciler
  waybill --config /etc/waybill.toml run worker

The log goes to stderr and names each address that is listened on. /livez, /readyz and /metrics are served at
`[management] listen`. SIGTERM or SIGINT ends every role within 30 s; a second one ends the process at once.";

/// How much longer than its roles the process may take to end.
const WATCHDOG_MARGIN: std::time::Duration = std::time::Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Run {
    /// The roles
    #[arg(required = true, value_name = "ROLE")]
    roles: Vec<RoleName>,
}

/// Runs what was typed, each role once.
pub(crate) async fn run(command: Run, config: Config) -> Result<(), CommandError> {
    let mut roles: Vec<Role> = command.roles.into_iter().map(Role::from).collect();
    roles.sort_unstable();
    roles.dedup();
    run_roles(&roles, config).await
}

/// Runs roles until a signal or until one of them fails, which ends the others, too: whoever runs the process starts
/// it again, and no half of it stands around unnoticed.
pub(crate) async fn run_roles(roles: &[Role], config: Config) -> Result<(), CommandError> {
    let setup = |what: &str| {
        CommandError::new(Exit::Failed, codes::PROCESS_SETUP_FAILED, format!("cannot set up the {what}"))
    };
    let Some(first) = roles.first() else { return Ok(()) };
    telemetry::install(&config.telemetry).map_err(|error| setup("log").with_source(error))?;
    let exporter = metrics::install(catalog::all()).map_err(|error| setup("metrics").with_source(error))?;
    let signals = Signals::install().map_err(|error| setup("signals").with_source(error))?;
    let (config, health) = (Arc::new(config), Health::new(*first));
    let address = config.management.listen;
    let listener = management::bind(address).await.map_err(|error| listen_failed(address, error))?;
    let (shutdown, stop_management) = (CancellationToken::new(), CancellationToken::new());
    let _ends_management = stop_management.clone().drop_guard();
    tokio::spawn(management::serve(listener, health.clone(), exporter, stop_management));
    tokio::spawn(signals.cancel(shutdown.clone()));
    tokio::spawn(watch_the_end(shutdown.clone()));
    let mut contexts = Vec::with_capacity(roles.len());
    for role in roles {
        let context = Context::new(Arc::clone(&config), *role, &health, shutdown.clone());
        contexts.push(context.map_err(super::config::refused)?);
    }
    supervisor::supervise(contexts, shutdown).await
}

/// A role that blocks the threads of the runtime could keep even its timers from firing. A thread of its own ends the
/// process then.
async fn watch_the_end(shutdown: CancellationToken) {
    shutdown.cancelled().await;
    std::thread::spawn(|| {
        std::thread::sleep(ROLE_LIMIT + WATCHDOG_MARGIN);
        eprintln!("{}: the process did not end by itself", waybill_runtime::codes::SHUTDOWN_TIMED_OUT);
        process::exit(i32::from(Exit::Failed.number()));
    });
}

fn listen_failed(address: std::net::SocketAddr, error: std::io::Error) -> CommandError {
    let message = format!("cannot listen on {address} (`management.listen`)");
    CommandError::new(Exit::Failed, waybill_runtime::codes::LISTEN_FAILED, message)
        .with_source(error)
        .with_hint("choose another port, or 0 for a free one")
}
