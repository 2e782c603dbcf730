//! Moving registers to scratch.
//!
//! A spilled register gets a place in the thread's scratch. Around each instruction that touches it the touched
//! general registers come into a short-lived register (*fill*) and go back (*spill*). Scratch block messages take
//! `g0` as header, which stays where it is for the whole kernel. A write that leaves lanes or bytes as they are
//! needs a fill before it.

use super::lir::{GRF, Inst, Kind, Program, VRef, Vreg, VregInfo};
use gencl_isa::message::{Message, Operation as Access};
use gencl_isa::{
    Destination, Extra, Generation, Instruction, Opcode, Operand, Region, Register, Source, Type,
};

/// Registers that a scratch message can reach, counted from the thread's scratch base.
const REACH: u32 = 1 << 12;

/// Sends `vregs` to scratch.
///
/// # Errors
/// More scratch than messages can reach.
pub fn spill(program: &mut Program, vregs: &[Vreg], generation: Generation) -> Result<(), String> {
    for v in vregs {
        let info = &mut program.vregs[v.0 as usize];
        info.spilled = Some(program.spill_size);
        program.spill_size += info.size.next_multiple_of(GRF);
    }
    if program.spill_size > REACH * GRF {
        return Err(format!("{} bytes of spilled registers", program.spill_size));
    }
    for index in 0..program.blocks.len() {
        let masked = program.blocks[index].masked;
        let old = std::mem::take(&mut program.blocks[index].insts);
        let mut new = Vec::with_capacity(old.len());
        for inst in old {
            rewrite(program, inst, masked, generation, &mut new)?;
        }
        program.blocks[index].insts = new;
    }
    Ok(())
}

/// General registers of a spilled virtual register that an operand touches: first byte and bytes.
fn touched(at: VRef, span: u32) -> (u32, u32) {
    let first = at.offset / GRF * GRF;
    (first, (at.offset + span).next_multiple_of(GRF) - first)
}

fn rewrite(
    program: &mut Program,
    mut inst: Inst,
    masked: bool,
    generation: Generation,
    out: &mut Vec<Inst>,
) -> Result<(), String> {
    let slot = |program: &Program, v: Option<VRef>| v.and_then(|v| program.info(v.vreg).spilled);
    if inst.kind == Kind::Undefined && slot(program, inst.dst).is_some() {
        return Ok(());
    }
    // Operands that touch the same registers share one piece.
    let mut pieces: Vec<(Vreg, u32, u32, Vreg)> = Vec::new();
    for index in 0..3 {
        let (Some(at), Some(base)) = (inst.srcs[index], slot(program, inst.srcs[index])) else { continue };
        let (first, bytes) = touched(at, inst.src_span(index));
        let known = pieces.iter().find(|p| (p.0, p.1, p.2) == (at.vreg, first, bytes)).map(|p| p.3);
        let piece = match known {
            Some(piece) => piece,
            None => {
                let piece = new_piece(program, at.vreg, first, bytes);
                fill(piece, base + first, bytes, generation, out)?;
                pieces.push((at.vreg, first, bytes, piece));
                piece
            }
        };
        inst.srcs[index] = Some(VRef { vreg: piece, offset: at.offset - first });
    }
    let Some((at, base)) = inst.dst.zip(slot(program, inst.dst)) else {
        out.push(inst);
        return Ok(());
    };
    let (first, bytes) = touched(at, inst.dst_span());
    let piece = new_piece(program, at.vreg, first, bytes);
    let mut covered = 0;
    inst.written(|_, size| covered += size);
    let some_lanes = inst.isa.predicate.is_some() || masked && !inst.isa.no_mask && !inst.fresh;
    let whole = covered == bytes && !some_lanes;
    if !whole {
        fill(piece, base + first, bytes, generation, out)?;
    }
    inst.dst = Some(VRef { vreg: piece, offset: at.offset - first });
    inst.fresh = whole;
    out.push(inst);
    store(piece, base + first, bytes, generation, out)
}

fn new_piece(program: &mut Program, of: Vreg, first: u32, bytes: u32) -> Vreg {
    let info = VregInfo { size: bytes, align: GRF, fixed: None, piece_of: Some((of, first)), spilled: None };
    program.vregs.push(info);
    Vreg(program.vregs.len() as u32 - 1)
}

/// Block sizes that scratch messages have, which together make `registers`.
fn blocks(registers: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let size = [8, 4, 2, 1].into_iter().find(|s| done + s <= registers)?;
        done += size;
        Some((done - size, size))
    })
}

fn header() -> Operand {
    Operand::Register(Source::new(Register::Grf(0), 0, Region::SCALAR, Type::UD))
}

fn message(opcode: Opcode) -> Instruction {
    let mut isa = Instruction::new(opcode, 16);
    isa.no_mask = true;
    isa.sources[0] = header();
    isa.destination = Destination::null(Type::UW);
    isa
}

/// Scratch block access of `registers` from register `offset` of the thread's scratch on.
fn access(write: bool, registers: u32, offset: u32, generation: Generation) -> Result<Extra, String> {
    let (registers, offset) = (registers as u8, offset as u16);
    let block = Access::ScratchBlock { write, registers, offset, dword_mode: false, invalidate: false };
    let second = if write { registers } else { 0 };
    Message::new(block).send(generation, second, false).map(Extra::Send).map_err(|e| e.to_string())
}

fn fill(
    piece: Vreg,
    slot: u32,
    bytes: u32,
    generation: Generation,
    out: &mut Vec<Inst>,
) -> Result<(), String> {
    for (first, size) in blocks(bytes / GRF) {
        let mut isa = message(Opcode::Send);
        isa.destination = Destination::new(Register::Grf(0), 0, Type::UW);
        isa.extra = access(false, size, slot / GRF + first, generation)?;
        let mut inst = Inst::new(isa);
        inst.dst = Some(VRef { vreg: piece, offset: first * GRF });
        inst.fresh = true;
        inst.kind = Kind::Fill(slot + first * GRF);
        out.push(inst);
    }
    Ok(())
}

fn store(
    piece: Vreg,
    slot: u32,
    bytes: u32,
    generation: Generation,
    out: &mut Vec<Inst>,
) -> Result<(), String> {
    for (first, size) in blocks(bytes / GRF) {
        let mut isa = message(Opcode::Sends);
        isa.sources[1] = header();
        isa.extra = access(true, size, slot / GRF + first, generation)?;
        let mut inst = Inst::new(isa);
        inst.srcs[1] = Some(VRef { vreg: piece, offset: first * GRF });
        inst.kind = Kind::Spill(slot + first * GRF);
        out.push(inst);
    }
    Ok(())
}
