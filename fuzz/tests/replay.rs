//! Runs the fuzzing targets with the inputs of the corpus.

use std::panic::{catch_unwind, set_hook};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The messages of panics on all threads: the runtime and the simulator convert panics of their threads to
/// errors.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Held while a target runs, so that a panic can be attributed to it.
static RUNNING: Mutex<()> = Mutex::new(());

fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    set_hook(Box::new(|panic| PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(panic.to_string())));
    let mut failures = Vec::new();
    for path in paths {
        let data = std::fs::read(&path).expect("readable");
        // The hook has recorded it.
        let _ = catch_unwind(|| target(&data));
        let panics = std::mem::take(&mut *PANICS.lock().unwrap_or_else(PoisonError::into_inner));
        failures.extend(panics.into_iter().map(|panic| format!("{}: {panic}", path.display())));
    }
    drop(std::panic::take_hook());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A test for each target.
macro_rules! replays {
    ($($test:ident: $target:ident;)*) => {
        $(#[test]
        fn $test() {
            replay(stringify!($target), gencl_fuzz::$target);
        })*
    };
}

replays! {
    replay_assembly_text: assembly_text;
    replay_binary: binary;
    replay_container: container;
    replay_decoder: decoder;
    replay_gen_ir_text: gen_ir_text;
    replay_ioctl: ioctl;
    replay_options: options;
    replay_printf: printf;
    replay_protocol: protocol;
    replay_spirv: spirv;
}
