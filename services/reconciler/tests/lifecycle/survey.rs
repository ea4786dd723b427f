//! What lies in the store, against the rows.

use std::fs::File;
use std::time::{Duration, SystemTime};

use waybill_reconciler::{Surveyed, survey};

use crate::house::House;

/// Lets a file be from two hours ago.
fn age(house: &House, key: &str) {
    let file = File::options().write(true).open(house.file(key)).expect("the file");
    let long_ago = SystemTime::now() - Duration::from_secs(2 * 60 * 60);
    file.set_modified(long_ago).expect("aged");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_no_row_knows_is_counted_and_never_deleted() {
    let house = House::new().await;
    house.export("succeeded", "succeeded", "selected").await;
    for key in ["exports/somebody/elses", "exports/ten/young"] {
        house.write(key);
    }
    age(&house, "exports/somebody/elses");
    let wanted = Surveyed { objects: 3, unknown: 1, returned: 0 };
    for _ in 0..2 {
        assert_eq!(survey(&house.pool(), &house.objects()).await.expect("a survey"), wanted);
    }
    house.collect().await;
    assert!(house.file("exports/somebody/elses").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_came_back_after_it_was_deleted_is_deleted_again() {
    let house = House::new().await;
    let made = house.export("failed", "failed", "condemned").await;
    house.age(&made, 14).await;
    assert_eq!(house.collect().await.deleted, 1);
    house.write(&made.key);
    let surveyed = survey(&house.pool(), &house.objects()).await.expect("a survey");
    assert_eq!(surveyed, Surveyed { objects: 1, unknown: 0, returned: 1 });
    assert!(!house.file(&made.key).exists());
}
