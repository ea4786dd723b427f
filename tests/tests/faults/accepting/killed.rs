//! Row 1: the api dies before its commit.

use waybill_testkit::{Caller, Process, System, base_url, eventually, id_of};

use super::stored::{accepted, orders};
use crate::aftermath::{Aftermath, facts_are_in_order, occurrences, the_file_is_right};

/// An api that stands still before its commit, and a caller of another one.
struct Scene {
    system: System,
    caller: Caller,
    dying: Process,
    _steady: Process,
}

async fn scene() -> Scene {
    let system = System::fresh().await;
    let (steady, _operator, caller) = system.called().await;
    let dying = system.start_at(&["api"], "api.committing");
    Scene { system, caller, dying, _steady: steady }
}

impl Scene {
    /// Asks the api that stops, until it stands still.
    async fn ask(&self) -> tokio::task::JoinHandle<()> {
        let unlucky = self.caller.at(base_url(&self.dying).await);
        let asking = tokio::spawn(async move {
            let answered = unlucky.ask_in_vain("intent-7", &orders()).await;
            assert!(answered.is_err(), "the caller was answered by a process that never committed");
        });
        self.dying.wait_stopped().await;
        asking
    }

    /// The export goes its whole way, as any other.
    async fn succeeds(&self, export_id: &str) {
        let rest = self.system.start(&["relay", "worker", "search", "stats", "reconciler"]);
        assert_eq!(self.caller.settled(export_id).await["state"], "succeeded", "{}", rest.log().tail());
        let after = Aftermath::of(&self.system, export_id).await;
        after.downstreams_are_done().await;
        after.is_whole().await;
        assert_eq!(occurrences(&self.system, "waybill.export.commands", export_id).await.len(), 1);
        facts_are_in_order(&self.system, &after).await;
        the_file_is_right(&self.caller, export_id).await;
    }
}

#[tokio::test]
async fn an_api_killed_before_its_commit_has_stored_nothing_and_a_resend_accepts_the_export_once() {
    let scene = scene().await;
    let admin = scene.system.database.admin().await;
    let asking = scene.ask().await;
    accepted(&admin, 0).await;
    scene.dying.kill().await;
    asking.await.expect("no panic");
    accepted(&admin, 0).await;

    let again = scene.caller.ask("intent-7", &orders()).await;
    assert_eq!(again.status, 202, "there was nothing to meet: {}", again.json());
    accepted(&admin, 1).await;
    let export_id = id_of(&again.json());
    let once_more = scene.caller.ask("intent-7", &orders()).await;
    assert_eq!((once_more.status.as_u16(), id_of(&once_more.json())), (200, export_id.clone()));
    scene.succeeds(&export_id).await;
}

#[tokio::test]
async fn a_resend_that_waits_for_an_api_that_never_commits_accepts_the_export_when_that_one_is_killed() {
    let scene = scene().await;
    let admin = scene.system.database.admin().await;
    let asking = scene.ask().await;
    let resend = tokio::spawn({
        let caller = scene.caller.clone();
        async move { caller.ask("intent-7", &orders()).await }
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND usename = 'waybill_api' AND wait_event_type = 'Lock'";
    eventually("the resend to wait for the first one's end", async || {
        let waiting: i64 = admin.query_one(waiting, &[]).await.expect("a count").get(0);
        (waiting == 1).then_some(())
    })
    .await;
    scene.dying.kill().await;
    asking.await.expect("no panic");

    let answer = resend.await.expect("no panic");
    assert_eq!(answer.status, 202, "{}", answer.json());
    accepted(&admin, 1).await;
    scene.succeeds(&id_of(&answer.json())).await;
}
