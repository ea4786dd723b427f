//! A Postgres cluster of the clone's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::credentials::Credentials;
use crate::error::{DevstackError, OnPath};
use crate::identity;
use crate::layout::Layout;
use crate::ports::Ports;
use crate::program::find_postgres;
use crate::ready::wait_ready;
use crate::service::ServiceFile;
use crate::undertaking::Undertaking;
use crate::unprivileged::Home;

/// The cluster's superuser.
const SUPERUSER: &str = "postgres";

/// macOS knows no C.UTF-8.
const LOCALE: &str = if cfg!(target_os = "linux") { "C.UTF-8" } else { "C" };

/// Every role's pools, the tests' databases, and a person beside them.
const CONNECTIONS_MAX: u32 = 400;

/// Two-phase commit is for tests alone, and off by default.
const PREPARED_TRANSACTIONS_MAX: u32 = 20;

/// Whether a commit survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// As in production.
    Durable,
    /// For tests that start from nothing each time: a process's crash loses nothing, the machine's may.
    Volatile,
}

/// The cluster of one stack.
#[derive(Clone, Debug)]
pub struct Postgres {
    home: Home,
    service: ServiceFile,
    port: u16,
    password: String,
    durability: Durability,
    settings: Vec<String>,
    temporary: bool,
}

impl Postgres {
    /// The stack's cluster, running or not. Chooses its port and password when it has none.
    ///
    /// # Errors
    /// When they cannot be kept, or root finds no account to run it as.
    pub fn of(
        layout: &Layout,
        ports: &mut Ports,
        credentials: &mut Credentials,
        durability: Durability,
    ) -> Result<Self, DevstackError> {
        let service = ServiceFile::of(layout, "postgres");
        let remembered = ports.get("postgres").filter(|_| service.running().is_some());
        let port = remembered.map_or_else(|| ports.take("postgres"), Ok)?;
        let password = credentials.get_or_make("postgres")?;
        let home = Home::of(layout)?;
        Ok(Self { home, service, port, password, durability, settings: Vec::new(), temporary: false })
    }

    /// With one more of the server's settings, as `name=value`.
    #[must_use]
    pub fn with_setting(mut self, setting: &str) -> Self {
        self.settings.push(setting.to_owned());
        self
    }

    /// Of no use beyond this invocation: an interrupt removes its data, however durable that is meanwhile.
    #[must_use]
    pub fn temporary(mut self) -> Self {
        self.temporary = true;
        self
    }

    /// What runs, if it runs.
    #[must_use]
    pub fn service(&self) -> &ServiceFile {
        &self.service
    }

