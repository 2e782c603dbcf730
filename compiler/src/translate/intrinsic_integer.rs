//! LLVM's intrinsics on integers.
//!
//! Bits are counted in 32 bits, as in hardware; 64-bit minima and maxima use comparisons.

use super::Failure;
use super::translator::{Regs, Translator};
use super::types::{Scalar, scalar, signed};
use crate::ir::{BinaryOp, Condition, Reg, Type, UnaryOp};
use crate::llvm::view::{Module, TypeKind, Value};

impl<'m> Translator<'_, 'm> {
    pub fn integer_intrinsic(&mut self, name: &str, instruction: Value<'m>) -> Result<Regs, Failure> {
        let known = name.split_once(".v").map_or(name, |(known, _)| known);
        let known = known.rsplit_once(".i").map_or(known, |(known, _)| known);
        match known {
            "smin" => self.extreme(instruction, BinaryOp::Min, true),
            "smax" => self.extreme(instruction, BinaryOp::Max, true),
            "umin" => self.extreme(instruction, BinaryOp::Min, false),
            "umax" => self.extreme(instruction, BinaryOp::Max, false),
            "abs" => self.each(instruction, |this, scalar, operands| {
                let x = this.extended(scalar, operands[0], true);
                Ok(this.absolute(scalar.unsigned(), x))
            }),
            // On one bit, which LLVM's narrowing of operands can produce.
            "bitreverse" | "ctpop" | "ctlz" | "cttz"
                if scalar_of(self.module, instruction)? == Scalar::Bool =>
            {
                self.each(instruction, |this, _, operands| match known {
                    "bitreverse" | "ctpop" => Ok(operands[0]),
                    _ => Ok(this.unary(UnaryOp::Not, Type::Bool, operands[0])),
                })
            }
            "ctlz" => self.each(instruction, |this, scalar, operands| {
                let x = this.extended(scalar, operands[0], false);
                let zeros = this.leading_zeros(scalar.unsigned(), x);
                let spare = scalar.unsigned().bits() - scalar.bits();
                Ok(match spare {
                    0 => zeros,
                    _ => this.binary_constant(BinaryOp::Sub, scalar.unsigned(), zeros, spare.into()),
                })
            }),
            "cttz" => self.each(instruction, |this, scalar, operands| {
                Ok(this.trailing_zeros(scalar.unsigned(), scalar.bits(), operands[0]))
            }),
            "ctpop" => self.each(instruction, |this, scalar, operands| {
                let x = this.extended(scalar, operands[0], false);
                Ok(this.by_dwords(scalar.unsigned(), x, |this, low, high| {
                    let low = this.unary(UnaryOp::PopCount, Type::U32, low);
                    let Some(high) = high else { return low };
                    let high = this.unary(UnaryOp::PopCount, Type::U32, high);
                    this.binary(BinaryOp::Add, Type::U32, low, high)
                }))
            }),
            "bitreverse" => self.each(instruction, |this, scalar, operands| {
                let reversed = this.reverse_bits(scalar.unsigned(), operands[0]);
                let spare = scalar.unsigned().bits() - scalar.bits();
                Ok(match spare {
                    0 => reversed,
                    _ => this.binary_constant(BinaryOp::Shr, scalar.unsigned(), reversed, spare.into()),
                })
            }),
            "bswap" => self.each(instruction, |this, scalar, operands| {
                let ty = whole(scalar)?;
                let bytes = this.disassemble(operands[0], ty, 8, ty.bits() / 8);
                let turned: Regs = bytes.into_iter().rev().collect();
                Ok(this.assemble(&turned, 8, ty))
            }),
            "fshl" | "fshr" => self.each(instruction, |this, scalar, operands| {
                let ty = whole(scalar)?;
                Ok(this.funnel_shift(ty, operands[0], operands[1], operands[2], known == "fshl"))
            }),
            "sadd.sat" => self.saturating(instruction, BinaryOp::AddSat, true),
            "uadd.sat" => self.saturating(instruction, BinaryOp::AddSat, false),
            "ssub.sat" => self.saturating(instruction, BinaryOp::SubSat, true),
            "usub.sat" => self.saturating(instruction, BinaryOp::SubSat, false),
            "sadd.with.overflow" => self.with_overflow(instruction, BinaryOp::Add, true),
            "uadd.with.overflow" => self.with_overflow(instruction, BinaryOp::Add, false),
            "ssub.with.overflow" => self.with_overflow(instruction, BinaryOp::Sub, true),
            "usub.with.overflow" => self.with_overflow(instruction, BinaryOp::Sub, false),
            "smul.with.overflow" => self.with_overflow(instruction, BinaryOp::Mul, true),
            "umul.with.overflow" => self.with_overflow(instruction, BinaryOp::Mul, false),
            _ if known.starts_with("fptoui.sat") || known.starts_with("fptosi.sat") => {
                let is_signed = known.starts_with("fptosi");
                let source = scalar_of(self.module, instruction.operand(0))?;
                self.each(instruction, |this, scalar, operands| {
                    whole(scalar)?;
                    let to = if is_signed { scalar.signed() } else { scalar.unsigned() };
                    Ok(this.convert_saturated(to, source.arithmetic(), operands[0]))
                })
            }
            _ if known.starts_with("vector.reduce.") => self.reduce(known, instruction),
            _ => Err(Failure::new(format!("the operation {name} is not supported"))),
        }
    }

    fn extreme(&mut self, instruction: Value<'m>, op: BinaryOp, is_signed: bool) -> Result<Regs, Failure> {
        self.each(instruction, |this, scalar, operands| {
            let a = this.extended(scalar, operands[0], is_signed);
            let b = this.extended(scalar, operands[1], is_signed);
            Ok(this.integer_extreme(op, scalar, is_signed, a, b))
        })
    }

    fn integer_extreme(&mut self, op: BinaryOp, scalar: Scalar, is_signed: bool, a: Reg, b: Reg) -> Reg {
        let ty = if is_signed { scalar.signed() } else { scalar.unsigned() };
        if ty.bits() < 64 {
            return self.binary(op, ty, a, b);
        }
        let condition = if op == BinaryOp::Min { Condition::Less } else { Condition::Greater };
        let first = self.compare(condition, ty, a, b);
        self.select(ty, first, a, b)
    }

    fn absolute(&mut self, ty: Type, x: Reg) -> Reg {
        if ty.bits() < 64 {
            return self.unary(UnaryOp::Abs, signed(ty), x);
        }
        let mask = self.sign_mask(ty, x);
        let flipped = self.binary(BinaryOp::Xor, ty, x, mask);
        self.binary(BinaryOp::Sub, ty, flipped, mask)
    }

    /// Splits an integer into its low and, of 64 bits, high half; the 32-bit result becomes an integer of its
    /// type.
    fn by_dwords(&mut self, ty: Type, x: Reg, act: impl FnOnce(&mut Self, Reg, Option<Reg>) -> Reg) -> Reg {
        let result = if ty == Type::U64 {
            let halves = self.disassemble(x, ty, 32, 2);
            act(self, halves[0], Some(halves[1]))
        } else {
            let x = self.width_changed(ty, Type::U32, x);
            act(self, x, None)
        };
        self.width_changed(Type::U32, ty, result)
    }

    fn leading_zeros(&mut self, ty: Type, x: Reg) -> Reg {
        self.by_dwords(ty, x, |this, low, high| {
            let zeros = this.unary(UnaryOp::LeadingZeros, Type::U32, low);
            match high {
                Some(high) => {
                    let below = this.binary_constant(BinaryOp::Add, Type::U32, zeros, 32);
                    let above = this.unary(UnaryOp::LeadingZeros, Type::U32, high);
                    let zero = this.immediate(Type::U32, 0);
                    let empty = this.compare(Condition::Equal, Type::U32, high, zero);
                    this.select(Type::U32, empty, below, above)
                }
                None if ty == Type::U32 => zeros,
                None => this.binary_constant(BinaryOp::Sub, Type::U32, zeros, u64::from(32 - ty.bits())),
            }
        })
    }

    fn trailing_zeros(&mut self, ty: Type, bits: u32, x: Reg) -> Reg {
        self.by_dwords(ty, x, |this, low, high| {
            let Some(high) = high else {
                // A set bit above the value's width limits the count.
                let low = match bits {
                    32 => low,
                    bits => this.binary_constant(BinaryOp::Or, Type::U32, low, 1 << bits),
                };
                return this.unary(UnaryOp::TrailingZeros, Type::U32, low);
            };
            let high = match bits {
                64 => high,
                bits => this.binary_constant(BinaryOp::Or, Type::U32, high, 1 << (bits - 32)),
            };
            let above = this.unary(UnaryOp::TrailingZeros, Type::U32, high);
            let above = this.binary_constant(BinaryOp::Add, Type::U32, above, 32);
            let below = this.unary(UnaryOp::TrailingZeros, Type::U32, low);
            let zero = this.immediate(Type::U32, 0);
            let empty = this.compare(Condition::Equal, Type::U32, low, zero);
            this.select(Type::U32, empty, above, below)
        })
    }

    fn reverse_bits(&mut self, ty: Type, x: Reg) -> Reg {
        if ty == Type::U64 {
            let halves = self.disassemble(x, ty, 32, 2);
            let low = self.unary(UnaryOp::BitReverse, Type::U32, halves[1]);
            let high = self.unary(UnaryOp::BitReverse, Type::U32, halves[0]);
            return self.assemble(&[low, high], 32, ty);
        }
        let wide = self.width_changed(ty, Type::U32, x);
        let reversed = self.unary(UnaryOp::BitReverse, Type::U32, wide);
        if ty == Type::U32 {
            return reversed;
        }
        let low = self.binary_constant(BinaryOp::Shr, Type::U32, reversed, u64::from(32 - ty.bits()));
        self.width_changed(Type::U32, ty, low)
    }

    /// The high (`left`) or low word of a:b shifted by c modulo the width.
    fn funnel_shift(&mut self, ty: Type, a: Reg, b: Reg, c: Reg, left: bool) -> Reg {
        // Shift amounts are modulo the width, so that the complement of c is width - 1 - c. The remaining bit
        // is shifted before, because a shift by width - c would be wrong for c = 0.
        let complement = self.unary(UnaryOp::Not, ty, c);
        let (high, low) = if left {
            let high = self.binary(BinaryOp::Shl, ty, a, c);
            let low = self.binary_constant(BinaryOp::Shr, ty, b, 1);
            (high, self.binary(BinaryOp::Shr, ty, low, complement))
        } else {
            let high = self.binary_constant(BinaryOp::Shl, ty, a, 1);
            (self.binary(BinaryOp::Shl, ty, high, complement), self.binary(BinaryOp::Shr, ty, b, c))
        };
        self.binary(BinaryOp::Or, ty, high, low)
    }

    fn saturating(&mut self, instruction: Value<'m>, op: BinaryOp, is_signed: bool) -> Result<Regs, Failure> {
        self.each(instruction, |this, scalar, operands| {
            let ty = whole(scalar)?;
            let (a, b) = (operands[0], operands[1]);
            if ty.bits() < 64 {
                return Ok(this.binary(op, if is_signed { signed(ty) } else { ty }, a, b));
            }
            let plain = if op == BinaryOp::AddSat { BinaryOp::Add } else { BinaryOp::Sub };
            let (result, overflow) = this.overflowing(ty, plain, is_signed, a, b);
            let limit = if is_signed {
                // The most positive value, or the most negative one where a is negative.
                let mask = this.sign_mask(ty, a);
                this.binary_constant(BinaryOp::Xor, ty, mask, ty.mask() >> 1)
            } else {
                this.immediate(ty, if plain == BinaryOp::Add { ty.mask() } else { 0 })
            };
            Ok(this.select(ty, overflow, limit, result))
        })
    }

    /// The result is a structure of value and overflow.
    fn with_overflow(
        &mut self,
        instruction: Value<'m>,
        op: BinaryOp,
        is_signed: bool,
    ) -> Result<Regs, Failure> {
        let operands = [instruction.operand(0), instruction.operand(1)];
        let ty = match scalar(self.module, operands[0].ty()) {
            Ok(scalar) => whole(scalar)?,
            Err(_) => return Err(Failure::new("overflow of vectors is not supported")),
        };
        let (a, b) = (self.one(operands[0])?, self.one(operands[1])?);
        let (result, overflow) = self.overflowing(ty, op, is_signed, a, b);
        Ok(Regs::from_slice(&[result, overflow]))
    }

    /// a op b, and whether that does not fit.
    fn overflowing(&mut self, ty: Type, op: BinaryOp, is_signed: bool, a: Reg, b: Reg) -> (Reg, Reg) {
        let result = self.binary(op, ty, a, b);
        let overflow = match (op, is_signed) {
            (BinaryOp::Add, false) => self.compare(Condition::Less, ty, result, a),
            (BinaryOp::Sub, false) => self.compare(Condition::Less, ty, a, b),
            (BinaryOp::Add, true) => {
                // Both operands have the opposite sign of the result.
                let (x, y) =
                    (self.binary(BinaryOp::Xor, ty, a, result), self.binary(BinaryOp::Xor, ty, b, result));
                self.both_negative(ty, x, y)
            }
            (BinaryOp::Sub, true) => {
                let (x, y) =
                    (self.binary(BinaryOp::Xor, ty, a, b), self.binary(BinaryOp::Xor, ty, a, result));
                self.both_negative(ty, x, y)
            }
            (_, false) => {
                let high = self.binary(BinaryOp::MulHigh, ty, a, b);
                let zero = self.immediate(ty, 0);
                self.compare(Condition::NotEqual, ty, high, zero)
            }
            (_, true) => {
                let high = self.binary(BinaryOp::MulHigh, signed(ty), a, b);
                let sign = self.sign_mask(ty, result);
                self.compare(Condition::NotEqual, ty, high, sign)
            }
        };
        (result, overflow)
    }

    fn both_negative(&mut self, ty: Type, a: Reg, b: Reg) -> Reg {
        let both = self.binary(BinaryOp::And, ty, a, b);
        let zero = self.immediate(signed(ty), 0);
        self.compare(Condition::Less, signed(ty), both, zero)
    }

    /// `vector.reduce.*`: combines all elements from the first to the last.
    fn reduce(&mut self, name: &str, instruction: Value<'m>) -> Result<Regs, Failure> {
        let scalar = scalar(self.module, instruction.ty())?;
        let arguments = instruction.call_arguments();
        let mut elements = Regs::new();
        for argument in arguments {
            elements.extend(self.value(argument)?);
        }
        let kind = name.trim_start_matches("vector.reduce.");
        let mut result = elements[0];
        for &element in &elements[1..] {
            let ty = scalar.unsigned();
            result = match kind {
                "add" => self.binary(BinaryOp::Add, ty, result, element),
                "mul" => self.binary(BinaryOp::Mul, ty, result, element),
                "and" => self.binary(BinaryOp::And, ty, result, element),
                "or" => self.binary(BinaryOp::Or, ty, result, element),
                "xor" => self.binary(BinaryOp::Xor, ty, result, element),
                "smin" => self.integer_extreme(BinaryOp::Min, scalar, true, result, element),
                "smax" => self.integer_extreme(BinaryOp::Max, scalar, true, result, element),
                "umin" => self.integer_extreme(BinaryOp::Min, scalar, false, result, element),
                "umax" => self.integer_extreme(BinaryOp::Max, scalar, false, result, element),
                "fadd" => self.binary(BinaryOp::Add, scalar.arithmetic(), result, element),
                "fmul" => self.binary(BinaryOp::Mul, scalar.arithmetic(), result, element),
                _ => return Err(Failure::new(format!("the operation {name} is not supported"))),
            };
        }
        Ok(Regs::from_elem(result, 1))
    }
}

/// The type of an integer that fills its register.
fn whole(scalar: Scalar) -> Result<Type, Failure> {
    let ty = scalar.unsigned();
    if ty.bits() == scalar.bits() && scalar != Scalar::Bool {
        return Ok(ty);
    }
    Err(Failure::new(format!("this operation on integers of {} bits is not supported", scalar.bits())))
}

/// The scalar type of a value, or of its elements.
fn scalar_of(module: Module, value: Value) -> Result<Scalar, Failure> {
    match value.ty().kind() {
        TypeKind::Vector(_, element) => scalar(module, element),
        _ => scalar(module, value.ty()),
    }
}
