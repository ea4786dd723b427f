//! What every request shares: pools, the object store, the publisher and the bounds.

use std::sync::Arc;

use deadpool_postgres::{Object, Pool};
use jiff::SignedDuration;
use tokio::sync::Semaphore;
use waybill_domain::candidate::Patience;
use waybill_domain::retention::{Kept, RETENTION_SECONDS_MAX, Retention};
use waybill_objects::{Objects, Place};
use waybill_publication::Publisher;
use waybill_runtime::config::RESULT_RETENTION_HOURS_MAX;
use waybill_runtime::{Config, Context, Schema, Sources};
use waybill_store::migrations;

use crate::error::Error;
use crate::lent::Lent;
use crate::problem::Answer;
use crate::versioned::Versioned;
use crate::watching::{Bounds, Watching};

const SECONDS_OF_AN_HOUR: u64 = 60 * 60;

// Whatever the configuration allows can be kept to.
const _: () =
    assert!(RESULT_RETENTION_HOURS_MAX * SECONDS_OF_AN_HOUR <= RETENTION_SECONDS_MAX.cast_unsigned());

/// The state of the router.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

struct Shared {
    config: Arc<Config>,
    export: Pool,
    search: Versioned,
    stats: Versioned,
    notify: Versioned,
    sources: Sources,
    objects: Objects,
    publisher: Publisher,
    in_flight: Semaphore,
    watching: Watching,
}

impl App {
    /// Makes the pools; none of them connects before it is asked to.
    pub(crate) fn new(context: &Context) -> Result<Self, Error> {
        let config = context.config.clone();
        let bounds = Bounds {
            watchers_max: config.api.watchers_max,
            watchers_per_tenant_max: config.api.watchers_per_tenant_max,
        };
        let publisher = Publisher::new(&config.deployment.source, context.topic_prefix())?;
        Ok(Self(Arc::new(Shared {
            export: context.pool(Schema::Export)?,
            search: Versioned::new(migrations::Schema::Search, context.pool(Schema::Search)?),
            stats: Versioned::new(migrations::Schema::Stats, context.pool(Schema::Stats)?),
            notify: Versioned::new(migrations::Schema::Notify, context.pool(Schema::Notify)?),
            sources: context.sources(),
            objects: Place::parse(&config.object_store.url, config.object_store.settings.iter())?
                .to_read()?,
            publisher,
            in_flight: Semaphore::new(config.api.requests_in_flight_max),
            watching: Watching::new(bounds, context.shutdown.clone()),
            config,
        })))
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.config
    }

    /// Until when a result is kept whose owner did not say.
    pub(crate) fn kept(&self) -> Kept {
        // 0, which stands for no end, is no retention.
        let seconds = self.0.config.api.result_retention_hours.saturating_mul(SECONDS_OF_AN_HOUR);
        Retention::from_seconds(seconds.cast_signed()).map_or(Kept::Always, Kept::For)
    }

    /// How long the collector holds back, by the configuration that it has, too.
    pub(crate) fn patience(&self) -> Patience {
        let config = &self.0.config.reconciler;
        let signed = |duration| SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
        Patience {
            collect_after: signed(config.collect_after()),
            condemned_for: signed(config.condemned_for()),
        }
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        &self.0.publisher
    }

    pub(crate) fn objects(&self) -> &Objects {
        &self.0.objects
    }

    /// One permit a request that is being worked on.
    pub(crate) fn in_flight(&self) -> &Semaphore {
        &self.0.in_flight
    }

    /// Who waits for a change of an export.
    pub(crate) fn watching(&self) -> &Watching {
        &self.0.watching
    }

    /// The pool of export and outbox.
    pub(crate) fn export_pool(&self) -> &Pool {
        &self.0.export
    }

    /// The schemas that the api only reads.
    pub(crate) fn read_only(&self) -> [(Schema, &Versioned); 3] {
        let shared = &self.0;
        [(Schema::Search, &shared.search), (Schema::Stats, &shared.stats), (Schema::Notify, &shared.notify)]
    }

    /// A connection to export and outbox.
    pub(crate) async fn export(&self) -> Answer<Lent> {
        Ok(self.0.export.get().await?.into())
    }

    /// A connection to search.
    pub(crate) async fn search(&self) -> Answer<Object> {
        Ok(self.0.search.get().await?)
    }

    /// A connection to stats.
    pub(crate) async fn stats(&self) -> Answer<Object> {
        Ok(self.0.stats.get().await?)
    }

    /// A connection to notify.
    pub(crate) async fn notify(&self) -> Answer<Object> {
        Ok(self.0.notify.get().await?)
    }

    /// The databases that data sets lie in.
    pub(crate) fn sources(&self) -> &Sources {
        &self.0.sources
    }
}
