//! Which paths lead elsewhere.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::options;

/// Folders that are shown in place of the machine's own.
const SHOWN: &[&str] =
    &["/dev/dri", "/sys/dev/char", "/sys/class/drm", "/sys/bus/pci/devices", "/sys/devices/pci0000:00"];

/// The node's file in the folder that is shown.
const NODE: &str = "dev/dri/renderD128";

/// The device number of DRM devices (`DRM_MAJOR`) and of the first render node.
pub const DEVICE_NUMBER: (u32, u32) = (226, 128);

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub enum Lead {
    /// Where it says.
    Unchanged,
    /// To another file.
    Elsewhere(CString),
}

/// Does `path` name `folder` or something in it?
fn is_within(path: &[u8], folder: &str) -> bool {
    path.strip_prefix(folder.as_bytes()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Where an absolute path leads.
pub fn lead(path: &CStr) -> Lead {
    lead_below(options::get().root.as_deref(), path)
}

fn lead_below(root: Option<&Path>, path: &CStr) -> Lead {
    let bytes = path.to_bytes();
    let Some(root) = root else { return Lead::Unchanged };
    if !SHOWN.iter().any(|folder| is_within(bytes, folder)) {
        return Lead::Unchanged;
    }
    let mut there = root.as_os_str().as_bytes().to_vec();
    there.extend(bytes);
    CString::new(there).map_or(Lead::Unchanged, Lead::Elsewhere)
}

/// Is a file that [`lead`] gave the node, perhaps by a link?
pub fn is_node(path: &CStr) -> bool {
    let Some(root) = &options::get().root else { return false };
    let path = Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()));
    let (Ok(path), Ok(node)) = (path.canonicalize(), root.join(NODE).canonicalize()) else { return false };
    path == node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shown_folders_lead_elsewhere() {
        let root = Some(Path::new("/shown"));
        let elsewhere = |path: &CStr| match lead_below(root, path) {
            Lead::Unchanged => None,
            Lead::Elsewhere(path) => path.into_string().ok(),
        };
        assert_eq!(elsewhere(c"/dev/dri").as_deref(), Some("/shown/dev/dri"));
        assert_eq!(elsewhere(c"/dev/dri/by-path/x").as_deref(), Some("/shown/dev/dri/by-path/x"));
        assert_eq!(elsewhere(c"/dev/drix"), None);
        assert_eq!(elsewhere(c"/dev/null"), None);
        assert_eq!(elsewhere(c"dev/dri"), None);
        assert_eq!(lead_below(None, c"/dev/dri"), Lead::Unchanged);
    }
}
