//! Options of builds and links.

use gencl_device_info::Family;
use gencl_program::Profile;
use gencl_program::options::{BuildOptions, LinkOptions};

/// Families with different options; the first byte selects one.
const FAMILIES: [Family; 4] = [Family::Ivb, Family::Hsw, Family::Bdw, Family::Skl];

/// Options from an application. Accepted ones have a version of the language.
pub fn options(data: &[u8]) {
    let Some((first, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let profile = Profile::of(FAMILIES[usize::from(*first) % FAMILIES.len()]);
    if let Ok(BuildOptions { arguments, .. }) = BuildOptions::parse(text, &profile) {
        assert!(arguments.last().is_some_and(|last| last.starts_with("-cl-std=")), "{arguments:?}");
    }
    let _ = LinkOptions::parse(text);
}
