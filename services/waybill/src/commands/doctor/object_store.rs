use std::path::Path;

use tokio::io::AsyncWriteExt;
use waybill_objects::Place;
use waybill_runtime::Config;

use super::finding::Findings;

const SUBJECT: &str = "object store";
const PROBE: &[u8] = b"waybill doctor\n";

/// Writes, syncs and removes a file where candidates will lie, or where the worker will make the directory for them.
pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let place = match Place::parse(&config.object_store.url) {
        Ok(place) => place,
        Err(error) => {
            return findings.fail(
                SUBJECT,
                error.to_string(),
                "this version keeps objects in a directory: file:///var/lib/waybill/objects",
            );
        }
    };
    let wanted = place.directory();
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
