//! Puts the steps of an export into their order. Pure: what is stored goes in, steps come out.
//!
//! The order is the way of an export, not the clock: `accepted`, `command-acknowledged`, then for each attempt
//! `claimed` and how it went on, then the outcome and its fact, then each downstream, which all follow the fact.

use jiff::Timestamp;
use waybill_domain::attempt::AttemptState;
use waybill_domain::job::FactKind;
use waybill_store::timeline::{AttemptStep, CommandStep};

use super::evidence::Evidence;
use super::step::Step;

/// The steps, reached or not.
pub(super) fn steps(evidence: &Evidence) -> Vec<Step> {
    let mut way =
        Way { accepted: evidence.job.accepted_at, last: Some(evidence.job.accepted_at), steps: Vec::new() };
    let job = &evidence.job;
    let accepted = Step::new("accepted", Some(job.accepted_at), None, job.accepted_at);
    way.steps.push(accepted.with("dataset", job.dataset.as_str()));
    way.work(&evidence.commands, &evidence.attempts);
    way.outcome(evidence);
    way.downstream(evidence);
    way.end_of_result(evidence);
    way.steps
}

struct Way {
    accepted: Timestamp,
    /// When the latest step of the main way was reached.
    last: Option<Timestamp>,
    steps: Vec<Step>,
}

impl Way {
    /// Adds a step of the main way.
    fn push(&mut self, step: &'static str, at: Option<Timestamp>, detail: impl FnOnce(Step) -> Step) {
        self.steps.push(detail(Step::new(step, at, self.last, self.accepted)));
        self.last = at.or(self.last);
    }

    /// The first command, then attempts and later commands as they were written.
    fn work(&mut self, commands: &[CommandStep], attempts: &[AttemptStep]) {
        let (first, mut later) = match commands.split_first() {
            Some((first, later)) => (Some(first), later),
            None => (None, commands),
        };
        self.command(first);
        for attempt in attempts {
            while let Some((command, rest)) =
                later.split_first().filter(|(c, _)| c.created_at <= attempt.claimed_at)
            {
                self.command(Some(command));
                later = rest;
            }
            self.attempt(attempt);
        }
        for command in later {
            self.command(Some(command));
        }
    }

    fn command(&mut self, command: Option<&CommandStep>) {
        let at = command.and_then(|command| command.acknowledged_at);
        self.push("command-acknowledged", at, |step| {
            step.with("command_id", command.map(|command| command.command_id.clone()))
                .with("reason", command.map(|command| command.reason.clone()))
        });
    }

    fn attempt(&mut self, attempt: &AttemptStep) {
        let fence = attempt.fence;
        self.push("claimed", Some(attempt.claimed_at), |step| {
            step.with("number", attempt.number).with("fence", fence).with("worker", attempt.worker.as_str())
        });
        let candidate = attempt.candidate.as_ref();
        let verified_at = candidate.and_then(|candidate| candidate.verified_at);
        if verified_at.is_some() || attempt.state == AttemptState::Running {
            self.push("candidate-verified", verified_at, |step| {
                step.with("fence", fence)
                    .with("rows", candidate.and_then(|candidate| candidate.rows))
                    .with("bytes", candidate.and_then(|candidate| candidate.bytes))
            });
        }
        match attempt.state {
            // How a successful one ends is the outcome, and a running one has not ended.
            AttemptState::Succeeded | AttemptState::Running => {}
            AttemptState::Failed | AttemptState::Lost | AttemptState::Fenced => {
                self.push("attempt-ended", attempt.ended_at, |step| {
                    step.with("number", attempt.number)
                        .with("fence", fence)
                        .with("state", attempt.state.as_str())
                        .with("rows", attempt.rows_done)
                        .with("bytes", attempt.bytes_done)
                        .with("error_code", attempt.error_code.clone())
                });
            }
        }
    }

