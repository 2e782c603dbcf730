//! Khronos' tools as witnesses of the modules that tests read.
//!
//! `BLESS=1` writes the modules of `compiler/tests/source` into the corpus instead of comparing them.

use std::path::{Path, PathBuf};
use std::process::Command;

use gencl_testing::harness::{Outcome, missing_programs, run, test_unless};

/// SPIR-V 1.6, 2.3: the generator's magic number, by which versions of the assembler differ.
const GENERATOR: std::ops::Range<usize> = 8..12;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join(folder)).expect("it is in the repository");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has no *.{extension}");
    paths
}

/// Runs a program; its standard output, or what it says of an error.
fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(output.stdout)
}

/// The module of an assembly file in the corpus is what the assembler makes of it, and the validator has no
/// objections. It has some to modules of clang's translator, which are not looked at.
fn modules_are_those_of_their_assembly() -> Outcome {
    for path in files("compiler/tests/source", "spvasm") {
        let mut assembled =
            output(Command::new("spirv-as").args(["--target-env", "spv1.4", "-o", "-"]).arg(&path))?;
        let module = module_of(&path);
        assembled[GENERATOR].fill(0);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&module, &assembled).map_err(|error| error.to_string())?;
        } else if std::fs::read(&module).map_err(|error| error.to_string())? != assembled {
            return Err(format!("{} is not {}", module.display(), path.display()));
        }
        output(Command::new("spirv-val").args(["--target-env", "spv1.4"]).arg(&module))?;
    }
    Ok(())
}

/// The module in the corpus that is made of an assembly file.
fn module_of(assembly: &Path) -> PathBuf {
    let name = assembly.file_stem().expect("it has a name");
    repository().join("fuzz/corpus/spirv").join(name).with_extension("spv")
}

fn main() {
    run(vec![test_unless(
        missing_programs(&["spirv-as", "spirv-val"]),
        "modules_are_those_of_their_assembly",
        modules_are_those_of_their_assembly,
    )]);
}
