//! Tells people and systems about outcomes, over mail and webhooks.
//!
//! One consumer group turns facts into rows of `notify.notifications`; a sender takes them one attempt at a time; a
//! watch finds what never reported back. What nobody knows is called unknown and stays so: `docs/notifications.md` says
//! what is and is not promised. Deliberately absent: a retry on a guess, and any way in for a replay.

mod address;
mod attempt;
mod boot_clock;
mod channels;
mod claim;
pub mod codes;
mod guarded_stream;
mod intents;
mod limits;
mod mail;
mod metrics;
mod outcome;
mod render;
mod report;
mod retry;
mod run;
mod secret;
mod sender;
mod settings;
mod smtp;
mod watch;
mod webhook;

pub use address::GuardedResolver;
pub use attempt::settle;
pub use boot_clock::Deadline;
pub use channels::Channels;
pub use intents::Intents;
pub use limits::Limits;
pub use metrics::METRICS;
pub use outcome::{Ending, MailPhase, Outcome, Phase, WebhookPhase, outcome};
pub use render::{Content, render};
pub use report::{Report, Sent};
pub use retry::{Fault, Policy, Tries};
pub use run::{Error, GROUP, run};
pub use secret::tenant_webhook_secret;
pub use sender::Sender;
pub use settings::{Pace, SettingsError};
pub use smtp::{MailServer, Tls};
pub use watch::{SWEEP_GRACE_MS, Watch, WatchError};
pub use webhook::WebhookSender;
