//! An outbox of another service: an operator reaches it over a connection of the command's own, without any api.

use serde_json::Value;
use tokio_postgres::Client;
use waybill_testkit::{ROLE_PASSWORD, System, TestDatabase, TestTopics, eventually, read_to_end};

use crate::parked::{PARKED, seqs};
use crate::shell::{Shell, text};

const SCHEMA: &str = "shop_outbox";
/// Who installed it: no superuser, but the owner.
const OWNER: &str = "worker";
/// Who was installed as its operator, and how its decisions are signed.
const OPERATOR: &str = "stats";
const SIGNATURE: &str = "postgres:waybill_stats";

/// Another service's database with an outbox, and somebody at a terminal who has no api.
struct Shop {
    system: System,
    database: TestDatabase,
    admin: Client,
    shell: Shell,
}

impl Shop {
    async fn open() -> Self {
        let database = TestDatabase::empty().await;
        let system = System::fresh()
            .await
            .with("relay.outboxes.shop.url", database.plain_url())
            .with("relay.outboxes.shop.schema", SCHEMA)
            .with("relay.outboxes.shop.user", "waybill_relay")
            .with("relay.outboxes.shop.password", ROLE_PASSWORD);
        let admin = database.admin().await;
        let grant = format!("GRANT CREATE ON DATABASE {} TO waybill_{OWNER}", database.name());
        admin.batch_execute(&grant).await.expect("granted");
        let shop = Self { shell: Shell::without_api(&system), system, database, admin };
        let install = ["outbox", "install", "--operator", "waybill_stats", "--relay", "waybill_relay"];
        shop.done_by(OWNER, &install).await;
        shop
    }

    /// What a login of the shop's database is answered.
    async fn done_by(&self, login: &str, arguments: &[&str]) -> Value {
        let url = self.database.role_url(login);
        self.shell.done(&[arguments, &["--schema", SCHEMA, "--database-url", &url]].concat()).await
    }

    async fn done(&self, arguments: &[&str]) -> Value {
        self.done_by(OPERATOR, arguments).await
    }

    /// With what exit code and slug it is refused.
    async fn refused_by(&self, login: &str, arguments: &[&str]) -> (i32, String) {
        let url = self.database.role_url(login);
        self.shell.refused(&[arguments, &["--schema", SCHEMA, "--database-url", &url]].concat()).await
    }

    async fn refused(&self, arguments: &[&str]) -> (i32, String) {
        self.refused_by(OPERATOR, arguments).await
    }

