//! Which outbox a command is about, and the way to it: the product's own through the api, or any over a connection of the
//! command's own. Both ways give one answer.

use serde_json::Value;
use waybill_operator::{Proposal, Wanted};
use waybill_outbox::parked::Verb;
use waybill_runtime::config::DatabaseUrl;

use super::super::{CommandError, text};
use super::direct::Direct;
use crate::client::{Client, Holder};

/// Where the help lists the flags that lead to another outbox.
const HEADING: &str = "Another outbox than the product's own";

/// Which outbox. Without a place it is the product's own, and the api is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// The schema of the outbox, as `waybill outbox install` has it
    #[arg(long, value_name = "NAME", requires = "database_url", help_heading = HEADING)]
    schema: Option<String>,
    /// The database that it is in, and a login that was installed as its --operator; for a rebase, its owner
    #[arg(
        long,
        value_name = "URL",
        env = "WAYBILL_OUTBOX_DATABASE_URL",
        hide_env_values = true,
        value_parser = database_url,
        requires = "schema",
        help_heading = HEADING
    )]
    database_url: Option<DatabaseUrl>,
}

impl Place {
    /// A connection to the outbox in that place, if one is named.
    pub(super) async fn direct(&self) -> Result<Option<Direct>, CommandError> {
        // The grammar lets neither stand without the other.
        match (&self.schema, &self.database_url) {
            (Some(schema), Some(url)) => Ok(Some(Direct::connect(schema, url).await?)),
            (None, _) | (_, None) => Ok(None),
        }
    }

    /// The way to the outbox.
    pub(crate) async fn reach(&self) -> Result<Reach, CommandError> {
        match self.direct().await? {
            Some(direct) => Ok(Reach::Direct(direct)),
            None => Ok(Reach::Api(Client::from_environment(Holder::Operator)?)),
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "clap's parsers may refuse; this one lets the driver do it")]
pub(super) fn database_url(url: &str) -> Result<DatabaseUrl, std::convert::Infallible> {
    Ok(DatabaseUrl::new(url))
}

/// The way to an outbox, for a person who operates it.
pub(crate) enum Reach {
    /// The product's own, as the operator of `WAYBILL_API_KEY`.
    Api(Client),
    /// Any, as the login of its database.
    Direct(Direct),
}

impl Reach {
    /// How the outbox stands.
    pub(super) async fn status(&mut self) -> Result<Value, CommandError> {
        match self {
            Self::Api(client) => client.get("/v1/ops/outbox").await,
            Self::Direct(direct) => direct.status().await,
        }
    }

    /// A page of its parked rows.
    pub(crate) async fn list(&mut self, wanted: &Wanted<'_>) -> Result<Value, CommandError> {
        match self {
            Self::Api(client) => client.get(&list_path(wanted)).await,
            Self::Direct(direct) => direct.list(wanted).await,
        }
    }

    /// One parked row whole.
    pub(crate) async fn show(&mut self, seq: i64) -> Result<Value, CommandError> {
        match self {
            Self::Api(client) => client.get(&format!("/v1/ops/parked/{seq}")).await,
            Self::Direct(direct) => direct.show(&seq.to_string()).await,
        }
    }

    /// Carries out what is proposed, or only says what it would do.
    pub(crate) async fn decide(
        &mut self,
        proposal: &Proposal<'_>,
        reason: &str,
        is_dry_run: bool,
    ) -> Result<Value, CommandError> {
        match self {
            Self::Api(client) => {
                let body = serde_json::json!({ "reason": reason, "dry_run": is_dry_run });
                client.post(&decision_path(proposal), &body).await
            }
            Self::Direct(direct) => direct.decide(proposal, reason, is_dry_run).await,
        }
    }
}

fn list_path(wanted: &Wanted<'_>) -> String {
    let limit = wanted.limit.to_string();
    let parameters = [
        ("topic", wanted.filter.topic),
        ("code", wanted.filter.code),
        ("state", wanted.state),
        ("after", wanted.after),
        ("limit", Some(limit.as_str())),
    ];
    text::address("/v1/ops/parked", &given(&parameters))
}

fn decision_path(proposal: &Proposal<'_>) -> String {
    match proposal {
        Proposal::Row { verb, seq } => format!("/v1/ops/parked/{seq}/{}", word(*verb)),
        Proposal::Matching { verb, filter } => {
            let parameters = [("topic", filter.topic), ("code", filter.code)];
            text::address(&format!("/v1/ops/parked/{}", word(*verb)), &given(&parameters))
        }
        Proposal::Topic { topic, topic_id } => {
            text::address("/v1/ops/outbox/accept-topic", &[("topic", topic), ("topic_id", topic_id)])
        }
    }
}

/// The parameters that have a value.
fn given<'a>(parameters: &[(&'a str, Option<&'a str>)]) -> Vec<(&'a str, &'a str)> {
    parameters.iter().filter_map(|(name, value)| Some((*name, (*value)?))).collect()
}

const fn word(verb: Verb) -> &'static str {
    match verb {
        Verb::Retry => "retry",
        Verb::Discard => "discard",
    }
}

#[cfg(test)]
mod tests {
    use waybill_outbox::parked::Filter;

    use super::*;

    #[test]
    fn what_is_asked_and_proposed_has_its_path_in_the_api() {
        let filter = Filter { topic: Some("a&b"), code: None };
        let wanted = Wanted { filter, state: Some("sent"), after: Some("3.17"), limit: 2 };
        assert_eq!(list_path(&wanted), "/v1/ops/parked?topic=a%26b&state=sent&after=3.17&limit=2");
        let paths = [
            (Proposal::Row { verb: Verb::Retry, seq: 7 }, "/v1/ops/parked/7/retry"),
            (Proposal::Matching { verb: Verb::Discard, filter }, "/v1/ops/parked/discard?topic=a%26b"),
            (
                Proposal::Topic { topic: "orders", topic_id: "a_b-c" },
                "/v1/ops/outbox/accept-topic?topic=orders&topic_id=a_b-c",
            ),
        ];
        for (proposal, path) in paths {
            assert_eq!(decision_path(&proposal), path);
        }
    }
}
