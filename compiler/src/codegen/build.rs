//! Splits operations on all lanes into machine instructions.
//!
//! Operands of an instruction have at most two registers, and some operations at most 8 lanes. The builder
//! splits an operation on all lanes into instructions within these limits, and computes their regions.

use super::lir::{Block, BranchTarget, GRF, Inst, Lengths, Program, VRef, Vreg};
use super::operand::{Dest, LaneRegion, Operation, Val, ValueLocation, is_wide};
use crate::ir::Location;
use gencl_device_info::Execution;
use gencl_isa::{
    AccessMode, Arf, Destination, Extra, Flag, Instruction, Opcode, Operand, Predicate, PredicateControl,
    Region, Register, Send, Source, ThreadControl, Type,
};
use smallvec::SmallVec;

/// Builds the LIR of one kernel.
pub struct Builder {
    /// The instructions so far.
    pub program: Program,
    /// Lanes of a thread.
    pub simd: u32,
    /// Predicate of the following operations, and whether it is inverted.
    pub predicate: Option<(Flag, bool)>,
    /// The following operations are executed for all lanes, enabled or not.
    pub all_lanes: bool,
    /// The location of the following instructions.
    pub location: Location,
    /// Limits of one instruction.
    pub(super) execution: Execution,
}

impl Builder {
    /// A builder without blocks.
    pub fn new(simd: u32, execution: Execution) -> Builder {
        Builder {
            program: Program::default(),
            simd,
            predicate: None,
            all_lanes: false,
            location: Location::NONE,
            execution,
        }
    }

    /// Begins the next block.
    pub fn block(&mut self, masked: bool) {
        self.program.blocks.push(Block { masked, ..Block::default() });
    }

    /// Whether the current block is masked.
    pub fn masked(&self) -> bool {
        self.program.blocks.last().is_some_and(|block| block.masked)
    }

    /// Appends an instruction at the builder's location.
    pub fn push(&mut self, mut inst: Inst) {
        inst.location = self.location;
        if self.program.blocks.is_empty() {
            self.block(false);
        }
        if let Some(block) = self.program.blocks.last_mut() {
            block.insts.push(inst);
        }
    }

    /// Bytes from lane to lane in registers of elements of `size` bytes. Bytes have word slots, because the
    /// hardware cannot write the results of byte operations packed.
    pub fn stride(size: u32) -> u32 {
        size.max(2)
    }

    /// A new register for one element per lane.
    pub fn vector(&mut self, ty: Type) -> Dest {
        let stride = Builder::stride(ty.size());
        let size = stride * self.simd;
        let at = VRef { vreg: self.program.vreg(size, size.min(GRF)), offset: 0 };
        Dest { at, stride, ty, kills: true }
    }

    /// A new register for one element per lane, `stride` bytes apart.
    pub fn strided(&mut self, ty: Type, stride: u32) -> Dest {
        let size = stride * self.simd;
        let at = VRef { vreg: self.program.vreg(size, size.min(GRF)), offset: 0 };
        Dest { at, stride, ty, kills: true }
    }

    /// A new register for one element.
    pub fn scalar(&mut self, ty: Type) -> Dest {
        let size = ty.size().max(4);
        let at = VRef { vreg: self.program.vreg(size, size), offset: 0 };
        Dest { at, stride: 0, ty, kills: true }
    }

    /// Size in bytes of [`Builder::temporary`] for elements of `size` bytes.
    pub fn temporary_size(&self, scalar: bool, size: u32) -> u32 {
        if scalar { size.max(4) } else { Builder::stride(size) * self.simd }
    }

    /// A new register: one element when `scalar`, else one for each lane.
    pub fn temporary(&mut self, scalar: bool, ty: Type) -> Dest {
        if scalar { self.scalar(ty) } else { self.vector(ty) }
    }

    /// A new register of whole general registers.
    pub fn registers(&mut self, count: u32) -> VRef {
        VRef { vreg: self.program.vreg(count * GRF, GRF), offset: 0 }
    }

    /// Emits an operation.
    pub fn op(&mut self, operation: Operation, dst: Dest, srcs: &[Val]) {
        if let Some(bits) = self.wide_constant(operation, srcs) {
            for half in [0, 4] {
                self.op(operation, dst.part(half, Type::UD), &[Val::imm(bits >> (8 * half), Type::UD)]);
            }
            return;
        }
        self.split_op(operation, Some(dst), dst.ty, srcs);
    }

