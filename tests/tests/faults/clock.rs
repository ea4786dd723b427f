//! Row 36: a worker whose clock is an hour off. Leases and due times are the database's, so nothing of it shows.

use std::path::{Path, PathBuf};
use std::process::Command;

use waybill_testkit::{Launch, System};

use crate::aftermath::{Aftermath, facts_are_in_order, the_file_is_right};

/// The C library's calendar time, so many seconds off.
const SHIFTED: &str = include_str!("clock/shifted.c");

/// The library that shifts the calendar of whoever is started with it.
fn shifting_library() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, library) = (folder.join("shifted.c"), folder.join("libshifted.so"));
    std::fs::write(&source, SHIFTED).expect("written");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(compile.status().expect("a C compiler (`./dev` installs it)").success());
    library
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_clock_is_an_hour_off_neither_loses_its_lease_nor_takes_a_live_one() {
    let library = shifting_library();
    let library = library.to_str().expect("a path in UTF-8");
    for seconds in ["3600", "-3600"] {
        let system = System::fresh().await;
        let api = system.start(&["api"]);
        let operator = system.operator(&api).await;
        let caller = system.tenant(&operator, "a tenant").await;
        let _house = system.start(&["relay", "search", "stats", "reconciler"]);
        // It holds its job at this point, alive and with a lease that no test outlasts.
        let patient = system.settings().set("worker.lease_ms", 600_000);
        let holder = Launch::roles(&["worker"], patient).fault_point("worker.verified").start();
        let held = caller.export("held").await;
        holder.wait_stopped().await;

        let off = Launch::roles(&["worker"], system.settings())
            .env("LD_PRELOAD", library)
            .env("SHIFTED_SECONDS", seconds)
            .start();
        let export_id = caller.export("intent-7").await;
        assert_eq!(caller.settled(&export_id).await["state"], "succeeded", "{}", off.log().tail());
        let after = Aftermath::of(&system, &export_id).await;
        assert_eq!(after.attempts().await, ["succeeded"]);
        let sound = "SELECT count(*) FROM export.attempts
                     WHERE export_id = $1 AND abs(extract(epoch FROM ended_at - claimed_at)) < 600
                       AND abs(extract(epoch FROM claimed_at - now())) < 600";
        assert_eq!(after.count(sound).await, 1, "every time that is stored is the database's");
        let of_held = Aftermath::of(&system, &held).await;
        assert_eq!(
            of_held.attempts().await,
            ["running"],
            "a live lease is not over for a clock that is ahead"
        );
        holder.cont().await;
        assert_eq!(caller.settled(&held).await["state"], "succeeded", "{}", holder.log().tail());
        facts_are_in_order(&system, &after).await;
        the_file_is_right(&caller, &export_id).await;
    }
}
