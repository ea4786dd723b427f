//! What the store and the rows say of each other at the end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio_postgres::Client;
use waybill_testkit::{System, eventually};

pub(super) struct Files<'a> {
    system: &'a System,
    admin: Client,
}

impl<'a> Files<'a> {
    pub(super) async fn of(system: &'a System) -> Self {
        Self { system, admin: system.database.admin().await }
    }

    /// Lets everything that may go be old, until all of it is gone.
    pub(super) async fn are_collected(&self) {
        let aged = "UPDATE export.candidates SET created_at = created_at - interval '25 hours',
                        condemned_at = condemned_at - interval '2 hours' WHERE state <> 'deleted'";
        let left = "SELECT count(*) FROM export.candidates WHERE state NOT IN ('selected', 'deleted')";
        eventually("every orphan to be collected", || async {
            self.admin.batch_execute(aged).await.expect("aged");
            (self.number(left).await == 0).then_some(())
        })
        .await;
    }

    pub(super) async fn told(&self) -> String {
        let sql = "SELECT string_agg(concat_ws(' ', count, state, because), ', ') FROM (
                       SELECT count(*), state, condemned_because AS because FROM export.candidates GROUP BY 2, 3
                   ) AS kinds";
        self.admin.query_one(sql, &[]).await.expect("an answer").get(0)
    }

    /// The first thing that is not as it must be.
    pub(super) async fn violation(&self, exports: usize) -> Option<String> {
        let results = "SELECT object_key, bytes, sha256 FROM export.jobs
                       JOIN export.candidates ON candidate_id = result_candidate_id
                           AND candidates.state = 'selected' AND candidates.fence = jobs.fence
                       WHERE jobs.state = 'succeeded'";
        let rows = self.admin.query(results, &[]).await.expect("results");
        if rows.len() != exports {
            return Some(format!(
                "{} of {exports} exports have a result of their own fence (I6)",
                rows.len()
            ));
        }
        let mut selected = BTreeSet::new();
        for row in &rows {
            let key: String = row.get("object_key");
            let Ok(content) = std::fs::read(self.system.objects().join(&key)) else {
                return Some(format!("the selected object {key} is missing (I7)"));
            };
            let is_right = i64::try_from(content.len()) == Ok(row.get("bytes"))
                && Sha256::digest(&content)[..] == row.get::<_, Vec<u8>>("sha256")[..];
            if !is_right {
                return Some(format!("the selected object {key} is not what was verified (I7)"));
            }
            selected.insert(key);
        }
        let other: Vec<_> = self.files().into_iter().filter(|file| !selected.contains(file)).collect();
        if !other.is_empty() {
            return Some(format!("files that are no result (I8): {other:?}"));
        }
        let twofold = "SELECT count(*) FROM export.jobs WHERE version <> 2
                           OR (SELECT count(*) FROM export.facts WHERE facts.export_id = jobs.export_id) <> 2";
        match self.number(twofold).await {
            0 => None,
            exports => Some(format!("{exports} exports have other than one completion fact (I9)")),
        }
    }

    async fn number(&self, sql: &str) -> i64 {
        self.admin.query_one(sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }

    /// Every file in the store, staged ones too, by its key.
    fn files(&self) -> Vec<String> {
        fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    collect(&entry.path(), found);
                } else {
                    found.push(entry.path());
                }
            }
        }
        let root = self.system.objects();
        let mut found = Vec::new();
        collect(root, &mut found);
        found.iter().filter_map(|file| Some(file.strip_prefix(root).ok()?.to_str()?.to_owned())).collect()
    }
}
