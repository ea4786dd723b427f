//! Where this invocation works: which clone, and whose servers.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use waybill_devstack::Layout;

use crate::command::UsageError;

/// The clone, its `.dev/`, and servers that somebody else runs, if they were named.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) layout: Layout,
    pub(crate) external: Option<External>,
}

/// An administrator's Postgres and a Kafka that this clone uses and never starts or stops.
#[derive(Clone, Debug)]
pub(crate) struct External {
    pub(crate) postgres_url: String,
    pub(crate) kafka_bootstrap: String,
}

impl Place {
    /// `./dev` has changed to the clone's root.
    pub(crate) fn here() -> Result<Self> {
        let root = env::current_dir().context("cannot tell where this is")?;
        if !root.join("ops/dev/kafka/pom.xml").is_file() {
            bail!("{} is no clone of Waybill: start this by its ./dev", root.display());
        }
        Ok(Self { layout: Layout::of_clone(&root)?, external: External::from_env()? })
    }

    /// A private stack of this clone, for tests.
    pub(crate) fn private(&self, name: &str) -> Result<Self> {
        let layout = Layout::private(self.layout.clone_root(), name)?;
        Ok(Self { layout, external: self.external.clone() })
    }

    pub(crate) fn root(&self) -> &Path {
        self.layout.clone_root()
    }

    /// A copy of the built `waybill`, because another clone may share the folder that cargo builds in.
    pub(crate) fn binary(&self) -> PathBuf {
        self.layout.dir().join("bin/waybill")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.layout.dir().join("waybill.toml")
    }

    /// The database's name: this clone's own on a server that it may share.
    pub(crate) fn database(&self) -> String {
        match self.external {
            Some(_) => format!("waybill_{}", self.layout.key()),
            None => "waybill".to_owned(),
        }
    }

    /// What every topic and consumer group begins with: this clone's own on a broker that it may share.
    pub(crate) fn topic_prefix(&self) -> String {
        match self.external {
            Some(_) => format!("dev-{}.", self.layout.key()),
            None => String::new(),
        }
    }
}

impl External {
    fn from_env() -> Result<Option<Self>> {
        let named = |name| env::var(name).ok().filter(|value| !value.is_empty());
        match (named("WAYBILL_POSTGRES_URL"), named("WAYBILL_KAFKA_BOOTSTRAP")) {
            (None, None) => Ok(None),
            (Some(postgres_url), Some(kafka_bootstrap)) => Ok(Some(Self { postgres_url, kafka_bootstrap })),
            _ => bail!(UsageError(
                "set both WAYBILL_POSTGRES_URL and WAYBILL_KAFKA_BOOTSTRAP, or neither".into()
            )),
        }
    }
}
