//! What every role says of its end, whatever its error is made of.

use std::error::Error;

use crate::pool::PoolError;

/// Why a role ended though nobody asked it to.
pub trait RoleError: Error + Send + Sync + 'static {
    /// The slug of the page in `docs/errors/` that says what to do; [`crate::codes::ROLE_FAILED`] when no page says more.
    fn code(&self) -> &'static str;

    /// Whether it ends like this again until somebody changes the configuration.
    fn is_configuration(&self) -> bool;
}

impl RoleError for PoolError {
    fn code(&self) -> &'static str {
        self.code()
    }

    fn is_configuration(&self) -> bool {
        !self.is_dependency()
    }
}
