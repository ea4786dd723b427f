//! The loopback ports of a stack, chosen once and kept, so that addresses survive a restart.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use crate::error::{DevstackError, OnPath};
use crate::layout::Layout;

/// Below the range that systems take outgoing connections' ports from.
const FIRST_PORT: u16 = 20_000;
const PORT_COUNT: u16 = 10_000;

/// The ports of one stack, as `<stack>/ports.json` holds them.
#[derive(Clone, Debug)]
pub struct Ports {
    path: PathBuf,
    first: u16,
    by_name: BTreeMap<String, u16>,
}

impl Ports {
    /// Reads what was chosen before.
    ///
    /// # Errors
    /// When the file does not read back.
    pub fn load(layout: &Layout) -> Result<Self, DevstackError> {
        let path = layout.dir().join("ports.json");
        let by_name = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| DevstackError::Damaged { path: path.clone(), detail: error.to_string() })?,
            Err(_) => BTreeMap::new(),
        };
        // Each clone begins somewhere else, so that two rarely want the same one.
        let spread = u16::from_str_radix(&layout.key()[..4], 16).unwrap_or(0) % PORT_COUNT;
        Ok(Self { path, first: FIRST_PORT + spread, by_name })
    }

    /// The port that was chosen before, if one was.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u16> {
        self.by_name.get(name).copied()
    }

    /// The port of a listener that is about to start: the one from before if nobody else has taken it meanwhile,
    /// else the next free one.
    ///
    /// # Errors
    /// When the choice cannot be written.
    pub fn take(&mut self, name: &str) -> Result<u16, DevstackError> {
        if let Some(port) = self.get(name).filter(|&port| is_free(port)) {
            return Ok(port);
        }
        let all = (0..PORT_COUNT).map(|step| FIRST_PORT + (self.first - FIRST_PORT + step) % PORT_COUNT);
        let mut free = all.filter(|port| !self.by_name.values().any(|taken| taken == port) && is_free(*port));
        let port = free.next().unwrap_or(0);
        self.by_name.insert(name.to_owned(), port);
        self.save()?;
        Ok(port)
    }

    fn save(&self) -> Result<(), DevstackError> {
        let text = serde_json::to_string_pretty(&self.by_name).unwrap_or_default();
        let partial = self.path.with_extension("partial");
        fs::write(&partial, text).on("write", &partial)?;
        fs::rename(&partial, &self.path).on("complete", &self.path)
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}
