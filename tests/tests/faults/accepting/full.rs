//! Row 9: the disk under Postgres' data is full.

use std::path::PathBuf;

use waybill_testkit::{PrivatePostgres, System, connect};

use super::disk::SmallDisk;
use super::stored::{accepted, is_told_to_come_again, orders};

const DISK_BYTES: u64 = 64 * 1024 * 1024;

/// More than fit into what is left of the pages that there are.
const EXPORTS_MAX: i64 = 2_000;

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_finds_the_disk_full_is_not_stored_in_part_and_is_accepted_once_when_there_is_room() {
    let server = PrivatePostgres::start(&[]);
    let admin = connect(&server.url()).await;
    let data = admin.query_one("SHOW data_directory", &[]).await.expect("a folder");
    let data = PathBuf::from(data.get::<_, String>(0));
    let disk = SmallDisk::for_owner_of(&data, DISK_BYTES).await;
    let system = System::on_server(&server.url()).await;
    // Its tables are on that disk; the log of the server is not, or it would end.
    let made = format!("CREATE TABLESPACE small LOCATION '{}'", disk.path("data").display());
    admin.batch_execute(&made).await.expect("a tablespace");
    let moved = format!("ALTER DATABASE {} SET TABLESPACE small", system.database.name());
    admin.batch_execute(&moved).await.expect("moved");
    let (api, _operator, caller) = system.called().await;
    let inspector = system.database.admin().await;

    disk.fill();
    let mut exports = 0;
    let intent = loop {
        let intent = format!("intent-{exports}");
        let answer = caller.ask(&intent, &orders()).await;
        if answer.status != 202 {
            is_told_to_come_again(&answer);
            assert_eq!(answer.code(), "database-unavailable", "{}", api.log().tail());
            break intent;
        }
        exports += 1;
        assert!(exports < EXPORTS_MAX, "the disk is not full");
    };
    accepted(&inspector, exports).await;
    is_told_to_come_again(&caller.ask(&intent, &orders()).await);
    accepted(&inspector, exports).await;
    let full = api.log().lines().iter().any(|line| line.contains("No space left on device"));
    assert!(full, "the log does not say why: {}", api.log().tail());

    disk.make_room();
    let answer = caller.ask(&intent, &orders()).await;
    assert_eq!(answer.status, 202, "{}: {}", answer.json(), api.log().tail());
    accepted(&inspector, exports + 1).await;
    assert_eq!(caller.ask(&intent, &orders()).await.status, 200);
    accepted(&inspector, exports + 1).await;
}
