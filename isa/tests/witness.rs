//! Everything this crate encodes for Gen7.5 and later, read by Intel's own disassembler.

use std::path::Path;

use gencl_isa::witness::{self, WitnessError};
use gencl_isa::{Generation, compact, decode};

/// Is there a witness? Says so where not.
fn installed() -> bool {
    let found = witness::program().is_some();
    if !found {
        println!("iga64 is not installed: skipped");
    }
    found
}

/// Mesa's vectors of a generation that the witness knows, where they are beside the project.
fn known_vectors(generation: Generation) -> Vec<[u8; 16]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/oracle/mesa-asm")
        .join(generation.capabilities().name);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.retain(|path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "expected"));
    paths.sort();
    let mut result = Vec::new();
    for path in paths {
        for line in std::fs::read_to_string(path).expect("a readable file").lines() {
            let bytes: Vec<u8> = line
                .split_whitespace()
                .map(|b| u8::from_str_radix(b, 16).expect("hexadecimal bytes"))
                .collect();
            let bytes = bytes.try_into().expect("16 bytes");
            if decode(generation, &bytes).is_ok_and(|i| witness::knows(generation, &i)) {
                result.push(bytes);
            }
        }
    }
    result
}

/// Compares a program; its differences must be none.
fn agree(generation: Generation, code: &[u8]) {
    match witness::compare(generation, code) {
        Ok(differences) => {
            for d in &differences {
                println!("{:#x}: {}\n  {}\n  {}", d.offset, d.what, d.ours, d.theirs);
            }
            assert!(differences.is_empty(), "{} differences", differences.len());
        }
        Err(error @ (WitnessError::Missing | WitnessError::Generation(_))) => println!("skipped: {error}"),
        Err(error) => panic!("{generation:?}: {error}"),
    }
}

#[test]
fn the_vectors_read_the_same() {
    if !installed() {
        return;
    }
    for generation in Generation::ALL {
        let vectors = known_vectors(generation);
        println!("{generation:?}: {} instructions", vectors.len());
        agree(generation, vectors.as_flattened());
    }
}

#[test]
fn the_compacted_vectors_read_the_same() {
    if !installed() {
        return;
    }
    for generation in Generation::ALL {
        let vectors = known_vectors(generation);
        let compacted: Vec<u8> =
            vectors.iter().filter_map(|bytes| compact(generation, bytes)).flatten().collect();
        println!("{generation:?}: {} of {} compacted", compacted.len() / 8, vectors.len());
        agree(generation, &compacted);
    }
}
