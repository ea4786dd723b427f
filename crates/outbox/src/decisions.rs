//! The outbox's own record of what people decided about it over a connection of their own, without an api that knows them.
//!
//! Deliberately absent: an actor to be given. It is the session's login, and the table fills it in.

use tokio_postgres::GenericClient;
use tokio_postgres::types::Type;

/// A decision that is made in the same transaction.
#[derive(Debug, Clone, Copy)]
pub struct NewDecision<'a> {
    /// What is decided, such as `parked.retry`.
    pub action: &'a str,
    /// What it is decided about.
    pub subject: &'a str,
    /// Why; not empty.
    pub reason: &'a str,
}

/// Records a decision and answers who makes it: `postgres:` and the login that the session began with.
///
/// # Errors
/// The database failed, or the login may not decide.
pub async fn record(
    tx: &impl GenericClient,
    decision: NewDecision<'_>,
) -> Result<String, tokio_postgres::Error> {
    let NewDecision { action, subject, reason } = decision;
    let parameters = [(&action as _, Type::TEXT), (&subject as _, Type::TEXT), (&reason as _, Type::TEXT)];
    tx.query_typed_one(include_str!("decisions/record.sql"), &parameters).await?.try_get("decided_by")
}
