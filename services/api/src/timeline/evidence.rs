//! Everything that is stored about the way of one export, read schema by schema.

use jiff::Timestamp;
use waybill_domain::job::FactKind;
use waybill_store::job::Job;
use waybill_store::timeline::{self, AttemptStep, CommandStep, FactStep, NotificationStep, SearchStep};

use crate::app::App;
use crate::problem::{Answer, Problem};

/// What a timeline is made of.
pub(super) struct Evidence {
    pub(super) job: Job,
    pub(super) commands: Vec<CommandStep>,
    pub(super) attempts: Vec<AttemptStep>,
    pub(super) facts: Vec<FactStep>,
    pub(super) search: Option<SearchStep>,
    /// When stats counted the outcome.
    pub(super) stats: Option<Timestamp>,
    pub(super) notifications: Vec<NotificationStep>,
    /// The downstream schemas that could not be read just now; what they hold is not known.
    pub(super) unavailable: Vec<&'static str>,
}

impl Evidence {
    /// The fact that states the outcome, once there is one.
    pub(super) fn outcome(&self) -> Option<&FactStep> {
        outcome(&self.facts)
    }
}

/// The fact that states the outcome. What follows an outcome (expired, deleted) is no other one.
fn outcome(facts: &[FactStep]) -> Option<&FactStep> {
    facts.iter().find(|fact| match FactKind::parse(&fact.event_type) {
        Some(FactKind::Succeeded | FactKind::Failed | FactKind::Cancelled) => true,
        Some(FactKind::Requested | FactKind::Expired | FactKind::Deleted) | None => false,
    })
}

/// Reads it. A downstream schema may live elsewhere and be away: then the rest is answered all the same.
pub(super) async fn read(app: &App, job: Job) -> Answer<Evidence> {
    let (commands, attempts, facts) = {
        let db = app.export().await?;
        let id = &job.export_id;
        (
            timeline::commands(&**db, id).await?,
            timeline::attempts(&**db, id).await?,
            timeline::facts(&**db, id).await?,
        )
    };
    let outcome_event = outcome(&facts).map(|fact| fact.event_id.clone());
    let mut unavailable = Vec::new();
    let mut or_unavailable = |schema: &'static str, _logged: Problem| unavailable.push(schema);
    let search = search(app, &job).await.unwrap_or_else(|problem| {
        or_unavailable("search", problem);
        None
    });
    let stats = stats(app, outcome_event.as_deref()).await.unwrap_or_else(|problem| {
        or_unavailable("stats", problem);
        None
    });
    let notifications = notifications(app, &job).await.unwrap_or_else(|problem| {
        or_unavailable("notify", problem);
        Vec::new()
    });
    Ok(Evidence { job, commands, attempts, facts, search, stats, notifications, unavailable })
}

async fn search(app: &App, job: &Job) -> Answer<Option<SearchStep>> {
    Ok(timeline::search(&**app.search().await?, &job.tenant_id, &job.export_id).await?)
}

async fn stats(app: &App, outcome_event: Option<&str>) -> Answer<Option<Timestamp>> {
    let Some(event_id) = outcome_event else { return Ok(None) };
    let config = app.config();
    let (prefix, source) = (&config.kafka.topic_prefix, &config.deployment.source);
    Ok(timeline::stats(&**app.stats().await?, prefix, source, event_id).await?)
}

async fn notifications(app: &App, job: &Job) -> Answer<Vec<NotificationStep>> {
    Ok(timeline::notifications(&**app.notify().await?, &job.tenant_id, &job.export_id).await?)
}
