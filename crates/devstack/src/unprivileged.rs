//! Postgres refuses to run as root: who it runs as then, and where its data lies.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::{User, geteuid};

use crate::error::{DevstackError, OnPath};
use crate::layout::Layout;

/// The accounts that a cluster of root's may run as, the first one that the system knows.
const ACCOUNTS: [&str; 2] = ["postgres", "nobody"];

/// Where root's clusters lie, one folder a stack: the clone itself may be in a folder that the account cannot enter.
const ROOTS_CLUSTERS: &str = "/var/lib/waybill-dev";

/// Whom the cluster belongs to, and in which folder.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) dir: PathBuf,
    account: Option<(u32, u32)>,
    pointer: PathBuf,
}

impl Home {
    /// Finds the stack's home, and makes nothing.
    pub(crate) fn of(layout: &Layout) -> Result<Self, DevstackError> {
        let pointer = layout.dir().join("postgres.dir");
        if !geteuid().is_root() {
            return Ok(Self { dir: layout.dir().join("postgres"), account: None, pointer });
        }
        let user = ACCOUNTS.iter().find_map(|name| User::from_name(name).ok().flatten());
        let user = user.ok_or(DevstackError::Missing {
            program: "an account for Postgres",
            remedy: "Postgres refuses to run as root: make a user called postgres",
        })?;
        let dir = Path::new(ROOTS_CLUSTERS).join(layout.key());
        Ok(Self { dir, account: Some((user.uid.as_raw(), user.gid.as_raw())), pointer })
    }

    /// Whether this stack has made its home. A folder without the stack's pointer to it was left by an earlier clone
    /// in the same place.
    pub(crate) fn is_ours(&self) -> bool {
        self.account.is_none() || self.pointer.exists()
    }

    pub(crate) fn make(&self) -> Result<(), DevstackError> {
        fs::create_dir_all(&self.dir).on("make", &self.dir)?;
        fs::set_permissions(&self.dir, fs::Permissions::from_mode(0o700)).on("protect", &self.dir)?;
        if let Some((uid, gid)) = self.account {
            chown(&self.dir, Some(uid), Some(gid)).on("hand over", &self.dir)?;
            fs::write(&self.pointer, format!("{}\n", self.dir.display())).on("write", &self.pointer)?;
        }
        Ok(())
    }

    /// Writes a file that only the cluster's account can read.
    pub(crate) fn write_secret(&self, name: &str, text: &str) -> Result<PathBuf, DevstackError> {
        let path = self.dir.join(name);
        fs::write(&path, text).on("write", &path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).on("protect", &path)?;
        if let Some((uid, gid)) = self.account {
            chown(&path, Some(uid), Some(gid)).on("hand over", &path)?;
        }
        Ok(path)
    }

    /// The program, to be run as the account, in a folder that it can enter.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.dir).env("HOME", &self.dir);
        if let Some((uid, gid)) = self.account {
            command.uid(uid).gid(gid);
        }
        command
    }

    pub(crate) fn remove(&self) -> Result<(), DevstackError> {
        if self.dir.exists() {
            fs::remove_dir_all(&self.dir).on("remove", &self.dir)?;
        }
        if self.pointer.exists() {
            fs::remove_file(&self.pointer).on("remove", &self.pointer)?;
        }
        Ok(())
    }
}
