use std::path::Path;

use tokio::io::AsyncWriteExt;
use waybill_objects::Place;
use waybill_runtime::{Config, chain};

use super::finding::Findings;

const SUBJECT: &str = "object store";
const PROBE: &[u8] = b"waybill doctor\n";

/// Does in the store what Waybill does there, with an object or a file of its own.
pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let place = match Place::parse(&config.object_store.url, config.object_store.settings.iter()) {
        Ok(place) => place,
        Err(error) => {
            return findings.fail(
                SUBJECT,
                error.to_string(),
                "write it as file:///var/lib/waybill/objects or s3://bucket/prefix",
            );
        }
    };
    match place.directory() {
        Some(directory) => check_directory(directory, findings).await,
        None => check_bucket(&place, findings).await,
    }
}

/// Writes, reads, lists and deletes an object in the bucket.
async fn check_bucket(place: &Place, findings: &mut Findings) {
    const HINT: &str = "check [object_store], the variables of the environment that its client reads, and that this \
                        identity may write, read, list and delete in the bucket";
    let objects = match place.to_write() {
        Ok(objects) => objects,
        Err(error) => return findings.fail(SUBJECT, chain(&error), HINT),
    };
    match objects.probe().await {
        Ok(()) => findings.ok(SUBJECT, format!("{place} can be written, read, listed and deleted from")),
        Err(error) => findings.fail(SUBJECT, format!("{place}: {}", chain(&error)), HINT),
    }
}

/// Writes, syncs and removes a file where candidates will lie, or where the worker will make the directory for them.
async fn check_directory(wanted: &Path, findings: &mut Findings) {
    let existing = nearest_existing(wanted);
    match write_and_remove(existing).await {
        Ok(()) if existing == wanted => findings.ok(SUBJECT, format!("{} can be written", wanted.display())),
        Ok(()) => findings.ok(
            SUBJECT,
            format!("{} will be made by the worker: {} can be written", wanted.display(), existing.display()),
        ),
        Err(error) if existing == wanted => findings.fail(
            SUBJECT,
            format!("{} cannot be written: {error}", wanted.display()),
            "give the directory to the user that runs the worker, and see that the disk is not full",
        ),
        Err(error) => findings.fail(
            SUBJECT,
            format!(
                "{} is not there, and cannot be made in {}: {error}",
                wanted.display(),
                existing.display()
            ),
            "make the directory, owned by the user that runs the worker",
        ),
    }
}

/// The directory itself, or the first one above it that is there.
fn nearest_existing(directory: &Path) -> &Path {
    directory.ancestors().find(|directory| directory.exists()).unwrap_or(directory)
}

async fn write_and_remove(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".waybill-doctor-{}", std::process::id()));
    let mut file = tokio::fs::OpenOptions::new().write(true).create_new(true).open(&path).await?;
    let written = async {
        file.write_all(PROBE).await?;
        file.sync_all().await
    };
    let written = written.await;
    tokio::fs::remove_file(&path).await?;
    written
}
