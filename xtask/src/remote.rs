//! What is asked of a Postgres server directly: whether it answers, and a database of one's own.

use anyhow::{Context, Result};
use tokio_postgres::{Client, NoTls};

/// A runtime for the few questions that are asked over the network.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(future))
}

/// A client whose connection is driven by a task of its own.
pub(crate) async fn connect(url: &str) -> Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("cannot connect to Postgres")?;
    // Its end is seen by whoever uses the client.
    tokio::spawn(connection);
    Ok(client)
}

/// Makes the database unless it is there. Gives whether it had to.
pub(crate) async fn make_database(admin_url: &str, name: &str) -> Result<bool> {
    let admin = connect(admin_url).await?;
    if admin.query_opt("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await?.is_some() {
        return Ok(false);
    }
    // From template0, so that the encoding does not hang on how somebody made the server.
    admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")).await?;
    Ok(true)
}

/// Drops the databases whose name begins with `prefix`, and whoever is connected to them.
pub(crate) async fn drop_databases(admin_url: &str, prefix: &str) -> Result<usize> {
    let admin = connect(admin_url).await?;
    let found =
        admin.query("SELECT datname FROM pg_database WHERE starts_with(datname, $1)", &[&prefix]).await?;
    for row in &found {
        let name: String = row.get(0);
        admin.batch_execute(&format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)")).await?;
    }
    Ok(found.len())
}

/// The same server, another database.
pub(crate) fn on_database(url: &str, name: &str) -> Result<String> {
    let (server, parameters) = url.split_once('?').unwrap_or((url, ""));
    let scheme_end = server.find("://").context("a Postgres URL begins with postgres://")? + 3;
    let server = server[scheme_end..].find('/').map_or(server, |slash| &server[..scheme_end + slash]);
    let parameters = if parameters.is_empty() { String::new() } else { format!("?{parameters}") };
    Ok(format!("{server}/{name}{parameters}"))
}

/// The same address without user and password.
pub(crate) fn without_user(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}{}", &url[..scheme + 3], &url[at + 1..]),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_its_server_and_parameters_and_changes_its_database() {
        let url = "postgres://a:b@host:5433/postgres?sslmode=require";
        assert_eq!(on_database(url, "mine").unwrap(), "postgres://a:b@host:5433/mine?sslmode=require");
        assert_eq!(on_database("postgres://host", "mine").unwrap(), "postgres://host/mine");
    }

    #[test]
    fn a_url_without_its_user_has_no_password_either() {
        assert_eq!(without_user("postgres://a:b%40@host:1/x"), "postgres://host:1/x");
        assert_eq!(without_user("postgres://host:1/x"), "postgres://host:1/x");
    }
}
