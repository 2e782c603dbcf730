//! A thread: lanes in lockstep with one control flow.

use super::Trap;
use super::image::Texel;
use super::launch::{Group, Value};
use super::memory::{Memory, area, from_bytes, to_bytes};
use crate::ir::fold::fold;
use crate::ir::{
    AtomicOp, BinaryOp, BlockId, CrossLane, Form, Function, ImageAccess, ImageOp, Instruction, Op, Predicate,
    Reg, Space, Type, Vote,
};
use gencl_program::SamplerSource;
use smallvec::SmallVec;

/// Why a thread has yielded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It has returned.
    End,
    /// It waits.
    Barrier,
    /// Per-lane form: it waits at a cross-lane operation for the other lanes of its sub-group. Its location:
    /// index of the block in the layout, instruction.
    CrossLane(usize, usize),
}

pub(super) struct Thread {
    /// Number of its first work-item in the group.
    first: u32,
    lanes: usize,
    /// Lane values register by register; uniform registers use the first only.
    registers: Vec<u64>,
    private: Vec<Vec<u8>>,
    block: BlockId,
    index: usize,
    /// Masked form: the block at which each lane waits; none for lanes that are active.
    waiting: Vec<Option<BlockId>>,
    ended: bool,
    steps: u64,
}

/// Memory as one thread sees it.
struct View<'m> {
    global: &'m mut Memory,
    local: &'m mut [u8],
    private: &'m mut [Vec<u8>],
}

impl View<'_> {
    fn bytes(&mut self, space: Space, lane: usize, address: u64, size: usize) -> Result<&mut [u8], Trap> {
        let bytes = match space {
            Space::Global | Space::Constant => self.global.slice(address, size),
            Space::Local => area(self.local, address, size),
            Space::Private => area(&mut self.private[lane], address, size),
        };
        bytes.ok_or(Trap::Address { space, address })
    }
}

impl Thread {
    /// The threads of a group: of one lane each in the per-lane form.
    pub fn of_group(function: &Function, group: &Group) -> Vec<Thread> {
        let width = match function.form {
            Form::PerLane => 1,
            Form::Linear | Form::Masked => group.launch.simd_width,
        };
        (0..group.items())
            .step_by(width as usize)
            .map(|first| {
                let lanes = width.min(group.items() - first) as usize;
                let mut thread = Thread {
                    first,
                    lanes,
                    registers: vec![0; function.registers.len() * lanes],
                    private: vec![vec![0; function.private_size as usize]; lanes],
                    block: function.entry(),
                    index: 0,
                    waiting: vec![None; lanes],
                    ended: false,
                    steps: 0,
                };
                for index in 0..function.registers.len() {
                    thread.spoil(function, Reg(index as u32));
                }
                thread
            })
            .collect()
    }

