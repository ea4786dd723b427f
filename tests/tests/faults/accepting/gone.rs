//! Row 4: a caller goes away in the middle of its request or of its answer. Where there is room for one, or for a few, the
//! next one only gets through if whoever went has left everything it held.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use waybill_testkit::{Caller, Launch, Process, System, eventually, within};

use super::stored::{accepted, orders};

/// Longer than any test: no timeout of the api lets go of what a caller holds.
const NEVER_MS: i64 = 600_000;

/// A caller's connection. Dropping it closes it, whatever is under way.
struct Line {
    stream: TcpStream,
    read: String,
}

impl Line {
    /// Begins a request of this caller: its head, and then these bytes.
    async fn begin(api: &Process, caller: &Caller, request: &str, headers: &[&str], body: &str) -> Self {
        let address = api.listening("api").await;
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let authorization = format!("Authorization: Bearer {}", caller.key());
        let head = [&[request, "Host: waybill", authorization.as_str()], headers].concat().join("\r\n");
        stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await.expect("sent");
        Self { stream, read: String::new() }
    }

    /// Begins to ask for an export, with so many bytes of the body.
    async fn ask(api: &Process, caller: &Caller, intent: &str, bytes: usize) -> Self {
        let body = orders().to_string();
        let intent = format!("Idempotency-Key: {intent}");
        let length = format!("Content-Length: {}", body.len());
        let headers = ["Content-Type: application/json", &intent, &length];
        Self::begin(api, caller, "POST /v1/exports HTTP/1.1", &headers, &body[..bytes]).await
    }

    /// Reads until this text has come.
    async fn has_read(&mut self, text: &str) {
        let mut buffer = [0; 1024];
        while !self.read.contains(text) {
            let read = within(text, self.stream.read(&mut buffer)).await.expect("an answer");
            assert!(read > 0, "closed before {text:?}: {}", self.read);
            self.read.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }
}

/// An api at which one caller may wait.
async fn with_one_watcher() -> (System, Process, Caller) {
    let one = System::fresh().await.with("api.watchers_max", 1).with("api.watchers_per_tenant_max", 1);
    let (api, _operator, caller) = one.called().await;
    (one, api, caller)
}

async fn watched_by(api: &Process, watchers: u8) {
    eventually("so many to watch", async || {
        let watched = api.metric("waybill_exports_watched").await;
        (watched.total_cmp(&f64::from(watchers)).is_eq()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_goes_away_in_the_middle_of_its_body_leaves_its_place_to_the_next() {
    let system =
        System::fresh().await.with("api.requests_in_flight_max", 1).with("api.request_timeout_ms", NEVER_MS);
    let (api, _operator, caller) = system.called().await;
    let half = Line::ask(&api, &caller, "intent-7", orders().to_string().len() / 2).await;
    eventually("its place to be taken", async || {
        (caller.get("/v1/exports").await.code() == "overloaded").then_some(())
    })
    .await;

    drop(half);
    let answer = eventually("its place to be left", async || {
        let answer = caller.ask("intent-7", &orders()).await;
        (answer.code() != "overloaded").then_some(answer)
    })
    .await;
    assert_eq!(answer.status, 202, "{}", answer.json());
    accepted(&system.database.admin().await, 1).await;
}

#[tokio::test]
async fn callers_that_go_away_while_the_database_lets_them_wait_leave_its_connections_to_the_next() {
    /// As many as there are by default.
    const CONNECTIONS: i64 = 8;
    let system = System::fresh().await;
    let (api, _operator, caller) = system.called().await;
    let (holder, admin) = (system.database.admin().await, system.database.admin().await);
    holder.batch_execute("BEGIN; LOCK TABLE export.intents IN SHARE MODE").await.expect("locked");
    let whole = orders().to_string().len();
    let mut lines = Vec::new();
    for number in 0..CONNECTIONS {
        lines.push(Line::ask(&api, &caller, &format!("intent-{number}"), whole).await);
    }
    let waiting = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND usename = 'waybill_api' AND wait_event_type = 'Lock'";
    eventually("every connection to be held", async || {
        let held: i64 = admin.query_one(waiting, &[]).await.expect("a count").get(0);
        (held == CONNECTIONS).then_some(())
    })
    .await;

    drop(lines);
    let answer = caller.get("/v1/exports").await;
    assert_eq!(answer.status, 200, "{}: {}", answer.json(), api.log().tail());
    holder.batch_execute("COMMIT").await.expect("let go");
    let answer = caller.ask("intent-0", &orders()).await;
    assert_eq!(answer.status, 202, "nothing of what was given up is stored: {}", answer.json());
    accepted(&admin, 1).await;
}

#[tokio::test]
async fn a_caller_that_goes_away_while_it_waits_for_a_change_leaves_its_place_to_the_next() {
    let (_system, api, caller) = with_one_watcher().await;
    let path = format!("/v1/exports/{}", caller.export("intent-7").await);
    let request = format!("GET {path} HTTP/1.1");
    let waiting = Line::begin(&api, &caller, &request, &["Prefer: wait=50"], "").await;
    watched_by(&api, 1).await;
    let beside = caller.get_with(&path, &[("Prefer", "wait=1")]).await;
    assert!(!beside.headers.contains_key("preference-applied"), "there is one place");

    drop(waiting);
    watched_by(&api, 0).await;
    let next = caller.get_with(&path, &[("Prefer", "wait=1")]).await;
    assert_eq!(next.headers["preference-applied"], "wait=1");
}

#[tokio::test]
async fn a_caller_that_goes_away_from_its_stream_of_events_leaves_its_place_to_the_next() {
    let (_system, api, caller) = with_one_watcher().await;
    let export_id = caller.export("intent-7").await;
    let request = format!("GET /v1/exports/{export_id}/events HTTP/1.1");
    let mut following = Line::begin(&api, &caller, &request, &[], "").await;
    following.has_read("event: export").await;
    assert_eq!(caller.follow(&export_id, None).await.status(), 429, "there is one place");

    drop(following);
    watched_by(&api, 0).await;
    assert_eq!(caller.follow(&export_id, None).await.status(), 200);
}

#[tokio::test]
async fn a_caller_that_goes_away_in_the_middle_of_a_download_leaves_its_connection_to_the_next() {
    let system = System::fresh().await;
    let (steady, _operator, caller) = system.called().await;
    // More than the buffers between both ends hold.
    let large = "UPDATE source.orders SET note = repeat('x', 64 * 1024)";
    system.database.admin().await.batch_execute(large).await.expect("a large table");
    let _worker = system.start(&["worker"]);
    let export_id = caller.export("intent-7").await;
    assert_eq!(caller.settled(&export_id).await["state"], "succeeded");
    drop(steady);

    let ones = [
        "api.connections_max",
        "api.requests_in_flight_max",
        "api.watchers_max",
        "api.watchers_per_tenant_max",
    ];
    let narrow = ones.into_iter().fold(system.settings(), |settings, bound| settings.set(bound, 1));
    let api = Launch::roles(&["api"], narrow.set("api.stall_timeout_ms", NEVER_MS)).start();
    let request = format!("GET /v1/exports/{export_id}/content HTTP/1.1");
    let mut downloading = Line::begin(&api, &caller, &request, &[], "").await;
    downloading.has_read("content-length").await;
    let mut next = Line::begin(&api, &caller, "GET /v1/exports HTTP/1.1", &["Connection: close"], "").await;
    api.logged_code("degraded", "overloaded").await;

    drop(downloading);
    next.has_read("200 OK").await;
    next.has_read(&export_id).await;
}