    async fn run(&self, sql: &str) {
        self.admin.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    async fn park(&self) {
        self.run(&PARKED.replace("outbox.", &format!("{SCHEMA}."))).await;
    }

    /// Every decision on record: action, subject, reason and who.
    async fn decisions(&self) -> Vec<[String; 4]> {
        let sql =
            "SELECT action, subject, reason, decided_by FROM shop_outbox.decisions ORDER BY decision_id";
        let rows = self.admin.query(sql, &[]).await.expect("decisions");
        rows.iter().map(|row| [0, 1, 2, 3].map(|column| row.get(column))).collect()
    }

    async fn count(&self, of: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM shop_outbox.{of}");
        self.admin.query_one(&sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}")).get(0)
    }
}

#[tokio::test]
async fn an_operator_sees_another_outbox_and_what_is_parked_in_it() {
    let shop = Shop::open().await;
    shop.park().await;
    let outbox = shop.done(&["outbox", "status"]).await["outboxes"][0].take();
    assert_eq!((text(&outbox, "outbox"), &outbox["holds_standing"]), (SCHEMA.into(), &3.into()));
    assert_eq!(outbox["partition_days_ahead"], 14);
    assert_eq!(seqs(&shop.done(&["parked", "list"]).await), [101, 102, 103, 110, 120, 121]);
    let first = shop.done(&["parked", "list", "--limit", "2"]).await;
    assert_eq!((seqs(&first), text(&first, "next")), (vec![101, 102], "1.102".to_owned()));
    assert_eq!(text(&shop.done(&["parked", "show", "101"]).await, "payload"), "dmFsdWU=");
    assert_eq!(shop.refused(&["parked", "show", "7"]).await, (3, "parked-not-found".to_owned()));
}

#[tokio::test]
async fn what_an_operator_decides_is_signed_by_the_login_and_recorded_with_its_reason() {
    let shop = Shop::open().await;
    shop.park().await;
    shop.run("INSERT INTO shop_outbox.topics (topic, topic_id) VALUES ('shop.visits', 'old')").await;
    let retry = ["parked", "retry", "101", "--reason", "limit raised"];
    let would = shop.done(&[&retry[..], &["--dry-run"]].concat()).await;
    assert_eq!(
        (text(&would, "state"), text(&would["before"], "state")),
        ("waiting".into(), "refused".into())
    );
    let overtake = ["parked", "retry", "102", "--reason", "in a hurry"];
    assert_eq!(shop.refused(&overtake).await, (4, "parked-behind".to_owned()));
    assert_eq!(shop.count("decisions").await, 0, "neither a dry run nor a refusal is a decision");
    assert_eq!(shop.count("parked WHERE decided_by IS NOT NULL").await, 0);

    let retried = shop.done(&retry).await;
    assert_eq!(
        (text(&retried, "state"), text(&retried, "decided_by"), text(&retried, "decision_reason")),
        ("waiting".into(), SIGNATURE.into(), "limit raised".into())
    );
    assert_eq!(shop.count("holds WHERE resume_requested_at IS NOT NULL").await, 1);
    let topic = ["parked", "retry", "--topic", "shop.visits", "--reason", "made"];
    assert_eq!(shop.done(&topic).await["holds"], 1, "its rows wait already");
    let discard = ["parked", "discard", "--topic", "shop.visits", "--reason", "given up", "--yes"];
    assert_eq!(shop.done(&discard).await["rows"], 2);
    assert_eq!(shop.count(&format!("parked WHERE decided_by = '{SIGNATURE}'")).await, 3);
    let accept = ["outbox", "accept-topic", "shop.visits", "--topic-id", "new", "--reason", "meant"];
    assert_eq!(text(&shop.done(&accept).await, "topic_id"), "new");
    assert_eq!(shop.count(&format!("topics WHERE topic_id = 'new' AND decided_by = '{SIGNATURE}'")).await, 1);

    let visits = r#"{"topic":"shop.visits","code":null}"#;
    let decided = [
        ["parked.retry", "101", "limit raised"],
        ["parked.retry", visits, "made"],
        ["parked.discard", visits, "given up"],
        ["outbox.accept-topic", "shop.visits", "meant"],
    ];
    let signed = decided.map(|[action, subject, reason]| [action, subject, reason, SIGNATURE]);
    assert_eq!(shop.decisions().await, signed);
}

#[tokio::test]
async fn a_row_that_somebody_holds_is_not_waited_for_without_end_and_nothing_is_decided() {
    let shop = Shop::open().await;
    shop.park().await;
    let mut holder = shop.database.admin().await;
    let held = holder.transaction().await.expect("begun");
    held.batch_execute("SELECT FROM shop_outbox.parked WHERE seq = 101 FOR UPDATE").await.expect("held");
    let retry = ["parked", "retry", "101", "--reason", "limit raised"];
    assert_eq!(shop.refused(&retry).await, (1, "outbox-command-failed".to_owned()));
    assert_eq!(shop.count("decisions").await, 0);
    held.rollback().await.expect("let go");
    assert_eq!(text(&shop.done(&retry).await, "state"), "waiting");
}

#[tokio::test]
async fn a_row_that_the_running_relay_could_not_send_is_found_and_discarded_and_its_key_goes_on() {
    let shop = Shop::open().await;
    let topics = TestTopics::fresh();
    let topic = topics.create("orders", 1).await;
    let _relay = shop.system.start(&["relay"]);
    let insert = format!(
        "INSERT INTO shop_outbox.events (topic, key, event_id, header_names, header_values, payload)
         SELECT '{topic}', 'k', 'evt-' || n, '{{}}', '{{}}',
             convert_to(CASE n WHEN 1 THEN repeat('x', 2000000) ELSE n::text END, 'UTF8')
         FROM generate_series(1, 3) AS n"
    );
    shop.run(&insert).await;
    let seq = eventually("the first row is refused, with two behind it", async || {
        let outbox = shop.done(&["outbox", "status"]).await["outboxes"][0].take();
        let parked = shop.done(&["parked", "list", "--state", "refused"]).await;
        let is_held = outbox["parked"]["waiting"] == 2 && text(&outbox, "holder").starts_with("relay-");
        is_held.then(|| seqs(&parked).first().copied()).flatten()
    })
    .await;
    let discard = ["parked", "discard", &seq.to_string(), "--reason", "no broker takes so much"];
    assert_eq!(text(&shop.done(&discard).await, "state"), "discarded");
    let sent = eventually("what waited behind it", async || {
        let sent = read_to_end(&topic).await;
        (sent.len() == 2).then_some(sent)
    })
    .await;
    let payloads: Vec<_> = sent.into_iter().filter_map(|record| record.payload).collect();
    assert_eq!(payloads, [b"2", b"3"]);
}

#[tokio::test]
async fn an_outbox_that_was_restored_goes_on_when_its_owner_says_so_and_nobody_else_can() {
    let shop = Shop::open().await;
    shop.run(
        "INSERT INTO shop_outbox.events (topic, event_id, header_names, header_values)
         VALUES ('orders', 'evt', '{}', '{}');
         UPDATE shop_outbox.cursor SET (system_identifier, timeline) =
             (SELECT system_identifier, timeline FROM shop_outbox.server_identity())",
    )
    .await;
    let rebase = ["outbox", "rebase", "--reason", "restored to 03:00"];
    assert_eq!(shop.refused_by(OWNER, &rebase).await, (4, "rebase-not-needed".to_owned()));
    shop.run("UPDATE shop_outbox.cursor SET system_identifier = '1', timeline = 1").await;
    for login in [OPERATOR, "relay"] {
        assert_eq!(shop.refused_by(login, &rebase).await, (4, "outbox-login-refused".to_owned()), "{login}");
    }

    let would = shop.done_by(OWNER, &[&rebase[..], &["--dry-run"]].concat()).await;
    assert_eq!((text(&would, "way"), &would["sent_first"][0]["rows"]), ("resend".into(), &1.into()));
    assert!(would["log"].is_null(), "what its events mean is not ours to know: {would}");
    assert_eq!(shop.count("cursor WHERE system_identifier = '1'").await, 1, "a dry run leaves all as it is");
    shop.done_by(OWNER, &rebase).await;
    assert_eq!(
        shop.count(
            "cursor, shop_outbox.server_identity() AS server
        WHERE cursor.system_identifier = server.system_identifier"
        )
        .await,
        1
    );
    let decided = ["outbox.rebase", SCHEMA, "restored to 03:00", "postgres:waybill_worker"];
    assert_eq!(shop.decisions().await, [decided]);

    let product = shop.system.database.admin_url();
    let own = [&rebase[..], &["--schema", "outbox", "--database-url", &product]].concat();
    assert_eq!(shop.shell.refused(&own).await, (2, "usage".to_owned()), "exports would be left behind");
}

#[tokio::test]
async fn whoever_names_half_a_place_or_one_without_an_outbox_or_may_not_is_told_so() {
    let shop = Shop::open().await;
    let url = shop.database.role_url(OPERATOR);
    let status = |flags: &[&'static str]| [&["outbox", "status"], flags].concat();
    for half in [&["--schema", SCHEMA][..], &["--database-url", "postgres://127.0.0.1/shop"]] {
        assert_eq!(shop.shell.run(&status(half)).await.status.code(), Some(2), "{half:?}");
    }
    let named = async |flags: &[&'static str]| {
        let mut command = shop.shell.command(&status(flags));
        command.env("WAYBILL_OUTBOX_DATABASE_URL", &url).output().await.expect("the binary starts")
    };
    assert_eq!(named(&["--schema", SCHEMA]).await.status.code(), Some(0));
    assert_eq!(named(&[]).await.status.code(), Some(2), "the api's outbox is not taken for the named one");

    let at = async |schema: &str, url: &str| {
        shop.shell.refused(&["outbox", "status", "--schema", schema, "--database-url", url]).await
    };
    assert_eq!(at("Shop", &url).await, (2, "usage".to_owned()));
    assert_eq!(at("elsewhere", &url).await, (4, "schema-version-unknown".to_owned()));
    assert_eq!(at(SCHEMA, "postgres://127.0.0.1:1/shop").await, (5, "database-unreachable".to_owned()));
    let stranger = shop.database.role_url("search");
    assert_eq!(at(SCHEMA, &stranger).await, (4, "outbox-login-refused".to_owned()));
    shop.park().await;
    let retry = ["parked", "retry", "101", "--reason", "a test"];
    assert_eq!(shop.refused_by("relay", &retry).await, (4, "outbox-login-refused".to_owned()));
    assert_eq!(shop.count("parked WHERE decided_by IS NOT NULL").await, 0);
}
