//! What one invocation has started, so that an interrupt can take all of it back.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal as Unix, SignalKind, signal};

use crate::error::{DevstackError, OnPath};
use crate::service::{Running, ServiceFile};

/// How many lines of a failed program's output are shown.
const OUTPUT_LINES: usize = 40;

/// How long an interrupted child may take before it is killed.
const CHILD_END_MAX: Duration = Duration::from_secs(5);

/// The exit code of an invocation that was interrupted, as a shell gives it for SIGINT.
const INTERRUPTED: i32 = 130;

/// What this invocation has started: children that it waits for, services that outlive it once it is done, and
/// folders that are of no use half made.
#[derive(Clone, Debug, Default)]
pub struct Undertaking {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    interrupted: bool,
    children: Vec<Pid>,
    services: Vec<ServiceFile>,
    folders: Vec<PathBuf>,
}

impl Undertaking {
    /// An undertaking that takes everything back and ends the process on SIGINT, SIGTERM or SIGHUP.
    ///
    /// Signals are caught and not blocked: a child would inherit what is blocked, and then never end when asked to.
    #[must_use]
    pub fn begin() -> Self {
        let undertaking = Self::default();
        let this = undertaking.clone();
        let watched = SignalWatch::begin().map(|watch| {
            thread::spawn(move || {
                watch.wait();
                eprintln!("\ninterrupted");
                this.take_back();
                std::process::exit(INTERRUPTED);
            })
        });
        if let Err(error) = watched {
            eprintln!("signals cannot be caught ({error}): an interrupt would leave things behind");
        }
        undertaking
    }

