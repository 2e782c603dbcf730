//! Lowers 64-bit registers to two of 32 bits, for machines without instructions on quadwords (Gen7 and Gen7.5
//! have no type `Q`: Ivy Bridge PRM, volume 4 part 3, "Numeric Data Types").
//!
//! Each quadword register has a low and a high dword; [`arithmetic`], [`compare`], [`convert`] and
//! [`cross_lane`] lower the operations on 64-bit integers. Results are computed in new registers and then
//! copied, as a destination may be a source as well; later optimisations remove the copies, and fold
//! constants.
//!
//! Other operations are done on quadwords, joined before and split after: 64-bit addresses, arithmetic of
//! doubles, 64-bit atomics. Code generation rejects these for machines without quadwords. On others the pass
//! can be enabled for tests (`GENCL_DEBUG=qwords=lowered`).

mod arithmetic;
mod compare;
mod convert;
mod cross_lane;
mod emit;
#[cfg(test)]
mod tests;

use crate::ir::analysis::values::Values;
use crate::ir::signature::MAX_ELEMENTS;
use crate::ir::{
    BinaryOp, CrossLane, Family, Function, Input, Instruction, Op, Reg, Space, TernaryOp, Type, UnaryOp,
};
use gencl_program::PushSource;
use smallvec::SmallVec;

/// The dwords of a quadword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Halves {
    low: Reg,
    high: Reg,
}

/// Replaces every quadword register by two dword registers. Per-lane form.
pub fn lower_qwords(function: &mut Function) {
    let mut halves = vec![None; function.registers.len()];
    for (index, slot) in halves.iter_mut().enumerate() {
        if function.registers[index].family == Family::Qword {
            let [low, high] = std::array::from_fn(|_| function.new_register(Family::Dword));
            *slot = Some(Halves { low, high });
        }
    }
    if halves.iter().all(Option::is_none) {
        return;
    }
    let values = Values::new(function);
    let constants = values.constants(function);
    let once = (0..halves.len()).map(|reg| values.single_write(Reg(reg as u32)).is_some()).collect();
    let wholes = vec![None; halves.len()];
    let mut lowering = Lowering { function, halves, constants, once, wholes, out: Vec::new() };
    for block in lowering.function.layout.clone() {
        for instruction in std::mem::take(&mut lowering.function.block_mut(block).instructions) {
            lowering.instruction(instruction);
        }
        lowering.function.block_mut(block).instructions = std::mem::take(&mut lowering.out);
    }
}

struct Lowering<'f> {
    function: &'f mut Function,
    /// By register, of the quadwords that there were.
    halves: Vec<Option<Halves>>,
    /// By register that there was.
    constants: Vec<Option<u64>>,
    /// By register that there was: is it written once?
    once: Vec<bool>,
    /// By register that there was: the quadword whose halves it is, if it is written once.
    wholes: Vec<Option<Reg>>,
    /// The instructions of the current block.
    out: Vec<Instruction>,
}

fn is_qword(ty: Type) -> bool {
    ty.family() == Family::Qword
}

