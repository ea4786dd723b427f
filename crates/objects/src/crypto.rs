//! What the clouds' signatures are made with: this workspace's own digests and its one TLS library, so that no second one
//! comes in.

use hmac::{Hmac, Mac};
use object_store::Result;
use object_store::client::{
    CryptoProvider, DigestAlgorithm, DigestContext, HmacContext, Signer, SigningAlgorithm,
};
use openssl::hash::MessageDigest;
use openssl::pkey::{PKey, Private};
use sha2::{Digest, Sha256};

/// SHA-256, HMAC-SHA-256 and RS256.
#[derive(Debug)]
pub(crate) struct Crypto;

fn unsupported(what: &str) -> object_store::Error {
    object_store::Error::NotSupported {
        source: format!("{what} is not among what this build signs with").into(),
    }
}

fn failed(source: impl std::error::Error + Send + Sync + 'static) -> object_store::Error {
    object_store::Error::Generic { store: "signature", source: Box::new(source) }
}

impl CryptoProvider for Crypto {
    fn digest(&self, algorithm: DigestAlgorithm) -> Result<Box<dyn DigestContext>> {
        if algorithm != DigestAlgorithm::Sha256 {
            return Err(unsupported("this digest"));
        }
        Ok(Box::new(Running { state: Sha256::new(), finished: Vec::new() }))
    }

    fn hmac(&self, algorithm: DigestAlgorithm, secret: &[u8]) -> Result<Box<dyn HmacContext>> {
        if algorithm != DigestAlgorithm::Sha256 {
            return Err(unsupported("this digest"));
        }
        let state = Hmac::<Sha256>::new_from_slice(secret).map_err(failed)?;
        Ok(Box::new(Running { state, finished: Vec::new() }))
    }

    fn sign(&self, algorithm: SigningAlgorithm, pem: &[u8]) -> Result<Box<dyn Signer>> {
        if algorithm != SigningAlgorithm::RS256 {
            return Err(unsupported("this signature"));
        }
        Ok(Box::new(Rs256(PKey::private_key_from_pem(pem).map_err(failed)?)))
    }
}

/// A computation under way, and its value once it was asked for.
struct Running<S> {
    state: S,
    finished: Vec<u8>,
}

impl DigestContext for Running<Sha256> {
    fn update(&mut self, data: &[u8]) {
        Digest::update(&mut self.state, data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        self.finished = self.state.finalize_reset().to_vec();
        Ok(&self.finished)
    }
}

impl HmacContext for Running<Hmac<Sha256>> {
    fn update(&mut self, data: &[u8]) {
        Mac::update(&mut self.state, data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        self.finished = self.state.clone().finalize().into_bytes().to_vec();
        Ok(&self.finished)
    }
}

struct Rs256(PKey<Private>);

impl Signer for Rs256 {
    fn sign(&self, text: &[u8]) -> Result<Vec<u8>> {
        let mut signer = openssl::sign::Signer::new(MessageDigest::sha256(), &self.0).map_err(failed)?;
        signer.sign_oneshot_to_vec(text).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use openssl::rsa::Rsa;
    use openssl::sign::Verifier;

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_digest_and_an_hmac_are_those_of_the_standards() {
        let mut digest = Crypto.digest(DigestAlgorithm::Sha256).expect("it is known");
        digest.update(b"a");
        digest.update(b"bc");
        // FIPS 180-4, the example of one block.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(digest.finish().expect("a value")), abc);
        let mut hmac = Crypto.hmac(DigestAlgorithm::Sha256, b"Jefe").expect("it is known");
        hmac.update(b"what do ya want ");
        hmac.update(b"for nothing?");
        // RFC 4231, test case 2.
        let jefe = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hex(hmac.finish().expect("a value")), jefe);
    }

    #[test]
    fn a_signature_is_one_that_the_public_key_confirms() {
        let key = PKey::from_rsa(Rsa::generate(2048).expect("a key")).expect("a key");
        let pem = key.private_key_to_pem_pkcs8().expect("its text");
        let signature = Crypto.sign(SigningAlgorithm::RS256, &pem).expect("it is read").sign(b"text");
        let mut verifier = Verifier::new(MessageDigest::sha256(), &key).expect("a verifier");
        assert!(verifier.verify_oneshot(&signature.expect("signed"), b"text").expect("an answer"));
        assert!(Crypto.sign(SigningAlgorithm::RS256, b"no key").is_err());
    }
}
