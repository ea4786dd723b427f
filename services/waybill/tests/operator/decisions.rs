//! What an operator decides from the command line, after having looked and tried it out.

use serde_json::json;
use waybill_testkit::System;

use crate::shell::{Shell, caller, text};

/// Puts a pending export where lost leases would.
async fn quarantine(system: &System, export_id: &str) {
    let sql = "UPDATE export.jobs SET state = 'quarantined', due_at = NULL, remind_at = NULL, lost_leases = 4
        WHERE export_id = $1 AND state = 'pending'";
    let changed = system.database.admin().await.execute(sql, &[&export_id]).await.expect("quarantined");
    assert_eq!(changed, 1);
}

async fn decisions(system: &System, action: &str) -> i64 {
    let sql = "SELECT count(*) FROM export.decisions WHERE action = $1";
    system.database.admin().await.query_one(sql, &[&action]).await.expect("counts").get(0)
}

#[tokio::test]
async fn an_operator_looks_into_a_quarantined_export_tries_a_decision_out_and_carries_it_out() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, caller, tenant) = caller(&system, &api, &shell).await;
    let list = ["export", "list", "--state", "quarantined"];
    assert_eq!(ops.done(&list).await["exports"], json!([]));
    let (first, second) = (
        text(&caller.done(&["export", "create", "orders", "--name", "first"]).await, "export_id"),
        text(&caller.done(&["export", "create", "orders"]).await, "export_id"),
    );
    quarantine(&system, &first).await;
    quarantine(&system, &second).await;

    let listed = ops.done(&list).await;
    let ids: Vec<String> = listed["exports"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|export| text(export, "export_id"))
        .collect();
    assert_eq!(ids, [first.as_str(), &second]);
    assert_eq!(listed["exports"][0]["tenant_id"], tenant.tenant_id());
    let limited = ops.done(&[&list[..], &["--limit", "1"]].concat()).await;
    assert_eq!(
        (limited["exports"].as_array().map(Vec::len), &limited["next"]),
        (Some(1), &first.clone().into())
    );
    let own = caller.done(&list).await;
    assert_eq!(own["exports"].as_array().map(Vec::len), Some(2), "a tenant sees its own");
    assert_eq!(ops.refused(&["export", "list"]).await, (4, "scope-missing".to_owned()));

    let shown = ops.done(&["export", "show", &first]).await;
    assert_eq!((&shown["export"]["name"], &shown["export"]["lost_leases"]), (&"first".into(), &4.into()));
    assert_eq!(text(&shown["timeline"]["steps"][0], "step"), "accepted");
    assert!(shown["export"]["links"]["content"].is_null(), "no operator gets a tenant's file");

    let fail = ["export", "fail", &first, "--reason", "takes its workers down"];
    let would = ops.done(&[&fail[..], &["--dry-run"]].concat()).await;
    assert_eq!(
        (text(&would, "state"), text(&would["before"], "state")),
        ("failed".into(), "quarantined".into())
    );
    let said = ops.run(&[&fail[..], &["--dry-run"]].concat()).await;
    assert_eq!(String::from_utf8_lossy(&said.stdout), "would change state from quarantined to failed\n");
    assert_eq!(text(&ops.done(&["export", "show", &first]).await["export"], "state"), "quarantined");
    assert_eq!(decisions(&system, "export.fail").await, 0, "a dry run leaves nothing");

    assert_eq!(text(&ops.done(&[&fail[..], &["--yes"]].concat()).await, "state"), "failed");
    assert_eq!(decisions(&system, "export.fail").await, 1);
    let again = [&fail[..], &["--dry-run"]].concat();
    assert_eq!(ops.refused(&again).await, (4, "transition-not-allowed".to_owned()));
    let release = ["export", "release", &second, "--reason", "repaired"];
    assert_eq!(text(&ops.done(&release).await, "state"), "pending", "a script is asked nothing");
    assert_eq!(ops.done(&list).await["exports"], json!([]));
}

#[tokio::test]
async fn a_suspension_is_tried_out_carried_out_and_taken_back() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, caller, tenant) = caller(&system, &api, &shell).await;
    let suspend = ["tenant", "suspend", tenant.tenant_id(), "--reason", "a mistake"];
    let resume = ["tenant", "resume", tenant.tenant_id(), "--reason", "it was one"];
    let export_id = text(&caller.done(&["export", "create", "orders"]).await, "export_id");
    let show = ["export", "show", &export_id];

    let would = ops.done(&[&suspend[..], &["--dry-run"]].concat()).await;
    assert_eq!(
        (text(&would, "state"), text(&would["before"], "state")),
        ("suspended".into(), "active".into())
    );
    caller.done(&show).await;
    ops.done(&suspend).await;
    assert_eq!(caller.refused(&show).await, (4, "tenant-suspended".to_owned()));
    assert_eq!(text(&ops.done(&resume).await, "state"), "active");
    caller.done(&show).await;

    let (suspended, resumed) =
        (decisions(&system, "tenant.suspend").await, decisions(&system, "tenant.resume").await);
    assert_eq!((suspended, resumed), (1, 1), "each decision leaves a row");
    let nobody =
        ["tenant", "resume", "ten_00000000000000000000000000000000", "--reason", "a test", "--dry-run"];
    assert_eq!(ops.refused(&nobody).await, (3, "tenant-not-found".to_owned()));
}

#[tokio::test]
async fn a_key_whose_revocation_is_only_tried_out_goes_on_working() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, caller, _tenant) = caller(&system, &api, &shell).await;
    let id = caller.key_id();
    let revoke = ["api-key", "revoke", &id, "--reason", "found in a log"];

    let would = ops.done(&[&revoke[..], &["--dry-run"]].concat()).await;
    assert!(would["revoked_at"].is_string() && would["before"]["revoked_at"].is_null(), "{would}");
    caller.done(&["export", "create", "orders"]).await;
    ops.done(&[&revoke[..], &["--yes"]].concat()).await;
    assert_eq!(caller.refused(&["export", "create", "orders"]).await, (4, "api-key-revoked".to_owned()));
    let would = ops.done(&[&revoke[..], &["--dry-run"]].concat()).await;
    assert_eq!(would["revoked_at"], would["before"]["revoked_at"], "nothing would change");
}
