//! When a service can be used: it has answered in its own protocol.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::DevstackError;
use crate::service::ServiceFile;

/// How long a service may take until it answers. Generous: a cold Java on two busy cores.
pub const READY_MAX: Duration = Duration::from_secs(90);

/// How often a starting service is asked: nothing tells an outsider when it is ready.
const ASK_INTERVAL: Duration = Duration::from_millis(50);

/// How long one question may take.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// How much of a service's log an error shows.
const TAIL_LINES: usize = 25;

/// Asks until `answers` is true; gives up when the service has ended or [`READY_MAX`] is over.
///
/// # Errors
/// With the end of the service's log.
pub fn wait_ready(service: &ServiceFile, mut answers: impl FnMut() -> bool) -> Result<(), DevstackError> {
    let deadline = Instant::now() + READY_MAX;
    let why = loop {
        if answers() {
            return Ok(());
        }
        if service.running().is_none() {
            break "it ended".to_owned();
        }
        if Instant::now() > deadline {
            break format!("no answer within {} s", READY_MAX.as_secs());
        }
        thread::sleep(ASK_INTERVAL);
    };
    let (name, log) = (service.name.clone(), service.log().clone());
    Err(DevstackError::NotReady { service: name, why, log, tail: service.tail(TAIL_LINES) })
}

/// `GET path` of a server on this machine: its status and its body.
///
/// # Errors
/// When nothing listens there, or what answers speaks no HTTP.
pub fn http_get(port: u16, path: &str) -> io::Result<(u16, String)> {
    let mut stream = dial(port)?;
    // HTTP/1.0, so that the answer ends with the connection and comes in one piece.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let no_http = || io::Error::new(io::ErrorKind::InvalidData, "not an HTTP answer");
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(no_http)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(no_http)?;
    Ok((status, body.to_owned()))
}

/// A connection on which neither a read nor a write waits for ever.
pub(crate) fn dial(port: u16) -> io::Result<TcpStream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect_timeout(&address, ANSWER_MAX)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    stream.set_write_timeout(Some(ANSWER_MAX))?;
    Ok(stream)
}
