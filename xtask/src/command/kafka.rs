//! `./dev kafka TOOL`

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use waybill_devstack::{Kafka, Undertaking};

use super::UsageError;
use crate::console::Console;
use crate::infrastructure::fetched;
use crate::place::Place;

#[derive(Debug, Args)]
pub(crate) struct KafkaTool {
    /// The tool, as Kafka's scripts are called: topics, consumer-groups, console-consumer, …
    tool: String,
    /// The tool's own arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl KafkaTool {
    pub(crate) fn run(self, place: &Place, undertaking: &Undertaking, console: &Console) -> Result<ExitCode> {
        let bootstrap = match &place.external {
            Some(external) => external.kafka_bootstrap.clone(),
            None => own_bootstrap(place)?,
        };
        let jars = if console.is_terminal() {
            fetched(place, undertaking, console, "kafka")?
        } else {
            let pom = place.root().join("ops/dev/kafka/pom.xml");
            waybill_devstack::fetch(undertaking, "kafka", &pom)?.0
        };
        let Some(mut command) = Kafka::tool(&jars, &self.tool) else {
            let known: Vec<&str> = Kafka::tools().collect();
            bail!(UsageError(format!("no tool is called {}: there are {}", self.tool, known.join(", "))));
        };
        if !self.arguments.iter().any(|argument| argument.starts_with("--bootstrap-server")) {
            command.args(["--bootstrap-server", &bootstrap]);
        }
        // In place of this process, so that the terminal is the tool's.
        Err(command.args(self.arguments).exec().into())
    }
}

fn own_bootstrap(place: &Place) -> Result<String> {
    let running = waybill_devstack::ServiceFile::of(&place.layout, "kafka").running();
    running.context("Kafka does not run: `./dev up` starts it")?;
    let port = waybill_devstack::Ports::load(&place.layout)?.get("kafka").context("Kafka has no port")?;
    Ok(format!("127.0.0.1:{port}"))
}
