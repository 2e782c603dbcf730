//! LIR: ISA instructions on virtual registers.
//!
//! A virtual register is a contiguous range of bytes of the register file. If an operand has a [`VRef`], the
//! register and subregister of its [`gencl_isa`] operand are unused until emission fills them in.

use crate::ir::Location;
use gencl_isa::{AccessMode, Extra, Instruction, Opcode, Operand, Region, Send, Source};
use std::fmt::Write;

/// Bytes of one general register.
pub const GRF: u32 = 32;

/// A virtual register: an index into [`Program::vregs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Vreg(pub u32);

/// The properties of a virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VregInfo {
    /// Bytes.
    pub size: u32,
    /// Alignment in bytes, a power of two of at most [`GRF`].
    pub align: u32,
    /// For the thread's payload: the byte in the register file where the launch puts it.
    pub fixed: Option<u32>,
    /// For a temporary that holds part of a spilled or rematerialised register around one instruction: that
    /// register, and the first byte of the part.
    pub piece_of: Option<(Vreg, u32)>,
    /// For a spilled register: its first byte in the spill area.
    pub spilled: Option<u32>,
}

/// A byte of a virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VRef {
    /// Register.
    pub vreg: Vreg,
    /// First byte.
    pub offset: u32,
}

impl VRef {
    /// The byte `bytes` further on.
    pub fn plus(self, bytes: u32) -> VRef {
        VRef { vreg: self.vreg, offset: self.offset + bytes }
    }
}

/// A change to an immediate that emission makes, as it depends on allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixup {
    /// Adds the size of the spill area to the immediate in source 1.
    SpillSize,
    /// Adds this byte's location in the register file to the immediate in source 1.
    AddressOf(VRef),
}

/// The origin of an instruction, for the statistics and the checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstKind {
    /// From selection.
    Normal,
    /// `undef`, which is no machine instruction: the destination's contents are not needed.
    Undef,
    /// A copy of whole registers, with bytes that hold nothing.
    Copy,
    /// A store to scratch, at this byte of the spill area; [`Inst::spilled`] has the data.
    Spill(u32),
    /// A load from scratch, at this byte of the spill area.
    Fill(u32),
}

/// One machine instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// The instruction; emission fills in the registers of operands with a [`VRef`].
    pub isa: Instruction,
    /// Destination.
    pub dst: Option<VRef>,
    /// Sources.
    pub srcs: [Option<VRef>; 3],
    /// A full (killing) definition: the previous contents of the destination's virtual register are dead. One
    /// result can be written by several such instructions of a block, each of which writes a part.
    pub kills: bool,
    /// Jumps and branches: where the thread jumps to (`JIP`).
    pub target: Option<BranchTarget>,
    /// Branches with two targets: where lanes wait (`UIP`).
    pub uip: Option<BranchTarget>,
    /// How emission changes an immediate.
    pub fixup: Option<Fixup>,
    /// If source 0 is indirect: the number of bytes from its first that it may read; else 0.
    pub indirect_span: u32,
    /// Its origin.
    pub kind: InstKind,
    /// Where it is in the source.
    pub location: Location,
}

/// The target of a branch: an instruction of a block, given by the block's index in the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchTarget {
    /// The first.
    First(usize),
    /// The last, of a block that is not empty.
    Last(usize),
}

impl std::fmt::Display for BranchTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BranchTarget::First(block) => write!(f, "block {block}"),
            BranchTarget::Last(block) => write!(f, "the end of block {block}"),
        }
    }
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Instructions; jumps and branches at the end only.
    pub insts: Vec<Inst>,
    /// Successors, by index in the layout.
    pub successors: Vec<usize>,
    /// Loop depth, from backward edges of the layout.
    pub depth: u32,
    /// Some lanes may be parked while it is executed: instructions without `WE_all` write the active lanes
    /// only.
    pub masked: bool,
}

/// A kernel in LIR.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Virtual registers.
    pub vregs: Vec<VregInfo>,
    /// Blocks in layout order.
    pub blocks: Vec<Block>,
    /// Bytes of scratch for spilled registers.
    pub spill_size: u32,
}

/// Message lengths in registers, from the descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// Source 0.
    pub message: u32,
    /// Source 1 of split sends.
    pub extended: u32,
    /// Destination.
    pub response: u32,
}

