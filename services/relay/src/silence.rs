//! Connections that carry nothing any more although nobody says that they are lost: the other end is gone without a word, or
//! something in between swallows what it takes. The kernel's probes find the former; whatever answers those in the
//! place of the server can only be found by asking the server itself.

use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use tokio::time::{sleep, timeout};

use crate::database::{Connection, Database};

/// How often each connection is asked whether it is still there.
const PING_INTERVAL: Duration = Duration::from_secs(3);

/// How long its answer may take, unless a statement before it does.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// Returns once one of the connections carries nothing any more. The ping goes over the connection itself, behind the
/// statement that is under way. One that takes long is told from one that never arrives, or whose answer does not, by
/// asking over a new connection what the server is at.
pub(crate) async fn falls(pool: &Pool, database: &Database) {
    loop {
        sleep(PING_INTERVAL).await;
        let (reader, mover) = tokio::join!(is_there(pool, &database.reader), is_there(pool, &database.mover));
        if !(reader && mover) {
            return;
        }
    }
}

async fn is_there(pool: &Pool, connection: &Connection) -> bool {
    match timeout(ANSWER_MAX, connection.client().batch_execute("")).await {
        // One that is lost says so to whoever works on it.
        Ok(Ok(()) | Err(_)) => true,
        Err(_elapsed) => {
            distrust(pool);
            is_at_work(pool, connection.backend_pid()).await
        }
    }
}

/// Lets go of what lies idle in the pool: it went the same way, and to find out about each of them would take too long.
pub(crate) fn distrust(pool: &Pool) {
    pool.retain(|_, _| false);
}

async fn is_at_work(pool: &Pool, backend_pid: i32) -> bool {
    let asked = async {
        let db = pool.get().await.ok()?;
        let row = db.query_opt(include_str!("silence/at_work.sql"), &[&backend_pid]).await.ok()??;
        row.try_get::<_, Option<bool>>("is_at_work").ok()?
    };
    timeout(ANSWER_MAX, asked).await.ok().flatten().unwrap_or(false)
}

/// What the server calls this connection.
pub(crate) async fn backend_pid(client: &Object) -> Result<i32, waybill_outbox::window::WindowError> {
    Ok(client.query_one(include_str!("silence/backend_pid.sql"), &[]).await?.try_get(0)?)
}
