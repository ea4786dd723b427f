//! A small file system of a test's own, which goes with the process that holds it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::unistd::geteuid;
use waybill_testkit::eventually;

/// Puts the file system over the folder in a name space of its own, and becomes a process that ends with its input: also
/// when the test is killed. Where there is another account, that process is of it, or it could not look into its folder.
const HOLD: &str =
    "mount -t tmpfs -o size=\"$1\",mode=0777 none \"$0\" && : > \"$0/ready\" && shift && exec \"$@\" cat";

/// A file system of so many bytes.
pub(super) struct SmallDisk {
    folder: PathBuf,
    holder: Child,
}

impl SmallDisk {
    /// Makes one for the account to which this folder belongs.
    pub(super) async fn for_owner_of(folder: &Path, bytes: u64) -> Self {
        let owner = fs::metadata(folder).expect("a folder of the server's");
        let (uid, gid) = (owner.uid().to_string(), owner.gid().to_string());
        let mount_point =
            std::env::temp_dir().join(format!("waybill-disk-{}", uuid::Uuid::new_v4().simple()));
        fs::create_dir(&mount_point).expect("a folder to mount it at");
        let mut hold = Command::new("unshare");
        hold.arg("--mount");
        // A machine's root needs no name space of users for it.
        if !geteuid().is_root() {
            hold.args(["--user", "--map-root-user"]);
        }
        hold.args(["sh", "-c", HOLD]).arg(&mount_point).arg(bytes.to_string());
        if geteuid().is_root() {
            hold.args(["setpriv", "--reuid", &uid, "--regid", &gid, "--clear-groups"]);
        }
        hold.stdin(Stdio::piped()).stdout(Stdio::null());
        let holder = hold.spawn().expect("unshare, of util-linux");
        let inside = format!("/proc/{}/root{}", holder.id(), mount_point.display());
        let disk = Self { folder: mount_point, holder };
        eventually("the disk to be there", async || {
            fs::exists(format!("{inside}/ready")).ok()?.then_some(())
        })
        .await;
        disk.own("data", &owner);
        disk
    }

    /// A path on it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        let inside = format!("/proc/{}/root{}", self.holder.id(), self.folder.display());
        Path::new(&inside).join(name)
    }

    /// Makes a folder on it for its account.
    fn own(&self, name: &str, owner: &fs::Metadata) {
        let path = self.path(name);
        fs::create_dir(&path).expect("a folder on the disk");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("protected");
        if geteuid().is_root() {
            chown(&path, Some(owner.uid()), Some(owner.gid())).expect("handed over");
        }
    }

    /// Somebody else's file takes what is left.
    pub(super) fn fill(&self) {
        let mut filler = fs::File::create(self.path("filler")).expect("a file on the disk");
        let error = std::io::copy(&mut std::io::repeat(0), &mut filler).expect_err("it is full at some time");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    }

    /// Somebody removes it.
    pub(super) fn make_room(&self) {
        fs::remove_file(self.path("filler")).expect("there was a file");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
