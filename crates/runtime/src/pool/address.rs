use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use postgres_openssl::MakeTlsConnector;
use tokio_postgres::Config as PostgresConfig;

use super::dedicated::Dedicated;
use super::error::PoolError;
use super::source::{self, SourceConnection};
use super::tls::{MODES, TlsSettings};
use super::{observed, sound};
use crate::config::{Database, DatabaseUrl};
use crate::role::{Role, Schema};
use crate::secret::Secret;

/// How long a connection may take until it can be used, login included.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A peer that is gone without a word is found within 15 s: what was sent stays unacknowledged for 10 s, or an idle
/// connection's probes (at 5 s, then every 3 s) go unanswered three times.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(10);
pub(super) const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
pub(super) const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(3);
pub(super) const KEEPALIVE_RETRIES: u32 = 3;

/// A process that is frozen in the middle of a transaction must not hold its locks for longer than one whose network is
/// gone: a claim holds its tenant's row, and everybody else passes that tenant over.
const IDLE_IN_TRANSACTION_TIMEOUT_MS: u32 = 15_000;

/// Where and how to connect: a parsed address with its TLS settings.
#[derive(Clone)]
pub struct Address {
    /// Where it stands in the configuration, for errors.
    place: String,
    config: PostgresConfig,
    tls: TlsSettings,
}

impl Address {
    /// Reads an address; `schema` is only named in errors.
    ///
    /// # Errors
    /// [`PoolError::Address`] or [`PoolError::Parameter`].
    pub fn parse(schema: Schema, url: &DatabaseUrl) -> Result<Self, PoolError> {
        Self::parse_at(format!("database.{schema}"), url)
    }

    /// The same for an address that stands elsewhere in the configuration.
    pub(crate) fn parse_at(standing: String, url: &DatabaseUrl) -> Result<Self, PoolError> {
        let (place, parameters) = url.expose().split_once('?').unwrap_or((url.expose(), ""));
        let mut tls = TlsSettings::default();
        let mut rest = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = value.replace("%2F", "/").replace("%2f", "/");
            match tls.take(name, &value) {
                Ok(true) => {}
                Ok(false) => rest.push(parameter),
                Err(()) => {
                    return Err(PoolError::Parameter {
                        place: standing,
                        parameter: "sslmode",
                        value,
                        expected: MODES,
                    });
                }
            }
        }
        let plain = if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) };
        let mut config: PostgresConfig = match plain.parse() {
            Ok(config) => config,
            Err(source) => return Err(PoolError::Address { place: standing, source }),
        };
        config
            .ssl_mode(tls.mode())
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_user_timeout(TCP_USER_TIMEOUT)
            .keepalives(true)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES);
        Ok(Self { place: standing, config, tls })
    }

    /// Logs in as `user`. Without a password, one that stands in the address itself is kept.
    pub fn login(&mut self, user: &str, password: Option<&Secret>) {
        self.config.user(user);
        if let Some(password) = password {
            self.config.password(password.expose());
        }
    }

    /// How the server's views name the connection.
    pub fn name(&mut self, application_name: &str) {
        self.config.application_name(application_name);
    }

    /// Resolves unqualified names in `schema`, and bounds how long a transaction may stand idle.
    pub fn work_in(&mut self, schema: Schema) {
        self.work_in_schema(schema.as_str());
    }

    /// The same for a schema whose name is the configuration's.
    pub(crate) fn work_in_schema(&mut self, schema: &str) {
        self.add_options(&format!(
            "-c search_path={schema} -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_TIMEOUT_MS}"
        ));
    }

    /// Lets the server end a statement after so long: whoever asked for it is gone by then.
    pub(crate) fn end_statements_after(&mut self, timeout_ms: u64) {
        self.add_options(&format!("-c statement_timeout={timeout_ms}"));
    }

    fn add_options(&mut self, added: &str) {
        let own = self.config.get_options().map(|options| format!("{options} ")).unwrap_or_default();
        self.config.options(format!("{own}{added}"));
    }

    /// Connects once, outside of every pool.
    ///
    /// # Errors
    /// [`PoolError::Tls`], [`PoolError::Connect`] or [`PoolError::ConnectTimeout`].
    pub async fn connect(&self) -> Result<Dedicated, PoolError> {
        let tls = self.connector()?;
        let place = self.place.clone();
        match tokio::time::timeout(CONNECT_TIMEOUT, self.config.connect(tls)).await {
            Ok(Ok((client, connection))) => Ok(Dedicated::new(client, connection)),
            Ok(Err(source)) => Err(PoolError::Connect { place, source }),
            Err(_elapsed) => Err(PoolError::ConnectTimeout { place, limit_ms: CONNECT_TIMEOUT.as_millis() }),
        }
    }

    /// Connects once, to read a data set.
    pub(crate) async fn connect_to_read(&self) -> Result<SourceConnection, PoolError> {
        source::connect(&self.place, &self.config, &self.connector()?).await
    }

    /// The user that the address names.
    pub(crate) fn user(&self) -> Option<&str> {
        self.config.get_user()
    }

    fn connector(&self) -> Result<MakeTlsConnector, PoolError> {
        self.tls.connector().map_err(|source| PoolError::Tls { place: self.place.clone(), source })
    }

    /// A pool of connections to this address.
    pub(crate) fn pool(&self, role: Role, schema: Schema, database: &Database) -> Result<Pool, PoolError> {
        let tls = self.connector()?;
        let manager = Manager::from_config(
            self.config.clone(),
            tls,
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let pool = Pool::builder(manager)
            .runtime(Runtime::Tokio1)
            .max_size(database.pool_connections_max)
            .wait_timeout(Some(database.acquire_timeout()))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .recycle_timeout(Some(sound::CHECK_TIMEOUT))
            .post_create(sound::new_connection())
            .post_recycle(sound::used_connection())
            .build()
            .map_err(|source| PoolError::Build { place: self.place.clone(), source })?;
        observed::add(role, schema, &pool);
        Ok(pool)
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::SslMode;

    use super::{Address, PoolError};
    use crate::config::DatabaseUrl;
    use crate::role::Schema;

    fn parse(url: &str) -> Result<Address, PoolError> {
        Address::parse(Schema::Export, &DatabaseUrl::new(url))
    }

    #[test]
    fn the_tls_parameters_of_libpq_are_understood() {
        let address =
            parse("postgres://h/d?sslmode=verify-full&sslrootcert=%2Fca.pem&connect_timeout=3").unwrap();
        assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(address.config.get_dbname(), Some("d"));
        assert_eq!(parse("postgres://h/d").unwrap().config.get_ssl_mode(), SslMode::Prefer);
        assert_eq!(parse("postgres://h/d?sslmode=disable").unwrap().config.get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn a_mode_that_does_not_exist_is_refused_with_those_that_do() {
        let error = parse("postgres://h/d?sslmode=verify").err().unwrap().to_string();
        assert!(error.contains("sslmode=verify") && error.contains("verify-full"), "{error}");
    }

    #[test]
    fn a_role_works_in_its_schema() {
        let mut address = parse("postgres://h/d?options=-c%20jit%3Doff").unwrap();
        address.work_in(Schema::Export);
        let options = address.config.get_options().unwrap();
        assert!(options.starts_with("-c jit=off -c search_path=export"), "{options}");
    }
}
