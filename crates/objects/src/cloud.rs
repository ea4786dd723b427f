//! Opens a bucket: S3, Google Cloud Storage or Azure, with the usual variables of the environment and then the settings of
//! the configuration.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::signer::Signer;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use crate::Objects;
use crate::crypto::Crypto;

/// How long a connection to the store may take.
const CONNECT_SECONDS_MAX: u64 = 5;

/// How long a request may be without an answer, its sending included: it is the smallest rate of a part. And how long the
/// body of an answer may then stand still.
const READ_SECONDS_MAX: u64 = 30;

/// How often one request is repeated that the store failed (5xx) or whose answer was lost, where a repetition is harmless.
const RETRIES_MAX: usize = 6;

/// After this long no request is repeated any more; the attempt then fails for a passing reason, and its job waits.
const RETRY_SECONDS_MAX: u64 = 60;

/// The first and the longest wait between two of them, drawn evenly.
const BACKOFF_FIRST_MS: u64 = 100;
const BACKOFF_MAX_SECONDS: u64 = 10;

/// After this long nothing comes of a write any more, with all its repetitions: what whoever collects objects reckons with.
pub const REQUEST_SECONDS_MAX: u64 =
    RETRY_SECONDS_MAX + CONNECT_SECONDS_MAX + READ_SECONDS_MAX + BACKOFF_MAX_SECONDS;

/// A client of a cloud: our bounds, then what the environment says, then the settings. Of the environment only what the
/// client knows: other programs have variables there, too. The three builders are three types without a trait.
macro_rules! configured {
    ($builder:expr, $beginnings:expr, $settings:expr) => {{
        let mut builder =
            $builder.with_client_options(client()).with_retry(retry()).with_crypto_provider(Arc::new(Crypto));
        for (name, value) in environment(&$beginnings) {
            if let Ok(key) = name.parse() {
                builder = builder.with_config(key, value);
            }
        }
        for (name, value) in $settings {
            builder = builder.with_config(name.parse()?, value);
        }
        builder.build()?
    }};
}

/// Whose bucket it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cloud {
    S3,
    Google,
    Azure,
}

impl Cloud {
    /// The cloud that a URL's scheme stands for.
    pub(crate) fn of_scheme(scheme: &str) -> Option<Self> {
        match scheme {
            "s3" => Some(Self::S3),
            "gs" => Some(Self::Google),
            "az" => Some(Self::Azure),
            _ => None,
        }
    }

    /// Opens the bucket; keys begin below the prefix.
    pub(crate) fn open(
        self,
        bucket: &str,
        prefix: &str,
        settings: &[(String, String)],
    ) -> object_store::Result<Objects> {
        match self {
            Self::S3 => {
                let builder = AmazonS3Builder::new().with_bucket_name(bucket);
                below(configured!(builder, ["AWS_"], settings), prefix)
            }
            Self::Google => {
                let builder = GoogleCloudStorageBuilder::new().with_bucket_name(bucket);
                below(configured!(builder, ["GOOGLE_", "SERVICE_ACCOUNT"], settings), prefix)
            }
            Self::Azure => {
                let builder = MicrosoftAzureBuilder::new().with_container_name(bucket);
                below(configured!(builder, ["AZURE_"], settings), prefix)
            }
        }
    }
}

/// The variables of the environment that begin like this, by the names that settings have.
fn environment(beginnings: &[&str]) -> Vec<(String, String)> {
    std::env::vars()
        .filter(|(name, _)| beginnings.iter().any(|beginning| name.starts_with(beginning)))
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect()
}

fn below<S: ObjectStore + MultipartStore + Signer>(store: S, prefix: &str) -> object_store::Result<Objects> {
    let prefix = Path::from_url_path(prefix)?;
    Ok(Objects::with_names(PrefixStore::new(store, prefix)))
}

fn client() -> ClientOptions {
    ClientOptions::new()
        .with_connect_timeout(Duration::from_secs(CONNECT_SECONDS_MAX))
        .with_read_timeout(Duration::from_secs(READ_SECONDS_MAX))
        // The body of an answer takes as long as its reader does, who may be a person on a slow line.
        .with_timeout_disabled()
}

fn retry() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(BACKOFF_FIRST_MS),
            max_backoff: Duration::from_secs(BACKOFF_MAX_SECONDS),
            base: 2.0,
        },
        max_retries: RETRIES_MAX,
        retry_timeout: Duration::from_secs(RETRY_SECONDS_MAX),
    }
}
