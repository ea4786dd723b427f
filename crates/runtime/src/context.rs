use std::net::SocketAddr;
use std::sync::Arc;

use deadpool_postgres::Pool;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, ConfigError, MAIN_OUTBOX};
use crate::health::Health;
use crate::pool::{Address, Dedicated, PoolError};
use crate::role::{Role, Schema};
use crate::sources::Sources;

/// What `/readyz` calls a role that has not begun its work.
const BEGINNING: &str = "start";

/// What a role is given to run with. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// The configuration of the whole process.
    pub config: Arc<Config>,
    /// The role that this context is for.
    pub role: Role,
    /// Where this role says what is wrong.
    pub health: Health,
    /// Cancelled when the process is asked to end. A role returns within [`crate::shutdown::ROLE_LIMIT`] of it.
    pub shutdown: CancellationToken,
    kafka_settings: Arc<[(String, String)]>,
}

impl Context {
    /// Puts a role's surroundings together.
    ///
    /// # Errors
    /// [`ConfigError::SecretFile`] when a Kafka setting's file cannot be read.
    pub fn new(
        config: Arc<Config>,
        role: Role,
        health: &Health,
        shutdown: CancellationToken,
    ) -> Result<Self, ConfigError> {
        let mut kafka_settings = config.kafka.client_settings()?;
        if config.kafka.settings.get("client.id").is_none() {
            kafka_settings.push(("client.id".to_owned(), format!("waybill-{role}")));
        }
        Ok(Self {
            config,
            role,
            health: health.scoped(role),
            shutdown,
            kafka_settings: kafka_settings.into(),
        })
    }

    /// A pool of this role's connections to a schema's database, with `search_path` set to that schema. It connects
    /// when a connection is asked for. A connection that it hands out is in no transaction and can write.
    ///
    /// # Errors
    /// When the address, the TLS settings or the password's file cannot be used; never because a server is down.
    pub fn pool(&self, schema: Schema) -> Result<Pool, PoolError> {
        self.address(schema)?.pool(self.role, schema, self.config.database.of(schema))
    }

    /// One connection outside of every pool, for LISTEN.
    ///
    /// # Errors
    /// When the address cannot be used, or the server cannot be reached within the connect timeout.
    pub async fn dedicated(&self, schema: Schema) -> Result<Dedicated, PoolError> {
        self.address(schema)?.connect().await
    }

    /// The names of the outboxes that the relay sends and the reconciler keeps in shape: `main`, the product's own, first.
    #[must_use]
    pub fn outboxes(&self) -> Vec<String> {
        let others = self.config.relay.outboxes.keys().cloned();
        std::iter::once(MAIN_OUTBOX.to_owned()).chain(others).collect()
    }

    /// The schema of an outbox by its name.
    #[must_use]
    pub fn outbox_schema(&self, name: &str) -> &str {
        let own = Schema::Outbox.as_str();
        self.config.relay.outboxes.get(name).map_or(own, |outbox| outbox.schema.as_str())
    }

    /// [`Self::pool`] of an outbox by its name: with this role's own login for `main`, and with the outbox's for another.
    ///
    /// # Errors
    /// As [`Self::pool`].
    pub fn outbox_pool(&self, name: &str) -> Result<Pool, PoolError> {
        let database = self.config.database.of(Schema::Outbox);
        self.outbox_address(name)?.pool(self.role, Schema::Outbox, database)
    }

    /// [`Self::dedicated`] of an outbox by its name.
    ///
    /// # Errors
    /// As [`Self::dedicated`].
    pub async fn outbox_dedicated(&self, name: &str) -> Result<Dedicated, PoolError> {
        self.outbox_address(name)?.connect().await
    }

    /// The databases that exports are read from.
    #[must_use]
    pub fn sources(&self) -> Sources {
        Sources::new(Arc::clone(&self.config))
    }

    /// What every Kafka client of this role is made with: `bootstrap.servers`, `client.id` and the configuration's own
    /// settings, which win.
    #[must_use]
    pub fn kafka_settings(&self) -> Vec<(String, String)> {
        self.kafka_settings.to_vec()
    }

    /// What stands before every topic's name.
    #[must_use]
    pub fn topic_prefix(&self) -> &str {
        &self.config.kafka.topic_prefix
    }

    /// A consumer group's name in this installation.
    #[must_use]
    pub fn group(&self, name: &str) -> String {
        format!("{}{name}", self.config.kafka.topic_prefix)
    }

    /// Says that the role has not begun its work yet: the process is not ready.
    pub fn beginning(&self) {
        self.health.failed(BEGINNING, crate::codes::ROLE_STARTING, "the role has not begun its work");
    }

    /// Says that it has.
    pub fn begun(&self) {
        self.health.clear(BEGINNING);
    }

    /// Binds a listener and logs the address that it got.
    ///
    /// # Errors
    /// When the address is taken or not this machine's.
    pub async fn listen(&self, address: SocketAddr) -> std::io::Result<TcpListener> {
        crate::management::listen(self.role.as_str(), address).await
    }

    fn outbox_address(&self, name: &str) -> Result<Address, PoolError> {
        let Some(outbox) = self.config.relay.outboxes.get(name) else {
            return self.address(Schema::Outbox);
        };
        let mut address = Address::parse(Schema::Outbox, &outbox.url)?;
        address.login(&outbox.user, outbox.password()?.as_ref());
        address.name(self.role.database_user());
        address.work_in_schema(&outbox.schema);
        Ok(address)
    }

    fn address(&self, schema: Schema) -> Result<Address, PoolError> {
        let login = self.config.credentials.of(self.role);
        let mut address = Address::parse(schema, &self.config.database.url(schema))?;
        address.login(&login.user, login.password()?.as_ref());
        address.name(self.role.database_user());
        address.work_in(schema);
        if self.role == Role::Api {
            address.end_statements_after(self.config.api.request_timeout_ms);
        }
        Ok(address)
    }
}

/// The admin's connection to the database of a schema. The admin's own address is used as it is where it names the
/// export database: it may bypass a pooler that the roles go through. Otherwise the admin's user goes to the schema's
/// address, so that no other database than the configured one is ever migrated.
///
/// # Errors
/// [`PoolError::NoAdmin`] without `[admin] postgres_url`; otherwise as [`Context::dedicated`].
pub async fn connect_as_admin(config: &Config, schema: Schema) -> Result<Dedicated, PoolError> {
    let admin = config.admin.postgres_url.as_ref().ok_or(PoolError::NoAdmin)?;
    let (place, export) = (config.database.url(schema), config.database.url(Schema::Export));
    let beside_export = place.without_user() == export.without_user();
    let own = beside_export && admin.database() == export.database();
    let url = if own { admin.clone() } else { admin.at(&place) };
    let mut address = Address::parse(schema, &url)?;
    address.name("waybill_admin");
    address.connect().await
}
