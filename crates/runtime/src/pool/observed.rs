//! The pools of this process, for the metrics that are read when somebody asks.

use std::sync::{Mutex, PoisonError};

use deadpool_postgres::{Pool, WeakPool};

use crate::metrics::CONNECTIONS;
use crate::role::{Role, Schema};

struct Observed {
    role: Role,
    schema: Schema,
    pool: WeakPool,
}

static POOLS: Mutex<Vec<Observed>> = Mutex::new(Vec::new());

pub(super) fn add(role: Role, schema: Schema, pool: &Pool) {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.push(Observed { role, schema, pool: pool.weak() });
}

/// Sets the gauges. A pool that is gone is forgotten.
pub(crate) fn observe() {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.retain(|observed| observed.pool.upgrade().is_some());
    let mut sums = std::collections::BTreeMap::<_, (usize, usize)>::new();
    for observed in pools.iter() {
        let Some(pool) = observed.pool.upgrade() else { continue };
        let status = pool.status();
        let sum = sums.entry((observed.role, observed.schema)).or_default();
        sum.0 += status.available;
        sum.1 += status.size.saturating_sub(status.available);
    }
    for ((role, schema), (idle, used)) in sums {
        for (state, count) in [("idle", idle), ("used", used)] {
            let labels = [("role", role.as_str()), ("schema", schema.as_str()), ("state", state)];
            #[expect(clippy::cast_precision_loss, reason = "a pool holds far fewer than 2^52 connections")]
            metrics::gauge!(CONNECTIONS.name, &labels).set(count as f64);
        }
    }
}
