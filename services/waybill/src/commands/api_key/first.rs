//! The first operator: made through Postgres itself, because no key can call the api before there is one.

use serde_json::{Value, json};
use uuid::Uuid;
use waybill_api::Bearer;
use waybill_domain::ids::ServiceAccountId;
use waybill_runtime::{Config, Schema, connect_as_admin};
use waybill_store::api_key::{self, NewApiKey, Scope};
use waybill_store::decision::{self, NewDecision};
use waybill_store::{StoreError, service_account};

use super::super::{CommandError, database_refused};
use crate::client::codes;
use crate::exit::Exit;

/// What the first operator is called.
const NAME: &str = "operator";
/// Who is recorded as having made it: nobody whom the api knows.
const PRINCIPAL: &str = "postgres-admin";
const SECONDS_OF_A_DAY: u32 = 86_400;

/// A number of days in the unit that keys count in.
pub(super) fn seconds(days: u32) -> u32 {
    days.saturating_mul(SECONDS_OF_A_DAY)
}

/// Makes the operator's service account where it is not there yet, and a key for it.
pub(super) async fn create(
    config: &Config,
    valid_days: Option<u32>,
    yes: bool,
) -> Result<Value, CommandError> {
    let mut admin = connect_as_admin(config, Schema::Export).await.map_err(database_refused)?;
    let bearer = Bearer::generate();
    let made = store(&mut admin.client, &bearer, valid_days, yes).await.map_err(failed)?;
    let Some(mut made) = made else {
        return Err(CommandError::new(
            Exit::Refused,
            codes::OPERATOR_KEY_EXISTS,
            "an operator's key exists that is neither expired nor revoked",
        )
        .with_hint("use that one, or add --yes to make another"));
    };
    made["api_key"] = bearer.expose().into();
    Ok(made)
}

/// One transaction. `None`: there is a usable key already, and no other was asked for.
async fn store(
    admin: &mut tokio_postgres::Client,
    bearer: &Bearer,
    valid_days: Option<u32>,
    yes: bool,
) -> Result<Option<Value>, StoreError> {
    let tx = admin.transaction().await?;
    if !yes && api_key::count_usable_ops(&tx).await? > 0 {
        return Ok(None);
    }
    let id = ServiceAccountId::from_uuid(Uuid::now_v7());
    let account = match service_account::insert(&tx, &id, None, NAME).await? {
        Some(made) => Some(made),
        None => service_account::find_operator(&tx, NAME).await?,
    };
    let service_account_id = account.map_or(id, |account| account.service_account_id);
    let key = NewApiKey {
        api_key_id: &bearer.api_key_id,
        service_account_id: &service_account_id,
        secret_sha256: &bearer.secret_sha256(),
        scopes: &[Scope::Ops],
        created_by: PRINCIPAL,
        valid_seconds: valid_days.map(seconds).map(i64::from),
        rotated_from: None,
    };
    let made = api_key::insert(&tx, &key).await?;
    let decided = NewDecision {
        principal: PRINCIPAL,
        action: "api-key.create-first",
        subject: made.api_key_id.as_str(),
        reason: "waybill api-key create --first",
    };
    decision::insert(&tx, decided).await?;
    tx.commit().await?;
    Ok(Some(json!({
        "api_key_id": made.api_key_id,
        "service_account_id": made.service_account_id,
        "scopes": [Scope::Ops.as_str()],
        "expires_at": made.expires_at,
    })))
}

fn failed(error: StoreError) -> CommandError {
    let exit = Exit::of(&error);
    CommandError::new(exit, waybill_api::codes::DATABASE_UNAVAILABLE, "the key could not be stored")
        .with_source(error)
        .with_hint("waybill migrate plan says whether the schemas are there")
}
