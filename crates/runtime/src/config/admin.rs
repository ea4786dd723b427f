use serde::{Deserialize, Serialize};

use crate::config::DatabaseUrl;

/// `[admin]`: who migrates, applies topics and makes the first key. No role ever uses it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Admin {
    /// A login that owns the database and may create roles; also from `WAYBILL_POSTGRES_URL`. Where it
    /// names the export database it is used as it is; its user is used at the address of every other database.
    pub postgres_url: Option<DatabaseUrl>,
}
