//! Who waits for a change of an export, and how they learn of it.
//!
//! However many wait, one task reads how far all of their exports are: at once when something was heard, and every second
//! anyway. What is heard is a hint: polling is the truth, so a lost listener only makes it slower. Whoever watches registers
//! first and reads then, so that no change falls between. Deliberately absent: representations, which each watcher reads for
//! itself once something has changed, with its own rights.

mod listener;
mod poller;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use waybill_domain::ids::{ExportId, TenantId};
use waybill_store::watched::Mark;

pub(crate) use listener::listen;
pub(crate) use poller::poll;

use crate::metrics::EXPORTS_WATCHED;

/// Everybody who watches. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Watching(Arc<Shared>);

struct Shared {
    table: Mutex<Table>,
    bounds: Bounds,
    /// Something may have changed, or somebody has begun to watch.
    stirred: Notify,
    shutdown: CancellationToken,
}

/// How many may watch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// In all.
    pub(crate) watchers_max: usize,
    /// Of one tenant.
    pub(crate) watchers_per_tenant_max: usize,
}

#[derive(Default)]
struct Table {
    exports: HashMap<ExportId, Watched>,
    tenants: HashMap<TenantId, usize>,
    watchers: usize,
}

struct Watched {
    mark: watch::Sender<Option<Mark>>,
    watchers: usize,
}

impl Watching {
    pub(crate) fn new(bounds: Bounds, shutdown: CancellationToken) -> Self {
        let (table, stirred) = (Mutex::new(Table::default()), Notify::new());
        Self(Arc::new(Shared { table, bounds, stirred, shutdown }))
    }

    /// One more watcher, or none where there are as many as may be. It stands until it is dropped.
    pub(crate) fn watch(&self, tenant_id: &TenantId, export_id: &ExportId) -> Option<Watcher> {
        let receiver = {
            let mut table = self.table();
            let of_tenant = table.tenants.get(tenant_id).copied().unwrap_or(0);
            let bounds = self.0.bounds;
            if table.watchers >= bounds.watchers_max || of_tenant >= bounds.watchers_per_tenant_max {
                return None;
            }
            table.watchers += 1;
            table.tenants.insert(tenant_id.clone(), of_tenant + 1);
            let watched = table.exports.entry(export_id.clone());
            let watched = watched.or_insert_with(|| Watched { mark: watch::Sender::new(None), watchers: 0 });
            watched.watchers += 1;
            watched.mark.subscribe()
        };
        metrics::gauge!(EXPORTS_WATCHED).increment(1);
        self.0.stirred.notify_one();
        let (tenant_id, export_id) = (tenant_id.clone(), export_id.clone());
        Some(Watcher { watching: self.clone(), tenant_id, export_id, receiver })
    }

    /// The exports that somebody watches.
    fn watched(&self) -> Vec<ExportId> {
        self.table().exports.keys().cloned().collect()
    }

    /// Tells those who watch this export how far it is, if they do not know.
    fn tell(&self, export_id: &ExportId, mark: Mark) {
        if let Some(watched) = self.table().exports.get(export_id) {
            watched.mark.send_if_modified(|known| known.replace(mark) != Some(mark));
        }
    }

    fn leave(&self, tenant_id: &TenantId, export_id: &ExportId) {
        let mut table = self.table();
        table.watchers -= 1;
        if let Some(watchers) = table.tenants.get_mut(tenant_id) {
            *watchers -= 1;
            if *watchers == 0 {
                table.tenants.remove(tenant_id);
            }
        }
        if let Some(watched) = table.exports.get_mut(export_id) {
            watched.watchers -= 1;
            if watched.watchers == 0 {
                table.exports.remove(export_id);
            }
        }
    }

    /// No statement stands between a lock and its end that could panic, so what a panic left is whole.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who watches an export.
pub(crate) struct Watcher {
    watching: Watching,
    tenant_id: TenantId,
    export_id: ExportId,
    receiver: watch::Receiver<Option<Mark>>,
}

impl Watcher {
    /// Waits until the export is said to be other than `is_known` knows it. `false`: the process ends, and nobody is to wait any
    /// longer. Cancel safe.
    pub(crate) async fn changed(&mut self, is_known: impl Fn(&Mark) -> bool) -> bool {
        let other = self.receiver.wait_for(|mark| mark.as_ref().is_some_and(|mark| !is_known(mark)));
        tokio::select! {
            () = self.watching.0.shutdown.cancelled() => false,
            // The sender stands as long as anybody watches.
            changed = other => changed.is_ok(),
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watching.leave(&self.tenant_id, &self.export_id);
        metrics::gauge!(EXPORTS_WATCHED).decrement(1);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use uuid::Uuid;
    use waybill_domain::job::JobState;

    use super::*;

    fn watching(watchers_max: usize, watchers_per_tenant_max: usize) -> Watching {
        Watching::new(Bounds { watchers_max, watchers_per_tenant_max }, CancellationToken::new())
    }

    fn tenant(number: u128) -> TenantId {
        TenantId::from_uuid(Uuid::from_u128(number))
    }

    fn export(number: u128) -> ExportId {
        ExportId::from_uuid(Uuid::from_u128(number))
    }

    fn mark(version: i64) -> Mark {
        Mark { version, state: JobState::Running, progress: None }
    }

    #[test]
    fn a_tenant_takes_no_more_places_than_its_own_and_all_of_them_no_more_than_there_are() {
        let watching = watching(3, 2);
        let one = watching.watch(&tenant(1), &export(1));
        let two = watching.watch(&tenant(1), &export(1));
        assert!(one.is_some() && two.is_some());
        assert!(watching.watch(&tenant(1), &export(2)).is_none(), "it has its two");
        let three = watching.watch(&tenant(2), &export(3));
        assert!(three.is_some() && watching.watch(&tenant(3), &export(4)).is_none(), "there are three");
        drop((one, two));
        assert!(watching.watch(&tenant(3), &export(4)).is_some());
        drop(three);
        assert!(watching.watched().is_empty(), "nothing is left of those who went");
    }

    #[tokio::test]
    async fn whoever_watches_learns_what_it_does_not_know_and_is_not_woken_by_what_it_does() {
        let watching = watching(2, 2);
        let mut watcher = watching.watch(&tenant(1), &export(1)).unwrap();
        watching.tell(&export(1), mark(1));
        assert!(watcher.changed(|known| *known == mark(1)).now_or_never().is_none());
        watching.tell(&export(2), mark(2));
        assert!(watcher.changed(|known| *known == mark(1)).now_or_never().is_none(), "another one's");
        watching.tell(&export(1), mark(2));
        assert_eq!(watcher.changed(|known| *known == mark(1)).now_or_never(), Some(true));
    }

    #[tokio::test]
    async fn the_end_of_the_process_ends_every_wait() {
        let shutdown = CancellationToken::new();
        let bounds = Bounds { watchers_max: 1, watchers_per_tenant_max: 1 };
        let watching = Watching::new(bounds, shutdown.clone());
        let mut watcher = watching.watch(&tenant(1), &export(1)).unwrap();
        shutdown.cancel();
        assert!(!watcher.changed(|_| true).await);
    }
}
