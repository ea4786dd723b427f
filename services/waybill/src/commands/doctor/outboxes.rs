//! The outboxes of other services, as the relay and the reconciler reach them.

use std::sync::Arc;

use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;
use waybill_outbox::upkeep::{DAYS_AHEAD_MIN, days_ahead};
use waybill_runtime::{Config, Context, Health, Role, chain};
use waybill_store::migrations::check_outbox;

use super::finding::Findings;

pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let (config, health) = (Arc::new(config.clone()), Health::new(Role::Relay));
    // Without a context the settings of Kafka are wrong, which is a finding of its own.
    let Ok(context) = Context::new(Arc::clone(&config), Role::Relay, &health, CancellationToken::new())
    else {
        return;
    };
    for (name, outbox) in &config.relay.outboxes {
        let subject = format!("outbox {name}");
        match context.outbox_dedicated(name).await {
            Ok(connection) => one(&connection.client, &outbox.schema, &subject, findings).await,
            Err(error) => {
                let remedy = format!("check [relay.outboxes.{name}] and the server");
                if error.is_dependency() {
                    findings.away(subject, chain(&error), remedy);
                } else {
                    findings.fail(subject, chain(&error), remedy);
                }
            }
        }
    }
}

async fn one(db: &Client, schema: &str, subject: &str, findings: &mut Findings) {
    if let Err(error) = check_outbox(db, schema).await {
        return findings.fail(subject, chain(&error), error.hint());
    }
    match days_ahead(db).await {
        Ok(days) if days < DAYS_AHEAD_MIN => findings.warn(
            subject,
            format!("{days} days of partitions ahead"),
            "run a reconciler with this configuration, or waybill outbox install again",
        ),
        Ok(days) => findings.ok(subject, format!("{schema}, {days} days of partitions ahead")),
        Err(error) => findings.fail(subject, error.to_string(), "look into the server's log"),
    }
}
