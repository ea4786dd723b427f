//! The api is what its document says, whatever is asked of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use waybill_testkit::{Answer, Caller, Fuzzed, Process, System, base_url, schemathesis};

/// How many examples of each operation are tried, as each caller.
const EXAMPLES: u32 = 100;

/// Exports in each state of which a decision of an operator or of their owner makes another one.
const OF_EACH_STATE: usize = 12;

/// Rows that Kafka did not take, of which two are decided about alone.
const PARKED: &str = "
    INSERT INTO outbox.holds (scope, topic, key, code, detail)
    SELECT 'row', 'shop.orders', NULL, 'relay-row-refused', 'too large' FROM generate_series(1, 40);
    INSERT INTO outbox.parked
        (seq, hold_id, state, xid, topic, key, event_id, header_names, header_values, payload, created_at, code, detail,
        refusals)
    SELECT 100 + n, n, 'refused', '7', 'shop.orders', NULL, 'evt-' || n, '{}', '{}', 'x', now(), 'relay-row-refused', 'strange', 1
    FROM generate_series(1, 40) AS n";

/// What only a world has that no request can make.
const NEVER_DONE: [&str; 1] = [
    // A topic that somebody deleted and made again.
    "post /v1/ops/outbox/accept-topic",
];

#[tokio::test]
async fn every_answer_to_a_tenant_and_to_an_operator_is_as_the_document_says() {
    let system = System::fresh().await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let tenant = system.tenant(&operator, "one").await;
    // Whoever asks at random has no way to wait for room.
    let limits = json!({ "reason": "a test", "waiting_limit": 1_000_000 });
    operator.patch(&format!("/v1/ops/tenants/{}", tenant.tenant_id()), &limits).await.success();
    let account = account(&operator, &tenant).await;
    let mut known = known(&operator, &tenant, &account).await;
    let quarantined = quarantined(&system, &operator, &tenant, &mut known).await;
    let _rest = system.start(&["relay", "worker", "search", "stats", "reconciler"]);
    tenant.settled(known["export_id"][0].as_str().expect("an id")).await;

    let base = base_url(&api).await;
    let sacrificed = key_of(&operator, &account).await;
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut asked = BTreeMap::new();
    for (seed, caller) in [(1, &tenant), (2, &operator)] {
        let fuzzed =
            Fuzzed { key: caller.key(), examples: EXAMPLES, seed, known: &known, sacrificed: &sacrificed };
        let verdict = schemathesis(&base, &fuzzed, cache).await;
        assert!(verdict.passed, "with seed {seed}:\n{}", verdict.said);
        let still = caller.get("/v1/datasets").await;
        assert!(still.status != 401, "with seed {seed} the caller lost its key: {}", still.json());
        known.entry("export_id").or_default().extend(quarantined.iter().cloned());
        for (operation, answers) in answers(&api).await {
            let before: &mut Vec<_> = asked.entry(operation).or_default();
            before.push(answers);
        }
    }
    everything_was_asked(&operator.get("/openapi.json").await, &asked);
}

type Known = BTreeMap<&'static str, Vec<Value>>;

/// Real things that parameters of paths may name.
async fn known(operator: &Caller, tenant: &Caller, account: &Value) -> Known {
    let mut exports = vec![tenant.export("succeeds").await];
    for n in 0..OF_EACH_STATE {
        let cancelled = tenant.export(&format!("cancelled-{n}")).await;
        tenant.post_bare(&format!("/v1/exports/{cancelled}/cancel"), None).await.success();
        exports.push(cancelled);
    }
    let mut keys = Vec::new();
    for _ in 0..OF_EACH_STATE {
        keys.push(json!(key_of(operator, account).await));
    }
    BTreeMap::from([
        ("export_id", exports.into_iter().map(Value::from).collect()),
        ("api_key_id", keys),
        ("tenant_id", vec![json!(tenant.tenant_id())]),
        ("dataset", vec![json!("orders")]),
        ("seq", (101..=140).map(Value::from).collect()),
    ])
}

