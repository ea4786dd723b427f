//! One Kafka node of the clone's own: broker and controller in one process, in KRaft mode.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;

use crate::error::{DevstackError, OnPath};
use crate::layout::Layout;
use crate::maven::Jars;
use crate::ports::Ports;
use crate::program::find_java;
use crate::ready::{dial, wait_ready};
use crate::service::ServiceFile;
use crate::undertaking::Undertaking;

/// Up in 4 s at 300 MB with this: a broker of a few records does not earn back the second compiler.
const QUICK_START: &str = "-XX:TieredStopAtLevel=1";

const JAVA_OPTIONS: [&str; 5] = [
    "-Xmx512m",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
    "-Dorg.slf4j.simpleLogger.showThreadName=false",
];

/// What the broker says of itself once it serves.
const STARTED: &str = "Kafka Server started";

/// The tools that `./dev kafka` knows, as the scripts of Kafka's own download call them.
const TOOLS: [(&str, &str); 14] = [
    ("acls", "org.apache.kafka.tools.AclCommand"),
    ("broker-api-versions", "org.apache.kafka.tools.BrokerApiVersionsCommand"),
    ("configs", "kafka.admin.ConfigCommand"),
    ("console-consumer", "org.apache.kafka.tools.consumer.ConsoleConsumer"),
    ("console-producer", "org.apache.kafka.tools.ConsoleProducer"),
    ("consumer-groups", "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"),
    ("delete-records", "org.apache.kafka.tools.DeleteRecordsCommand"),
    ("features", "org.apache.kafka.tools.FeatureCommand"),
    ("get-offsets", "org.apache.kafka.tools.GetOffsetShell"),
    ("groups", "org.apache.kafka.tools.GroupsCommand"),
    ("log-dirs", "org.apache.kafka.tools.LogDirsCommand"),
    ("metadata-quorum", "org.apache.kafka.tools.MetadataQuorumCommand"),
    ("topics", "org.apache.kafka.tools.TopicCommand"),
    ("transactions", "org.apache.kafka.tools.TransactionsCommand"),
];

/// The node of one stack.
#[derive(Clone, Debug)]
pub struct Kafka {
    dir: PathBuf,
    jars: Jars,
    service: ServiceFile,
    port: u16,
    controller_port: u16,
    under_load: bool,
    detour: Option<Detour>,
    beside: Option<Beside>,
    properties: String,
}

/// The node whose cluster this one is part of, without being a controller.
#[derive(Clone, Debug)]
struct Beside {
    controller_port: u16,
    cluster_id: String,
}

/// A second listener for clients, and the address under which they are told of it.
#[derive(Clone, Copy, Debug)]
struct Detour {
    port: u16,
    advertised_port: u16,
}

impl Kafka {
    /// The stack's node, running or not. Chooses its ports when it has none.
    ///
    /// # Errors
    /// When the ports cannot be kept.
    pub fn of(layout: &Layout, ports: &mut Ports, jars: Jars) -> Result<Self, DevstackError> {
        let service = ServiceFile::of(layout, "kafka");
        let runs = service.running().is_some();
        let mut port_of = |name| ports.get(name).filter(|_| runs).map_or_else(|| ports.take(name), Ok);
        let (port, controller_port) = (port_of("kafka")?, port_of("kafka-controller")?);
        let dir = layout.dir().join("kafka");
        Ok(Self {
            dir,
            jars,
            service,
            port,
            controller_port,
            under_load: false,
            detour: None,
            beside: None,
            properties: String::new(),
        })
    }

    /// To be measured: the broker's own code is compiled as well as Java can.
    #[must_use]
    pub fn under_load(mut self) -> Self {
        self.under_load = true;
        self
    }

    /// With a second listener, whose clients are told to come by way of this port of loopback: whoever listens there
    /// decides what of it reaches the broker. Gives where that listener is.
    ///
    /// # Errors
    /// When its port cannot be kept.
    pub fn with_detour(
        mut self,
        ports: &mut Ports,
        advertised_port: u16,
    ) -> Result<(Self, u16), DevstackError> {
        let port = ports.take("kafka-detour")?;
        self.detour = Some(Detour { port, advertised_port });
        Ok((self, port))
    }

    /// With further properties, as lines of their own.
    #[must_use]
    pub fn with_properties(mut self, lines: &str) -> Self {
        self.properties.push_str(lines);
        self.properties.push('\n');
        self
    }

    /// As the second broker of another node's cluster. That node must have been started before.
    ///
    /// # Errors
    /// When the other node's storage cannot be read.
    pub fn beside(mut self, first: &Self) -> Result<Self, DevstackError> {
        let path = first.dir.join("data").join("meta.properties");
        let text = fs::read_to_string(&path).on("read", &path)?;
        let cluster_id = text.lines().find_map(|line| line.strip_prefix("cluster.id=")).unwrap_or_default();
        self.beside =
            Some(Beside { controller_port: first.controller_port, cluster_id: cluster_id.to_owned() });
        Ok(self)
    }

    /// One of Kafka's own tools with this node's jars. None when there is no such tool.
    #[must_use]
    pub fn own_tool(&self, name: &str) -> Option<Command> {
        Self::tool(&self.jars, name)
    }

    /// What runs, if it runs.
    #[must_use]
    pub fn service(&self) -> &ServiceFile {
        &self.service
    }

