//! What a reader finds, whatever order and company facts come in.

use waybill_contract::Fact;
use waybill_domain::ids::TenantId;
use waybill_domain::job::{FactKind, JobState};
use waybill_domain::search_text::query;
use waybill_runtime::Role;
use waybill_search::run;
use waybill_store::document::{self, Hit};

use crate::house::{House, export, fact, tenant};

/// What the api would answer, with its own role's privileges.
async fn search(house: &House, tenant: &TenantId, text: &str) -> Vec<Hit> {
    let api = house.database.role("api").await;
    let found = document::search(&api, tenant, &query(text).unwrap(), 10).await.unwrap();
    assert_eq!(found.generation, 1);
    found.hits
}

#[tokio::test]
async fn two_chinese_characters_a_word_and_a_label_find_an_export_of_the_own_tenant_alone() {
    let house = House::fresh(Role::Search).await;
    let mut theirs = fact(2, 1, FactKind::Requested);
    theirs.export.tenant_id = tenant(9);
    house.publish(&[fact(1, 1, FactKind::Requested), theirs]).await;
    let role = house.start(run);
    house.passed(2).await;
    for text in ["訂單", "月報", "orders", "finance", "ORD", "東區 team", export(1).as_str()] {
        let hits = search(&house, &tenant(1), text).await;
        assert_eq!(hits.iter().map(|hit| &hit.export_id).collect::<Vec<_>>(), [&export(1)], "{text}");
    }
    for text in ["單訂", "發票", "finances"] {
        assert!(search(&house, &tenant(1), text).await.is_empty(), "{text}");
    }
    assert_eq!(search(&house, &tenant(9), "訂單").await[0].export_id, export(2));
    assert!(search(&house, &tenant(5), "訂單").await.is_empty());
    role.end().await;
}

#[tokio::test]
async fn the_version_orders_writes_and_a_tombstone_stays_even_if_it_comes_first() {
    let house = House::fresh(Role::Search).await;
    let late: Vec<Fact> = vec![
        fact(1, 2, FactKind::Succeeded),
        fact(1, 1, FactKind::Requested),
        fact(2, 3, FactKind::Deleted),
        fact(2, 1, FactKind::Requested),
    ];
    house.publish(&late).await;
    let role = house.start(run);
    house.passed(4).await;
    // Again, each in a batch of its own.
    for fact in
        [fact(1, 1, FactKind::Requested), fact(2, 2, FactKind::Succeeded), fact(2, 1, FactKind::Requested)]
    {
        house.publish(&[fact]).await;
    }
    house.passed(7).await;
    let hits = search(&house, &tenant(1), "訂單").await;
    assert_eq!(hits.len(), 1);
    assert_eq!((&hits[0].export_id, hits[0].version, hits[0].state), (&export(1), 2, JobState::Succeeded));
    assert_eq!((hits[0].rows, hits[0].name.as_deref()), (Some(200), Some("華東區訂單月報")));
    let admin = house.database.admin().await;
    let tombstone = "SELECT version, deleted, name, tokens::text FROM search.documents WHERE export_id = $1";
    let row = admin.query_one(tombstone, &[&export(2).as_str()]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, bool>(1)), (3, true));
    assert_eq!((row.get::<_, Option<&str>>(2), row.get::<_, &str>(3)), (None, ""));
    role.end().await;
}

#[tokio::test]
async fn a_corrupt_record_is_parked_and_the_facts_behind_it_are_found() {
    let house = House::fresh(Role::Search).await;
    house.publish_rubbish().await;
    house.publish(&[fact(1, 1, FactKind::Requested)]).await;
    let role = house.start(run);
    house.passed(2).await;
    assert_eq!(house.parked().await, 1);
    assert_eq!(search(&house, &tenant(1), "訂單").await.len(), 1);
    role.end().await;
}

#[tokio::test]
async fn a_position_moved_back_writes_nothing_twice() {
    let house = House::fresh(Role::Search).await;
    house.publish(&[fact(1, 1, FactKind::Requested), fact(1, 2, FactKind::Succeeded)]).await;
    let role = house.start(run);
    house.passed(2).await;
    role.end().await;
    let admin = house.database.admin().await;
    let applied = "SELECT applied_at::text FROM search.documents";
    let before: String = admin.query_one(applied, &[]).await.unwrap().get(0);
    house.rewind().await;
    let role = house.start(run);
    house.passed(2).await;
    let after: String = admin.query_one(applied, &[]).await.unwrap().get(0);
    assert_eq!(before, after);
    role.end().await;
}
