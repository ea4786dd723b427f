//! Whose transactions a snapshot counts. After a restore, or on a standby that was promoted without the last of its
//! primary, the same xids are given out again: a window of before hides rows that nobody has sent.

use std::fmt;

use tokio_postgres::Row;

use super::WindowError;

/// One line of history of one server: the xids of a snapshot mean something only there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// `pg_control_system().system_identifier`: made by `initdb`, kept by every copy.
    pub system_identifier: String,
    /// Which history of that server: another one after every promotion and after every restore to a point in time.
    pub timeline: i32,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "system identifier {}, timeline {}", self.system_identifier, self.timeline)
    }
}

/// The server that answered, unless the row of the cursor was written by another one.
pub(super) fn checked(row: &Row) -> Result<Identity, WindowError> {
    let found = Identity {
        system_identifier: row.try_get("found_system_identifier")?,
        timeline: row.try_get("found_timeline")?,
    };
    match (row.try_get("system_identifier")?, row.try_get("timeline")?) {
        (Some(system_identifier), Some(timeline)) => same(Identity { system_identifier, timeline }, found),
        // No relay was ever active.
        _ => Ok(found),
    }
}

/// `found`, unless it is another server than `known`.
pub(super) fn same(known: Identity, found: Identity) -> Result<Identity, WindowError> {
    if known == found { Ok(found) } else { Err(WindowError::DatabaseChanged { known, found }) }
}
