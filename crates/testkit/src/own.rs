//! A folder of devstack's for one server that no other test uses.

use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use uuid::Uuid;
use waybill_devstack::{Layout, Ports, ServiceFile, Undertaking};

use crate::bounded::eventually;

/// Where one server of a test's own lies. Removed when this goes out of scope, which must be after the server has ended.
pub(crate) struct Premises {
    folder: PathBuf,
    pub(crate) layout: Layout,
    pub(crate) undertaking: Undertaking,
}

impl Premises {
    /// A fresh folder for a server of this kind.
    pub(crate) fn fresh(kind: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("waybill-{kind}-{}", Uuid::new_v4().simple()));
        std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let layout = Layout::of_clone(&folder).unwrap_or_else(|error| panic!("{error}"));
        Self { folder, layout, undertaking: Undertaking::default() }
    }

    pub(crate) fn ports(&self) -> Ports {
        Ports::load(&self.layout).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Drop for Premises {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Signals a server that runs.
pub(crate) fn signal(service: &ServiceFile, signal: Signal) {
    let running =
        service.running().unwrap_or_else(|| panic!("{} does not run", Path::new(service.log()).display()));
    kill(Pid::from_raw(running.pid), signal).unwrap_or_else(|error| panic!("{signal}: {error}"));
}

/// Waits until a server has ended.
pub(crate) async fn gone(service: &ServiceFile) {
    eventually("the server is gone", async || service.running().is_none().then_some(())).await;
}

/// Stops a server, also a frozen one, which would not hear that it is to end.
pub(crate) fn stop(service: &ServiceFile) {
    if let Some(running) = service.running() {
        let _ = kill(Pid::from_raw(running.pid), Signal::SIGCONT);
    }
    let _ = service.stop();
}
