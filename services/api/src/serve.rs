//! The listener's life.

use std::time::Duration;

use waybill_runtime::Context;

use crate::app::App;
use crate::error::Error;
use crate::health::watch;
use crate::router::router;

/// How long requests and downloads that are under way may go on after the process was asked to end.
const DRAIN_SECONDS_MAX: u64 = 20;

/// Answers callers until `context.shutdown` is cancelled, then lets what is under way end, within a bound.
///
/// # Errors
/// When the configuration cannot be used or the address cannot be listened on. A database that is away is no error:
/// requests are answered 503 until it is back.
pub async fn run(context: Context) -> Result<(), Error> {
    let app = App::new(&context)?;
    let address = context.config.api.listen;
    let listener = context.listen(address).await.map_err(|source| Error::Listen { address, source })?;
    let watching = tokio::spawn(watch(app.clone(), context.health.clone(), context.shutdown.clone()));
    let shutdown = context.shutdown.clone();
    let serving = axum::serve(listener, router(app))
        .with_graceful_shutdown(async move { shutdown.cancelled().await })
        .into_future();
    let drained = async {
        context.shutdown.cancelled().await;
        tokio::time::sleep(Duration::from_secs(DRAIN_SECONDS_MAX)).await;
    };
    let outcome = tokio::select! {
        outcome = serving => outcome.map_err(Error::Serve),
        () = drained => {
            tracing::warn!(drain_seconds_max = DRAIN_SECONDS_MAX, "requests that did not end were broken off");
            Ok(())
        }
    };
    watching.abort();
    outcome
}
