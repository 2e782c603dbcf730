//! Instruction selection: Gen IR in linear or masked form to machine instructions on virtual registers.

mod alu;
mod arithmetic64;
mod branches;
mod convert;
mod cross_lane;
mod flags;
mod float;
mod image;
mod interleave;
mod memory;
mod multiply;
mod payload;
mod race;
mod scalars;
mod sync;
mod truth;

use super::build::Builder;
use super::lir::Program;
use super::operand::{Dest, LaneRegion, Val, ValueLocation};
use crate::ir::{
    BinaryOp, BlockId, CrossLane, Family, FloatFormat, Function, Instruction, Op, Reg, Type as IrType,
    UnaryOp,
};
use flags::Flags;
use gencl_device_info::DeviceInfo;
use gencl_isa::Type;
use gencl_program::report;
use half::f16;
#[cfg(test)]
pub use interleave::granule;
pub use payload::PrivateLocation;
use rustc_hash::FxHashMap;

/// Why selection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub what: String,
    /// Whose fault it is.
    pub kind: FailureKind,
}

/// Kinds of [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// An operation of the program that the target or this compiler does not support.
    Unsupported,
    /// A property of the whole kernel, not of one of its operations.
    Limit,
    /// A fault of the compiler itself.
    Internal,
}

impl Failure {
    /// An operation that the target or this compiler does not support.
    pub fn unsupported(what: impl Into<String>) -> Failure {
        Failure { what: format!("not supported: {}", what.into()), kind: FailureKind::Unsupported }
    }

    /// More of something than the hardware has.
    pub fn beyond_limit(what: &str, asked: u64, unit: &str, most: u64) -> Failure {
        Failure { what: report::beyond_limit(what, asked, unit, most), kind: FailureKind::Limit }
    }

    /// The IR violates an invariant that selection relies on.
    pub fn internal(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), kind: FailureKind::Internal }
    }
}

/// The result of selection.
pub struct Selected {
    /// The kernel.
    pub program: Program,
    /// Bytes of cross-thread constants.
    pub cross_thread_size: u32,
    /// Their contents.
    pub pushes: Vec<gencl_program::Push>,
    /// Whether local ids are in the payload.
    pub local_ids: bool,
    /// Whether the kernel uses barriers.
    pub barrier: bool,
    /// Surfaces and sampler states that messages name.
    pub bindings: image::Bindings,
    /// Bytes of private memory per lane, a multiple of 32, or 0.
    pub private_size: u32,
    /// The location of private memory.
    pub private_location: PrivateLocation,
    /// How many bytes of each lane's private memory are contiguous; none: all.
    pub private_granule: Option<u32>,
}

/// Constants in registers in the current block, by bits and size.
type Materialized = FxHashMap<(u64, u32), Val>;

/// The state of selection.
struct Selector<'a> {
    function: &'a Function,
    target: &'a DeviceInfo,
    b: Builder,
    /// The region of each IR register, once it has one.
    regions: Vec<Option<LaneRegion>>,
    /// IR registers with one definition, which is a constant.
    constants: Vec<Option<u64>>,
    /// IR registers with one element for all lanes.
    scalars: Vec<bool>,
    /// IR registers all of whose accesses are in one block, which writes them first.
    local: Vec<bool>,
    /// IR registers with one definition.
    single_definition: Vec<bool>,
    /// IR registers that are folded into their uses: the register they extend, and its type.
    extended: Vec<Option<(Reg, IrType)>>,
    flags: Flags,
    temporaries: Vec<usize>,
    materialized: Materialized,
    payload: payload::Payload,
    /// IR registers for which an instruction that writes them has been selected.
    written: Vec<bool>,
    /// The temporary destination of a register, while an instruction is selected that reads and writes it.
    redirected: Option<(Reg, Dest)>,
    order: FxHashMap<BlockId, usize>,
    barrier: bool,
    bindings: image::Bindings,
}

