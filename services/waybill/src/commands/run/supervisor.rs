use std::collections::BTreeSet;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use waybill_runtime::shutdown::ROLE_LIMIT;
use waybill_runtime::{Context, Role};

use super::start::start;
use crate::codes;
use crate::exit::{CommandError, Exit};

/// Runs roles side by side. The first one that fails, or that ends unasked, ends all; then each has [`ROLE_LIMIT`].
pub(super) async fn supervise(
    contexts: Vec<Context>,
    shutdown: CancellationToken,
) -> Result<(), CommandError> {
    let mut running: BTreeSet<Role> = contexts.iter().map(|context| context.role).collect();
    let mut roles = JoinSet::new();
    for context in contexts {
        let role = context.role;
        roles.spawn(async move {
            // A task of its own, so that a panic can be told from the role that it ended.
            (role, tokio::spawn(start(context)).await)
        });
    }
    let mut outcome = Ok(());
    loop {
        let ended = tokio::select! {
            () = shutdown.cancelled() => break,
            ended = roles.join_next() => ended,
        };
        let Some(ended) = ended else { break };
        outcome = judge(ended, &mut running, shutdown.is_cancelled());
        shutdown.cancel();
    }
    let rest = async {
        while let Some(ended) = roles.join_next().await {
            let result = judge(ended, &mut running, true);
            outcome = std::mem::replace(&mut outcome, Ok(())).and(result);
        }
    };
    if tokio::time::timeout(ROLE_LIMIT, rest).await.is_err() {
        let names: Vec<_> = running.iter().map(|role| role.as_str()).collect();
        let message = format!("{} did not end within {} s", names.join(", "), ROLE_LIMIT.as_secs());
        let late = CommandError::new(Exit::Failed, waybill_runtime::codes::SHUTDOWN_TIMED_OUT, message);
        return outcome.and(Err(late));
    }
    outcome
}

type Ended = Result<(Role, Result<Result<(), CommandError>, tokio::task::JoinError>), tokio::task::JoinError>;

/// Strikes the role off, and says whether it ended as it should.
fn judge(ended: Ended, running: &mut BTreeSet<Role>, asked: bool) -> Result<(), CommandError> {
    let failed = |message: String| CommandError::new(Exit::Failed, codes::ROLE_FAILED, message);
    let (role, result) = ended.map_err(|error| failed("a role was lost".to_owned()).with_source(error))?;
    running.remove(&role);
    match result {
        Ok(Ok(())) if asked => {
            tracing::info!(%role, "ended");
            Ok(())
        }
        Ok(Ok(())) => Err(failed(format!("{role} ended without being asked to"))),
        Ok(Err(error)) => Err(error),
        Err(panic) => Err(failed(format!("{role} panicked")).with_source(panic)),
    }
}
