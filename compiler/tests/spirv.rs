//! Modules of SPIR-V become the programs that their sources become.
//!
//! The modules are in `fuzz/corpus/spirv`: the kernels of the test-suite by clang 15 and its translator to SPIR-V.
#![cfg(feature = "llvm")]

use std::path::{Path, PathBuf};

use gencl_compiler::driver::{Build, Driver, Listener};
use gencl_program::Program;
use gencl_program::debug::Debug;

struct Silent;

impl Listener for Silent {
    fn progress(&mut self, _: &str, _: &str) {}

    fn print(&mut self, _: &str, _: &str) {}
}

fn build(source: &[u8], name: &str, options: &str) -> Result<Program, String> {
    let (debug, _) = Debug::parse("");
    let build = Build { source, name, options, target: "skl", ..Build::default() };
    let outcome = Driver::new(&debug, &mut Silent).build(&build);
    outcome.program.ok_or(outcome.log)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn kernels_are_those_of_the_source() {
    let mut modules: Vec<_> = std::fs::read_dir(repository().join("fuzz/corpus/spirv"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    // The others are those of `tests/source`.
    let kernels = repository().join("utest/kernels");
    modules.retain(|path| kernels.join(path.file_name().unwrap()).with_extension("cl").exists());
    modules.sort();
    let (mut count, mut logarithms) = (0, 0.0);
    for path in &modules {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let read = |path: &Path| std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let module = build(&read(path), name, "").unwrap_or_else(|log| panic!("{name}: {log}"));
        let source = read(&repository().join("utest/kernels").join(name).with_extension("cl"));
        let versions = ["CL1.2", "CL3.0", "CL2.0"].map(|version| format!("-cl-std={version}"));
        let program = versions.iter().find_map(|version| build(&source, name, version).ok()).expect(name);
        let names = |program: &Program| {
            let mut names: Vec<_> = program.kernels.iter().map(|kernel| kernel.name.clone()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&module), names(&program), "{name}");
        for kernel in &module.kernels {
            let other =
                program.kernels.iter().find(|other| other.name == kernel.name).expect("it has the name");
            let kinds = |kernel: &gencl_program::Kernel| {
                kernel.arguments.iter().map(|argument| (argument.kind, argument.size)).collect::<Vec<_>>()
            };
            assert_eq!(kinds(kernel), kinds(other), "{name}: {}", kernel.name);
            let instructions = |kernel: &gencl_program::Kernel| {
                f64::from(kernel.statistics.instructions) / f64::from(kernel.simd_width)
            };
            logarithms += (instructions(kernel) / instructions(other)).ln();
            count += 1;
        }
    }
    assert!(count > 20, "{count} kernels");
    let ratio = (logarithms / f64::from(count)).exp();
    assert!(ratio < 1.05, "the code has {ratio:.3} x the instructions of that from the source");
}

#[test]
fn errors_are_in_the_log() {
    let module = std::fs::read(repository().join("fuzz/corpus/spirv/atomics.spv")).unwrap();
    let log = build(&module[..module.len() - 4], "module", "").unwrap_err();
    assert!(log.starts_with("module: error: SPIR-V, instruction "), "{log}");
    assert!(log.contains("the function does not end"), "{log}");
}
