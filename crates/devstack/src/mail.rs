//! The mail sink: GreenMail, which takes every mail over SMTP, shows it over HTTP, and sends nothing on.

use std::process::Command;

use nix::sys::signal::Signal;
use serde::Deserialize;

use crate::error::DevstackError;
use crate::layout::Layout;
use crate::maven::Jars;
use crate::ports::Ports;
use crate::program::find_java;
use crate::ready::{http_get, wait_ready};
use crate::service::ServiceFile;
use crate::undertaking::Undertaking;

const JAVA_OPTIONS: [&str; 4] =
    ["-Xmx48m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"];

/// The sink of one stack. It keeps mail in memory, until it is stopped.
#[derive(Clone, Debug)]
pub struct Mail {
    jars: Jars,
    service: ServiceFile,
    smtp_port: u16,
    api_port: u16,
}

/// One mail as the sink received it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ReceivedMail {
    /// Its subject, decoded.
    pub subject: Option<String>,
    /// All of it, headers first, as it came over the wire; a character a byte.
    #[serde(rename = "mimeMessage")]
    pub message: String,
}

impl Mail {
    /// The stack's sink, running or not. Chooses its ports when it has none.
    ///
    /// # Errors
    /// When the ports cannot be kept.
    pub fn of(layout: &Layout, ports: &mut Ports, jars: Jars) -> Result<Self, DevstackError> {
        let service = ServiceFile::of(layout, "mail");
        let runs = service.running().is_some();
        let mut port_of = |name| ports.get(name).filter(|_| runs).map_or_else(|| ports.take(name), Ok);
        let (smtp_port, api_port) = (port_of("smtp")?, port_of("mail-api")?);
        Ok(Self { jars, service, smtp_port, api_port })
    }

    /// What runs, if it runs.
    #[must_use]
    pub fn service(&self) -> &ServiceFile {
        &self.service
    }

    /// The port that takes mail.
    #[must_use]
    pub fn smtp_port(&self) -> u16 {
        self.smtp_port
    }

    /// The port that shows mail, over HTTP.
    #[must_use]
    pub fn api_port(&self) -> u16 {
        self.api_port
    }

    /// Starts it unless it runs. Gives whether it had to.
    ///
    /// # Errors
    /// When Java is missing.
    pub fn start(&self, undertaking: &Undertaking) -> Result<bool, DevstackError> {
        if self.service.running().is_some() {
            return Ok(false);
        }
        let mut command = Command::new(find_java());
        command.args(JAVA_OPTIONS);
        for (name, value) in [
            ("smtp.hostname", "127.0.0.1".to_owned()),
            ("smtp.port", self.smtp_port.to_string()),
            ("api.hostname", "127.0.0.1".to_owned()),
            ("api.port", self.api_port.to_string()),
        ] {
            command.arg(format!("-Dgreenmail.{name}={value}"));
        }
        command.arg("-Dgreenmail.auth.disabled");
        command.args([
            "-cp",
            &self.jars.class_path(),
            "com.icegreen.greenmail.standalone.GreenMailStandaloneRunner",
        ]);
        undertaking.start(&mut command, &self.service, Signal::SIGTERM)?;
        Ok(true)
    }

    /// Waits until it shows its configuration, which it does after it takes mail.
    ///
    /// # Errors
    /// When it ends or takes too long.
    pub fn wait_ready(&self) -> Result<(), DevstackError> {
        wait_ready(&self.service, || {
            http_get(self.api_port, "/api/configuration").is_ok_and(|(status, _)| status == 200)
        })
    }

    /// The mails that came for this address, oldest first; none while the sink has never heard of it.
    #[must_use]
    pub fn received(&self, address: &str) -> Vec<ReceivedMail> {
        let answer = http_get(self.api_port, &format!("/api/user/{address}/messages/"));
        let body = answer.ok().filter(|(status, _)| *status == 200).map(|(_, body)| body);
        body.and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default()
    }
}
