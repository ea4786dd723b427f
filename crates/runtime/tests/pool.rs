//! What a pool hands out, against a real Postgres.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use waybill_runtime::config::DatabaseUrl;
use waybill_runtime::{Config, Context, Health, Role, Schema, Secret};
use waybill_testkit::{ROLE_PASSWORD, TestDatabase, within};

/// A pool of the relay with one connection, so that the next caller gets the one that was given back.
fn context(url: &str) -> Context {
    let mut config = Config::default();
    config.database.export.url = Some(DatabaseUrl::new(url));
    config.database.export.pool_connections_max = 1;
    config.database.export.acquire_timeout_ms = 200;
    config.credentials.relay.password = Some(Secret::new(ROLE_PASSWORD));
    let health = Health::new(Role::Relay);
    Context::new(Arc::new(config), Role::Relay, &health, CancellationToken::new()).expect("no file to read")
}

async fn backend(client: &tokio_postgres::Client) -> i32 {
    client.query_one("SELECT pg_backend_pid()", &[]).await.expect("an open connection").get(0)
}

#[tokio::test]
async fn a_connection_works_in_its_schema_under_its_roles_name() {
    let database = TestDatabase::fresh().await;
    let client = context(&database.plain_url()).pool(Schema::Outbox).unwrap().get().await.unwrap();
    let row = client
        .query_one(
            "SELECT current_user::text, current_schema()::text, current_setting('application_name'),
                    current_setting('idle_in_transaction_session_timeout')",
            &[],
        )
        .await
        .unwrap();
    let seen: [&str; 4] = [row.get(0), row.get(1), row.get(2), row.get(3)];
    assert_eq!(seen, ["waybill_relay", "outbox", "waybill_relay", "15s"]);
}

#[tokio::test]
async fn a_statement_of_the_api_ends_at_the_server_when_nobody_waits_for_it_any_more() {
    let database = TestDatabase::fresh().await;
    let mut config = Config::default();
    config.database.export.url = Some(DatabaseUrl::new(database.plain_url()));
    config.credentials.api.password = Some(Secret::new(ROLE_PASSWORD));
    config.api.request_timeout_ms = 50;
    let health = Health::new(Role::Api);
    let context = Context::new(Arc::new(config), Role::Api, &health, CancellationToken::new()).unwrap();
    let client = context.pool(Schema::Export).unwrap().get().await.unwrap();
    let endless = client.batch_execute("SELECT pg_sleep(3600)");
    let ended = within("the end of a statement", endless).await.expect_err("it is ended");
    assert_eq!(ended.code().map(tokio_postgres::error::SqlState::code), Some("57014"), "{ended}");
}

#[tokio::test]
async fn a_sound_connection_is_used_again() {
    let database = TestDatabase::fresh().await;
    let pool = context(&database.plain_url()).pool(Schema::Outbox).unwrap();
    let first = backend(&pool.get().await.unwrap()).await;
    assert_eq!(backend(&pool.get().await.unwrap()).await, first);
}

#[tokio::test]
async fn a_connection_that_was_given_back_inside_of_a_transaction_is_never_handed_out() {
    let database = TestDatabase::fresh().await;
    let pool = context(&database.plain_url()).pool(Schema::Outbox).unwrap();
    for left_open in ["BEGIN", "BEGIN; SELECT 1/0"] {
        let client = pool.get().await.unwrap();
        let first = backend(&client).await;
        let _ = client.batch_execute(left_open).await;
        drop(client);
        assert_ne!(backend(&pool.get().await.unwrap()).await, first, "after {left_open}");
    }
}

#[tokio::test]
async fn a_connection_that_has_turned_read_only_is_never_handed_out() {
    let database = TestDatabase::fresh().await;
    let pool = context(&database.plain_url()).pool(Schema::Outbox).unwrap();
    let client = pool.get().await.unwrap();
    let first = backend(&client).await;
    client.batch_execute("SET default_transaction_read_only = on").await.unwrap();
    drop(client);
    assert_ne!(backend(&pool.get().await.unwrap()).await, first);
}

#[tokio::test]
async fn a_connection_whose_server_process_is_gone_is_never_handed_out() {
    let database = TestDatabase::fresh().await;
    let pool = context(&database.plain_url()).pool(Schema::Outbox).unwrap();
    let first = backend(&pool.get().await.unwrap()).await;
    let admin = database.admin().await;
    admin.execute("SELECT pg_terminate_backend($1, 5000)", &[&first]).await.unwrap();
    assert_ne!(backend(&pool.get().await.unwrap()).await, first);
}

#[tokio::test]
async fn whoever_waits_for_a_connection_in_vain_is_told_in_time() {
    let database = TestDatabase::fresh().await;
    let pool = context(&database.plain_url()).pool(Schema::Outbox).unwrap();
    let _held = pool.get().await.unwrap();
    let begun = Instant::now();
    assert!(pool.get().await.is_err());
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_server_that_accepts_and_never_answers_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let begun = Instant::now();
    let Err(error) = context(&format!("postgres://{address}/waybill")).dedicated(Schema::Outbox).await else {
        panic!("nobody answered")
    };
    assert!(error.is_dependency(), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_connection_that_no_longer_answers_costs_a_caller_seconds_and_not_minutes() {
    let database = TestDatabase::fresh().await;
    let (proxy, stalled) = proxy(&database.plain_url()).await;
    let pool = context(&proxy).pool(Schema::Outbox).unwrap();
    drop(pool.get().await.unwrap());
    stalled.cancel();
    let begun = Instant::now();
    // The look at the old connection is given up, and a new one goes the same dead way.
    assert!(pool.get().await.is_err());
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_dedicated_connection_hears_notifications_and_says_when_it_is_lost() {
    let database = TestDatabase::fresh().await;
    let mut listener = context(&database.plain_url()).dedicated(Schema::Outbox).await.unwrap();
    listener.client.batch_execute("LISTEN waybill_outbox").await.unwrap();
    let admin = database.admin().await;
    admin.batch_execute("NOTIFY waybill_outbox, 'x'").await.unwrap();
    assert_eq!(listener.notified().await.unwrap().payload(), "x");
    let pid = backend(&listener.client).await;
    admin.execute("SELECT pg_terminate_backend($1, 5000)", &[&pid]).await.unwrap();
    assert!(listener.notified().await.is_none());
}

/// A way to the server that stops carrying bytes, both old connections' and new ones', when the token is cancelled.
async fn proxy(url: &str) -> (String, CancellationToken) {
    let (scheme, rest) = url.split_once("://").expect("a postgres address and a free port");
    let (place, database) = rest.split_once('/').expect("a postgres address and a free port");
    let (place, stalled) = (place.to_owned(), CancellationToken::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a postgres address and a free port");
    let url = format!(
        "{scheme}://{}/{database}",
        listener.local_addr().expect("a postgres address and a free port")
    );
    let stop = stalled.clone();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut inner, _)) = listener.accept().await {
            if stop.is_cancelled() {
                held.push(inner);
                continue;
            }
            let (place, stop) = (place.clone(), stop.clone());
            tokio::spawn(async move {
                let mut outer = TcpStream::connect(place).await.expect("a postgres address and a free port");
                tokio::select! {
                    _ = copy_bidirectional(&mut inner, &mut outer) => {}
                    () = stop.cancelled() => std::future::pending().await,
                }
            });
        }
    });
    (url, stalled)
}
