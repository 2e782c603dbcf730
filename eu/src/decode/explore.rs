//! The discovery of a kernel's instructions by control flow.

use std::collections::BTreeMap;

use gencl_isa::{Extra, Instruction, Opcode, decode_first};

use crate::device::Device;
use crate::fault::Fault;

/// The size in bytes of an instruction and the instruction, or why there is none at an offset.
pub type FetchResult = Result<(u8, Instruction), String>;

/// The instructions of a kernel by their byte offsets.
pub type Found = BTreeMap<u32, FetchResult>;

/// Maximum number of instructions of a kernel.
const MAX_INSTRUCTIONS: usize = 1 << 20;

/// Why there is no instruction at an offset behind the code.
pub const END_OF_CODE: &str = "the thread runs beyond the end of the code without an end of thread";

/// Finds the instructions that can be reached from offset 0; `fetch` returns the instruction at an offset.
///
/// # Errors
/// Those of `fetch`, and too many instructions.
pub fn explore(mut fetch: impl FnMut(u32) -> Result<FetchResult, Fault>) -> Result<Found, Fault> {
    let mut found = BTreeMap::new();
    let mut open = vec![0];
    while let Some(offset) = open.pop() {
        if found.contains_key(&offset) {
            continue;
        }
        if found.len() == MAX_INSTRUCTIONS {
            return Err(Fault::illegal("the kernel has too many instructions"));
        }
        let instruction = fetch(offset)?;
        if let Ok((size, instruction)) = &instruction {
            open.extend(successors(instruction, offset, *size));
        }
        found.insert(offset, instruction);
    }
    Ok(found)
}

/// Decodes the first instruction of a byte slice.
pub fn first_instruction(device: &Device, bytes: &[u8]) -> FetchResult {
    if bytes.is_empty() {
        return Err(END_OF_CODE.into());
    }
    let (size, instruction) = decode_first(device.generation, bytes).map_err(|e| e.to_string())?;
    Ok((size as u8, instruction))
}

/// Offsets of the instructions that may be executed next.
fn successors(instruction: &Instruction, offset: u32, size: u8) -> Vec<u32> {
    let next = offset + u32::from(size);
    let (jip, uip) = targets(instruction, offset, size);
    let ends = match instruction.extra {
        Extra::Send(send) => send.end_of_thread,
        Extra::None | Extra::Math(_) | Extra::Branch(_) => {
            instruction.opcode == Opcode::Jmpi && jip.is_some() || instruction.opcode == Opcode::Ret
        }
    };
    let falls_through = !ends || instruction.predicate.is_some();
    jip.into_iter().chain(uip).chain(falls_through.then_some(next)).collect()
}

/// The byte offsets of a branch's `JIP` and `UIP` targets.
pub fn targets(instruction: &Instruction, offset: u32, size: u8) -> (Option<u32>, Option<u32>) {
    let Extra::Branch(branch) = instruction.extra else { return (None, None) };
    let base = if instruction.opcode == Opcode::Jmpi { offset + u32::from(size) } else { offset };
    let has_uip = branch.uip != 0;
    (Some(base.wrapping_add_signed(branch.jip)), has_uip.then(|| base.wrapping_add_signed(branch.uip)))
}
