//! Identities: opaque, path-safe, told apart by type and by prefix.

use std::fmt;

use serde::{Serialize, Serializer};
use uuid::Uuid;

/// A text that is not an identity of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a {kind}: expected `{prefix}_` and 32 lower-case hexadecimal digits")]
pub struct InvalidId {
    /// The kind that was wanted, as its field is called.
    pub kind: &'static str,
    /// The prefix of that kind.
    pub prefix: &'static str,
}

fn is_id(text: &str, prefix: &str) -> bool {
    let digits = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
    digits.is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// What every identity of this kind begins with, before the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// The identity that carries this UUID.
            pub fn from_uuid(uuid: Uuid) -> Self {
                Self(format!("{}_{}", $prefix, uuid.simple()))
            }

            /// Takes a text that is exactly an identity of this kind.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                if is_id(text, $prefix) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(InvalidId { kind: $kind, prefix: $prefix })
                }
            }

            /// The identity as text, fit for a path, a header and a Kafka key.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    };
}

id!(
    /// Who owns exports.
    TenantId, "ten", "tenant_id"
);
id!(
    /// Who calls: intents belong to it, its keys rotate.
    ServiceAccountId, "sva", "service_account_id"
);
id!(
    /// The public half of an API key.
    ApiKeyId, "key", "api_key_id"
);
id!(
    /// The durable record of one piece of work.
    ExportId, "exp", "export_id"
);
id!(
    /// A file that an attempt wrote.
    CandidateId, "can", "candidate_id"
);
id!(
    /// One thing that somebody is told, once.
    NotificationId, "ntf", "notification_id"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_survives_its_own_text() {
        let id = ExportId::from_uuid(Uuid::from_u128(7));
        assert_eq!(ExportId::parse(id.as_str()), Ok(id));
    }

    #[test]
    fn an_identity_of_another_kind_is_refused() {
        let tenant = TenantId::from_uuid(Uuid::from_u128(7));
        assert!(ExportId::parse(tenant.as_str()).is_err());
    }

    #[test]
    fn paths_upper_case_and_other_lengths_are_refused() {
        let good = ExportId::from_uuid(Uuid::from_u128(0xabc)).to_string();
        for bad in
            ["", "exp_", "exp_../../etc/passwd", &good.to_uppercase(), &good[..35], &format!("{good}0")]
        {
            assert!(ExportId::parse(bad).is_err(), "{bad:?} was taken");
        }
    }
}