    /// The 64-bit constant that the operation copies, if the target does not have such immediates.
    fn wide_constant(&self, operation: Operation, srcs: &[Val]) -> Option<u64> {
        let [Val { location: ValueLocation::Immediate(bits), ty, .. }] = srcs else { return None };
        let copies = operation.opcode == Opcode::Mov && ty.size() == 8;
        (copies && !self.execution.int64).then_some(*bits)
    }

    /// A copy for `lanes` lanes from `first` on: `dst` is the destination of the first of them.
    pub fn mov_lanes(&mut self, dst: Dest, src: Val, first: u32, lanes: u32) {
        let step = self.max_lanes(lanes, Some(dst), dst.ty, &[src]);
        for lane in (first..first + lanes).step_by(step as usize) {
            self.emit_lanes(Operation::new(Opcode::Mov), Some(dst), dst.ty, &[src], lane, step);
            if let Some(last) = self.program.blocks.last_mut().and_then(|b| b.insts.last_mut()) {
                last.dst = Some(dst.at.plus((lane - first) * dst.stride));
            }
        }
    }

    /// A new register for one element in each of the first `lanes` lanes.
    pub fn partial_vector(&mut self, ty: Type, lanes: u32) -> Dest {
        let size = lanes * ty.size();
        let at = VRef { vreg: self.program.vreg(size, size.min(GRF)), offset: 0 };
        Dest { at, stride: ty.size(), ty, kills: true }
    }

    /// Emits an operation for the first `lanes` lanes, enabled or not.
    pub fn op_on_first_lanes(&mut self, operation: Operation, dst: Dest, srcs: &[Val], lanes: u32) {
        let cares = !self.execution.free_wide_regions && operation.opcode != Opcode::Mad;
        if cares && is_wide(operation.opcode, dst.ty, srcs) {
            return self.lane_by_lane(operation, dst, srcs, lanes);
        }
        self.emit_lanes(Operation { all_lanes: true, ..operation }, Some(dst), dst.ty, srcs, 0, lanes);
    }

    /// Copies a scalar to each of the first `lanes` lanes.
    pub fn broadcast(&mut self, v: Val, lanes: u32) -> Dest {
        let d = self.partial_vector(v.ty, lanes);
        self.op_on_first_lanes(Operation::new(Opcode::Mov), d, &[v], lanes);
        d
    }

    /// An element for all lanes at the beginning of a dword: itself, or a copy.
    pub fn dword_aligned(&mut self, v: Val) -> Val {
        let ValueLocation::Register(LaneRegion { at, .. }) = v.location else { return v };
        let begin = self.program.info(at.vreg).fixed.unwrap_or(0) + at.offset;
        if begin.is_multiple_of(4) {
            return v;
        }
        let d = self.scalar(v.ty);
        self.mov(d, v);
        d.val()
    }

    /// Emits a comparison: its only result is the operation's flag.
    pub fn compare(&mut self, operation: Operation, srcs: &[Val]) {
        let ty = srcs.iter().map(|s| s.ty).max_by_key(|t| t.size()).unwrap_or(Type::D);
        let ty = match ty {
            Type::B => Type::W,
            Type::UB => Type::UW,
            other => other,
        };
        self.split_op(operation, None, ty, srcs);
    }

    /// A copy that changes the type as `mov` does.
    pub fn mov(&mut self, dst: Dest, src: Val) {
        self.op(Operation::new(Opcode::Mov), dst, &[src]);
    }

    fn split_op(&mut self, operation: Operation, dst: Option<Dest>, ty: Type, srcs: &[Val]) {
        if dst.is_some_and(|d| d.scalar()) {
            return self.emit_lanes(operation, dst, ty, srcs, 0, 1);
        }
        if let Some(d) = dst.filter(|d| self.execution.double_pairs && ty.size() == 8 && d.stride != 8) {
            // The two halves of a double must be adjacent, and the doubles too.
            return self.lane_by_lane(operation, d, srcs, self.simd);
        }
        if !self.execution.free_wide_regions && self.emit_aligned(operation, dst, ty, srcs) {
            return;
        }
        self.split_lanes(operation, dst, ty, srcs);
    }

    /// Splits an operation on all lanes into instructions.
    pub(super) fn split_lanes(&mut self, operation: Operation, dst: Option<Dest>, ty: Type, srcs: &[Val]) {
        let most = match operation.opcode {
            Opcode::Mad if ty.size() == 8 => self.execution.ternary_lanes / 2,
            Opcode::Mad => self.execution.ternary_lanes,
            _ => operation.lanes,
        };
        let lanes = self.max_lanes(self.simd.min(operation.lanes).min(most), dst, ty, srcs);
        let mut first = 0;
        while first < self.simd {
            self.emit_lanes(operation, dst, ty, srcs, first, lanes);
            first += lanes;
        }
    }

