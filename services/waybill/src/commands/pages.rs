//! Lists, page after page.

use serde_json::Value;

use super::CommandError;
use crate::client::Client;

/// All entries of the api's list at `path`; `member` is what the list is called in its answer.
pub(super) async fn all(client: &Client, path: &str, member: &str) -> Result<Vec<Value>, CommandError> {
    let separator = if path.contains('?') { '&' } else { '?' };
    // Every list goes on after an id or a name, neither of which needs encoding.
    let page = async |after: Option<&str>| match after {
        Some(after) => client.get(&format!("{path}{separator}after={after}")).await,
        None => client.get(path).await,
    };
    all_of(page, member).await
}

/// All entries of a list whose pages `page` gives, each by the `next` of the one before.
pub(super) async fn all_of(
    mut page: impl AsyncFnMut(Option<&str>) -> Result<Value, CommandError>,
    member: &str,
) -> Result<Vec<Value>, CommandError> {
    let mut entries = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut answer = page(after.as_deref()).await?;
        if let Value::Array(page) = answer[member].take() {
            entries.extend(page);
        }
        match answer["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => return Ok(entries),
        }
    }
}