impl Lengths {
    /// The lengths of a message whose descriptors are immediates.
    pub fn of(send: &Send) -> Option<Lengths> {
        let gencl_isa::Descriptor::Immediate(d) = send.descriptor else { return None };
        let extended = match send.extended {
            gencl_isa::Descriptor::Immediate(e) => e >> 6 & 0xf,
            gencl_isa::Descriptor::Register(_) => 0,
        };
        Some(Lengths { message: d >> 25 & 0xf, extended, response: d >> 20 & 0x1f })
    }
}

impl Inst {
    /// An instruction without virtual registers.
    pub fn new(isa: Instruction) -> Inst {
        Inst {
            isa,
            dst: None,
            srcs: [None; 3],
            kills: false,
            target: None,
            uip: None,
            fixup: None,
            indirect_span: 0,
            kind: InstKind::Normal,
            location: Location::NONE,
        }
    }

    /// Lengths of a message.
    pub fn lengths(&self) -> Option<Lengths> {
        let Extra::Send(send) = &self.isa.extra else { return None };
        Lengths::of(send)
    }

    /// Whether it writes one of the four components of an align16 destination, selected by the location of
    /// its register.
    pub fn is_one_component(&self) -> bool {
        self.isa.access_mode == AccessMode::Align16 && self.isa.destination.writemask == 1
    }

    /// Calls `f` with the first byte (from the operand's own first byte) and size of each element written.
    pub fn written(&self, mut f: impl FnMut(u32, u32)) {
        if self.dst.is_none() {
            return;
        }
        if let Some(l) = self.lengths() {
            f(0, l.response * GRF);
            return;
        }
        let d = &self.isa.destination;
        let size = d.ty.size();
        if self.is_one_component() {
            f(0, size);
            return;
        }
        for channel in 0..u32::from(self.isa.exec_size) {
            f(channel * size * u32::from(d.hstride), size);
        }
    }

    /// Calls `f` with the first byte and size of each element that source `index` reads.
    pub fn read(&self, index: usize, mut f: impl FnMut(u32, u32)) {
        if self.srcs[index].is_none() {
            return;
        }
        if self.lengths().is_some() {
            // A message for one lane reads one element of the payload: a 64-bit address (two registers for 8
            // lanes) or a 32-bit one.
            let bytes = match (self.isa.exec_size, self.src_span(index)) {
                (1, GRF) => 4,
                (1, _) => 8,
                (_, span) => span,
            };
            f(0, bytes);
            return;
        }
        let Operand::Register(s) = &self.isa.sources[index] else { return };
        if s.indirect.is_some() {
            f(0, self.indirect_span);
            return;
        }
        let size = s.ty.size();
        if self.isa.access_mode == AccessMode::Align16 {
            let n = if s.replicate { 1 } else { u32::from(self.isa.exec_size) };
            f(0, n * size);
            return;
        }
        let Region { vstride, width, hstride } = s.region;
        for channel in 0..u32::from(self.isa.exec_size) {
            let row = channel / u32::from(width);
            let column = channel % u32::from(width);
            f((row * u32::from(vstride) + column * u32::from(hstride)) * size, size);
        }
    }

    /// The data of a store to scratch, and its size in bytes: source 1, or the part of source 0 behind the
    /// header if the message is not split.
    pub fn spilled(&self) -> Option<(VRef, u32)> {
        match self.srcs {
            [_, Some(data), _] => Some((data, self.src_span(1))),
            [Some(payload), None, _] => Some((payload.plus(GRF), self.src_span(0) - GRF)),
            _ => None,
        }
    }

    /// Bytes from the destination's first to its last.
    pub fn dst_span(&self) -> u32 {
        let mut end = 0;
        self.written(|at, size| end = end.max(at + size));
        end
    }

    /// Bytes from a source's first to its last.
    pub fn src_span(&self, index: usize) -> u32 {
        if let Some(l) = self.lengths() {
            return GRF * if index == 0 { l.message } else { l.extended };
        }
        let mut end = 0;
        self.read(index, |at, size| end = end.max(at + size));
        end
    }

