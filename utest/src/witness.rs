//! Machine code is shown to an independent disassembler.

use gencl_isa::Generation;
use gencl_isa::witness::{WitnessError, compare};

/// Targets by their instruction sets.
const GENERATIONS: &[(Generation, &[&str])] = &[
    (Generation::Gen7, &["ivb", "byt"]),
    (Generation::Gen75, &["hsw"]),
    (Generation::Gen8, &["bdw", "chv"]),
    (Generation::Gen9, &["skl", "bxt", "kbl", "glk", "cfl"]),
];

/// Every kernel of a program binary must disassemble with `iga64`, where it is installed, to the same
/// instructions that our own decoder sees. Binaries of other drivers are not looked at.
pub fn check_program(binary: &[u8]) -> Result<(), String> {
    let Ok(program) = gencl_program::elf::read(binary) else { return Ok(()) };
    let target = program.target.as_str();
    let generation = GENERATIONS.iter().find(|(_, names)| names.contains(&target));
    let generation = generation.ok_or_else(|| format!("unknown target {target}"))?.0;
    if generation.capabilities().iga_platform.is_none() {
        return Ok(());
    }
    for kernel in &program.kernels {
        let differences = match compare(generation, &kernel.code) {
            Ok(differences) => differences,
            Err(WitnessError::Missing) => return Ok(()),
            Err(error) => return Err(format!("kernel {}: {error}", kernel.name)),
        };
        if let Some(first) = differences.first() {
            let count = differences.len();
            return Err(format!(
                "kernel {}: iga64 reads {count} instructions otherwise: {first:?}",
                kernel.name
            ));
        }
    }
    Ok(())
}
