//! What must hold between values. Each rule names both keys, so that whoever breaks it knows what to change.

use super::{COLLECT_AFTER_HOURS_MIN, CONDEMNED_FOR_MINUTES_MIN, Config, ConfigError};

/// The functions that make partitions ahead refuse more.
const PARTITIONS_AHEAD_DAYS_MAX: u64 = 60;

/// The function that drops partitions refuses more.
const OUTBOX_RETENTION_DAYS_MAX: u64 = 3650;

const HOURS_OF_A_DAY: u64 = 24;

/// A year: no result is kept for longer but one that is kept for ever.
pub const RESULT_RETENTION_HOURS_MAX: u64 = 366 * HOURS_OF_A_DAY;

const MS_OF_AN_HOUR: u64 = 60 * 60 * 1000;

/// A lease that is shorter is lost to any slow answer of the database.
const LEASE_MS_MIN: u64 = 1000;

/// One relation between two values.
struct Rule {
    first: (&'static str, u64),
    relation: Relation,
    second: (&'static str, u64),
    reason: &'static str,
}

#[derive(Clone, Copy)]
enum Relation {
    LessThan,
    AtLeast,
    AtMost,
    AtMostHalf,
    TwoMoreThanTwice,
}

impl Relation {
    const fn holds(self, first: u64, second: u64) -> bool {
        match self {
            Self::LessThan => first < second,
            Self::AtLeast => first >= second,
            Self::AtMost => first <= second,
            Self::AtMostHalf => first <= second / 2,
            Self::TwoMoreThanTwice => first >= second.saturating_mul(2).saturating_add(2),
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::LessThan => "less than",
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
            Self::AtMostHalf => "at most half of",
            Self::TwoMoreThanTwice => "at least 2 more than twice",
        }
    }
}

impl Config {
    /// Refuses values that contradict each other.
    pub(super) fn assert_relations(&self) -> Result<(), ConfigError> {
        self.one_form_of_each_secret()?;
        let rules =
            self.leases_and_timers().into_iter().chain(self.connections_and_leases()).chain(self.retention());
        let rules = rules.chain(self.watchers());
        let rules = rules.chain(self.collection()).chain(self.observations()).chain(self.smallest_values());
        for Rule { first, relation, second, reason } in rules {
            if !relation.holds(first.1, second.1) {
                return Err(ConfigError::Contradiction {
                    first: first.0,
                    first_value: first.1.to_string(),
                    relation: relation.as_str(),
                    second: second.0,
                    second_value: second.1.to_string(),
                    reason,
                });
            }
        }
        Ok(())
    }

    fn leases_and_timers(&self) -> [Rule; 9] {
        use Relation::{AtLeast, AtMost, AtMostHalf, LessThan};
        let rule = |first, relation, second, reason| Rule { first, relation, second, reason };
        [
            rule(
                ("worker.heartbeat_ms", self.worker.heartbeat_ms),
                AtMostHalf,
                ("worker.lease_ms", self.worker.lease_ms),
                "a lease must survive one lost heartbeat, so twice the heartbeat has to fit into it",
            ),
            rule(
                ("relay.poll_interval_ms", self.relay.poll_interval_ms),
                LessThan,
                ("relay.lease_ms", self.relay.lease_ms),
                "a row that no notification told of would wait longer than for the takeover from a dead relay",
            ),
            rule(
                ("reconciler.poll_interval_ms", self.reconciler.poll_interval_ms),
                AtMost,
                ("reconciler.remind_after_ms", self.reconciler.remind_after_ms),
                "nothing can be found sooner than it is looked for",
            ),
            rule(
                ("worker.poll_interval_ms", self.worker.poll_interval_ms),
                LessThan,
                ("reconciler.remind_after_ms", self.reconciler.remind_after_ms),
                "the worker's own timer should find a due job before its command is written again",
            ),
            rule(
                ("database.export.acquire_timeout_ms", self.database.export.acquire_timeout_ms),
                LessThan,
                ("api.request_timeout_ms", self.api.request_timeout_ms),
                "a request must be told that there is no connection before it is given up",
            ),
            rule(
                ("api.requests_in_flight_max", self.api.requests_in_flight_max as u64),
                AtMost,
                ("api.connections_max", self.api.connections_max as u64),
                "a connection carries one request at a time, so more in flight could never be refused",
            ),
            rule(
                ("notifier.retry_delay_ms", self.notifier.retry_delay_ms),
                AtMost,
                ("notifier.retry_delay_max_ms", self.notifier.retry_delay_max_ms),
                "the first wait cannot be longer than the longest one",
            ),
            rule(
                ("reconciler.partitions_ahead_days", u64_of(self.reconciler.partitions_ahead_days.into())),
                AtMost,
                ("the most days that can be made ahead", PARTITIONS_AHEAD_DAYS_MAX),
                "the database refuses more",
            ),
            rule(
                ("notifier.send_deadline_ms", self.notifier.send_deadline_ms),
                AtLeast,
                ("the shortest deadline", 1000),
                "a healthy mail server may take a second",
            ),
        ]
    }

    fn watchers(&self) -> [Rule; 2] {
        let watchers = ("api.watchers_max", self.api.watchers_max as u64);
        [
            Rule {
                first: watchers,
                relation: Relation::AtMost,
                second: ("api.connections_max", self.api.connections_max as u64),
                reason: "each of them holds a connection",
            },
            Rule {
                first: ("api.watchers_per_tenant_max", self.api.watchers_per_tenant_max as u64),
                relation: Relation::AtMost,
                second: watchers,
                reason: "one tenant cannot have more than all of them",
            },
        ]
    }

    fn observations(&self) -> [Rule; 2] {
        let seen_in_time = |key, after_ms| Rule {
            first: ("relay.observe_interval_ms", self.relay.observe_interval_ms),
            relation: Relation::AtMost,
            second: (key, after_ms),
            reason: "nothing can be found sooner than it is looked for",
        };
        [
            seen_in_time("relay.cursor_standing_after_ms", self.relay.cursor_standing_after_ms),
            seen_in_time("relay.cleaning_held_back_after_ms", self.relay.cleaning_held_back_after_ms),
        ]
    }

    fn retention(&self) -> [Rule; 2] {
        let days = u64_of(self.reconciler.outbox_retention_days.into());
        [
            Rule {
                first: ("reconciler.outbox_retention_days", days),
                relation: Relation::AtMost,
                second: ("the most days that can be kept", OUTBOX_RETENTION_DAYS_MAX),
                reason: "the database refuses more",
            },
            Rule {
                first: ("reconciler.outbox_retention_days, in hours", days.saturating_mul(HOURS_OF_A_DAY)),
                relation: Relation::AtLeast,
                second: ("notifier.retry_term_hours", self.notifier.retry_term_hours),
                reason: "the timeline of an export reads the outbox, and must be whole while its mail is still being tried",
            },
        ]
    }

    fn collection(&self) -> [Rule; 4] {
        use Relation::{AtLeast, AtMost};
        let collect_after_hours = self.reconciler.collect_after_hours;
        let beyond_every_lease = COLLECT_AFTER_HOURS_MIN * MS_OF_AN_HOUR + self.worker.lease_ms;
        [
            Rule {
                first: ("api.result_retention_hours", self.api.result_retention_hours),
                relation: AtMost,
                second: ("the longest time that a result is kept", RESULT_RETENTION_HOURS_MAX),
                reason: "0 keeps it until somebody deletes it",
            },
            Rule {
                first: ("reconciler.collect_after_hours", collect_after_hours),
                relation: AtLeast,
                second: ("the longest attempt and its uploads, in hours", COLLECT_AFTER_HOURS_MIN),
                reason: "whoever wrote the file could still be at it",
            },
            Rule {
                first: (
                    "reconciler.collect_after_hours, in milliseconds",
                    collect_after_hours.saturating_mul(MS_OF_AN_HOUR),
                ),
                relation: AtLeast,
                second: ("worker.lease_ms and the longest attempt with its uploads", beyond_every_lease),
                reason: "whoever wrote the file could still hold its job",
            },
            Rule {
                first: ("reconciler.condemned_for_minutes", self.reconciler.condemned_for_minutes),
                relation: AtLeast,
                second: ("twice the longest life of a link to a file, in minutes", CONDEMNED_FOR_MINUTES_MIN),
                reason: "somebody could just have been sent to the file",
            },
        ]
    }

    fn connections_and_leases(&self) -> [Rule; 3] {
        let lease = |key, lease_ms| Rule {
            first: (key, lease_ms),
            relation: Relation::AtLeast,
            second: ("the shortest lease", LEASE_MS_MIN),
            reason: "a shorter one is lost to any slow answer of the database",
        };
        [
            Rule {
                first: (
                    "database.export.pool_connections_max",
                    self.database.export.pool_connections_max as u64,
                ),
                relation: Relation::TwoMoreThanTwice,
                second: ("worker.slots", self.worker.slots as u64),
                reason: "an attempt holds a connection for its work and one for its heartbeat, and claiming two more",
            },
            lease("worker.lease_ms", self.worker.lease_ms),
            lease("relay.lease_ms", self.relay.lease_ms),
        ]
    }

    fn smallest_values(&self) -> Vec<Rule> {
        let pools = [
            ("database.export.pool_connections_max", &self.database.export),
            ("database.search.pool_connections_max", &self.database.search),
            ("database.stats.pool_connections_max", &self.database.stats),
            ("database.notify.pool_connections_max", &self.database.notify),
        ];
        let pools = pools.map(|(key, database)| (key, database.pool_connections_max as u64));
        let values = [
            ("api.body_bytes_max", self.api.body_bytes_max as u64),
            ("api.connections_max", self.api.connections_max as u64),
            ("api.header_timeout_ms", self.api.header_timeout_ms),
            ("api.stall_timeout_ms", self.api.stall_timeout_ms),
            ("api.requests_in_flight_max", self.api.requests_in_flight_max as u64),
            ("api.watchers_per_tenant_max", self.api.watchers_per_tenant_max as u64),
            ("relay.poll_interval_ms", self.relay.poll_interval_ms),
            ("relay.observe_interval_ms", self.relay.observe_interval_ms),
            ("relay.page_rows", u64_of(self.relay.page_rows)),
            ("relay.page_bytes_max", self.relay.page_bytes_max as u64),
            ("relay.batch_bytes_max", self.relay.batch_bytes_max as u64),
            ("worker.slots", self.worker.slots as u64),
            ("worker.heartbeat_ms", self.worker.heartbeat_ms),
            ("worker.poll_interval_ms", self.worker.poll_interval_ms),
            ("reconciler.poll_interval_ms", self.reconciler.poll_interval_ms),
            ("reconciler.batch_jobs_max", u64_of(self.reconciler.batch_jobs_max)),
            ("reconciler.partitions_ahead_days", u64_of(self.reconciler.partitions_ahead_days.into())),
            ("reconciler.outbox_retention_days", u64_of(self.reconciler.outbox_retention_days.into())),
            ("notifier.poll_interval_ms", self.notifier.poll_interval_ms),
            ("notifier.concurrency", self.notifier.concurrency as u64),
            ("notifier.attempts_max", u64_of(self.notifier.attempts_max.into())),
            ("notifier.retry_term_hours", self.notifier.retry_term_hours),
        ];
        pools
            .into_iter()
            .chain(values)
            .map(|first| Rule {
                first,
                relation: Relation::AtLeast,
                second: ("the smallest value", 1),
                reason: "with less nothing would ever be done",
            })
            .collect()
    }

    fn one_form_of_each_secret(&self) -> Result<(), ConfigError> {
        let logins = &self.credentials;
        let smtp = &self.notifier.smtp;
        let webhook = &self.notifier.webhook;
        let secrets = [
            ("credentials.api.password", &logins.api.password, &logins.api.password_file),
            ("credentials.relay.password", &logins.relay.password, &logins.relay.password_file),
            ("credentials.worker.password", &logins.worker.password, &logins.worker.password_file),
            ("credentials.search.password", &logins.search.password, &logins.search.password_file),
            ("credentials.stats.password", &logins.stats.password, &logins.stats.password_file),
            ("credentials.notifier.password", &logins.notifier.password, &logins.notifier.password_file),
            (
                "credentials.reconciler.password",
                &logins.reconciler.password,
                &logins.reconciler.password_file,
            ),
            ("notifier.smtp.password", &smtp.password, &smtp.password_file),
            ("notifier.webhook.signing_secret", &webhook.signing_secret, &webhook.signing_secret_file),
        ];
        match secrets.into_iter().find(|(_, value, file)| value.is_some() && file.is_some()) {
            Some((key, _, _)) => Err(ConfigError::SecretTwice { key }),
            None => Ok(()),
        }
    }
}

/// A negative number is smaller than every bound.
fn u64_of(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
