//! Row 49: connections to Postgres that carry nothing any more, though nobody says so, under a relay as it is configured by
//! default.

use std::time::Duration;

use tokio::time::timeout;
use waybill_testkit::{Loss, PrivateBroker, Process, Proxy, Settings, eventually, within};

use super::scene::{Scene, append};

/// A half-open connection is found so soon.
const FOUND_WITHIN: Duration = Duration::from_secs(15);

/// So many requests of a producer are on the way at most, one record in each.
const REQUESTS_ON_THE_WAY_MAX: usize = 5;

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
    /// The ports of the connections that were cut. The server knows nothing of it.
    cut: Vec<u16>,
}

impl Exposed {
    async fn new() -> Self {
        Self::with(|settings| settings).await
    }

    async fn with(change: impl FnOnce(Settings) -> Settings) -> Self {
        Self::of(Scene::by_default(1).await, change).await
    }

    async fn of(scene: Scene, change: impl FnOnce(Settings) -> Settings) -> Self {
        let proxy = Proxy::before(&scene.database).await;
        let scene = scene.with(|settings| change(settings.set("database.export.url", proxy.url())));
        let relay = scene.relay();
        Self { scene, proxy, relay, written: 0, cut: Vec::new() }
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

    /// Waits until one that was not cut has done it. Rows go on meanwhile, so that there is something to do.
    async fn does(&mut self, purpose: &Purpose) -> u16 {
        loop {
            self.works().await;
            if let Some(port) = self.ports(purpose).await.into_iter().find(|port| !self.cut.contains(port)) {
                return port;
            }
        }
    }

    /// Cuts the connections of these purposes, or all that there are, and waits until others have taken their place and
    /// everything flows.
    async fn replaces(&mut self, purposes: &[Purpose], are_all_cut: bool) {
        let mut cut = Vec::new();
        for purpose in purposes {
            cut.push(within(purpose.name, self.does(purpose)).await);
        }
        if are_all_cut {
            self.proxy.cut_all();
        } else {
            cut.iter().for_each(|port| self.proxy.cut(*port));
        }
        self.cut.extend(cut);
        let names: Vec<&str> = purposes.iter().map(|purpose| purpose.name).collect();
        let found = timeout(FOUND_WITHIN, async {
            for purpose in purposes {
                self.does(purpose).await;
            }
        });
        let found = found.await;
        assert!(found.is_ok(), "not replaced: what {names:?}:\n{}", self.relay.log().tail());
        self.works().await;
        assert_eq!(self.scene.fence().await, 1, "the lease was lost with what {names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_connection_that_carries_nothing_any_more_is_found_and_the_lease_is_kept() {
    let mut exposed = Exposed::new().await;
    for purpose in PURPOSES.chunks(1) {
        exposed.replaces(purpose, false).await;
    }
    exposed.replaces(&PURPOSES, true).await;
    let ledger = exposed.scene.is_whole().await;
    assert_eq!(i64::try_from(ledger.events()), Ok(exposed.written));
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
    const ROWS: i64 = 20;
    let broker = PrivateBroker::start();
    let scene = Scene::on_broker(&broker, &broker.bootstrap(), 1).await;
    // Each record is a request of its own, so that most rows wait in the relay for the first ones' acknowledgements.
    let mut exposed = Exposed::of(scene, |settings| settings.set("relay.batch_bytes_max", 1)).await;
    exposed.works().await;
    let Exposed { scene, proxy, relay, .. } = exposed;
    broker.freeze();
    let mut writer = scene.database.admin().await;
    let tx = writer.transaction().await.expect("begun");
    for version in 2..=ROWS {
        append(&tx, &scene.topic, "key", version).await;
    }
    tx.commit().await.expect("committed");
    #[expect(clippy::cast_precision_loss, reason = "a few rows")]
    let in_flight = (ROWS - 1) as f64;
    let has_them = async || (relay.metric("waybill_relay_in_flight_rows").await >= in_flight).then_some(());
    eventually("the relay has every row", has_them).await;

    proxy.darken();
    relay.logged("lease late").await;
    relay.logged_code("degraded", "relay-database-failing").await;
    broker.thaw();
    let direct = scene.database.plain_url();
    let scene = scene.with(|settings| settings.set("database.export.url", direct));
    let standby = scene.relay();
    let fence = scene.taken_after(1).await;
    scene.drained().await;
    let repetitions = scene.is_whole_in(&broker.read_to_end(&scene.topic).await).await.repetitions();
    assert!(repetitions <= REQUESTS_ON_THE_WAY_MAX, "{repetitions} rows came twice: it went on sending");
    let of_first = "SELECT coalesce(max(last_seq), 0) FROM outbox.batches WHERE fence = 1";
    assert_eq!(scene.number(of_first).await, 1, "it moved the cursor though it was cut off");

    proxy.lighten();
    relay.logged_code("recovered", "relay-database-failing").await;
    assert_eq!(scene.fence().await, fence, "it stands by");
    standby.terminate().await;
    scene.taken_after(fence).await;
    scene.write(ROWS + 1).await;
    scene.drained().await;
    let ledger = scene.is_whole_in(&broker.read_to_end(&scene.topic).await).await;
    assert_eq!(i64::try_from(ledger.events()), Ok(ROWS + 1));
}