    /// Runs a program to its end, silently unless it fails. `remedy` says what to do when it is not there.
    ///
    /// # Errors
    /// When the program is missing or fails; the error then holds the end of what it wrote.
    pub fn run(
        &self,
        command: &mut Command,
        name: &'static str,
        remedy: &'static str,
    ) -> Result<String, DevstackError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.spawn(command, name, remedy)?;
        let errors = child.stderr.take().map(|pipe| thread::spawn(move || read_all(pipe)));
        let output = child.stdout.take().map(read_all).unwrap_or_default();
        let errors = errors.and_then(|reader| reader.join().ok()).unwrap_or_default();
        let status = self.wait(child, name)?;
        if status.success() {
            return Ok(output);
        }
        let both = format!("{output}{errors}");
        let lines: Vec<&str> = both.lines().collect();
        let tail = lines[lines.len().saturating_sub(OUTPUT_LINES)..].join("\n");
        Err(DevstackError::Failed { program: name.to_owned(), status: status.to_string(), output: tail })
    }

    /// Runs a program to its end with this invocation's own output, and gives how it ended.
    ///
    /// # Errors
    /// When the program is missing.
    pub fn run_visibly(
        &self,
        command: &mut Command,
        name: &'static str,
        remedy: &'static str,
    ) -> Result<ExitStatus, DevstackError> {
        command.stdin(Stdio::null());
        let child = self.spawn(command, name, remedy)?;
        self.wait(child, name)
    }

    /// Runs a program and hands on every line of its standard output as it comes.
    ///
    /// # Errors
    /// When the program is missing.
    pub fn run_by_line(
        &self,
        command: &mut Command,
        name: &'static str,
        mut each: impl FnMut(&str),
    ) -> Result<ExitStatus, DevstackError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = self.spawn(command, name, "is it built?")?;
        if let Some(pipe) = child.stdout.take() {
            BufReader::new(pipe).lines().map_while(Result::ok).for_each(|line| each(&line));
        }
        self.wait(child, name)
    }

    /// Starts a program that outlives this invocation: in a process group of its own, without a terminal, its output
    /// in the service's log, its pid in the service's file.
    ///
    /// # Errors
    /// When the program is missing, or its log or file cannot be written.
    pub fn start(
        &self,
        command: &mut Command,
        service: &ServiceFile,
        stop_signal: Signal,
    ) -> Result<Running, DevstackError> {
        let log = File::create(service.log()).on("write", service.log())?;
        let errors = log.try_clone().on("write", service.log())?;
        command.stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
        let program = command.get_program().to_string_lossy().into_owned();
        let mut inner = self.open()?;
        let child = command.spawn().on("start", Path::new(&program))?;
        let pid = Pid::from_raw(child.id().cast_signed());
        inner.services.push(service.clone());
        // While this invocation lives it is the parent, and only a parent's wait makes a dead child gone.
        thread::spawn(move || {
            let mut child = child;
            let _ = child.wait();
        });
        service.write(pid, &program, stop_signal)
    }

    /// Removes the folder when this invocation is interrupted.
    pub fn remove_when_interrupted(&self, folder: &Path) {
        self.lock().folders.push(folder.to_owned());
    }

    /// What was started stays from now on: the invocation has got where it wanted.
    pub fn keep(&self) {
        let mut inner = self.lock();
        inner.services.clear();
        inner.folders.clear();
    }

    /// Gives way to an interrupt that is under way: that one takes everything back and then ends the process. To be
    /// called before the process ends otherwise, whose end would cut the taking back short.
    pub fn give_way_to_interrupt(&self) {
        // The lock is held for as long as things are taken back, and the mark is set before the first of them.
        if self.lock().interrupted {
            loop {
                thread::park();
            }
        }
    }

    /// Stops and removes everything that this invocation has started and not kept.
    pub fn take_back(&self) {
        let mut inner = self.lock();
        inner.interrupted = true;
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            for &child in &inner.children {
                // Already over is as good.
                let _ = killpg(child, signal);
            }
            if signal == Signal::SIGTERM && !inner.children.is_empty() {
                await_groups(&inner.children);
            }
        }
        for service in inner.services.drain(..).rev() {
            match service.stop() {
                Ok(_) => eprintln!("stopped {}", service.name),
                Err(error) => eprintln!("cannot stop {}: {error}", service.name),
            }
        }
        for folder in inner.folders.drain(..) {
            let _ = fs::remove_dir_all(folder);
        }
    }

    /// In a process group of its own, so that an interrupt reaches the program's own children too.
    fn spawn(
        &self,
        command: &mut Command,
        name: &'static str,
        remedy: &'static str,
    ) -> Result<Child, DevstackError> {
        command.process_group(0);
        // Held over the start, so that an interrupt finds either nothing or a child that it knows.
        let mut inner = self.open()?;
        match command.spawn() {
            Ok(child) => {
                inner.children.push(Pid::from_raw(child.id().cast_signed()));
                Ok(child)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(DevstackError::Missing { program: name, remedy })
            }
            Err(source) => Err(DevstackError::Io { what: "start", path: name.into(), source }),
        }
    }

    fn wait(&self, mut child: Child, name: &str) -> Result<ExitStatus, DevstackError> {
        let status = child.wait().on("wait for", Path::new(name));
        let pid = Pid::from_raw(child.id().cast_signed());
        self.lock().children.retain(|&known| known != pid);
        status
    }

    fn open(&self) -> Result<MutexGuard<'_, Inner>, DevstackError> {
        let inner = self.lock();
        if inner.interrupted { Err(DevstackError::Interrupted) } else { Ok(inner) }
    }

    /// A thread that panicked has left nothing half done in these lists.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The signals that end an invocation.
struct SignalWatch {
    runtime: Runtime,
    signals: [Unix; 3],
}

impl SignalWatch {
    /// From here on the signals are caught.
    fn begin() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let signals = {
            let _inside = runtime.enter();
            [
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            ]
        };
        Ok(Self { runtime, signals })
    }

    fn wait(self) {
        let [mut interrupt, mut terminate, mut hangup] = self.signals;
        self.runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
        });
    }
}

/// Waits until no process of these groups is left, or the time is over.
fn await_groups(groups: &[Pid]) {
    let deadline = std::time::Instant::now() + CHILD_END_MAX;
    while std::time::Instant::now() < deadline && groups.iter().any(|&group| killpg(group, None).is_ok()) {
        thread::sleep(Duration::from_millis(20));
    }
}

fn read_all(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    // What could be read is what is shown.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
