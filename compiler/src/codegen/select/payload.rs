//! The thread's payload: the registers that the launch initialises.

use super::{Failure, Selector, family_size, interleave};
use crate::codegen::lir::{Fixup, GRF, VRef, VregInfo};
use crate::codegen::operand::{Dest, Operation, Val, ValueLocation};
use crate::ir::{Family, Form, Function, Input, Op, Reg, Space, Type as IrType, UnaryOp, Vote};
use gencl_device_info::{AddressModel, SINGLE_DENORMALS};
use gencl_isa::{Arf, Condition, Flag, Opcode, Type};
use gencl_program::{Push, PushSource};

/// Maximum private memory of a thread in bytes, which is that of scratch memory on most targets.
const MAX_PRIVATE: u32 = 1 << 21;

/// Local memory of a work-group in bytes, on all targets (Ivy Bridge manual, Volume 1 Part 1, "Shared Local Memory";
/// Mesa's `intel_compute_slm.c`).
const MAX_LOCAL: u32 = 64 << 10;

/// The location of private memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrivateLocation {
    /// In the thread's scratch memory, after the spill area.
    #[default]
    Scratch,
    /// In a buffer, with a part for each hardware thread number
    /// ([`Payload::thread_number`](gencl_device_info::Payload)).
    Stack,
}

/// The payload of a kernel, and the values that the prologue computes.
#[derive(Default)]
pub struct Payload {
    /// Bytes of cross-thread constants.
    pub cross_thread_size: u32,
    /// Their contents.
    pub pushes: Vec<Push>,
    /// Whether local ids are pushed.
    pub local_ids: bool,
    /// Bytes of private memory per lane.
    pub private_size: u32,
    /// The location of private memory.
    pub private_location: PrivateLocation,
    /// Size of a granule, if private memory is interleaved (`interleave.rs`).
    pub private_granule: Option<u32>,
    /// Whether the kernel needs the dispatch mask.
    needs_dispatch_mask: bool,
    /// Whether the prologue has to clear the flags.
    needs_flags: bool,
    /// Whether the kernel needs lane ids.
    needs_lane_ids: bool,
    header: Option<VRef>,
    constants: Vec<VRef>,
    ids: Vec<Val>,
    mask: Option<Val>,
    lanes: Option<Val>,
    private_base: Option<Val>,
}

/// Plans the payload of a kernel, with at most `most` registers of constants and local ids.
pub fn plan(function: &Function, simd: u32, place: PrivateLocation, most: u32) -> Result<Payload, Failure> {
    if function.local_size > MAX_LOCAL {
        let (what, asked) = ("local memory per work-group", function.local_size.into());
        return Err(Failure::beyond_limit(what, asked, "bytes", MAX_LOCAL.into()));
    }
    let mut p = Payload { private_location: place, ..Payload::default() };
    let mut wanted: Vec<(PushSource, u32)> = Vec::new();
    let mut private = false;
    let mut want = |source: PushSource, size: u32| {
        if !wanted.contains(&(source, size)) {
            wanted.push((source, size));
        }
    };
    for i in function.layout.iter().flat_map(|b| &function.blocks[b.0 as usize].instructions) {
        match i.op {
            Op::Input(Input::Push(source)) => {
                let family = function.registers[i.result().0 as usize].family;
                if family == Family::Bool {
                    return Err(Failure::internal("a pushed constant cannot be a truth value"));
                }
                want(source, family_size(family));
            }
            Op::Input(Input::LocalId(_)) => p.local_ids = true,
            Op::Input(Input::SubgroupId) => {
                p.local_ids = true;
                want(PushSource::LocalSize(0), 4);
                want(PushSource::LocalSize(1), 4);
            }
            Op::RaceCheck { .. } => want(PushSource::RaceTable, 8),
            Op::Input(Input::LaneId) => p.needs_lane_ids = true,
            Op::Input(Input::GroupId(_) | Input::SimdWidth) => {}
            Op::Load { space: Space::Private, .. } | Op::Store { space: Space::Private, .. } => {
                private = true
            }
            Op::Immediate { ty: IrType::Bool, .. }
            | Op::Unary(UnaryOp::Not, IrType::Bool)
            | Op::Vote { vote: Vote::All, .. } => p.needs_dispatch_mask = function.form == Form::Linear,
            _ => {}
        }
    }
    // In the masked form, flag bits of inactive lanes are never used.
    p.needs_flags =
        function.form == Form::Linear && function.registers.iter().any(|r| r.family == Family::Bool);
    // There may be accesses by null pointers only.
    if function.private_size > 0 || private {
        p.private_size = function.private_size.max(1).next_multiple_of(GRF);
        p.private_granule = interleave::granule(function);
        p.needs_lane_ids = true;
        if place == PrivateLocation::Stack {
            want(PushSource::StackBase, 4);
        }
        let most = MAX_PRIVATE / simd;
        if p.private_size > most {
            let asked = function.private_size.into();
            return Err(Failure::beyond_limit("private memory per work-item", asked, "bytes", most.into()));
        }
    }
    // Sorted by size, they are aligned without gaps, and those that contain others come first.
    wanted.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let mut offset = 0u32;
    for (source, size) in wanted {
        if p.pushes.iter().all(|push| part_of(push, source, size).is_none()) {
            p.pushes.push(Push { offset, size, source });
            offset += size;
        }
    }
    p.cross_thread_size = offset.next_multiple_of(GRF);
    let registers = p.cross_thread_size / GRF + if p.local_ids { 3 * id_registers(simd) } else { 0 };
    if registers > most {
        let (what, used) = ("arguments that are used", u64::from(registers * GRF));
        return Err(Failure::beyond_limit(what, used, "bytes", u64::from(most * GRF)));
    }
    Ok(p)
}

