//! SIGTERM ends every role within 30 s, also with an attempt under way and its dependencies dead.

use std::time::{Duration, Instant};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use waybill_testkit::{PrivateBroker, Status, System, eventually};

/// What the product promises, and the scheduling of a loaded machine.
const END_MAX: Duration = Duration::from_secs(30 + 5);

/// A way to Postgres that can be frozen: its connections stay open, and no byte passes any more.
async fn freezable_way(to: String) -> (u16, CancellationToken) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    let frozen = CancellationToken::new();
    let freezing = frozen.clone();
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let (to, frozen) = (to.clone(), freezing.clone());
            tokio::spawn(async move {
                let mut far = TcpStream::connect(to).await.expect("Postgres answers");
                // Not closed when frozen: a peer that is gone without a word.
                if frozen.run_until_cancelled(copy_bidirectional(&mut near, &mut far)).await.is_none() {
                    std::future::pending::<()>().await;
                }
            });
        }
    });
    (port, frozen)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_role_ends_in_time_though_postgres_and_kafka_are_frozen_in_the_middle_of_an_attempt() {
    let broker = PrivateBroker::start();
    let mut system = System::on_kafka(&broker.bootstrap()).await;
    let api = system.start(&["api"]);
    let operator = system.operator(&api).await;
    let caller = system.tenant(&operator, "a tenant").await;
    let plain = reqwest::Url::parse(&system.database.plain_url()).expect("a URL");
    let address = format!("{}:{}", plain.host_str().expect("a host"), plain.port().unwrap_or(5432));
    let (port, frozen) = freezable_way(address).await;
    let mut through = plain.clone();
    through.set_port(Some(port)).expect("a URL with a port");
    for database in
        ["database.export", "database.search", "database.stats", "database.notify", "sources.main"]
    {
        system = system.with(&format!("{database}.url"), through.as_str());
    }
    // The attempt cannot read its data set, and so stays under way.
    let admin = system.database.admin().await;
    admin.batch_execute("BEGIN; LOCK TABLE source.orders").await.expect("locked");
    let house = system.start(&["relay", "worker", "search", "stats", "notifier", "reconciler"]);
    let export_id = caller.export("intent-7").await;
    eventually("the attempt", || async {
        let export = caller.get(&format!("/v1/exports/{export_id}")).await.success();
        (export["state"] == "running").then_some(())
    })
    .await;

    frozen.cancel();
    broker.freeze();
    let asked = Instant::now();
    let status = house.terminate().await;

    assert!(matches!(status, Status::Exited(_)), "{status:?}: {}", house.log().tail());
    assert!(asked.elapsed() <= END_MAX, "it took {:?}: {}", asked.elapsed(), house.log().tail());
    broker.thaw();
}
