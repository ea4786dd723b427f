//! `./dev test`

use std::env;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use waybill_devstack::{Durability, Undertaking};

use super::reset::remove_data;
use crate::binary::{self, cargo};
use crate::console::{Console, seconds};
use crate::infrastructure::{self, Infrastructure};
use crate::place::Place;
use crate::remote::{block_on, drop_databases};

/// A stack of its own, so that a test never meets a person's data.
const STACK: &str = "test";

/// The named points that the fault tests stop at, and that no shipped build has.
const FAULT_POINTS: [&str; 2] = ["--features", "waybill/fault-points"];

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Run only the tests whose name holds this, and no other check.
    #[arg(long)]
    filter: Option<String>,
    /// Run only this campaign, for long: `relay` kills relays at random while two hundred writers write, `exports` kills and
    /// freezes workers under a collector.
    #[arg(long, conflicts_with = "filter")]
    campaign: Option<Campaign>,
    /// The campaign's seed, as it prints it. Another one each time when it is not given.
    #[arg(long, requires = "campaign")]
    seed: Option<u64>,
    /// How many kills the campaign has.
    #[arg(long, requires = "campaign", default_value_t = CAMPAIGN_KILLS)]
    kills: u32,
}

/// How many kills a campaign has that nobody told otherwise.
const CAMPAIGN_KILLS: u32 = 1_000;

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Campaign {
    Relay,
    Exports,
}

impl Campaign {
    /// The test whose short form every run of the tests has, by its file and its name.
    fn test(self) -> [&'static str; 2] {
        match self {
            Self::Relay => ["faults", "relay::campaign::"],
            Self::Exports => ["faults", "exports::campaign::"],
        }
    }
}

/// Where the tests find their servers.
#[derive(Debug)]
struct Servers {
    postgres_url: String,
    bootstrap: String,
    /// What the databases of this run carry in their names.
    scope: String,
    /// `SMTP address, HTTP address` of the mail sink, where this run has one.
    mail: Option<(String, String)>,
}

impl Test {
    pub(crate) fn run(self, place: &Place, undertaking: &Undertaking, console: &Console) -> Result<ExitCode> {
        let private = place.private(STACK)?;
        // Beside the private stack's folder, which goes with the run.
        let _lock = place.layout.lock_named(STACK)?;
        infrastructure::stop(&private, console)?;
        let mut steps = Steps { console, done: Vec::new() };
        let outcome = self.with_servers(&private, undertaking, console, &mut steps);
        infrastructure::stop(&private, console)?;
        remove_data(&private)?;
        steps.summary(outcome.is_ok());
        outcome.map(|()| ExitCode::SUCCESS)
    }

    fn with_servers(
        &self,
        private: &Place,
        undertaking: &Undertaking,
        console: &Console,
        steps: &mut Steps<'_>,
    ) -> Result<()> {
        undertaking.remove_when_interrupted(private.layout.dir());
        let stack = match announced(private) {
            Some(_) => None,
            None => Some(Infrastructure::start(private, undertaking, console, Durability::Volatile)?),
        };
        if self.filter.is_none() && self.campaign.is_none() {
            steps.cargo(undertaking, "fmt", &["fmt", "--all", "--check"], |_| ())?;
            let clippy = ["clippy", "--workspace", "--all-targets", FAULT_POINTS[0], FAULT_POINTS[1]];
            let denied = ["--", "--deny", "warnings"];
            steps.cargo(undertaking, "clippy", &[&clippy[..], &denied[..]].concat(), |_| ())?;
        }
        // The tests too: with what they need their crates would otherwise be built again for them.
        let build = ["--workspace", "--all-targets", FAULT_POINTS[0], FAULT_POINTS[1]];
        steps.timed("build", || binary::build(undertaking, console, &build, &private.binary()))?;
        if let Some(stack) = &stack {
            stack.wait_ready(private, console)?;
        }
        let servers = match (announced(private), &stack) {
            (Some(servers), _) => servers,
            (None, Some(stack)) => own(private, stack),
            (None, None) => bail!("no servers to test on"),
        };
        let tested = self.tests(private, undertaking, steps, &servers);
        clean_up(&servers, stack.is_none(), console);
        tested
    }

