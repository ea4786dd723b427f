//! `waybill export content`: a file appears under its name only when it is the one that the export selected.

use std::io;
use std::path::{Path, PathBuf};

use reqwest::Response;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use uuid::Uuid;
use waybill_domain::hex;

use super::super::{CommandError, text};
use super::duration;
use crate::client::{Client, codes};
use crate::exit::Exit;
use crate::output::Output;

pub(super) async fn run(
    client: &Client,
    export_id: &str,
    file: Option<PathBuf>,
    output: &Output,
) -> Result<(), CommandError> {
    let export = client.get(&format!("/v1/exports/{export_id}")).await?;
    let file = file.unwrap_or_else(|| PathBuf::from(format!("{export_id}.{}", ending(&export))));
    let response = client.download(&format!("/v1/exports/{export_id}/content")).await?;
    let part = Part::beside(&file);
    let got = receive(response, &part.0).await?;
    let result = &export["result"];
    if Some(got.bytes) != result["bytes"].as_u64() || Some(got.sha256.as_str()) != result["sha256"].as_str() {
        let message = format!(
            "the download has {} bytes and sha256 {}, the export {} and {}",
            got.bytes,
            got.sha256,
            text::of(&result["bytes"]),
            text::of(&result["sha256"])
        );
        return Err(CommandError::new(Exit::Failed, codes::DOWNLOAD_DIFFERS, message)
            .with_hint("download it again; if it differs again, tell the operator"));
    }
    tokio::fs::rename(&part.0, &file).await.map_err(|error| not_written(&file, error))?;
    let answer = json!({
        "export_id": export_id,
        "file": file,
        "rows": result["rows"],
        "bytes": got.bytes,
        "sha256": got.sha256,
    });
    output.answer(&answer, |answer| {
        let size = duration::bytes(answer["bytes"].as_i64().unwrap_or(0));
        format!("{}  {} rows  {size}  sha256 {}", file.display(), text::of(&answer["rows"]), got.sha256)
    })
}

/// What the name of an export's file ends with. The pages of a Parquet file are compressed inside of it.
fn ending(export: &Value) -> String {
    let format = text::of(&export["format"]);
    match export["compression"].as_str() {
        Some("gzip") if format != "parquet" => format!("{format}.gz"),
        Some("zstd") if format != "parquet" => format!("{format}.zst"),
        _ => format,
    }
}

/// A file that is removed again unless it has been renamed.
struct Part(PathBuf);

impl Part {
    /// In the same folder, because a rename is only atomic within a file system.
    fn beside(file: &Path) -> Self {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        Self(file.with_file_name(format!(".{name}.{}.part", Uuid::now_v7().simple())))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // After the rename there is nothing of this name, which is as good.
        let _ = std::fs::remove_file(&self.0);
    }
}

struct Received {
    bytes: u64,
    sha256: String,
}

async fn receive(mut response: Response, part: &Path) -> Result<Received, CommandError> {
    let written = |error| not_written(part, error);
    let mut file = File::create_new(part).await.map_err(written)?;
    let mut digest = Sha256::new();
    let mut bytes = 0;
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        digest.update(&piece);
        bytes += piece.len() as u64;
        file.write_all(&piece).await.map_err(written)?;
    }
    file.sync_all().await.map_err(written)?;
    let sha256 = hex(&digest.finalize());
    Ok(Received { bytes, sha256 })
}

fn broken(error: reqwest::Error) -> CommandError {
    CommandError::new(Exit::Unavailable, codes::API_UNREACHABLE, "the download broke off")
        .with_source(error)
        .with_hint("run the same command again; nothing of this try is kept")
}

fn not_written(file: &Path, error: io::Error) -> CommandError {
    let message = format!("cannot write {}", file.display());
    CommandError::new(Exit::Failed, codes::DOWNLOAD_NOT_WRITTEN, message).with_source(error)
}