/// Selects instructions for a kernel at SIMD width `simd`.
///
/// # Errors
/// An operation that the target does not support, or invalid IR, and its block and instruction.
pub fn select(
    function: &Function,
    target: &DeviceInfo,
    simd: u32,
    place: PrivateLocation,
) -> Result<Selected, (String, Failure)> {
    let at = |what: &str| {
        let what = what.to_string();
        move |f: Failure| (what, f)
    };
    let facts = scalars::analyse(function);
    let payload =
        payload::plan(function, simd, place, target.payload.constants).map_err(at("the payload"))?;
    let mut s = Selector {
        function,
        target,
        b: Builder::new(simd, target.execution),
        regions: vec![None; function.registers.len()],
        constants: facts.constants,
        scalars: facts.scalars,
        local: facts.local,
        single_definition: facts.single_definition,
        extended: facts.extended,
        flags: Flags::default(),
        temporaries: Vec::new(),
        materialized: Materialized::default(),
        payload,
        written: vec![false; function.registers.len()],
        redirected: None,
        order: function.layout.iter().enumerate().map(|(i, b)| (*b, i)).collect(),
        barrier: false,
        bindings: image::Bindings::default(),
    };
    for (index, id) in function.layout.iter().enumerate() {
        s.b.block(function.block(*id).masked);
        if index == 0 {
            let first = function.block(*id).instructions.first();
            s.b.location = first.map(|i| i.location).unwrap_or_default();
            s.prologue().map_err(at("the prologue"))?;
        }
        s.block(index, *id).map_err(|(n, f)| (format!("block {} instruction {n}", id.0), f))?;
    }
    let mut program = s.b.program;
    loops(&mut program);
    Ok(Selected {
        program,
        cross_thread_size: s.payload.cross_thread_size,
        pushes: s.payload.pushes,
        local_ids: s.payload.local_ids,
        barrier: s.barrier,
        bindings: s.bindings,
        private_size: s.payload.private_size,
        private_location: s.payload.private_location,
        private_granule: s.payload.private_granule,
    })
}

/// Computes loop depths from backward edges of the layout.
fn loops(program: &mut Program) {
    for from in 0..program.blocks.len() {
        for to in program.blocks[from].successors.clone() {
            if to <= from {
                for block in &mut program.blocks[to..=from] {
                    block.depth += 1;
                }
            }
        }
    }
}

/// The machine type of an IR type.
fn machine_type(ty: IrType) -> Result<Type, Failure> {
    Ok(match ty {
        IrType::Bool => return Err(Failure::internal("a truth value where a number is needed")),
        IrType::S8 => Type::B,
        IrType::U8 => Type::UB,
        IrType::S16 => Type::W,
        IrType::U16 => Type::UW,
        IrType::S32 => Type::D,
        IrType::U32 => Type::UD,
        IrType::S64 => Type::Q,
        IrType::U64 => Type::UQ,
        IrType::F16 => Type::HF,
        IrType::F32 => Type::F,
        IrType::F64 => Type::DF,
    })
}

/// The bits of 1.
fn one(ty: IrType) -> u64 {
    match ty.float_format() {
        Some(FloatFormat::Half) => f16::ONE.to_bits().into(),
        Some(FloatFormat::Single) => 1.0f32.to_bits().into(),
        Some(FloatFormat::Double) => 1.0f64.to_bits(),
        None => 1,
    }
}

/// The unsigned type of `size` bytes.
fn unsigned(size: u32) -> Type {
    match size {
        1 => Type::UB,
        2 => Type::UW,
        4 => Type::UD,
        _ => Type::UQ,
    }
}

fn family_size(family: Family) -> u32 {
    match family {
        Family::Bool | Family::Word => 2,
        Family::Byte => 1,
        Family::Dword => 4,
        Family::Qword => 8,
    }
}