    fn outcome(&mut self, evidence: &Evidence) {
        let job = &evidence.job;
        let under_way = evidence.attempts.iter().any(|attempt| match attempt.state {
            AttemptState::Running | AttemptState::Succeeded => true,
            AttemptState::Failed | AttemptState::Lost | AttemptState::Fenced => false,
        });
        if !job.lifecycle.state.is_terminal() && !under_way {
            self.push("claimed", None, |step| {
                step.with("number", None::<i32>).with("fence", None::<i64>).with("worker", None::<String>)
            });
            self.push("candidate-verified", None, |step| {
                step.with("fence", None::<i64>).with("rows", None::<i64>).with("bytes", None::<i64>)
            });
        }
        let selected = evidence.attempts.iter().find(|attempt| attempt.state == AttemptState::Succeeded);
        // The outcome was recorded with its fact, in one transaction. `finished_at` stays what it was when the export
        // expires or is deleted, and so does the outcome.
        match evidence.outcome().and_then(|fact| FactKind::parse(&fact.event_type)) {
            Some(FactKind::Failed) => {
                self.push("failed", job.finished_at, |step| step.with("code", job.failure_code.clone()));
            }
            Some(FactKind::Cancelled) => self.push("cancelled", job.finished_at, |step| step),
            None
            | Some(FactKind::Requested | FactKind::Succeeded | FactKind::Expired | FactKind::Deleted) => {
                let at = selected.and_then(|attempt| attempt.ended_at);
                self.push("result-selected", at, |step| {
                    let candidate = selected.and_then(|attempt| attempt.candidate.as_ref());
                    step.with("fence", selected.map(|attempt| attempt.fence))
                        .with("candidate_id", candidate.map(|candidate| candidate.candidate_id.clone()))
                });
            }
        }
        let fact = evidence.outcome();
        self.push("fact-acknowledged", fact.and_then(|fact| fact.acknowledged_at), |step| {
            step.with("event_id", fact.map(|fact| fact.event_id.clone()))
                .with("type", fact.map(|fact| fact.event_type.clone()))
                .with("version", fact.map(|fact| fact.version))
        });
    }

    /// The end of the result's time, and of the export, each with its fact.
    fn end_of_result(&mut self, evidence: &Evidence) {
        for fact in &evidence.facts {
            let name = match FactKind::parse(&fact.event_type) {
                Some(FactKind::Expired) => "expired",
                Some(FactKind::Deleted) => "deleted",
                Some(FactKind::Requested | FactKind::Succeeded | FactKind::Failed | FactKind::Cancelled)
                | None => continue,
            };
            self.push(name, Some(fact.created_at), |step| {
                step.with("event_id", fact.event_id.as_str())
                    .with("version", fact.version)
                    .with("acknowledged_at", fact.acknowledged_at.map(|at| at.to_string()))
            });
        }
    }

    /// Search, stats and each notification follow the fact, and not one another.
    fn downstream(&mut self, evidence: &Evidence) {
        let fact = evidence.outcome();
        let previous = self.last.filter(|_| fact.is_some());
        let step = |name, at| Step::new(name, at, previous, self.accepted);
        let mut steps = Vec::new();

        let found =
            evidence.search.as_ref().filter(|held| fact.is_some_and(|fact| held.version >= fact.version));
        let search = step("search-applied", found.map(|held| held.applied_at));
        steps.push(search.with("version", found.map(|held| held.version)));
        steps.push(step("stats-applied", evidence.stats.filter(|_| fact.is_some())));

        for told in &evidence.notifications {
            steps.push(
                step("notified", told.settled_at)
                    .with("notification_id", told.notification_id.as_str())
                    .with("channel", told.channel.as_str())
                    .with("target", told.target.as_str())
                    .with("kind", told.kind.as_str())
                    .with("state", told.state.as_str())
                    .with("attempts", told.attempts),
            );
        }
        for target in &evidence.job.notify {
            let channel = target.channel.as_str();
            let is_made = evidence
                .notifications
                .iter()
                .any(|told| told.channel == channel && told.target == target.target);
            if !is_made {
                steps.push(
                    step("notified", None)
                        .with("notification_id", None::<String>)
                        .with("channel", channel)
                        .with("target", target.target.as_str())
                        .with("kind", None::<String>)
                        .with("state", None::<String>)
                        .with("attempts", 0),
                );
            }
        }
        self.steps.extend(steps);
    }
}

#[cfg(test)]
mod tests;
