//! Machine code is shown to an independent disassembler.

use gencl_eu::device::Device;
use gencl_isa::witness::{compare, knows_generation};
use gencl_testing::harness::missing_programs;

/// Every kernel of a program binary must disassemble with `iga64` to the same instructions that our own
/// decoder sees. Nothing is compared where [`missing`] has a reason; binaries of other drivers are not looked
/// at.
pub fn check_program(binary: &[u8]) -> Result<(), String> {
    let Ok(program) = gencl_program::elf::read(binary) else { return Ok(()) };
    if missing(&program.target)?.is_some() {
        return Ok(());
    }
    let generation = device(&program.target)?.generation;
    for kernel in &program.kernels {
        let differences =
            compare(generation, &kernel.code).map_err(|error| format!("kernel {}: {error}", kernel.name))?;
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

/// Why machine code for a target cannot be compared, if so.
pub fn missing(target: &str) -> Result<Option<String>, String> {
    if !knows_generation(device(target)?.generation) {
        return Ok(Some(format!("iga64 does not know {target}")));
    }
    Ok(missing_programs(&["iga64"]))
}

fn device(target: &str) -> Result<&'static Device, String> {
    Device::named(target).ok_or_else(|| format!("unknown target {target}"))
}
