use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};

/// `[management]`: `/livez`, `/readyz` and `/metrics`, for whoever runs the process and not for callers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Management {
    /// Address and port; port 0 takes a free one, which the log names.
    pub listen: SocketAddr,
}

impl Default for Management {
    fn default() -> Self {
        Self { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 9464)) }
    }
}
