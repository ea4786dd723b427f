//! Takes orders over HTTP. An order and the event that tells of it commit in one transaction, or neither does.
//!
//! Before it runs: `waybill outbox install --schema shop_outbox --database-url … --writer shop --relay waybill_relay`.

use anyhow::Context as _;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use deadpool_postgres::{Manager, Pool};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_postgres::NoTls;
use uuid::Uuid;
use waybill_outbox::{Event, Outbox};

/// What stands behind every order.
#[derive(Clone)]
struct Shop {
    pool: Pool,
    outbox: Outbox,
    topic: String,
}

#[derive(Deserialize)]
struct NewOrder {
    customer: String,
    cents: i64,
}

#[derive(Serialize)]
struct Order {
    order_id: String,
    customer: String,
    cents: i64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let setting = |name: &str| std::env::var(name).with_context(|| format!("{name} is not set"));
    let manager = Manager::new(setting("DATABASE_URL")?.parse()?, NoTls);
    let shop = Shop {
        pool: Pool::builder(manager).max_size(8).build()?,
        outbox: Outbox::in_schema("shop_outbox")?,
        topic: setting("ORDERS_TOPIC")?,
    };
    let listener = TcpListener::bind(setting("LISTEN")?).await?;
    println!("listening on {}", listener.local_addr()?);
    Ok(axum::serve(listener, Router::new().route("/orders", post(place)).with_state(shop)).await?)
}

async fn place(
    State(shop): State<Shop>,
    Json(wanted): Json<NewOrder>,
) -> Result<(StatusCode, Json<Order>), StatusCode> {
    match shop.place(wanted).await {
        Ok(order) => Ok((StatusCode::CREATED, Json(order))),
        Err(error) => {
            eprintln!("an order was not placed: {error:#}");
            Err(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

impl Shop {
    /// Every `?` before the commit drops the transaction, which rolls back the order and its event.
    async fn place(&self, wanted: NewOrder) -> anyhow::Result<Order> {
        let NewOrder { customer, cents } = wanted;
        let order = Order { order_id: Uuid::now_v7().to_string(), customer, cents };
        let mut client = self.pool.get().await?;
        let tx = client.transaction().await?;
        // The new row is locked until the commit. Whoever changes an order later locks it first, with SELECT … FOR UPDATE:
        // that is what makes the order of its events the order of its commits.
        let insert = "INSERT INTO shop.orders (order_id, customer, cents) VALUES ($1, $2, $3)";
        tx.execute(insert, &[&order.order_id, &order.customer, &order.cents]).await?;
        let headers = [
            ("ce_specversion".to_owned(), Some(b"1.0".to_vec())),
            ("ce_id".to_owned(), Some(order.order_id.clone().into_bytes())),
            ("ce_source".to_owned(), Some(b"/shop/orders".to_vec())),
            ("ce_type".to_owned(), Some(b"shop.order.placed".to_vec())),
            ("content-type".to_owned(), Some(b"application/json".to_vec())),
        ];
        let event = Event {
            topic: &self.topic,
            key: Some(order.order_id.as_bytes()),
            event_id: &order.order_id,
            headers: &headers,
            payload: Some(&serde_json::to_vec(&order)?),
        };
        self.outbox.append(&*tx, &event).await?;
        tx.commit().await?;
        // A hint, so that the relay need not wait for its next look. It is no error when it gets lost.
        let _ = self.outbox.wake(&client).await;
        Ok(order)
    }
}
