//! `gencl cache`

use gencl_program::diagnosis::CacheState;
use gencl_program::report::grouped;

/// The state of the cache as text.
#[must_use]
pub fn describe(state: &CacheState) -> String {
    let (Some(folder), None) = (&state.folder, &state.off) else {
        return format!("off: {}", state.off.as_deref().unwrap_or("there is no folder"));
    };
    let problem = state.problem.as_ref().map_or_else(String::new, |problem| format!("; {problem}"));
    format!(
        "{folder}: {} entries, {} KiB of {} MiB{problem}",
        grouped(state.entries),
        grouped(state.bytes.div_ceil(1 << 10)),
        grouped(state.limit >> 20)
    )
}

/// Prints where the cache is, and its size. Returns whether it can be used, or is off.
#[must_use]
pub fn info(json: bool) -> bool {
    let state = gencl_client::cache_state();
    match serde_json::to_string_pretty(&state) {
        Ok(text) if json => println!("{text}"),
        _ => println!("{}", describe(&state)),
    }
    state.problem.is_none()
}

/// Removes all entries.
///
/// # Errors
/// There is no cache, or it cannot be used: the reason.
pub fn clear() -> Result<(), String> {
    let before = gencl_client::clear_cache()?;
    let kibibytes = grouped(before.bytes.div_ceil(1 << 10));
    println!("{} entries with {kibibytes} KiB are removed", grouped(before.entries));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_described() {
        let state = CacheState {
            folder: Some("/c".into()),
            entries: 3,
            bytes: 5000,
            limit: 256 << 20,
            ..CacheState::default()
        };
        assert_eq!(describe(&state), "/c: 3 entries, 5 KiB of 256 MiB");
        let off = CacheState { off: Some("GENCL_CACHE=off".into()), ..CacheState::default() };
        assert_eq!(describe(&off), "off: GENCL_CACHE=off");
    }
}
