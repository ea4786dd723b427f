//! A Kafka broker of one's own, for a test that freezes or kills it, or loses what it says.

use std::path::Path;

use nix::sys::signal::Signal;
use rdkafka::admin::{AdminOptions, AlterConfig, NewTopic, ResourceSpecifier, TopicReplication};
use waybill_devstack::{Kafka, fetch};

use crate::bounded::eventually;
use crate::kafka::{Record, admin, has_topic, read_from};
use crate::own::{Premises, gone, signal, stop};
use crate::wire::Wire;

/// A broker that no other test uses. Stopped and removed when this goes out of scope.
pub struct PrivateBroker {
    kafka: Kafka,
    premises: Premises,
}

impl PrivateBroker {
    /// Starts one and waits until it answers.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start() -> Self {
        let (kafka, premises) = place();
        let broker = Self { kafka, premises };
        broker.run();
        broker
    }

    /// Starts one with further lines of `server.properties`.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start_with(properties: &str) -> Self {
        let (kafka, premises) = place();
        let broker = Self { kafka: kafka.with_properties(properties), premises };
        broker.run();
        broker
    }

    /// Starts a second one in this one's cluster. It must end before this one.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn joined_with(&self, properties: &str) -> Self {
        let (kafka, premises) = place();
        let kafka = kafka.with_properties(properties).beside(&self.kafka);
        let broker = Self { kafka: kafka.unwrap_or_else(|error| panic!("{error}")), premises };
        broker.run();
        broker
    }

    /// Runs one of Kafka's own tools against it, and gives what it says.
    ///
    /// # Panics
    /// When there is no such tool, or it fails.
    pub async fn tool(&self, name: &str, arguments: &[&str]) -> String {
        let mut tool = self.kafka.own_tool(name).unwrap_or_else(|| panic!("there is no tool {name}"));
        tool.args(["--bootstrap-server", &self.bootstrap()]).args(arguments);
        let ran = tokio::task::spawn_blocking(move || tool.output()).await;
        match ran {
            Ok(Ok(output)) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
            other => panic!("{name} {arguments:?}: {other:?}"),
        }
    }

    /// Starts one with a second way to it, which can be made to lose what goes over it.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_behind_a_wire() -> (Self, Wire) {
        Self::start_behind_a_wire_with("").await
    }

    /// The same with further lines of `server.properties`.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_behind_a_wire_with(properties: &str) -> (Self, Wire) {
        let (kafka, premises) = place();
        let (wire, ready) = Wire::open().await;
        let detour = kafka.with_detour(&mut premises.ports(), wire.port());
        let (kafka, port) = detour.unwrap_or_else(|error| panic!("{error}"));
        ready.leads_to(port);
        let broker = Self { kafka: kafka.with_properties(properties), premises };
        broker.run();
        (broker, wire)
    }

    /// Starts it again after a [`PrivateBroker::kill`], on the same log.
    ///
    /// # Panics
    /// When it does not start.
    pub fn run(&self) {
        self.kafka.start(&self.premises.undertaking).unwrap_or_else(|error| panic!("{error}"));
        self.kafka.wait_ready().unwrap_or_else(|error| panic!("{error}"));
    }

    /// Where it answers, as `bootstrap.servers` wants it.
    #[must_use]
    pub fn bootstrap(&self) -> String {
        self.kafka.bootstrap()
    }

    /// Makes a topic with so many partitions.
    ///
    /// # Panics
    /// When it refuses.
    pub async fn create_topic(&self, name: &str, partitions: i32) {
        let topic = NewTopic::new(name, partitions, TopicReplication::Fixed(1));
        let made = admin(&self.bootstrap()).create_topics([&topic], &AdminOptions::new()).await;
        let made = made.unwrap_or_else(|error| panic!("cannot create {name}: {error}"));
        assert!(made.iter().all(Result::is_ok), "{made:?}");
    }

    /// Deletes a topic with all that it holds, and waits until no client is told of it any more.
    ///
    /// # Panics
    /// When it refuses.
    pub async fn delete_topic(&self, name: &str) {
        let deleted = admin(&self.bootstrap()).delete_topics(&[name], &AdminOptions::new()).await;
        let deleted = deleted.unwrap_or_else(|error| panic!("cannot delete {name}: {error}"));
        assert!(deleted.iter().all(Result::is_ok), "{deleted:?}");
        eventually("the topic is gone", async || (!has_topic(&self.bootstrap(), name).await).then_some(()))
            .await;
    }

    /// Sets this property of a topic. Every other one that it had is taken back.
    ///
    /// # Panics
    /// When it refuses.
    pub async fn configure_topic(&self, name: &str, property: &str, value: &str) {
        let change = AlterConfig::new(ResourceSpecifier::Topic(name)).set(property, value);
        let changed = admin(&self.bootstrap()).alter_configs([&change], &AdminOptions::new()).await;
        let changed = changed.unwrap_or_else(|error| panic!("cannot configure {name}: {error}"));
        assert!(changed.iter().all(Result::is_ok), "{changed:?}");
    }

    /// Every record of a topic when its end is reached, by partition and offset.
    ///
    /// # Panics
    /// When it cannot be read in time.
    pub async fn read_to_end(&self, topic: &str) -> Vec<Record> {
        read_from(&self.bootstrap(), topic).await
    }

    /// Sends SIGKILL and waits until it is gone.
    ///
    /// # Panics
    /// When it does not run.
    pub async fn kill(&self) {
        signal(self.kafka.service(), Signal::SIGKILL);
        gone(self.kafka.service()).await;
    }

    /// Sends SIGSTOP: its connections stay open, and nothing answers on them any more.
    ///
    /// # Panics
    /// When it does not run.
    pub fn freeze(&self) {
        signal(self.kafka.service(), Signal::SIGSTOP);
    }

    /// Lets a frozen one go on.
    ///
    /// # Panics
    /// When it does not run.
    pub fn thaw(&self) {
        signal(self.kafka.service(), Signal::SIGCONT);
    }
}

fn place() -> (Kafka, Premises) {
    let premises = Premises::fresh("broker");
    let pom = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ops/dev/kafka/pom.xml");
    let fetched = fetch(&premises.undertaking, "kafka", &pom);
    let (jars, _) = fetched.unwrap_or_else(|error| panic!("{error}"));
    let kafka = Kafka::of(&premises.layout, &mut premises.ports(), jars);
    (kafka.unwrap_or_else(|error| panic!("{error}")), premises)
}

impl Drop for PrivateBroker {
    fn drop(&mut self) {
        stop(self.kafka.service());
    }
}
