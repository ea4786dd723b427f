use std::path::{Path, PathBuf};

use waybill_runtime::Config;

use super::finding::Findings;

/// Writes, syncs and removes a file where candidates will lie.
pub(super) async fn check(config: &Config, findings: &mut Findings) {
    let subject = "object store";
    let Some(folder) = config.object_store.url.strip_prefix("file://").filter(|path| path.starts_with('/'))
    else {
        findings.fail(
            subject,
            format!("object_store.url {} is no file:///absolute/path", config.object_store.url),
            "this version keeps objects in a directory: file:///var/lib/waybill/objects",
        );
        return;
    };
    let folder = PathBuf::from(folder);
    match write_and_remove(&folder).await {
        Ok(()) => findings.ok(subject, format!("{} can be written", folder.display())),
        Err(error) => findings.fail(
            subject,
            format!("{} cannot be written: {error}", folder.display()),
            "make the directory, owned by the user that runs the worker",
        ),
    }
}

async fn write_and_remove(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".waybill-doctor-{}", std::process::id()));
    let file = tokio::fs::OpenOptions::new().write(true).create_new(true).open(&path).await?;
    let synced = file.sync_all().await;
    tokio::fs::remove_file(&path).await?;
    synced
}
