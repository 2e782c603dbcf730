//! LLVM's intrinsics on floats, and those without effect.

use super::Failure;
use super::translator::{Regs, Translator};
use super::types::Scalar;
use crate::ir::{BinaryOp, Condition, Reg, TernaryOp, Type, UnaryOp};
use crate::llvm::view::Value;

/// Intrinsics without effect on the result: hints for LLVM's passes, and debug information.
const IGNORED: &[&str] = &[
    "assume",
    "lifetime.start",
    "lifetime.end",
    "invariant.start",
    "invariant.end",
    "experimental.noalias.scope.decl",
    "dbg.declare",
    "dbg.value",
    "dbg.label",
    "dbg.assign",
    "prefetch",
    "donothing",
    "sideeffect",
];

const FLOAT_UNARY: &[(&str, UnaryOp)] = &[
    ("fabs", UnaryOp::Abs),
    ("floor", UnaryOp::Floor),
    ("ceil", UnaryOp::Ceil),
    ("trunc", UnaryOp::Trunc),
    ("rint", UnaryOp::RoundEven),
    ("nearbyint", UnaryOp::RoundEven),
    ("roundeven", UnaryOp::RoundEven),
    ("sqrt", UnaryOp::Sqrt),
    ("exp2", UnaryOp::Exp2),
    ("log2", UnaryOp::Log2),
    ("sin", UnaryOp::Sin),
    ("cos", UnaryOp::Cos),
    ("canonicalize", UnaryOp::Canonicalize),
];

const FLOAT_BINARY: &[(&str, BinaryOp)] =
    &[("minnum", BinaryOp::Min), ("maxnum", BinaryOp::Max), ("pow", BinaryOp::Pow)];

