use std::sync::Arc;

use crate::config::Config;
use crate::pool::{Address, PoolError, SourceConnection};
use crate::role::Role;

/// The databases that exports are read from, by the names that data sets call them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sources {
    config: Arc<Config>,
}

impl Sources {
    /// Those of this configuration.
    #[must_use]
    pub const fn new(config: Arc<Config>) -> Self {
        Self { config }
    }

    /// A connection to the one of that name, as whoever reads it: the source's own login, or the worker's.
    ///
    /// # Errors
    /// [`PoolError::SourceUnknown`] where the configuration has none of that name; otherwise that its settings cannot be
    /// used, or its server not be reached within the connect timeout.
    pub async fn connect(&self, name: &str) -> Result<SourceConnection, PoolError> {
        self.address(name)?.connect_to_read().await
    }

    fn address(&self, name: &str) -> Result<Address, PoolError> {
        let source = self.config.sources.get(name);
        let source = source.ok_or_else(|| PoolError::SourceUnknown { name: name.to_owned() })?;
        let mut address = Address::parse_at(format!("sources.{name}"), &source.url)?;
        let worker = self.config.credentials.of(Role::Worker);
        match (&source.user, address.user()) {
            (Some(user), _) => address.login(user, source.password()?.as_ref()),
            (None, None) => address.login(&worker.user, worker.password()?.as_ref()),
            (None, Some(_)) => {}
        }
        address.name(Role::Worker.database_user());
        Ok(address)
    }
}