/// Makes exports failed by an operator, which are known from then on, and gives quarantined ones for operators alone: a tenant
/// who waits for one waits long.
async fn quarantined(system: &System, operator: &Caller, tenant: &Caller, known: &mut Known) -> Vec<Value> {
    let admin = system.database.admin().await;
    admin.batch_execute(PARKED).await.expect("parked");
    let mut all = Vec::new();
    for n in 0..2 * OF_EACH_STATE {
        let export = tenant.export(&format!("quarantined-{n}")).await;
        // Where three workers that died would leave it.
        let sql =
            "UPDATE export.jobs SET state = 'quarantined', due_at = NULL, remind_at = NULL, lost_leases = 3
            WHERE export_id = $1";
        assert_eq!(admin.execute(sql, &[&export]).await.expect("quarantined"), 1);
        all.push(export);
    }
    let quarantined = all.split_off(OF_EACH_STATE);
    for failed in all {
        let reason = json!({ "reason": "a test" });
        operator.post(&format!("/v1/ops/exports/{failed}/fail"), &reason).await.success();
        known.entry("export_id").or_default().push(failed.into());
    }
    quarantined.into_iter().map(Value::from).collect()
}

/// A service account beside the tenant's own.
async fn account(operator: &Caller, tenant: &Caller) -> Value {
    let wanted = json!({ "tenant_id": tenant.tenant_id(), "name": "another" });
    let made = operator.post("/v1/ops/service-accounts", &wanted).await.created();
    made["service_account_id"].clone()
}

/// The id of a new key of this account.
async fn key_of(operator: &Caller, account: &Value) -> String {
    let wanted = json!({ "service_account_id": account, "scopes": ["exports:read"] });
    let made = operator.post("/v1/ops/api-keys", &wanted).await.created();
    made["api_key_id"].as_str().expect("an id").to_owned()
}

/// How often each operation was asked so far, and how often it was done.
async fn answers(api: &Process) -> BTreeMap<String, (f64, f64)> {
    let mut answers = BTreeMap::new();
    for (labels, count) in api.counts("waybill_http_requests_total").await {
        let label = |name: &str| {
            let (_, rest) = labels.split_once(&format!("{name}=\"")).unwrap_or_default();
            rest.split('"').next().unwrap_or_default().to_owned()
        };
        let operation = format!("{} {}", label("method").to_lowercase(), label("route"));
        let (asked, done): &mut (f64, f64) = answers.entry(operation).or_default();
        *asked += count;
        *done += if label("status").starts_with('2') { count } else { 0.0 };
    }
    answers
}

/// Each operation was asked for as often as was wanted, by both callers, and somebody had it done. A path that is made up may
/// be that of another operation, or of none, and counts there: so a caller may fall short of its examples. An operation that
/// takes nothing can only be asked in one way.
fn everything_was_asked(document: &Answer, asked: &BTreeMap<String, Vec<(f64, f64)>>) {
    let document = document.json();
    let mut missing = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            let name = format!("{method} {path}");
            let so_far = asked.get(&name).cloned().unwrap_or_default();
            let [(first, _), (both, done)] = so_far[..] else {
                missing.push(format!("{name} was asked by {} callers", so_far.len()));
                continue;
            };
            let second = both - first;
            let least = if takes_anything(operation) { f64::from(EXAMPLES) } else { 1.0 };
            if both < least || first.min(second) < 1.0 {
                missing.push(format!("{name} was asked {first} and {second} times"));
            }
            if done == 0.0 && !NEVER_DONE.contains(&name.as_str()) {
                missing.push(format!("{name} was never done"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

fn takes_anything(operation: &Value) -> bool {
    operation["parameters"].as_array().is_some_and(|parameters| !parameters.is_empty())
        || operation["requestBody"].is_object()
}
