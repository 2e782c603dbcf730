//! Build options.

use gencl_compiler::options::{allows_uneven_groups, clang_arguments};
use gencl_program::Profile;

/// Targets with different options, by the first byte.
const TARGETS: [&str; 4] = ["ivb", "hsw", "bdw", "skl"];

/// Build options as an application gives them. Those that clang gets can be asked about, too.
pub fn options(data: &[u8]) {
    let Some((first, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let profile = Profile::of(TARGETS[usize::from(*first) % TARGETS.len()]);
    if let Ok(arguments) = clang_arguments(text, profile) {
        assert!(arguments.last().is_some_and(|last| last.starts_with("-cl-std=")), "{arguments:?}");
        assert!(allows_uneven_groups(text).is_ok());
    }
}
