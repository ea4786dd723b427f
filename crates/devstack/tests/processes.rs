//! What a clone starts it can stop, and nothing else.
#![expect(clippy::unwrap_used, reason = "what fails in a fixture fails the test, where it stands")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use nix::sys::signal::Signal;
use waybill_devstack::{Layout, Ports, ServiceFile, Stopped, Undertaking};

/// A folder that stands for a clone, removed at the end.
struct Clone(PathBuf);

impl Clone {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("waybill-devstack-{}", uuid::Uuid::new_v4().simple()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn layout(&self) -> Layout {
        Layout::of_clone(&self.0).unwrap()
    }
}

impl Drop for Clone {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that does nothing for a minute, unless somebody ends it.
fn idle() -> Command {
    let mut command = Command::new("/bin/sleep");
    command.arg("60");
    command
}

/// A process of the test's own, which no service file may ever reach.
struct Bystander(Child);

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_started_service_is_seen_and_stopped_and_then_gone() {
    let clone = Clone::new();
    let service = ServiceFile::of(&clone.layout(), "idle");
    assert_eq!(service.running(), None);
    let undertaking = Undertaking::default();
    let started = undertaking.start(&mut idle(), &service, Signal::SIGTERM).unwrap();
    assert_eq!(service.running(), Some(started));
    assert_eq!(service.stop().unwrap(), Stopped::Ended);
    assert_eq!(service.running(), None);
    assert_eq!(service.stop().unwrap(), Stopped::WasNotRunning);
}

#[test]
fn a_pid_that_has_gone_to_another_process_is_left_alone() {
    let clone = Clone::new();
    let service = ServiceFile::of(&clone.layout(), "idle");
    let mut bystander = Bystander(idle().spawn().unwrap());
    let undertaking = Undertaking::default();
    let ours = undertaking.start(&mut idle(), &service, Signal::SIGTERM).unwrap();
    let file = clone.0.join(".dev/run/idle.json");
    let text = fs::read_to_string(&file).unwrap();
    let reused = text.replace(&ours.pid.to_string(), &bystander.0.id().to_string());
    fs::write(&file, reused.replace("\"started\":\"", "\"started\":\"another ")).unwrap();
    assert_eq!(service.stop().unwrap(), Stopped::WasNotRunning);
    assert!(bystander.0.try_wait().unwrap().is_none(), "a process of somebody else was ended");
    undertaking.take_back();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(ours.pid), Signal::SIGKILL).ok();
}

#[test]
fn what_was_kept_stays_and_what_was_not_is_taken_back() {
    let clone = Clone::new();
    let layout = clone.layout();
    let (kept, taken) = (ServiceFile::of(&layout, "kept"), ServiceFile::of(&layout, "taken"));
    let folder = clone.0.join("half-made");
    let undertaking = Undertaking::default();
    undertaking.start(&mut idle(), &kept, Signal::SIGTERM).unwrap();
    undertaking.keep();
    undertaking.start(&mut idle(), &taken, Signal::SIGTERM).unwrap();
    fs::create_dir_all(&folder).unwrap();
    undertaking.remove_when_interrupted(&folder);
    undertaking.take_back();
    assert_eq!(taken.running(), None);
    assert!(!folder.exists());
    assert!(kept.running().is_some());
    assert!(
        undertaking.start(&mut idle(), &taken, Signal::SIGTERM).is_err(),
        "nothing starts after an interrupt"
    );
    assert_eq!(kept.stop().unwrap(), Stopped::Ended);
}

#[test]
fn an_interrupt_ends_a_child_that_is_waited_for() {
    let undertaking = Undertaking::default();
    let other = undertaking.clone();
    let waiting = std::thread::spawn(move || other.run_visibly(&mut idle(), "sleep", "it is everywhere"));
    // Whether it has started by then or not, it must not go on for its minute.
    undertaking.take_back();
    let ended = waiting.join().unwrap();
    assert!(ended.is_err() || ended.is_ok_and(|status| !status.success()));
}

#[test]
fn two_clones_have_other_ports_and_keep_their_own() {
    let (one, other) = (Clone::new(), Clone::new());
    let take =
        |path: &Path, name: &str| Ports::load(&Layout::of_clone(path).unwrap()).unwrap().take(name).unwrap();
    let ports = [take(&one.0, "kafka"), take(&one.0, "postgres"), take(&other.0, "kafka")];
    assert!(ports[0] != ports[1] && ports[0] != ports[2] && ports[1] != ports[2], "{ports:?}");
    assert_eq!(take(&one.0, "kafka"), ports[0]);
    let taken = std::net::TcpListener::bind(("127.0.0.1", ports[0])).unwrap();
    assert_ne!(take(&one.0, "kafka"), ports[0], "somebody else has it now");
    drop(taken);
}
