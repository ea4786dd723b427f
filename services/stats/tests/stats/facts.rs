//! That counters equal the sum over the facts, each counted once.

use waybill_domain::job::FactKind;
use waybill_runtime::Role;
use waybill_stats::run;
use waybill_store::counter::{self, Counts};

use crate::house::{House, fact, tenant};

/// What the api would answer, with its own role's privileges.
async fn orders_of(house: &House, number: u128) -> Option<Counts> {
    let api = house.database.role("api").await;
    let answer = counter::of_tenant(&api, &tenant(number)).await.unwrap();
    assert_eq!(answer.generation, 1);
    answer.counters.iter().find(|counter| counter.dataset == "orders").map(|counter| counter.counts)
}

#[tokio::test]
async fn each_fact_counts_once_whatever_is_repeated() {
    let house = House::fresh(Role::Stats).await;
    let facts = [
        fact(1, 1, FactKind::Requested),
        fact(2, 1, FactKind::Requested),
        fact(1, 2, FactKind::Succeeded),
        fact(2, 2, FactKind::Failed),
        fact(1, 3, FactKind::Expired),
        fact(1, 4, FactKind::Deleted),
        fact(3, 1, FactKind::Requested),
        fact(3, 2, FactKind::Cancelled),
    ];
    house.publish(&facts).await;
    house.publish(&facts[1..3]).await;
    let role = house.start(run);
    house.passed(10).await;
    house.publish(&facts[2..4]).await;
    house.passed(12).await;
    let expected = Counts {
        requested: 3,
        succeeded: 1,
        failed: 1,
        cancelled: 1,
        expired: 1,
        deleted: 1,
        rows: 200,
        bytes: 4_000,
    };
    assert_eq!(orders_of(&house, 1).await, Some(expected));
    role.end().await;
    // The whole log again.
    house.rewind().await;
    let role = house.start(run);
    house.passed(12).await;
    assert_eq!(orders_of(&house, 1).await, Some(expected));
    role.end().await;
}

#[tokio::test]
async fn a_tenant_sees_its_own_counters_and_a_corrupt_record_counts_nowhere() {
    let house = House::fresh(Role::Stats).await;
    let mut theirs = fact(5, 1, FactKind::Requested);
    theirs.export.tenant_id = tenant(9);
    house.publish_rubbish().await;
    house.publish(&[fact(1, 1, FactKind::Requested), theirs]).await;
    let role = house.start(run);
    house.passed(3).await;
    let one = Some(Counts { requested: 1, ..Counts::default() });
    assert_eq!((orders_of(&house, 1).await, orders_of(&house, 9).await), (one, one));
    assert_eq!((orders_of(&house, 4).await, house.parked().await), (None, 1));
    role.end().await;
}
