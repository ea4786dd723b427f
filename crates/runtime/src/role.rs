use std::fmt;

/// One part of Waybill that a process can run. Its name is also the command's word, a log field and a metric label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Answers callers over HTTP; the only listener that they see.
    Api,
    /// Sends the outbox's rows to Kafka.
    Relay,
    /// Runs exports.
    Worker,
    /// Projects facts into what can be searched.
    Search,
    /// Projects facts into counters.
    Stats,
    /// Tells people and systems outside.
    Notifier,
    /// Looks for what nothing has moved in time.
    Reconciler,
}

impl Role {
    /// Every role, in the order of an export's way.
    pub const ALL: &'static [Self] =
        &[Self::Api, Self::Relay, Self::Worker, Self::Search, Self::Stats, Self::Notifier, Self::Reconciler];

    /// The role's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Relay => "relay",
            Self::Worker => "worker",
            Self::Search => "search",
            Self::Stats => "stats",
            Self::Notifier => "notifier",
            Self::Reconciler => "reconciler",
        }
    }

    /// The login role in Postgres whose grants this role has, also its `application_name`.
    #[must_use]
    pub const fn database_user(self) -> &'static str {
        match self {
            Self::Api => "waybill_api",
            Self::Relay => "waybill_relay",
            Self::Worker => "waybill_worker",
            Self::Search => "waybill_search",
            Self::Stats => "waybill_stats",
            Self::Notifier => "waybill_notifier",
            Self::Reconciler => "waybill_reconciler",
        }
    }

    /// The schemas that this role reads or writes, and whose version it must know before it does.
    #[must_use]
    pub const fn schemas(self) -> &'static [Schema] {
        match self {
            Self::Api => &[Schema::Export, Schema::Outbox, Schema::Search, Schema::Stats, Schema::Notify],
            Self::Relay => &[Schema::Outbox],
            Self::Worker | Self::Reconciler => &[Schema::Export, Schema::Outbox],
            Self::Search => &[Schema::Search],
            Self::Stats => &[Schema::Stats],
            Self::Notifier => &[Schema::Notify],
        }
    }

    /// The schemas without which this role cannot begin. It looks itself at what else [`Self::schemas`] has.
    #[must_use]
    pub const fn required_schemas(self) -> &'static [Schema] {
        match self {
            // Whoever cannot be told what was found can still be told what was accepted.
            Self::Api => &[Schema::Export, Schema::Outbox],
            Self::Relay | Self::Worker | Self::Search | Self::Stats | Self::Notifier | Self::Reconciler => {
                self.schemas()
            }
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A Postgres schema that a role connects to. Each can live in a database of its own, but for `outbox`, whose rows
/// commit together with `export`'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Schema {
    /// Tenants, intents, jobs, attempts, candidates.
    Export,
    /// The events to be relayed; always in the database of `export`.
    Outbox,
    /// The search projection.
    Search,
    /// The statistics projection.
    Stats,
    /// Notifications and their attempts.
    Notify,
}

impl Schema {
    /// Every schema.
    pub const ALL: &'static [Self] = &[Self::Export, Self::Outbox, Self::Search, Self::Stats, Self::Notify];

    /// The schema's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Export => "export",
            Self::Outbox => "outbox",
            Self::Search => "search",
            Self::Stats => "stats",
            Self::Notify => "notify",
        }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