    /// `host:port` for clients.
    #[must_use]
    pub fn bootstrap(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Starts it unless it runs, formatting its storage first when there is none. Gives whether it had to.
    ///
    /// # Errors
    /// When Java is missing or Kafka refuses.
    pub fn start(&self, undertaking: &Undertaking) -> Result<bool, DevstackError> {
        if self.service.running().is_some() {
            return Ok(false);
        }
        fs::create_dir_all(&self.dir).on("make", &self.dir)?;
        let data = self.dir.join("data");
        if !data.exists() {
            self.format(undertaking, &data)?;
        }
        let properties = self.write_properties("server.properties", &data)?;
        let mut command = self.java("kafka.Kafka", !self.under_load);
        command.arg(properties).current_dir(&self.dir);
        undertaking.start(&mut command, &self.service, Signal::SIGTERM)?;
        Ok(true)
    }

    /// Waits until it has said that it serves, and answers a client.
    ///
    /// # Errors
    /// When it ends or takes too long.
    pub fn wait_ready(&self) -> Result<(), DevstackError> {
        wait_ready(&self.service, || self.has_started() && answers_api_versions(self.port).is_ok())
    }

    /// One of Kafka's own tools: `topics`, `consumer-groups`, … None when there is no such tool.
    #[must_use]
    pub fn tool(jars: &Jars, name: &str) -> Option<Command> {
        let wanted = name.trim_start_matches("kafka-").trim_end_matches(".sh");
        let (_, class) = TOOLS.iter().find(|(known, _)| *known == wanted)?;
        let mut command = Command::new(find_java());
        command.args([
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        ]);
        command.args(["-cp", &jars.class_path(), class]);
        Some(command)
    }

    /// The names of the tools.
    pub fn tools() -> impl Iterator<Item = &'static str> {
        TOOLS.iter().map(|(name, _)| *name)
    }

    /// Formats under another name and renames when it is complete.
    fn format(&self, undertaking: &Undertaking, data: &Path) -> Result<(), DevstackError> {
        let partial = self.dir.join("data.partial");
        if partial.exists() {
            fs::remove_dir_all(&partial).on("remove", &partial)?;
        }
        undertaking.remove_when_interrupted(&partial);
        let properties = self.write_properties("format.properties", &partial)?;
        let remedy = "install a Java 17 or later, for example `apt-get install openjdk-17-jre-headless`";
        let mut format = self.java("kafka.tools.StorageTool", true);
        format.arg("format");
        if let Some(beside) = &self.beside {
            format.args(["--cluster-id", &beside.cluster_id]);
        } else {
            let mut id = self.java("kafka.tools.StorageTool", true);
            id.arg("random-uuid");
            let id = undertaking.run(&mut id, "Kafka's StorageTool", remedy)?;
            format.args(["--standalone", "--cluster-id", id.lines().last().unwrap_or_default().trim()]);
        }
        format.arg("--config").arg(&properties);
        undertaking.run(&mut format, "Kafka's StorageTool", remedy)?;
        fs::remove_file(&properties).on("remove", &properties)?;
        fs::rename(&partial, data).on("complete", data)
    }

    fn java(&self, class: &str, quick_start: bool) -> Command {
        let mut command = Command::new(find_java());
        command.args(JAVA_OPTIONS);
        if quick_start {
            command.arg(QUICK_START);
        }
        command.args(["-cp", &self.jars.class_path(), class]);
        command
    }

    fn write_properties(&self, name: &str, data: &Path) -> Result<PathBuf, DevstackError> {
        let port = self.port;
        let (roles, node, controller, own) = match &self.beside {
            None => {
                let own = format!(",CONTROLLER://127.0.0.1:{}", self.controller_port);
                ("broker,controller", 1, self.controller_port, own)
            }
            Some(first) => ("broker", 2, first.controller_port, String::new()),
        };
        let on_detour = |port: fn(&Detour) -> u16| {
            self.detour
                .as_ref()
                .map(|detour| format!(",DETOUR://127.0.0.1:{}", port(detour)))
                .unwrap_or_default()
        };
        let (detour, advertised) =
            (on_detour(|detour| detour.port), on_detour(|detour| detour.advertised_port));
        let text = format!(
            "\
process.roles={roles}
node.id={node}
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners=CLIENTS://127.0.0.1:{port}{own}{detour}
advertised.listeners=CLIENTS://127.0.0.1:{port}{advertised}
inter.broker.listener.name=CLIENTS
controller.listener.names=CONTROLLER
listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT,DETOUR:PLAINTEXT
log.dirs={}
# A topic that nobody declared is a mistake, not a topic.
auto.create.topics.enable=false
# One node, so one replica, and few partitions for what Kafka keeps for itself.
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=16777216
{}",
            data.display(),
            self.properties
        );
        let path = self.dir.join(name);
        fs::write(&path, text).on("write", &path)?;
        Ok(path)
    }

    fn has_started(&self) -> bool {
        fs::read_to_string(self.service.log()).is_ok_and(|log| log.contains(STARTED))
    }
}

/// Asks for ApiVersions in version 0, the one request that every Kafka answers, whatever it has come to speak since.
fn answers_api_versions(port: u16) -> io::Result<()> {
    const API_VERSIONS: i16 = 18;
    const CORRELATION: i32 = 0x77_61_79;
    let mut request = Vec::new();
    request.extend_from_slice(&API_VERSIONS.to_be_bytes());
    request.extend_from_slice(&0i16.to_be_bytes());
    request.extend_from_slice(&CORRELATION.to_be_bytes());
    request.extend_from_slice(&(-1i16).to_be_bytes());
    let mut stream = dial(port)?;
    stream.write_all(&10i32.to_be_bytes())?;
    stream.write_all(&request)?;
    let mut answer = [0; 10];
    stream.read_exact(&mut answer)?;
    let right = answer[4..8] == CORRELATION.to_be_bytes() && answer[8..10] == [0, 0];
    if right { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, "not Kafka's answer")) }
}
