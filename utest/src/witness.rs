//! Machine code is shown to an independent disassembler.

use gencl_isa::witness::{WitnessError, compare};
use gencl_simulator::device::Device;

/// Every kernel of a program binary must disassemble with `iga64`, where it is installed, to the same
/// instructions that our own decoder sees. Binaries of other drivers are not looked at.
pub fn check_program(binary: &[u8]) -> Result<(), String> {
    let Ok(program) = gencl_program::elf::read(binary) else { return Ok(()) };
    let device = Device::named(&program.target);
    let generation = device.ok_or_else(|| format!("unknown target {}", program.target))?.generation;
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
