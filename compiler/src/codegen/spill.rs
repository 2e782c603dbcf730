//! Spilling registers to scratch, and rematerialisation.
//!
//! A register that one instruction computes from constants and scalars is computed before each use instead of
//! being spilled (Briggs, Cooper and Torczon, "Rematerialization", 1992).
//!
//! A spilled register has a slot in the thread's scratch. Before each instruction that accesses it, the
//! accessed general registers are loaded into a temporary (*fill*), and after a write stored (*spill*).
//! Scratch block messages have `g0` as header, which is live in the whole kernel. A write that keeps lanes or
//! bytes needs a fill before it.

use super::lir::{GRF, Inst, InstKind, Program, VRef, Vreg, VregInfo};
use gencl_device_info::DeviceInfo;
use gencl_isa::message::{Message, Operation as Access};
use gencl_isa::{
    Destination, Extra, Generation, Instruction, Opcode, Operand, Region, Register, Source, Type,
};
use rustc_hash::FxHashMap;

/// Number of registers that scratch messages can address, from the thread's scratch base.
const MAX_SCRATCH_REGISTERS: u32 = 1 << 12;

/// The registers whose only definition computes all lanes from constants and invariant scalars, with that
/// instruction.
pub fn rematerialisable(program: &Program) -> FxHashMap<Vreg, Inst> {
    let mut definitions: FxHashMap<Vreg, Definition> = FxHashMap::default();
    for block in &program.blocks {
        for inst in block.insts.iter().filter(|i| i.kind != InstKind::Undef) {
            if let Some(v) = inst.dst {
                let known = definitions.entry(v.vreg).or_insert(Definition { inst, depth: 0, count: 0 });
                known.count += 1;
                known.depth = known.depth.max(block.depth);
            }
        }
    }
    // A scalar that the launch writes, or that is written once outside of loops: lanes may leave a loop in
    // different iterations.
    let is_invariant = |v: VRef| {
        let info = program.info(v.vreg);
        let written = definitions.get(&v.vreg).map(|d| (d.count, d.depth));
        let once = written == if info.fixed.is_some() { None } else { Some((1, 0)) };
        info.size <= MAX_SCALAR_BYTES && info.piece_of.is_none() && once
    };
    let is_rematerialisable = |v: Vreg, inst: &Inst| {
        let (isa, info) = (&inst.isa, program.info(v));
        let mut covered = 0;
        inst.written(|_, size| covered += size);
        let is_plain = matches!(isa.opcode, Opcode::Mov | Opcode::Add | Opcode::Shl)
            && isa.predicate.is_none()
            && isa.condition.is_none()
            && isa.destination.indirect.is_none()
            && inst.fixup.is_none();
        let sources = isa.sources.iter().zip(inst.srcs).all(|(operand, v)| match (operand, v) {
            (Operand::Register(s), Some(v)) => {
                s.region == Region::SCALAR
                    && s.ty.is_float() == isa.destination.ty.is_float()
                    && is_invariant(v)
            }
            (Operand::Register(_), None) => false,
            (Operand::Immediate { .. } | Operand::None, _) => true,
        });
        info.fixed.is_none() && info.piece_of.is_none() && covered == info.size && is_plain && sources
    };
    let once = definitions.iter().filter(|(v, d)| d.count == 1 && is_rematerialisable(**v, d.inst));
    once.map(|(v, d)| (*v, d.inst.clone())).collect()
}

/// The definitions of a register.
struct Definition<'a> {
    /// The first.
    inst: &'a Inst,
    /// Maximum loop depth.
    depth: u32,
    count: u32,
}

/// Maximum size of a scalar register in bytes.
const MAX_SCALAR_BYTES: u32 = 8;

