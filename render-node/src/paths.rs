//! Redirection of paths.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use crate::{options, real};

/// Redirected folders.
const SHOWN: &[&str] =
    &["/dev/dri", "/sys/dev/char", "/sys/class/drm", "/sys/bus/pci/devices", "/sys/devices/pci0000:00"];

/// The node's path for the program.
pub const NODE: &CStr = c"/dev/dri/renderD128";

/// The device number of DRM devices (`DRM_MAJOR`) and of the first render node.
pub const DEVICE_NUMBER: (u32, u32) = (226, 128);

/// Target of a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Lead {
    /// The path itself.
    Unchanged,
    /// Another file.
    Elsewhere(CString),
    /// A descriptor of this process (`/proc/self/fd/3`).
    Descriptor(i32),
}

/// Whether `path` is the folder, or in it.
fn is_within(path: &[u8], folder: &str) -> bool {
    path.strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Without empty components and single dots, as in `/dev//dri/./`.
fn tidy(path: &[u8]) -> Vec<u8> {
    let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    let mut tidy = Vec::with_capacity(path.len());
    for part in parts {
        tidy.push(b'/');
        tidy.extend(part);
    }
    tidy
}

/// The target of an absolute path.
pub fn lead(path: &CStr) -> Lead {
    match options::root() {
        Some(root) => lead_below(root, path),
        None => Lead::Unchanged,
    }
}

fn lead_below(root: &Path, path: &CStr) -> Lead {
    // A quick check that excludes most paths.
    let bytes = path.to_bytes();
    if !bytes.starts_with(b"/") || !(bytes.contains(&b'd')) {
        return Lead::Unchanged;
    }
    let bytes = tidy(bytes);
    if let Some(fd) = descriptor(&bytes) {
        return Lead::Descriptor(fd);
    }
    if !SHOWN.iter().any(|folder| is_within(&bytes, folder)) {
        return Lead::Unchanged;
    }
    let mut there = root.as_os_str().as_bytes().to_vec();
    there.extend(bytes);
    CString::new(there).map_or(Lead::Unchanged, Lead::Elsewhere)
}

/// The number in `/proc/self/fd/3`, `/proc/thread-self/fd/3`, `/proc/<this process>/fd/3` or `/dev/fd/3`.
fn descriptor(path: &[u8]) -> Option<i32> {
    let path = std::str::from_utf8(path).ok()?;
    if let Some(number) = path.strip_prefix("/dev/fd/") {
        return number.parse().ok();
    }
    let (process, number) = path.strip_prefix("/proc/")?.split_once("/fd/")?;
    let is_this = matches!(process, "self" | "thread-self") || process.parse() == Ok(std::process::id());
    number.parse().ok().filter(|_| is_this)
}

/// Length in bytes of the folder of redirected files at the beginning of a path.
pub fn hidden(path: &[u8]) -> usize {
    let Some(root) = options::root() else { return 0 };
    let root = root.as_os_str().as_bytes();
    match path.strip_prefix(root) {
        Some([b'/', ..]) => root.len(),
        _ => 0,
    }
}

/// Device and inode of the node's file.
pub fn node_id() -> Option<(u64, u64)> {
    static ID: OnceLock<Option<(u64, u64)>> = OnceLock::new();
    *ID.get_or_init(|| {
        let Lead::Elsewhere(path) = lead(NODE) else { return None };
        let mut status = std::mem::MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: a C string, and room for the result.
        if unsafe { real::fstatat(libc::AT_FDCWD, path.as_ptr(), status.as_mut_ptr(), 0) } != 0 {
            return None;
        }
        // SAFETY: it was zeroed, and then filled in.
        let status = unsafe { status.assume_init() };
        Some((status.st_dev, status.st_ino))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shown_folders_lead_elsewhere() {
        let elsewhere = |path: &CStr| match lead_below(Path::new("/shown"), path) {
            Lead::Elsewhere(path) => path.into_string().ok(),
            _ => None,
        };
        assert_eq!(elsewhere(c"/dev/dri").as_deref(), Some("/shown/dev/dri"));
        assert_eq!(elsewhere(c"/dev/dri/by-path/x").as_deref(), Some("/shown/dev/dri/by-path/x"));
        assert_eq!(elsewhere(c"//dev/./dri//x/").as_deref(), Some("/shown/dev/dri/x"));
        assert_eq!(elsewhere(c"/dev/drix"), None);
        assert_eq!(elsewhere(c"/dev/null"), None);
        assert_eq!(elsewhere(c"dev/dri"), None);
    }

    #[test]
    fn descriptors_have_paths() {
        let lead = |path: &CStr| lead_below(Path::new("/shown"), path);
        assert_eq!(lead(c"/proc/self/fd/12"), Lead::Descriptor(12));
        assert_eq!(lead(c"/dev/fd/0"), Lead::Descriptor(0));
        assert_eq!(lead(c"/proc/self/fd"), Lead::Unchanged);
        assert_eq!(lead(c"/proc/1x/fd/3"), Lead::Unchanged);
    }
}
