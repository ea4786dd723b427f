//! What clones share: things that are the same for all of them and slow to fetch.

use std::env;
use std::path::PathBuf;

/// `$XDG_CACHE_HOME/waybill`, or `~/.cache/waybill`.
#[must_use]
pub fn cache_dir() -> PathBuf {
    let named = env::var_os("XDG_CACHE_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let home = || env::home_dir().unwrap_or_else(env::temp_dir).join(".cache");
    named.unwrap_or_else(home).join("waybill")
}
