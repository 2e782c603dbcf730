//! The folder of redirected files: `/dev/dri` and the device's part of `/sys`, with files and links as on a
//! machine with such a GPU (Linux 6.1).
//!
//! The folder is removed at the end. If `gencl-sim` is killed, the next one removes it: a folder in use has a
//! lock on its file [`LOCK`], which ends with the process.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Error, Result};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gencl_eu::device::Device;

/// Address on the PCI bus, the same for all integrated GPUs.
const PCI: &str = "0000:00:02.0";

/// Prefix of the folders' names.
const PREFIX: &str = "gencl-sim-";
/// The file in the folder that is locked as long as it is in use.
const LOCK: &str = "lock";

/// The folder; removed when it is dropped.
pub struct Tree {
    root: PathBuf,
    _lock: File,
}

impl Tree {
    /// Creates the folder.
    pub fn create(device: &Device) -> Result<Tree> {
        let temporary = std::env::temp_dir();
        remove_stale(&temporary);
        let root = new_folder(&temporary)?;
        let lock = File::create(root.join(LOCK)).and_then(|file| file.lock().map(|()| file));
        let lock = lock.inspect_err(|_| {
            let _ = fs::remove_dir_all(&root);
        })?;
        let tree = Tree { root, _lock: lock };
        tree.fill(device)?;
        Ok(tree)
    }

    /// Path of the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path of the library that can be in `LD_PRELOAD`, where spaces and colons are separators: its own, or that of a
    /// link in the folder.
    pub fn preloadable(&self, library: &Path) -> Result<PathBuf> {
        let has_separator =
            |path: &Path| path.as_os_str().as_encoded_bytes().iter().any(|byte| b" :".contains(byte));
        if !has_separator(library) {
            return Ok(library.to_owned());
        }
        let link = self.root.join(library.file_name().unwrap_or_default());
        if has_separator(&link) {
            return Err(Error::other("set TMPDIR to a folder without spaces and colons in its path"));
        }
        symlink(library, &link)?;
        Ok(link)
    }

    fn fill(&self, device: &Device) -> Result<()> {
        let pci = format!("sys/devices/pci0000:00/{PCI}");
        let id = device.pci_id;
        let megahertz = format!("{}\n", device.clock_frequency / 1_000_000);
        let files = [
            ("dev/dri/renderD128".to_owned(), String::new()),
            (format!("{pci}/vendor"), "0x8086\n".into()),
            (format!("{pci}/device"), format!("0x{id:04x}\n")),
            (format!("{pci}/revision"), format!("0x{:02x}\n", device.revision)),
            (format!("{pci}/subsystem_vendor"), "0x8086\n".into()),
            (format!("{pci}/subsystem_device"), "0x2212\n".into()),
            (format!("{pci}/class"), "0x030000\n".into()),
            (
                format!("{pci}/uevent"),
                format!(
                    "DRIVER=i915\nPCI_CLASS=30000\nPCI_ID=8086:{id:04X}\nPCI_SUBSYS_ID=8086:2212\n\
                     PCI_SLOT_NAME={PCI}\nMODALIAS=pci:v00008086d0000{id:04X}sv00008086sd00002212bc03sc00i00\n"
                ),
            ),
            (format!("{pci}/drm/renderD128/dev"), "226:128\n".into()),
            (
                format!("{pci}/drm/renderD128/uevent"),
                "MAJOR=226\nMINOR=128\nDEVNAME=dri/renderD128\nDEVTYPE=drm_minor\n".into(),
            ),
            (format!("{pci}/drm/card0/gt_max_freq_mhz"), megahertz.clone()),
            (format!("{pci}/drm/card0/gt_RP0_freq_mhz"), megahertz),
            (format!("{pci}/drm/card0/gt_min_freq_mhz"), "350\n".into()),
            (format!("{pci}/drm/card0/error"), "No error state collected\n".into()),
            ("sys/class/drm/version".into(), "drm 1.1.0 20060810\n".into()),
        ];
        for (path, text) in files {
            let path = self.root.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, text)?;
        }
        let links = [
            (format!("dev/dri/by-path/pci-{PCI}-render"), "../renderD128".to_owned()),
            (format!("{pci}/subsystem"), "../../../bus/pci".into()),
            (format!("{pci}/driver"), "../../../bus/pci/drivers/i915".into()),
            (format!("{pci}/drm/renderD128/device"), format!("../../../{PCI}")),
            (format!("{pci}/drm/renderD128/subsystem"), "../../../../../class/drm".into()),
            (format!("sys/bus/pci/devices/{PCI}"), format!("../../../devices/pci0000:00/{PCI}")),
            ("sys/class/drm/renderD128".into(), format!("../../devices/pci0000:00/{PCI}/drm/renderD128")),
            ("sys/dev/char/226:128".into(), format!("../../devices/pci0000:00/{PCI}/drm/renderD128")),
        ];
        for (path, target) in links {
            let path = self.root.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            symlink(target, path)?;
        }
        fs::create_dir_all(self.root.join("sys/bus/pci/drivers/i915"))
    }
}

/// Age from which a folder without a lock is removed; a younger one may not be locked yet.
const YOUNG: Duration = Duration::from_secs(60);

/// Removes unused folders, except those that cannot be removed, such as another user's.
fn remove_stale(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else { return };
    let ours = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX))
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    for entry in entries.filter_map(Result::ok).filter(ours) {
        let folder = entry.path();
        let is_unused = match File::open(folder.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(_) => {
                let age = entry.metadata().and_then(|data| data.modified()).map(|time| time.elapsed());
                age.is_ok_and(|age| age.is_ok_and(|age| age > YOUNG))
            }
        };
        if is_unused {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// A new folder of our own in the folder for temporary files.
fn new_folder(temporary: &Path) -> Result<PathBuf> {
    let template = temporary.join(format!("{PREFIX}XXXXXX"));
    let mut name = template.into_os_string().into_encoded_bytes();
    name.push(0);
    // SAFETY: the template is a C string of our own, which the function changes in place.
    if unsafe { libc::mkdtemp(name.as_mut_ptr().cast()) }.is_null() {
        return Err(Error::last_os_error());
    }
    name.pop();
    Ok(OsString::from_vec(name).into())
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Errors are ignored: left-over files do no harm.
        let _ = fs::remove_dir_all(&self.root);
    }
}
