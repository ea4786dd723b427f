//! What becomes of a mail, by where its session ends.

use waybill_domain::export::Channel;
use waybill_notifier::{Ending, MailPhase, Outcome, Phase, Report, Sent, Tls};
use waybill_testkit::within;

use crate::fixtures::{AMPLE, SHORT, claimed, ended, limits, mail_server};
use crate::smtp_server::{Script, Session, Step, serve_once};

const TARGET: &str = "ann@example.com";

async fn send(script: Script) -> (Report, Session) {
    let (address, serving) = serve_once(script).await;
    let sent = mail_server(address).send(&claimed(Channel::Email, TARGET), &limits(AMPLE)).await;
    let session = within("the server's session", serving).await.expect("a session");
    (ended(sent), session)
}

async fn expect(script: Script, phase: MailPhase, outcome: Outcome) {
    let (report, _) = send(script).await;
    assert_eq!(report.phase, Phase::Mail(phase), "{report:?}");
    assert_eq!(report.outcome(), outcome, "{report:?}");
}

#[tokio::test]
async fn a_mail_that_the_server_takes_is_accepted_and_arrives_whole() {
    let (report, session) = send(Script::ACCEPTING).await;
    assert_eq!(report.outcome(), Outcome::Accepted);
    assert_eq!(report.reply.as_deref(), Some("queued as 42"));
    assert_eq!(session.commands[1..3], ["MAIL FROM:<waybill@example.org>", "RCPT TO:<ann@example.com>"]);
    let message = session.message.unwrap();
    assert!(message.contains("Message-ID: <ntf_"), "{message}");
    assert!(message.contains("Auto-Submitted: auto-generated"), "{message}");
    assert_eq!(session.commands.last().unwrap(), "QUIT");
}

#[tokio::test]
async fn a_reply_that_comes_in_pieces_is_read_whole() {
    let hello = Step::Pieces(&["250-he", "llo\r\n250-SIZE 1000\r\n25", "0 8BITMIME\r", "\n"]);
    let final_dot = Step::Pieces(&["250-first\r\n2", "50 second\r\n"]);
    let (report, _) = send(Script { hello, final_dot, ..Script::ACCEPTING }).await;
    assert_eq!(report.outcome(), Outcome::Accepted);
    assert_eq!(report.reply.as_deref(), Some("first\nsecond"));
}

#[tokio::test]
async fn a_session_that_is_lost_before_the_final_dot_may_be_tried_again() {
    let accepting = Script::ACCEPTING;
    for (script, phase) in [
        (Script { greeting: Step::Close, ..accepting }, MailPhase::Greeting),
        (Script { hello: Step::Close, ..accepting }, MailPhase::Greeting),
        (Script { sender: Step::Close, ..accepting }, MailPhase::Sender),
        (Script { recipient: Step::Close, ..accepting }, MailPhase::Recipient),
        (Script { data: Step::Close, ..accepting }, MailPhase::Data),
    ] {
        expect(script, phase, Outcome::Retry).await;
    }
}

#[tokio::test]
async fn a_mail_that_is_lost_after_its_final_dot_is_unknown() {
    let (report, session) = send(Script { final_dot: Step::Close, ..Script::ACCEPTING }).await;
    assert_eq!((report.phase, report.ending), (Phase::Mail(MailPhase::FinalDot), Ending::Lost));
    assert_eq!(report.outcome(), Outcome::Unknown);
    assert!(session.message.is_some(), "the server has the whole message");
}

#[tokio::test]
async fn a_garbled_answer_to_the_final_dot_is_unknown() {
    let garbled = Script { final_dot: Step::Say("hm, maybe"), ..Script::ACCEPTING };
    expect(garbled, MailPhase::FinalDot, Outcome::Unknown).await;
}

#[tokio::test]
async fn a_4xx_reply_may_be_tried_again_and_a_5xx_reply_rejects() {
    let accepting = Script::ACCEPTING;
    for (step, outcome) in
        [(Step::Say("451 4.3.0 later"), Outcome::Retry), (Step::Say("550 5.1.1 nobody"), Outcome::Rejected)]
    {
        expect(Script { sender: step, ..accepting }, MailPhase::Sender, outcome).await;
        expect(Script { recipient: step, ..accepting }, MailPhase::Recipient, outcome).await;
        expect(Script { data: step, ..accepting }, MailPhase::Data, outcome).await;
        expect(Script { final_dot: step, ..accepting }, MailPhase::FinalDot, outcome).await;
    }
}

#[tokio::test]
async fn the_servers_reply_is_kept_as_evidence() {
    let (report, _) = send(Script { recipient: Step::Say("550 5.1.1 nobody"), ..Script::ACCEPTING }).await;
    assert_eq!(report.ending, Ending::Reply(550));
    assert!(report.reply.unwrap().contains("nobody"));
}

