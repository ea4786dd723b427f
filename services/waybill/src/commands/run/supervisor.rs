use std::collections::BTreeSet;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use waybill_runtime::shutdown::ROLE_LIMIT;
use waybill_runtime::{Context, Role};

use super::start::start;
use crate::exit::{CommandError, Exit};

/// Runs roles side by side. The first one that fails, or that ends unasked, ends all; then each has [`ROLE_LIMIT`].
pub(super) async fn supervise(
    contexts: Vec<Context>,
    shutdown: CancellationToken,
) -> Result<(), CommandError> {
    let roles = contexts.into_iter().map(|context| (context.role, start(context)));
    settle(roles, shutdown, ROLE_LIMIT).await
}

async fn settle<F>(
    roles: impl Iterator<Item = (Role, F)>,
    shutdown: CancellationToken,
    limit: Duration,
) -> Result<(), CommandError>
where
    F: Future<Output = Result<(), CommandError>> + Send + 'static,
{
    let mut running = BTreeSet::new();
    let mut tasks = JoinSet::new();
    for (role, work) in roles {
        running.insert(role);
        // A task of its own, so that a panic can be told from the role that it ended.
        tasks.spawn(async move { (role, tokio::spawn(work).await) });
    }
    let mut outcome = Ok(());
    tokio::select! {
        () = shutdown.cancelled() => {}
        ended = tasks.join_next() => {
            outcome = ended.map_or(Ok(()), |ended| judge(ended, &mut running, shutdown.is_cancelled()));
            shutdown.cancel();
        }
    }
    let rest = async {
        while let Some(ended) = tasks.join_next().await {
            let result = judge(ended, &mut running, true);
            outcome = std::mem::replace(&mut outcome, Ok(())).and(result);
        }
    };
    if tokio::time::timeout(limit, rest).await.is_err() {
        let names: Vec<_> = running.iter().map(|role| role.as_str()).collect();
        let message = format!("{} did not end within {} s", names.join(", "), limit.as_secs());
        let late = CommandError::new(Exit::Failed, waybill_runtime::codes::SHUTDOWN_TIMED_OUT, message);
        return outcome.and(Err(late));
    }
    outcome
}

type Ended = Result<(Role, Result<Result<(), CommandError>, JoinError>), JoinError>;

/// Strikes the role off, and says whether it ended as it should.
fn judge(ended: Ended, running: &mut BTreeSet<Role>, asked: bool) -> Result<(), CommandError> {
    let failed =
        |message: String| CommandError::new(Exit::Failed, waybill_runtime::codes::ROLE_FAILED, message);
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio_util::sync::CancellationToken;
    use waybill_runtime::Role;

    use super::settle;
    use crate::exit::{CommandError, Exit};

    const ENOUGH: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_role_that_fails_ends_the_others_and_its_error_is_the_processs() {
        let shutdown = CancellationToken::new();
        let asked = shutdown.clone();
        let roles = [Role::Relay, Role::Worker].into_iter().map(|role| {
            let asked = asked.clone();
            (role, async move {
                if role == Role::Worker {
                    return Err(CommandError::new(Exit::Unavailable, "role-failed", "worker ended"));
                }
                asked.cancelled().await;
                Ok(())
            })
        });
        let error = settle(roles, shutdown, ENOUGH).await.unwrap_err();
        assert_eq!((error.exit, error.message.as_str()), (Exit::Unavailable, "worker ended"));
    }

    #[tokio::test]
    async fn a_role_that_ends_unasked_or_panics_fails_the_process() {
        let ended =
            settle([(Role::Api, async { Ok(()) })].into_iter(), CancellationToken::new(), ENOUGH).await;
        assert_eq!(ended.unwrap_err().message, "api ended without being asked to");
        let panicking = async { panic!("out of luck") };
        let panicked = settle([(Role::Api, panicking)].into_iter(), CancellationToken::new(), ENOUGH).await;
        assert_eq!(panicked.unwrap_err().message, "api panicked");
    }

    #[tokio::test]
    async fn a_role_that_does_not_end_in_time_is_named_and_not_waited_for() {
        let shutdown = CancellationToken::new();
        shutdown.cancel();
        let stuck = [(Role::Relay, std::future::pending())].into_iter();
        let error = settle(stuck, shutdown, Duration::from_millis(10)).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.exit), ("shutdown-timed-out", Exit::Failed));
        assert!(error.message.starts_with("relay did not end"), "{}", error.message);
    }

    #[tokio::test]
    async fn roles_that_end_when_they_are_asked_to_are_a_success() {
        let shutdown = CancellationToken::new();
        shutdown.cancel();
        let asked = shutdown.clone();
        let role = async move {
            asked.cancelled().await;
            Ok(())
        };
        assert!(settle([(Role::Stats, role)].into_iter(), shutdown, ENOUGH).await.is_ok());
    }
}
