//! What a person decided: `export.decisions`, append-only.

use tokio_postgres::GenericClient;

use crate::StoreError;

/// A decision to record. The principal is who called, never something that a caller may say.
#[derive(Debug, Clone, Copy)]
pub struct NewDecision<'a> {
    /// Who decided: the service account.
    pub principal: &'a str,
    /// What was decided, such as `tenant.suspend`.
    pub action: &'a str,
    /// What it was decided about: an id.
    pub subject: &'a str,
    /// Why, in the person's words; not empty.
    pub reason: &'a str,
}

/// Records a decision in the transaction that carries it out, and answers its number.
///
/// # Errors
/// [`StoreError`].
pub async fn insert(tx: &impl GenericClient, decision: NewDecision<'_>) -> Result<i64, StoreError> {
    let row = tx
        .query_one(
            include_str!("decision/insert.sql"),
            &[&decision.principal, &decision.action, &decision.subject, &decision.reason],
        )
        .await?;
    Ok(row.try_get("decision_id")?)
}
