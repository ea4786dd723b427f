use std::io::IsTerminal;

use serde::Serialize;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Ok,
    Warn,
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    level: Level,
    /// What was looked at: `postgres export as relay`.
    subject: String,
    /// What was seen.
    detail: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    #[serde(skip)]
    unreachable: bool,
}

/// Everything that was looked at, in order.
#[derive(Debug, Default, Serialize)]
pub(super) struct Findings {
    findings: Vec<Finding>,
}

impl Findings {
    /// Nothing to do.
    pub(super) fn ok(&mut self, subject: impl Into<String>, detail: impl Into<String>) {
        self.add(Level::Ok, subject.into(), detail.into(), None);
    }

    /// Works, and should be looked at.
    pub(super) fn warn(
        &mut self,
        subject: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Level::Warn, subject.into(), detail.into(), Some(remedy.into()));
    }

    /// Does not work.
    pub(super) fn fail(
        &mut self,
        subject: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Level::Fail, subject.into(), detail.into(), Some(remedy.into()));
    }

    /// Cannot be reached, so that nothing can be said about what is behind it.
    pub(super) fn away(
        &mut self,
        subject: impl Into<String>,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.fail(subject, detail, remedy);
        if let Some(finding) = self.findings.last_mut() {
            finding.unreachable = true;
        }
    }

    fn add(&mut self, level: Level, subject: String, detail: String, remedy: Option<String>) {
        self.findings.push(Finding { level, subject, detail, remedy, unreachable: false });
    }

    pub(super) fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }

    /// Whether something could not be reached at all.
    pub(super) fn unreachable(&self) -> bool {
        self.findings.iter().any(|finding| finding.unreachable)
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let color = std::io::stdout().is_terminal();
        let mut text = String::new();
        for finding in &self.findings {
            let (mark, paint) = match finding.level {
                Level::Ok => ("ok  ", "\x1b[32m"),
                Level::Warn => ("warn", "\x1b[33m"),
                Level::Fail => ("FAIL", "\x1b[31m"),
            };
            let (paint, plain) = if color { (paint, "\x1b[0m") } else { ("", "") };
            text.push_str(&format!("{paint}{mark}{plain}  {}: {}\n", finding.subject, finding.detail));
            if let Some(remedy) = &finding.remedy {
                text.push_str(&format!("      → {remedy}\n"));
            }
        }
        let (ok, warn, fail) = (self.count(Level::Ok), self.count(Level::Warn), self.count(Level::Fail));
        text.push_str(&format!("{ok} ok, {warn} to look at, {fail} failing\n"));
        text
    }
}
