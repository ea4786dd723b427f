//! Kafka, Postgres and the mail sink: this clone's own, or somebody else's.

use anyhow::{Context, Result};
use url::Url;
use waybill_devstack::{
    Credentials, Durability, Jars, Kafka, Mail, Ports, Postgres, Stopped, Undertaking, fetch, on_database,
    without_user,
};

use crate::console::Console;
use crate::place::Place;
use crate::remote::{block_on, make_database};

/// In the order in which they are stopped.
pub(crate) const SERVICES: [&str; 4] = ["waybill", "mail", "kafka", "postgres"];

/// What is up, or is on its way up.
#[derive(Debug)]
pub(crate) struct Infrastructure {
    kafka: Option<Kafka>,
    pub(crate) mail: Mail,
    /// The administrator's URL of the server's own database.
    server_url: String,
    /// The administrator's URL of this clone's database.
    pub(crate) admin_url: Url,
    pub(crate) bootstrap: String,
}

impl Infrastructure {
    /// Fetches what is missing and starts what does not run. It then still has to get ready.
    pub(crate) fn start(
        place: &Place,
        undertaking: &Undertaking,
        console: &Console,
        durability: Durability,
    ) -> Result<Self> {
        let mail_jars = fetched(place, undertaking, console, "mail")?;
        let mut ports = Ports::load(&place.layout)?;
        let mail = Mail::of(&place.layout, &mut ports, mail_jars)?;
        let (postgres, kafka) = match &place.external {
            Some(_) => (None, None),
            None => {
                let jars = fetched(place, undertaking, console, "kafka")?;
                let mut credentials = Credentials::load(&place.layout)?;
                let postgres = Postgres::of(&place.layout, &mut ports, &mut credentials, durability)?;
                (Some(postgres), Some(Kafka::of(&place.layout, &mut ports, jars)?))
            }
        };
        // Kafka first: it takes the longest, and gets ready while the others are started and waybill is built.
        if let Some(kafka) = &kafka {
            kafka.start(undertaking)?;
        }
        mail.start(undertaking)?;
        if let Some(postgres) = &postgres {
            console.step("Start Postgres", |_| {
                let started = postgres.start(undertaking)?;
                postgres.wait_ready()?;
                let said =
                    if started { postgres.service().log().display().to_string() } else { "it runs".into() };
                Ok(((), said))
            })?;
        }
        let server_url = match (&place.external, &postgres) {
            (Some(external), _) => external.postgres_url.clone(),
            (None, Some(postgres)) => postgres.admin_url("postgres"),
            (None, None) => String::new(),
        };
        let bootstrap = match (&place.external, &kafka) {
            (Some(external), _) => external.kafka_bootstrap.clone(),
            (None, Some(kafka)) => kafka.bootstrap(),
            (None, None) => String::new(),
        };
        let server = server_url.parse().context("the address of Postgres is no URL")?;
        let admin_url = on_database(&server, &place.database());
        Ok(Self { kafka, mail, server_url, admin_url, bootstrap })
    }

    /// Waits until all of it answers, and makes this clone's database.
    pub(crate) fn wait_ready(&self, place: &Place, console: &Console) -> Result<()> {
        if let Some(kafka) = &self.kafka {
            console.step("Wait for Kafka", |_| {
                kafka.wait_ready()?;
                Ok(((), kafka.bootstrap()))
            })?;
        }
        console.step("Wait for the mail sink", |_| {
            self.mail.wait_ready()?;
            Ok(((), format!("SMTP on 127.0.0.1:{}", self.mail.smtp_port())))
        })?;
        let name = place.database();
        let made = block_on(make_database(&self.server_url, &name))??;
        if made {
            console.say(&format!("Made the database {name}"));
        }
        Ok(())
    }

    /// `host:port` of Postgres, for people.
    pub(crate) fn postgres_address(&self) -> String {
        without_user(&self.admin_url).into()
    }

    /// The administrator's URL of the server's own database.
    pub(crate) fn server_url(&self) -> &str {
        &self.server_url
    }
}

/// The jars of `ops/dev/<name>/pom.xml`.
pub(crate) fn fetched(
    place: &Place,
    undertaking: &Undertaking,
    console: &Console,
    name: &str,
) -> Result<Jars> {
    let pom = place.root().join("ops/dev").join(name).join("pom.xml");
    console.step(&format!("Fetch {name} from Maven"), |_| {
        let (jars, fetched) = fetch(undertaking, name, &pom)?;
        Ok((jars, if fetched { String::new() } else { "in the cache".into() }))
    })
}

/// Stops what this stack started, and says what it was. Gives whether anything ran.
pub(crate) fn stop(place: &Place, console: &Console) -> Result<bool> {
    let mut any = false;
    for name in SERVICES {
        let service = waybill_devstack::ServiceFile::of(&place.layout, name);
        if service.running().is_none() {
            service.stop()?;
            continue;
        }
        any = true;
        console.step(&format!("Stop {name}"), |_| {
            let stopped = service.stop()?;
            Ok(((), if stopped == Stopped::Killed { "it had to be killed".into() } else { String::new() }))
        })?;
    }
    Ok(any)
}