/// Rematerialises or spills `vregs`.
///
/// # Errors
/// More scratch memory than messages can address.
pub fn spill(program: &mut Program, vregs: &[Vreg], target: &DeviceInfo) -> Result<(), String> {
    let mut rematerialised = rematerialisable(program);
    rematerialised.retain(|v, _| vregs.contains(v));
    // The sources of a rematerialised register are not themselves spilled in the same pass.
    let sources: Vec<Vreg> =
        rematerialised.values().flat_map(|inst| inst.srcs.iter().flatten()).map(|v| v.vreg).collect();
    rematerialised.retain(|v, _| !sources.contains(v));
    for v in vregs.iter().filter(|v| !sources.contains(v) && !rematerialised.contains_key(v)) {
        let info = &mut program.vregs[v.0 as usize];
        info.spilled = Some(program.spill_size);
        program.spill_size += info.size.next_multiple_of(GRF);
    }
    if program.spill_size > MAX_SCRATCH_REGISTERS * GRF {
        return Err(format!("{} bytes of spilled registers exceed scratch memory", program.spill_size));
    }
    for index in 0..program.blocks.len() {
        let masked = program.blocks[index].masked;
        let old = std::mem::take(&mut program.blocks[index].insts);
        let mut new = Vec::with_capacity(old.len());
        for inst in old {
            if !inst.dst.is_some_and(|v| rematerialised.contains_key(&v.vreg)) {
                let (first, location) = (new.len(), inst.location);
                let inst = rematerialise(program, inst, &rematerialised, &mut new);
                rewrite(program, inst, masked, target, &mut new)?;
                new[first..].iter_mut().for_each(|inst| inst.location = location);
            }
        }
        program.blocks[index].insts = new;
    }
    Ok(())
}

/// The whole general registers of a spilled virtual register that an operand overlaps: first byte and size in
/// bytes.
fn touched(at: VRef, span: u32) -> (u32, u32) {
    let first = at.offset / GRF * GRF;
    (first, (at.offset + span).next_multiple_of(GRF) - first)
}

/// Computes the registers in `rematerialised` that the instruction reads into temporaries, and returns it
/// with these as sources.
fn rematerialise(
    program: &mut Program,
    mut inst: Inst,
    rematerialised: &FxHashMap<Vreg, Inst>,
    out: &mut Vec<Inst>,
) -> Inst {
    let mut pieces: Vec<(Vreg, Vreg)> = Vec::new();
    for index in 0..3 {
        let Some(at) = inst.srcs[index] else { continue };
        let Some(definition) = rematerialised.get(&at.vreg) else { continue };
        let known = pieces.iter().find(|p| p.0 == at.vreg).map(|p| p.1);
        let piece = known.unwrap_or_else(|| {
            let info = *program.info(at.vreg);
            program.vregs.push(VregInfo { piece_of: Some((at.vreg, 0)), ..info });
            let piece = Vreg(program.vregs.len() as u32 - 1);
            let mut definition = definition.clone();
            definition.dst = Some(VRef { vreg: piece, offset: 0 });
            // The value does not depend on the lane: compute it for disabled ones as well.
            definition.isa.no_mask = true;
            definition.kills = true;
            out.push(definition);
            pieces.push((at.vreg, piece));
            piece
        });
        inst.srcs[index] = Some(VRef { vreg: piece, offset: at.offset });
    }
    inst
}

