//! The whole state after a fault: what the database, the log and the object store say of one export.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Client;
use waybill_testkit::{Caller, Record, System, eventually, read_to_end};

/// What a test looks at, whatever it broke.
pub(crate) struct Aftermath {
    pub(crate) admin: Client,
    pub(crate) export_id: String,
}

impl Aftermath {
    pub(crate) async fn of(system: &System, export_id: &str) -> Self {
        Self { admin: system.database.admin().await, export_id: export_id.to_owned() }
    }

    /// One number from one row.
    pub(crate) async fn count(&self, sql: &str) -> i64 {
        let row = self.admin.query_one(sql, &[&self.export_id]).await;
        row.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }

    /// One text from each row.
    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        let rows = self.admin.query(sql, &[&self.export_id]).await;
        rows.unwrap_or_else(|error| panic!("{sql}: {error:?}")).iter().map(|row| row.get(0)).collect()
    }

    /// The states of the export's attempts, by fence.
    pub(crate) async fn attempts(&self) -> Vec<String> {
        self.texts("SELECT state FROM export.attempts WHERE export_id = $1 ORDER BY fence").await
    }

    /// The states of the export's candidates, by fence.
    pub(crate) async fn candidates(&self) -> Vec<String> {
        self.texts("SELECT state FROM export.candidates WHERE export_id = $1 ORDER BY fence").await
    }

    /// The types of the facts that were written about it, by version.
    pub(crate) async fn facts(&self) -> Vec<String> {
        self.texts("SELECT type FROM export.facts WHERE export_id = $1 ORDER BY version").await
    }

    /// Waits until search and stats have had the completion fact, then until nothing is on its way to either.
    pub(crate) async fn downstreams_are_done(&self) {
        let found = "SELECT count(*) FROM search.documents WHERE export_id = $1 AND state = 'succeeded'";
        let counted =
            "SELECT count(*) FROM stats.inbox AS i JOIN export.facts AS f ON f.event_id = i.event_id
                       WHERE f.export_id = $1";
        eventually("search and stats to have had every fact", || async {
            let facts = self.count("SELECT count(*) FROM export.facts WHERE export_id = $1").await;
            (self.count(found).await == 1 && self.count(counted).await == facts).then_some(())
        })
        .await;
    }

    /// I1, I4, I6, I9, I13 of this export, and I16 of its database: what must be true however a process died.
    pub(crate) async fn is_whole(&self) {
        let one = |sql: &'static str| async move { assert_eq!(self.count(sql).await, 1, "{sql}") };
        one("SELECT count(*) FROM export.jobs WHERE export_id = $1 AND state = 'succeeded'").await;
        one("SELECT count(*) FROM export.intents WHERE export_id = $1").await;
        one("SELECT count(*) FROM export.candidates WHERE export_id = $1 AND state = 'selected'").await;
        one("SELECT count(*) FROM export.jobs AS j
             JOIN export.candidates AS c ON c.candidate_id = j.result_candidate_id AND c.fence = j.fence
             WHERE j.export_id = $1 AND c.state = 'selected'")
        .await;
        one("SELECT count(*) FROM export.jobs AS j WHERE j.export_id = $1
             AND j.version = (SELECT max(version) FROM export.facts AS f WHERE f.export_id = j.export_id)
             AND j.version = (SELECT count(*) FROM export.facts AS f WHERE f.export_id = j.export_id)")
        .await;
        one("SELECT count(*) FROM search.documents AS d JOIN export.jobs AS j USING (export_id)
             WHERE export_id = $1 AND d.version = j.version AND d.rows IS NOT NULL")
        .await;
        assert_eq!(self.facts().await, ["waybill.export.requested", "waybill.export.succeeded"]);
        self.counters_equal_the_facts().await;
    }

    async fn counters_equal_the_facts(&self) {
        let tenant = "(SELECT tenant_id FROM export.jobs WHERE export_id = $1)";
        let counted = format!(
            "SELECT format('%s/%s/%s', requested, succeeded, rows) FROM stats.counters WHERE tenant_id = {tenant}"
        );
        let true_counts = format!(
            "SELECT format('%s/%s/%s', count(*), count(*) FILTER (WHERE j.state = 'succeeded'), sum(c.rows))
             FROM export.jobs AS j LEFT JOIN export.candidates AS c ON c.candidate_id = j.result_candidate_id
             WHERE j.tenant_id = {tenant}"
        );
        assert_eq!(self.texts(&counted).await, self.texts(&true_counts).await, "requested/succeeded/rows");
    }
}

/// How often each event id of the export stands in the topic.
pub(crate) async fn occurrences(system: &System, topic: &str, export_id: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for record in read_to_end(&system.topic(topic)).await {
        if record.key.as_deref() == Some(export_id.as_bytes()) {
            let id = record.header("ce_id").expect("a record of ours has an id").to_owned();
            *found.entry(id).or_default() += 1;
        }
    }
    found
}

/// I3: the first occurrences of the export's facts stand in the order of their versions.
pub(crate) async fn facts_are_in_order(system: &System, after: &Aftermath) {
    let versions =
        after.texts("SELECT event_id FROM export.facts WHERE export_id = $1 ORDER BY version").await;
    let mut seen = BTreeSet::new();
    let of_export = |record: &Record| record.key.as_deref() == Some(after.export_id.as_bytes());
    let records = read_to_end(&system.topic("waybill.export.events")).await;
    let ids = records.iter().filter(|record| of_export(record)).filter_map(|record| record.header("ce_id"));
    let firsts: Vec<&str> = ids.filter(|id| seen.insert((*id).to_owned())).collect();
    assert_eq!(firsts, versions);
}

/// What the caller downloads is what the export says it is (I7).
pub(crate) async fn the_file_is_right(caller: &Caller, export_id: &str) {
    use sha2::{Digest, Sha256};
    let export = caller.get(&format!("/v1/exports/{export_id}")).await.success();
    let file = caller.get(&format!("/v1/exports/{export_id}/content")).await;
    assert!(file.status.is_success(), "{}", file.json());
    let digest: String = Sha256::digest(&file.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(export["result"]["sha256"], digest);
    assert_eq!(export["result"]["bytes"], file.bytes.len());
    let rows: Vec<_> = csv::Reader::from_reader(file.bytes.as_slice()).into_records().collect();
    assert!(rows.iter().all(Result::is_ok), "the file is valid CSV");
    let rows = rows.len();
    assert_eq!(export["result"]["rows"], rows);
    assert_eq!(i64::try_from(rows).expect("few rows"), waybill_testkit::ROWS_OF_TENANT);
}

/// The files in the object store.
pub(crate) fn objects(system: &System) -> usize {
    fn files(folder: &std::path::Path) -> usize {
        let entries = std::fs::read_dir(folder)
            .map(|entries| entries.flatten().collect::<Vec<_>>())
            .unwrap_or_default();
        entries.iter().map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
    }
    files(system.objects())
}
