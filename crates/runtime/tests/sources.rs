//! What is read from a source over a connection of its own, against a real Postgres.

use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use waybill_runtime::{Config, SourceConnection, Sources};
use waybill_testkit::{TestDatabase, eventually};

/// Several pieces, and a last one that is not full.
const ROWS: i64 = 30_000;
const ROW_BYTES: usize = 100;

async fn connected(database: &TestDatabase) -> SourceConnection {
    let config = format!("[sources.main]\nurl = \"{}\"\n", database.role_url("worker"));
    let config = Config::from_sources(Path::new("test"), &config, []).expect("a configuration");
    Sources::new(Arc::new(config)).connect("main").await.expect("a connection")
}

async fn backend(connection: &SourceConnection) -> i32 {
    connection.query_one("SELECT pg_backend_pid()", &[]).await.expect("an answer").get(0)
}

/// A COPY of rows that are all different and all as long.
fn statement(rows: i64) -> String {
    format!("COPY (SELECT lpad(n::text, {ROW_BYTES}, 'x') FROM generate_series(1, {rows}) AS n) TO STDOUT")
}

#[tokio::test]
async fn a_copy_gives_every_byte_that_the_server_sent_and_the_server_says_how_many_rows_they_are() {
    let database = TestDatabase::fresh().await;
    let connection = connected(&database).await;
    for rows in [ROWS, 0, 1] {
        let mut copy = connection.copy_out(&statement(rows)).await.expect("it begins");
        let (mut bytes, mut digest) = (0, Sha256::new());
        while let Some(piece) = copy.next().await.expect("it goes on") {
            bytes += piece.len();
            digest.update(&piece);
        }
        assert!(copy.next().await.expect("it has ended").is_none());
        connection.batch_execute("SELECT 1").await.expect("the connection is sound");
        let mut expected = Sha256::new();
        for n in 1..=rows {
            expected.update(format!("{n:x>ROW_BYTES$}\n"));
        }
        assert_eq!((bytes as i64, copy.rows_sent()), (rows * (ROW_BYTES as i64 + 1), Some(rows as u64)));
        assert_eq!(digest.finalize(), expected.finalize());
    }
}

#[tokio::test]
async fn a_copy_that_breaks_off_says_so_after_the_rows_before_and_has_no_number_of_rows() {
    let database = TestDatabase::fresh().await;
    let connection = connected(&database).await;
    let broken = format!("COPY (SELECT 1 / ({ROWS} - n) FROM generate_series(1, {ROWS}) AS n) TO STDOUT");
    let mut copy = connection.copy_out(&broken).await.expect("it begins");
    let error = loop {
        match copy.next().await {
            Ok(piece) => assert!(piece.is_some(), "it ended like a whole one"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.code().map(tokio_postgres::error::SqlState::code), Some("22012"), "{error}");
    connection.batch_execute("SELECT 1").await.expect("the connection is sound");
    assert_eq!(copy.rows_sent(), None);
}

#[tokio::test]
async fn whoever_reads_slowly_holds_the_server_up_and_is_not_flooded() {
    let database = TestDatabase::fresh().await;
    let connection = connected(&database).await;
    let pid = backend(&connection).await;
    let mut copy = connection.copy_out(&statement(ROWS * 1_000)).await.expect("it begins");
    assert!(copy.next().await.expect("it goes on").is_some());
    let admin = database.admin().await;
    let waits = "SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'ClientWrite'";
    eventually("the server to wait for its reader", async || {
        admin.query_opt(waits, &[&pid]).await.expect("an answer").map(drop)
    })
    .await;
}

/// Waits until the server has this process no more.
async fn is_gone(admin: &tokio_postgres::Client, pid: i32) {
    eventually("the server to end it", async || {
        let still = admin.query_opt("SELECT FROM pg_stat_activity WHERE pid = $1", &[&pid]).await;
        still.expect("an answer").is_none().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_is_dropped_before_the_first_row_ends_what_its_server_does_for_nobody() {
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    let connection = connected(&database).await;
    let pid = backend(&connection).await;
    let sleeps = "SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'";
    // A server says that a COPY has begun only with its first rows.
    tokio::select! {
        begun = connection.copy_out("COPY (SELECT pg_sleep(3600)) TO STDOUT") => {
            panic!("it has rows, or an error: {:?}", begun.err());
        }
        () = eventually("the server to be at work", async || {
            admin.query_opt(sleeps, &[&pid]).await.expect("an answer").map(drop)
        }) => {}
    }
    drop(connection);
    is_gone(&admin, pid).await;
}

#[tokio::test]
async fn a_connection_that_is_dropped_in_the_middle_of_the_rows_ends_what_its_server_does_for_nobody() {
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    let connection = connected(&database).await;
    let pid = backend(&connection).await;
    let rows = "SELECT CASE WHEN n = 9e5 THEN pg_sleep(3600)::text ELSE repeat('x', 100) END
        FROM generate_series(1, 1e6) AS n";
    let mut copy = connection.copy_out(&format!("COPY ({rows}) TO STDOUT")).await.expect("it begins");
    assert!(copy.next().await.expect("it goes on").is_some());
    drop(copy);
    drop(connection);
    is_gone(&admin, pid).await;
}
