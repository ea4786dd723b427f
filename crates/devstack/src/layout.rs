//! Where a clone keeps what its stack needs.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{DevstackError, OnPath};

/// The folders of one stack: `.dev` of the clone, or a folder inside of it for a second, private one.
#[derive(Clone, Debug)]
pub struct Layout {
    clone: PathBuf,
    dir: PathBuf,
}

impl Layout {
    /// The clone's own stack, in `<clone>/.dev`.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn of_clone(clone: &Path) -> Result<Self, DevstackError> {
        let clone = clone.canonicalize().on("find", clone)?;
        let layout = Self { dir: clone.join(".dev"), clone };
        layout.make()?;
        Ok(layout)
    }

    /// A private stack beside the clone's own, in `<clone>/.dev/<name>`.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn private(clone: &Path, name: &str) -> Result<Self, DevstackError> {
        let outer = Self::of_clone(clone)?;
        let layout = Self { dir: outer.dir.join(name), clone: outer.clone };
        layout.make()?;
        Ok(layout)
    }

    fn make(&self) -> Result<(), DevstackError> {
        for folder in [self.dir.clone(), self.logs(), self.run()] {
            fs::create_dir_all(&folder).on("make", &folder)?;
        }
        Ok(())
    }

    /// The clone's root.
    #[must_use]
    pub fn clone_root(&self) -> &Path {
        &self.clone
    }

    /// The stack's own folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// One log file a service.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.dir.join("log")
    }

    /// One file a running service, with its pid.
    #[must_use]
    pub fn run(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// A name for this stack that no other clone on the machine has: 16 hex digits of its path's hash.
    #[must_use]
    pub fn key(&self) -> String {
        hex_of(self.dir.as_os_str().as_encoded_bytes())
    }

    /// Holds the stack for this invocation, so that two never start or stop it at once. Waits for the other one.
    ///
    /// # Errors
    /// When the lock's file cannot be made.
    pub fn lock(&self) -> Result<File, DevstackError> {
        self.lock_named("stack")
    }

    /// As [`Layout::lock_named`], or `None` when another invocation holds it.
    ///
    /// # Errors
    /// When the lock's file cannot be made.
    pub fn try_lock_named(&self, name: &str) -> Result<Option<File>, DevstackError> {
        let path = self.dir.join(format!("{name}.lock"));
        let file = File::options().create(true).append(true).open(&path).on("open", &path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).on("lock", &path),
        }
    }

    /// As [`Layout::lock`], for something else of this clone.
    ///
    /// # Errors
    /// When the lock's file cannot be made.
    pub fn lock_named(&self, name: &str) -> Result<File, DevstackError> {
        let path = self.dir.join(format!("{name}.lock"));
        let file = File::options().create(true).append(true).open(&path).on("open", &path)?;
        file.lock().on("lock", &path)?;
        Ok(file)
    }
}

/// The first 16 hex digits of the SHA-256.
pub(crate) fn hex_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
