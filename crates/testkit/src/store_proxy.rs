//! A network before a store that speaks HTTP. It knows where a request begins and ends, so it can fail one of them: refuse
//! it, hold it, or let it be done and lose the answer.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::bounded::within;

const HEAD_BYTES_MAX: usize = 64 * 1024;

/// What is done to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It is answered with 503 and never reaches the store.
    Unavailable,
    /// It is answered as a store does that has no room (507) and never reaches it.
    Full,
    /// It waits until the trouble is over, and is then done.
    Slow,
    /// It is done, and the connection breaks off before its answer.
    AnswerLost,
    /// It is done with another last byte than was sent, and answered as if nothing were wrong.
    Damaged,
}

/// Carries requests, one a connection.
#[derive(Debug)]
pub struct StoreProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    store: SocketAddr,
    rule: Mutex<Option<Rule>>,
    /// How many requests were troubled; changes with each, and with the end of a trouble.
    struck: watch::Sender<u32>,
}

/// Which requests are troubled: those whose first line holds all of these, so many of them.
#[derive(Debug, Clone)]
struct Rule {
    trouble: Trouble,
    holds: Vec<String>,
    left: u32,
}

impl StoreProxy {
    /// A proxy before the store at this address.
    ///
    /// # Panics
    /// When no port is free.
    pub(crate) async fn before(store: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("{error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
        let shared = Arc::new(Shared { store, rule: Mutex::default(), struck: watch::Sender::new(0) });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self { address, shared, accepting }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on this happens to the next so many requests whose first line (`PUT /bucket/key?partNumber=1 HTTP/1.1`)
    /// holds each of these texts.
    pub fn trouble(&self, trouble: Trouble, holds: &[&str], requests: u32) {
        let holds = holds.iter().map(ToString::to_string).collect();
        *self.shared.rule() = Some(Rule { trouble, holds, left: requests });
    }

    /// From now on every request is carried, also those that were held.
    pub fn calm(&self) {
        *self.shared.rule() = None;
        self.shared.struck.send_modify(|_| {});
    }

    /// Waits until so many requests were troubled in all.
    ///
    /// # Panics
    /// When that was not so in time.
    pub async fn has_struck(&self, requests: u32) {
        let mut struck = self.shared.struck.subscribe();
        let waited = within("the store's proxy to strike", struck.wait_for(|count| *count >= requests)).await;
        waited.map(drop).unwrap_or_else(|error| panic!("{error}"));
    }
}

impl Drop for StoreProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn rule(&self) -> MutexGuard<'_, Option<Rule>> {
        self.rule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happens to the request of this first line.
    fn fate(&self, line: &str) -> Option<Trouble> {
        let mut rule = self.rule();
        let rule = rule
            .as_mut()
            .filter(|rule| rule.left > 0 && rule.holds.iter().all(|text| line.contains(text)))?;
        rule.left -= 1;
        self.struck.send_modify(|struck| *struck += 1);
        Some(rule.trouble)
    }

    async fn calmed(&self) {
        let mut struck = self.struck.subscribe();
        // Its sender lives as long as this.
        while self.rule().is_some() && struck.changed().await.is_ok() {}
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        // However a connection ends, its client sees that.
        connections.spawn(async move { carry(client, &shared).await.ok() });
    }
}

/// Carries one request and its answer.
async fn carry(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    client.set_nodelay(true)?;
    let Some((head, mut body)) = read_request(&mut client).await? else { return Ok(()) };
    let line = head.lines().next().unwrap_or_default();
    let trouble = shared.fate(line);
    match trouble {
        Some(Trouble::Unavailable) => return refuse(client, "503 Service Unavailable", "SlowDown").await,
        Some(Trouble::Full) => return refuse(client, "507 Insufficient Storage", "XMinioStorageFull").await,
        Some(Trouble::Slow) => shared.calmed().await,
        Some(Trouble::Damaged) => body.iter_mut().next_back().into_iter().for_each(|byte| *byte ^= 1),
        Some(Trouble::AnswerLost) | None => {}
    }
    let mut store = TcpStream::connect(shared.store).await?;
    store.write_all(closing(&head).as_bytes()).await?;
    store.write_all(&body).await?;
    if trouble == Some(Trouble::AnswerLost) {
        // Read to its end, so that it is done; and then nobody hears of it.
        tokio::io::copy(&mut store, &mut tokio::io::sink()).await?;
        return Ok(());
    }
    tokio::io::copy(&mut store, &mut client).await?;
    client.shutdown().await
}

/// A whole request: its head with the empty line, and its body.
async fn read_request(client: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if client.read_buf(&mut read).await? == 0 || read.len() > HEAD_BYTES_MAX {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok()).flatten()
    });
    let mut body = read.split_off(end);
    while body.len() < length.unwrap_or(0) {
        if client.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some((head, body)))
}

/// The same head, after whose answer the store closes.
fn closing(head: &str) -> String {
    let kept = head.trim_end().lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    kept.chain(["connection: close", "", ""]).collect::<Vec<_>>().join("\r\n")
}

async fn refuse(mut client: TcpStream, status: &str, code: &str) -> io::Result<()> {
    let body = format!("<Error><Code>{code}</Code><Message>told so by a test</Message></Error>");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/xml\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::closing;

    #[test]
    fn a_head_asks_for_one_answer_and_keeps_all_else() {
        let head = "PUT /a HTTP/1.1\r\nHost: b\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(
            closing(head),
            "PUT /a HTTP/1.1\r\nHost: b\r\nContent-Length: 0\r\nconnection: close\r\n\r\n"
        );
    }
}
