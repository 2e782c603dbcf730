//! Golden lines, confirmed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use gencl_isa::{Generation, Instruction, compact, decode, encode, parse_program, witness};
use gencl_testing::harness::{Outcome, Trial, missing_programs, test_unless};

use crate::agree;
use crate::golden_lines::{bytes_of, files};

pub fn tests() -> Vec<Trial> {
    let no_vectors = std::env::var_os("VECTORS").is_none().then_some("VECTORS does not name Mesa's vectors");
    vec![
        test_unless(missing_programs(&["iga64"]), "golden_lines_read_the_same", full),
        test_unless(missing_programs(&["iga64"]), "compacted_golden_lines_read_the_same", compacted),
        test_unless(
            missing_programs(&["iga64"]).as_deref().or(no_vectors),
            "each_golden_line_is_confirmed",
            confirmed,
        ),
    ]
}

/// The lines that nobody can confirm; the file says why.
const MANUAL: &str = "golden/manual.txt";

/// The generations with which `iga64` can be asked about an instruction: its own, and for Ivy Bridge, which
/// it does not know, Haswell where the bytes mean the same there.
fn reader(generation: Generation, bytes: &[u8; 16], instruction: &Instruction) -> Option<Generation> {
    let same = |other: &Generation| decode(*other, bytes).as_ref() == Ok(instruction);
    [generation, Generation::Gen75]
        .into_iter()
        .take(if generation == Generation::Gen7 { 2 } else { 1 })
        .filter(same)
        .find(|reader| witness::knows(*reader, instruction))
}

/// The golden lines that `iga64` can read, by the generation that it is asked with.
fn readable() -> HashMap<Generation, Vec<[u8; 16]>> {
    let mut result: HashMap<Generation, Vec<[u8; 16]>> = HashMap::new();
    for file in files() {
        for (at, golden) in file.lines() {
            let instruction = golden.instruction(&at);
            let bytes = encode(golden.generation, &instruction).expect("encodable");
            if let Some(reader) = reader(golden.generation, &bytes, &instruction) {
                result.entry(reader).or_default().push(bytes);
            }
        }
    }
    result
}

fn full() -> Outcome {
    for (generation, code) in readable() {
        println!("{generation:?}: {} instructions", code.len());
        agree(generation, code.as_flattened())?;
    }
    Ok(())
}

fn compacted() -> Outcome {
    for (generation, code) in readable() {
        let compacted: Vec<u8> =
            code.iter().filter_map(|bytes| compact(generation, bytes)).flatten().collect();
        println!("{generation:?}: {} of {} compacted", compacted.len() / 8, code.len());
        agree(generation, &compacted)?;
    }
    Ok(())
}

/// Mesa's vectors of a generation: bytes, and what Mesa's text for them means.
fn vectors(folder: &Path, generation: Generation) -> Result<HashMap<[u8; 16], Instruction>, String> {
    let folder = folder.join(generation.capabilities().name);
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut result = HashMap::new();
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_none_or(|extension| extension != "asm") {
            continue;
        }
        let program = parse_program(generation, &read(&path)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let bytes = read(&path.with_extension("expected"))?;
        let bytes = bytes.lines().map(|line| bytes_of(line).expect("16 bytes"));
        result.extend(bytes.zip(program));
    }
    Ok(result)
}

/// What Mesa's names of devices are to its assembler.
fn platform(generation: Generation) -> &'static str {
    match generation {
        Generation::Gen7 => "ivb",
        Generation::Gen75 => "hsw",
        Generation::Gen8 => "bdw",
        Generation::Gen9 => "skl",
    }
}

/// What Mesa's assembler makes of a text; `None` where it does not know the instruction.
fn assemble(assembler: &Path, generation: Generation, text: &str) -> Option<[u8; 16]> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [input, output] = ["line.asm", "line.hex"].map(|name| folder.join(name));
    std::fs::write(&input, text).expect("writable");
    let ran = Command::new(assembler)
        .args(["-g", platform(generation), "-t", "hex", "-o"])
        .args([&output, &input])
        .output()
        .expect("the assembler runs");
    if !ran.status.success() {
        return None;
    }
    bytes_of(&std::fs::read_to_string(&output).expect("readable"))
}

/// Each line is one that `iga64` reads as we do, or a vector, whose bytes and text mean the same, or Mesa's
/// assembler makes the bytes of the text, where `ASSEMBLER` names it (`i965_asm`).
fn confirmed() -> Outcome {
    full()?;
    let assembler = std::env::var_os("ASSEMBLER").map(PathBuf::from);
    let folder = PathBuf::from(std::env::var_os("VECTORS").ok_or("VECTORS is not set")?);
    let mut unconfirmed = Vec::new();
    let (mut by_iga, mut by_vector, mut by_assembler) = (0, 0, 0);
    for generation in Generation::ALL {
        let vectors = vectors(&folder, generation)?;
        for file in files().iter().filter(|file| !file.path.ends_with(MANUAL)) {
            for (at, golden) in file.lines().filter(|(_, golden)| golden.generation == generation) {
                let instruction = golden.instruction(&at);
                let bytes = bytes_of(golden.bytes).ok_or_else(|| format!("{at}: no bytes"))?;
                if vectors.get(&bytes) == Some(&instruction) {
                    by_vector += 1;
                } else if reader(generation, &bytes, &instruction).is_some() {
                    by_iga += 1;
                } else if assembler
                    .as_ref()
                    .is_some_and(|assembler| assemble(assembler, generation, golden.text) == Some(bytes))
                {
                    by_assembler += 1;
                } else {
                    unconfirmed.push(at);
                }
            }
        }
    }
    println!(
        "{by_vector} lines are vectors, {by_iga} others are read by iga64, {by_assembler} assembled by Mesa"
    );
    if unconfirmed.is_empty() { Ok(()) } else { Err(format!("nobody confirms\n{}", unconfirmed.join("\n"))) }
}
