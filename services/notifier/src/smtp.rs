//! One SMTP session for one mail, step by step, so that its phase is always known.
//!
//! The library speaks the protocol; this module says which step has begun before it begins. Deliberately absent:
//! connections that are kept, and any second try.

use std::error::Error as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lettre::Address;
use lettre::message::Mailbox;
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use lettre::transport::smtp::response::Response;
use tokio::net::TcpStream;
use tokio::time::timeout;
use waybill_runtime::{Secret, chain};
use waybill_store::notification::Claimed;

use crate::boot_clock::Deadline;
use crate::codes;
use crate::guarded_stream::{Gate, GuardedStream};
use crate::limits::Limits;
use crate::mail::{self, Mail};
use crate::outcome::{MailPhase, Phase};
use crate::report::{Report, Sent};

/// How long a connection may take to be made, in milliseconds.
pub(crate) const CONNECT_TIMEOUT_MS: u64 = 10_000;
/// How long the farewell may take once the outcome is known, in milliseconds.
pub(crate) const QUIT_TIMEOUT_MS: u64 = 1_000;
/// The reply that lets the message's bytes begin (RFC 5321, section 4.3.2).
const START_MAIL_INPUT: u16 = 354;

/// Whether the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// Never.
    None,
    /// When the server offers STARTTLS. Without a login the certificate is not judged: a server that would take the
    /// mail in the clear is not made safer by refusing its own certificate. With a login it is, and the login is never
    /// given in the clear.
    Opportunistic,
    /// STARTTLS with a certificate that holds, or nothing.
    Required,
}

/// The server that takes our mail.
#[derive(Debug, Clone)]
pub struct MailServer {
    /// Its name, also the name that its certificate must hold.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The sender of every mail.
    pub from: Mailbox,
    /// Whether the connection is encrypted.
    pub tls: Tls,
    /// The login, if the server asks for one.
    pub login: Option<(String, Secret)>,
}

/// Where the session stands; it outlives the session, so that a session that is cut off still tells.
#[derive(Debug)]
struct Progress(Mutex<MailPhase>);

