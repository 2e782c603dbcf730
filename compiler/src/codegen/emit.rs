//! Machine code: registers put in, copies to the same place left out, jumps resolved, encoded.

use super::allocate::{Locations, plain_copy};
use super::lir::{Fixup, GRF, Inst, Kind, Point, Program, VRef};
use gencl_isa::{Extra, Generation, Instruction, Opcode, Operand, Register};

/// Bytes of an instruction that is not compacted.
pub const SIZE: usize = 16;

/// Final instructions and where blocks begin.
pub struct Code {
    /// Instructions with registers, all of [`SIZE`] bytes.
    pub instructions: Vec<Instruction>,
    /// First instruction of each block.
    pub blocks: Vec<usize>,
}

/// Puts registers into instructions.
///
/// # Errors
/// A virtual register without a place, which is a fault of allocation.
pub fn place(program: &Program, locations: &Locations) -> Result<Code, String> {
    let mut code = Code { instructions: Vec::new(), blocks: Vec::new() };
    let mut jumps = Vec::new();
    for block in &program.blocks {
        code.blocks.push(code.instructions.len());
        for inst in &block.insts {
            if inst.kind == Kind::Undefined || is_nothing(inst, locations) {
                continue;
            }
            if inst.target.is_some() {
                jumps.push((code.instructions.len(), inst.target, inst.lanes_to));
            }
            code.instructions.push(placed(inst, program, locations)?);
        }
    }
    for (at, target, lanes_to) in jumps {
        // `jmpi` counts from the next instruction, branches from themselves.
        let from = at + usize::from(code.instructions[at].opcode == Opcode::Jmpi);
        let distance = |point: Option<Point>| -> Result<i32, String> {
            let to = match point {
                None => return Ok(0),
                Some(Point::First(block)) => code.blocks.get(block).copied(),
                Some(Point::Last(block)) => code.blocks.get(block + 1).and_then(|next| next.checked_sub(1)),
            };
            let to = to.ok_or("a jump to a block that does not exist")?;
            i32::try_from((to as i64 - from as i64) * SIZE as i64).map_err(|_| "a jump too far".into())
        };
        let (jip, uip) = (distance(target)?, distance(lanes_to)?);
        if let Extra::Branch(branch) = &mut code.instructions[at].extra {
            (branch.jip, branch.uip) = (jip, uip);
        }
    }
    Ok(code)
}

/// Is it a copy to where the source is?
fn is_nothing(inst: &Inst, locations: &Locations) -> bool {
    let Some((dst, d, src, s)) = plain_copy(inst) else { return false };
    match (locations[dst.0 as usize], locations[src.0 as usize]) {
        (Some(a), Some(b)) => a + d == b + s,
        _ => false,
    }
}

fn placed(inst: &Inst, program: &Program, locations: &Locations) -> Result<Instruction, String> {
    let mut isa = inst.isa;
    let find = |v: VRef| -> Result<(Register, u8), String> {
        let at = locations[v.vreg.0 as usize].ok_or_else(|| format!("v{} has no place", v.vreg.0))?;
        let byte = at + v.offset;
        let register = u8::try_from(byte / GRF).map_err(|_| format!("v{} beyond the file", v.vreg.0))?;
        Ok((Register::Grf(register), (byte % GRF) as u8))
    };
    if let Some(v) = inst.dst {
        (isa.destination.register, isa.destination.subregister) = find(v)?;
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
            let at = locations[v.vreg.0 as usize].ok_or_else(|| format!("v{} has no place", v.vreg.0))?;
            if let Operand::Immediate { bits, .. } = &mut isa.sources[1] {
                *bits += u64::from(at + v.offset);
            }
        }
        None => {}
    }
    Ok(isa)
}

/// Encodes.
///
/// # Errors
/// An instruction that the generation does not have, or that breaks a rule of its manual, with its offset.
pub fn encode(code: &Code, generation: Generation) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(code.instructions.len() * SIZE);
    for (index, instruction) in code.instructions.iter().enumerate() {
        if let Some(broken) = gencl_isa::validate(generation, instruction).first() {
            let text = gencl_isa::print(generation, instruction);
            return Err(format!("at {:#x}: {}: {text}", index * SIZE, broken.rule.id));
        }
        let encoded = gencl_isa::encode(generation, instruction)
            .map_err(|e| format!("at {:#x}: {e}: {instruction:?}", index * SIZE))?;
        bytes.extend_from_slice(&encoded);
    }
    Ok(bytes)
}
