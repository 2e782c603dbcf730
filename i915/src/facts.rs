//! What the system says about a device file without opening it: for messages about devices that are not used.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The vendor id of Intel on the PCI bus.
const INTEL: &str = "0x8086";

/// What sysfs says about a render node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFacts {
    /// PCI vendor and device as `0x8086` and `0x1912`.
    pub pci_ids: Option<(String, String)>,
    /// The kernel driver.
    pub driver: Option<String>,
}

impl NodeFacts {
    /// The facts about a render node.
    #[must_use]
    pub fn of(node: &Path) -> NodeFacts {
        let Some(name) = node.file_name() else { return NodeFacts::default() };
        Self::in_folder(&Path::new("/sys/class/drm").join(name).join("device"))
    }

    fn in_folder(device: &Path) -> NodeFacts {
        let text = |file: &str| Some(std::fs::read_to_string(device.join(file)).ok()?.trim().to_owned());
        let driver = std::fs::read_link(device.join("driver")).ok();
        NodeFacts {
            pci_ids: text("vendor").zip(text("device")),
            driver: driver.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
        }
    }

    /// Whether it is an Intel GPU.
    #[must_use]
    pub fn is_intel(&self) -> bool {
        self.pci_ids.as_ref().is_some_and(|(vendor, _)| vendor == INTEL)
    }
}

impl std::fmt::Display for NodeFacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.pci_ids {
            Some((vendor, device)) => {
                write!(f, "PCI {}:{}", vendor.trim_start_matches("0x"), device.trim_start_matches("0x"))?;
            }
            None => write!(f, "not on a PCI bus")?,
        }
        write!(f, ", kernel driver {}", self.driver.as_deref().unwrap_or("unknown"))?;
        if let Ok(version) = std::fs::read_to_string("/proc/sys/kernel/osrelease") {
            write!(f, ", Linux {}", version.trim())?;
        }
        Ok(())
    }
}

/// Why a device file could not be opened, and what to do about it. `nodes` finds the render nodes that exist.
pub(crate) fn why_closed(path: &Path, error: &io::Error, nodes: impl Fn() -> Vec<PathBuf>) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let group = std::fs::metadata(path).ok().and_then(|file| group_name(file.gid()));
            let group = group.unwrap_or_else(|| "render".to_owned());
            format!(
                "no permission to open it: join its group with `sudo usermod -aG {group} $USER` and log in again"
            )
        }
        io::ErrorKind::NotFound => match &nodes()[..] {
            [] => "there is no such file, and this machine has no render nodes".to_owned(),
            nodes => {
                let list: Vec<_> = nodes.iter().map(|node| node.display().to_string()).collect();
                format!("there is no such file; the render nodes are {}", list.join(", "))
            }
        },
        _ => error.to_string(),
    }
}

/// The name of a group, from the system's file: services of names are not queried within applications.
fn group_name(gid: u32) -> Option<String> {
    find_group(&std::fs::read_to_string("/etc/group").ok()?, gid)
}

/// The name of a group in a file of lines `name:password:gid:members`.
fn find_group(file: &str, gid: u32) -> Option<String> {
    let fields = file.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut groups = fields.filter(|fields| fields.get(2).and_then(|id| id.parse().ok()) == Some(gid));
    groups.next().map(|fields| fields[0].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_number() {
        let file = "root:x:0:\nvideo:x:44:me\nrender:x:105:\nbroken\n";
        assert_eq!(find_group(file, 105).as_deref(), Some("render"));
        assert_eq!(find_group(file, 106), None);
    }

    #[test]
    fn messages_say_what_to_do() {
        let why = |kind: io::ErrorKind, nodes: &[&str]| {
            let nodes: Vec<PathBuf> = nodes.iter().map(PathBuf::from).collect();
            why_closed(Path::new("/nonexistent"), &kind.into(), || nodes.clone())
        };
        assert!(why(io::ErrorKind::PermissionDenied, &[]).contains("usermod -aG render"));
        assert!(why(io::ErrorKind::NotFound, &[]).ends_with("no render nodes"));
        assert!(why(io::ErrorKind::NotFound, &["/dev/dri/renderD128"]).ends_with("are /dev/dri/renderD128"));
    }

    #[test]
    fn facts_are_read_from_sysfs() {
        let folder = std::env::temp_dir().join(format!("gencl-facts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (file, text) in [("vendor", "0x8086\n"), ("device", "0x1912\n")] {
            std::fs::write(folder.join(file), text).unwrap();
        }
        std::os::unix::fs::symlink("../bus/pci/drivers/i915", folder.join("driver")).unwrap();
        let facts = NodeFacts::in_folder(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(facts.is_intel());
        assert!(facts.to_string().starts_with("PCI 8086:1912, kernel driver i915, Linux "), "{facts}");
        assert_eq!(NodeFacts::in_folder(&folder), NodeFacts::default());
    }
}
