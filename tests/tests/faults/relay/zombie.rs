//! Row 13: a relay that stood still past its lease comes back. And how soon another one is there.

use waybill_testkit::Process;

use super::scene::Scene;

/// Notes each takeover with the end of the lease of before, by the database's clock.
const WITNESS: &str = "
    CREATE TABLE outbox.takeovers (
        fence bigint PRIMARY KEY,
        lease_was_until timestamptz NOT NULL,
        taken_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE FUNCTION outbox.note_takeover() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        INSERT INTO outbox.takeovers (fence, lease_was_until) VALUES (NEW.fence, OLD.lease_until);
        RETURN NULL;
    END $$;
    CREATE TRIGGER witness AFTER UPDATE ON outbox.cursor
    FOR EACH ROW WHEN (NEW.fence > OLD.fence) EXECUTE FUNCTION outbox.note_takeover();";

/// Stops a relay at this point, lets another one relay everything, and the first one go on.
async fn comes_back_after_its_takeover(scene: &Scene, point: &str) -> (Process, Process) {
    scene.write_all(1..=3).await;
    let zombie = scene.relay_at(point);
    zombie.wait_stopped().await;
    let fence = scene.fence().await;
    let successor = scene.relay();
    scene.taken_after(fence).await;
    scene.write_all(4..=6).await;
    scene.drained().await;

    let place = scene.place().await;
    zombie.cont().await;
    zombie.logged("fenced").await;
    assert_eq!(scene.place().await, place, "the zombie moved the cursor");
    let of_zombie = format!("SELECT count(*) FROM outbox.batches WHERE fence = {fence}");
    assert_eq!(scene.number(&of_zombie).await, 0, "the zombie recorded a move");
    scene.is_whole().await;
    (zombie, successor)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zombie_with_acknowledged_rows_moves_nothing_and_stands_by() {
    let scene = Scene::new(1).await;
    let (_zombie, successor) = comes_back_after_its_takeover(&scene, "relay.acknowledged").await;
    let fence = scene.fence().await;
    successor.kill().await;
    scene.taken_after(fence).await;
    scene.write(7).await;
    scene.drained().await;
    assert_eq!(scene.is_whole().await.events(), 7, "it stood by, and took over again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zombie_that_comes_back_before_its_successor_moved_anything_is_told_apart_by_its_fence_alone() {
    let scene = Scene::new(1).await;
    scene.write_all(1..=3).await;
    let zombie = scene.relay_at("relay.acknowledged");
    zombie.wait_stopped().await;
    let scene = scene.with(|settings| settings.set("relay.lease_ms", 600_000));
    let successor = scene.relay_at("relay.sent");
    successor.wait_stopped().await;

    let place = scene.place().await;
    zombie.cont().await;
    zombie.logged("fenced").await;
    assert_eq!(
        scene.place().await,
        place,
        "the zombie moved the cursor over rows that its successor answers for"
    );
    assert_eq!(scene.passed().await, 0);
    successor.cont().await;
    scene.drained().await;
    assert_eq!(scene.is_whole().await.events(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zombie_with_rows_on_their_way_puts_no_key_out_of_order() {
    let scene = Scene::new(1).await;
    let (_zombie, _successor) = comes_back_after_its_takeover(&scene, "relay.sent").await;
    scene.write(7).await;
    scene.drained().await;
    assert_eq!(scene.is_whole().await.events(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_within_a_second_of_the_end_of_a_killed_relays_lease_and_not_before() {
    let scene = Scene::new(1).await;
    scene.run(WITNESS).await;
    let first = scene.relay();
    scene.write(1).await;
    scene.drained().await;
    let standby = scene.relay();
    standby.listening("management").await;
    let fence = scene.fence().await;
    first.kill().await;
    let taken = scene.taken_after(fence).await;
    let late = format!(
        "SELECT (extract(epoch FROM taken_at - lease_was_until) * 1000)::bigint
         FROM outbox.takeovers WHERE fence = {taken}"
    );
    let late_ms = scene.number(&late).await;
    assert!((0..=1_000).contains(&late_ms), "taken {late_ms} ms after the end of the lease");
    scene.write(2).await;
    scene.drained().await;
    scene.is_whole().await;
}
