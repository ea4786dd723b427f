//! Values that are each allowed and do not go together.

use waybill_runtime::Config;
use waybill_runtime::config::SmtpTls;

use super::finding::Findings;

/// Settings of librdkafka that a promise rests on; what is configured for them is overruled or harmful.
const RESERVED: &[&str] = &[
    "acks",
    "request.required.acks",
    "enable.idempotence",
    "enable.gapless.guarantee",
    "message.timeout.ms",
    "delivery.timeout.ms",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "auto.offset.reset",
    "group.id",
    "partitioner",
    "bootstrap.servers",
    "metadata.broker.list",
];

pub(super) fn check(config: &Config, findings: &mut Findings) {
    let subject = "settings";
    for name in RESERVED.iter().filter(|name| config.kafka.settings.get(name).is_some()) {
        findings.warn(
            subject,
            format!("kafka.settings has {name}, which Waybill decides itself"),
            "take it out: a promise rests on its value",
        );
    }
    let smtp = &config.notifier.smtp;
    if smtp.tls == SmtpTls::None && smtp.username.is_some() {
        findings.warn(
            subject,
            "notifier.smtp logs in without TLS, so its password can be read on the way",
            "set notifier.smtp.tls = \"required\"",
        );
    }
    match config.notifier.webhook.signing_secret() {
        Ok(Some(_)) => {}
        Ok(None) => findings.warn(
            subject,
            "notifier.webhook has no signing secret, so no webhook is sent",
            "set notifier.webhook.signing_secret_file",
        ),
        Err(error) => findings.fail(subject, error.to_string(), "make the file readable for this user"),
    }
    if let Err(error) = smtp.password() {
        findings.fail(subject, error.to_string(), "make the file readable for this user");
    }
    if config.api.listen == config.management.listen && config.api.listen.port() != 0 {
        findings.fail(
            subject,
            format!("api.listen and management.listen are both {}", config.api.listen),
            "give one of them another port",
        );
    }
    if config.admin.postgres_url.is_none() {
        findings.warn(
            subject,
            "no admin is configured: `migrate` and `topic apply` cannot run from here",
            "set WAYBILL_POSTGRES_URL where they are meant to run",
        );
    }
    findings.ok(subject, "read, and no bound contradicts another");
}
