//! A migrated database of one's own, dropped at the end.

use tokio_postgres::{Client, NoTls};
use url::Url;
use uuid::Uuid;
use waybill_devstack::{on_database, without_user};

use crate::environment::{postgres_url, scope};
use crate::template;

/// The roles that log in; the database user of each is `waybill_<role>`.
pub const ROLES: [&str; 7] = ["api", "relay", "worker", "search", "stats", "notifier", "reconciler"];

/// The password of every role in a test. Roles belong to the whole server, so every run must agree on it.
pub const ROLE_PASSWORD: &str = "waybill-test";

/// A database with all migrations applied, cloned from a template that is migrated once for each state of the
/// migrations. Dropped with its connections when this goes out of scope.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
    server: Url,
    goes_with_server: bool,
}

impl TestDatabase {
    /// Makes a fresh one.
    ///
    /// # Panics
    /// When the test server is not announced or refuses.
    pub async fn fresh() -> Self {
        Self::made_on(&postgres_url(), false).await
    }

    /// Makes a fresh one on a server of the test's own, of its administrator's URL. It goes with that server and is never
    /// dropped: a server that a test troubles may be unable to.
    ///
    /// # Panics
    /// When it refuses.
    pub async fn on_server(url: &str) -> Self {
        Self::made_on(url, true).await
    }

    async fn made_on(url: &str, goes_with_server: bool) -> Self {
        let server = parse(url);
        let name = format!("waybill_test_{}_{}", scope(), Uuid::new_v4().simple());
        template::clone_into(&server, &name).await;
        Self { name, server, goes_with_server }
    }

    /// Makes an empty one, as another team's is before it has anything of Waybill's.
    ///
    /// # Panics
    /// When the test server is not announced or refuses.
    pub async fn empty() -> Self {
        let server = parse(&postgres_url());
        let name = format!("waybill_test_{}_{}", scope(), Uuid::new_v4().simple());
        let made = format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'");
        if let Err(error) = connect(server.as_str()).await.batch_execute(&made).await {
            panic!("{made}: {error:?}");
        }
        Self { name, server, goes_with_server: false }
    }

    /// The database's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URL of the server's admin on this database.
    #[must_use]
    pub fn admin_url(&self) -> String {
        on_database(&self.server, &self.name).to_string()
    }

    /// The URL without user and password, as `[database.<schema>] url` wants it.
    #[must_use]
    pub fn plain_url(&self) -> String {
        without_user(&on_database(&self.server, &self.name)).to_string()
    }

    /// The URL of the role's login user: `api`, `relay`, … of [`ROLES`].
    ///
    /// # Panics
    /// When there is no such role.
    #[must_use]
    pub fn role_url(&self, role: &str) -> String {
        assert!(ROLES.contains(&role), "no role is called {role}");
        let mut url = on_database(&self.server, &self.name);
        let named =
            url.set_username(&format!("waybill_{role}")).and_then(|()| url.set_password(Some(ROLE_PASSWORD)));
        named.expect("a postgres URL can carry a user");
        url.to_string()
    }

    /// A connection of the server's admin, for looking at the whole state afterwards.
    pub async fn admin(&self) -> Client {
        connect(&self.admin_url()).await
    }

    /// A connection of the role's login user, with its privileges and no more.
    pub async fn role(&self, role: &str) -> Client {
        connect(&self.role_url(role)).await
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if self.goes_with_server {
            return;
        }
        let server = self.server.clone();
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // A thread of its own: dropping happens inside of a runtime that must not be blocked on itself.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async { connect(server.as_str()).await.batch_execute(&statement).await.ok() })
        });
        if !matches!(dropped.join(), Ok(Some(()))) {
            eprintln!("could not drop {}: it stays until the test server goes", self.name);
        }
    }
}

/// A client on `url`, whose connection is driven by a task of its own.
///
/// # Panics
/// When the server refuses.
pub async fn connect(url: &str) -> Client {
    let (client, connection) = match tokio_postgres::connect(url, NoTls).await {
        Ok(pair) => pair,
        Err(error) => panic!("cannot connect to {}: {error:?}", without_password(url)),
    };
    // Its end is seen by whoever uses the client.
    tokio::spawn(connection);
    client
}

pub(crate) fn parse(url: &str) -> Url {
    Url::parse(url).unwrap_or_else(|error| panic!("{} is no URL: {error}", without_password(url)))
}

fn without_password(url: &str) -> String {
    url.rsplit_once('@').map_or_else(|| url.to_owned(), |(_, rest)| format!("postgres://…@{rest}"))
}