impl Progress {
    fn begin(&self, phase: MailPhase) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    fn phase(&self) -> MailPhase {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a session ended before the message was taken.
#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error(transparent)]
    Connect(#[from] std::io::Error),
    #[error("the connection was not made within {CONNECT_TIMEOUT_MS} ms")]
    ConnectTimeout,
    #[error(transparent)]
    Smtp(#[from] smtp::Error),
    #[error("the server offers no STARTTLS")]
    NoTls,
    #[error("the login is not given over a connection that is not encrypted")]
    LoginInTheClear,
    #[error("the address needs SMTPUTF8 (RFC 6531), which the server does not offer")]
    NoUtf8Address,
    #[error("DATA was answered with {0} instead of 354")]
    NotReadyForData(u16),
}

impl MailServer {
    /// Sends one notification as a mail, if the deadline has not passed when the first byte would leave.
    pub async fn send(&self, claimed: &Claimed, limits: &Limits) -> Sent {
        let mail = match mail::compose(claimed, &self.from) {
            Ok(mail) => mail,
            Err(error) => {
                let phase = Phase::Mail(MailPhase::Prepare);
                let detail = chain(&error);
                return Sent::Ended(Report::refused(phase, codes::NOTIFICATION_TARGET_INVALID, detail));
            }
        };
        if limits.deadline.has_passed() {
            return Sent::TooLate;
        }
        let progress = Progress(Mutex::new(MailPhase::Prepare));
        let gate = Arc::new(Gate::default());
        let ended = limits.within(self.session(&mail, limits.deadline, &progress, &gate)).await;
        if gate.stopped() && !gate.wrote() {
            return Sent::TooLate;
        }
        // A gate that stopped the last write kept the whole message from leaving, whatever had been begun.
        let begun = progress.phase();
        let kept_back = begun == MailPhase::FinalDot && gate.stopped();
        let phase = if kept_back { MailPhase::Content } else { begun };
        match ended {
            Ok(Ok((response, connection))) => {
                farewell(connection).await;
                let text: Vec<&str> = response.message().collect();
                let code = u16::from(response.code());
                Sent::Ended(Report::reply(Phase::Mail(phase), code, text.join("\n")))
            }
            Ok(Err(error)) => Sent::Ended(failure(phase, &error)),
            Err(cut) => Sent::Ended(lost(phase, cut.to_string())),
        }
    }

    async fn session(
        &self,
        mail: &Mail,
        deadline: Deadline,
        progress: &Progress,
        gate: &Arc<Gate>,
    ) -> Result<(Response, AsyncSmtpConnection), SessionError> {
        progress.begin(MailPhase::Connect);
        let mut connection = self.connect(deadline, progress, gate).await?;
        let response = transfer(&mut connection, mail, progress).await?;
        Ok((response, connection))
    }

    async fn connect(
        &self,
        deadline: Deadline,
        progress: &Progress,
        gate: &Arc<Gate>,
    ) -> Result<AsyncSmtpConnection, SessionError> {
        let connecting = TcpStream::connect((self.host.as_str(), self.port));
        let tcp = timeout(Duration::from_millis(CONNECT_TIMEOUT_MS), connecting)
            .await
            .map_err(|_elapsed| SessionError::ConnectTimeout)??;
        tcp.set_nodelay(true)?;
        progress.begin(MailPhase::Greeting);
        let hello = ClientId::Domain(self.from.email.domain().to_owned());
        let stream = GuardedStream::new(tcp, deadline, Arc::clone(gate));
        let mut connection = AsyncSmtpConnection::connect_with_transport(Box::new(stream), &hello).await?;
        self.encrypt(&mut connection, &hello, progress).await?;
        if let Some((username, password)) = &self.login {
            progress.begin(MailPhase::Authenticate);
            if self.tls != Tls::None && !connection.is_encrypted() {
                return Err(SessionError::LoginInTheClear);
            }
            let credentials = Credentials::new(username.clone(), password.expose().to_owned());
            connection.auth(DEFAULT_MECHANISMS, &credentials).await?;
        }
        Ok(connection)
    }

    async fn encrypt(
        &self,
        connection: &mut AsyncSmtpConnection,
        hello: &ClientId,
        progress: &Progress,
    ) -> Result<(), SessionError> {
        progress.begin(MailPhase::Encrypt);
        let judge_certificate = match self.tls {
            Tls::None => return Ok(()),
            Tls::Opportunistic if !connection.can_starttls() => return Ok(()),
            Tls::Opportunistic => self.login.is_some(),
            Tls::Required if !connection.can_starttls() => return Err(SessionError::NoTls),
            Tls::Required => true,
        };
        let parameters = TlsParameters::builder(self.host.clone())
            .dangerous_accept_invalid_certs(!judge_certificate)
            .dangerous_accept_invalid_hostnames(!judge_certificate)
            .build()?;
        Ok(connection.starttls(parameters, hello).await?)
    }
}

async fn transfer(
    connection: &mut AsyncSmtpConnection,
    mail: &Mail,
    progress: &Progress,
) -> Result<Response, SessionError> {
    progress.begin(MailPhase::Sender);
    let mut parameters = Vec::new();
    if mail.envelope.to().iter().chain(mail.envelope.from()).any(|address| !is_ascii(address)) {
        if !connection.server_info().supports_feature(Extension::SmtpUtfEight) {
            return Err(SessionError::NoUtf8Address);
        }
        parameters.push(MailParameter::SmtpUtfEight);
    }
    connection.command(MailFrom::new(mail.envelope.from().cloned(), parameters)).await?;
    progress.begin(MailPhase::Recipient);
    for recipient in mail.envelope.to() {
        connection.command(Rcpt::new(recipient.clone(), Vec::new())).await?;
    }
    progress.begin(MailPhase::Data);
    let ready = u16::from(connection.command(Data).await?.code());
    if ready != START_MAIL_INPUT {
        return Err(SessionError::NotReadyForData(ready));
    }
    progress.begin(MailPhase::Content);
    // The library writes each part, and the final dot once it has asked for a part after the last: that question is
    // where the dot is about to leave.
    let about_to_end = std::iter::from_fn(|| {
        progress.begin(MailPhase::FinalDot);
        None::<&[u8]>
    });
    Ok(connection.message_iter(std::iter::once(mail.bytes.as_slice()).chain(about_to_end)).await?)
}

fn is_ascii(address: &Address) -> bool {
    let text: &str = address.as_ref();
    text.is_ascii()
}

/// The outcome is known: a server that is slow to say farewell changes nothing.
async fn farewell(mut connection: AsyncSmtpConnection) {
    let quitting = timeout(Duration::from_millis(QUIT_TIMEOUT_MS), connection.quit()).await;
    if !matches!(quitting, Ok(Ok(_))) {
        tracing::debug!("the mail server did not say farewell");
    }
}

fn failure(phase: MailPhase, error: &SessionError) -> Report {
    match error {
        SessionError::NoUtf8Address => {
            let code = codes::NOTIFICATION_TARGET_INVALID;
            Report::refused(Phase::Mail(phase), code, error.to_string())
        }
        SessionError::Smtp(smtp) => match smtp.status() {
            Some(code) => {
                let text = smtp.source().map(ToString::to_string).unwrap_or_default();
                let report = Report::reply(Phase::Mail(phase), u16::from(code), text);
                Report { code: unreachable(phase), ..report }
            }
            None => lost(phase, chain(smtp)),
        },
        SessionError::Connect(_)
        | SessionError::ConnectTimeout
        | SessionError::NoTls
        | SessionError::LoginInTheClear
        | SessionError::NotReadyForData(_) => lost(phase, chain(error)),
    }
}

fn lost(phase: MailPhase, detail: String) -> Report {
    Report { code: unreachable(phase), ..Report::lost(Phase::Mail(phase), detail) }
}

/// A failure before the mail is the server's, whoever the mail is for.
fn unreachable(phase: MailPhase) -> Option<&'static str> {
    phase.is_before_the_mail().then_some(codes::NOTIFICATION_CHANNEL_UNREACHABLE)
}
