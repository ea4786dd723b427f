//! Lists of the api, page after page.

use serde_json::Value;

use super::CommandError;
use crate::client::Client;

/// All entries of the list at `path`; `member` is what the list is called in its answer.
pub(super) async fn all(client: &Client, path: &str, member: &str) -> Result<Vec<Value>, CommandError> {
    let mut entries = Vec::new();
    let mut address = path.to_owned();
    let separator = if path.contains('?') { '&' } else { '?' };
    loop {
        let mut page = client.get(&address).await?;
        if let Value::Array(page) = page[member].take() {
            entries.extend(page);
        }
        // Every list goes on after an id or a name, neither of which needs encoding.
        match page["next"].as_str() {
            Some(next) => address = format!("{path}{separator}after={next}"),
            None => return Ok(entries),
        }
    }
}