    /// Whether the destination must not share registers with a source whose last use this is. Instructions of
    /// two registers are executed as two halves, and the second half must not read what the first has written
    /// (Skylake manual, Volume 7, "Register Region Restrictions"); messages may write before they have read
    /// everything.
    pub fn early_clobber(&self) -> bool {
        let Some(dst) = self.dst else { return false };
        if self.lengths().is_some() || self.isa.access_mode == AccessMode::Align16 || self.indirect_span > 0 {
            return true;
        }
        if dst.offset % GRF + self.dst_span() <= GRF && self.isa.exec_size <= 8 {
            return false;
        }
        let d = &self.isa.destination;
        let step = d.ty.size() * u32::from(d.hstride);
        (0..3).any(|i| match (&self.isa.sources[i], self.srcs[i]) {
            (Operand::Register(s), Some(_)) => !packed(s) || s.ty.size() != step,
            (Operand::Register(_), None) | (Operand::Immediate { .. } | Operand::None, _) => false,
        })
    }
}

fn packed(s: &Source) -> bool {
    s.region.hstride == 1 && s.region.vstride == s.region.width
}

impl Program {
    /// A new virtual register.
    pub fn vreg(&mut self, size: u32, align: u32) -> Vreg {
        self.vregs.push(VregInfo { size, align, fixed: None, piece_of: None, spilled: None });
        Vreg(self.vregs.len() as u32 - 1)
    }

    /// The properties of a register.
    pub fn info(&self, vreg: Vreg) -> &VregInfo {
        &self.vregs[vreg.0 as usize]
    }

    /// The program as text, for `GENCL_DEBUG`.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        for (number, block) in self.blocks.iter().enumerate() {
            let _ = writeln!(out, "block {number}: -> {:?}", block.successors);
            for inst in &block.insts {
                let _ = writeln!(out, "  {}", text(inst));
            }
        }
        out
    }
}

/// One instruction as a line of text.
pub fn text(inst: &Inst) -> String {
    let isa = &inst.isa;
    let mut s = String::new();
    if inst.kind == InstKind::Undef {
        s.push_str("undef");
    } else {
        if let Some(p) = isa.predicate {
            let sign = if p.inverse { '-' } else { '+' };
            let _ = write!(s, "({sign}f{}.{}.{:?}) ", isa.flag.register, isa.flag.subregister, p.control);
        }
        let _ = write!(s, "{:?}", isa.opcode);
        if let Some(c) = isa.condition {
            let _ = write!(s, ".{c:?}.f{}.{}", isa.flag.register, isa.flag.subregister);
        }
        let _ = write!(s, "({}|M{})", isa.exec_size, isa.channel_offset);
        if isa.no_mask {
            s.push_str(" WE_all");
        }
    }
    match inst.dst {
        Some(v) => {
            let d = &isa.destination;
            let _ = write!(s, " v{}+{}<{}>{:?}", v.vreg.0, v.offset, d.hstride, d.ty);
        }
        None if isa.opcode != Opcode::Jmpi => {
            let _ = write!(s, " {:?}", isa.destination.register);
        }
        None => {}
    }
    for (operand, vref) in isa.sources.iter().zip(inst.srcs) {
        match (operand, vref) {
            (Operand::None, _) => {}
            (Operand::Register(r), Some(v)) => {
                let g = r.region;
                let sign = if r.negate { "-" } else { "" };
                let _ = write!(
                    s,
                    ", {sign}v{}+{}<{};{},{}>{:?}",
                    v.vreg.0, v.offset, g.vstride, g.width, g.hstride, r.ty
                );
            }
            (Operand::Register(r), None) => {
                let _ = write!(s, ", {:?}", r.register);
            }
            (Operand::Immediate { bits, ty }, _) => {
                let _ = write!(s, ", {bits:#x}:{ty:?}");
            }
        }
    }
    if let Extra::Send(send) = &isa.extra {
        let _ = write!(s, " {:?} {:x?} {:x?}", send.target, send.descriptor, send.extended);
    }
    if let Extra::Math(m) = &isa.extra {
        let _ = write!(s, " {m:?}");
    }
    if let Some(target) = inst.target {
        let _ = write!(s, " -> {target}");
    }
    if let Some(point) = inst.uip {
        let _ = write!(s, ", uip {point}");
    }
    if inst.kills {
        s.push_str(" kills");
    }
    s
}