    fn tests(
        &self,
        private: &Place,
        undertaking: &Undertaking,
        steps: &mut Steps<'_>,
        servers: &Servers,
    ) -> Result<()> {
        let mut arguments = vec!["test", "--workspace", FAULT_POINTS[0], FAULT_POINTS[1]];
        if let Some(filter) = &self.filter {
            arguments.push(filter);
        }
        if let Some([file, name]) = self.campaign.map(Campaign::test) {
            arguments.extend(["--test", file, "--", name, "--nocapture"]);
        }
        steps.cargo(undertaking, "test", &arguments, |command| {
            // The processes under test are told by their test where they are, and by nothing else.
            command.env_remove("WAYBILL_POSTGRES_URL").env_remove("WAYBILL_KAFKA_BOOTSTRAP");
            command.env("WAYBILL_TEST_POSTGRES_URL", &servers.postgres_url);
            command.env("WAYBILL_TEST_KAFKA_BOOTSTRAP", &servers.bootstrap);
            command.env("WAYBILL_TEST_SCOPE", &servers.scope);
            command.env("WAYBILL_BIN", private.binary());
            if self.campaign.is_some() {
                let seed = self.seed.map(|seed| seed.to_string()).unwrap_or_default();
                command.env("WAYBILL_CAMPAIGN_SEED", seed);
                command.env("WAYBILL_CAMPAIGN_KILLS", self.kills.to_string());
            }
            if let Some((smtp, api)) = &servers.mail {
                command.env("WAYBILL_TEST_SMTP", smtp).env("WAYBILL_TEST_MAIL_API", api);
            }
        })
    }
}

/// Stops and removes what a test run left that was killed before it could. One that still runs is left alone. Gives
/// whether there was anything.
pub(crate) fn stop_left_behind(place: &Place, console: &Console) -> Result<bool> {
    if !place.layout.dir().join(STACK).exists() {
        return Ok(false);
    }
    let Some(_lock) = place.layout.try_lock_named(STACK)? else {
        console.say("A `./dev test` of this clone is running: its stack ends with it.");
        return Ok(true);
    };
    let private = place.private(STACK)?;
    infrastructure::stop(&private, console)?;
    remove_data(&private)?;
    Ok(true)
}

/// The servers that somebody named for the tests, or for everything.
fn announced(private: &Place) -> Option<Servers> {
    let named = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let for_tests = named("WAYBILL_TEST_POSTGRES_URL").zip(named("WAYBILL_TEST_KAFKA_BOOTSTRAP"));
    let external = private.external.as_ref();
    let for_all = external.map(|external| (external.postgres_url.clone(), external.kafka_bootstrap.clone()));
    let (postgres_url, bootstrap) = for_tests.or(for_all)?;
    let mail = named("WAYBILL_TEST_SMTP").zip(named("WAYBILL_TEST_MAIL_API"));
    Some(Servers { postgres_url, bootstrap, scope: private.layout.key(), mail })
}

fn own(private: &Place, stack: &Infrastructure) -> Servers {
    let (smtp, api) = (stack.mail.smtp_port(), stack.mail.api_port());
    Servers {
        postgres_url: stack.server_url().to_owned(),
        bootstrap: stack.bootstrap.clone(),
        scope: private.layout.key(),
        mail: Some((format!("127.0.0.1:{smtp}"), format!("http://127.0.0.1:{api}"))),
    }
}

/// On servers that stay, nothing of this run may.
fn clean_up(servers: &Servers, they_stay: bool, console: &Console) {
    if !they_stay {
        return;
    }
    for kind in ["waybill_test_", "waybill_template_"] {
        let dropped = block_on(drop_databases(&servers.postgres_url, &format!("{kind}{}", servers.scope)));
        if let Err(error) = dropped.and_then(|outcome| outcome) {
            console.say(&format!("cannot drop this run's databases: {error:#}"));
        }
    }
}

/// The checks, each with its time.
#[derive(Debug)]
struct Steps<'a> {
    console: &'a Console,
    done: Vec<(&'static str, Duration, bool)>,
}

impl Steps<'_> {
    fn cargo(
        &mut self,
        undertaking: &Undertaking,
        name: &'static str,
        arguments: &[&str],
        prepare: impl FnOnce(&mut Command),
    ) -> Result<()> {
        let console = self.console;
        self.timed(name, || {
            console.noisy_step(&format!("cargo {}", arguments.join(" ")), || {
                let mut command = cargo();
                command.args(arguments);
                prepare(&mut command);
                let status = undertaking.run_visibly(&mut command, "cargo", "install Rust by rustup")?;
                if status.success() { Ok(()) } else { bail!("cargo {name} failed ({status})") }
            })
        })
    }

    fn timed<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let begun = Instant::now();
        let outcome = work();
        self.done.push((name, begun.elapsed(), outcome.is_ok()));
        outcome
    }

    fn summary(&self, passed: bool) {
        self.console.say("");
        for (name, took, ok) in &self.done {
            let outcome = if *ok { "ok" } else { "FAILED" };
            self.console.say(&format!("{name:<8} {outcome:<7} {}", seconds(*took)));
        }
        let outcome = if passed { "every check passed" } else { "NOT every check passed" };
        self.console.say(&format!("{outcome} ({})", seconds(self.console.elapsed())));
    }
}
