//! Arithmetic and logic.

use super::arithmetic64::Bits;
use super::{Failure, Selector, machine_type, one, unsigned};
use crate::codegen::operand::{Dest, Operation, Val};
use crate::ir::{BinaryOp, Instruction, Reg, TernaryOp, Type as IrType, UnaryOp};
use gencl_isa::{Condition, MathFunction, Opcode, Type};

/// Operations with two sources that are one instruction, and whether they are commutative.
const PLAIN_BINARY: &[(BinaryOp, Opcode, bool)] = &[
    (BinaryOp::Add, Opcode::Add, true),
    (BinaryOp::Mul, Opcode::Mul, true),
    (BinaryOp::And, Opcode::And, true),
    (BinaryOp::Or, Opcode::Or, true),
    (BinaryOp::Xor, Opcode::Xor, true),
];

fn is_byte(ty: Type) -> bool {
    matches!(ty, Type::B | Type::UB)
}

/// A constant 64-bit operand as an immediate of at most 32 bits that extends to it, if there is one.
fn narrowed(v: Val) -> Option<Val> {
    let value = v.extended()?;
    if v.ty.is_float() {
        return None;
    }
    if let Ok(signed) = i32::try_from(value) {
        return Some(Val::imm(signed as u32 as u64, Type::D));
    }
    u32::try_from(value).ok().map(|u| Val::imm(u64::from(u), Type::UD))
}