    /// The superuser's URL of the database.
    #[must_use]
    pub fn admin_url(&self, database: &str) -> String {
        format!("postgres://{SUPERUSER}:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }

    /// Makes its cluster as a standby of one that runs, which it follows once it is started. Its logins are then those of
    /// that one.
    ///
    /// # Errors
    /// When it has a cluster already, PostgreSQL is not installed, or the other one refuses.
    pub fn follow(&mut self, primary: &Self, undertaking: &Undertaking) -> Result<(), DevstackError> {
        self.password.clone_from(&primary.password);
        self.home.make()?;
        let bin = find_postgres(primary.major()?)?;
        let mut copy = self.home.command(&bin.join("pg_basebackup"));
        copy.arg("-D").arg(self.data()).args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
        copy.args(["--dbname", &primary.admin_url("postgres")]);
        undertaking.run(&mut copy, "pg_basebackup", "install PostgreSQL 15 or later").map(drop)
    }

    /// Starts it unless it runs, making the cluster first when there is none. Gives whether it had to.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, is of another major version than the data, or refuses.
    pub fn start(&self, undertaking: &Undertaking) -> Result<bool, DevstackError> {
        if self.service.running().is_some() {
            return Ok(false);
        }
        if !self.home.is_ours() {
            self.remove_leftover()?;
        }
        self.home.make()?;
        if self.temporary || self.durability == Durability::Volatile {
            undertaking.remove_when_interrupted(&self.home.dir);
        }
        let data = self.data();
        let bin = if data.exists() { find_postgres(self.major()?)? } else { self.initialise(undertaking)? };
        let mut command = self.home.command(&bin.join("postgres"));
        command.arg("-D").arg(&data).args(["-p", &self.port.to_string()]);
        for setting in self.settings() {
            command.args(["-c", &setting]);
        }
        // SIGINT is Postgres' fast shutdown: it ends sessions, and writes a checkpoint.
        undertaking.start(&mut command, &self.service, Signal::SIGINT)?;
        Ok(true)
    }

    /// Waits until it takes connections.
    ///
    /// # Errors
    /// When it ends or takes too long.
    pub fn wait_ready(&self) -> Result<(), DevstackError> {
        let pg_isready = find_postgres(self.major()?)?.join("pg_isready");
        wait_ready(&self.service, || {
            let mut command = Command::new(&pg_isready);
            command.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            command.stdout(Stdio::null()).status().is_ok_and(|status| status.success())
        })
    }

    /// `psql` as the superuser on the database.
    ///
    /// # Errors
    /// When PostgreSQL is not installed.
    pub fn psql(&self, database: &str) -> Result<Command, DevstackError> {
        let mut command = Command::new(find_postgres(self.major()?)?.join("psql"));
        command
            .env("PGPASSWORD", &self.password)
            .env("PGHOST", "127.0.0.1")
            .env("PGPORT", self.port.to_string());
        command.env("PGUSER", SUPERUSER).env("PGDATABASE", database);
        Ok(command)
    }

    /// Removes the cluster's data. It must not run.
    ///
    /// # Errors
    /// When a file refuses.
    pub fn remove(&self) -> Result<(), DevstackError> {
        self.home.remove()
    }

    /// An earlier clone in the same place was deleted without `./dev reset`: its cluster may even still run.
    fn remove_leftover(&self) -> Result<(), DevstackError> {
        let pid_file = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        if let Some(pid) = pid_file.lines().next().and_then(|line| line.trim().parse().ok()) {
            identity::end_if_it_runs(Pid::from_raw(pid), &self.data().display().to_string(), Signal::SIGINT);
        }
        self.remove()
    }

    fn data(&self) -> PathBuf {
        self.home.dir.join("data")
    }

    /// The major version that made the data, if there is any.
    fn major(&self) -> Result<Option<u32>, DevstackError> {
        let path = self.data().join("PG_VERSION");
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).on("read", &path)?;
        let major = text.trim().parse();
        major.map(Some).map_err(|error| DevstackError::Damaged { path, detail: format!("{text:?}: {error}") })
    }

    /// Makes the cluster under another name and renames it when it is complete.
    fn initialise(&self, undertaking: &Undertaking) -> Result<PathBuf, DevstackError> {
        let bin = find_postgres(None)?;
        let partial = self.home.dir.join("data.partial");
        if partial.exists() {
            fs::remove_dir_all(&partial).on("remove", &partial)?;
        }
        undertaking.remove_when_interrupted(&partial);
        let password = self.home.write_secret("password", &format!("{}\n", self.password))?;
        let made = self.initdb(undertaking, &bin, &partial, &password);
        fs::remove_file(&password).on("remove", &password)?;
        made?;
        fs::rename(&partial, self.data()).on("complete", &self.data())?;
        Ok(bin)
    }

    fn initdb(
        &self,
        undertaking: &Undertaking,
        bin: &Path,
        data: &Path,
        password: &Path,
    ) -> Result<String, DevstackError> {
        let mut initdb = self.home.command(&bin.join("initdb"));
        initdb.arg("-D").arg(data).arg("--pwfile").arg(password);
        initdb.args(["-U", SUPERUSER, "--encoding=UTF8", &format!("--locale={LOCALE}")]);
        initdb.args(["--auth=scram-sha-256", "--no-instructions"]);
        if self.durability == Durability::Volatile {
            initdb.arg("--no-sync");
        }
        undertaking.run(&mut initdb, "initdb", "install PostgreSQL 15 or later")
    }

    /// TCP on loopback and nothing else; small, because a laptop has other things to do.
    fn settings(&self) -> Vec<String> {
        let mut settings = vec![
            "listen_addresses=127.0.0.1".to_owned(),
            "unix_socket_directories=".to_owned(),
            format!("max_connections={CONNECTIONS_MAX}"),
            format!("max_prepared_transactions={PREPARED_TRANSACTIONS_MAX}"),
            "shared_buffers=128MB".to_owned(),
            "log_line_prefix=%m [%p] %u@%d ".to_owned(),
        ];
        if self.durability == Durability::Volatile {
            let off = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];
            settings.extend(off.map(ToOwned::to_owned));
        }
        // Last, because the server takes a setting's last value.
        settings.extend(self.settings.iter().cloned());
        settings
    }
}
