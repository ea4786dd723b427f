//! A bucket on a server that speaks S3 (moto, from PyPI), behind a network that can fail its requests.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use toml::Value;

use crate::bounded::within;
use crate::python::python;
use crate::store_proxy::StoreProxy;

/// The server and all that it needs, pinned with hashes.
const REQUIREMENTS: &str = include_str!("bucket/requirements.txt");

/// Starts the server on a free port and says which.
const SERVER: &str = include_str!("bucket/server.py");

const NAME: &str = "waybill";

/// A bucket of a test's own. Its server is killed when this goes out of scope.
#[derive(Debug)]
pub struct Bucket {
    server: SocketAddr,
    proxy: StoreProxy,
    _process: Child,
}

impl Bucket {
    /// An empty one. `cache` is where Python's packages are kept from run to run.
    ///
    /// # Panics
    /// When the server does not start.
    pub async fn fresh(cache: &Path) -> Self {
        let mut process = Command::new(python(REQUIREMENTS, cache).await)
            .args(["-c", SERVER])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start the store's server: {error}"));
        let stdout = process.stdout.take().unwrap_or_else(|| panic!("it was piped"));
        let mut lines = BufReader::new(stdout).lines();
        let line = within("the store's server to say where it listens", lines.next_line()).await;
        let line = line.unwrap_or_else(|error| panic!("{error}")).unwrap_or_default();
        let port: u16 = line.trim().parse().unwrap_or_else(|error| panic!("{line:?}: {error}"));
        let server = SocketAddr::from(([127, 0, 0, 1], port));
        let made = http().put(format!("http://{server}/{NAME}")).send().await;
        let made = made.unwrap_or_else(|error| panic!("cannot make a bucket: {error}"));
        assert!(made.status().is_success(), "cannot make a bucket: {}", made.status());
        Self { server, proxy: StoreProxy::before(server).await, _process: process }
    }

    /// `[object_store] url`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("s3://{NAME}/below/here")
    }

    /// `[object_store.settings]`, by way of the proxy.
    #[must_use]
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        settings(self.proxy.address())
    }

    /// Where the bucket itself is, past the proxy.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://{}/{NAME}", self.server)
    }

    /// How many uploads it holds that have not ended, by S3's own list of them.
    ///
    /// # Panics
    /// When it does not answer.
    pub async fn unended_uploads(&self) -> usize {
        let asked = async { http().get(format!("{}?uploads", self.address())).send().await?.text().await };
        let list = asked.await.unwrap_or_else(|error| panic!("no list of uploads: {error}"));
        assert!(list.contains("ListMultipartUploadsResult"), "{list}");
        list.matches("<UploadId>").count()
    }

    /// `[object_store.settings]` as a value of the configuration.
    #[must_use]
    pub fn settings_table(&self) -> Value {
        Value::Table(
            self.settings().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect(),
        )
    }

    /// The network before it.
    #[must_use]
    pub fn proxy(&self) -> &StoreProxy {
        &self.proxy
    }
}

fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap_or_else(|error| panic!("no HTTP client: {error}"))
}

fn settings(address: SocketAddr) -> Vec<(&'static str, String)> {
    vec![
        ("aws_endpoint", format!("http://{address}")),
        ("aws_allow_http", "true".to_owned()),
        ("aws_region", "us-east-1".to_owned()),
        ("aws_access_key_id", "test".to_owned()),
        ("aws_secret_access_key", "a-secret-of-a-test".to_owned()),
    ]
}
