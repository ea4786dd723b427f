use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::role::Role;
use crate::secret::Secret;

/// `[credentials.<role>]`: the login of each role in Postgres.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Credentials {
    /// The api's.
    pub api: Credential,
    /// The relay's.
    pub relay: Credential,
    /// The worker's.
    pub worker: Credential,
    /// Search's.
    pub search: Credential,
    /// The statistics'.
    pub stats: Credential,
    /// The notifier's.
    pub notifier: Credential,
    /// The reconciler's.
    pub reconciler: Credential,
}

/// One login. Without a password the server decides by its own rules (peer, certificate, trust).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Credential {
    /// The login role; empty means `waybill_<role>`.
    pub user: String,
    /// The password itself.
    pub password: Option<Secret>,
    /// A file that holds the password.
    pub password_file: Option<PathBuf>,
}

impl Credential {
    /// The password, read from its file if it lies in one.
    ///
    /// # Errors
    /// [`ConfigError::SecretFile`] when the file cannot be read.
    pub fn password(&self) -> Result<Option<Secret>, ConfigError> {
        Secret::from_value_or_file(
            "credentials.*.password_file",
            self.password.as_ref(),
            self.password_file.as_ref(),
        )
    }
}

impl Credentials {
    /// A role's login.
    #[must_use]
    pub fn of(&self, role: Role) -> &Credential {
        match role {
            Role::Api => &self.api,
            Role::Relay => &self.relay,
            Role::Worker => &self.worker,
            Role::Search => &self.search,
            Role::Stats => &self.stats,
            Role::Notifier => &self.notifier,
            Role::Reconciler => &self.reconciler,
        }
    }

    /// Names the user of each login that does not name one itself.
    pub(crate) fn complete(&mut self) {
        let logins = [
            (Role::Api, &mut self.api),
            (Role::Relay, &mut self.relay),
            (Role::Worker, &mut self.worker),
            (Role::Search, &mut self.search),
            (Role::Stats, &mut self.stats),
            (Role::Notifier, &mut self.notifier),
            (Role::Reconciler, &mut self.reconciler),
        ];
        for (role, login) in logins {
            if login.user.is_empty() {
                role.database_user().clone_into(&mut login.user);
            }
        }
    }
}
