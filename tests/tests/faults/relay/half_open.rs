//! Row 49: connections to Postgres that carry nothing any more, though nobody says so, under a relay as it is configured by
//! default.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;
use waybill_testkit::{Loss, Process, Proxy, Settings, within};

use super::scene::Scene;

/// A half-open connection is found so soon.
const FOUND_WITHIN: Duration = Duration::from_secs(15);

/// What a connection of the relay does, by the beginning of the statement that only it runs.
struct Purpose {
    name: &'static str,
    statement: &'static str,
}

const PURPOSES: [Purpose; 4] = [
    Purpose {
        name: "reads",
        statement: include_str!("../../../../crates/outbox/src/window/sql/pending.sql"),
    },
    Purpose { name: "moves", statement: include_str!("../../../../crates/outbox/src/window/sql/drain.sql") },
    Purpose { name: "renews", statement: include_str!("../../../../crates/outbox/src/window/sql/renew.sql") },
    Purpose { name: "listens", statement: "LISTEN waybill_outbox" },
];

/// A relay whose every way to Postgres goes through a proxy.
struct Exposed {
    scene: Scene,
    proxy: Proxy,
    relay: Process,
    written: i64,
}

impl Exposed {
    async fn new() -> Self {
        Self::with(|settings| settings).await
    }

    async fn with(change: impl FnOnce(Settings) -> Settings) -> Self {
        let scene = Scene::by_default(1).await;
        let proxy = Proxy::before(&scene.database).await;
        let scene = scene.with(|settings| change(settings.set("database.export.url", proxy.url())));
        let relay = scene.relay();
        Self { scene, proxy, relay, written: 0 }
    }

    /// A row that is committed now arrives.
    async fn works(&mut self) {
        self.written += 1;
        self.scene.write(self.written).await;
        self.scene.drained().await;
    }

    /// The ports of the relay's connections that last did this.
    async fn ports(&self, purpose: &Purpose) -> Vec<u16> {
        let looked = "SELECT client_port FROM pg_stat_activity
                      WHERE datname = current_database() AND usename = 'waybill_relay'
                          AND starts_with(query, left($1, 200))";
        let found = self.scene.admin.query(looked, &[&purpose.statement]).await.expect("the sessions");
        found.iter().map(|row| u16::try_from(row.get::<_, i32>(0)).expect("a port")).collect()
    }

    /// Waits until one that is none of these has done it. Rows go on meanwhile, so that there is something to do.
    async fn another(&mut self, purpose: &Purpose, known: &[u16]) -> u16 {
        loop {
            self.works().await;
            if let Some(port) = self.ports(purpose).await.into_iter().find(|port| !known.contains(port)) {
                return port;
            }
        }
    }
}

/// Cuts the connections of these purposes, or all that there are, and waits until others have taken their place and
/// everything flows.
async fn are_replaced(purposes: &[Purpose], are_all_cut: bool) {
    let mut exposed = Exposed::new().await;
    let mut cut = Vec::new();
    for purpose in purposes {
        cut.push(within(purpose.name, exposed.another(purpose, &[])).await);
    }
    if are_all_cut {
        exposed.proxy.cut_all();
    } else {
        cut.iter().for_each(|port| exposed.proxy.cut(*port));
    }
    let names: Vec<&str> = purposes.iter().map(|purpose| purpose.name).collect();
    let found = timeout(FOUND_WITHIN, async {
        for purpose in purposes {
            exposed.another(purpose, &cut).await;
        }
    });
    assert!(found.await.is_ok(), "not replaced: what {names:?}:\n{}", exposed.relay.log().tail());
    exposed.works().await;
    assert_eq!(exposed.scene.fence().await, 1, "the lease was lost with what {names:?}");
    let ledger = exposed.scene.is_whole().await;
    assert_eq!(i64::try_from(ledger.events()), Ok(exposed.written));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_connection_that_carries_nothing_any_more_is_found_and_the_lease_is_kept() {
    let each = PURPOSES.chunks(1).map(|purpose| are_replaced(purpose, false));
    join_all(each.chain([are_replaced(&PURPOSES, true)])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_beside_the_work_that_is_never_answered_is_asked_again() {
    let mut exposed = Exposed::with(|settings| settings.set("relay.observe_interval_ms", 1_000)).await;
    let which_topic = include_str!("../../../../crates/outbox/src/hold/sql/recorded_id.sql");
    exposed.proxy.lose(Loss::Silently, which_topic.as_bytes());
    exposed.written += 1;
    exposed.scene.write(exposed.written).await;
    exposed.proxy.lost().await;
    let arrives = timeout(FOUND_WITHIN, exposed.scene.drained()).await;
    assert!(arrives.is_ok(), "nobody asked again:\n{}", exposed.relay.log().tail());

    let what_waits = include_str!("../../../../crates/outbox/src/status/position.sql");
    exposed.proxy.lose(Loss::Silently, what_waits.as_bytes());
    exposed.proxy.lost().await;
    exposed.proxy.lose(Loss::Message, what_waits.as_bytes());
    exposed.proxy.lost().await;
    exposed.works().await;
    assert_eq!(exposed.scene.fence().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_relays_the_one_that_is_cut_off_acts_no_more_and_stands_by_once_it_is_back() {
    let mut exposed = Exposed::new().await;
    exposed.works().await;
    let Exposed { scene, proxy, relay, .. } = exposed;
    let direct = scene.database.plain_url();
    let scene = scene.with(|settings| settings.set("database.export.url", direct));
    let standby = scene.relay();
    standby.listening("management").await;

    proxy.darken();
    scene.write_all(2..=4).await;
    let fence = scene.taken_after(1).await;
    scene.drained().await;
    assert_eq!(scene.is_whole().await.repetitions(), 0);
    relay.logged("lease late").await;
    relay.logged_code("degraded", "relay-database-failing").await;
    let of_first = "SELECT coalesce(max(last_seq), 0) FROM outbox.batches WHERE fence = 1";
    assert_eq!(scene.number(of_first).await, 1, "it moved the cursor though it was cut off");

    proxy.lighten();
    relay.logged_code("recovered", "relay-database-failing").await;
    assert_eq!(scene.fence().await, fence, "it stands by");
    standby.terminate().await;
    scene.taken_after(fence).await;
    scene.write(5).await;
    scene.drained().await;
    assert_eq!(scene.is_whole().await.events(), 5);
}
