//! What a tenant's callers and their operator do about exports, limits and keys from the command line.

use serde_json::{Value, json};
use waybill_testkit::System;

use crate::shell::{Shell, caller, text};

#[tokio::test]
async fn an_export_is_asked_for_and_followed_in_one_command_and_stands_in_the_list() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let _worker = system.start(&["worker"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, caller, _tenant) = caller(&system, &api, &shell).await;

    let asked =
        ["export", "create", "orders", "--name", "Q4", "--label", "quarter=4", "--wait", "--timeout", "60"];
    let ended = caller.done(&asked).await;
    assert_eq!(text(&ended, "state"), "succeeded");
    let other = caller.done(&["export", "create", "orders"]).await;
    let export_id = text(&ended, "export_id");

    let ids = |listed: &Value| -> Vec<String> {
        listed["exports"].as_array().expect("a list").iter().map(|export| text(export, "export_id")).collect()
    };
    let all = caller.done(&["export", "list"]).await;
    assert_eq!(ids(&all), [text(&other, "export_id"), export_id.clone()], "newest first");
    let found = caller.done(&["export", "list", "--label", "quarter=4", "--state", "succeeded"]).await;
    assert_eq!(ids(&found), std::slice::from_ref(&export_id));
    let drawn = caller.run(&["export", "list", "--name", "Q4"]).await;
    assert!(String::from_utf8_lossy(&drawn.stdout).contains(&export_id));
    assert_eq!(
        caller.refused(&["export", "list", "--state", "gone"]).await,
        (2, "request-invalid".to_owned())
    );
    assert_eq!(ops.refused(&["export", "list", "--name", "Q4"]).await, (4, "scope-missing".to_owned()));
}

#[tokio::test]
async fn what_a_tenant_may_have_is_tried_out_changed_lifted_and_shown() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, caller, tenant) = caller(&system, &api, &shell).await;
    let limits =
        ["tenant", "limits", tenant.tenant_id(), "--waiting", "1", "--rows-a-day", "5", "--reason", "a test"];

    let would = ops.run(&[&limits[..], &["--dry-run"]].concat()).await;
    let would = String::from_utf8_lossy(&would.stdout).into_owned();
    assert!(would.contains("would change waiting_limit from 10000 to 1"), "{would}");
    let after = ops.done(&limits).await;
    assert_eq!((&after["waiting_limit"], &after["rows_a_day_limit"]), (&json!(1), &json!(5)));
    caller.done(&["export", "create", "orders"]).await;
    assert_eq!(caller.refused(&["export", "create", "orders"]).await, (4, "quota-exceeded".to_owned()));
    let usage = caller.done(&["tenant", "usage"]).await;
    assert_eq!((&usage["waiting"]["used"], &usage["rows_a_day"]["limit"]), (&json!(1), &json!(5)));
    let lift = ["tenant", "limits", tenant.tenant_id(), "--rows-a-day", "none", "--reason", "a test"];
    let lifted = ops.done(&lift).await;
    assert_eq!((&lifted["rows_a_day_limit"], &lifted["waiting_limit"]), (&Value::Null, &json!(1)));
}

#[tokio::test]
async fn a_key_is_rotated_from_the_command_line_and_both_work_until_the_overlap_is_over() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let shell = Shell::at(&api, &system).await;
    let (ops, caller, _tenant) = caller(&system, &api, &shell).await;
    let old_id = caller.key_id();
    let rotate = ["api-key", "rotate", &old_id, "--overlap-hours", "1", "--reason", "every quarter"];

    let would = ops.done(&[&rotate[..], &["--dry-run"]].concat()).await;
    assert!(would.get("api_key").is_none(), "{would}");
    let made = ops.done(&rotate).await;
    let new = caller.with_key(&text(&made, "api_key"));
    for shell in [&caller, &new] {
        shell.done(&["tenant", "usage"]).await;
    }
    let account = text(&made, "service_account_id");
    let listed = ops.done(&["api-key", "list", "--service-account", &account]).await;
    let keys = listed["api_keys"].as_array().expect("a list");
    assert_eq!(
        keys.iter().map(|key| &key["rotated_from"]).collect::<Vec<_>>(),
        [&Value::Null, &json!(old_id)]
    );
    assert!(keys[0]["expires_at"].is_string() && keys[1]["expires_at"].is_null());
    ops.done(&["api-key", "revoke", &old_id, "--reason", "everybody has the new one"]).await;
    assert_eq!(caller.refused(&["tenant", "usage"]).await, (4, "api-key-revoked".to_owned()));
    assert_eq!(ops.refused(&rotate).await, (4, "api-key-ended".to_owned()));
}
