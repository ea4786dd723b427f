//! What `object_store` stages in a directory: the file of an upload that has not ended is `NAME#NUMBER` beside where the
//! object will be. A process that is killed leaves it there, and no listing shows it.

use std::io::ErrorKind;
use std::path::Path as FilePath;

use object_store::path::Path;

/// Removes what was staged for this object.
pub(crate) async fn remove(directory: &FilePath, path: &Path) -> object_store::Result<()> {
    let target = directory.join(path.as_ref());
    let (Some(folder), Some(name)) = (target.parent(), path.filename()) else { return Ok(()) };
    let mut entries = match tokio::fs::read_dir(folder).await {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    while let Some(entry) = entries.next_entry().await.map_err(failed)? {
        if entry.file_name().to_str().is_some_and(|file| is_staged_for(file, name)) {
            match tokio::fs::remove_file(entry.path()).await {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
                Ok(()) | Err(_) => {}
            }
        }
    }
    Ok(())
}

fn is_staged_for(file: &str, name: &str) -> bool {
    let number = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('#'));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn failed(source: std::io::Error) -> object_store::Error {
    object_store::Error::Generic { store: "LocalFileSystem", source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use super::is_staged_for;

    #[test]
    fn only_the_staged_files_of_this_very_object_are_its() {
        assert!(is_staged_for("3-abc#1", "3-abc") && is_staged_for("3-abc#12", "3-abc"));
        for other in ["3-abc", "3-abcd#1", "3-abc#", "3-abc#x", "3-ab#1"] {
            assert!(!is_staged_for(other, "3-abc"), "{other}");
        }
    }
}