    pub(super) fn emit_lanes(
        &mut self,
        operation: Operation,
        dst: Option<Dest>,
        ty: Type,
        srcs: &[Val],
        first: u32,
        lanes: u32,
    ) {
        let (mut dst, mut ty, mut srcs) = (dst, ty, SmallVec::<[Val; 3]>::from_slice(srcs));
        if !self.execution.int64 {
            // The only remaining operations on quadwords are copies, which are the same for doubles.
            let types = dst.iter_mut().map(|d| &mut d.ty).chain(srcs.iter_mut().map(|s| &mut s.ty));
            for ty in types.chain([&mut ty]).filter(|ty| ty.size() == 8) {
                *ty = Type::DF;
            }
        }
        let srcs = srcs.as_slice();
        let mut isa = Instruction::new(operation.opcode, lanes as u8);
        isa.channel_offset = first as u8;
        isa.saturate = operation.saturate;
        let scalar = dst.is_some_and(|d| d.scalar());
        isa.no_mask = scalar || operation.all_lanes || self.all_lanes;
        if self.all_lanes {
            // Narrow instructions cannot begin at every lane, and without mask the offset does not matter.
            isa.channel_offset = 0;
        }
        if let Some(function) = operation.math {
            isa.extra = Extra::Math(function);
        }
        let null = dst.is_none() && self.execution.compare_switches;
        if operation.thread_switch || null {
            isa.thread_control = ThreadControl::Switch;
        }
        if !isa.no_mask {
            self.apply_predicate(&mut isa);
        }
        if let Some((condition, flag)) = operation.condition {
            isa.condition = Some(condition);
            if operation.opcode != Opcode::Sel {
                isa.flag = flag;
            }
        }
        if let Some((flag, inverse)) = operation.select {
            isa.flag = flag;
            isa.predicate = Some(Predicate { control: PredicateControl::Normal, inverse });
        }
        let three = operation.opcode == Opcode::Mad;
        if three {
            isa.access_mode = AccessMode::Align16;
        }
        let widest = srcs.iter().map(|s| s.ty.size().max(2)).max().unwrap_or(2);
        let mut inst = Inst::new(isa);
        inst.isa.destination = Destination::null(ty);
        if let Some(d) = dst {
            let step = if d.scalar() { (widest / d.ty.size()).clamp(1, 4) } else { d.stride / d.ty.size() };
            inst.isa.destination =
                Destination { hstride: step as u8, ..Destination::new(Register::Grf(0), 0, ty) };
            if three {
                inst.isa.destination.hstride = 1;
            }
            if three && d.scalar() {
                // Align16 has no single channel: a write mask selects one of four, which depends on the
                // register's location. IGC does the same.
                inst.isa.exec_size = 4;
                inst.isa.destination.writemask = 1;
            }
            inst.dst = Some(d.at.plus(first * d.stride));
            inst.kills = d.kills;
        }
        let in_rows = !self.execution.free_wide_regions && is_wide(operation.opcode, ty, srcs);
        for (index, s) in srcs.iter().enumerate() {
            let (mut operand, vref) = operand(s, first, lanes, three);
            if let (true, false, Operand::Register(source)) = (in_rows, three, &mut operand) {
                source.region = row_region(source.region, lanes, s.ty.size());
            }
            inst.isa.sources[index] = operand;
            inst.srcs[index] = vref;
        }
        self.push(inst);
    }

    /// Sets the current predicate on an instruction.
    pub fn apply_predicate(&self, isa: &mut Instruction) {
        if let Some((flag, inverse)) = self.predicate {
            isa.flag = flag;
            isa.predicate = Some(Predicate { control: PredicateControl::Normal, inverse });
        }
    }

    /// Emits a message for `lanes` lanes from `first` on, or for one element when `lanes` is 1. Where the
    /// target has no split sends, the two parts of the payload are copied together.
    pub fn send(
        &mut self,
        send: Send,
        lanes: u32,
        first: u32,
        payload: [Option<VRef>; 2],
        dst: Option<VRef>,
    ) {
        let (send, payload) = match payload {
            [Some(one), Some(two)] if !self.execution.split_sends => {
                (send.joined(), [Some(self.join(&send, one, two)), None])
            }
            _ => (send, payload),
        };
        let split = payload[1].is_some();
        let mut isa = Instruction::new(if split { Opcode::Sends } else { Opcode::Send }, lanes as u8);
        isa.channel_offset = first as u8;
        isa.no_mask = lanes == 1;
        if !isa.no_mask {
            self.apply_predicate(&mut isa);
        }
        isa.extra = Extra::Send(send);
        let ty = if lanes == 16 { Type::UW } else { Type::UD };
        isa.destination = match dst {
            Some(_) => Destination::new(Register::Grf(0), 0, ty),
            None => Destination::null(ty),
        };
        for (index, p) in payload.iter().enumerate() {
            if p.is_some() {
                isa.sources[index] =
                    Operand::Register(Source::new(Register::Grf(0), 0, Region::SCALAR, Type::UD));
            }
        }
        let mut inst = Inst::new(isa);
        inst.srcs = [payload[0], payload[1], None];
        inst.dst = dst;
        inst.kills = dst.is_some();
        self.push(inst);
    }

