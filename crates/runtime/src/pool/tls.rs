//! `sslmode` and the certificates, with libpq's meaning. tokio-postgres knows only the first three modes, so what
//! concerns TLS is taken out of the address before it sees it.

use openssl::error::ErrorStack;
use openssl::ssl::{SslConnector, SslFiletype, SslMethod, SslVerifyMode};
use postgres_openssl::MakeTlsConnector;
use tokio_postgres::config::SslMode;

/// What libpq's `sslmode` can be.
pub(super) const MODES: &str = "it can be disable, prefer, require, verify-ca or verify-full";

/// The TLS parameters of an address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TlsSettings {
    mode: Mode,
    root_certificate: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    Disable,
    #[default]
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl TlsSettings {
    /// Takes one parameter of an address if it is about TLS; answers whether it was, or that its value is no mode.
    pub(super) fn take(&mut self, name: &str, value: &str) -> Result<bool, ()> {
        match name {
            "sslmode" => {
                self.mode = match value {
                    "disable" => Mode::Disable,
                    // libpq's `allow` tries without TLS first; with TLS first is the safer reading.
                    "allow" | "prefer" => Mode::Prefer,
                    "require" => Mode::Require,
                    "verify-ca" => Mode::VerifyCa,
                    "verify-full" => Mode::VerifyFull,
                    _ => return Err(()),
                }
            }
            "sslrootcert" => self.root_certificate = Some(value.to_owned()),
            "sslcert" => self.certificate = Some(value.to_owned()),
            "sslkey" => self.key = Some(value.to_owned()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The part that tokio-postgres decides: whether TLS is asked for, and whether it may be refused.
    pub(super) const fn mode(&self) -> SslMode {
        match self.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        }
    }

    /// The part that OpenSSL decides: whom to believe.
    pub(super) fn connector(&self) -> Result<MakeTlsConnector, ErrorStack> {
        let mut builder = SslConnector::builder(SslMethod::tls_client())?;
        let verified = match self.mode {
            Mode::VerifyCa | Mode::VerifyFull => true,
            // As libpq does: a root certificate that is there is used.
            Mode::Require => self.root_certificate.is_some(),
            Mode::Disable | Mode::Prefer => false,
        };
        if !verified {
            builder.set_verify(SslVerifyMode::NONE);
        }
        match self.root_certificate.as_deref() {
            Some("system") | None => {}
            Some(path) => builder.set_ca_file(path)?,
        }
        if let Some(certificate) = &self.certificate {
            builder.set_certificate_chain_file(certificate)?;
            builder.set_private_key_file(self.key.as_ref().unwrap_or(certificate), SslFiletype::PEM)?;
        }
        let mut connector = MakeTlsConnector::new(builder.build());
        let hostname = self.mode == Mode::VerifyFull;
        connector.set_callback(move |configuration, _| {
            configuration.set_verify_hostname(hostname);
            Ok(())
        });
        Ok(connector)
    }
}
