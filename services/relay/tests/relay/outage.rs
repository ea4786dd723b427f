//! Kafka is away: at the start, in the middle, and when the relay is asked to end.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use waybill_devstack::{Kafka, Layout, Ports, Undertaking, fetch};
use waybill_testkit::{eventually, within};

use crate::fixtures::House;

/// A broker that a test may kill.
struct Broker {
    folder: PathBuf,
    undertaking: Undertaking,
    kafka: Kafka,
}

impl Broker {
    fn start(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("waybill-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let undertaking = Undertaking::default();
        let pom = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ops/dev/kafka/pom.xml");
        let (jars, _) = fetch(&undertaking, "kafka", &pom).expect("Kafka's jars");
        let layout = Layout::of_clone(&folder).expect("a layout");
        let mut ports = Ports::load(&layout).expect("ports");
        let kafka = Kafka::of(&layout, &mut ports, jars).expect("a broker");
        let broker = Self { folder, undertaking, kafka };
        broker.run();
        broker
    }

    fn run(&self) {
        self.kafka.start(&self.undertaking).expect("started");
        self.kafka.wait_ready().expect("ready");
    }

    async fn create_topic(&self, name: &str) {
        let bootstrap = self.kafka.bootstrap();
        let admin: AdminClient<DefaultClientContext> =
            ClientConfig::new().set("bootstrap.servers", bootstrap).create().expect("an admin client");
        let topic = NewTopic::new(name, 3, TopicReplication::Fixed(1));
        let made = admin.create_topics([&topic], &AdminOptions::new()).await.expect("Kafka answers");
        assert!(made.iter().all(Result::is_ok), "{made:?}");
    }

    async fn kill(&self) {
        let running = self.kafka.service().running().expect("it runs");
        kill(Pid::from_raw(running.pid), Signal::SIGKILL).expect("killed");
        let service = self.kafka.service();
        eventually("the broker is gone", async || service.running().is_none().then_some(())).await;
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.kafka.service().stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_drain_after_the_broker_was_killed_with_rows_in_flight() {
    let broker = Broker::start("killed");
    let house = House::new(1).await;
    let settings =
        house.settings().set("kafka.bootstrap", broker.kafka.bootstrap()).set("relay.page_rows", 500);
    broker.create_topic("orders").await;
    let relay = house.relay(&settings);
    let fill = "INSERT INTO outbox.events (topic, key, event_id, header_names, header_values, payload) \
                SELECT 'orders', convert_to((n % 50)::text, 'UTF8'), 'evt', '{}', '{}', convert_to(n::text, 'UTF8') \
                FROM generate_series(1, 10000) AS n";
    house.outbox.run(fill).await;
    let moved = "SELECT coalesce(sum(events), 0)::bigint FROM outbox.batches";
    eventually("some rows are acknowledged", async || (house.outbox.number(moved).await > 0).then_some(()))
        .await;
    broker.kill().await;
    house.outbox.run(fill).await;
    broker.run();
    house.drained().await;
    assert_eq!(house.outbox.number(moved).await, 20_000, "each row was acknowledged once");
    eventually("it is healthy again", async || relay.health.report().reasons.is_empty().then_some(())).await;
    relay.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_away_at_the_start_is_said_and_holds_up_no_shutdown() {
    let house = House::new(1).await;
    // Port 1 is nobody's.
    let relay = house.relay(&house.settings().set("kafka.bootstrap", "127.0.0.1:1"));
    house.write("a", "1").await;
    relay.degraded(waybill_relay::codes::RELAY_DELIVERY_FAILING).await;
    let place = house.outbox.place().await;
    let asked = Instant::now();
    within("the relay ends", relay.end()).await;
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_eq!(house.outbox.place().await, place, "nothing was marked");
    let free = "SELECT (lease_until <= now())::int::bigint FROM outbox.cursors";
    assert_eq!(house.outbox.number(free).await, 1, "the lease was given back");
    let next = house.relay(&house.settings());
    house.drained().await;
    assert_eq!(house.delivered().await, ["1"]);
    next.end().await;
}