    /// Fills a register with garbage, different in each lane.
    fn spoil(&mut self, function: &Function, reg: Reg) {
        let family = function.register(reg).family;
        for lane in 0..self.lanes {
            // The multiplier of SplitMix64: bits that look like nothing in particular.
            let garbage =
                (u64::from(reg.0) << 8 | lane as u64 | 1 << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
            let mask = match family.bytes() {
                0 => 1,
                bytes => u64::MAX >> (64 - bytes * 8),
            };
            self.registers[reg.0 as usize * self.lanes + lane] = garbage & mask;
        }
    }

    fn slot(&self, function: &Function, reg: Reg, lane: usize) -> usize {
        let lane = if function.form != Form::PerLane && function.register(reg).uniform { 0 } else { lane };
        reg.0 as usize * self.lanes + lane
    }

    fn read(&self, function: &Function, reg: Reg, lane: usize) -> u64 {
        self.registers[self.slot(function, reg, lane)]
    }

    fn write(&mut self, function: &Function, reg: Reg, lane: usize, value: u64) {
        let slot = self.slot(function, reg, lane);
        self.registers[slot] = value;
    }

    /// Runs to the next barrier or to the end.
    pub fn run(
        &mut self,
        function: &Function,
        group: &Group,
        local: &mut [u8],
        memory: &mut Memory,
    ) -> Result<Stop, Trap> {
        let mut private = std::mem::take(&mut self.private);
        let mut view = View { global: memory, local, private: &mut private };
        let result = self.run_with(function, group, &mut view);
        self.private = private;
        result
    }

    fn run_with(&mut self, function: &Function, group: &Group, view: &mut View) -> Result<Stop, Trap> {
        while !self.ended {
            self.steps += 1;
            if self.steps > group.launch.step_limit {
                return Err(Trap::Endless);
            }
            let instruction = &function.block(self.block).instructions[self.index];
            self.index += 1;
            match instruction.op {
                Op::Barrier { .. } | Op::BarrierWait => return Ok(Stop::Barrier),
                // Memory is consistent at all times, and what follows up to the other half may run at any.
                Op::BarrierArrive { .. } => {}
                Op::Clock => self.clock(function, instruction),
                Op::CrossLane(_) | Op::SubgroupBarrier { .. } if function.form == Form::PerLane => {
                    let place = function.layout.iter().position(|&block| block == self.block);
                    return Ok(Stop::CrossLane(place.unwrap_or(usize::MAX), self.index - 1));
                }
                Op::CrossLane(op) => self.cross_lane(function, group, op, instruction),
                Op::SubgroupBarrier { .. } | Op::Fence { .. } | Op::RaceCheck { .. } => {}
                Op::Undefined => {
                    for &dst in &instruction.dsts {
                        self.spoil(function, dst);
                    }
                }
                Op::Return => self.ended = true,
                Op::Jump(target) => self.go(target),
                Op::Branch { then, otherwise } => {
                    let taken = self.read(function, instruction.condition(), 0) != 0;
                    self.go(if taken { then } else { otherwise });
                }
                Op::Vote { vote, target, next } => {
                    let mut votes =
                        (0..self.lanes).map(|lane| self.read(function, instruction.condition(), lane) != 0);
                    let jumps = match vote {
                        Vote::Any => votes.any(|v| v),
                        Vote::All => votes.all(|v| v),
                        Vote::None => !votes.any(|v| v),
                    };
                    self.go(if jumps { target } else { next });
                }
                Op::Leave { by, target, next, empty } => {
                    let leaves = |thread: &Thread, lane| {
                        instruction
                            .predicate
                            .is_none_or(|p| (thread.read(function, p.reg, lane) != 0) != p.inverse)
                    };
                    let leaving: Vec<usize> = self.active().filter(|&lane| leaves(self, lane)).collect();
                    if by.is_backward() && !leaving.is_empty() {
                        let staying: Vec<usize> =
                            self.active().filter(|lane| !leaving.contains(lane)).collect();
                        self.wait(&staying, next);
                        self.go(target);
                    } else {
                        self.wait(&leaving, target);
                        let some = self.active().next().is_some() || self.waiting.contains(&Some(next));
                        self.go(if some { next } else { empty });
                    }
                }
                Op::Join { next, empty, .. } => {
                    self.go(if self.active().next().is_some() { next } else { empty });
                }
                Op::Immediate { .. }
                | Op::Input(_)
                | Op::Unary(..)
                | Op::Binary(..)
                | Op::Ternary(..)
                | Op::Compare(..)
                | Op::Select(_)
                | Op::Convert { .. }
                | Op::Pair
                | Op::Half { .. }
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::Image(_)
                | Op::Atomic { .. } => self.execute(function, group, view, instruction)?,
            }
        }
        Ok(Stop::End)
    }

    /// The clock: instructions that have been executed.
    fn clock(&mut self, function: &Function, instruction: &Instruction) {
        let takes_part = |lane: &usize| {
            let truth = |p: Predicate| (self.read(function, p.reg, *lane) != 0) != p.inverse;
            instruction.predicate.is_none_or(truth)
        };
        let lanes: Vec<usize> = self.active().filter(takes_part).collect();
        for lane in lanes {
            for (dst, bits) in instruction.dsts.iter().zip([self.steps, 0]) {
                self.write(function, *dst, lane, bits);
            }
        }
    }

    /// An operation across the lanes of this thread.
    fn cross_lane(&mut self, function: &Function, group: &Group, op: CrossLane, instruction: &Instruction) {
        let mut lanes = vec![None; group.launch.simd_width as usize];
        for lane in self.active() {
            let takes_part = |p: Predicate| (self.read(function, p.reg, lane) != 0) != p.inverse;
            if instruction.predicate.is_none_or(takes_part) {
                lanes[lane] = Some(self.sources(function, instruction, lane));
            }
        }
        let results = op.results(&lanes);
        let dst = instruction.result();
        if function.register(dst).uniform {
            // Lanes that take no part have no result.
            let first = lanes.iter().position(Option::is_some).unwrap_or(0);
            self.write(function, dst, 0, results[first]);
            return;
        }
        for lane in (0..self.lanes).filter(|&lane| lanes[lane].is_some()) {
            self.write(function, dst, lane, results[lane]);
        }
    }

    /// Per-lane form: executes the cross-lane operation at which each of these threads, the lanes of a
    /// sub-group, waits.
    pub fn cross_lane_of_group(function: &Function, group: &Group, lanes: &mut [(usize, &mut Thread)]) {
        let Some((_, first)) = lanes.first() else { return };
        let instruction = &function.block(first.block).instructions[first.index - 1];
        let Op::CrossLane(op) = instruction.op else { return };
        let mut sources = vec![None; group.launch.simd_width as usize];
        for (lane, thread) in lanes.iter() {
            sources[*lane] = Some(thread.sources(function, instruction, 0));
        }
        let results = op.results(&sources);
        for (lane, thread) in lanes {
            thread.write(function, instruction.result(), 0, results[*lane]);
        }
    }

    fn sources(&self, function: &Function, instruction: &Instruction, lane: usize) -> SmallVec<[u64; 4]> {
        instruction.srcs.iter().map(|&src| self.read(function, src, lane)).collect()
    }

    /// Arrives at a block, which activates the lanes that are parked there.
    fn go(&mut self, block: BlockId) {
        self.block = block;
        self.index = 0;
        self.waiting.iter_mut().filter(|w| **w == Some(block)).for_each(|w| *w = None);
    }

    /// The active lanes.
    fn active(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.lanes).filter(|&lane| self.waiting[lane].is_none())
    }

