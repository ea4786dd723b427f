//! A mail server that does at each step what its script says.

use std::net::SocketAddr;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the server does when a step is reached.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// It answers with this line.
    Say(&'static str),
    /// It answers in pieces, each in a packet of its own.
    Pieces(&'static [&'static str]),
    /// It closes the connection without a word.
    Close,
    /// It says nothing and waits for the other side to go away.
    Hang,
}

/// A session, step by step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Script {
    pub(crate) greeting: Step,
    pub(crate) hello: Step,
    pub(crate) sender: Step,
    pub(crate) recipient: Step,
    pub(crate) data: Step,
    pub(crate) final_dot: Step,
}

/// What the server saw of one connection.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) commands: Vec<String>,
    /// The message as it came, dots stuffed, without the final dot; none without the final dot.
    pub(crate) message: Option<String>,
}

impl Script {
    /// A server that takes everything.
    pub(crate) const ACCEPTING: Self = Self {
        greeting: Step::Say("220 ready"),
        hello: Step::Say("250 hello"),
        sender: Step::Say("250 ok"),
        recipient: Step::Say("250 ok"),
        data: Step::Say("354 go on"),
        final_dot: Step::Say("250 queued as 42"),
    };
}

/// Serves one connection and gives what it saw.
pub(crate) async fn serve_once(script: Script) -> (SocketAddr, JoinHandle<Session>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        serve(stream, script).await
    });
    (address, serving)
}

/// Serves one connection by the script.
pub(crate) async fn serve(stream: TcpStream, script: Script) -> Session {
    stream.set_nodelay(true).expect("a socket option");
    let mut stream = BufReader::new(stream);
    let mut session = Session::default();
    if !act(&mut stream, script.greeting).await {
        return session;
    }
    while let Some(line) = read_line(&mut stream).await {
        let verb = line.split(' ').next().unwrap_or_default().to_ascii_uppercase();
        session.commands.push(line);
        let step = match verb.as_str() {
            "EHLO" => script.hello,
            "MAIL" => script.sender,
            "RCPT" => script.recipient,
            "DATA" => script.data,
            _ => Step::Say("221 bye"),
        };
        if !act(&mut stream, step).await {
            break;
        }
        if verb == "DATA" && matches!(step, Step::Say(reply) if reply.starts_with("354")) {
            session.message = read_message(&mut stream).await;
            if session.message.is_none() || !act(&mut stream, script.final_dot).await {
                break;
            }
        }
    }
    session
}

async fn act(stream: &mut BufReader<TcpStream>, step: Step) -> bool {
    match step {
        Step::Say(reply) => say(stream, &format!("{reply}\r\n")).await,
        Step::Pieces(pieces) => {
            for piece in pieces {
                if !say(stream, piece).await {
                    return false;
                }
            }
            true
        }
        Step::Close => false,
        Step::Hang => {
            while read_line(stream).await.is_some() {}
            false
        }
    }
}

async fn say(stream: &mut BufReader<TcpStream>, text: &str) -> bool {
    let written = stream.get_mut().write_all(text.as_bytes()).await;
    written.is_ok() && stream.get_mut().flush().await.is_ok()
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    match stream.read_line(&mut line).await {
        Ok(count) if count > 0 => Some(line.trim_end().to_owned()),
        _ => None,
    }
}

async fn read_message(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut message = String::new();
    loop {
        let mut line = String::new();
        match stream.read_line(&mut line).await {
            Ok(count) if count > 0 => {}
            _ => return None,
        }
        if line == ".\r\n" {
            return Some(message);
        }
        message.push_str(&line);
    }
}