impl<'m> Translator<'_, 'm> {
    /// Translates an intrinsic, given its name without `llvm.`: the operation, followed by types.
    pub fn intrinsic(&mut self, name: &str, instruction: Value<'m>) -> Result<Regs, Failure> {
        let is = |known: &str| {
            name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if IGNORED.iter().any(|known| is(known)) {
            return Ok(Regs::new());
        }
        if let Some((_, op)) = FLOAT_UNARY.iter().find(|(known, _)| is(known)) {
            return self.each(instruction, |this, scalar, operands| {
                Ok(this.unary(*op, scalar.arithmetic(), operands[0]))
            });
        }
        if let Some((_, op)) = FLOAT_BINARY.iter().find(|(known, _)| is(known)) {
            return self.each(instruction, |this, scalar, operands| {
                Ok(this.binary(*op, scalar.arithmetic(), operands[0], operands[1]))
            });
        }
        if is("fma") || is("fmuladd") {
            return self.each(instruction, |this, scalar, operands| {
                Ok(this.ternary(TernaryOp::Mad, scalar.arithmetic(), operands[0], operands[1], operands[2]))
            });
        }
        if is("copysign") {
            return self.each(instruction, |this, scalar, operands| {
                Ok(this.copy_sign(scalar.unsigned(), operands[0], operands[1]))
            });
        }
        if is("round") {
            return self
                .each(instruction, |this, scalar, operands| Ok(this.round_half_away(scalar, operands[0])));
        }
        if is("minimum") || is("maximum") {
            let op = if is("minimum") { BinaryOp::Min } else { BinaryOp::Max };
            return self.each(instruction, |this, scalar, operands| {
                Ok(this.extreme_or_nan(op, scalar.arithmetic(), operands[0], operands[1]))
            });
        }
        if is("is.fpclass") {
            let mask = instruction.operand(1).integer().unwrap_or(0);
            let scalars = self.scalars(instruction.operand(0))?;
            let operands = self.value(instruction.operand(0))?;
            let mut result = Regs::new();
            for (&operand, scalar) in operands.iter().zip(scalars) {
                result.push(self.float_class(scalar, operand, mask)?);
            }
            return Ok(result);
        }
        if is("expect") || is("arithmetic.fence") {
            return self.value(instruction.operand(0));
        }
        if is("memcpy") || is("memmove") || is("memcpy.inline") {
            return self.copy_memory(instruction, is("memmove"));
        }
        if is("memset") || is("memset.inline") {
            return self.set_memory(instruction);
        }
        self.integer_intrinsic(name, instruction)
    }

    /// Translates an operation element by element; an argument that is not a vector is used for all elements.
    pub fn each(
        &mut self,
        instruction: Value<'m>,
        mut act: impl FnMut(&mut Self, Scalar, &[Reg]) -> Result<Reg, Failure>,
    ) -> Result<Regs, Failure> {
        let scalars = self.scalars(instruction)?;
        let mut arguments = Vec::new();
        for argument in instruction.call_arguments() {
            arguments.push(self.value(argument)?);
        }
        let mut result = Regs::new();
        for (i, scalar) in scalars.into_iter().enumerate() {
            let operands: Regs =
                arguments.iter().map(|a| a.get(i).or(a.first()).copied().unwrap_or(Reg(0))).collect();
            result.push(act(self, scalar, &operands)?);
        }
        Ok(result)
    }

    /// The magnitude of one float with the sign of another, as integers.
    pub fn copy_sign(&mut self, ty: Type, magnitude: Reg, sign: Reg) -> Reg {
        let bit = 1 << (ty.bits() - 1);
        let magnitude = self.binary_constant(BinaryOp::And, ty, magnitude, bit - 1);
        let sign = self.binary_constant(BinaryOp::And, ty, sign, bit);
        self.binary(BinaryOp::Or, ty, magnitude, sign)
    }

    /// To nearest, ties away from zero.
    fn round_half_away(&mut self, scalar: Scalar, x: Reg) -> Reg {
        let ty = scalar.arithmetic();
        let whole = self.unary(UnaryOp::Trunc, ty, x);
        let rest = self.binary(BinaryOp::Sub, ty, x, whole);
        let rest = self.unary(UnaryOp::Abs, ty, rest);
        let (half, one, zero) = float_constants(ty);
        let (half, one, zero) = (self.immediate(ty, half), self.immediate(ty, one), self.immediate(ty, zero));
        let up = self.compare(Condition::GreaterEqual, ty, rest, half);
        let step = self.select(ty, up, one, zero);
        let step = self.copy_sign(scalar.unsigned(), step, x);
        let sum = self.binary(BinaryOp::Add, ty, whole, step);
        // -0.3 rounds to -0.
        self.copy_sign(scalar.unsigned(), sum, x)
    }

    /// Minimum or maximum that is NaN when one operand is.
    fn extreme_or_nan(&mut self, op: BinaryOp, ty: Type, a: Reg, b: Reg) -> Reg {
        let extreme = self.binary(op, ty, a, b);
        let a_is_nan = self.compare(Condition::NotEqual, ty, a, a);
        let b_is_nan = self.compare(Condition::NotEqual, ty, b, b);
        let or_b = self.select(ty, b_is_nan, b, extreme);
        self.select(ty, a_is_nan, a, or_b)
    }

    /// Whether a float is in one of the classes of LLVM's mask.
    fn float_class(&mut self, scalar: Scalar, x: Reg, mask: u64) -> Result<Reg, Failure> {
        let (ty, digits) = match scalar {
            Scalar::Half => (Type::U16, 10),
            Scalar::Float => (Type::U32, 23),
            Scalar::Double => (Type::U64, 52),
            _ => return Err(Failure::new("a class test of a value that is not a float")),
        };
        // First and last bit pattern of each class: signalling NaN, quiet NaN, -inf, negative normal,
        // subnormal, zero, positive zero, subnormal, normal, +inf. NaNs have two ranges, one for each sign.
        let sign = 1u64 << (ty.bits() - 1);
        let infinity = (sign - 1) >> digits << digits;
        let (normal, quiet) = (1u64 << digits, infinity | 1 << (digits - 1));
        let classes: [&[(u64, u64)]; 10] = [
            &[(infinity + 1, quiet - 1), (sign | (infinity + 1), sign | (quiet - 1))],
            &[(quiet, sign - 1), (sign | quiet, ty.mask())],
            &[(sign | infinity, sign | infinity)],
            &[(sign | normal, sign | (infinity - 1))],
            &[(sign | 1, sign | (normal - 1))],
            &[(sign, sign)],
            &[(0, 0)],
            &[(1, normal - 1)],
            &[(normal, infinity - 1)],
            &[(infinity, infinity)],
        ];
        let chosen = classes.iter().enumerate().filter(|(bit, _)| mask & (1 << bit) != 0);
        let mut ranges: Vec<(u64, u64)> = chosen.flat_map(|(_, ranges)| ranges.iter().copied()).collect();
        ranges.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(before) if before.1 + 1 == first => before.1 = last,
                _ => merged.push((first, last)),
            }
        }
        let mut result = self.immediate(Type::Bool, 0);
        for (index, (first, last)) in merged.into_iter().enumerate() {
            let above = self.binary_constant(BinaryOp::Sub, ty, x, first);
            let width = self.immediate(ty, last - first);
            let inside = self.compare(Condition::LessEqual, ty, above, width);
            result = if index == 0 { inside } else { self.binary(BinaryOp::Or, Type::Bool, result, inside) };
        }
        Ok(result)
    }
}

/// 0.5, 1 and 0.
fn float_constants(ty: Type) -> (u64, u64, u64) {
    match ty {
        Type::F16 => (0x3800, 0x3c00, 0),
        Type::F32 => (0.5f32.to_bits().into(), 1f32.to_bits().into(), 0),
        _ => (0.5f64.to_bits(), 1f64.to_bits(), 0),
    }
}
