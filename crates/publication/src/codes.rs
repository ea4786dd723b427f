//! Why a deployment cannot publish: one slug each, with a page in `docs/errors/`.

/// `[deployment] source` can be no event's source.
pub const DEPLOYMENT_SOURCE_INVALID: &str = "deployment-source-invalid";
/// `[kafka] topic_prefix` gives a name that no topic can have.
pub const TOPIC_PREFIX_INVALID: &str = "topic-prefix-invalid";
