//! What a rebase does, for scripts and for people.

use serde::Serialize;
use waybill_outbox::rebase::{Grounds, Rebased, TopicRows, Way};

use super::unknown::Unknown;
use crate::output::table;

/// What was done, or would be.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    dry_run: bool,
    /// `continue`, `resend` or `everything`.
    way: &'static str,
    why: Option<&'static str>,
    /// The fence from which the next relay's counts on.
    fence: i64,
    server_before: Option<String>,
    server: String,
    window: Window,
    /// Of before the restore, or without a difference of before and after.
    sent_again: Vec<Rows<'a>>,
    /// Of after it.
    sent_first: Vec<Rows<'a>>,
    /// Of the product's own outbox alone.
    log: Option<&'a Unknown>,
}

#[derive(Debug, Serialize)]
struct Window {
    from: String,
    to: String,
    after_seq: i64,
    floor_seq: i64,
    resend_after_seq: Option<i64>,
}

#[derive(Debug, Serialize)]
struct Rows<'a> {
    topic: &'a str,
    rows: i64,
    first_seq: i64,
    last_seq: i64,
}

impl<'a> Report<'a> {
    pub(super) fn new(rebased: &'a Rebased, log: Option<&'a Unknown>, dry_run: bool) -> Self {
        let window = &rebased.window;
        Self {
            dry_run,
            way: rebased.way.as_str(),
            why: rebased.way.grounds().map(Grounds::as_str),
            fence: rebased.fence + 1,
            server_before: rebased.known.as_ref().map(ToString::to_string),
            server: rebased.found.to_string(),
            window: Window {
                from: window.from.to_string(),
                to: window.to.to_string(),
                after_seq: window.after_seq,
                floor_seq: window.floor_seq,
                resend_after_seq: window.resend_after_seq,
            },
            sent_again: rows(&rebased.before),
            sent_first: rows(&rebased.after),
            log,
        }
    }

    pub(super) fn text(&self) -> String {
        let would = if self.dry_run { "would go on" } else { "goes on" };
        let way = match (self.way == Way::Continue.as_str(), self.why) {
            (true, _) => format!("the relay {would} where it stood"),
            (false, why) => format!(
                "the relay {would} by sending {} of before the restore again, because {}",
                if self.sent_again.is_empty() { "nothing" } else { "rows" },
                why.unwrap_or_default()
            ),
        };
        let before = self.server_before.as_deref().unwrap_or("no server");
        let mut text = format!("{way}\n  from {before}\n  to   {}\n", self.server);
        for (what, rows) in
            [("sent, perhaps again", &self.sent_again), ("sent, written since", &self.sent_first)]
        {
            let cells: Vec<Vec<String>> = rows
                .iter()
                .map(|rows| {
                    let numbers = [rows.rows, rows.first_seq, rows.last_seq].map(|number| number.to_string());
                    [vec![rows.topic.to_owned()], numbers.to_vec()].concat()
                })
                .collect();
            if !cells.is_empty() {
                text.push_str(&format!("\n{}", table(&[what, "rows", "first seq", "last seq"], &cells)));
            }
        }
        match self.log {
            Some(log) => format!("{text}\n{}\n", log.text(self.dry_run)),
            None => text,
        }
    }
}

fn rows(rows: &[TopicRows]) -> Vec<Rows<'_>> {
    let row = |rows: &TopicRows| (rows.rows, rows.first_seq, rows.last_seq);
    rows.iter()
        .map(|of| {
            let (rows, first_seq, last_seq) = row(of);
            Rows { topic: &of.topic, rows, first_seq, last_seq }
        })
        .collect()
}