    /// Copies both parts of a message's payload into consecutive registers, for all lanes: not all payload
    /// registers have a dword for each lane.
    fn join(&mut self, send: &Send, one: VRef, two: VRef) -> VRef {
        let Lengths { message, extended, .. } = Lengths::of(send).unwrap_or_default();
        let payload = self.registers(message + extended);
        let mut copy = |from: VRef, to: VRef, count: u32| {
            for done in (0..count).step_by(2) {
                let lanes = 8 * (count - done).min(2);
                let dst = Dest { at: to.plus(done * GRF), stride: 4, ty: Type::UD, kills: true };
                let src = Val::reg(from.plus(done * GRF), 4, Type::UD);
                self.op_on_first_lanes(Operation::new(Opcode::Mov), dst, &[src], lanes);
            }
        };
        copy(one, payload, message);
        copy(two, payload.plus(message * GRF), extended);
        payload
    }

    /// Sends a message whose payload is a header of one register and that has no lanes, whichever lanes are
    /// enabled.
    pub fn send_block(&mut self, send: Send, header: VRef, dst: VRef) {
        self.send(send, 8, 0, [Some(header), None], Some(dst));
        if let Some(last) = self.program.blocks.last_mut().and_then(|b| b.insts.last_mut()) {
            (last.isa.no_mask, last.isa.predicate) = (true, None);
        }
    }

    /// Sets whether the last instruction is a killing definition ([`Inst::kills`]).
    pub fn set_last_kills(&mut self, kills: bool) {
        if let Some(last) = self.program.blocks.last_mut().and_then(|b| b.insts.last_mut()) {
            last.kills = kills;
        }
    }

    /// Emits a scalar operation with an architecture register as destination; all operands have one type.
    pub fn scalar_arf(&mut self, opcode: Opcode, arf: Arf, subregister: u8, ty: Type, srcs: &[Val]) {
        let mut isa = Instruction::new(opcode, 1);
        isa.no_mask = true;
        isa.destination = Destination::new(Register::Arf(arf), subregister, ty);
        if matches!(arf, Arf::Control(_) | Arf::Notification(_)) {
            isa.thread_control = ThreadControl::Switch;
        }
        let mut inst = Inst::new(isa);
        for (index, s) in srcs.iter().enumerate() {
            let (operand, vref) = operand(s, 0, 1, false);
            inst.isa.sources[index] = operand;
            inst.srcs[index] = vref;
        }
        self.push(inst);
    }

    /// Emits an `undef` of a register, which ends its live range.
    pub fn undef(&mut self, vreg: Vreg) {
        let mut inst = Inst::new(Instruction::new(Opcode::Nop, 1));
        inst.dst = Some(VRef { vreg, offset: 0 });
        inst.kills = true;
        inst.kind = super::lir::InstKind::Undef;
        self.push(inst);
    }

    /// A jump to a block: unconditional, or taken if the flag's bit is set for any lane (for none, if
    /// inverted).
    pub fn jump(&mut self, block: usize, condition: Option<(Flag, bool)>) {
        let mut isa = Instruction::new(Opcode::Jmpi, 1);
        isa.no_mask = true;
        isa.extra = Extra::Branch(gencl_isa::Branch::default());
        if let Some((flag, inverse)) = condition {
            isa.flag = flag;
            let control = match self.simd {
                32 => PredicateControl::Any32H,
                16 => PredicateControl::Any16H,
                _ => PredicateControl::Any8H,
            };
            isa.predicate = Some(Predicate { control, inverse });
        }
        let mut inst = Inst::new(isa);
        inst.target = Some(BranchTarget::First(block));
        self.push(inst);
    }
}

/// A branch with a decision for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Opcode.
    pub opcode: Opcode,
    /// The instruction's predicate, and whether it is inverted.
    pub predicate: Option<(Flag, bool)>,
    /// Where the thread jumps to (`JIP`).
    pub target: BranchTarget,
    /// Where lanes wait (`UIP`), for instructions that have it.
    pub uip: Option<BranchTarget>,
    /// `BranchCtrl`.
    pub control: bool,
}

