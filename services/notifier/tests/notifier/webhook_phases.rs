//! What becomes of a webhook, by how far its request came and what was answered.

use std::time::Duration;

use standardwebhooks::Webhook;
use tokio::net::TcpListener;
use waybill_domain::export::Channel;
use waybill_notifier::{Ending, Outcome, Phase, Report, Sent, WebhookPhase, tenant_webhook_secret};
use waybill_testkit::within;

use crate::fixtures::{AMPLE, SHORT, claimed, ended, limits, master, webhook_sender};
use crate::receiver::{Answer, Seen, receive_once, status};

async fn send_within(answer: Answer, term: Duration) -> (Report, Option<Seen>) {
    let (address, receiving) = receive_once(answer).await;
    let claimed = claimed(Channel::Webhook, &format!("http://{address}/hook?a=b"));
    let report = ended(webhook_sender(true).send(&claimed, &limits(term)).await);
    (report, within("the receiver", receiving).await.expect("a receiver"))
}

async fn send(answer: Answer) -> Report {
    send_within(answer, AMPLE).await.0
}

#[tokio::test]
async fn a_receiver_can_verify_what_it_got_with_the_tenants_secret() {
    let (address, receiving) = receive_once(status(204, "")).await;
    let claimed = claimed(Channel::Webhook, &format!("http://{address}/hook?a=b"));
    let report = ended(webhook_sender(true).send(&claimed, &limits(AMPLE)).await);
    assert_eq!(report.outcome(), Outcome::Accepted);
    let seen = within("the receiver", receiving).await.unwrap().unwrap();
    assert_eq!(seen.request_line, "POST /hook?a=b HTTP/1.1");
    assert_eq!(seen.headers["webhook-id"], claimed.notification_id.as_str());
    assert_eq!(seen.body, claimed.body.as_bytes(), "byte for byte what was stored");
    let secret = tenant_webhook_secret(&master(), &claimed.tenant_id);
    Webhook::new(secret.expose()).unwrap().verify(&seen.body, &seen.headers).unwrap();
    let other = tenant_webhook_secret(&waybill_runtime::Secret::new("another"), &claimed.tenant_id);
    assert!(Webhook::new(other.expose()).unwrap().verify(&seen.body, &seen.headers).is_err());
}

#[tokio::test]
async fn every_kind_of_answer_has_its_outcome() {
    for (answer, outcome) in [
        (status(200, ""), Outcome::Accepted),
        (status(302, "location: http://127.0.0.1:1/\r\n"), Outcome::Rejected),
        (status(400, ""), Outcome::Rejected),
        (status(410, ""), Outcome::Rejected),
        (status(408, ""), Outcome::Unknown),
        (status(429, ""), Outcome::Retry),
        (status(500, ""), Outcome::Unknown),
        (status(503, "retry-after: 5\r\n"), Outcome::Unknown),
    ] {
        let report = send(answer.clone()).await;
        assert_eq!(report.outcome(), outcome, "{answer:?} gave {report:?}");
    }
}

#[tokio::test]
async fn a_receiver_may_say_when_to_come_back() {
    let report = send(status(429, "retry-after: 90\r\n")).await;
    assert_eq!(report.retry_after, Some(Duration::from_secs(90)));
}

#[tokio::test]
async fn a_request_that_left_and_was_not_answered_is_unknown() {
    for (answer, term) in [(Answer::Close, AMPLE), (Answer::Hang, SHORT)] {
        let (report, seen) = send_within(answer, term).await;
        assert_eq!(report.phase, Phase::Webhook(WebhookPhase::Request));
        assert_eq!((report.ending, report.outcome()), (Ending::Lost, Outcome::Unknown));
        assert!(seen.is_some(), "the receiver has the whole request");
    }
}

#[tokio::test]
async fn an_answer_counts_even_if_its_body_breaks_off() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nthe begin".to_owned();
    let report = send(Answer::BytesThenReset(answer)).await;
    assert_eq!(report.outcome(), Outcome::Accepted);
}

#[tokio::test]
async fn only_the_beginning_of_a_response_body_is_kept() {
    let body = "x".repeat(1_000_000);
    let answer = format!("HTTP/1.1 500 X\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let (address, receiving) = receive_once(Answer::Bytes(answer)).await;
    let claimed = claimed(Channel::Webhook, &format!("http://{address}/"));
    let report = ended(webhook_sender(true).send(&claimed, &limits(AMPLE)).await);
    assert_eq!(report.reply.unwrap().len(), 4_096);
    receiving.abort();
}

#[tokio::test]
async fn a_receiver_that_is_not_there_may_be_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let claimed = claimed(Channel::Webhook, &format!("http://{address}/"));
    let report = ended(webhook_sender(true).send(&claimed, &limits(AMPLE)).await);
    assert_eq!(report.phase, Phase::Webhook(WebhookPhase::Connect));
    assert_eq!(report.outcome(), Outcome::Retry);
}

#[tokio::test]
async fn a_tls_handshake_that_fails_may_be_tried_again() {
    let (address, receiving) = receive_once(Answer::Close).await;
    let claimed = claimed(Channel::Webhook, &format!("https://{address}/"));
    let sending = tokio::spawn(async move { webhook_sender(true).send(&claimed, &limits(SHORT)).await });
    let report = ended(within("the attempt", sending).await.unwrap());
    assert_eq!(report.phase, Phase::Webhook(WebhookPhase::Connect));
    assert_eq!(report.outcome(), Outcome::Retry);
    receiving.abort();
}

#[tokio::test]
async fn nothing_inside_the_house_is_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]", "169.254.169.254"] {
        let claimed = claimed(Channel::Webhook, &format!("http://{host}:{port}/"));
        let report = ended(webhook_sender(false).send(&claimed, &limits(AMPLE)).await);
        assert_eq!(report.outcome(), Outcome::Rejected, "{host}: {report:?}");
        assert_eq!(report.code, Some("notification-address-refused"), "{host}: {report:?}");
    }
    let touched = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
    assert!(touched.is_err(), "a connection was made");
}

#[tokio::test]
async fn another_scheme_is_rejected() {
    for target in ["ftp://example.com/", "file:///etc/passwd", "not a url"] {
        let report =
            ended(webhook_sender(true).send(&claimed(Channel::Webhook, target), &limits(AMPLE)).await);
        assert_eq!(report.code, Some("notification-target-invalid"), "{target}");
    }
}

#[tokio::test]
async fn nothing_is_sent_after_the_deadline() {
    let (address, receiving) = receive_once(Answer::Close).await;
    let claimed = claimed(Channel::Webhook, &format!("http://{address}/"));
    let sent = webhook_sender(true).send(&claimed, &limits(Duration::ZERO)).await;
    assert_eq!(sent, Sent::TooLate);
    assert!(!receiving.is_finished(), "no connection was made");
    receiving.abort();
}