impl Lowering<'_> {
    fn halves_of(&self, reg: Reg) -> Option<Halves> {
        self.halves.get(reg.0 as usize).copied().flatten()
    }

    fn instruction(&mut self, instruction: Instruction) {
        let touches = |reg: &Reg| self.halves_of(*reg).is_some();
        let (first, location) = (self.out.len(), instruction.location);
        if !instruction.dsts.iter().chain(&instruction.srcs).any(touches) {
            self.out.push(instruction);
        } else if !self.lower(&instruction) {
            self.whole(&instruction);
        }
        self.out[first..].iter_mut().for_each(|lowered| lowered.location = location);
    }

    /// Replaces an instruction on quadwords by ones on dwords, if that can be done.
    fn lower(&mut self, instruction: &Instruction) -> bool {
        let halves: SmallVec<[Option<Halves>; 4]> =
            instruction.srcs.iter().map(|&src| self.halves_of(src)).collect();
        let dst = instruction.dsts.first().copied();
        let result = match (instruction.op, halves.as_slice()) {
            (Op::Immediate { bits, .. }, _) => Some(self.constant(bits)),
            (Op::Input(input), _) => self.input(input),
            (Op::Undefined, _) => {
                let dsts = self.parted(&instruction.dsts);
                self.out.push(Instruction::new(Op::Undefined, dsts, []));
                return true;
            }
            (Op::Unary(op, ty), &[Some(a)]) => {
                let [src] = instruction.sources();
                if let (UnaryOp::Mov, Some(dst), Some(whole)) = (op, dst, self.wholes[src.0 as usize]) {
                    self.keep(dst, whole);
                }
                self.unary(op, ty, a)
            }
            (Op::Binary(op, ty), &[Some(a), Some(b)]) if !ty.is_float() => {
                let [_, amount] = instruction.sources();
                self.binary(op, ty, a, b, self.constants[amount.0 as usize])
            }
            (Op::Ternary(op, ty), &[Some(a), Some(b), Some(c)]) if !ty.is_float() => {
                Some(self.ternary(op, a, b, c))
            }
            (Op::Select(_), &[None, Some(a), Some(b)]) => Some(self.choose(instruction.condition(), a, b)),
            (Op::CrossLane(op), &[Some(a), ..]) => self.cross_lane(op, a, instruction),
            (Op::Compare(condition, ty), &[Some(a), Some(b)]) if !ty.is_float() => {
                let truth = self.compare64(condition, ty, a, b);
                return self.move_to(Type::Bool, dst, truth);
            }
            (Op::Convert { to, from, rounding, saturate }, &[Some(a)]) if !is_qword(to) => {
                let Some(value) = self.convert_from(to, from, rounding, saturate, a) else { return false };
                return self.move_to(to, dst, value);
            }
            (Op::Convert { to, from, rounding, saturate }, &[a]) => {
                let [src] = instruction.sources();
                self.convert_to(to, from, rounding, saturate, src, a)
            }
            (Op::Load { space, ty, align }, _) => {
                self.load(space, ty, align, instruction);
                return true;
            }
            (Op::Store { space, ty, align }, _) => {
                self.store(space, ty, align, instruction);
                return true;
            }
            // On doubles and from parts of quadwords: with the whole quadword.
            (Op::Unary(..) | Op::Binary(..) | Op::Ternary(..) | Op::Compare(..), _)
            | (Op::Select(_) | Op::Convert { .. } | Op::Pair | Op::Half { .. }, _)
            | (Op::CrossLane(_) | Op::Atomic { .. } | Op::Image(_), _) => None,
            // Without registers of quadwords.
            (Op::Barrier { .. } | Op::BarrierArrive { .. } | Op::BarrierWait | Op::Clock, _)
            | (Op::RaceCheck { .. }, _)
            | (Op::SubgroupBarrier { .. } | Op::Fence { .. }, _)
            | (Op::Jump(_) | Op::Branch { .. } | Op::Vote { .. }, _)
            | (Op::Leave { .. } | Op::Join { .. } | Op::Return, _) => None,
        };
        let (Some(result), Some(dst)) = (result, dst.and_then(|dst| self.halves_of(dst))) else {
            return false;
        };
        self.copy(dst, result);
        true
    }

    /// Writes the result of an instruction that is no quadword.
    fn move_to(&mut self, ty: Type, dst: Option<Reg>, value: Reg) -> bool {
        let Some(dst) = dst else { return false };
        self.out.push(Instruction::new(Op::Unary(UnaryOp::Mov, ty), [dst], [value]));
        true
    }

    fn copy(&mut self, dst: Halves, src: Halves) {
        for (dst, src) in [(dst.low, src.low), (dst.high, src.high)] {
            self.move_to(Type::U32, Some(dst), src);
        }
    }

    /// Registers, dwords in place of quadwords.
    fn parted(&self, regs: &[Reg]) -> SmallVec<[Reg; 4]> {
        let mut parted = SmallVec::new();
        for &reg in regs {
            match self.halves_of(reg) {
                Some(Halves { low, high }) => parted.extend([low, high]),
                None => parted.push(reg),
            }
        }
        parted
    }

    /// Keeps an instruction, on quadwords that are assembled for it.
    fn whole(&mut self, instruction: &Instruction) {
        let mut instruction = instruction.clone();
        for src in &mut instruction.srcs {
            *src = self.joined(*src);
        }
        let mut results: SmallVec<[(Halves, Reg); 2]> = SmallVec::new();
        for dst in &mut instruction.dsts {
            if let Some(halves) = self.halves_of(*dst) {
                let whole = self.function.new_register(Family::Qword);
                self.keep(*dst, whole);
                *dst = whole;
                results.push((halves, whole));
            }
        }
        self.out.push(instruction);
        for (halves, qword) in results {
            let parts = self.parts(qword);
            self.copy(halves, parts);
        }
    }

    /// Notes where the whole of a register is, if nothing else is ever written to it.
    fn keep(&mut self, reg: Reg, whole: Reg) {
        if self.once[reg.0 as usize] {
            self.wholes[reg.0 as usize] = Some(whole);
        }
    }

    /// The quadword of two halves, or what they are the halves of; a register that is none as it is.
    pub fn joined(&mut self, reg: Reg) -> Reg {
        let Some(Halves { low, high }) = self.halves_of(reg) else { return reg };
        if let Some(whole) = self.wholes[reg.0 as usize] {
            return whole;
        }
        self.emit(Op::Pair, Family::Qword, &[low, high])
    }

    /// The halves of a quadword.
    pub fn parts(&mut self, qword: Reg) -> Halves {
        let [low, high] = [false, true].map(|upper| self.emit(Op::Half { upper }, Family::Dword, &[qword]));
        Halves { low, high }
    }

    /// By-value arguments come as two dwords. What else comes as a quadword is an address or a size on a
    /// machine that has them.
    fn input(&mut self, input: Input) -> Option<Halves> {
        let Input::Push(PushSource::Value { argument, offset }) = input else { return None };
        let [low, high] = [offset, offset + 4].map(|offset| {
            let source = PushSource::Value { argument, offset };
            self.emit(Op::Input(Input::Push(source)), Family::Dword, &[])
        });
        Some(Halves { low, high })
    }

    fn unary(&mut self, op: UnaryOp, ty: Type, a: Halves) -> Option<Halves> {
        if !ty.is_float() {
            return self.integer_unary(op, ty, a);
        }
        // The sign of a double is the highest bit.
        let (op, bits) = match op {
            UnaryOp::Mov => return Some(a),
            UnaryOp::Neg => (BinaryOp::Xor, 0x8000_0000),
            UnaryOp::Abs => (BinaryOp::And, 0x7fff_ffff),
            UnaryOp::Not
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Trunc
            | UnaryOp::RoundEven
            | UnaryOp::Rcp
            | UnaryOp::Rsqrt
            | UnaryOp::Sqrt
            | UnaryOp::Exp2
            | UnaryOp::Log2
            | UnaryOp::Sin
            | UnaryOp::Cos
            | UnaryOp::LeadingZeros
            | UnaryOp::TrailingZeros
            | UnaryOp::PopCount
            | UnaryOp::BitReverse
            | UnaryOp::Canonicalize => return None,
        };
        let bits = self.dword(bits);
        Some(Halves { high: self.binary32(op, a.high, bits), ..a })
    }

    fn ternary(&mut self, op: TernaryOp, a: Halves, b: Halves, c: Halves) -> Halves {
        match op {
            TernaryOp::Mad => {
                let product = self.mul(a, b);
                self.add(product, c)
            }
            TernaryOp::BitSelect => {
                let mut select = |a, b, c| {
                    self.emit(Op::Ternary(TernaryOp::BitSelect, Type::U32), Family::Dword, &[a, b, c])
                };
                Halves { low: select(a.low, b.low, c.low), high: select(a.high, b.high, c.high) }
            }
        }
    }

    /// Operations across lanes on what the halves hold.
    fn cross_lane(&mut self, op: CrossLane, a: Halves, instruction: &Instruction) -> Option<Halves> {
        match op {
            CrossLane::Shuffle(_) => {
                let [_, lane] = instruction.sources();
                Some(self.shuffle(a, lane))
            }
            CrossLane::Ballot => None,
            CrossLane::Reduce(op, ty) if ty.is_integer() => Some(self.reduce(op, ty, a)),
            CrossLane::Scan { op, ty, exclusive } if ty.is_integer() => Some(self.scan(op, ty, exclusive, a)),
            CrossLane::Reduce(..) | CrossLane::Scan { .. } => None,
        }
    }

    /// A load of up to as many elements as an instruction takes, which may be two of that many dwords.
    fn load(&mut self, space: Space, ty: Type, align: u32, instruction: &Instruction) {
        let dsts = self.parted(&instruction.dsts);
        let address = self.joined(instruction.address());
        let ty = if is_qword(ty) { Type::U32 } else { ty };
        for (index, dsts) in dsts.chunks(MAX_ELEMENTS).enumerate() {
            let (address, align) = self.part_of_access(address, align, index);
            self.out.push(Instruction::new(Op::Load { space, ty, align }, dsts.iter().copied(), [address]));
        }
    }

    fn store(&mut self, space: Space, ty: Type, align: u32, instruction: &Instruction) {
        let values = self.parted(instruction.values());
        let address = self.joined(instruction.address());
        let ty = if is_qword(ty) { Type::U32 } else { ty };
        for (index, values) in values.chunks(MAX_ELEMENTS).enumerate() {
            let (address, align) = self.part_of_access(address, align, index);
            let srcs = std::iter::once(address).chain(values.iter().copied());
            self.out.push(Instruction::new(Op::Store { space, ty, align }, [], srcs));
        }
    }

    /// Address and alignment of part `index` of an access of more dwords than an instruction takes.
    fn part_of_access(&mut self, address: Reg, align: u32, index: usize) -> (Reg, u32) {
        if index == 0 {
            return (address, align);
        }
        let distance = (index * MAX_ELEMENTS * 4) as u32;
        let wide = self.function.register(address).family == Family::Qword;
        let ty = if wide { Type::U64 } else { Type::U32 };
        let bits = u64::from(distance);
        let distance_reg = self.emit(Op::Immediate { ty, bits }, ty.family(), &[]);
        let address = self.emit(Op::Binary(BinaryOp::Add, ty), ty.family(), &[address, distance_reg]);
        (address, align.min(1 << distance.trailing_zeros()))
    }
}