#[tokio::test]
async fn a_server_that_lets_nobody_in_says_nothing_about_the_mail() {
    let turned_away = Script { greeting: Step::Say("554 no service"), ..Script::ACCEPTING };
    let (report, _) = send(turned_away).await;
    assert_eq!(report.outcome(), Outcome::Retry);
    assert_eq!(report.code, Some("notification-channel-unreachable"));
}

#[tokio::test]
async fn a_server_that_hangs_ends_at_the_deadline_by_its_phase() {
    let accepting = Script::ACCEPTING;
    for (script, phase, outcome) in [
        (Script { greeting: Step::Hang, ..accepting }, MailPhase::Greeting, Outcome::Retry),
        (Script { recipient: Step::Hang, ..accepting }, MailPhase::Recipient, Outcome::Retry),
        (Script { final_dot: Step::Hang, ..accepting }, MailPhase::FinalDot, Outcome::Unknown),
    ] {
        let (address, serving) = serve_once(script).await;
        let sent = mail_server(address).send(&claimed(Channel::Email, TARGET), &limits(SHORT)).await;
        let report = ended(sent);
        assert_eq!((report.phase, report.outcome()), (Phase::Mail(phase), outcome), "{report:?}");
        within("the server's session", serving).await.unwrap();
    }
}

#[tokio::test]
async fn an_attempt_that_is_cut_off_ends_by_its_phase() {
    let (address, serving) = serve_once(Script { final_dot: Step::Hang, ..Script::ACCEPTING }).await;
    let limits = limits(AMPLE);
    let cut_off = limits.cut_off.clone();
    let sending =
        tokio::spawn(
            async move { mail_server(address).send(&claimed(Channel::Email, TARGET), &limits).await },
        );
    // The outcome is the same whenever the cut comes; that it comes at all is what is looked at.
    cut_off.cancel();
    let report = ended(within("the attempt", sending).await.unwrap());
    assert_eq!(report.ending, Ending::Lost);
    serving.abort();
}

#[tokio::test]
async fn a_server_that_is_not_there_may_be_tried_again() {
    let (address, serving) = serve_once(Script::ACCEPTING).await;
    serving.abort();
    let _ = serving.await;
    let report = ended(mail_server(address).send(&claimed(Channel::Email, TARGET), &limits(AMPLE)).await);
    assert_eq!((report.phase, report.outcome()), (Phase::Mail(MailPhase::Connect), Outcome::Retry));
}

#[tokio::test]
async fn nothing_is_sent_after_the_deadline() {
    let (address, serving) = serve_once(Script::ACCEPTING).await;
    let late = limits(std::time::Duration::ZERO);
    let sent = mail_server(address).send(&claimed(Channel::Email, TARGET), &late).await;
    assert_eq!(sent, Sent::TooLate);
    assert!(!serving.is_finished(), "no connection was made");
    serving.abort();
}

#[tokio::test]
async fn a_target_that_is_no_address_is_rejected_before_anything_leaves() {
    let (address, serving) = serve_once(Script::ACCEPTING).await;
    let target = "ann@example.com>\r\nRCPT TO:<eve@example.com";
    let report = ended(mail_server(address).send(&claimed(Channel::Email, target), &limits(AMPLE)).await);
    assert_eq!(report.outcome(), Outcome::Rejected);
    assert_eq!(report.code, Some("notification-target-invalid"));
    assert!(!serving.is_finished(), "no connection was made");
    serving.abort();
}

#[tokio::test]
async fn without_starttls_a_required_encryption_sends_nothing() {
    let (address, serving) = serve_once(Script::ACCEPTING).await;
    let server = waybill_notifier::MailServer { tls: Tls::Required, ..mail_server(address) };
    let report = ended(server.send(&claimed(Channel::Email, TARGET), &limits(AMPLE)).await);
    assert_eq!((report.phase, report.outcome()), (Phase::Mail(MailPhase::Encrypt), Outcome::Retry));
    let session = within("the server's session", serving).await.unwrap();
    assert!(!session.commands.iter().any(|command| command.starts_with("MAIL")), "{session:?}");
}

#[tokio::test]
async fn a_login_is_not_given_in_the_clear() {
    let (address, serving) =
        serve_once(Script { hello: Step::Say("250 AUTH PLAIN LOGIN"), ..Script::ACCEPTING }).await;
    let login = Some(("waybill".to_owned(), waybill_runtime::Secret::new("hunter2")));
    let server = waybill_notifier::MailServer { tls: Tls::Opportunistic, login, ..mail_server(address) };
    let report = ended(server.send(&claimed(Channel::Email, TARGET), &limits(AMPLE)).await);
    assert_eq!((report.phase, report.outcome()), (Phase::Mail(MailPhase::Authenticate), Outcome::Retry));
    let session = within("the server's session", serving).await.unwrap();
    assert!(!session.commands.iter().any(|command| command.starts_with("AUTH")), "{session:?}");
}