/// The offset of `size` bytes of a source in a push that contains them at a multiple of their size: a place of an
/// argument may be read as several types.
fn part_of(push: &Push, source: PushSource, size: u32) -> Option<u32> {
    let offset = match (push.source, source) {
        (PushSource::Value { argument: pushed, offset: begin }, PushSource::Value { argument, offset })
            if pushed == argument =>
        {
            offset.checked_sub(begin)?
        }
        (pushed, source) if pushed == source => 0,
        _ => return None,
    };
    (offset.is_multiple_of(size) && offset + size <= push.size).then_some(offset)
}

/// Registers of the local ids of one dimension, a word for each lane.
fn id_registers(simd: u32) -> u32 {
    (2 * simd).div_ceil(GRF)
}

impl Selector<'_> {
    fn fixed(&mut self, byte: u32, size: u32) -> VRef {
        let align = size.min(GRF).next_power_of_two();
        let info = VregInfo { size, align, fixed: Some(byte), piece_of: None, spilled: None };
        self.b.program.vregs.push(info);
        VRef { vreg: crate::codegen::lir::Vreg(self.b.program.vregs.len() as u32 - 1), offset: 0 }
    }

    /// Defines the payload's registers and emits the initial state that the kernel relies on.
    pub fn prologue(&mut self) -> Result<(), Failure> {
        self.payload.header = Some(self.fixed(0, GRF));
        for push in self.payload.pushes.clone() {
            let at = self.fixed(GRF + push.offset, push.size);
            self.payload.constants.push(at);
        }
        if self.payload.local_ids {
            let size = id_registers(self.b.simd) * GRF;
            for dimension in 0..3 {
                let at = self.fixed(GRF + self.payload.cross_thread_size + dimension * size, size);
                self.payload.ids.push(Val::reg(at, 2, Type::UW));
            }
        }
        let control = Arf::Control(0);
        let flushed = if self.function.kernel.flushes_denormals { SINGLE_DENORMALS } else { 0 };
        let denormals = Val::imm(u64::from(self.target.execution.denormal_bits & !flushed), Type::UD);
        self.b.scalar_arf(Opcode::Or, control, 0, Type::UD, &[Val::arf(control, 0, Type::UD), denormals]);
        if self.payload.needs_flags {
            for flag in 0..2 {
                self.b.scalar_arf(Opcode::Mov, Arf::Flag(flag), 0, Type::UD, &[Val::imm(0, Type::UD)]);
            }
        }
        if self.payload.needs_dispatch_mask {
            self.init_dispatch_mask();
        }
        if self.payload.needs_lane_ids {
            self.init_lane_ids();
        }
        if self.payload.private_size > 0 {
            self.init_private_base()?;
        }
        Ok(())
    }

    /// Computes the dispatch mask: comparing a value with itself sets the flag bits of all enabled lanes.
    fn init_dispatch_mask(&mut self) {
        let flag = Flag::default();
        let Some(header) = self.payload.header else { return };
        let any = Val::reg(header, 0, Type::UW);
        self.compare_into(flag, Condition::Equal, any, any);
        let mask = self.b.scalar(self.flag_type());
        self.b.mov(mask, self.flag_value(flag));
        self.b.scalar_arf(Opcode::Mov, Arf::Flag(0), 0, Type::UD, &[Val::imm(0, Type::UD)]);
        self.payload.mask = Some(mask.val());
    }

    fn init_lane_ids(&mut self) {
        let numbers = self.b.vector(Type::UW);
        let simd = std::mem::replace(&mut self.b.simd, 8);
        let eight = Val::imm(0x7654_3210, Type::UV);
        self.b.op(Operation { all_lanes: true, ..Operation::new(Opcode::Mov) }, numbers, &[eight]);
        for first in (8..simd).step_by(8) {
            let dst = Dest { at: numbers.at.plus(first * 2), kills: false, ..numbers };
            let step = Val::imm(u64::from(first), Type::UW);
            let add = Operation { all_lanes: true, ..Operation::new(Opcode::Add) };
            self.b.op(add, dst, &[numbers.val(), step]);
        }
        self.b.simd = simd;
        self.payload.lanes = Some(numbers.val());
    }

    /// The address of the thread's private memory.
    fn thread_base(&mut self) -> Result<Val, Failure> {
        let pointer = Val::reg(self.header()?.plus(5 * 4), 0, Type::UD);
        let base = self.b.scalar(Type::UD);
        match self.payload.private_location {
            PrivateLocation::Scratch => {
                self.b.op(Operation::new(Opcode::And), base, &[pointer, Val::imm(0xffff_fc00, Type::UD)]);
                self.b.op(Operation::new(Opcode::Add), base, &[base.val(), Val::imm(0, Type::UD)]);
                if let Some(last) = self.b.program.blocks.last_mut().and_then(|b| b.insts.last_mut()) {
                    last.fixup = Some(Fixup::SpillSize);
                }
            }
            PrivateLocation::Stack => {
                let bits = self.target.payload.thread_number;
                let bits = bits.ok_or_else(|| Failure::internal("threads are not numbered"))?;
                self.b.op(Operation::new(Opcode::And), base, &[pointer, Val::imm(bits.into(), Type::UD)]);
                let size = Val::imm(u64::from(self.payload.private_size * self.b.simd), Type::UD);
                self.multiply(base, base.val(), size);
                let begin = self.pushed(PushSource::StackBase, 4)?;
                self.b.op(Operation::new(Opcode::Add), base, &[base.val(), begin]);
            }
        }
        Ok(base.val())
    }

    /// Computes the address of each lane's first byte of private memory.
    fn init_private_base(&mut self) -> Result<(), Failure> {
        let lanes = self.payload.lanes;
        let lanes = lanes.ok_or_else(|| Failure::internal("private memory without numbers of lanes"))?;
        let base = self.thread_base()?;
        let offset = self.b.vector(Type::UD);
        self.b.mov(offset, lanes);
        let step = self.payload.private_granule.unwrap_or(self.payload.private_size);
        self.multiply(offset, offset.val(), Val::imm(step.into(), Type::UD));
        self.b.op(Operation::new(Opcode::Add), offset, &[offset.val(), base]);
        self.payload.private_base = Some(match self.target.messages.global {
            AddressModel::Surface(_) => offset.val(),
            AddressModel::A64 => {
                let wide = self.b.vector(Type::UQ);
                self.b.mov(wide, offset.val());
                wide.val()
            }
        });
        Ok(())
    }

    /// `g0`.
    pub fn header(&self) -> Result<VRef, Failure> {
        self.payload.header.ok_or_else(|| Failure::internal("no entry block"))
    }

    /// The dispatch mask as a scalar; all ones in the masked form, where bits of inactive lanes are never
    /// used.
    pub fn dispatch_mask(&self) -> Result<Val, Failure> {
        if self.function.form == Form::Masked {
            let ty = self.flag_type();
            return Ok(Val::imm(u64::MAX >> (64 - 8 * ty.size()), ty));
        }
        self.payload.mask.ok_or_else(|| Failure::internal("the dispatch mask was not planned"))
    }

    /// The addresses of the lanes' private memory, of the same type as global addresses.
    pub fn private_base(&self) -> Result<Val, Failure> {
        self.payload.private_base.ok_or_else(|| Failure::internal("private memory of size 0 accessed"))
    }

    /// Assigns an input: the payload's register is used in place if the destination has no other definition.
    pub fn input(&mut self, dst: Reg, input: Input) -> Result<(), Failure> {
        let value = self.input_value(dst, input)?;
        let index = dst.0 as usize;
        let free = self.single_definition[index] && self.regions[index].is_none();
        if let (true, ValueLocation::Register(region)) = (free, value.location) {
            self.regions[index] = Some(region);
            return Ok(());
        }
        let d = self.dest(dst, value.ty)?;
        self.b.mov(d, value);
        Ok(())
    }

    pub fn pushed(&self, source: PushSource, size: u32) -> Result<Val, Failure> {
        let mut places = self.payload.pushes.iter().zip(&self.payload.constants);
        places
            .find_map(|(push, at)| Some(at.plus(part_of(push, source, size)?)))
            .map(|at| Val::reg(at, 0, super::unsigned(size)))
            .ok_or_else(|| Failure::internal("a pushed constant was not planned"))
    }

    fn local_id(&self, dimension: u8) -> Result<Val, Failure> {
        let id = self.payload.ids.get(usize::from(dimension)).copied();
        id.ok_or_else(|| Failure::internal(format!("there is no local id {dimension}")))
    }

    fn input_value(&mut self, dst: Reg, input: Input) -> Result<Val, Failure> {
        match input {
            Input::Push(source) => {
                let size = family_size(self.function.registers[dst.0 as usize].family);
                self.pushed(source, size)
            }
            Input::LocalId(dimension) => self.local_id(dimension),
            Input::GroupId(dimension) => {
                // g0.1, g0.6, g0.7.
                let dword = match dimension {
                    0 => 1,
                    1 => 6,
                    2 => 7,
                    _ => return Err(Failure::internal(format!("there is no group id {dimension}"))),
                };
                Ok(Val::reg(self.header()?.plus(dword * 4), 0, Type::UD))
            }
            Input::LaneId => self.payload.lanes.ok_or_else(|| Failure::internal("no lane numbers")),
            Input::SubgroupId => self.subgroup_id(),
            Input::SimdWidth => Ok(Val::imm(u64::from(self.b.simd), Type::UD)),
        }
    }

    /// The linear local id of lane 0, which is always dispatched, divided by the SIMD width.
    fn subgroup_id(&mut self) -> Result<Val, Failure> {
        let first = |v: Val| match v.location {
            ValueLocation::Register(region) => Val::reg(region.at, 0, v.ty),
            _ => v,
        };
        let sizes = [self.pushed(PushSource::LocalSize(0), 4)?, self.pushed(PushSource::LocalSize(1), 4)?];
        let linear = self.b.scalar(Type::UD);
        self.b.mov(linear, first(self.local_id(2)?));
        for dimension in [1, 0] {
            let size = sizes[dimension];
            self.multiply(linear, linear.val(), size);
            let id = first(self.local_id(dimension as u8)?);
            self.b.op(Operation::new(Opcode::Add), linear, &[linear.val(), id]);
        }
        let shift = Val::imm(u64::from(self.b.simd.trailing_zeros()), Type::UD);
        self.b.op(Operation::new(Opcode::Shr), linear, &[linear.val(), shift]);
        Ok(linear.val())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_are_read_as_several_types_are_parts_of_one_push() {
        let value = |argument, offset| PushSource::Value { argument, offset };
        let push = Push { offset: 0, size: 8, source: value(1, 8) };
        assert_eq!(part_of(&push, value(1, 8), 8), Some(0));
        assert_eq!(part_of(&push, value(1, 12), 4), Some(4));
        assert_eq!(part_of(&push, value(1, 15), 1), Some(7));
        // Off its alignment, beyond the end, before the beginning, in another argument.
        for (source, size) in [(value(1, 10), 4), (value(1, 12), 8), (value(1, 4), 4), (value(0, 8), 4)] {
            assert_eq!(part_of(&push, source, size), None);
        }
    }
}
