//! Sources and results of arithmetic.

use gencl_eu::file::{ADDRESS, FLAG, GRF_BYTES};
use gencl_eu::operand::{SourceLocation, Target};

use super::Lift;
use super::rounding::scalar;
use crate::analysis::access::{is_address, is_flag};
use crate::analysis::modes;
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, Op, Registers, Relation, Unary};
use crate::middle::types::{Scalar, Type};

/// Words of the address register.
const ADDRESS_WORDS: usize = 16;

impl Lift<'_> {
    /// The elements of a source as they are, as integers.
    pub fn source_bits(&mut self, index: usize, number: usize) -> Value {
        let op = &self.plan.ops[index];
        let (src, lanes) = (&op.src[number], usize::from(op.lanes));
        let (one, ty) = (Type::int(src.ty.size() * 8, 1), Type::int(src.ty.size() * 8, lanes));
        match &src.location {
            SourceLocation::Constant(bits) => self.builder.int(ty, *bits),
            SourceLocation::Constants(constants) => self.builder.ints(ty, |lane| constants[lane]),
            SourceLocation::None => self.builder.int(ty, 0),
            SourceLocation::Indirect { word, offset, rows, steps } => {
                let words: Vec<usize> =
                    rows[..lanes].iter().map(|row| usize::from(word + row) % ADDRESS_WORDS).collect();
                let beyond: Vec<u64> = steps[..lanes]
                    .iter()
                    .map(|step| (i64::from(*offset) + i64::from(*step)) as u64)
                    .collect();
                self.indirect(index, &words, &beyond, ty)
            }
            SourceLocation::Packed(at) if is_address(*at) => {
                self.builder.effect(Op::Get(*at as u16), &[], &[ty])[0]
            }
            SourceLocation::Scalar(at) if is_address(*at) => {
                let element = self.builder.effect(Op::Get(*at as u16), &[], &[one])[0];
                self.builder.splat(element, lanes)
            }
            place if src.is_accumulator() => self.accumulator_bits(place, ty),
            SourceLocation::Packed(at) | SourceLocation::Scalar(at) if *at >= GRF_BYTES => {
                self.flag_source(*at, ty)
            }
            location => {
                let is_scalar = matches!(location, SourceLocation::Scalar(_));
                let value = self.read_access(index, number).unwrap_or_else(|| self.builder.int(ty, 0));
                if is_scalar { self.builder.splat(value, lanes) } else { value }
            }
        }
    }

    /// Flags, or `null`, as a source of one channel.
    fn flag_source(&mut self, at: usize, ty: Type) -> Value {
        if !is_flag(at) {
            return self.builder.int(ty, 0);
        }
        let flags = self.read_flags((at - FLAG) * 8, ty.scalar.bits() as usize);
        let bits = self.builder.bits(flags);
        self.builder.splat(bits, ty.lanes.into())
    }

    /// Register-indirect elements: of each lane the word of the address register, and the offset in bytes.
    fn indirect(&mut self, index: usize, words: &[usize], beyond: &[u64], ty: Type) -> Value {
        let all = self.builder.effect(Op::Get(ADDRESS as u16), &[], &[Type::int(16, ADDRESS_WORDS)])[0];
        let bases = self.builder.shuffle(all, None, words.to_vec());
        let bases = self.builder.resize(bases, 32, false);
        let beyond = self.builder.ints(Type::int(32, words.len()), |lane| beyond[lane]);
        let addresses = self.builder.binary(Binary::Add, bases, beyond);
        let last =
            self.builder.int(self.builder.ty(addresses), (GRF_BYTES - ty.scalar.bits() as usize / 8) as u64);
        let outside = self.builder.compare(Relation::Ugt, addresses, last);
        let mask = self.mask(index);
        let outside = self.builder.binary(Binary::And, outside, mask);
        let wrong = self.builder.any(outside);
        self.refused_if(wrong, index);
        let addresses = self.builder.binary(Binary::UMin, addresses, last);
        self.builder.effect(Op::Gather, &[addresses], &[ty])[0]
    }

    /// Where a condition holds the interpreter executes an instruction whose registers are all in the register file: it has the text of the fault.
    fn refused_if(&mut self, condition: Value, index: usize) {
        let [wrong, on] = [(); 2].map(|()| self.add_block());
        self.branch(condition, wrong, on);
        self.begin_sealed(wrong);
        self.interpret_in_file(index);
        self.jump(self.fault);
        self.begin_sealed(on);
    }

    /// Has the interpreter execute an instruction on the register file.
    pub fn interpret_in_file(&mut self, _index: usize) {
        let flags = self.flag_operands();
        let registers =
            Registers { operands: flags.iter().map(|(_, at)| *at).collect(), results: Vec::new() };
        let active = self.active();
        let operands: Vec<Value> = std::iter::once(active).chain(flags.map(|(value, _)| value)).collect();
        self.builder.effect(Op::Interpret(Box::new(registers)), &operands, &[]);
    }

    /// A source of floats as those of 32 bits or as doubles, with its modifiers.
    pub fn float_source(&mut self, index: usize, number: usize, double: bool) -> Value {
        let src = &self.plan.ops[index].src[number];
        let mut bits = self.source_bits(index, number);
        let ty = self.builder.ty(bits);
        let width = ty.scalar.bits();
        if modes::flushes(self.plan.modes[index], src.ty) {
            bits = self.flushed(bits);
        }
        if src.abs {
            let rest = self.builder.int(ty, (1 << (width - 1)) - 1);
            bits = self.builder.binary(Binary::And, bits, rest);
        }
        let value = self.builder.cast(bits, scalar(src.ty));
        let to = if double { Scalar::Double } else { Scalar::Float };
        let value = self.builder.convert(Convert::FPExt, value, to);
        if src.negate { self.builder.unary(Unary::FNeg, value) } else { value }
    }

    /// `sel`: one source or the other by the predicate.
    pub fn chosen(&mut self, index: usize, a: Value, b: Value) -> Value {
        match self.plan.ops[index].predicate {
            Some(predicate) => {
                let mask = self.predicate(index, predicate);
                self.builder.select(mask, a, b)
            }
            None => a,
        }
    }

    /// Writes what a comparison has found.
    pub fn compared_to(&mut self, index: usize, holds: Value, mask: Value) {
        let op = &self.plan.ops[index];
        self.merge_flags(op.flag_bit.into(), holds, mask);
        if op.dst.target != Target::Null {
            let ones = self.builder.convert(Convert::SExt, holds, Scalar::Int((op.dst.ty.size() * 8) as u8));
            self.result(index, ones, mask);
        }
    }

    /// Writes an instruction's result, which may go to flags, where its mask says so.
    pub fn result(&mut self, index: usize, bits: Value, mask: Value) {
        let op = &self.plan.ops[index];
        if !self.plan.effects[index].definitions.is_empty() {
            return self.write_elements(index, 0, bits, Some(mask));
        }
        match op.dst.target {
            Target::Indirect { stride, .. } => self.write_indirect(index, stride, bits, mask),
            Target::Direct { offset, .. } if is_address(offset) => {
                let ty = self.builder.ty(bits);
                let old = self.builder.effect(Op::Get(offset as u16), &[], &[ty])[0];
                let new = self.builder.select(mask, bits, old);
                self.builder.effect(Op::Put(offset as u16), &[new], &[]);
            }
            Target::Direct { offset, .. } if is_flag(offset) => {
                // One channel writes all of them.
                let bits = self.builder.as_mask(bits);
                let all = self.builder.splat(mask, self.builder.ty(bits).lanes.into());
                self.merge_flags((offset - FLAG) * 8, bits, all);
            }
            Target::Direct { .. } | Target::Null => {}
        }
    }

    /// The first byte of a register-indirect destination, and the last that it may be.
    fn indirect_destination(&mut self, index: usize) -> Option<(Value, Value)> {
        let op = &self.plan.ops[index];
        let Target::Indirect { word, offset, stride } = op.dst.target else { return None };
        let channels = op.write_lanes & (u32::MAX >> (32 - u32::from(op.lanes)));
        let bytes = stride * channels.checked_ilog2().unwrap_or(0) as usize + op.dst.ty.size() as usize;
        let place = ADDRESS + usize::from(word) % ADDRESS_WORDS * 2;
        let base = self.builder.effect(Op::Get(place as u16), &[], &[Type::int(16, 1)])[0];
        let base = self.builder.resize(base, 32, false);
        let beyond = self.builder.int(Type::int(32, 1), i64::from(offset) as u64);
        let first = self.builder.binary(Binary::Add, base, beyond);
        Some((first, self.builder.int(Type::int(32, 1), (GRF_BYTES - bytes) as u64)))
    }

    /// Looks whether a register-indirect destination is within the registers. Where it is not, the interpreter has the text of the fault.
    pub fn check_destination(&mut self, index: usize) {
        let Some((first, last)) = self.indirect_destination(index) else { return };
        let outside = self.builder.compare(Relation::Ugt, first, last);
        let mask = self.mask(index);
        let somebody = self.builder.any(mask);
        let wrong = self.builder.binary(Binary::And, outside, somebody);
        self.refused_if(wrong, index);
    }

    fn write_indirect(&mut self, index: usize, stride: usize, bits: Value, mask: Value) {
        let Some((first, last)) = self.indirect_destination(index) else { return };
        // Without an enabled channel it may be out of bounds.
        let first = self.builder.binary(Binary::UMin, first, last);
        let lanes = usize::from(self.builder.ty(bits).lanes);
        let all = self.builder.splat(first, lanes);
        let steps = self.builder.ints(self.builder.ty(all), |lane| (lane * stride) as u64);
        let places = self.builder.binary(Binary::Add, all, steps);
        self.builder.effect(Op::Scatter, &[mask, places, bits], &[]);
    }
}
