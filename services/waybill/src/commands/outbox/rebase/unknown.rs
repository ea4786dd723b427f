//! Facts that the log holds and the restored database does not know.

use std::collections::BTreeMap;

use serde::Serialize;
use tokio_postgres::Client;
use waybill_contract::{Fact, Topics};
use waybill_outbox::{parked, rebase};
use waybill_runtime::Config;
use waybill_store::{fact, job};

use super::{OUTBOX, failed, log, unstored};
use crate::codes;
use crate::commands::CommandError;
use crate::exit::Exit;

/// The log is read from so long before the last batch that the database knows: Kafka's clock is another one.
const MARGIN_MS: i64 = 3_600_000;
/// So many facts are listed one by one; all are counted, and each one's export is raised.
const FACTS_LISTED_MAX: usize = 1_000;

/// What was found.
#[derive(Debug, Default, Serialize)]
pub(super) struct Unknown {
    topic: String,
    /// When the last batch that the database knows was acknowledged; none: the whole log was read.
    last_acknowledged_at: Option<String>,
    read: u64,
    /// Records of that topic that are no facts of this version's.
    unreadable: u64,
    unknown: u64,
    facts: Vec<UnknownFact>,
    exports: Vec<Export>,
}

#[derive(Debug, Serialize)]
struct UnknownFact {
    source: String,
    id: String,
    r#type: &'static str,
    export_id: String,
    version: i64,
}

/// An export with facts that the database does not know.
#[derive(Debug, Serialize)]
struct Export {
    export_id: String,
    /// The highest version that the log holds.
    log_version: i64,
    /// The database's; none where it does not know the export at all.
    version: Option<i64>,
}

/// Reads the end of the facts' topic and asks the database what it knows of it.
pub(super) async fn find(db: &mut Client, config: &Config) -> Result<Unknown, CommandError> {
    let topic = Topics::with_prefix(&config.kafka.topic_prefix).events;
    let last = last_acknowledged(db).await?;
    let since_ms = last.as_ref().map(|(_, at_ms)| at_ms.saturating_sub(MARGIN_MS));
    let settings = config.kafka.client_settings().map_err(crate::commands::config::refused)?;
    let mut found = Unknown {
        topic: topic.clone(),
        last_acknowledged_at: last.map(|(text, _)| text),
        ..Unknown::default()
    };
    let mut versions = BTreeMap::new();
    let mut chunks = log::read(settings, topic, since_ms);
    while let Some(chunk) = chunks.recv().await {
        let log::Chunk { facts, unreadable } = chunk.map_err(|error| unread(&found.topic, error))?;
        found.read += u64::try_from(facts.len()).unwrap_or_default();
        found.unreadable += unreadable;
        let ours: Vec<Fact> =
            facts.into_iter().filter(|fact| fact.source == config.deployment.source).collect();
        found.note(db, ours, &mut versions).await?;
    }
    let export_ids: Vec<&str> = versions.keys().map(String::as_str).collect();
    let known: BTreeMap<String, i64> =
        job::versions(db, &export_ids).await.map_err(unstored)?.into_iter().collect();
    found.exports = versions
        .into_iter()
        .map(|(export_id, log_version)| Export {
            version: known.get(&export_id).copied(),
            export_id,
            log_version,
        })
        .collect();
    Ok(found)
}

/// As text, and in milliseconds since 1970.
async fn last_acknowledged(db: &mut Client) -> Result<Option<(String, i64)>, CommandError> {
    let tx = db.transaction().await.map_err(|error| failed(error.into()))?;
    parked::look_into(&tx, OUTBOX).await.map_err(|error| failed(error.into()))?;
    let last = rebase::last_acknowledged(&tx).await.map_err(failed)?;
    Ok(last.map(|at| (at.to_string(), at.as_millisecond())))
}

impl Unknown {
    async fn note(
        &mut self,
        db: &Client,
        facts: Vec<Fact>,
        versions: &mut BTreeMap<String, i64>,
    ) -> Result<(), CommandError> {
        let event_ids: Vec<&str> = facts.iter().map(|fact| fact.event_id.as_str()).collect();
        let mut unknown = fact::unknown(db, &event_ids).await.map_err(unstored)?;
        unknown.sort_unstable();
        for fact in facts.into_iter().filter(|fact| unknown.binary_search(&fact.event_id).is_ok()) {
            let export_id = fact.export.export_id.as_str();
            let version = versions.entry(export_id.to_owned()).or_default();
            *version = fact.export.version.max(*version);
            self.unknown += 1;
            if self.facts.len() < FACTS_LISTED_MAX {
                self.facts.push(UnknownFact {
                    export_id: export_id.to_owned(),
                    source: fact.source,
                    id: fact.event_id,
                    r#type: fact.kind.type_name(),
                    version: fact.export.version,
                });
            }
        }
        Ok(())
    }

    /// The exports whose versions are raised, and to which.
    pub(super) fn raised(&self) -> (Vec<&str>, Vec<i64>) {
        self.behind().map(|export| (export.export_id.as_str(), export.log_version)).unzip()
    }

    fn behind(&self) -> impl Iterator<Item = &Export> {
        self.exports
            .iter()
            .filter(|export| export.version.is_some_and(|version| version < export.log_version))
    }

    /// What was found, in a few lines.
    pub(super) fn text(&self, dry_run: bool) -> String {
        let since = self.last_acknowledged_at.as_ref();
        let since = since.map_or("its beginning".to_owned(), |at| format!("an hour before {at}"));
        let mut lines = vec![format!("{} holds {} facts since {since}", self.topic, self.read)];
        if self.unreadable > 0 {
            lines.push(format!("  {} more records are no facts that this version can read", self.unreadable));
        }
        lines.push(format!("  {} of them this database does not know", self.unknown));
        for UnknownFact { id, r#type, export_id, version, .. } in &self.facts {
            lines.push(format!("    {export_id}  version {version}  {type}  {id}"));
        }
        let (raised, lost) =
            (self.behind().count(), self.exports.iter().filter(|export| export.version.is_none()));
        let verb = if dry_run { "would be raised" } else { "were raised" };
        lines.push(format!("  the versions of {raised} exports {verb}, beyond what the log holds"));
        let lost: Vec<&str> = lost.map(|export| export.export_id.as_str()).collect();
        if !lost.is_empty() {
            lines.push(format!("  exports that this database has lost: {}", lost.join(", ")));
        }
        lines.join("\n")
    }
}

fn unread(topic: &str, error: rdkafka::error::KafkaError) -> CommandError {
    CommandError::new(Exit::Unavailable, codes::KAFKA_UNREACHABLE, format!("cannot read {topic}"))
        .with_source(error)
        .with_hint("check `kafka.bootstrap` and `[kafka.settings]`; nothing was changed")
}