impl Builder {
    /// Emits a branch with a decision for each lane, or an instruction where lanes reconverge.
    pub fn branch(&mut self, branch: Branch) {
        let mut isa = Instruction::branch(branch.opcode, self.simd as u8, 0, 0);
        isa.extra = Extra::Branch(gencl_isa::Branch { control: branch.control, ..Default::default() });
        if let Some((flag, inverse)) = branch.predicate {
            isa.flag = flag;
            isa.predicate = Some(Predicate { control: PredicateControl::Normal, inverse });
        }
        let mut inst = Inst::new(isa);
        inst.target = Some(branch.target);
        inst.uip = branch.uip;
        self.push(inst);
    }
}

impl Builder {
    /// The largest number of lanes, at most `lanes`, of one instruction with these operands.
    fn max_lanes(&self, mut lanes: u32, dst: Option<Dest>, ty: Type, srcs: &[Val]) -> u32 {
        let in_half = if srcs.iter().any(|s| s.ty.size() == 8) { 4 } else { 8 };
        let is_double = in_half == 4 || ty.size() == 8;
        let fits = |n: u32| {
            let end = |at: u32, stride: u32, size: u32| at % GRF + (n - 1) * stride + size;
            let (written, packed) = match dst {
                Some(d) => (end(d.at.offset, d.stride, d.ty.size()), d.stride == d.ty.size()),
                None => (n * ty.size(), true),
            };
            let source_fits = |s: &Val| match s.location {
                ValueLocation::Register(LaneRegion { at, stride, split }) => {
                    let read = end(at.offset, stride, s.ty.size());
                    let words = stride == 2 && s.ty.size() == 2 && packed && ty.size() == 4;
                    let in_halves =
                        !self.execution.halves || written <= GRF || read > GRF || stride == 0 || words;
                    read <= 2 * GRF && in_halves && split.is_none_or(|(lanes, _)| n <= lanes)
                }
                _ => true,
            };
            let two = n == 2 * in_half && !(self.execution.double_pairs && is_double);
            let channels = !self.execution.halves || written <= GRF || two;
            written <= 2 * GRF && channels && srcs.iter().all(source_fits)
        };
        while lanes > 1 && !fits(lanes) {
            lanes /= 2;
        }
        lanes
    }
}

fn operand(s: &Val, first: u32, lanes: u32, three: bool) -> (Operand, Option<VRef>) {
    match s.location {
        ValueLocation::Immediate(bits) => {
            let (bits, ty) = match s.ty {
                Type::B => (bits as u8 as i8 as u16 as u64, Type::W),
                Type::UB => (bits, Type::UW),
                ty => (bits, ty),
            };
            (Operand::Immediate { bits, ty }, None)
        }
        ValueLocation::Arf { arf, subregister } => {
            let mut source = Source::new(Register::Arf(arf), subregister, Region::SCALAR, s.ty);
            source.negate = s.negate;
            (Operand::Register(source), None)
        }
        ValueLocation::Register(elements) => {
            let stride = elements.stride;
            let begin = elements.lane(first).offset % GRF;
            let region = region(s.ty.size(), stride, lanes, begin);
            let mut source = Source::new(Register::Grf(0), 0, region, s.ty);
            source.negate = s.negate;
            source.abs = s.abs;
            if three {
                source.replicate = stride == 0;
                source.region = if stride == 0 { Region::SCALAR } else { Region::new(4, 4, 1) };
            }
            (Operand::Register(source), Some(elements.lane(first)))
        }
    }
}

/// The same elements as a region whose rows fill a register each.
fn row_region(region: Region, lanes: u32, size: u32) -> Region {
    match region {
        Region { vstride: step @ 1.., width: 1, hstride: 0 } if lanes > 1 => {
            let width = (GRF / (size * u32::from(step))).min(lanes) as u8;
            Region::new(width * step, width, step)
        }
        region => region,
    }
}

/// The region of elements of `size` bytes, `stride` bytes apart, from byte `begin` of a register on. Elements
/// of one row must lie in one register (Skylake manual, Volume 7, "Region Parameters").
fn region(size: u32, stride: u32, lanes: u32, begin: u32) -> Region {
    if stride == 0 || lanes == 1 {
        return Region::SCALAR;
    }
    let step = stride / size;
    if step == 1 {
        let width = lanes.min(GRF / size).min(16) as u8;
        if !begin.is_multiple_of(u32::from(width) * size) {
            return Region::new(1, 1, 0);
        }
        return Region::new(width, width, 1);
    }
    Region::new(step as u8, 1, 0)
}