    fn wait(&mut self, lanes: &[usize], block: BlockId) {
        for &lane in lanes {
            self.waiting[lane] = Some(block);
        }
    }

    /// An instruction that each lane executes.
    fn execute(
        &mut self,
        function: &Function,
        group: &Group,
        view: &mut View,
        instruction: &Instruction,
    ) -> Result<(), Trap> {
        let uniform = function.form != Form::PerLane
            && !instruction.dsts.is_empty()
            && instruction.dsts.iter().all(|&dst| function.register(dst).uniform);
        // A scalar instruction runs once, whichever lanes are active.
        let lanes = if uniform { 1 } else { self.lanes };
        for lane in 0..lanes {
            if let Some(predicate) = instruction.predicate
                && (self.read(function, predicate.reg, lane) != 0) == predicate.inverse
            {
                continue;
            }
            if !uniform && self.waiting[lane].is_some() {
                continue;
            }
            let srcs = self.sources(function, instruction, lane);
            let item = self.first + lane as u32;
            match instruction.op {
                Op::Input(input) => {
                    let dst = instruction.result();
                    let bytes = function.register(dst).family.bytes();
                    let value = group.input(function, view.global, input, item, bytes)?;
                    self.write(function, dst, lane, value);
                }
                Op::Load { space, ty, .. } => {
                    for (index, &dst) in instruction.dsts.iter().enumerate() {
                        let value = from_bytes(view.bytes(
                            space,
                            lane,
                            element(&srcs, space, ty, index),
                            size(ty),
                        )?);
                        self.write(function, dst, lane, value);
                    }
                }
                Op::Store { space, ty, .. } => {
                    for (index, &value) in srcs[1..].iter().enumerate() {
                        to_bytes(value, view.bytes(space, lane, element(&srcs, space, ty, index), size(ty))?);
                    }
                }
                Op::Atomic { op, space, ty } => {
                    let bytes = view.bytes(space, lane, srcs[0], size(ty))?;
                    let before = from_bytes(bytes);
                    to_bytes(atomic(op, ty, before, &srcs[1..]), bytes);
                    if let Some(&dst) = instruction.dsts.first() {
                        self.write(function, dst, lane, before);
                    }
                }
                Op::Image(access) => {
                    for (&dst, value) in
                        instruction.dsts.iter().zip(image(access, group, view.global, &srcs)?)
                    {
                        self.write(function, dst, lane, value.into());
                    }
                }
                ref op => {
                    if let Some(value) = fold(op, &srcs) {
                        self.write(function, instruction.result(), lane, value);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Performs an access to an image; what it reads, or zeros.
fn image(access: ImageAccess, group: &Group, memory: &mut Memory, srcs: &[u64]) -> Result<Texel, Trap> {
    let image = group.image(access.image, memory)?;
    let (coordinates, texel) = srcs.split_at(access.coordinates.into());
    Ok(match access.op {
        ImageOp::Load => image.load(coordinates),
        ImageOp::Write => {
            image.write(coordinates, texel);
            Texel::default()
        }
        ImageOp::Sample(SamplerSource::Constant(sampler)) => image.sample(sampler, coordinates, access.ty),
        ImageOp::Sample(SamplerSource::Argument(index)) => match group.launch.arguments.get(index as usize) {
            Some(&Value::Sampler(sampler)) => image.sample(sampler, coordinates, access.ty),
            _ => return Err(Trap::Argument { index }),
        },
    })
}

fn size(ty: Type) -> usize {
    ty.family().bytes() as usize
}

/// Address of an element; addresses wrap at their width.
fn element(srcs: &[u64], space: Space, ty: Type, index: usize) -> u64 {
    let address = srcs[0].wrapping_add((index * size(ty)) as u64);
    match space {
        Space::Global | Space::Constant => address,
        Space::Local | Space::Private => address & u64::from(u32::MAX),
    }
}

/// What memory holds after an atomic operation.
fn atomic(op: AtomicOp, ty: Type, before: u64, values: &[u64]) -> u64 {
    let binary = |op, value| fold(&Op::Binary(op, ty), &[before, value]).unwrap_or(before);
    match op {
        AtomicOp::Add => binary(BinaryOp::Add, values[0]),
        AtomicOp::Sub => binary(BinaryOp::Sub, values[0]),
        AtomicOp::Inc => binary(BinaryOp::Add, 1),
        AtomicOp::Dec => binary(BinaryOp::Sub, 1),
        AtomicOp::Xchg => values[0],
        AtomicOp::CmpXchg => {
            if before == values[0] {
                values[1]
            } else {
                before
            }
        }
        AtomicOp::And => binary(BinaryOp::And, values[0]),
        AtomicOp::Or => binary(BinaryOp::Or, values[0]),
        AtomicOp::Xor => binary(BinaryOp::Xor, values[0]),
        AtomicOp::Min => binary(BinaryOp::Min, values[0]),
        AtomicOp::Max => binary(BinaryOp::Max, values[0]),
    }
}