impl Selector<'_> {
    /// A value as a second source: a constant becomes an immediate of at most 32 bits, or else a scalar
    /// register.
    pub fn as_second_source(&mut self, v: Val) -> Val {
        if v.constant().is_none() {
            return v;
        }
        if v.ty.size() < 8 {
            return v;
        }
        match narrowed(v) {
            Some(small) => Val { negate: v.negate, abs: v.abs, ..small },
            None => self.materialize(v),
        }
    }

    /// Emits an operation on two sources, with a constant as source 1 if possible, else in a register.
    pub fn binary_op(&mut self, operation: Operation, commutative: bool, dst: Dest, a: Val, b: Val) {
        let (a, b) = match (a.constant(), b.constant()) {
            (Some(_), None) if commutative => (b, a),
            _ => (a, b),
        };
        let a = self.materialize(a);
        let b = if b.negate || b.abs { self.materialize(b) } else { self.as_second_source(b) };
        self.b.op(operation, dst, &[a, b]);
    }

    /// The destination of a wrapping operation: bytes are computed as words, whose low byte is the result.
    fn wrapping(&mut self, reg: Reg, ty: Type) -> Result<Dest, Failure> {
        self.dest(reg, if is_byte(ty) { Type::UW } else { ty })
    }

    /// A value as 32 bits, extended by its type.
    fn widened(&mut self, v: Val, ty: Type) -> Val {
        if let Some(value) = v.extended() {
            return Val::imm(value as u32 as u64, ty);
        }
        let d = self.b.temporary(v.scalar(), ty);
        self.b.mov(d, v);
        d.val()
    }

    /// Operations with one source.
    pub fn unary(&mut self, op: UnaryOp, ty: IrType, i: &Instruction) -> Result<(), Failure> {
        let machine = machine_type(ty)?;
        let (dst, [src]) = (i.result(), i.sources());
        if let Some(result) = self.float_unary(op, ty, i) {
            return result;
        }
        match op {
            UnaryOp::Mov => self.copy(dst, src, machine),
            UnaryOp::Not => {
                let v = self.val(src, unsigned(machine.size()))?;
                let v = if machine.size() == 8 { self.materialize(v) } else { v };
                let d = self.wrapping(dst, unsigned(machine.size()))?;
                self.b.op(Operation::new(Opcode::Not), d, &[v]);
                Ok(())
            }
            UnaryOp::Neg => {
                let v = self.val(src, machine)?;
                let v = self.materialize(v);
                let d = self.wrapping(dst, machine)?;
                self.b.mov(d, v.negated());
                Ok(())
            }
            UnaryOp::Abs => {
                let v = self.val(src, machine)?;
                let v = self.materialize(v);
                let d = self.wrapping(dst, machine)?;
                let signed = machine.is_signed() || machine.is_float();
                self.b.mov(d, Val { abs: signed, ..v });
                Ok(())
            }
            UnaryOp::Canonicalize => {
                let v = self.val(src, machine)?;
                let d = self.dest(dst, machine)?;
                self.binary_op(Operation::new(Opcode::Mul), true, d, v, Val::imm(one(ty), machine));
                Ok(())
            }
            UnaryOp::LeadingZeros => self.bits(Bits::LeadingZeros, machine, dst, src),
            UnaryOp::TrailingZeros => self.bits(Bits::TrailingZeros, machine, dst, src),
            UnaryOp::PopCount => self.bits(Bits::Count, machine, dst, src),
            UnaryOp::BitReverse => self.bits(Bits::Reverse, machine, dst, src),
            UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Trunc
            | UnaryOp::RoundEven
            | UnaryOp::Rcp
            | UnaryOp::Rsqrt
            | UnaryOp::Sqrt
            | UnaryOp::Exp2
            | UnaryOp::Log2
            | UnaryOp::Sin
            | UnaryOp::Cos => Err(Failure::internal("no row in the table of float operations")),
        }
    }

    /// A copy of bits.
    fn copy(&mut self, dst: Reg, src: Reg, ty: Type) -> Result<(), Failure> {
        let ty = unsigned(ty.size());
        let v = self.val(src, ty)?;
        let d = self.dest(dst, ty)?;
        self.b.mov(d, v);
        Ok(())
    }

    /// dst = constant, if the register has other definitions as well.
    pub fn immediate(&mut self, i: &Instruction, ty: IrType, bits: u64) -> Result<(), Failure> {
        let dst = i.result();
        if ty == IrType::Bool {
            let mask = if bits & 1 != 0 { self.dispatch_mask()? } else { self.no_lanes() };
            return self.assign_constant_truth(i, mask);
        }
        let size = machine_type(ty)?.size();
        let d = self.dest(dst, if size == 1 { Type::UW } else { unsigned(size) })?;
        self.b.mov(d, Val::imm(bits, d.ty));
        Ok(())
    }

    /// Counting and reversing bits.
    fn bits(&mut self, op: Bits, ty: Type, dst: Reg, src: Reg) -> Result<(), Failure> {
        let ty = unsigned(ty.size());
        let v = self.val(src, ty)?;
        let d = self.dest(dst, ty)?;
        if ty.size() == 8 {
            let v = self.materialize(v);
            self.bits64(op, d, v);
            return Ok(());
        }
        let width = 8 * ty.size();
        let spare = u64::from(32 - width);
        let v = if ty.size() < 4 || v.constant().is_some() {
            let wide = self.widened(v, Type::UD);
            self.materialize(wide)
        } else {
            v
        };
        let t = if ty.size() < 4 { self.b.temporary(d.scalar(), Type::UD) } else { d };
        match op {
            Bits::Count => self.b.op(Operation::new(Opcode::Cbit), t, &[v]),
            Bits::LeadingZeros => {
                self.b.op(Operation::new(Opcode::Lzd), t, &[v]);
                if spare > 0 {
                    let less = Val::imm(spare.wrapping_neg(), Type::D);
                    self.b.op(Operation::new(Opcode::Add), t, &[t.val(), less]);
                }
            }
            Bits::TrailingZeros => {
                let mut v = v;
                if spare > 0 {
                    // A one just above makes the width the result for 0.
                    self.b.op(Operation::new(Opcode::Or), t, &[v, Val::imm(1 << width, Type::UD)]);
                    v = t.val();
                }
                self.find_first_set(t, v);
            }
            Bits::Reverse => {
                self.b.op(Operation::new(Opcode::Bfrev), t, &[v]);
                if spare > 0 {
                    self.b.op(Operation::new(Opcode::Shr), t, &[t.val(), Val::imm(spare, Type::UD)]);
                }
            }
        }
        if ty.size() < 4 {
            self.b.mov(d, t.val().cast(ty));
        }
        Ok(())
    }

    /// Index of the lowest set bit of 32; 32 for 0, for which `fbl` returns all ones.
    pub fn find_first_set(&mut self, d: Dest, v: Val) {
        self.b.op(Operation::new(Opcode::Fbl), d, &[v]);
        self.b.op(Operation::choose(Condition::Less), d, &[d.val(), Val::imm(32, Type::UD)]);
    }

    /// Operations with two sources.
    pub fn binary(&mut self, op: BinaryOp, ty: IrType, i: &Instruction) -> Result<(), Failure> {
        let machine = machine_type(ty)?;
        let (dst, [a, b]) = (i.result(), i.sources());
        let (a, b) = (self.val(a, machine)?, self.val(b, machine)?);
        let wide = machine.size() == 8 && !machine.is_float();
        let float = machine.is_float();
        let refused = || Err(Failure::unsupported(format!("{op:?} of {ty:?}")));
        match op {
            BinaryOp::Mul | BinaryOp::MulHigh if wide => {
                let (a, b) = (self.materialize(a), self.materialize(b));
                let d = self.dest(dst, machine)?;
                if op == BinaryOp::Mul {
                    self.mul64(d, a, b)
                } else {
                    self.mul_high64(d, a, b)
                }
                Ok(())
            }
            BinaryOp::Mul if !float && machine.size() == 4 => {
                let d = self.dest(dst, machine)?;
                self.multiply(d, a, b);
                Ok(())
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor if float => refused(),
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                let Some((_, opcode, commutative)) = PLAIN_BINARY.iter().find(|(o, ..)| *o == op) else {
                    return refused();
                };
                let d = self.wrapping(dst, machine)?;
                self.binary_op(Operation::new(*opcode), *commutative, d, a, b);
                Ok(())
            }
            BinaryOp::Sub => {
                let d = self.wrapping(dst, machine)?;
                self.subtract(d, a, b);
                Ok(())
            }
            BinaryOp::MulHigh if float => refused(),
            BinaryOp::MulHigh => self.mul_high(machine, dst, a, b),
            BinaryOp::FastDiv if machine == Type::F => self.math2(MathFunction::Fdiv, dst, machine, a, b),
            BinaryOp::Pow if machine == Type::F => self.math2(MathFunction::Pow, dst, machine, a, b),
            BinaryOp::Div | BinaryOp::Rem if !float && !wide => self.divide(op, machine, dst, a, b),
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::FastDiv => refused(),
            BinaryOp::Shl | BinaryOp::Shr if float => refused(),
            BinaryOp::Shl => self.shift(Opcode::Shl, machine, dst, a, b),
            BinaryOp::Shr => {
                let opcode = if machine.is_signed() { Opcode::Asr } else { Opcode::Shr };
                self.shift(opcode, machine, dst, a, b)
            }
            BinaryOp::Min | BinaryOp::Max => {
                let condition = if op == BinaryOp::Min { Condition::Less } else { Condition::GreaterEqual };
                let d = self.dest(dst, machine)?;
                self.binary_op(Operation::choose(condition), true, d, a, b);
                Ok(())
            }
            BinaryOp::AddSat | BinaryOp::SubSat if float => refused(),
            BinaryOp::AddSat | BinaryOp::SubSat if wide => {
                let (a, b) = (self.materialize(a), self.materialize(b));
                let d = self.dest(dst, machine)?;
                self.saturating64(op == BinaryOp::SubSat, d, a, b)
            }
            BinaryOp::AddSat => {
                let d = self.dest(dst, machine)?;
                self.binary_op(Operation::new(Opcode::Add).saturating(), true, d, a, b);
                Ok(())
            }
            BinaryOp::SubSat => self.subtract_saturating(machine, dst, a, b),
            BinaryOp::Avg if float || wide => refused(),
            BinaryOp::Avg => {
                let d = self.dest(dst, machine)?;
                self.binary_op(Operation::new(Opcode::Avg), true, d, a, b);
                Ok(())
            }
        }
    }

    fn subtract(&mut self, d: Dest, a: Val, b: Val) {
        let add = Operation::new(Opcode::Add);
        match b.extended() {
            // a - constant is a + -constant.
            Some(value) if !b.ty.is_float() => {
                let opposite = Val::imm((value as u64).wrapping_neg(), b.ty);
                self.binary_op(add, true, d, a, opposite);
            }
            Some(_) => {
                let sign = 1u64 << (8 * b.ty.size() - 1);
                let opposite = Val::imm(b.constant().unwrap_or(0) ^ sign, b.ty);
                self.binary_op(add, true, d, a, opposite);
            }
            // A constant must be source 1.
            None if a.constant().is_some() => self.binary_op(add, true, d, a, b.negated()),
            None => self.b.op(add, d, &[a, b.negated()]),
        }
    }

    /// Unsigned: max(a, b) - b cannot wrap. Signed: `.sat`.
    fn subtract_saturating(&mut self, ty: Type, dst: Reg, a: Val, b: Val) -> Result<(), Failure> {
        let b = self.materialize(b);
        let a = self.materialize(a);
        let d = self.dest(dst, ty)?;
        if ty.is_signed() {
            self.b.op(Operation::new(Opcode::Add).saturating(), d, &[a, b.negated()]);
            return Ok(());
        }
        let t = self.b.temporary(d.scalar(), ty);
        self.b.op(Operation::choose(Condition::GreaterEqual), t, &[a, b]);
        let d = self.wrapping(dst, ty)?;
        self.b.op(Operation::new(Opcode::Add), d, &[t.val(), b.negated()]);
        Ok(())
    }

    fn shift(&mut self, opcode: Opcode, ty: Type, dst: Reg, a: Val, count: Val) -> Result<(), Failure> {
        let width = 8 * u64::from(ty.size());
        let count = match count.constant() {
            Some(bits) => Val::imm(bits % width, Type::UW),
            // The hardware uses the low 5 bits of the amount, 6 for quadwords.
            None if width >= 32 => count.cast(Type::UD),
            None => {
                let t = self.b.temporary(count.scalar(), Type::UW);
                let count = count.cast(unsigned(ty.size()));
                self.b.op(Operation::new(Opcode::And), t, &[count, Val::imm(width - 1, Type::UW)]);
                t.val()
            }
        };
        let a = self.materialize(a);
        let d = self.wrapping(dst, ty)?;
        self.b.op(Operation::new(opcode), d, &[a, count]);
        Ok(())
    }

    fn math2(&mut self, f: MathFunction, dst: Reg, ty: Type, a: Val, b: Val) -> Result<(), Failure> {
        let (a, b) = (self.materialize(a), self.materialize(b));
        let d = self.dest(dst, ty)?;
        self.b.op(Operation::math(f), d, &[a, b]);
        Ok(())
    }

    /// The MATH unit divides 32-bit integers, 8 lanes at a time.
    fn divide(&mut self, op: BinaryOp, ty: Type, dst: Reg, a: Val, b: Val) -> Result<(), Failure> {
        let wide = if ty.is_signed() { Type::D } else { Type::UD };
        let (a, b) = if ty.size() < 4 { (self.widened(a, wide), self.widened(b, wide)) } else { (a, b) };
        let (a, b) = (self.materialize(a), self.materialize(b));
        let function =
            if op == BinaryOp::Div { MathFunction::IntDivQuotient } else { MathFunction::IntDivRemainder };
        let operation = Operation { lanes: 8, ..Operation::math(function) };
        let d = self.dest(dst, ty)?;
        if ty.size() == 4 {
            self.b.op(operation, d, &[a, b]);
            return Ok(());
        }
        let t = self.b.temporary(d.scalar(), wide);
        self.b.op(operation, t, &[a, b]);
        self.b.mov(d.cast(unsigned(ty.size())), t.val().cast(unsigned(ty.size())));
        Ok(())
    }

    /// Operations with three sources.
    pub fn ternary(&mut self, op: TernaryOp, ty: IrType, i: &Instruction) -> Result<(), Failure> {
        let machine = machine_type(ty)?;
        let (dst, [a, b, c]) = (i.result(), i.sources());
        match op {
            TernaryOp::Mad if machine.is_float() => self.float_mad(machine, i),
            TernaryOp::Mad => {
                let (a, b) = (self.val(a, machine)?, self.val(b, machine)?);
                let c = self.val(c, machine)?;
                let d = self.wrapping(dst, machine)?;
                let t = self.b.temporary(d.scalar(), d.ty);
                if machine.size() == 8 {
                    let (a, b) = (self.materialize(a), self.materialize(b));
                    self.mul64(t, a, b);
                } else if machine.size() == 4 {
                    self.multiply(t, a, b);
                } else {
                    self.binary_op(Operation::new(Opcode::Mul), true, t, a, b);
                }
                self.binary_op(Operation::new(Opcode::Add), true, d, t.val(), c);
                Ok(())
            }
            TernaryOp::BitSelect => {
                let ty = unsigned(machine.size());
                let a = self.val(a, ty)?;
                let a = self.materialize(a);
                let (b, c) = (self.val(b, ty)?, self.val(c, ty)?);
                // c ^ (a & (b ^ c))
                let c = self.materialize(c);
                let d = self.wrapping(dst, ty)?;
                let t = self.b.temporary(d.scalar(), d.ty);
                self.binary_op(Operation::new(Opcode::Xor), true, t, b, c);
                self.binary_op(Operation::new(Opcode::And), true, t, t.val(), a);
                self.binary_op(Operation::new(Opcode::Xor), true, d, t.val(), c);
                Ok(())
            }
        }
    }
}
