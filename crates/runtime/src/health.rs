//! What is wrong with this process, as the parts that know say it.
//!
//! `failed` is for a process that cannot work at all, and takes it out of service; `degraded` is for everything that a
//! rollout must be able to fix: parked keys, backlog, a halted partition, a lost dependency that is being retried.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use crate::codes;
use crate::role::Role;

/// A handle to the state that `/readyz` shows. Clones share it; each names its reasons after its role.
#[derive(Debug, Clone)]
pub struct Health {
    board: Arc<Mutex<BTreeMap<(Role, String), Reason>>>,
    role: Role,
    /// What stands before the name of every component.
    within: Arc<str>,
}

/// How much a reason matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The process works, and something needs a look.
    Degraded,
    /// The process cannot work.
    Failed,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The role that says so.
    pub role: &'static str,
    /// The part of it, in the role's own words: `kafka`, `partition waybill.export.events-3`.
    pub component: String,
    /// How much it matters.
    pub severity: Severity,
    /// The slug with a page in `docs/errors/`.
    pub code: String,
    /// What a person should know beyond the code.
    pub detail: String,
    /// Since when.
    pub since: Timestamp,
}

/// Everything that is wrong now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// `ready`, `degraded` or `failed`.
    pub status: &'static str,
    /// The reasons, by role and component.
    pub reasons: Vec<Reason>,
}

impl Health {
    /// A state in which nothing is wrong yet.
    #[must_use]
    pub fn new(role: Role) -> Self {
        Self { board: Arc::default(), role, within: Arc::default() }
    }

    /// The same state, with another role's name on what is reported through it.
    #[must_use]
    pub fn scoped(&self, role: Role) -> Self {
        Self { board: Arc::clone(&self.board), role, within: Arc::default() }
    }

    /// The same state for one of several like parts of a role: its name stands before every component.
    #[must_use]
    pub fn within(&self, part: &str) -> Self {
        Self { board: Arc::clone(&self.board), role: self.role, within: format!("{part}: ").into() }
    }

    fn component(&self, component: &str) -> String {
        format!("{}{component}", self.within)
    }

    /// Says that `component` works worse than it should. It stays so until [`Self::clear`].
    pub fn degraded(&self, component: &str, code: &str, detail: impl Into<String>) {
        self.report_reason(component, Severity::Degraded, code, detail.into());
    }

    /// Says that this process cannot work because of `component`. It stays so until [`Self::clear`].
    pub fn failed(&self, component: &str, code: &str, detail: impl Into<String>) {
        self.report_reason(component, Severity::Failed, code, detail.into());
    }

    /// Takes back what was said about `component`.
    pub fn clear(&self, component: &str) {
        let component = self.component(component);
        let reason = self.locked().remove(&(self.role, component.clone()));
        if let Some(Reason { code, .. }) = reason.filter(|reason| reason.code != codes::ROLE_STARTING) {
            tracing::info!(role = %self.role, component, code, "recovered");
        }
    }

    /// Everything that is wrong now, of every role of this process.
    #[must_use]
    pub fn report(&self) -> Report {
        let reasons: Vec<_> = self.locked().values().cloned().collect();
        let status = match reasons.iter().map(|reason| reason.severity).max() {
            None => "ready",
            Some(Severity::Degraded) => "degraded",
            Some(Severity::Failed) => "failed",
        };
        Report { status, reasons }
    }

    /// Stores a reason, and logs it when it is new: a retry that fails again the same way is no news.
    fn report_reason(&self, component: &str, severity: Severity, code: &str, detail: String) {
        let component = self.component(component);
        let mut board = self.locked();
        let key = (self.role, component.clone());
        let known = board.get(&key).filter(|known| known.severity == severity && known.code == code);
        let since = known.map_or_else(Timestamp::now, |known| known.since);
        let news = known.is_none() && code != codes::ROLE_STARTING;
        let reason = Reason {
            role: self.role.as_str(),
            component: component.clone(),
            severity,
            code: code.to_owned(),
            detail,
            since,
        };
        if news {
            match severity {
                Severity::Degraded => {
                    tracing::warn!(role = %self.role, component, code, detail = %reason.detail, "degraded");
                }
                Severity::Failed => {
                    tracing::error!(role = %self.role, component, code, detail = %reason.detail, "failed");
                }
            }
        }
        board.insert(key, reason);
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, BTreeMap<(Role, String), Reason>> {
        // Every change is one insert or remove, so a thread that panicked left nothing half done.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Health;
    use crate::role::Role;

    #[test]
    fn one_failed_part_fails_the_process_and_degraded_ones_do_not() {
        let relay = Health::new(Role::Relay);
        let worker = relay.scoped(Role::Worker);
        assert_eq!(relay.report().status, "ready");
        relay.degraded("kafka", "kafka-unreachable", "no broker");
        assert_eq!(worker.report().status, "degraded");
        worker.failed("kafka", "kafka-unreachable", "no broker");
        assert_eq!(relay.report().status, "failed");
        worker.clear("kafka");
        relay.clear("kafka");
        assert_eq!(relay.report().status, "ready");
    }

    #[test]
    fn a_reason_that_is_repeated_keeps_its_time_and_takes_the_newest_detail() {
        let health = Health::new(Role::Relay);
        health.degraded("kafka", "kafka-unreachable", "first");
        let first = health.report().reasons.remove(0);
        health.degraded("kafka", "kafka-unreachable", "second");
        let second = health.report().reasons.remove(0);
        assert_eq!((first.since, second.detail.as_str()), (second.since, "second"));
    }
}
