//! A webhook's receiver that answers what it is told to, or does not.

use std::net::SocketAddr;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the receiver does once it has the whole request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// These bytes.
    Bytes(String),
    /// These bytes, then a reset.
    BytesThenReset(String),
    /// A closed connection.
    Close,
    /// Nothing, until the other side goes away.
    Hang,
}

/// One request as it came.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) request_line: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// An answer with a status and headers, without a body.
pub(crate) fn status(status: u16, headers: &str) -> Answer {
    Answer::Bytes(format!("HTTP/1.1 {status} X\r\n{headers}content-length: 0\r\n\r\n"))
}

/// Receives one request; none when the connection ends before a whole one has come.
pub(crate) async fn receive_once(answer: Answer) -> (SocketAddr, JoinHandle<Option<Seen>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let receiving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        receive(stream, answer).await
    });
    (address, receiving)
}

/// Receives one request on a connection.
pub(crate) async fn receive(stream: TcpStream, answer: Answer) -> Option<Seen> {
    let mut stream = BufReader::new(stream);
    let seen = read_request(&mut stream).await?;
    match answer {
        Answer::Bytes(bytes) => {
            stream.get_mut().write_all(bytes.as_bytes()).await.expect("the answer leaves");
        }
        Answer::BytesThenReset(bytes) => {
            stream.get_mut().write_all(bytes.as_bytes()).await.expect("the answer leaves");
            stream.get_ref().set_zero_linger().expect("a socket option");
        }
        Answer::Close => {}
        Answer::Hang => {
            let mut rest = Vec::new();
            // Ends when the other side gives up.
            let _ = stream.read_to_end(&mut rest).await;
        }
    }
    Some(seen)
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Seen> {
    let request_line = read_line(stream).await?;
    let mut headers = HeaderMap::new();
    loop {
        let line = read_line(stream).await?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ")?;
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).expect("a header's name"),
            HeaderValue::from_str(value).expect("a header's value"),
        );
    }
    let length: usize = headers.get("content-length")?.to_str().ok()?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Seen { request_line, headers, body })
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    match stream.read_line(&mut line).await {
        Ok(count) if count > 0 => Some(line.trim_end().to_owned()),
        _ => None,
    }
}
