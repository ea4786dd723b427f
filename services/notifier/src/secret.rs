//! The key that signs a tenant's webhooks, derived and never stored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use waybill_domain::ids::TenantId;
use waybill_runtime::Secret;

/// What is derived, and by which version of the derivation.
const PURPOSE: &str = "waybill-webhook-v1:";
/// How Standard Webhooks marks a signing key.
const PREFIX: &str = "whsec_";

/// The signing key of a tenant's webhooks, as `whsec_` and base64: HMAC-SHA256 over the purpose and the tenant's id,
/// keyed with `[notifier.webhook] signing_secret`. The same inputs always give the same key.
pub fn tenant_webhook_secret(master: &Secret, tenant_id: &TenantId) -> Secret {
    Secret::new(format!("{PREFIX}{}", STANDARD.encode(tenant_key(master, tenant_id))))
}

/// The same key as bytes.
pub(crate) fn tenant_key(master: &Secret, tenant_id: &TenantId) -> Vec<u8> {
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(master.expose().as_bytes()).expect("HMAC takes any key");
    mac.update(PURPOSE.as_bytes());
    mac.update(tenant_id.as_str().as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn every_tenant_has_a_key_of_its_own_that_the_library_takes() {
        let master = Secret::new("a master secret");
        let one = tenant_webhook_secret(&master, &TenantId::from_uuid(Uuid::from_u128(1)));
        let other = tenant_webhook_secret(&master, &TenantId::from_uuid(Uuid::from_u128(2)));
        assert_ne!(one.expose(), other.expose());
        assert!(one.expose().starts_with(PREFIX));
        assert!(standardwebhooks::Webhook::new(one.expose()).is_ok());
    }

    #[test]
    fn the_derivation_never_changes() {
        let tenant = TenantId::from_uuid(Uuid::from_u128(1));
        let secret = tenant_webhook_secret(&Secret::new("a master secret"), &tenant);
        assert_eq!(secret.expose(), "whsec_v8xyZR9TYAAiuIwXhGe5f0Kfz8zO5BnicAIAqIVCzWM=");
    }
}
