use std::future::poll_fn;
use std::ops::Deref;

use postgres_openssl::TlsStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, Connection, Notification, Socket};

/// Notifications that nobody has read yet. They are hints, so what does not fit may be lost.
const NOTIFICATIONS_MAX: usize = 64;

/// A connection outside of every pool, whose notifications can be waited for. Dropping it closes it.
pub struct Dedicated {
    /// The connection.
    pub client: Client,
    notifications: mpsc::Receiver<Notification>,
    connection: JoinHandle<()>,
}

impl Dedicated {
    pub(super) fn new(client: Client, mut connection: Connection<Socket, TlsStream<Socket>>) -> Self {
        let (sender, notifications) = mpsc::channel(NOTIFICATIONS_MAX);
        let connection = tokio::spawn(async move {
            // Ends when the connection does. Why it ended is the next statement's error.
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notification(notification) = message {
                    let _ = sender.try_send(notification);
                }
            }
        });
        Self { client, notifications, connection }
    }

    /// The next notification of a channel that was LISTENed to, or none once the connection is lost. Cancel safe.
    pub async fn notified(&mut self) -> Option<Notification> {
        self.notifications.recv().await
    }
}

impl Deref for Dedicated {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Dedicated {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
