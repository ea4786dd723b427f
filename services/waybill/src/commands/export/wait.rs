//! `waybill export wait`: follows an export until it ends.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use tokio::time::error::Elapsed;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::super::{CommandError, text};
use super::duration;
use crate::client::{Client, Wait, codes};
use crate::exit::Exit;
use crate::output::Output;

/// The least time between two looks.
const LOOK_INTERVAL_MS: u64 = 200;

/// How long the api may take to answer a look after which nothing is new.
const LOOK_SECONDS_MAX: u64 = 15;

pub(super) async fn run(
    client: &Client,
    export_id: &str,
    seconds_max: u64,
    output: &Output,
) -> Result<(), CommandError> {
    let mut away = None;
    let following = follow(client, export_id, Progress::new(output), &mut away);
    let ended = timeout(Duration::from_secs(seconds_max), following).await;
    let export = ended.map_err(|elapsed| timed_out(export_id, seconds_max, elapsed, away))??;
    output.answer(&export, line)?;
    if export["state"] == "succeeded" {
        return Ok(());
    }
    let message = format!("{export_id} is {}", text::of(&export["state"]));
    let failure = &export["failure"];
    let hint = match failure["code"].as_str() {
        Some(code) => format!("{}; docs/errors/{code}.md says more", text::of(&failure["detail"])),
        None => format!("waybill export show {export_id}"),
    };
    Err(CommandError::new(Exit::Failed, codes::EXPORT_UNSUCCESSFUL, message).with_hint(hint))
}

/// The time is over: while the export was under way, or while the api was away and nobody could say.
fn timed_out(
    export_id: &str,
    seconds_max: u64,
    elapsed: Elapsed,
    away: Option<CommandError>,
) -> CommandError {
    let message = format!("{export_id} did not end within {seconds_max} s");
    let error = match away {
        Some(away) => CommandError::new(away.exit, codes::WAIT_TIMED_OUT, message).with_source(away),
        None => CommandError::new(Exit::Failed, codes::WAIT_TIMED_OUT, message).with_source(elapsed),
    };
    error.with_hint(format!("waybill export show {export_id}"))
}

/// Looks until the export has come to rest. A quarantined one has: it waits for a person. An api that is away, as it
/// is while it is being replaced, ends no wait; `away` holds the latest look's error until a look is answered again.
async fn follow(
    client: &Client,
    export_id: &str,
    mut progress: Progress,
    away: &mut Option<CommandError>,
) -> Result<Value, CommandError> {
    let path = format!("/v1/exports/{export_id}");
    // A look is answered when there is something new; the interval only bounds how often an api is asked that lets nobody wait.
    let mut looks = interval(Duration::from_millis(LOOK_INTERVAL_MS));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut etag, mut said) = (None, false);
    loop {
        looks.tick().await;
        let wait = Wait { etag: etag.as_deref(), seconds: LOOK_SECONDS_MAX };
        let changed = match client.changed(&path, &wait).await {
            Ok(changed) => changed,
            Err(error) if error.exit == Exit::Unavailable => {
                if !said {
                    progress.say(&format!("{error}; looking on until the time is over"));
                    said = true;
                }
                *away = Some(error);
                continue;
            }
            Err(error) => {
                progress.end();
                return Err(error);
            }
        };
        *away = None;
        let Some(changed) = changed else { continue };
        progress.show(&changed.body);
        if !matches!(changed.body["state"].as_str(), Some("pending" | "running")) {
            progress.end();
            return Ok(changed.body);
        }
        etag = changed.etag;
    }
}

fn line(export: &Value) -> String {
    let state = text::of(&export["state"]);
    let result = &export["result"];
    match (result["rows"].as_i64(), result["bytes"].as_i64()) {
        (Some(rows), Some(bytes)) => format!("{state}  {rows} rows  {}", duration::bytes(bytes)),
        _ => state,
    }
}

/// Progress on stderr: a bar for a person, a line a change for a log, nothing for a script.
enum Progress {
    Bar(ProgressBar),
    Lines { last: String },
    None,
}

impl Progress {
    fn new(output: &Output) -> Self {
        if output.json {
            return Self::None;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines { last: String::new() };
        }
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(Duration::from_millis(100));
        Self::Bar(bar)
    }

    fn show(&mut self, export: &Value) {
        let state = text::of(&export["state"]);
        let progress = &export["progress"];
        let done = progress["rows_done"].as_u64();
        let total = progress["rows_estimated"].as_u64().filter(|total| *total > 0);
        match self {
            Self::Bar(bar) => show_bar(bar, state, done, total),
            Self::Lines { last } => {
                let line = match (done, total) {
                    (Some(done), Some(total)) => format!("{state}  {done} of about {total} rows"),
                    (Some(done), None) => format!("{state}  {done} rows"),
                    (None, _) => state,
                };
                if line != *last {
                    eprintln!("{line}");
                    *last = line;
                }
            }
            Self::None => {}
        }
    }

    fn say(&self, text: &str) {
        match self {
            Self::Bar(bar) => bar.suspend(|| eprintln!("{text}")),
            Self::Lines { .. } => eprintln!("{text}"),
            Self::None => {}
        }
    }

    fn end(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn show_bar(bar: &ProgressBar, state: String, done: Option<u64>, total: Option<u64>) {
    // An estimate that was passed says nothing any more.
    let total = total.filter(|total| done.is_none_or(|done| done <= *total));
    let style = match total {
        Some(_) => "{msg} [{bar:40}] {pos} of about {len} rows, {per_sec}, {eta} to go",
        None => "{spinner} {msg} {pos} rows, {elapsed}",
    };
    // The position first: a tick may draw in between.
    bar.set_position(done.unwrap_or(0));
    bar.set_message(state);
    if bar.length() != total || total.is_none() {
        if let Some(total) = total {
            bar.set_length(total);
        }
        // A style that does not parse would be seen by the first person who waits.
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
    }
}
