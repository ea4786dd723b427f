//! Row 9: the disk under Postgres' data is full.

use std::path::PathBuf;

use tokio_postgres::Client;
use waybill_testkit::{Caller, PrivatePostgres, Process, System, connect};

use super::disk::SmallDisk;
use super::stored::{accepted, is_told_to_come_again, orders};

const DISK_BYTES: u64 = 64 * 1024 * 1024;

/// More than fit into what is left of the pages that there are.
const EXPORTS_MAX: i64 = 2_000;

struct Scene {
    caller: Caller,
    api: Process,
    inspector: Client,
    _system: System,
    disk: SmallDisk,
    _server: PrivatePostgres,
}

impl Scene {
    /// On a server of its own, with a part of its database on a small disk, which is full. The server's log is elsewhere: without
    /// room for that it would end.
    async fn with_on_disk(part: impl FnOnce(&str) -> String) -> Self {
        let server = PrivatePostgres::start(&[]);
        let admin = connect(&server.url()).await;
        let data = admin.query_one("SHOW data_directory", &[]).await.expect("a folder");
        let data = PathBuf::from(data.get::<_, String>(0));
        let disk = SmallDisk::for_owner_of(&data, DISK_BYTES).await;
        let system = System::on_server(&server.url()).await;
        let database = system.database.name();
        let made = format!("CREATE TABLESPACE small LOCATION '{}'", disk.path("data").display());
        admin.batch_execute(&made).await.expect("a tablespace");
        let part = part(database);
        let within = if part.starts_with("DATABASE") { admin } else { system.database.admin().await };
        within.batch_execute(&format!("ALTER {part} SET TABLESPACE small")).await.expect("moved");
        let (api, _operator, caller) = system.called().await;
        let inspector = system.database.admin().await;
        disk.fill();
        Self { caller, api, inspector, _system: system, disk, _server: server }
    }

    /// Asks for exports until one is refused, and gives how many were accepted, and the intent that was not.
    async fn ask_until_refused(&self) -> (i64, String) {
        for exports in 0..EXPORTS_MAX {
            let intent = format!("intent-{exports}");
            let answer = self.caller.ask(&intent, &orders()).await;
            if answer.status != 202 {
                is_told_to_come_again(&answer);
                assert_eq!(answer.code(), "database-unavailable", "{}", self.api.log().tail());
                return (exports, intent);
            }
        }
        panic!("the disk is not full");
    }

    /// What finds the disk full is not there in part, and is there once as soon as there is room.
    async fn takes_whole_exports_alone(&self) {
        let (exports, intent) = self.ask_until_refused().await;
        accepted(&self.inspector, exports).await;
        is_told_to_come_again(&self.caller.ask(&intent, &orders()).await);
        accepted(&self.inspector, exports).await;
        let is_said = self.api.log().lines().iter().any(|line| line.contains("No space left on device"));
        assert!(is_said, "its log does not say why: {}", self.api.log().tail());

        self.disk.make_room();
        let answer = self.caller.ask(&intent, &orders()).await;
        assert_eq!(answer.status, 202, "{}: {}", answer.json(), self.api.log().tail());
        assert_eq!(self.caller.ask(&intent, &orders()).await.status, 200);
        accepted(&self.inspector, exports + 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_finds_the_disk_full_is_not_stored_in_part_and_is_accepted_once_when_there_is_room() {
    let scene = Scene::with_on_disk(|database| format!("DATABASE {database}")).await;
    scene.takes_whole_exports_alone().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_finds_no_room_for_the_last_row_that_it_writes_leaves_nothing_of_the_others() {
    let scene = Scene::with_on_disk(|_| "TABLE export.facts".to_owned()).await;
    scene.takes_whole_exports_alone().await;
}