fn rewrite(
    program: &mut Program,
    mut inst: Inst,
    masked: bool,
    target: &DeviceInfo,
    out: &mut Vec<Inst>,
) -> Result<(), String> {
    let slot = |program: &Program, v: Option<VRef>| v.and_then(|v| program.info(v.vreg).spilled);
    if inst.kind == InstKind::Undef && slot(program, inst.dst).is_some() {
        return Ok(());
    }
    // Operands in the same registers share a temporary.
    let mut pieces: Vec<(Vreg, u32, u32, Vreg)> = Vec::new();
    for index in 0..3 {
        let (Some(at), Some(base)) = (inst.srcs[index], slot(program, inst.srcs[index])) else { continue };
        let (first, bytes) = touched(at, inst.src_span(index));
        let known = pieces.iter().find(|p| (p.0, p.1, p.2) == (at.vreg, first, bytes)).map(|p| p.3);
        let piece = match known {
            Some(piece) => piece,
            None => {
                let piece = new_piece(program, at.vreg, first, bytes);
                fill(piece, base + first, bytes, target.generation, out)?;
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
    let some_lanes = inst.isa.predicate.is_some() || masked && !inst.isa.no_mask && !inst.kills;
    let whole = covered == bytes && !some_lanes;
    if !whole {
        fill(piece, base + first, bytes, target.generation, out)?;
    }
    inst.dst = Some(VRef { vreg: piece, offset: at.offset - first });
    inst.kills = whole;
    out.push(inst);
    store(program, piece, base + first, bytes, target, out)
}

fn new_piece(program: &mut Program, of: Vreg, first: u32, bytes: u32) -> Vreg {
    let info = VregInfo { size: bytes, align: GRF, fixed: None, piece_of: Some((of, first)), spilled: None };
    program.vregs.push(info);
    Vreg(program.vregs.len() as u32 - 1)
}

/// Maximum number of registers of a scratch message.
const MAX_BLOCK: u32 = 8;

/// The same for stores whose data has to be copied behind a header: the copy needs registers while they are
/// scarce.
const MAX_COPIED_BLOCK: u32 = 4;

/// Splits `registers` into blocks that scratch messages can transfer, of at most `largest`: first register
/// and size of each.
fn blocks(registers: u32, largest: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let size = [8, 4, 2, 1].into_iter().find(|&s| s <= largest && done + s <= registers)?;
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
    for (first, size) in blocks(bytes / GRF, MAX_BLOCK) {
        let mut isa = message(Opcode::Send);
        isa.destination = Destination::new(Register::Grf(0), 0, Type::UW);
        isa.extra = access(false, size, slot / GRF + first, generation)?;
        let mut inst = Inst::new(isa);
        inst.dst = Some(VRef { vreg: piece, offset: first * GRF });
        inst.kills = true;
        inst.kind = InstKind::Fill(slot + first * GRF);
        out.push(inst);
    }
    Ok(())
}

fn store(
    program: &mut Program,
    piece: Vreg,
    slot: u32,
    bytes: u32,
    target: &DeviceInfo,
    out: &mut Vec<Inst>,
) -> Result<(), String> {
    let largest = if target.execution.split_sends { MAX_BLOCK } else { MAX_COPIED_BLOCK };
    for (first, size) in blocks(bytes / GRF, largest) {
        let extra = access(true, size, slot / GRF + first, target.generation)?;
        let data = VRef { vreg: piece, offset: first * GRF };
        let mut inst = if target.execution.split_sends {
            let mut inst = Inst::new(message(Opcode::Sends));
            inst.isa.sources[1] = header();
            inst.srcs[1] = Some(data);
            inst
        } else {
            let mut inst = Inst::new(message(Opcode::Send));
            inst.srcs[0] = Some(with_header(program, data, size, out));
            inst
        };
        inst.isa.extra = match extra {
            Extra::Send(send) if !target.execution.split_sends => Extra::Send(send.joined()),
            extra => extra,
        };
        inst.kind = InstKind::Spill(slot + first * GRF);
        out.push(inst);
    }
    Ok(())
}

/// Copies `g0` and `count` registers of data into consecutive registers.
fn with_header(program: &mut Program, data: VRef, count: u32, out: &mut Vec<Inst>) -> VRef {
    let payload = VRef { vreg: program.vreg((1 + count) * GRF, GRF), offset: 0 };
    let mut copy = |from: Option<VRef>, to: VRef, registers: u32| {
        let mut isa = Instruction::new(Opcode::Mov, 8 * registers as u8);
        isa.no_mask = true;
        isa.destination = Destination::new(Register::Grf(0), 0, Type::UD);
        isa.sources[0] = Operand::Register(Source::new(Register::Grf(0), 0, Region::new(8, 8, 1), Type::UD));
        let mut inst = Inst::new(isa);
        (inst.srcs[0], inst.dst, inst.kills, inst.kind) = (from, Some(to), true, InstKind::Copy);
        out.push(inst);
    };
    copy(None, payload, 1);
    for done in (0..count).step_by(2) {
        copy(Some(data.plus(done * GRF)), payload.plus((1 + done) * GRF), (count - done).min(2));
    }
    payload
}
