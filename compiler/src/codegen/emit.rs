//! Emission: assigns registers, drops redundant copies, encodes, compacts, and resolves jumps.

use super::allocate::{Locations, is_redundant_copy};
use super::lir::{BranchTarget, Fixup, GRF, Inst, InstKind, Program, VRef};
use super::pairs::pair_channels;
use crate::ir::Location;
use gencl_isa::{Extra, Generation, Instruction, Opcode, Operand, Register};
use smallvec::SmallVec;

/// Machine instructions with physical registers; jump distances are filled in by [`encode`].
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// In the order of the layout.
    pub instructions: Vec<Instruction>,
    /// First instruction of each block.
    pub blocks: Vec<usize>,
    /// Where each instruction is in the source.
    pub locations: Vec<Location>,
    jumps: Vec<Jump>,
}

/// Bytes of the four components of an align16 destination.
const COMPONENTS: u8 = 16;

/// The targets `JIP` and `UIP` of instruction `at`.
#[derive(Clone, Debug, PartialEq)]
struct Jump {
    at: usize,
    target: Option<BranchTarget>,
    uip: Option<BranchTarget>,
}

/// Machine code as bytes.
pub struct Encoded {
    /// The code.
    pub bytes: Vec<u8>,
    /// First byte of each instruction, and the end of the code.
    pub offsets: Vec<usize>,
}

/// Replaces virtual registers by their locations.
///
/// # Errors
/// A virtual register without location, which is a bug in allocation.
pub fn assign_registers(program: &Program, locations: &Locations) -> Result<Code, String> {
    let mut code =
        Code { instructions: Vec::new(), blocks: Vec::new(), locations: Vec::new(), jumps: Vec::new() };
    for block in &program.blocks {
        code.blocks.push(code.instructions.len());
        for inst in &block.insts {
            if inst.kind == InstKind::Undef || is_redundant_copy(inst, locations) {
                continue;
            }
            if inst.target.is_some() {
                let at = code.instructions.len();
                code.jumps.push(Jump { at, target: inst.target, uip: inst.uip });
            }
            code.locations.push(inst.location);
            code.instructions.push(with_registers(inst, program, locations)?);
        }
    }
    Ok(code)
}

fn with_registers(inst: &Inst, program: &Program, locations: &Locations) -> Result<Instruction, String> {
    let mut isa = inst.isa;
    let find = |v: VRef| -> Result<(Register, u8), String> {
        let at = locations[v.vreg.0 as usize].ok_or_else(|| format!("v{} has no location", v.vreg.0))?;
        let byte = at + v.offset;
        let register = u8::try_from(byte / GRF).map_err(|_| format!("v{} beyond the file", v.vreg.0))?;
        Ok((Register::Grf(register), (byte % GRF) as u8))
    };
    if let Some(v) = inst.dst {
        (isa.destination.register, isa.destination.subregister) = find(v)?;
    }
    if inst.is_one_component() {
        let d = &mut isa.destination;
        d.writemask = 1 << (d.subregister % COMPONENTS / 4);
        d.subregister -= d.subregister % COMPONENTS;
    }
    for (operand, v) in isa.sources.iter_mut().zip(inst.srcs) {
        if let (Operand::Register(s), Some(v)) = (operand, v)
            && s.indirect.is_none()
        {
            (s.register, s.subregister) = find(v)?;
        }
    }
    match inst.fixup {
        Some(Fixup::SpillSize) => {
            if let Operand::Immediate { bits, .. } = &mut isa.sources[1] {
                *bits += u64::from(program.spill_size);
            }
        }
        Some(Fixup::AddressOf(v)) => {
            let at = locations[v.vreg.0 as usize].ok_or_else(|| format!("v{} has no location", v.vreg.0))?;
            if let Operand::Immediate { bits, .. } = &mut isa.sources[1] {
                *bits += u64::from(at + v.offset);
            }
        }
        None => {}
    }
    Ok(isa)
}

/// Encodes all instructions, compacted where possible, and fills in the jump distances of `code`.
///
/// Jumps are not compacted, so that their sizes do not depend on their distances.
///
/// # Errors
/// The index of an instruction that the generation does not have, or that violates a rule of its manual.
pub fn encode(code: &mut Code, generation: Generation) -> Result<Encoded, String> {
    if generation.capabilities().doubles_in_halves {
        code.instructions.iter_mut().for_each(pair_channels);
    }
    let mut compacted = Vec::with_capacity(code.instructions.len());
    let mut jumps = code.jumps.iter().map(|jump| jump.at).peekable();
    for index in 0..code.instructions.len() {
        let is_jump = jumps.next_if_eq(&index).is_some();
        let full = full(code, index, generation)?;
        compacted.push(match gencl_isa::compact(generation, &full) {
            Some(bytes) if !is_jump => EncodedBytes::from_slice(&bytes),
            _ => EncodedBytes::from_slice(&full),
        });
    }
    let mut offsets = vec![0];
    offsets.extend(compacted.iter().scan(0, |end, bytes| {
        *end += bytes.len();
        Some(*end)
    }));
    resolve(code, &offsets)?;
    for jump in &code.jumps {
        compacted[jump.at] = EncodedBytes::from_slice(&full(code, jump.at, generation)?);
    }
    Ok(Encoded { bytes: compacted.iter().flatten().copied().collect(), offsets })
}

/// An encoded instruction.
type EncodedBytes = SmallVec<[u8; 16]>;

fn full(code: &Code, index: usize, generation: Generation) -> Result<[u8; 16], String> {
    let instruction = &code.instructions[index];
    if let Some(broken) = gencl_isa::validate(generation, instruction).first() {
        let text = gencl_isa::print(generation, instruction);
        return Err(format!("instruction {index}: {}: {text}", broken.rule.id));
    }
    gencl_isa::encode(generation, instruction)
        .map_err(|e| format!("instruction {index}: {e}: {instruction:?}"))
}

/// Writes the distances in bytes into the jumps.
fn resolve(code: &mut Code, offsets: &[usize]) -> Result<(), String> {
    for jump in &code.jumps {
        let instruction = &mut code.instructions[jump.at];
        // Distances of `jmpi` are relative to the next instruction, those of branches to the branch.
        let from = offsets[jump.at + usize::from(instruction.opcode == Opcode::Jmpi)];
        let distance = |point: Option<BranchTarget>| -> Result<i32, String> {
            let to = match point {
                None => return Ok(0),
                Some(BranchTarget::First(block)) => code.blocks.get(block).copied(),
                Some(BranchTarget::Last(block)) => {
                    code.blocks.get(block + 1).and_then(|next| next.checked_sub(1))
                }
            };
            let to = to.and_then(|to| offsets.get(to)).ok_or("a jump to a block that does not exist")?;
            i32::try_from(*to as i64 - from as i64).map_err(|_| "a jump too far".into())
        };
        let (jip, uip) = (distance(jump.target)?, distance(jump.uip)?);
        if let Extra::Branch(branch) = &mut instruction.extra {
            (branch.jip, branch.uip) = (jip, uip);
        }
    }
    Ok(())
}