/// Whether all instructions of an operation can be predicated. `sel` cannot: it uses its predicate or
/// condition to select.
fn takes_predicate(op: &Op) -> bool {
    match op {
        Op::Select(_) | Op::Convert { from: IrType::Bool, .. } => false,
        Op::Unary(op, _) => *op != UnaryOp::TrailingZeros,
        Op::Binary(op, _) => !matches!(op, BinaryOp::Min | BinaryOp::Max | BinaryOp::SubSat),
        Op::Immediate { .. }
        | Op::Input(_)
        | Op::Undefined
        | Op::Ternary(..)
        | Op::Compare(..)
        | Op::Convert { .. }
        | Op::Pair
        | Op::Half { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Atomic { .. }
        | Op::Image(_)
        | Op::CrossLane(_)
        | Op::Barrier { .. }
        | Op::BarrierArrive { .. }
        | Op::BarrierWait
        | Op::Clock
        | Op::RaceCheck { .. }
        | Op::SubgroupBarrier { .. }
        | Op::Fence { .. }
        | Op::Jump(_)
        | Op::Branch { .. }
        | Op::Vote { .. }
        | Op::Leave { .. }
        | Op::Join { .. }
        | Op::Return => true,
    }
}

impl Selector<'_> {
    fn block(&mut self, index: usize, id: BlockId) -> Result<(), (usize, Failure)> {
        let function = self.function;
        let block = function
            .blocks
            .get(id.0 as usize)
            .ok_or_else(|| (0, Failure::internal("the layout names a block that does not exist")))?;
        let code = &block.instructions;
        self.flags = Flags::default();
        self.materialized = Materialized::default();
        for (position, i) in code.iter().enumerate() {
            let bools = i.srcs.iter().copied().chain(i.predicate.map(|p| p.reg));
            for reg in bools {
                if self.is_bool(reg) {
                    self.flags.note_read(reg, position);
                }
            }
        }
        for (position, i) in code.iter().enumerate() {
            self.flags.at(position);
            self.b.location = i.location;
            self.predicated_instruction(i, index).map_err(|f| (position, f))?;
            self.release_flags();
        }
        Ok(())
    }

    fn is_bool(&self, reg: Reg) -> bool {
        self.function.registers[reg.0 as usize].family == Family::Bool
    }

    /// Whether an instruction emits nothing, because its result is folded into its uses.
    fn is_folded(&self, i: &Instruction) -> bool {
        match i.op {
            Op::Immediate { .. } => i.dsts.iter().all(|d| self.constants[d.0 as usize].is_some()),
            Op::Convert { .. } => i.dsts.iter().all(|d| self.extended[d.0 as usize].is_some()),
            _ => false,
        }
    }

    /// Selects one instruction under its predicate, if it has one.
    fn predicated_instruction(&mut self, i: &Instruction, index: usize) -> Result<(), Failure> {
        if self.is_folded(i) {
            return Ok(());
        }
        let Some(p) = i.predicate.filter(|_| !i.op.is_terminator()) else {
            return self.instruction(i, index);
        };
        if i.dsts.iter().any(|d| self.is_bool(*d)) {
            return self.instruction(i, index);
        }
        if !takes_predicate(&i.op) {
            return self.instruction_via_temporary(i, p, index);
        }
        self.with_predicate(p, |s| s.instruction(i, index))
    }

    /// Selects under a predicate.
    fn with_predicate(
        &mut self,
        p: crate::ir::Predicate,
        f: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let flag = self.read_flag(p.reg)?;
        self.b.predicate = Some((flag, p.inverse));
        let result = f(self);
        self.b.predicate = None;
        result
    }

    /// Selects an instruction without predicate with a temporary destination, and copies the result under the
    /// predicate.
    fn instruction_via_temporary(
        &mut self,
        i: &Instruction,
        p: crate::ir::Predicate,
        index: usize,
    ) -> Result<(), Failure> {
        let [dst] = i.dsts.as_slice() else {
            return Err(Failure::internal("a predicated instruction with several results"));
        };
        let number = dst.0 as usize;
        let ty = unsigned(family_size(self.function.registers[number].family));
        // Sources keep their registers, even if the destination is one of them.
        let place = self.regions[number];
        let t = self.b.temporary(self.scalars[number], ty);
        let sources: Vec<_> = i.srcs.iter().map(|s| s.0 as usize).collect();
        if sources.contains(&number) {
            self.redirected = Some((*dst, t));
        } else {
            self.regions[number] = Some(t.region());
        }
        let written = std::mem::replace(&mut self.written[number], true);
        let result = self.instruction(i, index);
        self.written[number] = written;
        self.redirected = None;
        self.regions[number] = place;
        result?;
        self.with_predicate(p, |s| {
            let d = s.dest(*dst, ty)?;
            s.b.mov(d, t.val());
            Ok(())
        })
    }

    /// Rejects operations on quadwords that `lower_qwords` does not lower on targets without them, except on
    /// doubles where the target has these: 64-bit atomics, for example.
    fn check_qwords(&self, i: &Instruction) -> Result<(), Failure> {
        let double = match i.op {
            Op::Immediate { .. } | Op::Undefined | Op::Pair | Op::Half { .. } => true,
            Op::Unary(op, ty) => ty == IrType::F64 || op == UnaryOp::Mov,
            Op::Binary(_, ty) | Op::Ternary(_, ty) | Op::Compare(_, ty) => ty == IrType::F64,
            Op::Convert { to, from, .. } => to == IrType::F64 || from == IrType::F64,
            Op::CrossLane(CrossLane::Shuffle(ty) | CrossLane::Reduce(_, ty) | CrossLane::Scan { ty, .. }) => {
                ty == IrType::F64
            }
            Op::CrossLane(CrossLane::Ballot)
            | Op::Input(_)
            | Op::Select(_)
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Atomic { .. }
            | Op::Image(_)
            | Op::Barrier { .. }
            | Op::BarrierArrive { .. }
            | Op::BarrierWait
            | Op::Clock
            | Op::RaceCheck { .. }
            | Op::SubgroupBarrier { .. }
            | Op::Fence { .. }
            | Op::Jump(_)
            | Op::Branch { .. }
            | Op::Vote { .. }
            | Op::Leave { .. }
            | Op::Join { .. }
            | Op::Return => false,
        };
        let allowed = self.target.execution.int64 || double && self.target.execution.float64;
        let is_qword = |reg: &Reg| self.function.register(*reg).family == Family::Qword;
        if !allowed && i.dsts.iter().chain(&i.srcs).any(is_qword) {
            return Err(Failure::unsupported(format!("{:?} without registers of 64 bits", i.op)));
        }
        Ok(())
    }

    fn instruction(&mut self, i: &Instruction, index: usize) -> Result<(), Failure> {
        self.check_qwords(i)?;
        match i.op {
            Op::Immediate { ty, bits } => self.immediate(i, ty, bits),
            Op::Input(input) => self.input(i.result(), input),
            Op::Undefined => {
                for d in &i.dsts {
                    if let (false, Some(region)) = (self.is_bool(*d), self.regions[d.0 as usize]) {
                        // A value that shares response registers with others is live as long as these.
                        let own = self.b.program.info(region.at.vreg).size;
                        if own
                            <= self.b.temporary_size(
                                self.scalars[d.0 as usize],
                                family_size(self.function.register(*d).family),
                            )
                        {
                            self.b.undef(region.at.vreg);
                        }
                    } else if !self.is_bool(*d) && !self.local[d.0 as usize] {
                        let vreg = self.dest(*d, unsigned(1))?.at.vreg;
                        self.b.undef(vreg);
                    }
                }
                Ok(())
            }
            Op::Unary(op, IrType::Bool) => self.unary_truth(op, i),
            Op::Unary(op, ty) => self.unary(op, ty, i),
            Op::Binary(op, IrType::Bool) => self.binary_truth(op, i),
            Op::Binary(op, ty) => self.binary(op, ty, i),
            Op::Ternary(op, ty) => self.ternary(op, ty, i),
            Op::Compare(condition, ty) => self.compare(condition, ty, i),
            Op::Select(IrType::Bool) => self.select_truth(i),
            Op::Select(ty) => self.select(ty, i),
            Op::Convert { to, from, rounding, saturate } => self.convert(to, from, rounding, saturate, i),
            Op::Pair => self.pair(i),
            Op::Half { upper } => self.half(upper, i),
            Op::Load { space, ty, align } => self.load(space, ty, align, i),
            Op::Store { space, ty, align } => self.store(space, ty, align, i),
            Op::Atomic { op, space, ty } => self.atomic(op, space, ty, i),
            Op::Image(access) => self.image(access, i),
            Op::CrossLane(op) => self.cross_lane(op, i),
            Op::SubgroupBarrier { local, global } if local || global => self.fence(),
            Op::SubgroupBarrier { .. } => Ok(()),
            Op::Barrier { global, .. } => self.barrier(global),
            Op::BarrierArrive { global, .. } => self.barrier_arrive(global),
            Op::BarrierWait => {
                self.barrier_wait();
                Ok(())
            }
            Op::Clock => self.clock(i),
            Op::RaceCheck { site, granules, control } => self.race_check(site, granules, control, i),
            // A thread's accesses are in order: this fence only restricts the compiler.
            Op::Fence { local: false, global: false } => Ok(()),
            Op::Fence { .. } => self.fence(),
            Op::Jump(target) => self.jump(target, index),
            Op::Branch { .. } => Err(Failure::internal("a branch for each lane in the linear form")),
            Op::Vote { vote, target, next } => self.vote(vote, target, next, i.condition(), index),
            Op::Leave { by, target, next, empty } => {
                self.leave(by, i.predicate, [target, next, empty], index)
            }
            Op::Join { by, next, empty } => self.join(by, [next, empty], index),
            Op::Return => self.end_of_thread(),
        }
    }

    /// A quadword from two dwords.
    fn pair(&mut self, i: &Instruction) -> Result<(), Failure> {
        let d = self.dest(i.result(), Type::UQ)?;
        for (byte, src) in [0, 4].into_iter().zip(&i.srcs) {
            let v = self.val(*src, Type::UD)?;
            self.b.mov(d.part(byte, Type::UD), v);
        }
        Ok(())
    }

    /// A dword of a quadword.
    fn half(&mut self, upper: bool, i: &Instruction) -> Result<(), Failure> {
        let [src] = i.sources();
        let v = self.val(src, Type::UQ)?;
        let d = self.dest(i.result(), Type::UD)?;
        self.b.mov(d, v.part(if upper { 4 } else { 0 }, Type::UD));
        Ok(())
    }

    /// An IR register as a source of type `ty`; if its extension is folded, the register that it extends.
    fn val(&mut self, reg: Reg, ty: Type) -> Result<Val, Failure> {
        if let Some(bits) = self.constants[reg.0 as usize] {
            return Ok(Val::imm(bits, ty));
        }
        if let Some((dword, ty)) = self.extended[reg.0 as usize] {
            return self.val(dword, machine_type(ty)?);
        }
        match self.regions[reg.0 as usize] {
            Some(region) => {
                Ok(Val { location: ValueLocation::Register(region), ty, negate: false, abs: false })
            }
            // No write has been selected before: the value is undefined.
            None => Ok(self.dest(reg, ty)?.val()),
        }
    }

    /// An IR register as a destination of type `ty`.
    fn dest(&mut self, reg: Reg, ty: Type) -> Result<Dest, Failure> {
        let index = reg.0 as usize;
        if let Some((_, t)) = self.redirected.filter(|(r, _)| *r == reg) {
            return Ok(Dest { ty, ..t });
        }
        let first = !std::mem::replace(&mut self.written[index], true);
        let whole = self.b.predicate.is_none() && (!self.b.masked() || self.scalars[index]);
        let kills = whole || (self.local[index] && first);
        let (at, stride) = match self.regions[index] {
            Some(region) if region.split.is_some() => {
                return Err(Failure::internal("a result of several messages is written again"));
            }
            Some(region) => (region.at, region.stride),
            None => {
                let size = family_size(self.function.registers[index].family);
                let d = self.b.temporary(self.scalars[index], unsigned(size));
                self.regions[index] = Some(d.region());
                (d.at, d.stride)
            }
        };
        Ok(Dest { at, stride, ty, kills })
    }

    /// Moves a constant to a register, for operands that cannot be immediates.
    fn materialize(&mut self, v: Val) -> Val {
        let Some(bits) = v.constant() else { return v };
        let size = v.ty.size();
        let key = (bits, size);
        if let Some(known) = self.materialized.get(&key) {
            return Val { negate: v.negate, abs: v.abs, ..known.cast(v.ty) };
        }
        let d = self.b.scalar(if size == 1 { Type::UW } else { v.ty });
        self.b.mov(d, Val { negate: false, abs: false, ..v }.cast_slot());
        self.materialized.insert(key, d.val());
        Val { negate: v.negate, abs: v.abs, ..d.val().cast(v.ty) }
    }

    /// A value as a packed vector with an element for each lane, at the beginning of a register.
    fn packed_vector(&mut self, v: Val) -> Val {
        let packed = match v.location {
            ValueLocation::Register(LaneRegion { at, stride, split: None }) => {
                stride == Builder::stride(v.ty.size()) && at.offset % 32 == 0
            }
            _ => false,
        };
        if packed && !v.negate && !v.abs {
            return v;
        }
        let d = self.b.vector(v.ty);
        self.b.mov(d, v);
        d.val()
    }
}

impl Val {
    /// A byte constant as a word, since byte immediates do not exist.
    fn cast_slot(self) -> Val {
        match (self.constant(), self.ty) {
            (Some(bits), Type::B) => Val::imm(bits as u8 as i8 as u16 as u64, Type::W),
            (Some(bits), Type::UB) => Val::imm(bits, Type::UW),
            _ => self,
        }
    }
}
