//! The api is what its document says, whatever is asked of it.

use std::path::Path;

use serde_json::json;
use waybill_testkit::{System, base_url, schemathesis};

/// How many examples of each operation are tried in each way of asking.
const EXAMPLES: u32 = 100;

#[tokio::test]
async fn every_answer_to_a_tenant_and_to_an_operator_is_as_the_document_says() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let _rest = system.start(&["relay", "worker", "search", "stats", "reconciler"]);
    let operator = system.operator(&api).await;
    let tenant = system.tenant(&operator, "one").await;
    let export_id = tenant.export("intent-1").await;
    tenant.settled(&export_id).await;
    // Whoever asks at random has no way to wait for room.
    let limits = json!({ "reason": "a test", "waiting_limit": 1_000_000 });
    operator.patch(&format!("/v1/ops/tenants/{}", tenant.tenant_id()), &limits).await.success();

    let base = base_url(&api).await;
    for (seed, caller) in [(1, &tenant), (2, &operator)] {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let verdict = schemathesis(&base, caller.key(), EXAMPLES, seed, cache).await;
        assert!(verdict.passed, "with seed {seed}:\n{}", verdict.said);
    }
}
