//! The text of an API key: `wbk_<key id>_<secret>`. The id finds the key's row, the digest of the secret is compared.

use std::fmt;

use rand::RngCore;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use uuid::Uuid;
use waybill_domain::hex;
use waybill_domain::ids::ApiKeyId;

/// What every key begins with, so that a scanner for leaked secrets can tell what it found.
const PREFIX: &str = "wbk_";
const ID_HEX_DIGITS: usize = 32;
const SECRET_BYTES: usize = 32;

/// A whole key, with its secret. It is shown once, when it is made; `Debug` does not show it.
pub struct Bearer {
    /// The public half.
    pub api_key_id: ApiKeyId,
    secret: String,
}

impl Bearer {
    /// A new key with a random secret.
    #[must_use]
    pub fn generate() -> Self {
        let mut secret = [0_u8; SECRET_BYTES];
        rand::rng().fill_bytes(&mut secret);
        Self { api_key_id: ApiKeyId::from_uuid(Uuid::now_v7()), secret: hex(&secret) }
    }

    /// Takes the text of a key, or nothing that is almost one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        let (id, secret) = (rest.get(..ID_HEX_DIGITS)?, rest.get(ID_HEX_DIGITS..)?.strip_prefix('_')?);
        let api_key_id = ApiKeyId::parse(&format!("{}_{id}", ApiKeyId::PREFIX)).ok()?;
        let is_secret = secret.len() == 2 * SECRET_BYTES && secret.bytes().all(|b| b.is_ascii_hexdigit());
        is_secret.then(|| Self { api_key_id, secret: secret.to_owned() })
    }

    /// What is stored of the secret.
    #[must_use]
    pub fn secret_sha256(&self) -> [u8; 32] {
        Sha256::digest(self.secret.as_bytes()).into()
    }

    /// Whether this digest is the secret's, in a time that does not tell how much of it is right.
    #[must_use]
    pub fn matches(&self, stored_sha256: &[u8]) -> bool {
        self.secret_sha256().ct_eq(stored_sha256).into()
    }

    /// The whole text, to be shown once to whoever asked for the key.
    #[must_use]
    pub fn expose(&self) -> String {
        let id = self.api_key_id.as_str().trim_start_matches(ApiKeyId::PREFIX);
        format!("{PREFIX}{}_{}", id.trim_start_matches('_'), self.secret)
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearer").field("api_key_id", &self.api_key_id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_own_text_and_matches_only_its_own_digest() {
        let key = Bearer::generate();
        let again = Bearer::parse(&key.expose()).unwrap();
        assert_eq!(again.api_key_id, key.api_key_id);
        assert!(again.matches(&key.secret_sha256()));
        assert!(!again.matches(&Bearer::generate().secret_sha256()));
        assert!(!again.matches(&[]));
    }

    #[test]
    fn almost_a_key_is_none() {
        let key = Bearer::generate().expose();
        let id_in_capitals = key.replacen(&key[4..36], &"A".repeat(32), 1);
        for wrong in
            ["", "wbk_", "wbk_ü", &key[1..], &key[..key.len() - 1], &format!("{key}0"), &id_in_capitals]
        {
            assert!(Bearer::parse(wrong).is_none(), "{wrong:?} was taken");
        }
    }

    #[test]
    fn the_secret_is_in_no_debug_text() {
        let key = Bearer::generate();
        assert!(!format!("{key:?}").contains(&key.secret));
    }
}
